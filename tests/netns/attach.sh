# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
#
# For tests of sandboxes that are attached at run time, after helper.sh: box1
# is of the file, the other boxes are not and have addresses that may be
# attached.
#
#   attach_config      as helper_config, with `attach`
#   attach_ready       as helper_ready
#
# Policies by their place in the file: agent 0, narrow 1, closed 2. The first
# number for attached ones is 259: two for each of the file, and 256.

attach_config() {
	helper_config
	cat >>namewall.yaml <<-END
	  narrow:
	    allow: [{name: listed.example, ports: [tcp/443]}]
	  closed: {}
	attach:
	  prefixes: [192.0.2.0/25, "2001:db8:1::/64", 10.9.0.0/16,
	    198.51.100.0/24]
	  policies: [agent, narrow]
	  count_max: ${COUNT_MAX:-2000}
	END
	python3 - <<-'END'
	import re
	text = open("namewall.yaml").read()
	head, rest = text.split("sandboxes:\n", 1)
	boxes = re.findall(r"  box\d+:\n(?:    .*\n)+", rest)
	for box in boxes[1:]:
	    rest = rest.replace(box, "", 1)
	open("namewall.yaml", "w").write(head + "sandboxes:\n" + rest)
	END
}

# The channel's answer to the last request: attach ID STATUS INDEX.
answered() { told "$1 [0-9]+ $2 [0-9]+"; }
link_index() {
	ip -n "$NW_ID-host" -o link show "$1" | sed 's/:.*//'
}
# Whatever of an address is left in either table, counters of refusals too.
left_of() {
	nw_host nft list ruleset |
	    awk -v "what=$1" '$1 == "set" { set = $2 }
		index($0, what) { print set ":", $0 }'
}
flows_of() {
	nw_host conntrack -L 2>/dev/null | grep -F "$1" | grep -v 'dport=53 ' ||
	    true
}
