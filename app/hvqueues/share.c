/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Reads affinity and cgroup (version 2) limits of this process.
 */
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include <hvqueues/hvqueues.h>

#include "share.h"

unsigned int
share_affinity(void)
{
	cpu_set_t *set = CPU_ALLOC(HVQ_CPUS_MAX);
	size_t bytes = CPU_ALLOC_SIZE(HVQ_CPUS_MAX);
	unsigned int n = 0;

	if (set == NULL)
		return 0;
	if (sched_getaffinity(0, bytes, set) == 0)
		n = (unsigned int)CPU_COUNT_S(bytes, set);
	CPU_FREE(set);
	return n;
}

/* The quota of one group in CPUs; 0 without one. */
static double
group_quota(const char *group)
{
	char path[PATH_MAX + 64];
	double cpus = 0;
	long quota, period;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cpu.max", group);
	f = fopen(path, "re");
	if (f == NULL)
		return 0;
	if (fscanf(f, "%ld %ld", &quota, &period) == 2 && quota > 0 && period > 0)
		cpus = (double)quota / (double)period;
	fclose(f);
	return cpus;
}

/* The process's group in the unified hierarchy: the line "0::/path". */
static int
own_group(char *group, size_t len)
{
	char line[PATH_MAX + 16];
	FILE *f;
	int found = 0;

	f = fopen("/proc/self/cgroup", "re");
	if (f == NULL)
		return 0;
	while (!found && fgets(line, sizeof(line), f) != NULL) {
		if (strncmp(line, "0::/", 4) != 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		found = (size_t)snprintf(group, len, "%s", line + 3) < len;
	}
	fclose(f);
	return found;
}

double
share_cgroup(void)
{
	char group[PATH_MAX];
	double least = 0, cpus;
	char *slash;

	if (!own_group(group, sizeof(group)))
		return 0;
	while ((slash = strrchr(group, '/')) != NULL) {
		cpus = group_quota(group);
		if (cpus > 0 && (least == 0 || cpus < least))
			least = cpus;
		*slash = '\0';
	}
	return least;
}
