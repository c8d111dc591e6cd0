#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What went wrong in programs of our kind stands in tests/peer-issues.tsv. Each
# row has tests that show that it does not go wrong here, or a reason.
#
#   check-peers.sh                     the tests are there, and claim their rows
#   check-peers.sh --ran DIR [--some]  in the logs that tools/check left in DIR:
#                                      they passed, and printed their rows;
#                                      --some: of those that ran, not of all
set -eu
cd "${srcdir:-.}"
export LC_ALL=C

dir=
some=0
if [ "${1:-}" = --ran ]; then
	dir=$2
	[ "${3:-}" != --some ] || some=1
fi

awk -F '\t' -v dir="$dir" -v some="$some" '
function fail(text)
{
	print rows ": " text
	bad = 1
}

# The file that has the claims of a test; empty: there is no such kind.
function source_of(test,    suite, name)
{
	suite = name = test
	sub(/\/.*/, "", suite)
	sub(/^[^\/]*\//, "", name)
	if (suite == "unit" || test == "cli/test_cli")
		return "tests/" suite "/" name ".c"
	if (suite == "scenario")
		return "tests/scenarios/" name
	if (suite == "vm")
		return "tests/netns/" name
	if (suite == "shell") {
		sub(/\.test$/, ".py", name)
		return "tests/shell/" name
	}
	if (suite == "netns" || suite == "cli" || suite == "fuzz" ||
	    suite == "sim")
		return "tests/" suite "/" name
	return ""
}

# Where the test is made part of a suite.
function list_of(test)
{
	if (test ~ /^vm\//)
		return "tests/vm/tests"
	if (test ~ /^scenario\//)
		return "tests/scenarios/Makefile.inc"
	sub(/\/.*/, "", test)
	return "tests/" test "/Makefile.inc"
}

function log_of(test,    suite, name)
{
	suite = name = test
	sub(/\/.*/, "", suite)
	sub(/^[^\/]*\//, "", name)
	if (suite == "vm")
		return dir "/vm.log"
	if (suite == "netns")
		return dir "/netns/" name ".log"
	if (suite == "unit" || test == "cli/test_cli")
		return dir "/gcc/" name ".log"
	sub(/\.scn$/, "", name)
	if (suite == "scenario")
		suite = "scenarios"
	return dir "/gcc/tests/" suite "/" name ".log"
}

# As in the file of results.
function result_of(test)
{
	if (test ~ /^(netns|vm)\//)
		return test
	sub(/^.*\//, "gcc/", test)
	return test
}

# Notes the rows that a file claims, and those that it printed, as claims of a
# test: in sources by a call (covers A1, COVERS A1, unit_covers("A1")), in logs
# by a line of its own.
function read_claims(file, test, printed,    line, found, i, count, word, name)
{
	name = test
	sub(/^.*\//, "", name)
	found = 0
	while ((getline line < file) > 0) {
		found = 1
		sub(/\r$/, "", line)
		if (printed && line !~ /^covers:( [A-O][0-9]+b?)+/)
			continue
		if (!printed && line !~ /[Cc][Oo][Vv][Ee][Rr][Ss][: (]/)
			continue
		if (printed && test ~ /^vm\// && !index(line, "(" name ")"))
			continue
		count = split(line, word, /[^A-Za-z0-9]+/)
		for (i = 1; i <= count; i++)
			if (word[i] ~ /^[A-O][0-9]+b?$/)
				claims[test, word[i]] = 1
	}
	close(file)
	return found
}

function is_listed(test,    line, found, name, list)
{
	name = test
	sub(/^.*\//, "", name)
	list = list_of(test)
	if (test ~ /^shell\//)
		sub(/\.test$/, ".py", name)
	while ((getline line < list) > 0) {
		gsub(/[ \t\\]|%D%\//, " ", line)
		if (index(" " line " ", " " name " "))
			found = 1
	}
	close(list)
	return found
}

function look_at(test, id,    source)
{
	source = source_of(test)
	if (!(test in seen)) {
		seen[test] = 1
		if (source == "" || !read_claims(source, test, 0))
			fail(test " does not exist")
		else if (!is_listed(test))
			fail(test " is not in " list_of(test))
	}
	if (!((test, id) in claims))
		fail(test " does not say that it covers " id)
}

function look_for(test, id,    what)
{
	what = results[result_of(test)]
	if (some && (what == "" || what == "SKIP"))
		return
	if (!(test in seen)) {
		seen[test] = 1
		if (what == "")
			fail(test " did not run")
		else if (what != "PASS")
			fail(test " ended as " what)
		if (!read_claims(log_of(test), test, 1) && what != "")
			fail(test " left no " log_of(test))
	}
	if (!((test, id) in claims))
		fail(test " ran, and did not print " id)
	else
		shown[id] = 1
}

BEGIN {
	rows = "tests/peer-issues.tsv"
	while (dir != "" && (getline line < (dir "/results")) > 0) {
		split(line, word, " ")
		# A test may have run twice; what failed once has failed.
		if (results[word[3]] == "" || word[1] != "PASS")
			results[word[3]] = word[1]
	}
	while ((getline line < rows) > 0) {
		if (split(line, word, " ") == 3 && word[1] == "#rows") {
			wanted[word[2]] = word[3]
			continue
		}
		if (line ~ /^#/ || line == "")
			continue
		if (split(line, field, "\t") != 4 ||
		    field[1] !~ /^[A-O][0-9]+b?$/ || field[2] == "") {
			fail("not four fields: " line)
			continue
		}
		id = field[1]
		if (id in is_row)
			fail(id " is there twice")
		is_row[id] = 1
		class = substr(id, 1, 1)
		have[class]++
		if (field[3] == "pending") {
			open = open " " id
			continue
		}
		if (length(field[4]) < (field[3] == "-" ? 20 : 4))
			fail(id " has neither a fault nor a reason")
		if (field[3] == "-") {
			reasons[class]++
			continue
		}
		tested[class]++
		if (match(field[4], /tests\/mutants\/[^ ]*\.patch/)) {
			patch = substr(field[4], RSTART, RLENGTH)
			if ((getline line < patch) <= 0)
				fail(id ": no " patch)
			close(patch)
		}
		count = split(field[3], tests, " ")
		for (i = 1; i <= count; i++)
			if (dir == "")
				look_at(tests[i], id)
			else
				look_for(tests[i], id)
	}
	if (have["A"] == "")
		fail("no rows")
	for (class in wanted)
		if (wanted[class] != have[class] + 0)
			fail("class " class " has " have[class] + 0 \
			    " rows, not " wanted[class])
	for (class in have)
		if (!(class in wanted))
			fail("class " class " has no #rows line")
	for (claim in claims) {
		split(claim, part, SUBSEP)
		if (!(part[2] in is_row))
			fail(part[1] " covers " part[2] ", which is no row")
	}
	for (i = 1; i <= 15; i++) {
		class = substr("ABCDEFGHIJKLMNO", i, 1)
		if (class in have)
			printf "%s: %d rows, %d with tests, %d with a reason\n",
			    class, have[class], tested[class], reasons[class]
	}
	if (open != "")
		print "NOT COVERED YET:" open
	exit bad
}' </dev/null
