/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * "hvsim ctl": asks a running host.
 */
#ifndef HVSIM_CTL_H
#define HVSIM_CTL_H

#include <stddef.h>

#include "cli.h"
#include "rundir.h"

/** Carry out the verb and print the answer; 0, or -errno with @p err filled. */
int ctl_main(const struct cli *cli, char *err, size_t errlen);

/**
 * The socket of the host to use: --socket, $HVSIM_SOCKET, or the only host that runs.
 *
 * @return 0, or -errno with @p err filled; the host was alive a moment ago.
 */
int ctl_socket(const struct cli *cli, char path[RUNDIR_SOCKET_MAX], char *err, size_t errlen);

#endif /* HVSIM_CTL_H */
