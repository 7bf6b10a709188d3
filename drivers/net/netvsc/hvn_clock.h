/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The clock of all deadlines.
 */
#ifndef HVN_CLOCK_H
#define HVN_CLOCK_H

#include <stdint.h>
#include <time.h>

/** Monotonic time, ms. */
static inline uint64_t
hvn_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

#endif /* HVN_CLOCK_H */
