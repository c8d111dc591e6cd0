# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
#
# What the tests in this folder and the demo share: three or more network
# namespaces, a small internet in one of them, and namewall in another. A test
# sources this file, calls nw_begin and nw_net, and then what it needs. Nothing
# outside the namespaces and one temporary directory is touched; everything is
# taken away again on exit, whatever the reason.
#
#   box1 (box2 …)                 host                    net
#   192.0.2.11         192.0.2.1  box1    net0            203.0.113.2
#   2001:db8:1::11 ─── 2001:db8:1::1    203.0.113.1 ───── 2001:db8:f::2
#   box N: .1N, ::1N              namewalld here          nsd, nginx here
#
# net answers for all of 198.51.100.0/24, 203.0.113.128/25 and
# 2001:db8:100::/48; its name server is 198.51.100.53 and 2001:db8:100::53 and
# serves zones/demo; web servers are at every address, ports 80 443 8080.
#
# Functions (all exit the test on failure unless said otherwise):
#   nw_begin                 directory, traps; sets NW_DIR (also pwd)
#   nw_net [BOXES]           namespaces, links, addresses, routes (default 1)
#   nw_services              starts nsd and nginx in net, waits for both
#   nw_config [FILE]         writes $NW_DIR/namewall.yaml; policies are read
#                            from FILE, or are the default of nw_policies
#   nw_start [ARG…]          starts namewalld, waits until it says READY=1
#   nw_stop                  SIGTERM, waits, status in NW_STATUS
#   nw_box N CMD…, nw_host CMD…, nw_inet CMD…   runs CMD there
#   nw_cli ARG…              namewall against this daemon's status socket
#   nw_dig N NAME [ARG…]     dig from box N at the listener, one try
#   nw_watch NAME FILTER     counts packets in net (tcpdump)
#   nw_seen NAME             how many packets a watch has seen so far
#   nw_event PATTERN         waits (2 s) for an event line that matches the
#                            extended expression; false when there is none
#   nw_until SECONDS CMD…    repeats CMD until true; false when time is up
#   check WHAT CMD…          CMD must succeed; refuse WHAT CMD…: must fail
#   skip WHY, fail WHAT      end the test with 77, with 1
#   covers ROW…              says which rows of tests/peer-issues.tsv were shown
#
# Variables from outside: BINDIR (the build directory, required by nw_start),
# NW_REFRESH (on-demand: names of the default policy are asked when a box asks),
# NW_BRIDGE_NF (0 or 1: bridge-nf-call-* in host), NW_KEEP (keeps NW_DIR).

set -eu

NW_SRC=${NW_SRC:-$(cd "$(dirname "$0")/../.." && pwd)}
NW_ID=${NW_ID:-nw$$}
NW_L4=192.0.2.1
NW_L6=2001:db8:1::1
NW_DNS4=198.51.100.53
NW_DNS6=2001:db8:100::53
NW_PIDS=
NW_DAEMON=
NW_STATUS=

fail() {
	echo "FAIL: $*" >&2
	exit 1
}

skip() {
	echo "SKIP: $*" >&2
	exit 77
}

covers() { echo "covers: $*"; }

check() {
	what=$1
	shift
	if "$@" >"$NW_DIR/out" 2>&1; then
		echo "ok: $what"
		return
	fi
	sed 's/^/	/' "$NW_DIR/out" >&2
	fail "$what ($*)"
}

refuse() {
	what=$1
	shift
	if ! "$@" >"$NW_DIR/out" 2>&1; then
		echo "ok: $what"
		return
	fi
	sed 's/^/	/' "$NW_DIR/out" >&2
	fail "$what (succeeded: $*)"
}

nw_until() {
	nw_tries=$(($1 * 20))
	shift
	while [ "$nw_tries" -gt 0 ]; do
		if "$@" >/dev/null 2>&1; then
			return 0
		fi
		nw_tries=$((nw_tries - 1))
		sleep 0.05
	done
	return 1
}

# --- the world -------------------------------------------------------------

nw_begin() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	NW_DIR=$(mktemp -d "${TMPDIR:-/tmp}/$NW_ID.XXXXXX")
	chmod 755 "$NW_DIR"
	cd "$NW_DIR"
	trap nw_end EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	ip netns add "$NW_ID-probe" 2>/dev/null ||
		skip "cannot make network namespaces here"
}

# Only processes that this shell started or that live in its namespaces.
nw_end() {
	nw_rc=$?
	trap - EXIT HUP INT TERM
	set +e
	cd /
	if [ "$nw_rc" -ne 0 ] && [ "$nw_rc" -ne 77 ]; then
		nw_show "$NW_DIR/namewalld.log"
	fi
	for nw_pid in $NW_DAEMON $NW_PIDS; do
		kill "$nw_pid" 2>/dev/null
	done
	nw_until 3 nw_all_gone
	for nw_ns in $(ip netns list | sed -n "s/^\($NW_ID-[a-z0-9]*\).*/\1/p"); do
		for nw_pid in $(ip netns pids "$nw_ns"); do
			kill -9 "$nw_pid" 2>/dev/null
		done
		ip netns del "$nw_ns"
		rm -rf "/etc/netns/$nw_ns"
	done
	rmdir /etc/netns 2>/dev/null
	[ -n "${NW_KEEP:-}" ] || rm -rf "$NW_DIR"
	exit "$nw_rc"
}

nw_all_gone() {
	for nw_pid in $NW_DAEMON $NW_PIDS; do
		! kill -0 "$nw_pid" 2>/dev/null || return 1
	done
}

nw_show() {
	if [ -s "$1" ]; then
		echo "--- $(basename "$1")" >&2
		tail -40 "$1" >&2
	fi
}

nw_host() { ip netns exec "$NW_ID-host" "$@"; }
nw_inet() { ip netns exec "$NW_ID-net" "$@"; }
nw_box() {
	nw_n=$1
	shift
	ip netns exec "$NW_ID-box$nw_n" "$@"
}

nw_net() {
	ip netns del "$NW_ID-probe"
	nw_namespace host
	nw_namespace net
	nw_host sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
	nw_link_net
	nw_n=1
	while [ "$nw_n" -le "${1:-1}" ]; do
		nw_add_box "$nw_n"
		nw_n=$((nw_n + 1))
	done
	nw_bridge_nf
}

nw_namespace() {
	ip netns add "$NW_ID-$1"
	ip -n "$NW_ID-$1" link set lo up
	ip netns exec "$NW_ID-$1" sysctl -qw \
	    net.ipv6.conf.default.accept_dad=0 \
	    net.ipv6.conf.all.accept_dad=0 \
	    net.ipv6.conf.default.disable_ipv6=0
}

nw_link_net() {
	ip link add net0 netns "$NW_ID-host" type veth \
	    peer name eth0 netns "$NW_ID-net"
	ip -n "$NW_ID-host" addr add 203.0.113.1/30 dev net0
	ip -n "$NW_ID-host" addr add 2001:db8:f::1/64 dev net0 nodad
	ip -n "$NW_ID-net" addr add 203.0.113.2/30 dev eth0
	ip -n "$NW_ID-net" addr add 2001:db8:f::2/64 dev eth0 nodad
	ip -n "$NW_ID-net" addr add "$NW_DNS4/32" dev lo
	ip -n "$NW_ID-net" addr add "$NW_DNS6/128" dev lo nodad
	ip -n "$NW_ID-host" link set net0 up
	ip -n "$NW_ID-net" link set eth0 up
	ip -n "$NW_ID-net" route add local 198.51.100.0/24 dev lo
	ip -n "$NW_ID-net" route add local 203.0.113.128/25 dev lo
	ip -n "$NW_ID-net" -6 route add local 2001:db8:100::/48 dev lo
	ip -n "$NW_ID-net" route add default via 203.0.113.1
	ip -n "$NW_ID-net" -6 route add default via 2001:db8:f::1
	ip -n "$NW_ID-host" route add default via 203.0.113.2
	ip -n "$NW_ID-host" -6 route add default via 2001:db8:f::2
}

# A box and its point-to-point link: every box sees the same listener.
nw_add_box() {
	nw_namespace "box$1"
	ip link add "box$1" netns "$NW_ID-host" type veth \
	    peer name eth0 netns "$NW_ID-box$1"
	ip -n "$NW_ID-host" addr add "$NW_L4/32" dev "box$1"
	ip -n "$NW_ID-host" addr add "$NW_L6/128" dev "box$1" nodad
	ip -n "$NW_ID-box$1" addr add "192.0.2.1$1/32" dev eth0
	ip -n "$NW_ID-box$1" addr add "2001:db8:1::1$1/128" dev eth0 nodad
	ip -n "$NW_ID-host" link set "box$1" up
	ip -n "$NW_ID-box$1" link set eth0 up
	ip -n "$NW_ID-host" route add "192.0.2.1$1/32" dev "box$1"
	ip -n "$NW_ID-host" -6 route add "2001:db8:1::1$1/128" dev "box$1"
	ip -n "$NW_ID-box$1" route add "$NW_L4/32" dev eth0
	ip -n "$NW_ID-box$1" route add default via "$NW_L4"
	ip -n "$NW_ID-box$1" -6 route add "$NW_L6/128" dev eth0
	ip -n "$NW_ID-box$1" -6 route add default via "$NW_L6" dev eth0
	# Another test that ends may remove the folder above meanwhile.
	nw_until 2 mkdir -p "/etc/netns/$NW_ID-box$1" ||
		fail "cannot make /etc/netns/$NW_ID-box$1"
	printf 'nameserver %s\noptions edns0\n' "$NW_L4" \
	    >"/etc/netns/$NW_ID-box$1/resolv.conf"
}

nw_bridge_nf() {
	if [ -z "${NW_BRIDGE_NF:-}" ]; then
		return 0
	fi
	for nw_key in iptables ip6tables arptables; do
		nw_host sysctl -qw \
		    "net.bridge.bridge-nf-call-$nw_key=$NW_BRIDGE_NF" ||
			fail "cannot set bridge-nf-call-$nw_key"
	done
}

# Runs a command in the background in a namespace; it ends with the test.
nw_spawn() {
	nw_where=$1
	nw_log=$NW_DIR/$2.log
	shift 2
	ip netns exec "$NW_ID-$nw_where" "$@" >"$nw_log" 2>&1 &
	NW_PIDS="$! $NW_PIDS"
}

nw_services() {
	nw_nsd
	nw_nginx
}

nw_nsd() {
	mkdir -p "$NW_DIR/nsd"
	cat >"$NW_DIR/nsd/nsd.conf" <<-END
	server:
		ip-address: $NW_DNS4
		ip-address: $NW_DNS6
		zonesdir: "$NW_SRC/zones/demo"
		database: ""
		pidfile: ""
		zonelistfile: "$NW_DIR/nsd/zone.list"
		xfrdfile: "$NW_DIR/nsd/xfrd.state"
		xfrdir: "$NW_DIR/nsd"
		username: ""
		server-count: 1
		rrl-ratelimit: 0
		minimal-responses: yes
	remote-control:
		control-enable: no
	zone:
		name: "."
		zonefile: "root.zone"
	END
	nw_spawn net nsd nsd -d -c "$NW_DIR/nsd/nsd.conf"
	nw_until 10 nw_nsd_answers || {
		nw_show "$NW_DIR/nsd.log"
		fail "nsd does not answer"
	}
}

nw_nsd_answers() {
	nw_inet dig +short +time=1 +tries=1 "@$NW_DNS4" listed.example A |
	    grep -q 198.51.100.10
}

nw_nginx() {
	mkdir -p "$NW_DIR/nginx"
	cat >"$NW_DIR/nginx/nginx.conf" <<-END
	daemon off;
	worker_processes 1;
	pid $NW_DIR/nginx/pid;
	error_log stderr;
	events { worker_connections 256; }
	http {
		access_log $NW_DIR/nginx/access.log;
		client_body_temp_path $NW_DIR/nginx/body;
		proxy_temp_path $NW_DIR/nginx/proxy;
		fastcgi_temp_path $NW_DIR/nginx/fastcgi;
		uwsgi_temp_path $NW_DIR/nginx/uwsgi;
		scgi_temp_path $NW_DIR/nginx/scgi;
		server {
			listen 80; listen [::]:80;
			listen 443; listen [::]:443;
			listen 8080; listen [::]:8080;
			default_type text/plain;
			return 200 "hello from \$server_addr\n";
		}
	}
	END
	nw_spawn net nginx nginx -p "$NW_DIR/nginx" \
	    -c "$NW_DIR/nginx/nginx.conf" -e stderr
	nw_until 10 nw_inet curl -sf -m 1 "http://198.51.100.10/" || {
		nw_show "$NW_DIR/nginx.log"
		fail "nginx does not answer"
	}
}

# --- namewall --------------------------------------------------------------

nw_policies() {
	cat <<-END
	policies:
	  agent:
	    refresh: ${NW_REFRESH:-scheduled}
	    ports: [tcp/80, tcp/443]
	    allow:
	      - listed.example
	      - www.listed.example
	      - api.listed.example
	      - "*.wild.example"
	    deny: [blocked.listed.example]
	END
}

# The sandboxes are as many as nw_net has made, all under policy "agent".
nw_config() {
	if [ $# -gt 0 ]; then
		cp "$1" "$NW_DIR/policies.yaml"
	else
		nw_policies >"$NW_DIR/policies.yaml"
	fi
	mkdir -p "$NW_DIR/state"
	chown nobody "$NW_DIR/state"
	chmod 700 "$NW_DIR/state"
	: >"$NW_DIR/events.jsonl"
	chown nobody "$NW_DIR/events.jsonl"
	{
		nw_settings
		echo "sandboxes:"
		for nw_ns in $(ip netns list |
		    sed -n "s/^$NW_ID-box\([0-9]*\).*/\1/p" | sort -n); do
			nw_sandbox "$nw_ns"
		done
		cat "$NW_DIR/policies.yaml"
	} >"$NW_DIR/namewall.yaml"
}

nw_settings() {
	cat <<-END
	version: 1
	listen: [$NW_L4, "$NW_L6"]
	edge: ["box*"]
	upstream: [$NW_DNS4]
	protected:
	  except: [198.51.100.0/24, 203.0.113.0/24, "2001:db8:100::/48"]
	events:
	  - file: $NW_DIR/events.jsonl
	control:
	  path: $NW_DIR/control.sock
	  group: root
	  status_path: $NW_DIR/status.sock
	  status_group: root
	state_dir: $NW_DIR/state
	user: nobody
	END
}

nw_sandbox() {
	cat <<-END
	  box$1:
	    policy: agent
	    source: [192.0.2.1$1, "2001:db8:1::1$1"]
	    interface: box$1
	END
}

# systemd's readiness protocol, received by the shortest program that can.
nw_ready_listener() {
	python3 -c '
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1] + ".new")
os.rename(sys.argv[1] + ".new", sys.argv[1])
while True:
    for line in s.recv(4096).decode().splitlines():
        print(line, flush=True)
' "$NW_DIR/notify" >"$NW_DIR/notify.log" 2>&1 &
	NW_NOTIFY=$!
	NW_PIDS="$NW_NOTIFY $NW_PIDS"
	nw_until 5 test -S "$NW_DIR/notify" || fail "no notify socket"
}

nw_start() {
	rm -f "$NW_DIR/notify" "$NW_DIR/notify.log"
	nw_ready_listener
	nw_launch "$@"
	if ! nw_until 15 nw_ready_or_dead || ! nw_is_ready; then
		nw_show "$NW_DIR/namewalld.log"
		fail "namewalld did not become ready"
	fi
	kill "$NW_NOTIFY" 2>/dev/null || true
}

nw_is_ready() { grep -q '^READY=1' "$NW_DIR/notify.log"; }
# A child that has ended and was not waited for is dead too.
nw_is_dead() {
	! grep -q '^State:[[:space:]]*[^Z]' "/proc/$NW_DAEMON/status" 2>/dev/null
}
nw_ready_or_dead() { nw_is_ready || nw_is_dead; }

# Without waiting: for tests of the start itself.
nw_launch() {
	NOTIFY_SOCKET=$NW_DIR/notify ip netns exec "$NW_ID-host" \
	    "$BINDIR/namewalld" -c "$NW_DIR/namewall.yaml" \
	    --resolver "$BINDIR/namewall-resolver" --zones "$NW_SRC/zones/allow" \
	    "$@" >>"$NW_DIR/namewalld.log" 2>&1 &
	NW_DAEMON=$!
}

nw_stop() {
	kill -TERM "$NW_DAEMON" 2>/dev/null || true
	NW_STATUS=0
	wait "$NW_DAEMON" || NW_STATUS=$?
	NW_DAEMON=
}

nw_cli() { nw_host "$BINDIR/namewall" -s "$NW_DIR/status.sock" "$@"; }

nw_dig() {
	nw_n=$1
	shift
	ip netns exec "$NW_ID-box$nw_n" dig "@$NW_L4" +time=3 +tries=1 "$@"
}

nw_event() { nw_until 2 grep -Eq "$1" "$NW_DIR/events.jsonl"; }

# --- the outside observer ---------------------------------------------------

nw_watch() {
	nw_spawn net "watch-$1" tcpdump --immediate-mode -l -n -p -i eth0 "$2"
	nw_until 5 grep -q 'listening on' "$NW_DIR/watch-$1.log" ||
		fail "tcpdump does not start"
}

nw_seen() {
	sleep 0.2
	grep -c '^[0-9][0-9]:[0-9][0-9]:[0-9][0-9]' "$NW_DIR/watch-$1.log" || true
}
