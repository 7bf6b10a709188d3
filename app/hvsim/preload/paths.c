/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Sends the guest's look at VMBus files and uio devices to the lab.
 */
/* Both the plain and the 64-bit names are defined here, so they must not be one. */
#undef _FILE_OFFSET_BITS
#define _LARGEFILE64_SOURCE
/* The redirecting inline forms would hide the functions that are defined here. */
#undef _FORTIFY_SOURCE

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim.h"

int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);

SHIM_SLOT(open);
SHIM_SLOT(open64);
SHIM_SLOT(openat);
SHIM_SLOT(openat64);
SHIM_SLOT(fopen);
SHIM_SLOT(fopen64);
SHIM_SLOT(opendir);
SHIM_SLOT(access);
SHIM_SLOT(stat);
SHIM_SLOT(stat64);
SHIM_SLOT(lstat);
SHIM_SLOT(lstat64);

/* The number of "/dev/uioN", or -1. */
static int
uio_path(const char *path)
{
	static const char prefix[] = PROTO_DEV_UIO;
	unsigned long n;
	char *end;

	if (path == NULL || strncmp(path, prefix, sizeof(prefix) - 1) != 0)
		return -1;
	path += sizeof(prefix) - 1;
	if (*path < '0' || *path > '9')
		return -1;
	n = strtoul(path, &end, 10);
	if (*end != '\0' || n > INT_MAX || getenv("HVSIM_SOCKET") == NULL)
		return -1;
	return (int)n;
}

/* Open /dev/uioN at the host. */
static int
uio_open(int n, int flags)
{
	struct proto_msg m = { .type = PROTO_UIO_OPEN, .arg = (uint32_t)n };
	int fd = -1;
	int ret;

	ret = shim_call(&m, &fd);
	if (ret != 0 || fd < 0) {
		errno = ret != 0 ? -ret : ENODEV;
		return -1;
	}
	if ((flags & O_CLOEXEC) == 0)
		fcntl(fd, F_SETFD, 0);
	if ((flags & O_NONBLOCK) != 0)
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	return fd;
}

/* The mode argument exists only with these flags. */
#define OPEN_MODE(flags, last) \
	__extension__({ \
		mode_t mode_ = 0; \
		if (((flags) & (O_CREAT | O_TMPFILE)) != 0) { \
			va_list ap_; \
			va_start(ap_, last); \
			mode_ = va_arg(ap_, mode_t); \
			va_end(ap_); \
		} \
		mode_; \
	})

SHIM_EXPORT int
open(const char *path, int flags, ...)
{
	mode_t mode = OPEN_MODE(flags, flags);
	char buf[PATH_MAX];
	int n = uio_path(path);

	if (n >= 0)
		return uio_open(n, flags);
	path = shim_path(path, buf, sizeof(buf));
	return path == NULL ? -1 : SHIM_REAL(open)(path, flags, mode);
}

SHIM_EXPORT int
open64(const char *path, int flags, ...)
{
	mode_t mode = OPEN_MODE(flags, flags);
	char buf[PATH_MAX];
	int n = uio_path(path);

	if (n >= 0)
		return uio_open(n, flags);
	path = shim_path(path, buf, sizeof(buf));
	return path == NULL ? -1 : SHIM_REAL(open64)(path, flags, mode);
}

SHIM_EXPORT int
__open_2(const char *path, int flags)
{
	return open(path, flags);
}

SHIM_EXPORT int
__open64_2(const char *path, int flags)
{
	return open64(path, flags);
}

SHIM_EXPORT int
openat(int dir, const char *path, int flags, ...)
{
	mode_t mode = OPEN_MODE(flags, flags);
	char buf[PATH_MAX];
	int n = uio_path(path);

	if (n >= 0)
		return uio_open(n, flags);
	path = shim_path(path, buf, sizeof(buf));
	return path == NULL ? -1 : SHIM_REAL(openat)(dir, path, flags, mode);
}

SHIM_EXPORT int
openat64(int dir, const char *path, int flags, ...)
{
	mode_t mode = OPEN_MODE(flags, flags);
	char buf[PATH_MAX];
	int n = uio_path(path);

	if (n >= 0)
		return uio_open(n, flags);
	path = shim_path(path, buf, sizeof(buf));
	return path == NULL ? -1 : SHIM_REAL(openat64)(dir, path, flags, mode);
}

SHIM_EXPORT FILE *
fopen(const char *path, const char *mode)
{
	char buf[PATH_MAX];

	path = shim_path(path, buf, sizeof(buf));
	return path == NULL ? NULL : SHIM_REAL(fopen)(path, mode);
}

SHIM_EXPORT FILE *
fopen64(const char *path, const char *mode)
{
	char buf[PATH_MAX];

	path = shim_path(path, buf, sizeof(buf));
	return path == NULL ? NULL : SHIM_REAL(fopen64)(path, mode);
}

SHIM_EXPORT DIR *
opendir(const char *path)
{
	char buf[PATH_MAX];

	path = shim_path(path, buf, sizeof(buf));
	return path == NULL ? NULL : SHIM_REAL(opendir)(path);
}

SHIM_EXPORT int
access(const char *path, int mode)
{
	char buf[PATH_MAX];

	path = shim_path(path, buf, sizeof(buf));
	return path == NULL ? -1 : SHIM_REAL(access)(path, mode);
}

SHIM_EXPORT int
stat(const char *path, struct stat *st)
{
	char buf[PATH_MAX];

	path = shim_path(path, buf, sizeof(buf));
	return path == NULL ? -1 : SHIM_REAL(stat)(path, st);
}

SHIM_EXPORT int
stat64(const char *path, struct stat64 *st)
{
	char buf[PATH_MAX];

	path = shim_path(path, buf, sizeof(buf));
	return path == NULL ? -1 : SHIM_REAL(stat64)(path, st);
}

SHIM_EXPORT int
lstat(const char *path, struct stat *st)
{
	char buf[PATH_MAX];

	path = shim_path(path, buf, sizeof(buf));
	return path == NULL ? -1 : SHIM_REAL(lstat)(path, st);
}

SHIM_EXPORT int
lstat64(const char *path, struct stat64 *st)
{
	char buf[PATH_MAX];

	path = shim_path(path, buf, sizeof(buf));
	return path == NULL ? -1 : SHIM_REAL(lstat64)(path, st);
}
