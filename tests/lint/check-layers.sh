#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Arrows point down only: the includes of lib/ and src/ against
# tools/layers.txt.
set -eu
cd "${srcdir:-.}"

find lib src -name '*.[ch]' | LC_ALL=C sort | LC_ALL=C xargs awk '
function fail(text)
{
	printf "%s:%d: %s\n", FILENAME, FNR, text
	bad = 1
}

function matches(path, pattern)
{
	if (pattern ~ /\*$/)
		return index(path, substr(pattern, 1,
		    length(pattern) - 1)) == 1
	return path == pattern
}

function module(name)
{
	sub(/_.*/, "", name)
	return name
}

# Both are stems of lib/.
function check_core(from, to)
{
	if (from == to)
		return
	if (!(to in layer))
		fail("lib/" to " is on no layer of tools/layers.txt")
	else if (layer[to] == layer[from] && module(to) == module(from))
		return
	else if (layer[to] >= layer[from])
		fail("lib/" from " (layer " layer[from] ") must not include " \
		    "lib/" to " (layer " layer[to] ")")
}

function check_folder(from, to,    best, path, list, count, i)
{
	for (path in may)
		if (index(from, path) == 1 && length(path) > length(best))
			best = path
	count = split(may[best], list, " ")
	for (i = 1; i <= count; i++)
		if (matches(to, list[i]))
			return
	fail(from " must not include " to)
}

BEGIN {
	rules = "tools/layers.txt"
	while ((getline line < rules) > 0) {
		count = split(line, word, " ")
		for (i = 2; i <= count; i++) {
			if (word[1] == "layer" && i > 2)
				layer[word[i]] = word[2] + 0
			else if (word[1] == "system")
				of_system[word[i]] = 1
			else if (word[1] == "may" && i > 2)
				may[word[2]] = may[word[2]] " " word[i]
			else if (word[1] == "apart")
				apart[word[i]] = 1
		}
		rule_count += count
	}
	if (rule_count == 0) {
		print rules ": no rules"
		bad = 1
		exit
	}
}

FNR == 1 {
	from = FILENAME
	sub(/\.[ch]$/, "", from)
	in_core = from ~ /^lib\/[^\/]*$/
	stem = substr(from, 5)
	if (in_core && !(stem in layer))
		fail(from " is on no layer of tools/layers.txt")
}

/^[ \t]*#[ \t]*include/ {
	if (match($0, /"[^"]*"/)) {
		to = substr($0, RSTART + 1, RLENGTH - 2)
		sub(/\.h$/, "", to)
		if ((from in apart) && (to in apart) && from != to)
			fail(from " must not include " to ": keep them apart")
		if (in_core && to ~ /^lib\/[^\/]*$/)
			check_core(stem, substr(to, 5))
		else if (in_core)
			fail(from " must not include " to)
		else
			check_folder(from, to)
	} else if (in_core && match($0, /<[^>]*>/)) {
		to = substr($0, RSTART + 1, RLENGTH - 2)
		if (!(to in of_system))
			fail(from " must not include <" to ">")
	}
}

END { exit bad }
'
