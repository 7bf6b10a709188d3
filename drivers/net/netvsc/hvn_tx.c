/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Transmit burst: frames are copied into send sections or sent by address, then everything
 * is published once.
 */
#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_prefetch.h>

#include "hvn_copy.h"
#include "hvn_inbound.h"
#include "hvn_tx.h"
#include "hvn_tx_ring.h"

/** Frames handled under one take of the outbound lock. */
#define CHUNK 64u
/** Frames ahead whose mbufs are fetched. */
#define AHEAD 4u

/** RNDIS header of a frame as it stands before the frame's bytes. */
struct tx_header {
	struct rndis_packet pkt;
	struct rndis_ppi_u32 hash;
} HVW_PACKED;
HVW_SIZE(tx_header, 60);
static_assert(sizeof(struct tx_header) <= HVN_TX_HDR_SIZE, "a header slot holds it");

/** State of one chunk: the section being filled, ring room, what is freed at the end. */
struct tx_ctx {
	uint32_t room;            /**< outbound bytes that may still be used */
	uint32_t txd;             /**< descriptor of the open section */
	uint32_t section;         /**< its number */
	uint32_t used;            /**< bytes in it */
	uint32_t packets;         /**< frames in it, 0 = none open */
	uint8_t *base;            /**< its memory */
	uint8_t *last;            /**< its last message */
	uint32_t nfree;
	uint32_t sent;            /**< frames given to the host */
	uint64_t bytes;           /**< bytes of them */
	struct rte_mbuf *free[CHUNK]; /**< copied frames */
};

/** What sending one frame came to; all but TX_SENT end the burst before this frame. */
enum tx_result {
	TX_SENT,
	TX_NO_DESC,
	TX_NO_SECTION,
	TX_NO_RING,
	TX_NO_LOCK,
};

/** Write the header of a frame of @p len bytes; the host may use the hash to spread. */
static inline void
put_header(uint8_t *dst, uint32_t len, uint32_t queue)
{
	const struct tx_header h = {
		.pkt = {
			.type = RNDIS_PACKET,
			.len = sizeof(h) + len,
			.data_offset = sizeof(h) - RNDIS_OFFSET_BASE,
			.data_len = len,
			.ppi_offset = RNDIS_PACKET_DATA_MIN,
			.ppi_len = sizeof(h.hash),
		},
		.hash = {
			.hdr = {
				.size = sizeof(h.hash),
				.type = RNDIS_PPI_HASH_VALUE,
				.offset = sizeof(h.hash.hdr),
			},
			.value = queue,
		},
	};

	memcpy(dst, &h, sizeof(h));
}

/** Close the open section: its packet goes to the ring, unpublished. */
static inline void
flush_section(struct hvn_txq *txq, struct tx_ctx *ctx)
{
	if (ctx->packets == 0)
		return;
	txq->txd[ctx->txd].packets = (uint16_t)ctx->packets;
	hvn_tx_ring_section(txq, ctx->txd, ctx->section, ctx->used);
	ctx->packets = 0;
}

/** Open a section if there is a descriptor, a section and ring room. */
static inline enum tx_result
open_section(struct hvn_txq *txq, struct tx_ctx *ctx)
{
	if (unlikely(txq->nfree == 0))
		return TX_NO_DESC;
	if (unlikely(ctx->room < HVN_TX_RING_SECTION))
		return TX_NO_RING;
	ctx->section = hvn_section_get(txq->pool, &txq->cache);
	if (unlikely(ctx->section == NVSP_SECTION_NONE)) {
		txq->stats.no_section++;
		return TX_NO_SECTION;
	}
	ctx->room -= HVN_TX_RING_SECTION;
	ctx->txd = txq->free[--txq->nfree];
	txq->txd[ctx->txd] = (struct hvn_txd){ .section = ctx->section };
	ctx->base = txq->pool->base + (uint64_t)ctx->section * txq->pool->size;
	ctx->used = 0;
	return TX_SENT;
}

/** Copy all segments of @p m to @p dst. */
static inline void
copy_segments(uint8_t *dst, const struct rte_mbuf *m)
{
	for (; m != NULL; m = m->next) {
		hvn_copy(dst, rte_pktmbuf_mtod(m, const void *), m->data_len);
		dst += m->data_len;
	}
}

/** Where the next message of the open section starts if it fits, else UINT32_MAX. */
static inline uint32_t
next_message(const struct hvn_txq *txq, const struct tx_ctx *ctx, uint32_t len)
{
	uint32_t ofs = RTE_ALIGN_CEIL(ctx->used, txq->align);

	if (ctx->packets == 0 || ctx->packets >= txq->agg_packets ||
	    (uint64_t)ofs + sizeof(struct tx_header) + len > txq->agg_bytes)
		return UINT32_MAX;
	return ofs;
}

/** Pad the last message of the open section up to @p ofs: zeros, counted in its length. */
static inline void
pad_last(struct tx_ctx *ctx, uint32_t ofs)
{
	uint32_t len;

	if (ofs == ctx->used)
		return;
	memset(ctx->base + ctx->used, 0, ofs - ctx->used);
	len = (uint32_t)(ctx->base + ofs - ctx->last);
	memcpy(ctx->last + offsetof(struct rndis_hdr, len), &len, sizeof(len));
}

/** Send a frame by copy, in the open section or a new one. */
static inline enum tx_result
send_copy(struct hvn_txq *txq, struct tx_ctx *ctx, struct rte_mbuf *m)
{
	uint32_t len = m->pkt_len;
	uint32_t ofs = next_message(txq, ctx, len);
	enum tx_result res;

	if (ofs == UINT32_MAX) {
		flush_section(txq, ctx);
		res = open_section(txq, ctx);
		if (unlikely(res != TX_SENT))
			return res;
		ofs = 0;
	} else {
		pad_last(ctx, ofs);
	}
	ctx->last = ctx->base + ofs;
	put_header(ctx->last, len, txq->queue_id);
	copy_segments(ctx->last + sizeof(struct tx_header), m);
	ctx->used = ofs + sizeof(struct tx_header) + len;
	ctx->packets++;
	txq->stats.section++;
	ctx->sent++;
	ctx->bytes += len;
	ctx->free[ctx->nfree++] = m;
	return TX_SENT;
}

/** Send a frame by address; the RNDIS header lies in its own slot or in a section. */
static inline enum tx_result
send_gpa(struct hvn_txq *txq, struct tx_ctx *ctx, struct rte_mbuf *m, struct hvn_tx_gpa *gpa)
{
	uint32_t section = NVSP_SECTION_NONE, cost = hvn_tx_ring_gpa_cost(gpa), txd;
	uint8_t *hdr;

	flush_section(txq, ctx);
	if (unlikely(txq->nfree == 0))
		return TX_NO_DESC;
	if (unlikely(ctx->room < cost))
		return TX_NO_RING;
	if (txq->hdr_in_section) {
		section = hvn_section_get(txq->pool, &txq->cache);
		if (unlikely(section == NVSP_SECTION_NONE)) {
			txq->stats.no_section++;
			return TX_NO_SECTION;
		}
	}
	ctx->room -= cost;
	txd = txq->free[--txq->nfree];
	txq->txd[txd] = (struct hvn_txd){ .mbuf = m, .section = section, .packets = 1 };
	hdr = section == NVSP_SECTION_NONE ? txq->hdrs + (uint64_t)txd * HVN_TX_HDR_SIZE :
		txq->pool->base + (uint64_t)section * txq->pool->size;
	put_header(hdr, m->pkt_len, txq->queue_id);
	hvn_tx_ring_gpa(txq, txd, section, sizeof(struct tx_header), gpa);
	ctx->sent++;
	ctx->bytes += m->pkt_len;
	if (section == NVSP_SECTION_NONE)
		txq->stats.gpa++;
	else
		txq->stats.mixed++;
	return TX_SENT;
}

/** Choose the transport of one frame and send it. */
static inline enum tx_result
send_frame(struct hvn_txq *txq, struct tx_ctx *ctx, struct rte_mbuf *m)
{
	struct hvn_tx_gpa gpa;
	bool fits = m->pkt_len + sizeof(struct tx_header) <= txq->agg_bytes;
	enum tx_result res = TX_SENT;

	if (likely(m->pkt_len <= txq->copybreak && fits)) {
		res = send_copy(txq, ctx, m);
		if (likely(res == TX_SENT) || !txq->gpa_ok)
			return res;
	}
	/* By address where that works, else by copy; also when sections have run out. */
	if (txq->gpa_ok && hvn_tx_gpa_map(m, !txq->hdr_in_section, &gpa))
		return send_gpa(txq, ctx, m, &gpa);
	if (fits && m->pkt_len > txq->copybreak)
		return send_copy(txq, ctx, m);
	if (fits)
		return res;
	txq->stats.oversize++;
	ctx->free[ctx->nfree++] = m;
	return TX_SENT;
}

/** True for a frame that no transport carries: it is taken, freed and counted. */
static inline bool
unsendable(const struct hvn_txq *txq, const struct rte_mbuf *m)
{
	return m->pkt_len > txq->max_frame || m->pkt_len == 0;
}

/** True when some transport carries a frame that is not unsendable() by itself. */
static inline bool
has_transport(const struct hvn_txq *txq, const struct rte_mbuf *m)
{
	struct hvn_tx_gpa gpa;

	return m->pkt_len + sizeof(struct tx_header) <= txq->agg_bytes ||
	       (txq->gpa_ok && hvn_tx_gpa_map(m, !txq->hdr_in_section, &gpa));
}

/** Send up to CHUNK frames; the caller holds the outbound lock. @p why: what ended it. */
static inline uint32_t
send_chunk(struct hvn_txq *txq, struct tx_ctx *ctx, struct rte_mbuf **pkts, uint32_t n,
	   enum tx_result *why)
{
	uint32_t i;

	for (i = 0; i < RTE_MIN(AHEAD, n); i++)
		rte_prefetch0(pkts[i]);
	for (i = 0; i < n; i++) {
		struct rte_mbuf *m = pkts[i];

		if (i + AHEAD < n)
			rte_prefetch0(pkts[i + AHEAD]);
		if (unlikely(unsendable(txq, m))) {
			txq->stats.oversize++;
			ctx->free[ctx->nfree++] = m;
			continue;
		}
		*why = send_frame(txq, ctx, m);
		if (unlikely(*why != TX_SENT))
			break;
	}
	flush_section(txq, ctx);
	return i;
}

/** Ring room for transmit; 0 also when the ring is dead. */
static inline uint32_t
ring_room(struct hvn_channel *ch, uint32_t want)
{
	uint32_t room = vmring_free(&ch->out);

	if (room <= want + HVN_OUT_RESERVE) {
		if (unlikely(vmring_refresh(&ch->out) != 0)) {
			hvn_channel_kill(ch);
			return 0;
		}
		room = vmring_free(&ch->out);
	}
	return room > HVN_OUT_RESERVE ? room - HVN_OUT_RESERVE : 0;
}

/** Lock, send, publish, unlock, signal, free: one chunk. */
static uint32_t
burst_chunk(struct hvn_txq *txq, struct rte_mbuf **pkts, uint32_t n, enum tx_result *why)
{
	struct hvn_channel *ch = txq->ch;
	struct tx_ctx ctx;
	uint32_t done;
	bool sig;

	ctx.packets = 0;
	ctx.nfree = 0;
	ctx.sent = 0;
	ctx.bytes = 0;
	ctx.used = 0;
	if (unlikely(!hvn_channel_out_lock(ch))) {
		*why = TX_NO_LOCK;
		return 0;
	}
	ctx.room = ring_room(ch, n * HVN_TX_RING_GPA_MAX);
	done = send_chunk(txq, &ctx, pkts, n, why);
	sig = vmring_publish(&ch->out);
	hvn_channel_out_unlock(ch);
	if (unlikely(sig))
		hvn_channel_signal(ch);
	if (ctx.nfree != 0)
		rte_pktmbuf_free_bulk(ctx.free, ctx.nfree);
	txq->stats.packets += ctx.sent;
	txq->stats.bytes += ctx.bytes;
	return done;
}

/**
 * A burst was cut short: completions may bring back what it lacked.
 *
 * Sections are shared, so a queue can lack one while it has plenty of descriptors; nobody
 * else may be looking at the inbound ring.
 * @return True when something came back.
 */
static __rte_noinline bool
come_back(struct hvn_txq *txq)
{
	uint32_t nfree = txq->nfree;

	hvn_txq_reclaim(txq);
	return txq->nfree != nfree;
}

static __rte_noinline void
count_short(struct hvn_txq *txq, enum tx_result why)
{
	if (why == TX_NO_DESC)
		txq->stats.no_desc++;
	else if (why == TX_NO_RING)
		txq->stats.ring_full++;
	/* Sections are counted where they are missed; a taken lock is nobody's lack. */
}

uint16_t
hvn_tx_burst(void *arg, struct rte_mbuf **pkts, uint16_t nb_pkts)
{
	enum tx_result why = TX_SENT;
	struct hvn_txq *txq = arg;
	uint32_t done = 0, n, sent;
	bool again = false;

	if (unlikely(hvn_channel_is_dead(txq->ch)))
		return 0;
	hvn_txq_collect(txq);
	if (txq->nfree < txq->free_thresh)
		hvn_txq_reclaim(txq);
	while (done < nb_pkts) {
		n = RTE_MIN((uint32_t)nb_pkts - done, CHUNK);
		sent = burst_chunk(txq, pkts + done, n, &why);
		done += sent;
		if (likely(sent == n))
			continue;
		if (again || !come_back(txq)) {
			count_short(txq, why);
			break;
		}
		again = true;
	}
	return (uint16_t)done;
}

uint16_t
hvn_tx_prepare(void *arg, struct rte_mbuf **pkts, uint16_t nb_pkts)
{
	const struct hvn_txq *txq = arg;
	uint16_t i;

	for (i = 0; i < nb_pkts; i++) {
		if ((pkts[i]->ol_flags & RTE_MBUF_F_TX_OFFLOAD_MASK) != 0) {
			rte_errno = ENOTSUP;
			break;
		}
		if (unsendable(txq, pkts[i]) || !has_transport(txq, pkts[i])) {
			rte_errno = EINVAL;
			break;
		}
	}
	return i;
}
