#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The core is told everything and does nothing: what it calls, beside itself,
# is on a short list; and it keeps nothing in variables of its own.
set -eu

core=${LIBCORE:-libcore.a}
nm=${NM:-nm}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$nm" -u "$core" | awk 'NF { print $NF }' | LC_ALL=C sort -u >"$work/wanted"
"$nm" --defined-only "$core" | awk 'NF == 3 { print $3 }' |
	LC_ALL=C sort -u >"$work/own"
grep -q . "$work/own" || { echo "$core: no symbols"; exit 1; }

bad=0
for symbol in $(LC_ALL=C comm -23 "$work/wanted" "$work/own" |
	grep -v ':$'); do
	case $symbol in
	memcpy | memmove | memset | memcmp | bcmp) ;;
	require_failed) ;;
	crypto_shorthash* | crypto_stream_chacha20*) ;;
	randombytes_buf_deterministic | sodium_memzero) ;;
	# What hardening and position-independent code add.
	__stack_chk_fail | __memcpy_chk | __memmove_chk | __memset_chk) ;;
	_GLOBAL_OFFSET_TABLE_) ;;
	*)
		echo "$core: calls $symbol"
		bad=1
		;;
	esac
done

# Data that can change: b, B, C are zeroed or common; d, D may be constants
# that only hold addresses, which the section tells.
if command -v objdump >/dev/null; then
	objdump -h "$core" | awk -v core="$core" '
		/:[ \t]+file format/ { object = $1 }
		$2 ~ /^\.(data|bss|tdata|tbss)$/ || $2 ~ /^\.bss\./ ||
		    ($2 ~ /^\.data\./ && $2 !~ /^\.data\.rel\.ro/) {
			if ($3 ~ /[1-9a-f]/) {
				print core "(" object " has variables in " $2
				bad = 1
			}
		}
		END { exit bad }' || bad=1
fi
exit $bad
