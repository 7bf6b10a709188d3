/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * One VMBus channel of a NIC: its two rings, who may touch them, and what is owed on them.
 *
 *   outbound ring  <- transmit packets, receive completions, control requests
 *                     several producers: "out_lock", held for one batch
 *   inbound ring   -> received frames, transmit completions, control messages
 *                     one consumer at a time: "in_lock", only ever tried, once per burst
 *
 * Two lcores may poll one channel (its receive queue and its transmit queue). Whoever gets
 * in_lock drains: transmit completions go to the transmit queue's completion ring, received
 * frames to the caller if it receives, else they are parked until the receive side comes.
 */
#ifndef HVN_CHANNEL_H
#define HVN_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>

#include <hvwire/nvsp.h>
#include <hvwire/vmbus.h>
#include <vmring/vmring.h>

/** Transfer-page packets that may wait for their last range or for ring space. */
#define HVN_XFERS 4096u
/** Ranges that the transmit side may park for the receive side: the most nb_rx_desc means. */
#define HVN_PARK 4096u
/** Outbound bytes that transmit leaves free for receive completions. */
#define HVN_OUT_RESERVE 8192u

/** Transaction ids: below 2^32 transmit descriptors (index + 1), with this bit requests. */
#define HVN_XACT_REQUEST (1ull << 32)

struct hvn_session;
struct hvn_txq;

/** A range of the receive buffer that holds one RNDIS message. */
struct hvn_range {
	uint32_t ofs;  /**< byte offset into the receive buffer, checked */
	uint32_t len;  /**< bytes, checked against the buffer */
	uint16_t xfer; /**< index of its transfer-page packet in hvn_channel.xfers */
};

/** A transfer-page packet that the host gets back when nobody needs its ranges. */
struct hvn_xfer {
	uint64_t xact;
	uint32_t left; /**< ranges not yet consumed; 0 with a queued completion */
};

/** Counters of a channel; written under the lock that guards the event, signals atomically. */
struct hvn_channel_stats {
	uint64_t in_messages;     /**< transfer-page packets taken */
	uint64_t in_bad;          /**< malformed inbound packets, acknowledged where possible */
	uint64_t park_drops;      /**< frames dropped: parking full */
	uint64_t stop_drops;      /**< frames dropped: received when the port stopped */
	uint64_t comp_unknown;    /**< completions that match nothing outstanding */
	uint64_t ack_deferred;    /**< completions kept because ring or lock was not free */
	uint64_t signals;         /**< signals sent to the host */
};

/** One channel. Zeroed memory from rte_zmalloc, so that secondaries could see it. */
struct hvn_channel {
	/* outbound, under out_lock */
	struct vmring out;
	uint32_t out_lock;
	uint16_t index;            /**< 0 = primary */
	uint16_t relid;
	uint32_t dead;             /**< 1: a ring turned out corrupt, or the device went away */

	/* signalling */
	uint32_t *sig_word;        /**< word of the monitor page, or of the interrupt page */
	uint32_t sig_bit;
	int uio_fd;                /**< to kick the host when there is no monitor, else -1 */

	/* inbound, under in_lock */
	struct vmring in __rte_cache_aligned;
	uint32_t in_lock;
	uint32_t in_avail;         /**< bytes of the current look at the ring not walked yet */
	const uint8_t *recv;       /**< receive buffer (shared with the host) */
	uint32_t recv_len;         /**< bytes */
	struct hvn_session *session; /**< takes control messages; primary channel only */
	struct hvn_txq *txq;       /**< takes transmit completions; NULL without a queue */
	uint32_t park_limit;       /**< parked ranges allowed: nb_rx_desc, 0 without an RX queue */

	uint16_t cur_xfer;         /**< half-walked transfer-page packet */
	uint32_t cur_next;         /**< its next range */
	uint32_t cur_count;        /**< its ranges, 0 = none half-walked */

	uint32_t park_head, park_tail;   /**< free-running */
	uint32_t ack_head, ack_tail;     /**< free-running */
	uint32_t xfer_free_count;
	struct hvn_range park[HVN_PARK];
	uint64_t acks[HVN_XFERS];        /**< completions owed, oldest at ack_tail */
	uint16_t xfer_free[HVN_XFERS];
	struct hvn_xfer xfers[HVN_XFERS];
	struct vmbus_xfer_range cur_ranges[VMBUS_XFER_RANGES_RSC]; /**< private copy */

	struct hvn_channel_stats stats;
};

/**
 * Attach to freshly opened rings.
 *
 * @param rings
 *   Outbound ring, then inbound ring, @p bytes together (both directions).
 * @param recv, recv_len
 *   The NIC's receive buffer; set later with the same values on all channels.
 * @return 0 or -errno (bad size, impossible indices).
 */
int hvn_channel_init(struct hvn_channel *ch, void *rings, uint64_t bytes, uint16_t index,
		     uint16_t relid);

/** Tell the channel where its signals go. @p uio_fd is -1 when the word is a monitor's. */
void hvn_channel_set_signal(struct hvn_channel *ch, uint32_t *word, uint32_t bit, int uio_fd);

/** Tell the host to look at the outbound ring. */
void hvn_channel_signal(struct hvn_channel *ch);

/** Mark the channel dead; data paths see it and stop touching the rings. */
static inline void
hvn_channel_kill(struct hvn_channel *ch)
{
	vmring_store_relaxed(&ch->dead, 1);
}

static inline bool
hvn_channel_is_dead(const struct hvn_channel *ch)
{
	return vmring_load_relaxed(&ch->dead) != 0;
}

/**
 * Take the outbound lock, bounded: a preempted holder must not stall the caller.
 *
 * @return False when the lock was not to be had; try again later.
 */
bool hvn_channel_out_lock(struct hvn_channel *ch);

static inline void
hvn_channel_out_unlock(struct hvn_channel *ch)
{
	vmring_unlock(&ch->out_lock);
}

/**
 * Send one packet that is not part of a burst (control path).
 *
 * @param pkt
 *   Descriptor, type header and padded payload, @p len bytes, multiple of 8.
 * @return 0; -EAGAIN when the ring is full or the lock is taken; -EIO when it is dead.
 */
int hvn_channel_send(struct hvn_channel *ch, const void *pkt, uint32_t len);

/**
 * Build and send an in-band packet with @p len payload bytes (<= NVSP_MSG_SIZE; padded with
 * zeros to NVSP_MSG_SIZE). @p xact != 0 requests a completion.
 */
int hvn_channel_send_nvsp(struct hvn_channel *ch, const void *msg, uint32_t len, uint64_t xact);

#endif /* HVN_CHANNEL_H */
