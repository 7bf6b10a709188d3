/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Do two processes belong together?
 */
#ifndef HVSIM_PROCSHARE_H
#define HVSIM_PROCSHARE_H

#include <stdbool.h>

/**
 * Whether processes @p a and @p b map a file in common for writing, as a DPDK primary and
 * its secondaries do; the lab's own memory does not count. True also when it cannot be told.
 */
bool procshare(int a, int b);

#endif /* HVSIM_PROCSHARE_H */
