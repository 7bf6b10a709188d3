/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Finds sub-channels in sysfs and maps their rings.
 *
 *   /sys/bus/vmbus/devices/DEVICE/channels/RELID/subchannel_id   0 = the primary channel
 *                                               /monitor_id      hidden without a monitor
 *                                               /ring            appears last
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hvwire/vmbus.h>

#include "hvn_subchan.h"

#define DEVICES "/sys/bus/vmbus/devices"
/* Event flags of the interrupt page end here; DPDK's bus keeps relids in 16 bits. */
#define RELID_MAX 16383u
/* Largest ring mapping that we believe: far above the kernel's 4 MiB. */
#define RING_BYTES_MAX (1ull << 30)

/* Read a decimal number; -errno when the file is missing or is not a number. */
static int
read_number(const char *device, uint32_t relid, const char *file, uint32_t *val)
{
	char path[PATH_MAX], text[32], *end;
	unsigned long v;
	FILE *f;
	int ret = -EINVAL;

	snprintf(path, sizeof(path), DEVICES "/%s/channels/%u/%s", device, relid, file);
	f = fopen(path, "r");
	if (f == NULL)
		return -errno;
	if (fgets(text, sizeof(text), f) != NULL) {
		errno = 0;
		v = strtoul(text, &end, 10);
		if (errno == 0 && end != text && (*end == '\n' || *end == '\0') &&
		    v <= UINT32_MAX) {
			*val = (uint32_t)v;
			ret = 0;
		}
	}
	fclose(f);
	return ret;
}

static void
ring_path(char *path, size_t size, const char *device, uint32_t relid)
{
	snprintf(path, size, DEVICES "/%s/channels/%u/ring", device, relid);
}

bool
hvn_subchan_supported(const char *device, uint32_t relid)
{
	char path[PATH_MAX];

	ring_path(path, sizeof(path), device, relid);
	return access(path, R_OK | W_OK) == 0;
}

/* Map a channel's ring; 0 with m->addr NULL means that it is not there yet. */
static int
map_ring(const char *device, uint32_t relid, struct hvn_ring_map *m)
{
	char path[PATH_MAX];
	struct stat st;
	int fd, ret = 0;
	void *addr;

	ring_path(path, sizeof(path), device, relid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == ENODEV ? 0 : -errno;
	if (fstat(fd, &st) != 0) {
		ret = -errno;
	} else if (st.st_size <= 0 || (uint64_t)st.st_size > RING_BYTES_MAX ||
		   st.st_size % (2 * VMBUS_PAGE_SIZE) != 0) {
		ret = -EINVAL;
	} else {
		addr = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (addr != MAP_FAILED) {
			m->addr = addr;
			m->len = (uint64_t)st.st_size;
		} else if (errno != ENODEV) { /* ENODEV: shown, but not open yet */
			ret = -errno;
		}
	}
	close(fd);
	return ret;
}

/* Look at one channel folder. */
static int
scan_channel(const char *device, uint32_t relid, struct hvn_ring_map *maps, uint32_t want)
{
	struct hvn_ring_map m = { .relid = relid, .monitor = VMBUS_MONITOR_NONE };
	struct hvn_ring_map *slot;
	uint32_t index;
	int ret;

	for (uint32_t i = 0; i < want; i++) {
		if (maps[i].addr != NULL && maps[i].relid == relid)
			return 0;
	}
	if (!hvn_subchan_supported(device, relid))
		return 0; /* ring comes last: nothing else may be there yet */
	ret = read_number(device, relid, "subchannel_id", &index);
	if (ret != 0)
		return ret == -ENOENT ? 0 : ret;
	if (index == 0)
		return 0;
	if (index > want)
		return -EPROTO;
	slot = &maps[index - 1];
	if (slot->addr != NULL)
		return -EPROTO;
	if (read_number(device, relid, "monitor_id", &m.monitor) != 0 ||
	    m.monitor >= 4 * VMBUS_MONITOR_GROUP)
		m.monitor = VMBUS_MONITOR_NONE;
	ret = map_ring(device, relid, &m);
	if (ret == 0 && m.addr != NULL)
		*slot = m;
	return ret;
}

int
hvn_subchan_scan(const char *device, struct hvn_ring_map *maps, uint32_t want, uint32_t *found)
{
	char path[PATH_MAX], *end;
	struct dirent *e;
	unsigned long relid;
	int ret = 0;
	DIR *d;

	snprintf(path, sizeof(path), DEVICES "/%s/channels", device);
	d = opendir(path);
	if (d == NULL)
		return -errno;
	while (ret == 0 && (e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		errno = 0;
		relid = strtoul(e->d_name, &end, 10);
		if (*end != '\0' || errno != 0 || relid > RELID_MAX)
			continue;
		ret = scan_channel(device, (uint32_t)relid, maps, want);
	}
	closedir(d);
	*found = 0;
	for (uint32_t i = 0; i < want; i++)
		*found += maps[i].addr != NULL;
	return ret;
}

void
hvn_subchan_unmap(struct hvn_ring_map *maps, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (maps[i].addr != NULL)
			munmap(maps[i].addr, maps[i].len);
		maps[i].addr = NULL;
	}
}
