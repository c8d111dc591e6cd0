#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A lint that cannot fail proves nothing: plants each violation in a small
# copy of the tree, and sees that its lint finds it, by what it says.
set -eu
export LC_ALL=C

lint=$(cd "$(dirname "$0")" && pwd)
top=$(cd "${srcdir:-.}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
count=0

# A copy that is clean: two modules of the core, their tests, a folder of
# each program.
fresh()
{
	rm -rf "$work/tree"
	mkdir -p "$work/tree/lib/text" "$work/tree/tests/unit" \
	    "$work/tree/tests/lint" "$work/tree/tools" "$work/tree/docs/man" \
	    "$work/tree/src/helper" "$work/tree/src/resolver"
	for file in lib/arena.c lib/arena.h lib/cursor.c lib/cursor.h \
	    lib/require.h tests/unit/test_arena.c tests/unit/test_cursor.c \
	    tools/layers.txt; do
		cp "$top/$file" "$work/tree/$file"
	done
	chmod -R u+w "$work/tree"
	cd "$work/tree"
}

# run LINT: its output in $work/out.
run()
{
	srcdir=. sh "$lint/$1" >"$work/out" 2>&1
}

passes()
{
	count=$((count + 1))
	if ! run "$1"; then
		echo "FAIL: $1 finds something in a clean tree:"
		cat "$work/out"
		failures=$((failures + 1))
	fi
}

# finds LINT TEXT: fails now, and says TEXT.
finds()
{
	count=$((count + 1))
	if run "$1"; then
		echo "FAIL: $1 does not find: $2"
		failures=$((failures + 1))
	elif ! grep -qF -e "$2" "$work/out"; then
		echo "FAIL: $1 does not say '$2' but:"
		cat "$work/out"
		failures=$((failures + 1))
	fi
	fresh
}

# A function with a body of so many lines.
function_of()
{
	awk -v lines="$1" 'BEGIN {
		print "\nvoid\narena_long(void)\n{"
		for (i = 2; i < lines; i++)
			print "\t;"
		print "}"
	}'
}

# A line of so many columns, behind one tab.
columns_of()
{
	awk -v columns="$1" 'BEGIN {
		printf "\t/* "
		for (i = 8 + 6; i < columns; i++)
			printf "\303\274"
		print " */"
	}'
}

test_layers()
{
	fresh
	passes check-layers.sh
	echo '#include "lib/arena.h"' >>lib/cursor.c
	finds check-layers.sh 'lib/cursor (layer 1) must not include lib/arena'
	echo '#include "lib/engine.h"' >>lib/arena.c
	finds check-layers.sh 'lib/arena (layer 1) must not include lib/engine'
	echo '#include "lib/text/yaml_tree.h"' >>lib/arena.c
	finds check-layers.sh 'lib/arena must not include lib/text/yaml_tree'
	echo '#include "src/resolver/daemon.h"' >>lib/arena.h
	finds check-layers.sh 'lib/arena must not include src/resolver/daemon'
	echo '#include "config.h"' >>lib/arena.c
	finds check-layers.sh 'lib/arena must not include config'
	echo '#include <stdlib.h>' >>lib/arena.c
	finds check-layers.sh 'lib/arena must not include <stdlib.h>'
	echo '# include <uv.h>' >>lib/arena.c
	finds check-layers.sh 'lib/arena must not include <uv.h>'
	cp lib/arena.c lib/unknown.c
	finds check-layers.sh 'lib/unknown is on no layer'
	echo '#include "lib/unknown.h"' >>lib/arena.c
	finds check-layers.sh 'lib/unknown is on no layer'
	echo '#include "lib/dname.h"' >lib/text/settings.c
	finds check-layers.sh 'lib/text/settings must not include lib/dname'
	for header in lib/dns lib/dname lib/engine lib/text/policy_text \
	    src/resolver/daemon; do
		echo "#include \"$header.h\"" >src/helper/serve.c
		finds check-layers.sh \
		    "src/helper/serve must not include $header"
	done
	echo '#include "src/helper/guard.h"' >src/resolver/daemon.c
	finds check-layers.sh \
	    'src/resolver/daemon must not include src/helper/guard'
	echo '#include "src/resolver/upstream_udp.h"' \
	    >src/resolver/upstream_tcp.c
	finds check-layers.sh 'keep them apart'
	: >tools/layers.txt
	finds check-layers.sh 'no rules'

	echo '#include "lib/engine.h"' >src/resolver/daemon.c
	echo '#include "lib/helper_msg.h"' >src/helper/serve.c
	echo '#include "lib/require.h"' >>lib/arena.h
	passes check-layers.sh
}

# The C sources: sizes, parameters, comments, calls.
test_tidy_sources()
{
	fresh
	passes check-tidy.sh
	function_of 70 >>lib/arena.c
	columns_of 80 >>lib/arena.c
	cat >>lib/arena.c <<-'END'
	int six(int a, int b, int (*c)(int, int), int d, int e, int f);
	static const char text[] = "// TO" "DO: strcpy(a, b)"; /* it's // */
	/* Nobody calls sprintf() here. */
	END
	awk 'END { for (n = NR; n < 700; n++) print "" }' \
	    lib/cursor.c >"$work/rest"
	cat "$work/rest" >>lib/cursor.c
	passes check-tidy.sh

	fresh
	function_of 71 >>lib/arena.c
	finds check-tidy.sh 'a function of more than 70 lines'
	cat "$work/rest" >>lib/cursor.c
	echo >>lib/cursor.c
	finds check-tidy.sh 'lib/cursor.c:701: more than 700 lines'
	columns_of 81 >>lib/arena.h
	finds check-tidy.sh 'more than 80 columns'
	echo 'int seven(int a, int b, int c, int d, int e, int f, int g);' \
	    >>lib/arena.h
	finds check-tidy.sh 'more than 6 parameters'
	printf 'int\nseven(int a, int b, int c,\n    int d, int e, %s\n{\n}\n' \
	    'int f, int g)' >>lib/arena.c
	finds check-tidy.sh 'more than 6 parameters'
	echo 'int a; // why' >>lib/arena.c
	finds check-tidy.sh 'a // comment'
	for call in strcpy strcat sprintf strncpy strtok atoi rand assert \
	    alloca inet_ntoa; do
		printf '\tx = %s(y);\n' $call >>lib/arena.c
		finds check-tidy.sh "calls $call, which is banned"
	done
	echo 'int x = uv_queue_work(y);' >src/resolver/daemon.c
	finds check-tidy.sh 'calls a resolver or a thread'
}

# All texts, and the tests that must be there.
test_tidy_tree()
{
	for mark in TO''DO FIX''ME X''XX HA''CK; do
		echo "/* $mark: later */" >>lib/arena.c
		finds check-tidy.sh 'a mark of unfinished work'
	done
	echo "Later. X""XX" >docs/page.md
	finds check-tidy.sh 'docs/page.md:1: a mark of unfinished work'
	printf 'int a; \n' >>lib/arena.c
	finds check-tidy.sh 'space at the end of the line'
	printf 'tail\t\n' >docs/page.md
	finds check-tidy.sh 'docs/page.md:1: space at the end of the line'
	sed 1d lib/arena.h >"$work/header"
	cp "$work/header" lib/arena.h
	finds check-tidy.sh 'lib/arena.h:1: the first line is no licence tag'
	printf '#!/bin/sh\nexit 0\n' >tools/script
	finds check-tidy.sh 'tools/script:2: the line after #! is no licence'
	rm tests/unit/test_arena.c
	finds check-tidy.sh 'lib/arena.c:1: no unit test'
	cp lib/arena.c lib/text/values.c
	finds check-tidy.sh 'lib/text/values.c:1: no unit test'
	printf '/* SPDX-License-Identifier: BSD-2-Clause */\n%s\n' \
	    'int main(void) { return 77; }' >tests/unit/test_arena.c
	finds check-tidy.sh 'tests/unit/test_arena.c:1: tests nothing'

	cp lib/arena.c lib/arena_part.c
	passes check-tidy.sh
	echo 'int a; // why' >>lib/arena.c
	echo 'lib/arena.c: a // comment' >tests/lint/known.txt
	passes check-tidy.sh
	grep -q . "$work/out" && cat "$work/out"
	fresh
	echo 'lib/arena.c: a // comment' >tests/lint/known.txt
	run check-tidy.sh
	grep -q 'take it out' "$work/out" ||
		{ echo 'FAIL: nothing said of a known finding that is gone'
		failures=$((failures + 1)); }
}

# purity FILE TEXT: a core with one more object of these lines.
impure()
{
	count=$((count + 1))
	printf '%s\n' "$1" >extra.c
	# shellcheck disable=SC2086
	$cc -O0 -fPIE -iquote . -c extra.c -o extra.o
	ar cr libcore.a arena.o extra.o
	if sh "$lint/check-core-purity.sh" >"$work/out" 2>&1; then
		echo "FAIL: check-core-purity.sh does not find: $2"
		failures=$((failures + 1))
	elif ! grep -qF -e "$2" "$work/out"; then
		echo "FAIL: check-core-purity.sh does not say '$2' but:"
		cat "$work/out"
		failures=$((failures + 1))
	fi
	rm -f libcore.a
}

test_purity()
{
	cc=${CC:-cc}
	unset LIBCORE
	if ! command -v "${cc%% *}" >/dev/null; then
		echo "no compiler: purity not tried"
		return
	fi
	fresh
	# shellcheck disable=SC2086
	$cc -O2 -fPIE -iquote . -c lib/arena.c -o arena.o
	ar cr libcore.a arena.o
	passes check-core-purity.sh
	rm -f libcore.a
	impure '#include <time.h>
	time_t f(void); time_t f(void) { return time(0); }' 'calls time'
	impure '#include <stdlib.h>
	void *f(void); void *f(void) { return malloc(9); }' 'calls malloc'
	impure '#include <stdio.h>
	int f(char *); int f(char *b) { return snprintf(b, 9, "%d", 7); }' \
	    'calls snprintf'
	command -v objdump >/dev/null || return 0
	impure 'int f(void); int f(void) { static int n; return n++; }' \
	    'has variables in .bss'
	impure 'int f(void); int f(void) { static int n = 7; return n++; }' \
	    'has variables in .data'
}

# A tree with one test that stands for one row; rows ROW…: their lines.
rows()
{
	mkdir -p tests/netns
	printf '#rows A 1\n' >tests/peer-issues.tsv
	printf '%s\t%s\t%s\t%s\n' "$@" >>tests/peer-issues.tsv
	printf 'covers A1\n' >tests/netns/001-one
	printf 'EXTRA_DIST += %%D%%/001-one\n' >tests/netns/Makefile.inc
}

# ran RESULT LINE: what the logs of a run say of that test.
ran()
{
	mkdir -p logs/netns
	echo "$1 1.0 netns/001-one" >logs/results
	echo "$2" >logs/netns/001-one.log
}

# misses TEXT: as finds, of the logs.
misses()
{
	count=$((count + 1))
	if srcdir=. sh "$lint/check-peers.sh" --ran logs >"$work/out" 2>&1 ||
	    ! grep -qF -e "$1" "$work/out"; then
		echo "FAIL: check-peers.sh --ran does not say '$1' but:"
		cat "$work/out"
		failures=$((failures + 1))
	fi
}

test_peers()
{
	fresh
	rows A1 'it fails' netns/001-one 'a fault that it finds'
	passes check-peers.sh
	ran PASS 'covers: A1'
	count=$((count + 1))
	srcdir=. sh "$lint/check-peers.sh" --ran logs >"$work/out" ||
		{ echo "FAIL: check-peers.sh --ran:"
		cat "$work/out"
		failures=$((failures + 1)); }
	ran FAIL 'covers: A1'
	misses 'netns/001-one ended as FAIL'
	ran PASS 'covers: A2'
	misses 'netns/001-one ran, and did not print A1'
	ran PASS 'It says that it covers A1.'
	misses 'netns/001-one ran, and did not print A1'
	rm logs/results
	misses 'netns/001-one did not run'
	rm tests/netns/001-one
	finds check-peers.sh 'netns/001-one does not exist'
	rows A1 'it fails' netns/001-one 'a fault that it finds'
	: >tests/netns/Makefile.inc
	finds check-peers.sh 'netns/001-one is not in tests/netns/Makefile.inc'
	rows A2 'it fails' netns/001-one 'a fault that it finds'
	finds check-peers.sh 'netns/001-one does not say that it covers A2'
	rows A1 'it fails' - 'no reason'
	finds check-peers.sh 'A1 has neither a fault nor a reason'
	rows A1 'it fails' netns/001-one 'tests/mutants/none.patch'
	finds check-peers.sh 'no tests/mutants/none.patch'
	rows A1 'it fails' netns/001-one 'a fault' A2 more netns/001-one 'that'
	finds check-peers.sh 'class A has 2 rows, not 1'
	printf '#rows A 1\nA1\tit fails\n' >tests/peer-issues.tsv
	finds check-peers.sh 'not four fields'
	rows A1 'it fails' pending -
	passes check-peers.sh
	grep -qF 'NOT COVERED YET: A1' "$work/out" ||
		{ echo 'FAIL: nothing said of a row that is pending'
		failures=$((failures + 1)); }
	fresh
}

test_docs()
{
	fresh
	echo '[the other](other.md#part), [far](https://example.org/x)' \
	    >docs/page.md
	: >docs/other.md
	passes check-docs.sh
	rm docs/other.md
	finds check-docs.sh 'docs/page.md: points to other.md'
	command -v mandoc >/dev/null || return 0
	printf '.Dd January 1, 2026\n.Dt X 1\n.Os\n.Sh NAME\n%s\n%s\n' \
	    '.Nm x' '.Nosuchmacro' >docs/man/x.1
	finds check-docs.sh 'Nosuchmacro'
}

test_layers
test_tidy_sources
test_tidy_tree
test_purity
test_peers
test_docs
cd "$top"
echo "$count lint checks, $failures failures"
[ "$failures" -eq 0 ]
