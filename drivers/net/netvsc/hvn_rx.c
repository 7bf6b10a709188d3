/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Receive burst: ranges are gathered and prefetched, then copied into mbufs.
 */
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_net.h>
#include <rte_prefetch.h>

#include <hvwire/ndis.h>

#include "hvn_copy.h"
#include "hvn_inbound.h"
#include "hvn_rx.h"
#include "hvn_rx_info.h"
#include "hvn_session.h"

/** Ranges looked ahead: their lines travel from the host's cache while others are copied. */
#define GATHER 32u

void
hvn_rxq_prepare(struct hvn_rxq *rxq)
{
	struct rte_mbuf m;

	memset(&m, 0, sizeof(m));
	m.nb_segs = 1;
	m.data_off = RTE_PKTMBUF_HEADROOM;
	m.port = rxq->port_id;
	rte_mbuf_refcnt_set(&m, 1);
	memcpy(&rxq->rearm, &m.rearm_data, sizeof(rxq->rearm));
	rxq->buf_len = rte_pktmbuf_data_room_size(rxq->pool) - RTE_PKTMBUF_HEADROOM;
	rxq->layout.nrec = UINT32_MAX;
}

void
hvn_rxq_purge(struct hvn_rxq *rxq)
{
	if (rxq->nmbufs != 0)
		rte_mempool_put_bulk(rxq->pool, (void **)rxq->mbufs, rxq->nmbufs);
	rxq->nmbufs = 0;
}

/** Make sure that the cache holds @p want mbufs (<= HVN_RX_MBUFS) if the pool has them. */
static inline void
refill(struct hvn_rxq *rxq, uint32_t want)
{
	if (likely(rxq->nmbufs >= want))
		return;
	if (likely(rte_mempool_get_bulk(rxq->pool, (void **)&rxq->mbufs[rxq->nmbufs],
					HVN_RX_MBUFS - rxq->nmbufs) == 0)) {
		rxq->nmbufs = HVN_RX_MBUFS;
		return;
	}
	/* Nearly empty: take what there is, one by one. */
	while (rxq->nmbufs < want &&
	       rte_mempool_get(rxq->pool, (void **)&rxq->mbufs[rxq->nmbufs]) == 0)
		rxq->nmbufs++;
}

/** Packet type as far as hash information tells; no look at the frame. */
static inline uint32_t
ptype_of_hash(uint32_t info)
{
	if (info & NDIS_HASH_TCP_IPV4)
		return RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4_EXT_UNKNOWN | RTE_PTYPE_L4_TCP;
	if (info & NDIS_HASH_IPV4)
		return RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4_EXT_UNKNOWN;
	if (info & NDIS_HASH_UDP_IPV4)
		return RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4_EXT_UNKNOWN | RTE_PTYPE_L4_UDP;
	if (info & (NDIS_HASH_TCP_IPV6 | NDIS_HASH_TCP_IPV6_EX))
		return RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV6_EXT_UNKNOWN | RTE_PTYPE_L4_TCP;
	if (info & (NDIS_HASH_UDP_IPV6 | NDIS_HASH_UDP_IPV6_EX))
		return RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV6_EXT_UNKNOWN | RTE_PTYPE_L4_UDP;
	if (info & (NDIS_HASH_IPV6 | NDIS_HASH_IPV6_EX))
		return RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV6_EXT_UNKNOWN;
	return RTE_PTYPE_L2_ETHER;
}

/** Copy the frame; a tag that the host took out goes back in (strip is not offered). */
static inline void
copy_frame(uint8_t *dst, const uint8_t *src, const struct hvn_rx_info *info)
{
	struct rte_vlan_hdr tag;
	const uint32_t macs = 2 * RTE_ETHER_ADDR_LEN;
	const uint16_t tpid = rte_cpu_to_be_16(RTE_ETHER_TYPE_VLAN);

	if (likely((info->flags & HVN_RXI_VLAN) == 0)) {
		hvn_copy(dst, src, info->data_len);
		return;
	}
	tag.vlan_tci = rte_cpu_to_be_16((uint16_t)(RNDIS_VLAN_PRIO(info->vlan) << 13 |
						   RNDIS_VLAN_DEI(info->vlan) << 12 |
						   RNDIS_VLAN_ID(info->vlan)));
	memcpy(dst, src, macs);
	memcpy(dst + macs, &tpid, sizeof(tpid));
	memcpy(dst + macs + sizeof(tpid), &tag.vlan_tci, sizeof(tag.vlan_tci));
	memcpy(dst + macs + sizeof(tag), src + macs, info->data_len - macs);
}

/** Fill @p m from a checked message. */
static inline void
fill_mbuf(struct hvn_rxq *rxq, struct rte_mbuf *m, const uint8_t *msg,
	  const struct hvn_rx_info *info)
{
	uint32_t len = info->data_len;
	uint64_t ol_flags = 0;

	if (unlikely((info->flags & HVN_RXI_VLAN) != 0))
		len += sizeof(struct rte_vlan_hdr);
	memcpy(&m->rearm_data, &rxq->rearm, sizeof(rxq->rearm));
	m->pkt_len = len;
	m->data_len = (uint16_t)len;
	m->vlan_tci = 0;
	m->packet_type = (info->flags & HVN_RXI_HASH_INFO) != 0 ?
		ptype_of_hash(info->hash_info) : RTE_PTYPE_L2_ETHER;
	m->hash.rss = info->hash;
	if ((info->flags & HVN_RXI_HASH) != 0 &&
	    ((info->flags & HVN_RXI_HASH_INFO) == 0 ? rxq->hash_types != 0 :
	     (info->hash_info & rxq->hash_types) != 0))
		ol_flags = RTE_MBUF_F_RX_RSS_HASH;
	m->ol_flags = ol_flags;
	copy_frame(rte_pktmbuf_mtod(m, uint8_t *), msg + info->data_ofs, info);
	if (unlikely(rxq->ptype_mask != 0))
		m->packet_type = rte_net_get_ptype(m, NULL, rxq->ptype_mask);
}

/** One range into one mbuf; NULL when the frame is dropped (and counted). */
static inline struct rte_mbuf *
receive(struct hvn_rxq *rxq, const struct hvn_range *r)
{
	const uint8_t *msg = rxq->ch->recv + r->ofs;
	struct hvn_rx_info info;
	struct rte_mbuf *m;

	if (unlikely(hvn_rx_info_read(msg, r->len, &rxq->layout, &info) != 0)) {
		rxq->stats.bad++;
		return NULL;
	}
	if (unlikely(info.data_len + sizeof(struct rte_vlan_hdr) > rxq->buf_len) &&
	    (info.data_len > rxq->buf_len || (info.flags & HVN_RXI_VLAN) != 0)) {
		rxq->stats.too_long++;
		return NULL;
	}
	if (unlikely(rxq->nmbufs == 0)) {
		rxq->stats.no_mbuf++;
		return NULL;
	}
	m = rxq->mbufs[--rxq->nmbufs];
	fill_mbuf(rxq, m, msg, &info);
	return m;
}

/** Take up to @p max ranges and start fetching what will be read of them. */
static inline uint32_t
gather(struct hvn_rxq *rxq, struct hvn_range *ranges, uint32_t max)
{
	uint32_t n = hvn_inbound_take(rxq->ch, ranges, max);

	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *msg = rxq->ch->recv + ranges[i].ofs;

		rte_prefetch0(msg);
		rte_prefetch0(msg + RTE_CACHE_LINE_SIZE);
		rte_prefetch0(msg + rxq->layout.data_offset + RNDIS_OFFSET_BASE);
	}
	return n;
}

uint16_t
hvn_rx_burst(void *arg, struct rte_mbuf **pkts, uint16_t nb_pkts)
{
	struct hvn_rxq *rxq = arg;
	struct hvn_range ranges[GATHER];
	uint64_t bytes = 0;
	uint16_t done = 0;
	uint32_t n, want;

	if (!hvn_inbound_begin(rxq->ch))
		return 0;
	do {
		want = RTE_MIN((uint32_t)(nb_pkts - done), GATHER);
		n = gather(rxq, ranges, want);
		refill(rxq, n);
		for (uint32_t i = 0; i < n; i++) {
			struct rte_mbuf *m = receive(rxq, &ranges[i]);

			if (likely(m != NULL)) {
				pkts[done++] = m;
				bytes += m->pkt_len;
			}
		}
		hvn_inbound_done(rxq->ch, ranges, n);
	} while (n == want && done < nb_pkts);
	hvn_inbound_end(rxq->ch);
	rxq->stats.packets += done;
	rxq->stats.bytes += bytes;
	return done;
}
