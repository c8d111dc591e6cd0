# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
#
# For tests of the parent alone: helper_driver in the resolver's place.
#
#   drive COMMAND…     sends one command to the driver (see helper_driver.c)
#   told PATTERN       waits (5 s) for a line of the driver's output that
#                      matches the whole extended expression, since `fresh`
#   fresh              forgets the output so far
#   helper_config      as nw_config, with rules for the ports used here
#   helper_start       starts namewalld with the driver, says hello
#   helper_ready       helper_start, and settles
#   tcp BOX ADDR PORT  one connection: connected, refused, … (probe.py)
#   element SET TEXT   the set in the kernel has an element that begins so

. "$(dirname "$0")/lib.sh"

[ -x "${BINDIR:?}/helper_driver" ] || {
	echo "SKIP: no helper_driver: make check builds it" >&2
	exit 77
}

helper_config() {
	cat >policies.in <<-END
	nft: {table: namewall, masquerade: false}
	pins: {floor: 1s, cap: 10m, grace: 10s}
	limits: ${LIMITS:-{pins_per_sandbox: 300, flows_per_sandbox: 65536\}}
	policies:
	  agent:
	    allow:
	      - name: listed.example
	        ports: [tcp/80, tcp/443, udp/7500, tcp/7000]
	        private: [203.0.113.1/32]
	END
	nw_config policies.in
	rm -f driver.in driver.out
	mkfifo -m 666 driver.in
	: >driver.out
	chmod 666 driver.out
	DRIVER_FROM=0
}

drive() { echo "$*" >driver.in; }

fresh() { DRIVER_FROM=$(wc -l <driver.out); }

helper_said() { tail -n "+$((DRIVER_FROM + 1))" driver.out | grep -Exq "$1"; }
# Emulated kernels are slow.
told() { nw_until "${NAMEWALL_VM:+2}5" helper_said "$1"; }

helper_launch() {
	rm -f notify notify.log
	nw_ready_listener
	NOTIFY_SOCKET=$NW_DIR/notify ip netns exec "$NW_ID-host" \
	    "$BINDIR/namewalld" -c "$NW_DIR/namewall.yaml" \
	    --resolver "$BINDIR/helper_driver" --zones "$NW_SRC/zones/allow" \
	    >>namewalld.log 2>&1 &
	NW_DAEMON=$!
}

helper_start() {
	fresh
	helper_launch
	told 'fd 3' || {
		nw_show namewalld.log
		fail "the driver was not started"
	}
	drive hello 0
	told 'hello [0-9]+ 0 [0-9]+' || fail "no answer to hello"
}

helper_ready() {
	helper_start
	drive settle
	told 'settle [0-9]+ 0 [01]' || fail "no answer to settle"
}

probe() { nw_box "$1" "$NW_SRC/tests/netns/probe.py" "$2" "$3" "$4" 1; }
tcp() { probe "$1" tcp "$2" "$3"; }
connects() { tcp "$@" | grep -q '^connected'; }
refused() { tcp "$@" | grep -q '^refused'; }
element() { nw_host nft list set inet namewall "$1" | grep -Fq "$2"; }
counter() {
	nw_host nft list counter inet namewall "$1" |
	    sed -n 's/.*packets \([0-9]*\).*/\1/p'
}
