/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Writes one received frame into a sub-allocation: RNDIS header, records, frame.
 *
 *   0        44                        128
 *   [header][packet information ... ][frame][36 bytes unused]
 */
#include <string.h>

#include "nic_priv.h"

#define PPI_PLACE sizeof(struct rndis_packet)
#define PPI_UNKNOWN_TYPE 11u /* "short packet padding": known to nobody here */

struct ppi_list {
	struct rndis_ppi_u32 rec[5];
	uint32_t count;
};

static void
ppi_add(struct ppi_list *l, uint32_t type, uint32_t value)
{
	l->rec[l->count++] = (struct rndis_ppi_u32){
		.hdr = {
			.size = sizeof(struct rndis_ppi_u32),
			.type = type,
			.offset = sizeof(struct rndis_ppi),
		},
		.value = value,
	};
}

/* The layout for the next frame. */
static enum nic_ppi_layout
ppi_layout(struct nic *nic)
{
	if (nic->conf.ppi != NIC_PPI_MIX)
		return nic->conf.ppi;
	return (enum nic_ppi_layout)(nic->ppi_turn++ % NIC_PPI_MIX);
}

static void
ppi_build(struct nic *nic, struct ppi_list *l, uint32_t verdict, uint32_t hash,
	  uint32_t hash_type)
{
	enum nic_ppi_layout layout = ppi_layout(nic);

	l->count = 0;
	if (layout == NIC_PPI_NONE)
		return;
	if (layout == NIC_PPI_UNKNOWN)
		ppi_add(l, PPI_UNKNOWN_TYPE, 0);
	if (layout != NIC_PPI_HASH_CSUM)
		ppi_add(l, RNDIS_PPI_CSUM, verdict);
	if (layout != NIC_PPI_CSUM && hash_type != 0) {
		ppi_add(l, RNDIS_PPI_HASH_VALUE, hash);
		ppi_add(l, RNDIS_PPI_HASH_INFO, NDIS_HASH_TOEPLITZ | hash_type);
	}
	if (layout == NIC_PPI_HASH_CSUM)
		ppi_add(l, RNDIS_PPI_CSUM, verdict);
}

/*
 * Write @p frame into @p slot and describe it. A tag goes into a record when the guest
 * negotiated that. The message ends with the frame, as its range does.
 */
void
slot_fill(struct nic *nic, uint32_t slot, const uint8_t *frame, uint32_t len, uint32_t hash,
	  uint32_t hash_type)
{
	uint8_t *mem = nic_slot_mem(nic, slot);
	struct ppi_list l;
	struct rndis_packet h = {
		.type = RNDIS_PACKET,
		.data_offset = NIC_RX_DATA_OFS - RNDIS_OFFSET_BASE,
	};
	uint32_t tci, cut = 0;

	ppi_build(nic, &l, offload_rx_verdict(frame, len), hash, hash_type);
	if (nic_vlan_records(nic) && len >= NIC_ETH_HDR + NIC_VLAN_TAG && frame[12] == 0x81 &&
	    frame[13] == 0x00) {
		tci = (uint32_t)frame[14] << 8 | frame[15];
		ppi_add(&l, RNDIS_PPI_VLAN, tci >> 13 | (tci >> 12 & 1) << 3 | (tci & 0xfff) << 4);
		cut = NIC_VLAN_TAG;
		memcpy(mem + NIC_RX_DATA_OFS, frame, 12);
		memcpy(mem + NIC_RX_DATA_OFS + 12, frame + 12 + cut, len - 12 - cut);
	} else {
		memcpy(mem + NIC_RX_DATA_OFS, frame, len);
	}
	h.data_len = len - cut;
	h.len = NIC_RX_DATA_OFS + h.data_len;
	if (l.count > 0) {
		h.ppi_offset = RNDIS_PACKET_DATA_MIN;
		h.ppi_len = l.count * (uint32_t)sizeof(l.rec[0]);
		memcpy(mem + PPI_PLACE, l.rec, h.ppi_len);
	}
	memcpy(mem, &h, sizeof(h));
	nic->slots[slot].range.len = h.len;
}
