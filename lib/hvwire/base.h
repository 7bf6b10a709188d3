/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Basics shared by all wire-format headers: packing, layout checks, alignment.
 */
#ifndef HVWIRE_BASE_H
#define HVWIRE_BASE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "Hyper-V guests are little-endian; the wire structs are used in place"
#endif

/** Wire structs have exactly the layout of the wire: no padding is added. */
#define HVW_PACKED __attribute__((packed))

/** Pin the size of a wire struct, in bytes. */
#define HVW_SIZE(type, bytes) \
	static_assert(sizeof(struct type) == (bytes), "size of struct " #type)

/** Pin the offset of a wire struct's member, in bytes. */
#define HVW_OFFSET(type, member, bytes) \
	static_assert(offsetof(struct type, member) == (bytes), \
		      "offset of " #type "." #member)

/** Round up to a power of two @p a; wraps near the type's end: check foreign values first. */
#define HVW_ALIGN_UP(v, a) (((v) + ((a) - 1)) & ~((__typeof__(v))(a) - 1))

#endif /* HVWIRE_BASE_H */
