/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Memory between two inaccessible pages, for tests: a step outside is a crash, not luck.
 */
#ifndef TEST_GUARD_H
#define TEST_GUARD_H

#include <stddef.h>

/** Which end of the memory touches its guard page exactly. */
enum guard_side {
	GUARD_AFTER,  /**< the byte behind the memory is inaccessible */
	GUARD_BEFORE, /**< the byte in front of the memory is inaccessible */
};

/**
 * Allocate @p bytes (0 allowed) of zeroed memory with an inaccessible page on both sides.
 *
 * On @p side the memory touches the guard page; on the other side up to a page less one
 * byte of slack lies between. With GUARD_AFTER the start is aligned only as @p bytes is.
 * @return The memory, to be freed with guard_free(); aborts when the system has none.
 */
void *guard_alloc(size_t bytes, enum guard_side side);

/** Free what guard_alloc() returned for the same @p bytes. */
void guard_free(void *mem, size_t bytes);

/** True when reading or writing the byte at @p mem would be a segmentation fault. */
int guard_faults(volatile void *mem);

#endif /* TEST_GUARD_H */
