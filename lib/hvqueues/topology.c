/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Counts online CPUs and physical cores in a sysfs tree.
 *
 *   ROOT/devices/system/cpu/online                         "0-3,8"
 *                          /cpuN/online                    0 or 1, often absent for cpu0
 *                          /cpuN/topology/thread_siblings_list, core_id, die_id,
 *                                         physical_package_id
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpulist.h"
#include "hvqueues.h"

/* Longest text of HVQ_CPUS_MAX CPUs is every second one, "8190,": below 5 bytes each. */
#define LIST_BYTES (HVQ_CPUS_MAX * 5 / 2 + 16)

/* What makes a core, where the kernel gives no list of siblings. */
struct core_key {
	long package;
	long die;
	long core;
};

struct reader {
	int dir;                  /* ROOT/devices/system/cpu */
	struct hvq_cpuset online;
	struct hvq_cpuset seen;   /* CPUs of cores that are counted already */
	struct hvq_cpuset siblings;
	struct core_key *keys;    /* cores counted by their ids; nkeys used */
	uint32_t nkeys;
	char text[LIST_BYTES];    /* the file read last */
};

/* Read a whole small file into r->text as a string. */
static int
read_text(struct reader *r, const char *name)
{
	size_t have = 0;
	ssize_t n = 0;
	int fd, ret = 0;

	fd = openat(r->dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	while (have < sizeof(r->text)) {
		n = read(fd, r->text + have, sizeof(r->text) - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		have += (size_t)n;
	}
	if (n < 0)
		ret = -errno;
	else if (have == sizeof(r->text))
		ret = -EINVAL;
	else
		r->text[have] = '\0';
	close(fd);
	return ret;
}

/* Read one non-negative number of CPU @p cpu. */
static int
read_number(struct reader *r, uint32_t cpu, const char *name, long *val)
{
	char path[64], *end;
	int ret;

	snprintf(path, sizeof(path), "cpu%u/%s", cpu, name);
	ret = read_text(r, path);
	if (ret != 0)
		return ret;
	errno = 0;
	*val = strtol(r->text, &end, 10);
	if (errno != 0 || end == r->text || end[strspn(end, " \t\r\n")] != '\0' || *val < 0)
		return -EINVAL;
	return 0;
}

/* Without a list of online CPUs: the cpuN folders that are not switched off. */
static int
scan_folders(struct reader *r)
{
	struct dirent *e;
	uint32_t cpu;
	long online;
	char more;
	DIR *d;
	int fd;

	fd = openat(r->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = fd < 0 ? NULL : fdopendir(fd);
	if (d == NULL) {
		int err = errno;

		if (fd >= 0)
			close(fd);
		return -err;
	}
	memset(&r->online, 0, sizeof(r->online));
	while ((e = readdir(d)) != NULL) {
		if (sscanf(e->d_name, "cpu%4u%c", &cpu, &more) != 1 || cpu >= HVQ_CPUS_MAX)
			continue;
		if (read_number(r, cpu, "online", &online) == 0 && online == 0)
			continue;
		hvq_cpuset_add(&r->online, cpu);
	}
	closedir(d);
	return 0;
}

/* Fill r->online; at least one CPU on success. */
static int
read_online(struct reader *r, uint32_t *count)
{
	int ret;

	ret = read_text(r, "online");
	if (ret == 0)
		ret = hvq_cpulist_parse(r->text, &r->online);
	else if (ret == -ENOENT)
		ret = scan_folders(r);
	if (ret != 0)
		return ret;
	*count = 0;
	for (uint32_t cpu = 0; cpu < HVQ_CPUS_MAX; cpu++)
		*count += hvq_cpuset_has(&r->online, cpu);
	return *count == 0 ? -ENOENT : 0;
}

/* Mark all siblings of @p cpu as counted; false when the kernel does not list them. */
static bool
mark_siblings(struct reader *r, uint32_t cpu)
{
	char path[64];

	snprintf(path, sizeof(path), "cpu%u/topology/thread_siblings_list", cpu);
	if (read_text(r, path) != 0 || hvq_cpulist_parse(r->text, &r->siblings) != 0)
		return false;
	/* A list without its owner says nothing. */
	if (!hvq_cpuset_has(&r->siblings, cpu))
		return false;
	hvq_cpuset_merge(&r->seen, &r->siblings);
	return true;
}

/* True when the ids of @p cpu name a core that was counted before. */
static bool
core_known(struct reader *r, uint32_t cpu)
{
	struct core_key key = { .die = 0 };

	if (read_number(r, cpu, "topology/core_id", &key.core) != 0 ||
	    read_number(r, cpu, "topology/physical_package_id", &key.package) != 0)
		return false; /* nothing known: a core of its own */
	if (read_number(r, cpu, "topology/die_id", &key.die) != 0)
		key.die = 0;
	for (uint32_t i = 0; i < r->nkeys; i++) {
		if (r->keys[i].core == key.core && r->keys[i].die == key.die &&
		    r->keys[i].package == key.package)
			return true;
	}
	r->keys[r->nkeys++] = key;
	return false;
}

static int
count_all(struct reader *r, struct hvq_topology *topo)
{
	uint32_t vcpus, cores = 0;
	int ret;

	ret = read_online(r, &vcpus);
	if (ret != 0)
		return ret;
	r->keys = calloc(vcpus, sizeof(*r->keys));
	if (r->keys == NULL)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < HVQ_CPUS_MAX; cpu++) {
		if (!hvq_cpuset_has(&r->online, cpu) || hvq_cpuset_has(&r->seen, cpu))
			continue;
		if (mark_siblings(r, cpu) || !core_known(r, cpu))
			cores++;
	}
	topo->vcpus = vcpus;
	topo->cores = cores;
	free(r->keys);
	return 0;
}

static int
read_tree(const char *sysfs, struct hvq_topology *topo)
{
	char path[PATH_MAX];
	struct reader *r;
	int ret;

	ret = snprintf(path, sizeof(path), "%s/devices/system/cpu", sysfs);
	if (ret < 0 || (size_t)ret >= sizeof(path))
		return -ENAMETOOLONG;
	r = calloc(1, sizeof(*r));
	if (r == NULL)
		return -ENOMEM;
	r->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->dir < 0) {
		ret = -errno;
	} else {
		ret = count_all(r, topo);
		close(r->dir);
	}
	free(r);
	return ret;
}

int
hvq_topology_read(const char *sysfs, struct hvq_topology *topo)
{
	long n;
	int ret;

	ret = read_tree(sysfs == NULL ? "/sys" : sysfs, topo);
	if (ret == 0 || sysfs != NULL)
		return ret;
	n = sysconf(_SC_NPROCESSORS_ONLN);
	topo->vcpus = n < 1 ? 1 : n > (long)HVQ_CPUS_MAX ? HVQ_CPUS_MAX : (uint32_t)n;
	topo->cores = topo->vcpus;
	return 0;
}
