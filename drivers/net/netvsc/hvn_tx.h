/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * A transmit queue and its burst function.
 *
 * A descriptor is one VMBus packet with the host: either a send section with up to
 * max_packets frames (copied, mbufs already freed), or one frame by guest-physical address.
 * Descriptors come back through the completion ring: whoever drains the channel's inbound
 * ring writes it, the queue's lcore reads it.
 */
#ifndef HVN_TX_H
#define HVN_TX_H

#include <rte_mbuf.h>

#include <hvwire/rndis.h>

#include "hvn_channel.h"
#include "hvn_section.h"

/** Room for the RNDIS header of one GPA-direct frame, bytes; slots never cross 4096. */
#define HVN_TX_HDR_SIZE 128u

/** Segments that one frame may have; what does not fit in GPA ranges is copied. */
#define HVN_TX_MAX_SEGS UINT16_MAX

/** State of a descriptor, one byte each, so that completions can be checked. */
enum hvn_txd_state {
	HVN_TXD_FREE,
	HVN_TXD_SENT,
	HVN_TXD_DONE, /**< completed, in the completion ring */
};

struct hvn_txd {
	struct rte_mbuf *mbuf; /**< frame by GPA, freed at completion; NULL for sections */
	uint32_t section;      /**< NVSP_SECTION_NONE without a section */
	uint16_t packets;      /**< frames in it */
};

struct hvn_txq_stats {
	uint64_t packets;
	uint64_t bytes;
	uint64_t errors;      /**< frames that the host completed with another status */
	uint64_t section;     /**< frames copied to sections */
	uint64_t gpa;         /**< frames by GPA */
	uint64_t mixed;       /**< frames by section and GPA */
	uint64_t ring_full;   /**< bursts cut short: outbound ring full */
	uint64_t no_section;  /**< frames that found no free section */
	uint64_t no_desc;     /**< bursts cut short: no descriptor free */
	uint64_t oversize;    /**< frames that no transport can carry (freed, counted) */
};

/** A transmit queue; its fast-path owner is the lcore that transmits on it. */
struct hvn_txq {
	struct hvn_channel *ch;
	struct hvn_section_pool *pool;
	uint8_t *hdrs;             /**< nb_desc header slots of HVN_TX_HDR_SIZE */
	uint64_t *hdr_gpa;         /**< per descriptor: guest-physical address of its slot */
	struct hvn_txd *txd;
	uint32_t *free;            /**< stack of free descriptor numbers */
	uint32_t nfree;
	uint32_t nb_desc;
	uint32_t free_thresh;      /**< look for completions when fewer are free */
	uint32_t copybreak;        /**< frames up to this many bytes are copied */
	uint32_t agg_bytes;        /**< most bytes in one section */
	uint32_t agg_packets;      /**< most frames in one section */
	uint32_t align;            /**< alignment of frames in a section, bytes */
	uint32_t max_frame;        /**< largest frame, bytes without FCS */
	bool gpa_ok;               /**< IOVA is PA: frames may go by address */
	bool hdr_in_section;       /**< RNDIS header of such frames in a section, not by GPA */
	uint16_t port_id;
	uint16_t queue_id;
	struct hvn_section_cache cache;
	struct hvn_txq_stats stats;

	/* completion ring: writer holds the channel's in_lock, reader is the queue's lcore */
	uint32_t comp_mask;        /**< entries - 1, a power of two >= nb_desc */
	uint32_t comp_tail;        /**< reader's position, free-running */
	uint32_t *comp;            /**< descriptor number, bit 31: host reported an error */
	uint8_t *state;            /**< enum hvn_txd_state by descriptor */
	uint32_t comp_head __rte_cache_aligned; /**< writer's position, free-running */
};

#define HVN_TX_COMP_ERROR 0x80000000u

/** Completions that wait to be collected; for the queue's lcore. */
static inline uint32_t
hvn_txq_waiting(const struct hvn_txq *txq)
{
	return vmring_load_relaxed(&txq->comp_head) - txq->comp_tail;
}

/** Transmit burst (eth_tx_burst_t). */
uint16_t hvn_tx_burst(void *txq, struct rte_mbuf **pkts, uint16_t nb_pkts);

/** Check a burst (eth_tx_prep_t): refuses what hvn_tx_burst() could not send. */
uint16_t hvn_tx_prepare(void *txq, struct rte_mbuf **pkts, uint16_t nb_pkts);

/**
 * Allocate descriptors, completion ring and header slots for @p nb_desc descriptors.
 * @return 0 or -ENOMEM; nothing stays allocated on failure.
 */
int hvn_txq_alloc(struct hvn_txq *txq, uint32_t nb_desc, int socket);

/** Free what hvn_txq_alloc() allocated; the queue must be idle or its channel closed. */
void hvn_txq_free(struct hvn_txq *txq);

/**
 * Take back completed descriptors: drains the inbound ring if nobody else does, then the
 * completion ring. Caller: the queue's lcore, or control while the queue is stopped.
 * @return Descriptors still with the host.
 */
uint32_t hvn_txq_reclaim(struct hvn_txq *txq);

/** Give up on all descriptors with the host (the channel is closed): mbufs are freed. */
void hvn_txq_abandon(struct hvn_txq *txq);

/**
 * A completion for descriptor xact - 1 arrived (caller holds the channel's in_lock).
 * @return False when no such descriptor is outstanding.
 */
bool hvn_txq_complete(struct hvn_txq *txq, uint64_t xact, bool ok);

#endif /* HVN_TX_H */
