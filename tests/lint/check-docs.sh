#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Manual pages are well-formed, and what the documents point to exists.
set -eu
cd "${srcdir:-.}"

bad=0
if command -v mandoc >/dev/null; then
	for page in $(find docs -name '*.[1-8]' | LC_ALL=C sort); do
		mandoc -Tlint -W warning "$page" || bad=1
	done
else
	echo "no mandoc: manual pages not checked"
fi

# [text](file) and [text](file#part), not [text](https://…).
for page in *.md $(find docs -name '*.md' | LC_ALL=C sort); do
	[ -f "$page" ] || continue
	for target in $(sed 's/`[^`]*`//g' "$page" |
	    grep -o '\]([^)]*)' | sed 's/^](//; s/[#)].*//' |
	    grep '^[A-Za-z0-9._/-][A-Za-z0-9._/-]*$' || :); do
		if [ ! -e "$(dirname "$page")/$target" ]; then
			echo "$page: points to $target, which does not exist"
			bad=1
		fi
	done
done
exit $bad
