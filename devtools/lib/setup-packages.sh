# shellcheck shell=bash disable=SC2154,SC2034 # variables of devtools/setup
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
#
# Part of devtools/setup: the distribution's packages that hvnet needs.

# Compilers and build, DPDK, libraries, tests, traffic.
packages_wanted="build-essential clang libclang-rt-dev meson ninja-build pkg-config dpkg-dev
	dpdk dpdk-dev libdpdk-dev libcmocka-dev libpcap-dev libjson-c-dev
	python3 python3-pytest python3-scapy
	iperf3 iproute2 iputils-ping ethtool"
# What the commands of the list above are called where packages have other names.
commands_wanted="gcc clang meson ninja pkg-config dpdk-testpmd python3 iperf3 ip ping ethtool"
modules_wanted="libdpdk cmocka libpcap json-c"

# Prints those of the given packages that are not installed.
packages_missing()
{
	dpkg-query -W -f '${binary:Package} ${db:Status-Status}\n' "$@" 2>/dev/null |
		awk -v want="$*" '
			{ sub(/:.*/, "", $1); if ($2 == "installed") have[$1] = 1 }
			END {
				n = split(want, w, " ")
				for (i = 1; i <= n; i++)
					if (!(w[i] in have))
						printf "%s ", w[i]
			}'
}

# The last error that apt wrote, for a one-line message.
apt_error()
{
	grep -E '^(E|Err):?' "$1" | tail -n 1 | cut -c 1-200
}

# Installs the packages named, apart in download and installation.
apt_install()
{
	local log start
	log=$(mktemp) || fail "no room for a temporary file; free some space in /tmp"
	trap 'rm -f "$log"' EXIT
	export DEBIAN_FRONTEND=noninteractive
	start=$(date +%s.%N)
	apt-get -q update >"$log" 2>&1 </dev/null 9<&- ||
		fail "apt-get update failed ($(apt_error "$log")); check network and sources"
	apt-get -q -y --no-install-recommends --download-only install "$@" \
		>"$log" 2>&1 </dev/null 9<&- ||
		fail "cannot download packages ($(apt_error "$log")); check network and sources"
	add_download_since "$start"
	apt-get -q -y --no-install-recommends -o DPkg::Lock::Timeout=300 install "$@" \
		>"$log" 2>&1 </dev/null 9<&- ||
		fail "cannot install packages ($(apt_error "$log")); try 'apt-get -f install'"
	rm -f "$log"
	trap - EXIT
}

# No apt here: name what is missing, by command and library.
check_elsewhere()
{
	local item list=
	for item in $commands_wanted; do
		command -v "$item" >/dev/null || list="$list $item"
	done
	for item in $modules_wanted; do
		pkg-config --exists "$item" 2>/dev/null || list="$list lib:$item"
	done
	for item in pytest scapy; do
		/usr/bin/python3 -c "import $item" 2>/dev/null || list="$list python:$item"
	done
	[ -z "$list" ] ||
		missing "not a Debian or Ubuntu system; install with its package manager:$list"
}

setup_packages()
{
	local list
	if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
		check_elsewhere
		return
	fi
	# shellcheck disable=SC2086 # a list of words
	list=$(packages_missing $packages_wanted)
	list=${list% }
	if [ -z "$list" ]; then
		note "packages: all installed"
	elif [ "$check" = yes ]; then
		missing "packages missing: $list"
	elif ! is_root; then
		fail "packages missing: $list; as root run devtools/setup"
	else
		say "installing packages: $list"
		# shellcheck disable=SC2086 # a list of words
		apt_install $list
	fi
}
