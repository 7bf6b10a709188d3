/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Makes, finds and removes run folders; a lock in each says whether its host lives.
 *
 *   BASE/              /run/hvsim, $XDG_RUNTIME_DIR/hvsim or /tmp/hvsim-UID; locked while it
 *                      is changed
 *   BASE/run.XXXXXX/   one host: "lock", "socket" (the socket or a link to it), "sys/..."
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "preload/proto.h"
#include "rundir.h"
#include "tree.h"

#define RUN_PREFIX "run."
/** Connections that wait to be accepted. */
#define RUN_BACKLOG 64

/* The user's base folder; it may not exist yet. */
static void
base_path(char *base, size_t len)
{
	const char *xdg = getenv("XDG_RUNTIME_DIR");

	if (xdg != NULL && xdg[0] == '/' && strlen(xdg) < 40 && access(xdg, W_OK | X_OK) == 0)
		snprintf(base, len, "%s/hvsim", xdg);
	else if (geteuid() == 0)
		snprintf(base, len, "/run/hvsim");
	else
		snprintf(base, len, "/tmp/hvsim-%u", (unsigned int)geteuid());
}

/* Open and lock the base folder, made when @p create; descriptor or -errno. */
static int
base_lock(const char *base, bool create)
{
	struct stat st;
	struct stat now;
	int tries;
	int fd;

	for (tries = 0; tries < 100; tries++) {
		if (create && mkdir(base, 0700) != 0 && errno != EEXIST)
			return -errno;
		fd = open(base, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 && errno == ENOENT && create)
			continue;
		if (fd < 0)
			return -errno;
		if (fstat(fd, &st) != 0 || st.st_uid != geteuid() || (st.st_mode & 022) != 0) {
			close(fd);
			return -EPERM;
		}
		/* Another host may have removed it between open and lock. */
		if (flock(fd, LOCK_EX) == 0 && stat(base, &now) == 0 &&
		    now.st_ino == st.st_ino && now.st_dev == st.st_dev)
			return fd;
		close(fd);
	}
	return -EAGAIN;
}

/* Does somebody listen at @p path? */
static bool
socket_served(const char *path)
{
	int fd = hvsim_proto_connect(path);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || fd == -EAGAIN;
}

/* Remove the folder of a host that is gone; -EBUSY when it lives. */
static int
run_sweep(const char *run)
{
	char path[PATH_MAX + 16];
	char target[PATH_MAX];
	struct stat st;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/lock", run);
	fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
		close(fd);
		return -EBUSY;
	}
	snprintf(path, sizeof(path), "%s/socket", run);
	n = readlink(path, target, sizeof(target) - 1);
	if (n > 0) {
		target[n] = '\0';
		if (lstat(target, &st) == 0 && S_ISSOCK(st.st_mode) && !socket_served(target))
			unlink(target);
	}
	tree_remove(run);
	if (fd >= 0)
		close(fd);
	return 0;
}

/*
 * Go through the run folders: remove the dead ones; count the living and give the socket of
 * the last.
 */
static unsigned int
base_sweep(const char *base, char *socket)
{
	unsigned int live = 0;
	char path[PATH_MAX];
	struct dirent *e;
	DIR *dir = opendir(base);
	ssize_t n;

	if (dir == NULL)
		return 0;
	while ((e = readdir(dir)) != NULL) {
		if (strncmp(e->d_name, RUN_PREFIX, sizeof(RUN_PREFIX) - 1) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", base, e->d_name);
		if (run_sweep(path) != -EBUSY)
			continue;
		live++;
		if (socket == NULL)
			continue;
		strcat(path, "/socket");
		n = readlink(path, socket, RUNDIR_SOCKET_MAX - 1);
		if (n > 0)
			socket[n] = '\0';
		else if (strlen(path) < RUNDIR_SOCKET_MAX)
			memcpy(socket, path, strlen(path) + 1);
	}
	closedir(dir);
	return live;
}

/* Listen at @p path; descriptor or -errno. */
static int
socket_listen(const char *path)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	mode_t mask;
	int fd;
	int ret;

	memcpy(sa.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	mask = umask(077);
	ret = bind(fd, (const struct sockaddr *)&sa, sizeof(sa)) == 0 ? 0 : -errno;
	umask(mask);
	if (ret == 0 && listen(fd, RUN_BACKLOG) != 0)
		ret = -errno;
	if (ret == 0)
		return fd;
	close(fd);
	return ret;
}

/* Listen where the user wants it, and leave a link for others to find it. */
static int
rundir_listen(struct rundir *rd, const char *socket, char *err, size_t errlen)
{
	char link[PATH_MAX];
	struct stat st;
	int ret;

	snprintf(link, sizeof(link), "%s/socket", rd->path);
	if (socket == NULL)
		socket = link;
	if (strlen(socket) >= sizeof(rd->socket)) {
		snprintf(err, errlen, "socket path %s is longer than %d bytes; use a shorter one",
			 socket, RUNDIR_SOCKET_MAX - 1);
		return -ENAMETOOLONG;
	}
	if (socket_served(socket)) {
		snprintf(err, errlen, "socket %s is served by another hvsim; stop that or use "
			 "another --socket", socket);
		return -EADDRINUSE;
	}
	if (lstat(socket, &st) == 0) {
		if (!S_ISSOCK(st.st_mode)) {
			snprintf(err, errlen, "%s exists and is no socket; use another --socket",
				 socket);
			return -EEXIST;
		}
		unlink(socket);
	}
	ret = socket_listen(socket);
	if (ret < 0) {
		snprintf(err, errlen, "cannot listen at %s: %s; use another --socket", socket,
			 strerror(-ret));
		return ret;
	}
	rd->listen = ret;
	if (socket != link && socket[0] == '/') {
		ret = symlink(socket, link);
	} else if (socket != link) {
		char *full = realpath(socket, NULL);

		ret = full != NULL ? symlink(full, link) : 0;
		if (full != NULL && strlen(full) < sizeof(rd->socket))
			socket = strcpy(link, full);
		free(full);
	}
	(void)ret; /* only "hvsim ctl" without --socket misses the link */
	memcpy(rd->socket, socket, strlen(socket) + 1);
	return 0;
}

int
rundir_open(struct rundir *rd, const char *socket, char *err, size_t errlen)
{
	char path[PATH_MAX];
	int base;
	int ret = 0;

	*rd = (struct rundir){ .lock = -1, .listen = -1 };
	base_path(rd->base, sizeof(rd->base));
	base = base_lock(rd->base, true);
	if (base < 0) {
		snprintf(err, errlen, "cannot use folder %s: %s; set XDG_RUNTIME_DIR to a "
			 "folder of your own", rd->base, strerror(-base));
		return base;
	}
	base_sweep(rd->base, NULL);
	snprintf(rd->path, sizeof(rd->path), "%s/" RUN_PREFIX "XXXXXX", rd->base);
	if (mkdtemp(rd->path) == NULL) {
		ret = -errno;
		rd->path[0] = '\0';
	} else {
		snprintf(path, sizeof(path), "%s/lock", rd->path);
		rd->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		if (rd->lock < 0 || flock(rd->lock, LOCK_EX | LOCK_NB) != 0)
			ret = -errno;
	}
	close(base);
	if (ret != 0)
		snprintf(err, errlen, "cannot make a folder in %s: %s; make room or set "
			 "XDG_RUNTIME_DIR", rd->base, strerror(-ret));
	else
		ret = rundir_listen(rd, socket, err, errlen);
	if (ret != 0)
		rundir_close(rd);
	return ret;
}

void
rundir_close(struct rundir *rd)
{
	int base = base_lock(rd->base, false);

	if (rd->listen >= 0) {
		close(rd->listen);
		unlink(rd->socket);
	}
	if (rd->path[0] != '\0')
		tree_remove(rd->path);
	if (rd->lock >= 0)
		close(rd->lock);
	rmdir(rd->base);
	if (base >= 0)
		close(base);
	*rd = (struct rundir){ .lock = -1, .listen = -1 };
}

int
rundir_find(char socket[RUNDIR_SOCKET_MAX])
{
	char base[PATH_MAX / 4];
	unsigned int live;
	int fd;

	socket[0] = '\0';
	base_path(base, sizeof(base));
	fd = base_lock(base, false);
	if (fd < 0)
		return -ENOENT;
	live = base_sweep(base, socket);
	close(fd);
	if (live == 0 || socket[0] == '\0')
		return -ENOENT;
	return live == 1 ? 0 : -EEXIST;
}
