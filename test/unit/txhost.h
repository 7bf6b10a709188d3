/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * A transmit queue on a raw host: frames that can be told apart, and books that must balance.
 */
#ifndef TEST_TXHOST_H
#define TEST_TXHOST_H

#include "hvn_tx.h"
#include "hvn_tx_ring.h"
#include "rawhost.h"

#define TH_MBUFS 2047u
#define TH_OUT_MAX 4096u

/** What tests choose; zero fields get a sensible default. */
struct th_conf {
	uint32_t nb_desc;     /**< 128 */
	uint32_t pages;       /**< of ring data: 16 */
	uint32_t start;       /**< ring offset to begin at */
	uint32_t recv_len;    /**< bytes of the receive buffer: 4096 */
	uint32_t section;     /**< bytes: 6144 */
	uint32_t sections;    /**< with the one for control: 64 */
	uint32_t copybreak;   /**< 512 */
	uint32_t agg_bytes;   /**< section */
	uint32_t agg_packets; /**< 8 */
	uint32_t align;       /**< 8 */
	uint32_t max_frame;   /**< 1514 */
	bool copy_only;       /**< no addresses: everything is copied */
	bool hdr_in_section;
};

/** The queue, its host and what the host saw. */
struct txhost {
	struct rawhost rh;
	struct hvn_channel ch;
	struct hvn_txq q;
	struct hvn_section_pool pool;
	struct rte_mempool *mp;
	struct rh_pkt pkt;
	struct rh_tx tx;
	uint32_t nseeds;              /**< frames seen, in order */
	uint32_t seeds[TH_OUT_MAX];
	uint32_t lens[TH_OUT_MAX];
	uint32_t nout;                /**< packets taken and not yet completed */
	uint64_t out[TH_OUT_MAX];
	uint32_t by_section, by_gpa, mixed; /**< packets seen */
	uint32_t most_frames;         /**< in one packet */
	uint32_t most_bytes;          /**< in one section */
};

void th_open(struct txhost *t, const struct th_conf *conf);
void th_close(struct txhost *t);

/** A frame of one segment, or of segments of @p lens bytes; its bytes follow from @p seed. */
struct rte_mbuf *th_mbuf(struct txhost *t, uint32_t len, uint32_t seed);
struct rte_mbuf *th_chain(struct txhost *t, const uint16_t *lens, uint32_t n, uint32_t seed);
/** Free mbufs that were not taken. */
void th_free(struct rte_mbuf **pkts, uint32_t n);

/** Take, check and note the guest's packets, at most @p max; their completions are owed. */
uint32_t th_take(struct txhost *t, uint32_t max);
/** Complete the oldest @p n packets taken, all with @p status. */
void th_complete(struct txhost *t, uint32_t n, uint32_t status);
/** Take and complete everything with success, until nothing is outstanding. */
void th_settle(struct txhost *t);

/** Descriptors, sections and mbufs must add up: nothing lost, nothing twice. @p held: mbufs
 * that the test owns. */
void th_balance(struct txhost *t, uint32_t held);

#endif /* TEST_TXHOST_H */
