/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Memory that guest processes share with the host, found by guest-physical address.
 *
 * Every shared mapping of a guest process is registered as {process, VA, length, fd}; the
 * host maps the same file pages. How a GPA is understood is the host's mode: pa reads the
 * page frame numbers (at first use, from the host's own mapping), va takes GPA = VA of the
 * process (for witnesses only), none knows no memory.
 */
#ifndef HVSIM_GUESTMEM_H
#define HVSIM_GUESTMEM_H

#include <stdbool.h>
#include <stdint.h>

enum guestmem_mode {
	GUESTMEM_PA,
	GUESTMEM_VA,
	GUESTMEM_NONE,
};

struct guestmem;

/** Create an empty map; NULL when memory is short. */
struct guestmem *guestmem_create(enum guestmem_mode mode);

/** Unmap and forget everything. */
void guestmem_destroy(struct guestmem *gm);

/**
 * Register a mapping of guest process @p pid.
 *
 * @param fd
 *   The mapped file; not kept (the host's own mapping keeps the file alive).
 * @return 0 or -errno.
 */
int guestmem_map(struct guestmem *gm, int pid, uint64_t va, uint64_t len, int fd, uint64_t ofs);

/** Forget what process @p pid has registered inside [va, va + len); may split mappings. */
void guestmem_unmap(struct guestmem *gm, int pid, uint64_t va, uint64_t len);

/** Forget everything of process @p pid. */
void guestmem_drop(struct guestmem *gm, int pid);

/**
 * Find @p len bytes at guest-physical address @p gpa.
 *
 * @return Pointer to the bytes in the host's mapping, valid until the next unmap or drop;
 *   NULL when they are unknown or not contiguous in the host's mapping (callers ask page by
 *   page, ranges never cross a 4096-byte page).
 */
void *guestmem_find(struct guestmem *gm, uint64_t gpa, uint32_t len);

#endif /* HVSIM_GUESTMEM_H */
