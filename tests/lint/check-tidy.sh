#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The numbers and bans of the style guide (docs/style.md), by machine.
set -eu
lint=$(cd "$(dirname "$0")" && pwd)
cd "${srcdir:-.}"
export LC_ALL=C

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sources=$(find lib src tests -name '*.[ch]' | sort)
texts=$(find lib src tests tools docs -name .git -prune -o -type f \
	! -name '*.pcap' ! -name '*.patch' ! -name '*.bin' ! -path '*.in/*' \
	! -path '*.repro/*' ! -path '*/golden/*' ! -path '*/.deps/*' ! -name '*.[oa]' \
	! -name '*.log' ! -name '*.trs' \
	! -name '.*' -print | sort)

# Intended splitting: no name in the tree has a space.
# shellcheck disable=SC2086
awk -f "$lint/tidy.awk" $sources >"$work/found" || :
# shellcheck disable=SC2086
awk '
function fail(text)
{
	printf "%s:%d: %s\n", FILENAME, FNR, text
	bad = 1
}
FNR == 1 {
	# A script says what it is for whom first.
	wants_licence = FILENAME ~ /\.([ch]|sh|py|awk|inc)$/ || /^#!/
	script = /^#!/
}
FNR == 1 && wants_licence && !script && !/SPDX-License-Identifier: / {
	fail("the first line is no licence tag")
}
FNR == 2 && script && !/SPDX-License-Identifier: / {
	fail("the line after #! is no licence tag")
}
/[ \t]$/ { fail("space at the end of the line") }
/(^|[^A-Za-z_])(TO''DO|FIX''ME|X''XX|HA''CK)([^A-Za-z_]|$)/ {
	fail("a mark of unfinished work")
}
END { exit bad }
' $texts >>"$work/found" || :

# A test for each file of the core and its text part: by its own name, or by
# that of a file that shares its name up to the first _.
for source in lib/*.c lib/text/*.c; do
	[ -f "$source" ] || continue
	name=$(basename "$source" .c)
	for test in "tests/unit/test_$name.c" \
	    "tests/unit/test_${name%%_*}.c" \
	    "tests/unit/test_${name%%_*}_"*.c; do
		[ -f "$test" ] && continue 2
	done
	echo "$source:1: no unit test"
done >>"$work/found"
for test in tests/unit/test_*.c; do
	[ -f "$test" ] || continue
	if ! grep -q 'tcase_add_test' "$test" ||
	    grep -q 'return 77;' "$test"; then
		echo "$test:1: tests nothing"
	fi
done >>"$work/found"

# What is known and not yet mended stands in known.txt, without lines.
known=tests/lint/known.txt
[ -f "$known" ] || known=/dev/null
awk -v known="$known" '
BEGIN {
	while ((getline line < known) > 0)
		if (line !~ /^#/ && line != "")
			is_known[line] = 1
}
{
	finding = $0
	sub(/:[0-9]+: /, ": ", finding)
	seen[finding] = 1
	if (finding in is_known)
		next
	print
	bad = 1
}
END {
	for (finding in is_known)
		if (!(finding in seen))
			print "no more: take it out of " known ": " finding
	exit bad
}' "$work/found"
