/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * One side of one VMBus ring on plain memory: write and publish, or look and release.
 *
 *        read_index            write_index
 *            |   readable bytes     |
 *   data:  ..[pkt][pkt][pkt][pkt]...|.... free ....
 *                 ^pos (consumer)   ^pos (producer, private until published)
 *
 * A producer appends any number of packets, then publishes them with one store and one
 * signal decision. A consumer takes the readable range with one load, walks packets, then
 * releases them with one store. Nothing here knows a file descriptor or how a signal is
 * sent: functions say whether one is due. One caller at a time per struct vmring, except for
 * vmring_pending().
 *
 * Protocol facts: indices are byte offsets, multiples of 8; equal means empty, so at least
 * 8 bytes always stay free. Source: Linux ring_buffer.c, OpenVMM vmbus_ring (facts).
 */
#ifndef VMRING_VMRING_H
#define VMRING_VMRING_H

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <hvwire/vmbus.h>

#include "atomics.h"

/** One side's private view of one ring direction. */
struct vmring {
	struct vmbus_ring_hdr *hdr; /**< shared; owned by who mapped it */
	uint8_t *data;              /**< shared data area behind the header page */
	uint32_t size;              /**< bytes of the data area, multiple of 8 */
	uint32_t pos;               /**< own position, may be ahead of what is published; others
				     * than the owner may look at it as a hint */
	uint32_t pub;               /**< own index as last published */
	uint32_t peer;              /**< the other side's index as last checked */
};

/** Bytes that a packet of @p len bytes (descriptor to padded payload) takes on the ring. */
static inline uint32_t
vmring_cost(uint32_t len)
{
	return len + VMBUS_PKT_TRAILER;
}

/**
 * Attach to one direction at @p mem (header page and data, @p bytes together).
 *
 * @param producer
 *   True: continue behind the published write index; false: at the read index.
 * @return
 *   0; -EINVAL when @p bytes is not a header page plus a multiple of 4096 data bytes;
 *   -EIO when the indices found there are impossible.
 */
int vmring_attach(struct vmring *r, void *mem, uint64_t bytes, bool producer);

/** Clear indices and mask, set the feature bit: what opening a channel does. */
void vmring_reset_shared(void *mem);

/** True when @p idx can be an index of this ring. */
static inline bool
vmring_index_ok(const struct vmring *r, uint32_t idx)
{
	return idx < r->size && (idx & 7) == 0;
}

/** Move @p pos forward by @p n (< size) with wrap. */
static inline uint32_t
vmring_step(const struct vmring *r, uint32_t pos, uint32_t n)
{
	pos += n;
	return pos >= r->size ? pos - r->size : pos;
}

/** Bytes from @p from up to @p to in ring order. */
static inline uint32_t
vmring_distance(const struct vmring *r, uint32_t from, uint32_t to)
{
	return to >= from ? to - from : to + r->size - from;
}

/* ---- producer ---- */

/**
 * Look at the consumer's progress.
 *
 * Acquire: pairs with the release in vmring_release(); bytes that it frees are only
 * overwritten after the consumer has read them.
 * @return 0; -EIO when the consumer's index is impossible: outside the ring, backwards, or
 *   beyond what was published (the ring is dead).
 */
static inline int
vmring_refresh(struct vmring *r)
{
	uint32_t idx = vmring_load_acquire(&r->hdr->read_index);

	if (!vmring_index_ok(r, idx) ||
	    vmring_distance(r, r->peer, idx) > vmring_distance(r, r->peer, r->pub))
		return -EIO;
	r->peer = idx;
	return 0;
}

/** Free bytes as of the last vmring_refresh(); a packet fits when free > its cost. */
static inline uint32_t
vmring_free(const struct vmring *r)
{
	return r->size - vmring_distance(r, r->peer, r->pos);
}

/** True when a packet of @p len bytes fits: a full ring would look like an empty one. */
static inline bool
vmring_fits(const struct vmring *r, uint32_t len)
{
	return vmring_free(r) > vmring_cost(len);
}

/** Copy @p len bytes (<= size) to the ring at @p pos, wrapping; returns the new position. */
static inline uint32_t
vmring_copy_in(struct vmring *r, uint32_t pos, const void *src, uint32_t len)
{
	uint32_t first = r->size - pos;

	if (len <= first) {
		memcpy(r->data + pos, src, len);
	} else {
		memcpy(r->data + pos, src, first);
		memcpy(r->data, (const uint8_t *)src + first, len - first);
	}
	return vmring_step(r, pos, len);
}

/**
 * Append one packet, unpublished.
 *
 * @param pkt
 *   Descriptor, header and padded payload.
 * @param len
 *   Bytes at @p pkt, a multiple of 8; the caller has checked free > vmring_cost(len).
 */
static inline void
vmring_put(struct vmring *r, const void *pkt, uint32_t len)
{
	uint64_t trailer = (uint64_t)r->pos << 32;
	uint32_t pos = vmring_copy_in(r, r->pos, pkt, len);

	pos = vmring_copy_in(r, pos, &trailer, sizeof(trailer));
	vmring_store_relaxed(&r->pos, pos);
}

/**
 * Append one packet like vmring_put(), in one copy: the last 8 of the @p len bytes at
 * @p pkt are room for the trailer, which is written there first.
 */
static inline void
vmring_put_framed(struct vmring *r, void *pkt, uint32_t len)
{
	uint64_t trailer = (uint64_t)r->pos << 32;

	memcpy((uint8_t *)pkt + len - sizeof(trailer), &trailer, sizeof(trailer));
	vmring_store_relaxed(&r->pos, vmring_copy_in(r, r->pos, pkt, len));
}

/** Forget all packets that were put since the last publish. */
static inline void
vmring_cancel(struct vmring *r)
{
	r->pos = r->pub;
}

/**
 * Publish everything that was put.
 *
 * Release: pairs with the acquire in vmring_poll(). The fence orders the store before
 * the look at mask and read index; the consumer does the reverse before it sleeps.
 * @return True when the consumer must be signalled: not masked, and it had read all that
 *   was published before (empty to non-empty).
 */
static inline bool
vmring_publish(struct vmring *r)
{
	uint32_t old = r->pub;

	if (r->pos == old)
		return false;
	vmring_store_release(&r->hdr->write_index, r->pos);
	r->pub = r->pos;
	vmring_fence();
	if (vmring_load_relaxed(&r->hdr->imask) != 0)
		return false;
	return vmring_load_acquire(&r->hdr->read_index) == old;
}

/* ---- consumer ---- */

/**
 * True when the producer has published something beyond our position; unordered look.
 *
 * The only function here that may run beside a consumer that holds the ring: the answer is
 * then a hint.
 */
static inline bool
vmring_pending(const struct vmring *r)
{
	return vmring_load_relaxed(&r->hdr->write_index) != vmring_load_relaxed(&r->pos);
}

/**
 * Take the readable range.
 *
 * Acquire: pairs with the release in vmring_publish().
 * @param avail
 *   Bytes from our position to the producer's index; untouched on error.
 * @return 0; -EIO when the producer's index is impossible: outside the ring, or among
 *   what we read and have not released (the ring is dead).
 */
static inline int
vmring_poll(struct vmring *r, uint32_t *avail)
{
	uint32_t idx = vmring_load_acquire(&r->hdr->write_index);

	if (!vmring_index_ok(r, idx) ||
	    vmring_distance(r, r->pub, idx) < vmring_distance(r, r->pub, r->pos))
		return -EIO;
	r->peer = idx;
	*avail = vmring_distance(r, r->pos, idx);
	return 0;
}

/**
 * Copy @p len bytes out of the ring, from @p ofs bytes behind our position, wrapping.
 *
 * The caller knows that @p ofs + @p len lies in the readable range.
 */
static inline void
vmring_copy_out(const struct vmring *r, uint32_t ofs, void *dst, uint32_t len)
{
	uint32_t pos = vmring_step(r, r->pos, ofs);
	uint32_t first = r->size - pos;

	if (len <= first) {
		memcpy(dst, r->data + pos, len);
	} else {
		memcpy(dst, r->data + pos, first);
		memcpy((uint8_t *)dst + first, r->data, len - first);
	}
}

/**
 * Copy and check the descriptor at our position.
 *
 * @param avail
 *   Readable bytes left.
 * @return 0; -EAGAIN when nothing is left; -EIO when the descriptor is impossible
 *   (lengths, unknown flags): the ring is dead.
 */
static inline int
vmring_peek(const struct vmring *r, uint32_t avail, struct vmbus_pkt_desc *desc)
{
	if (avail == 0)
		return -EAGAIN;
	if (avail < sizeof(*desc) + VMBUS_PKT_TRAILER)
		return -EIO;
	vmring_copy_out(r, 0, desc, sizeof(*desc));
	if (vmring_cost((uint32_t)desc->len8 * 8) > avail ||
	    desc->offset8 < sizeof(*desc) / 8 || desc->offset8 > desc->len8 ||
	    (desc->flags & ~VMBUS_PKT_F_COMPLETION) != 0)
		return -EIO;
	return 0;
}

/** Step over the packet that vmring_peek() returned; yields its cost in bytes. */
static inline uint32_t
vmring_skip(struct vmring *r, const struct vmbus_pkt_desc *desc)
{
	uint32_t n = vmring_cost((uint32_t)desc->len8 * 8);

	vmring_store_relaxed(&r->pos, vmring_step(r, r->pos, n)); /* vmring_pending() may look */
	return n;
}

/** The slow half of vmring_release(): is the producer waiting for the space just freed? */
bool vmring_release_signal(struct vmring *r, uint32_t consumed);

/**
 * Give everything before our position back to the producer.
 *
 * Release: pairs with the acquire in vmring_refresh().
 * @return True when the producer armed pending_send and this release crossed it: it must
 *   be signalled.
 */
static inline bool
vmring_release(struct vmring *r)
{
	uint32_t consumed = vmring_distance(r, r->pub, r->pos);

	if (consumed == 0)
		return false;
	vmring_store_release(&r->hdr->read_index, r->pos);
	r->pub = r->pos;
	if ((vmring_load_relaxed(&r->hdr->features) & VMBUS_RING_FEAT_PENDING_SEND) == 0)
		return false;
	vmring_fence();
	if (vmring_load_relaxed(&r->hdr->pending_send) == 0)
		return false;
	return vmring_release_signal(r, consumed);
}

#endif /* VMRING_VMRING_H */
