/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * A bounded view of foreign bytes: every read is checked, nothing is read twice.
 *
 * The bytes must already be private (copied out of shared memory), or each field must be
 * taken from here exactly once.
 */
#ifndef HVWIRE_CURSOR_H
#define HVWIRE_CURSOR_H

#include <stdbool.h>
#include <string.h>

#include "base.h"

/** @p len bytes at @p base (may be NULL when there are none); the memory stays the caller's. */
struct hvw_view {
	const uint8_t *base;
	uint64_t len;
};

/** View @p len bytes at @p base. */
static inline struct hvw_view
hvw_view(const void *base, uint64_t len)
{
	return (struct hvw_view){ .base = (const uint8_t *)base, .len = len };
}

/** True when @p ofs .. @p ofs + @p len lies inside @p size; safe for all 64-bit values. */
static inline bool
hvw_inside(uint64_t ofs, uint64_t len, uint64_t size)
{
	return len <= size && ofs <= size - len;
}

/** Copy @p len bytes at @p ofs to @p dst; false (and @p dst untouched) if they do not exist. */
static inline bool
hvw_read(struct hvw_view v, uint64_t ofs, void *dst, uint64_t len)
{
	if (!hvw_inside(ofs, len, v.len))
		return false;
	if (len != 0)
		memcpy(dst, v.base + ofs, len);
	return true;
}

/** Read a little-endian u32 at @p ofs; false if it does not exist. */
static inline bool
hvw_read32(struct hvw_view v, uint64_t ofs, uint32_t *val)
{
	return hvw_read(v, ofs, val, sizeof(*val));
}

/** Narrow the view to @p len bytes at @p ofs; false if they do not exist. */
static inline bool
hvw_sub(struct hvw_view v, uint64_t ofs, uint64_t len, struct hvw_view *out)
{
	if (!hvw_inside(ofs, len, v.len))
		return false;
	*out = hvw_view(ofs == 0 ? v.base : v.base + ofs, len);
	return true;
}

#endif /* HVWIRE_CURSOR_H */
