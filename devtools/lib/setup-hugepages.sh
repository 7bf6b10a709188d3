# shellcheck shell=bash disable=SC2154,SC2034 # variables of devtools/setup
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
#
# Part of devtools/setup: enough free 2 MiB hugepages, and hugetlbfs mounted.
#
# Too few pages are no failure: the laboratory also runs with --no-huge.

pages_wanted=512
# A busy machine must not have its memory eaten run by run.
pages_limit=2048
pages_dir=/sys/kernel/mm/hugepages/hugepages-2048kB

# Reserves pages so that $pages_wanted are free, as far as the limits allow.
reserve_pages()
{
	local free total want avail
	free=$(cat $pages_dir/free_hugepages)
	total=$(cat $pages_dir/nr_hugepages)
	avail=$(awk '/^MemAvailable:/ { print int($2 / 2048 / 2) }' /proc/meminfo)
	want=$((pages_wanted - free))
	[ "$want" -le "$avail" ] || want=$avail
	[ $((total + want)) -le $pages_limit ] || want=$((pages_limit - total))
	[ "$want" -le 0 ] ||
		(echo $((total + want)) >$pages_dir/nr_hugepages) 2>/dev/null
	free=$(cat $pages_dir/free_hugepages)
	if [ "$free" -lt $pages_wanted ]; then
		warn "hugepages: only $free of $pages_wanted 2 MiB pages are free and no more can" \
			"be reserved; free some memory, or runs fall back to --no-huge"
	else
		total=$(($(cat $pages_dir/nr_hugepages) - total))
		say "hugepages: reserved $total more of 2 MiB, now $free free"
	fi
}

mount_hugetlbfs()
{
	local dir=/dev/hugepages
	mkdir -p $dir 2>/dev/null && mount -t hugetlbfs -o pagesize=2M nodev $dir 2>/dev/null
	if hugetlbfs_mounted; then
		say "hugepages: mounted hugetlbfs on $dir"
	else
		warn "hugepages: cannot mount hugetlbfs on $dir (a container?);" \
			"mount it outside, or runs fall back to --no-huge"
	fi
}

hugetlbfs_mounted()
{
	awk '$3 == "hugetlbfs" && $4 !~ /pagesize=1(024)?[GM]/ { found = 1 }
		END { exit !found }' /proc/mounts
}

setup_hugepages()
{
	local free
	if [ ! -r $pages_dir/free_hugepages ]; then
		warn "hugepages: this kernel has none of 2 MiB; runs fall back to --no-huge"
		return
	fi
	free=$(cat $pages_dir/free_hugepages)
	if [ "$free" -ge $pages_wanted ] && hugetlbfs_mounted; then
		note "hugepages: $free of 2 MiB free, hugetlbfs mounted"
	elif [ "$check" = yes ]; then
		missing "hugepages: $free free, $pages_wanted wanted, or hugetlbfs not mounted"
	elif ! is_root; then
		warn "hugepages: $free free, $pages_wanted wanted, or hugetlbfs not mounted;" \
			"as root run devtools/setup, or runs fall back to --no-huge"
	else
		[ "$free" -ge $pages_wanted ] || reserve_pages
		hugetlbfs_mounted || mount_hugetlbfs
	fi
}
