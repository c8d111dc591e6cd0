# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
#
# Debian packages that building, testing and showing need, and how to get
# those that are missing. Sourced by tools/check and tools/demo.

# shellcheck disable=SC2034  # used by who sources this
PACKAGES_BUILD='autoconf automake gcc libc6-dev make pkg-config
	check libcap-ng-dev libidn2-dev libldns-dev libmnl-dev libnftnl-dev
	libseccomp-dev libsodium-dev libuv1-dev libyaml-dev
	publicsuffix xz-utils'
# shellcheck disable=SC2034
PACKAGES_SHOW='bind9-dnsutils curl iodine iproute2 nftables nginx-light nsd
	procps python3 tcpdump'
# shellcheck disable=SC2034
PACKAGES_TEST='busybox-static clang conntrack dbus dns2tcp firewalld git
	iputils-ping libclang-rt-14-dev mandoc musl-tools netcat-openbsd
	python3-dnspython python3-scapy rsyslog socat ufw unbound'
# shellcheck disable=SC2034
PACKAGES_VM='busybox-static cpio kmod qemu-system-x86'

packages_missing() {
	for package; do
		state=$(dpkg-query -W -f '${db:Status-Status}' "$package" \
		    2>/dev/null) || state=
		[ "$state" = installed ] || echo "$package"
	done
}

# A package that brings a service must not start it: this is what dpkg asks
# before it starts anything. A guard that is there already stays as it is.
packages_guard() {
	guard=/usr/sbin/policy-rc.d
	[ ! -e "$guard" ] || return 1
	printf '#!/bin/sh\n# laid by the tools of namewall, removed again\n%s\n' \
	    'exit 101' >"$guard"
	chmod 755 "$guard"
}

packages_units() {
	command -v systemctl >/dev/null || return 0
	systemctl list-unit-files --no-legend --state=enabled 2>/dev/null |
	    awk '{ print $1 }'
}

# Nor may it start at the next boot: what was not enabled before is disabled.
packages_disable() {
	packages_units | while read -r unit; do
		echo "$1" | grep -qxF "$unit" ||
			systemctl --quiet disable "$unit" 2>/dev/null || true
	done
}

packages_apt() {
	DEBIAN_FRONTEND=noninteractive apt-get -qq update &&
	    DEBIAN_FRONTEND=noninteractive apt-get -qq -y \
		--no-install-recommends install "$@"
}

# Installs what is missing of the packages named, with the output in the file
# PACKAGES_LOG; false: could not.
packages_install() {
	# shellcheck disable=SC2046  # a word for each package
	set -- $(packages_missing "$@")
	[ $# -gt 0 ] || return 0
	if [ "$(id -u)" -ne 0 ]; then
		echo "missing, and only root can install them: $*" >&2
		return 1
	fi
	echo "installing: $*"
	units=$(packages_units)
	guarded=
	! packages_guard || guarded=yes
	packages_status=0
	packages_apt "$@" >"$PACKAGES_LOG" 2>&1 || packages_status=$?
	[ -z "$guarded" ] || rm -f /usr/sbin/policy-rc.d
	packages_disable "$units"
	if [ "$packages_status" -ne 0 ]; then
		echo "apt-get could not install: $*" >&2
		tail -20 "$PACKAGES_LOG" >&2
		return 1
	fi
}
