/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Starting a guest command with the preload library.
 */
#ifndef HVSIM_LAUNCH_H
#define HVSIM_LAUNCH_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/** What is needed to start a guest. */
struct launch {
	char path[PATH_MAX];            /**< of the command */
	char preload[3 * PATH_MAX];     /**< LD_PRELOAD */
	char **argv;
	int status;                     /**< exit status for a failed launch_check() */
};

/**
 * Find the command and the preload library, and see whether they go together.
 *
 * @param assist
 *   Load the help for upstream's DPDK 22.11 driver too.
 * @param err
 *   On failure one line that names the value and the remedy.
 * @return 0 or -errno.
 */
int launch_check(struct launch *l, char **argv, bool assist, char *err, size_t errlen);

/** Become the command, as a guest of the host at @p socket; returns only on failure: -errno. */
int launch_exec(const struct launch *l, const char *socket);

#endif /* HVSIM_LAUNCH_H */
