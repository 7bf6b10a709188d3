/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The host's end of one VMBus channel: its two rings, their signals and its state.
 *
 *   guest's transmit ring   guest produces, host consumes ("tx")
 *   guest's receive ring    host produces, guest consumes ("rx")
 *
 *   OFFERED --hvchan_open()--> OPEN --protocol violation, corrupt ring--> DEAD
 *
 * Signalled: the host sleeps until the guest signals, masks further signals while it
 * drains, unmasks and looks once more. When the receive ring is full it stores the free
 * space it waits for in pending_send and resumes after the guest's signal only.
 * Polling: signals stay masked, pending_send stays 0, indices are looked at.
 */
#ifndef HVSIM_VMBUS_CHANNEL_H
#define HVSIM_VMBUS_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#include <vmring/vmring.h>

/** How long a guest may owe a signal before the audit reports it, ns; it may be preempted. */
#define HVCHAN_SIGNAL_PATIENCE_NS 1000000000ull

enum hvchan_state {
	HVCHAN_OFFERED, /**< no rings, or not opened by the kernel yet */
	HVCHAN_OPEN,
	HVCHAN_DEAD,    /**< silent until the session ends */
};

/** What hvchan_audit() found. */
enum hvchan_finding {
	HVCHAN_FINE,
	HVCHAN_NO_SIGNAL, /**< transmit ring has data for long, signal never came */
	HVCHAN_NO_WAKE,   /**< receive ring has the wanted space for long, signal never came */
};

/** The host's end; ring memory stays the caller's. */
struct hvchan {
	struct vmring tx;
	struct vmring rx;
	enum hvchan_state state;
	bool polling;
	bool active;         /**< signalled: draining, the guest's signals are masked */
	uint32_t armed;      /**< value in pending_send, 0: not waiting */
	uint64_t credits;    /**< signals that the guest had a reason for and did not send */
	uint64_t tx_since;   /**< audit: when unsignalled data was first seen, ns; 0 none */
	uint64_t wake_since; /**< audit: when the wanted space was first seen, ns; 0 none */
};

/**
 * Open over @p rings (transmit ring, then receive ring, @p ring_bytes each); resets them.
 *
 * @return 0; -EINVAL when the ring size is impossible.
 */
int hvchan_open(struct hvchan *ch, void *rings, uint32_t ring_bytes, bool polling);

/** Forget the rings; the state is OFFERED again. */
void hvchan_close(struct hvchan *ch);

/** The guest signalled. @return False when it had no reason left to. */
bool hvchan_signal(struct hvchan *ch);

/** Start looking at the transmit ring as if signalled (own look, no judgement). */
void hvchan_look(struct hvchan *ch);

/** The transmit ring was emptied: unmask, look again; stays active when data came. */
void hvchan_drained(struct hvchan *ch);

/** Look at slow-moving faults of the guest; @p now_ns is monotonic. Signalled modes only. */
enum hvchan_finding hvchan_audit(struct hvchan *ch, uint64_t now_ns);

/** True when the transmit ring should be drained now. */
static inline bool
hvchan_ready(const struct hvchan *ch)
{
	if (ch->state != HVCHAN_OPEN)
		return false;
	return ch->polling ? vmring_pending(&ch->tx) : ch->active;
}

/**
 * Give the consumed part of the transmit ring back.
 *
 * @return True when the guest must be interrupted (it waits for space).
 */
bool hvchan_release(struct hvchan *ch);

/**
 * Room for @p cost bytes (trailer included) in the receive ring?
 *
 * @return 1 yes; 0 no, or the host waits for the guest's wake signal; -EIO as
 *   vmring_refresh().
 */
static inline int
hvchan_room(struct hvchan *ch, uint32_t cost)
{
	int ret;

	if (ch->armed != 0)
		return 0;
	if (vmring_free(&ch->rx) > cost)
		return 1;
	ret = vmring_refresh(&ch->rx);
	if (ret < 0)
		return ret;
	return vmring_free(&ch->rx) > cost;
}

/** First word of a packet descriptor; @p ofs8 and @p len8 in 8-byte units. */
static inline uint64_t
hvchan_desc_word(uint32_t type, uint32_t ofs8, uint32_t len8, uint32_t flags)
{
	return type | (uint64_t)ofs8 << 16 | (uint64_t)len8 << 32 | (uint64_t)flags << 48;
}

/**
 * Append one packet of @p words 8-byte words to the receive ring, unpublished, by having
 * @p fill(arg, dst) write them where they belong (@p slow, words long, when they wrap).
 * The caller knows that there is room.
 */
#define HVCHAN_APPEND(ch, words, slow, fill, ...) \
	do { \
		struct vmring *ring_ = &(ch)->rx; \
		uint32_t bytes_ = (words) * 8u; \
		if (ring_->pos + bytes_ + VMBUS_PKT_TRAILER <= ring_->size) { \
			uint64_t *dst_ = (uint64_t *)(void *)(ring_->data + ring_->pos); \
			fill(dst_, __VA_ARGS__); \
			dst_[words] = (uint64_t)ring_->pos << 32; \
			ring_->pos = vmring_step(ring_, ring_->pos, \
						 bytes_ + VMBUS_PKT_TRAILER); \
		} else { \
			fill(slow, __VA_ARGS__); \
			vmring_put(ring_, slow, bytes_); \
		} \
	} while (0)

/**
 * The receive ring is too full for @p cost bytes: ask the guest to signal when there is
 * room. In polling mode this does nothing.
 *
 * @return 1 when room appeared meanwhile (nothing is armed), 0 armed or polling, -EIO.
 */
int hvchan_arm(struct hvchan *ch, uint32_t cost);

#endif /* HVSIM_VMBUS_CHANNEL_H */
