#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A proof that cannot fail proves nothing: breaks the ledger's arithmetic on
# purpose, one way at a time, in a copy, and sees that test_budget_exact finds
# each of them.
set -eu
export LC_ALL=C

top=$(cd "${srcdir:-.}" && pwd)
build=${BUILD_DIR:-$(pwd)}
cc=${CC:-cc}
flags="-std=c11 -O1 -D_GNU_SOURCE -DCRP_SLOTS=2 -DCRP_COUNT_MAX=4
	-DTALLY_MAX=4 -DBUDGET_GAPS=4 -DMETER_END=1280
	$(pkg-config --cflags check libsodium)"
libs="$(pkg-config --libs check libsodium) -lm"
parts="budget budget_price budget_record crp meter tally log2 alarm arena
	cursor dname table"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lib" "$work/tests/unit" "$work/o"
cp "$top"/lib/*.h "$work/lib"
for part in $parts; do
	cp "$top/lib/$part.c" "$work/lib"
done
cp "$top/tests/unit/test_budget_exact.c" "$top"/tests/unit/budget_rig.[ch] \
	"$top"/tests/unit/unit.[ch] "$work/tests/unit"
cp "$build/model_tables.c" "$work/lib"
chmod -R u+w "$work"
cd "$work"

# Words, not names: they are split.
# shellcheck disable=SC2086
compile()
{
	$cc $flags -iquote . -c "$1" -o "o/$(basename "$1" .c).o"
}

# shellcheck disable=SC2086
passes()
{
	$cc o/*.o $libs -o exact && ./exact >out 2>&1
}

for source in lib/*.c tests/unit/*.c; do
	compile "$source"
done
if ! passes; then
	echo "FAIL: the ledger itself does not pass:"
	cat out
	exit 1
fi

count=0
failures=0
# finds WHAT PART SCRIPT: lib/PART.c, edited, is found out.
finds()
{
	count=$((count + 1))
	cp "lib/$2.c" whole.c
	sed -e "$3" whole.c >"lib/$2.c"
	if cmp -s whole.c "lib/$2.c"; then
		echo "FAIL: nothing to break: $1"
		failures=$((failures + 1))
	fi
	compile "lib/$2.c"
	if passes; then
		echo "FAIL: not found: $1"
		failures=$((failures + 1))
	else
		echo "found: $1: $(grep -m 1 ':F:\|:E:' out | cut -d : -f 5-)"
	fi
	cp whole.c "lib/$2.c"
	compile "lib/$2.c"
}

finds 'logarithms are rounded down' log2 \
	's/log2_up(above) - log2_down(below)/log2_down(above) - log2_up(below)/'
finds 'the sum is halved, not added up, when names halve' crp \
	's/crp->sum = 0;/crp->sum \/= 2;/; s/crp->sum += crp->count\[slot\];//'
finds 'the sum is forgotten when the hand halves' crp \
	's/crp->sum -= (uint32_t)crp->count\[slot\] - rest;//'
finds 'the sum is halved, not added up, when gaps halve' tally \
	's/\*sum = 0;/*sum \/= 2;/; s/\*sum += counts\[i\];//'
finds 'names that are gone count in the price of new ones' crp \
	's/slot < crp->used;/slot < crp->used \&\& slot < CRP_SLOTS;/
	s/if (slot == CRP_SLOTS)/if (slot >= CRP_SLOTS)/; /^	else$/d'
finds 'that labels follow, or end, is free' budget_price \
	's/#define MORE_PRICE BUDGET_BIT/#define MORE_PRICE 0/'
finds 'which of the six codes is free' budget_price \
	's/ + MODEL_MIXTURE_PRICE +/ +/'
finds 'a price is 1/256 bit too low' budget_price \
	's/return total;/return total - 1;/'
finds 'a logarithm is 1/256 bit too low' log2 \
	's/above == below ? 0 : /above == below ? 0 : -1 + /'
finds 'the bits within a gap are free' budget_price \
	's/gap \* (uint32_t)BUDGET_BIT/0/'
finds 'the type is free' budget_price \
	's/if (event->type_count <= 1)/if (event->type_count > 0)/'
finds 'that it is not repeated is free' budget_price \
	's/event->asks \* (uint32_t)BUDGET_FIRST/0/'
finds 'which name of an exact set is free' budget_price \
	's/return price + log2_up(key->names);/return price;/'
finds 'to lapse is free' budget \
	's/price\[false\] = tally_price(.*;/price[false] = 0;/'
finds 'the end is not held back' meter \
	's/ + METER_END;/;/'
finds 'what is refused is learnt' budget \
	's/	budget_weigh_refused(/budget_learn(key, event, \&quote, now_ms); &/'
finds 'what is paid is not learnt' budget_price \
	's/key->last_ms = now_ms;/return;/'

echo "$count breaks, $failures failures"
[ "$failures" -eq 0 ]
