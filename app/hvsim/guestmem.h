/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Memory that guest processes share with the host, found by guest-physical address.
 *
 * Every shared mapping of a guest process is registered as {owner, VA, length, file}; the
 * host maps the same file pages. How a GPA is understood is the host's mode: pa reads the
 * page frame numbers (at first use, from the host's own mapping; hugetlbfs only, other pages
 * may move), va takes GPA = VA of the owner (for witnesses only), none knows no memory.
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
 * Register a mapping of guest @p owner (the host's number of the guest process).
 *
 * @param va, len
 *   Where it is in the guest, bytes.
 * @param fd, ofs
 *   The mapped file and the offset into it; the descriptor is not kept (the host's own
 *   mapping keeps the file alive).
 * @return 0 or -errno.
 */
int guestmem_map(struct guestmem *gm, int owner, uint64_t va, uint64_t len, int fd,
		 uint64_t ofs);

/** Forget what @p owner has registered inside [va, va + len); may split mappings. */
void guestmem_unmap(struct guestmem *gm, int owner, uint64_t va, uint64_t len);

/** Forget everything of @p owner. */
void guestmem_drop(struct guestmem *gm, int owner);

/**
 * Find @p len bytes at guest-physical address @p gpa.
 *
 * @param owner
 *   In va mode, whose addresses are tried first; otherwise not used.
 * @return Pointer to the bytes in the host's mapping, valid until the next unmap or drop;
 *   NULL when they are unknown or not contiguous in the host's mapping (callers ask page by
 *   page, ranges never cross a 4096-byte page).
 */
void *guestmem_find(struct guestmem *gm, int owner, uint64_t gpa, uint32_t len);

/**
 * A look at @p addr raised SIGBUS: the guest cut the file short. Puts empty memory in the
 * place of the mapping. Async-signal-safe.
 *
 * @return False when @p addr is no guest memory.
 */
bool guestmem_fault(struct guestmem *gm, const void *addr);

/** Bytes registered now, over all owners. */
uint64_t guestmem_bytes(const struct guestmem *gm);

#endif /* HVSIM_GUESTMEM_H */
