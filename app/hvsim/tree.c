/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Writes the fake VMBus tree; names and formats are those of the Linux kernel.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hvwire/vmbus.h>

#include "tree.h"

#define TREE_DEVICES "sys/bus/vmbus/devices"
/** Microsoft's vendor number and the one of its synthetic NIC, as sysfs shows them. */
#define TREE_VENDOR "0x1414\n"
#define TREE_DEVICE "0x3\n"

/* Write a file; the format's result is its whole content. */
__attribute__((format(printf, 2, 3))) static int
put(const char *path, const char *fmt, ...)
{
	char text[128];
	va_list ap;
	ssize_t n;
	int len;
	int fd;
	int ret = 0;

	va_start(ap, fmt);
	len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	n = write(fd, text, (size_t)len);
	if (n != len)
		ret = n < 0 ? -errno : -ENOSPC;
	close(fd);
	return ret;
}

/* Make a folder and those above it that are missing. */
static int
make_dirs(char *path)
{
	char *p;

	for (p = path + 1; (p = strchr(p, '/')) != NULL; *p++ = '/') {
		*p = '\0';
		if (mkdir(path, 0755) != 0 && errno != EEXIST) {
			int ret = -errno;

			*p = '/';
			return ret;
		}
	}
	return mkdir(path, 0755) != 0 && errno != EEXIST ? -errno : 0;
}

/* Build a path; -ENAMETOOLONG when it does not fit. */
__attribute__((format(printf, 2, 3))) static int
path_to(char path[PATH_MAX], const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(path, PATH_MAX, fmt, ap);
	va_end(ap);
	return len < PATH_MAX ? 0 : -ENAMETOOLONG;
}

int
tree_create(const char *root)
{
	char path[PATH_MAX];
	int ret;

	ret = path_to(path, "%s/" TREE_DEVICES, root);
	return ret != 0 ? ret : make_dirs(path);
}

/* One map folder of a uio device. */
static int
add_map(const char *root, const struct tree_dev *dev, unsigned int k)
{
	char path[PATH_MAX];
	size_t len;
	int ret;

	ret = path_to(path, "%s/" TREE_DEVICES "/%s/uio/uio%u/maps/map%u", root, dev->guid,
		      dev->uio, k);
	if (ret == 0)
		ret = make_dirs(path);
	if (ret != 0)
		return ret;
	len = strlen(path);
	if (len + sizeof("/offset") > sizeof(path))
		return -ENAMETOOLONG;
	strcpy(path + len, "/name");
	ret = put(path, "%s\n", dev->map[k].name);
	strcpy(path + len, "/size");
	if (ret == 0)
		ret = put(path, "0x%016llx\n", (unsigned long long)dev->map[k].size);
	strcpy(path + len, "/addr");
	if (ret == 0)
		ret = put(path, "0x%016llx\n", (unsigned long long)dev->map[k].addr);
	strcpy(path + len, "/offset");
	if (ret == 0)
		ret = put(path, "0x0\n");
	return ret;
}

int
tree_add_device(const char *root, const struct tree_dev *dev)
{
	const struct {
		const char *name;
		const char *text;
		unsigned int number;
	} attr[] = {
		{ "class_id", "{" VMBUS_NIC_CLASS_GUID "}\n", 0 },
		{ "device_id", NULL, 0 },
		{ "id", "%u\n", dev->relid },
		{ "monitor_id", "%u\n", dev->monitor },
		{ "numa_node", "0\n", 0 },
		{ "vendor", TREE_VENDOR, 0 },
		{ "device", TREE_DEVICE, 0 },
		{ "state", "3\n", 0 },
	};
	char path[PATH_MAX];
	unsigned int k;
	int ret;

	ret = path_to(path, "%s/" TREE_DEVICES "/%s/channels", root, dev->guid);
	if (ret == 0)
		ret = make_dirs(path);
	for (k = 0; ret == 0 && k < sizeof(attr) / sizeof(attr[0]); k++) {
		ret = path_to(path, "%s/" TREE_DEVICES "/%s/%s", root, dev->guid, attr[k].name);
		if (ret == 0 && attr[k].text == NULL)
			ret = put(path, "{%s}\n", dev->guid);
		else if (ret == 0 && strchr(attr[k].text, '%') != NULL)
			ret = put(path, "%u\n", attr[k].number);
		else if (ret == 0)
			ret = put(path, "%s", attr[k].text);
	}
	for (k = 0; ret == 0 && k < VMBUS_MAP_COUNT; k++)
		ret = add_map(root, dev, k);
	return ret;
}

int
tree_add_channel(const char *root, const struct tree_chan *chan)
{
	const struct {
		const char *name;
		uint32_t value;
	} attr[] = {
		{ "subchannel_id", chan->index },
		{ "monitor_id", chan->monitor },
		{ "cpu", chan->cpu },
	};
	char path[PATH_MAX];
	unsigned int k;
	int ret;

	ret = path_to(path, "%s/" TREE_DEVICES "/%s/channels/%u", root, chan->guid,
		      chan->relid);
	if (ret == 0)
		ret = make_dirs(path);
	for (k = 0; ret == 0 && k < sizeof(attr) / sizeof(attr[0]); k++) {
		ret = path_to(path, "%s/" TREE_DEVICES "/%s/channels/%u/%s", root, chan->guid,
			      chan->relid, attr[k].name);
		if (ret == 0)
			ret = put(path, "%u\n", attr[k].value);
	}
	return ret;
}

int
tree_add_ring(const char *root, const struct tree_chan *chan, int fd)
{
	char path[PATH_MAX];
	char target[64];
	int ret;

	ret = path_to(path, "%s/" TREE_DEVICES "/%s/channels/%u/ring", root, chan->guid,
		      chan->relid);
	if (ret != 0)
		return ret;
	snprintf(target, sizeof(target), "/proc/%d/fd/%d", (int)getpid(), fd);
	return symlink(target, path) == 0 ? 0 : -errno;
}

void
tree_remove_channel(const char *root, const char *guid, uint32_t relid)
{
	char path[PATH_MAX];

	if (path_to(path, "%s/" TREE_DEVICES "/%s/channels/%u", root, guid, relid) == 0)
		tree_remove(path);
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

int
tree_remove(const char *path)
{
	/* Depth first, links not followed, a few descriptors at most. */
	return nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) == 0 ? 0 : -errno;
}

void
tree_guid(char guid[TREE_GUID_LEN], const uint8_t mac[6], uint32_t index)
{
	snprintf(guid, TREE_GUID_LEN, "4e56%04x-0000-4000-8000-%02x%02x%02x%02x%02x%02x",
		 index & 0xffff, mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
}
