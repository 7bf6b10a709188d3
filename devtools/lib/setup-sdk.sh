# shellcheck shell=bash disable=SC2154,SC2034 # variables of devtools/setup
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
#
# Part of devtools/setup: driver SDK headers of exactly the installed DPDK.

sdk_header=bus_vmbus_driver.h

# The user's own headers: found and of the right version, or an error.
check_user_sdk()
{
	local version=$1 dir got=
	set -- "$driver_sdk" "$driver_sdk/include" "$driver_sdk/include/dpdk"
	for dir in "$@" none; do
		[ ! -f "$dir/$sdk_header" ] || break
	done
	[ "$dir" != none ] ||
		fail "--driver-sdk $driver_sdk: no $sdk_header there; name the headers' folder"
	for got in "$dir/VERSION" "$dir/../VERSION" "$dir/../../VERSION" none; do
		[ ! -f "$got" ] || break
	done
	if [ "$got" = none ]; then
		note "driver SDK: $dir (its version is checked when the build is configured)"
	elif [ "$(cat "$got")" != "$version" ]; then
		fail "driver SDK $dir is of DPDK $(cat "$got"), libdpdk is $version;" \
			"name a matching one"
	else
		note "driver SDK: $dir"
	fi
}

# Fetches the headers for libdpdk $1 (headers in $2) by the source package of libdpdk-dev.
fetch_sdk()
{
	local version=$1 includedir=$2 source=$3 out
	mkdir -p "$top/.sdk" 2>/dev/null
	[ -w "$top/.sdk" ] ||
		fail "cannot write $top/.sdk; run as its owner"
	say "fetching the driver SDK headers from source package $source"
	out=$(/usr/bin/python3 -B "$top/devtools/lib/hvdev/sdk.py" --sdk-dir "$top/.sdk" \
		--package "${source% *}" --source-version "${source#* }" \
		--version "$version" --includedir "$includedir") || exit 1
	download_s=$(awk -v t="$download_s" -v s="${out% *}" 'BEGIN { printf "%.1f", t + s }')
	say "driver SDK: ${out#* } headers of DPDK $version in .sdk/dpdk-$version"
}

# Prints "NAME VERSION" of the source package that the headers in $1 are from, if any.
sdk_source()
{
	local owner
	owner=$(dpkg-query -S "$1/rte_ethdev.h" 2>/dev/null | cut -d : -f 1)
	[ -z "$owner" ] ||
		dpkg-query -W -f '${source:Package} ${source:Version}\n' "$owner" | head -n 1
}

setup_sdk()
{
	local version includedir have source
	if ! version=$(pkg-config --modversion libdpdk 2>/dev/null); then
		missing "pkg-config finds no libdpdk; install libdpdk-dev or set PKG_CONFIG_PATH"
		return
	fi
	includedir=$(pkg-config --variable=includedir libdpdk)
	if [ -n "$driver_sdk" ]; then
		check_user_sdk "$version"
		return
	fi
	if [ -f "$includedir/$sdk_header" ] || [ -f "$includedir/dpdk/$sdk_header" ]; then
		note "driver SDK: installed with DPDK $version"
		return
	fi
	source=$(sdk_source "$includedir")
	have=$(cat "$top/.sdk/dpdk-$version/SOURCE" 2>/dev/null)
	if [ -z "$source" ]; then
		[ -f "$top/.sdk/dpdk-$version/include/$sdk_header" ] ||
			missing "DPDK $version in $includedir has no driver SDK headers; build it" \
				"with -Denable_driver_sdk=true or give --driver-sdk PATH"
	elif [ "$have" = "$source" ] && [ -f "$top/.sdk/dpdk-$version/include/$sdk_header" ]; then
		note "driver SDK: .sdk/dpdk-$version"
	elif [ "$check" = yes ]; then
		missing "driver SDK headers of DPDK $version missing"
	else
		fetch_sdk "$version" "$includedir" "$source"
	fi
}
