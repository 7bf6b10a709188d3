/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The host's folder: lock, control socket and fake tree, gone when the host is gone.
 */
#ifndef HVSIM_RUNDIR_H
#define HVSIM_RUNDIR_H

#include <limits.h>
#include <stddef.h>

/** Longest path of a Unix socket, with its NUL. */
#define RUNDIR_SOCKET_MAX 108

struct rundir {
	char base[PATH_MAX / 4];
	char path[PATH_MAX / 2];
	char socket[RUNDIR_SOCKET_MAX];
	int lock;   /**< held while the host lives */
	int listen; /**< the socket, listening, non-blocking */
};

/**
 * Remove what killed hosts left, make a folder and listen.
 *
 * @param socket
 *   Where to listen, or NULL: inside the folder.
 * @param err
 *   On failure one line that names the value and the remedy.
 * @return 0 or -errno.
 */
int rundir_open(struct rundir *rd, const char *socket, char *err, size_t errlen);

/** Remove socket and folder. */
void rundir_close(struct rundir *rd);

/**
 * Find the socket of the only host that runs for this user.
 *
 * @return 0, -ENOENT, or -EEXIST when there are several and @p socket is that of one.
 */
int rundir_find(char socket[RUNDIR_SOCKET_MAX]);

#endif /* HVSIM_RUNDIR_H */
