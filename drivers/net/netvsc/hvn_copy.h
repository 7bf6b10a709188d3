/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Copying packet data between buffers.
 */
#ifndef HVN_COPY_H
#define HVN_COPY_H

#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_memcpy.h>

/** Frames up to this many bytes are copied inline. */
#define HVN_COPY_INLINE 256u

/**
 * Copy @p len bytes of packet data; the areas do not overlap.
 *
 * Distributions build DPDK for old processors, so its inline copy moves 16 bytes at a time;
 * the C library picks wider moves when it runs. That pays where the call is amortised.
 */
static inline void
hvn_copy(void *dst, const void *src, size_t len)
{
	if (likely(len <= HVN_COPY_INLINE))
		rte_memcpy(dst, src, len);
	else
		memcpy(dst, src, len);
}

#endif /* HVN_COPY_H */
