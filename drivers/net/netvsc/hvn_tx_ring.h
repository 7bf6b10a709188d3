/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The VMBus packets of transmit: composed on the stack, put to the ring unpublished.
 */
#ifndef HVN_TX_RING_H
#define HVN_TX_RING_H

#include <rte_mbuf.h>

#include <hvwire/cursor.h>

#include "hvn_tx.h"

/** A transmit packet by section, as on the ring. */
struct hvn_tx_section_pkt {
	struct vmbus_pkt_desc desc;
	struct nvsp_rndis msg;
	uint8_t pad[NVSP_MSG_SIZE - sizeof(struct nvsp_rndis)];
} HVW_PACKED;
HVW_SIZE(hvn_tx_section_pkt, 56);

/** Ring bytes of a packet by section. */
#define HVN_TX_RING_SECTION (sizeof(struct hvn_tx_section_pkt) + VMBUS_PKT_TRAILER)
/** Ring bytes of a packet with the most ranges. */
#define HVN_TX_RING_GPA_MAX \
	(sizeof(struct vmbus_gpa_hdr) + VMBUS_GPA_RANGES_MAX * sizeof(struct vmbus_gpa_range) + \
	 NVSP_MSG_SIZE + VMBUS_PKT_TRAILER)

/** A frame's ranges; range 0 is kept for the RNDIS header when it goes by address. */
struct hvn_tx_gpa {
	uint32_t nranges; /**< with range 0 if it is used */
	uint32_t first;   /**< 1 when range 0 is for the header, else 0 */
	struct vmbus_gpa_range range[VMBUS_GPA_RANGES_MAX];
};

/** Put a packet for @p len bytes in @p section. */
static inline void
hvn_tx_ring_section(struct hvn_txq *txq, uint32_t txd, uint32_t section, uint32_t len)
{
	const struct hvn_tx_section_pkt pkt = {
		.desc = {
			.type = VMBUS_PKT_INBAND,
			.offset8 = sizeof(pkt.desc) / 8,
			.len8 = sizeof(pkt) / 8,
			.flags = VMBUS_PKT_F_COMPLETION,
			.xact = (uint64_t)txd + 1,
		},
		.msg = {
			.type = NVSP_RNDIS,
			.channel_type = NVSP_CHANNEL_DATA,
			.section = section,
			.section_size = len,
		},
	};

	txq->state[txd] = HVN_TXD_SENT;
	vmring_put(&txq->ch->out, &pkt, sizeof(pkt));
}

/** Ring bytes that hvn_tx_ring_gpa() takes. */
static inline uint32_t
hvn_tx_ring_gpa_cost(const struct hvn_tx_gpa *gpa)
{
	return sizeof(struct vmbus_gpa_hdr) + gpa->nranges * sizeof(gpa->range[0]) +
	       NVSP_MSG_SIZE + VMBUS_PKT_TRAILER;
}

/**
 * Put a packet whose frame lies in @p gpa and whose RNDIS header of @p hdr_len bytes lies in
 * @p section, or in the descriptor's header slot when there is none.
 */
static inline void
hvn_tx_ring_gpa(struct hvn_txq *txq, uint32_t txd, uint32_t section, uint32_t hdr_len,
		struct hvn_tx_gpa *gpa)
{
	const uint32_t ranges = gpa->nranges * sizeof(gpa->range[0]);
	struct {
		struct vmbus_gpa_hdr hdr;
		uint8_t tail[sizeof(gpa->range) + NVSP_MSG_SIZE];
	} HVW_PACKED pkt;
	const struct {
		struct nvsp_rndis msg;
		uint8_t pad[NVSP_MSG_SIZE - sizeof(struct nvsp_rndis)];
	} HVW_PACKED nvsp = {
		.msg = {
			.type = NVSP_RNDIS,
			.channel_type = NVSP_CHANNEL_DATA,
			.section = section,
			.section_size = section == NVSP_SECTION_NONE ? 0 : hdr_len,
		},
	};
	uint32_t len = sizeof(pkt.hdr) + ranges + sizeof(nvsp);

	if (gpa->first != 0)
		gpa->range[0] = (struct vmbus_gpa_range){
			.len = hdr_len,
			.ofs = (uint32_t)(txq->hdr_gpa[txd] & (VMBUS_PAGE_SIZE - 1)),
			.pfn = txq->hdr_gpa[txd] >> VMBUS_PAGE_SHIFT,
		};
	pkt.hdr = (struct vmbus_gpa_hdr){
		.desc = {
			.type = VMBUS_PKT_GPA_DIRECT,
			.offset8 = (uint16_t)((sizeof(pkt.hdr) + ranges) / 8),
			.len8 = (uint16_t)(len / 8),
			.flags = VMBUS_PKT_F_COMPLETION,
			.xact = (uint64_t)txd + 1,
		},
		.nranges = gpa->nranges,
	};
	memcpy(pkt.tail, gpa->range, ranges);
	memcpy(pkt.tail + ranges, &nvsp, sizeof(nvsp));
	txq->state[txd] = HVN_TXD_SENT;
	vmring_put(&txq->ch->out, &pkt, len);
}

/**
 * Write a frame's segments as single-page ranges.
 *
 * @param header_range
 *   True: keep range 0 free for the header.
 * @return False when a segment has no guest-physical address or there are too many pages;
 *   then the frame has to be copied.
 */
static inline bool
hvn_tx_gpa_map(const struct rte_mbuf *m, bool header_range, struct hvn_tx_gpa *gpa)
{
	uint32_t n = header_range ? 1 : 0;

	gpa->first = n;
	for (; m != NULL; m = m->next) {
		rte_iova_t addr = rte_pktmbuf_iova(m);
		uint32_t left = m->data_len;

		/* Foreign memory: nobody vouches for its address. */
		if (unlikely(RTE_MBUF_HAS_EXTBUF(m) || rte_mbuf_iova_get(m) == RTE_BAD_IOVA))
			return false;
		while (left != 0) {
			uint32_t ofs = (uint32_t)(addr & (VMBUS_PAGE_SIZE - 1));
			uint32_t len = RTE_MIN(left, VMBUS_PAGE_SIZE - ofs);

			if (unlikely(n == VMBUS_GPA_RANGES_MAX))
				return false;
			gpa->range[n++] = (struct vmbus_gpa_range){
				.len = len, .ofs = ofs, .pfn = addr >> VMBUS_PAGE_SHIFT,
			};
			addr += len;
			left -= len;
		}
	}
	gpa->nranges = n;
	return true;
}

/** Take completed descriptors out of the completion ring. */
void hvn_txq_collect(struct hvn_txq *txq);

#endif /* HVN_TX_RING_H */
