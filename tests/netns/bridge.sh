# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
#
# For tests of edge interfaces that are ports of a bridge; after lib.sh.
#
#   box1      box2      third                 host               net
#   .11 ::11  .12 ::12  .13 ::13      br0 192.0.2.1          203.0.113.2
#     └─box1────└─box2────└─port3───────┘  2001:db8:1::1 ─────────┘
#
#   bridge_net      that world; box1 and box2 are sandboxes, third is not
#   bridge_port N   the port of box N, made (again) in br0, with its box's end
#   machine NAME CMD…   runs CMD in box1, box2 or third
#
# Hardware addresses are 02:00:00:00:00:0N, the bridge's is 02:00:00:00:00:fe.

machine() {
	nw_m=$1
	shift
	ip netns exec "$NW_ID-$nw_m" "$@"
}

bridge_net() {
	nw_net 0
	ip -n "$NW_ID-host" link add br0 address 02:00:00:00:00:fe \
	    type bridge
	nw_host sysctl -qw net.ipv6.conf.br0.accept_ra=0
	ip -n "$NW_ID-host" addr add "$NW_L4/24" dev br0
	ip -n "$NW_ID-host" addr add "$NW_L6/64" dev br0 nodad
	ip -n "$NW_ID-host" link set br0 up
	for nw_m in box1 box2 third; do
		nw_namespace "$nw_m"
	done
	bridge_port 1
	bridge_port 2
	bridge_link third port3 3
}

# The first argument is the machine, then its port and its number.
bridge_link() {
	ip link add "$2" netns "$NW_ID-host" type veth \
	    peer name eth0 netns "$NW_ID-$1" address "02:00:00:00:00:0$3"
	ip -n "$NW_ID-host" link set "$2" master "${4:-br0}" up
	machine "$1" sysctl -qw net.ipv6.conf.eth0.accept_ra=0
	ip -n "$NW_ID-$1" addr add "192.0.2.1$3/24" dev eth0
	ip -n "$NW_ID-$1" addr add "2001:db8:1::1$3/64" dev eth0 nodad
	ip -n "$NW_ID-$1" link set eth0 up
	ip -n "$NW_ID-$1" route add default via "$NW_L4"
	ip -n "$NW_ID-$1" -6 route add default via "$NW_L6" dev eth0
}

bridge_port() { bridge_link "box$1" "box$1" "$1" "${2:-br0}"; }

# In place of the one of lib.sh: box1 with its hardware address, box2 without.
nw_sandbox() {
	cat <<-END
	  box$1:
	    policy: agent
	    source: [192.0.2.1$1, "2001:db8:1::1$1"]
	    interface: box$1
	END
	if [ "$1" -eq 1 ]; then
		echo '    mac: "02:00:00:00:00:01"'
	fi
}

twin() { nw_host nft list "$1" bridge namewall "$2"; }
