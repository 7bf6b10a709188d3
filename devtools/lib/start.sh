# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
#
# Common start of the developer commands: set the machine up, then run their Python part.
#
# Shell, because a fresh machine may have no Python yet.

# start_command MODULE ARGS...: runs setup unless help is asked for, then hvdev.MODULE.
start_command()
{
	local top module=$1 arg download=0 sdk=() previous=
	shift
	top=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd) || exit 1
	HVNET_STARTED=$(date +%s.%N)
	for arg in "$@"; do
		[ "$arg" != -- ] || break
		case $arg in
		-h | --help) [ ! -x /usr/bin/python3 ] || previous=help ;;
		--driver-sdk=*) sdk=("$arg") ;;
		*) [ "$previous" != --driver-sdk ] || sdk=(--driver-sdk "$arg") ;;
		esac
		[ "$previous" = help ] || previous=$arg
	done
	if [ "$previous" != help ]; then
		{
			download=$(HVNET_REPORT_FD=3 "$top/devtools/setup" -q "${sdk[@]}" \
				3>&1 >&4 4>&-) || exit 1
		} 4>&1
	fi
	export HVNET_STARTED HVNET_DOWNLOAD_S="$download" HVNET_TOP="$top"
	export PYTHONPATH="$top/devtools/lib" PYTHONDONTWRITEBYTECODE=1
	exec /usr/bin/python3 -m "hvdev.$module" "$@"
}
