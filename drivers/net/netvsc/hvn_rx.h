/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * A receive queue and its burst function.
 */
#ifndef HVN_RX_H
#define HVN_RX_H

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <hvwire/rndis.h>

#include "hvn_channel.h"

/** mbufs taken from the mempool at once. */
#define HVN_RX_MBUFS 64u

/** Counters of a receive queue. */
struct hvn_rxq_stats {
	uint64_t packets;
	uint64_t bytes;
	uint64_t no_mbuf;   /**< dropped: mempool empty */
	uint64_t too_long;  /**< dropped: longer than an mbuf's data room */
	uint64_t bad;       /**< dropped: malformed RNDIS message */
};

/** Records of per-packet information that the fast path knows. */
#define HVN_RX_RECORDS 4u

/** What the per-packet information of the last frame looked like (fast path). */
struct hvn_rx_layout {
	uint32_t nrec;          /**< records, all of one 32-bit value; UINT32_MAX = none learnt */
	uint32_t data_offset;   /**< as on the wire */
	uint32_t ppi_offset;    /**< as on the wire */
	uint32_t ppi_len;
	struct rndis_ppi rec[HVN_RX_RECORDS];
};

/** A receive queue; its fast-path owner is the lcore that polls it. */
struct hvn_rxq {
	struct hvn_channel *ch;
	struct rte_mempool *pool;
	uint32_t nmbufs;            /**< mbufs in the cache below */
	uint32_t buf_len;           /**< data room of an mbuf without headroom, bytes */
	uint64_t rearm;             /**< template of mbuf rearm data */
	uint32_t hash_types;        /**< NDIS_HASH_* whose hash is delivered, 0 = none */
	uint32_t ptype_mask;        /**< types to look up in the frame, 0 = metadata only */
	uint16_t port_id;
	uint16_t queue_id;
	uint32_t nb_desc;           /**< as requested by the application */
	struct hvn_rx_layout layout;
	struct hvn_rxq_stats stats;
	struct rte_mbuf *mbufs[HVN_RX_MBUFS];
};

/** Receive burst (eth_rx_burst_t). */
uint16_t hvn_rx_burst(void *rxq, struct rte_mbuf **pkts, uint16_t nb_pkts);

/** Compute derived fields after pool, port and channel are set. */
void hvn_rxq_prepare(struct hvn_rxq *rxq);

/** Free the cached mbufs (queue stop and release). */
void hvn_rxq_purge(struct hvn_rxq *rxq);

#endif /* HVN_RX_H */
