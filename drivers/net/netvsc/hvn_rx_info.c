/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Parsing of received packet messages, with a fast path for "same layout as last time".
 */
#include <errno.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include <hvwire/cursor.h>

#include "hvn_rx_info.h"

/** Records in one message before we call it nonsense; hosts send five at most. */
#define RECORDS_MAX 32u
/** An Ethernet header. */
#define FRAME_MIN 14u

/** Keep the value of one record. */
static inline void
take_record(struct hvn_rx_info *info, uint32_t type, uint32_t value)
{
	switch (type) {
	case RNDIS_PPI_HASH_VALUE:
		info->hash = value;
		info->flags |= HVN_RXI_HASH;
		break;
	case RNDIS_PPI_HASH_INFO:
		info->hash_info = value;
		info->flags |= HVN_RXI_HASH_INFO;
		break;
	case RNDIS_PPI_CSUM:
		info->csum = value;
		info->flags |= HVN_RXI_CSUM;
		break;
	case RNDIS_PPI_VLAN:
		info->vlan = value;
		info->flags |= HVN_RXI_VLAN;
		break;
	default:
		break;
	}
}

/** Walk the records of @p ppi; learn the layout when the fast path could take it. */
static int
read_records(struct hvw_view ppi, struct hvn_rx_layout *layout, struct hvn_rx_info *info)
{
	struct rndis_ppi rec;
	uint64_t ofs = 0;
	uint32_t value;
	bool plain = true;

	layout->nrec = 0;
	for (uint32_t i = 0; ofs < ppi.len; i++) {
		if (i == RECORDS_MAX || !hvw_read(ppi, ofs, &rec, sizeof(rec)) ||
		    rec.size < sizeof(rec) || rec.size % 4 != 0 ||
		    !hvw_inside(ofs, rec.size, ppi.len) || rec.offset < sizeof(rec) ||
		    rec.offset > rec.size)
			return -EINVAL;
		if (rec.size - rec.offset >= sizeof(value) &&
		    hvw_read32(ppi, ofs + rec.offset, &value))
			take_record(info, rec.type, value);
		if (i < HVN_RX_RECORDS && rec.size == sizeof(struct rndis_ppi_u32) &&
		    rec.offset == sizeof(rec))
			layout->rec[layout->nrec++] = rec;
		else
			plain = false;
		ofs += rec.size;
	}
	if (!plain)
		layout->nrec = UINT32_MAX;
	return 0;
}

/** Any message: everything is checked. */
static __rte_noinline int
read_slow(const uint8_t *msg, uint32_t len, struct hvn_rx_layout *layout,
	  struct hvn_rx_info *info)
{
	uint8_t copy[HVN_RX_COPY_SLOW];
	struct hvw_view v = hvw_view(copy, RTE_MIN(len, HVN_RX_COPY_SLOW)), ppi;
	struct rndis_packet h;
	int rc;

	memcpy(copy, msg, v.len);
	layout->nrec = UINT32_MAX;
	if (!hvw_read(v, 0, &h, sizeof(h)) || h.type != RNDIS_PACKET || h.len > len ||
	    h.len < sizeof(h) || h.data_offset < RNDIS_PACKET_DATA_MIN || h.data_len < FRAME_MIN ||
	    !hvw_inside((uint64_t)h.data_offset + RNDIS_OFFSET_BASE, h.data_len, len))
		return -EINVAL;
	*info = (struct hvn_rx_info){
		.data_ofs = h.data_offset + RNDIS_OFFSET_BASE,
		.data_len = h.data_len,
	};
	if (h.ppi_len == 0) {
		/* The fast path compares ppi_offset too, whatever it is. */
		layout->nrec = 0;
	} else {
		if (h.ppi_offset < RNDIS_PACKET_DATA_MIN || h.ppi_offset % 4 != 0 ||
		    !hvw_inside((uint64_t)h.ppi_offset + RNDIS_OFFSET_BASE, h.ppi_len, h.len) ||
		    !hvw_sub(v, (uint64_t)h.ppi_offset + RNDIS_OFFSET_BASE, h.ppi_len, &ppi))
			return -EINVAL;
		rc = read_records(ppi, layout, info);
		if (rc != 0) {
			layout->nrec = UINT32_MAX;
			return rc;
		}
		if (h.ppi_offset != RNDIS_PACKET_DATA_MIN)
			layout->nrec = UINT32_MAX;
	}
	layout->data_offset = h.data_offset;
	layout->ppi_offset = h.ppi_offset;
	layout->ppi_len = h.ppi_len;
	return 0;
}

int
hvn_rx_info_read(const uint8_t *msg, uint32_t len, struct hvn_rx_layout *layout,
		 struct hvn_rx_info *info)
{
	struct {
		struct rndis_packet h;
		struct rndis_ppi_u32 rec[HVN_RX_RECORDS];
		uint8_t pad[HVN_RX_COPY - sizeof(struct rndis_packet) -
			    HVN_RX_RECORDS * sizeof(struct rndis_ppi_u32)];
	} HVW_PACKED c;

	static_assert(sizeof(c) == HVN_RX_COPY, "one copy of fixed size");
	if (unlikely(len < sizeof(c) || layout->nrec > HVN_RX_RECORDS))
		return read_slow(msg, len, layout, info);
	memcpy(&c, msg, sizeof(c));
	if (unlikely(c.h.type != RNDIS_PACKET || c.h.len > len ||
		     c.h.len < sizeof(c.h) + (uint64_t)layout->ppi_len ||
		     c.h.data_offset != layout->data_offset ||
		     c.h.ppi_offset != layout->ppi_offset || c.h.ppi_len != layout->ppi_len ||
		     c.h.data_len < FRAME_MIN ||
		     (uint64_t)c.h.data_offset + RNDIS_OFFSET_BASE + c.h.data_len > len))
		return read_slow(msg, len, layout, info);
	*info = (struct hvn_rx_info){
		.data_ofs = c.h.data_offset + RNDIS_OFFSET_BASE,
		.data_len = c.h.data_len,
	};
	for (uint32_t i = 0; i < layout->nrec; i++) {
		if (unlikely(memcmp(&c.rec[i].hdr, &layout->rec[i], sizeof(layout->rec[i])) != 0))
			return read_slow(msg, len, layout, info);
		take_record(info, c.rec[i].hdr.type, c.rec[i].value);
	}
	return 0;
}
