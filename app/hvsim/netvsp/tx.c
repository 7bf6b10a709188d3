/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * RNDIS messages from the guest: checks them, gives frames to the wire, completes them.
 *
 * All frames of a packet are checked before the first is accepted: one bad message and
 * the packet is completed with an error, none of its frames sent. Frames stay in guest
 * memory; they are handed over before the completions become visible.
 */
#include <string.h>

#include "nic_priv.h"

#define PPI_AREA_MAX 256u
#define STAGE_RESERVE_FRAMES 64u
#define STAGE_RESERVE_SEGS (64u * 3 + NIC_PIECES)
#define NO_TAG UINT32_MAX

/* Where in a packet the parser stands, and what was wrong. */
struct tx_walk {
	uint32_t ofs;    /* of the message in hand */
	uint32_t index;  /* its number in the packet */
	uint64_t value;  /* the offending value */
	uint32_t tci;    /* tag from a record, NO_TAG */
};

void
tx_flush(struct nic *nic, struct nic_chan *c)
{
	if (nic->nframes > 0 && nic->wire->ops->tx != NULL)
		nic->wire->ops->tx(nic->wire, c->index % nic->wire->nqueues, nic->frame,
				   nic->nframes);
	nic->nframes = 0;
	nic->nsegs = 0;
}

/* Stage @p len bytes at @p ofs of the packet; the caller knows that they exist. */
static void
stage_bytes(struct nic *nic, struct wire_tx *f, uint32_t ofs, uint32_t len)
{
	const struct wire_seg *p = nic->bytes.piece;
	uint32_t n;

	for (; ofs >= p->len; p++)
		ofs -= p->len;
	for (; len > 0; p++, ofs = 0, len -= n) {
		n = p->len - ofs < len ? p->len - ofs : len;
		nic->seg[nic->nsegs++] = (struct wire_seg){
			.data = (const uint8_t *)p->data + ofs,
			.len = n,
		};
		f->nsegs++;
		f->len += n;
	}
}

static void
stage_frame(struct nic *nic, uint32_t ofs, uint32_t len, uint32_t tci)
{
	struct wire_tx *f = &nic->frame[nic->nframes];
	uint8_t *tag = nic->tags[nic->nframes++];

	f->segs = &nic->seg[nic->nsegs];
	f->nsegs = 0;
	f->len = 0;
	if (tci == NO_TAG) {
		stage_bytes(nic, f, ofs, len);
		return;
	}
	tag[0] = 0x81;
	tag[1] = 0x00;
	tag[2] = (uint8_t)(tci >> 8);
	tag[3] = (uint8_t)tci;
	stage_bytes(nic, f, ofs, 12);
	nic->seg[nic->nsegs++] = (struct wire_seg){ .data = tag, .len = NIC_VLAN_TAG };
	f->nsegs++;
	f->len += NIC_VLAN_TAG;
	stage_bytes(nic, f, ofs + 12, len - 12);
}

/* One record; the area is private. */
static enum judge_violation
ppi_one(struct nic *nic, struct hvw_view area, const struct rndis_ppi *rec, uint64_t at,
	struct tx_walk *w)
{
	uint32_t value = 0;

	if (rec->type != RNDIS_PPI_CSUM && rec->type != RNDIS_PPI_LSO &&
	    rec->type != RNDIS_PPI_VLAN)
		return JUDGE_COUNT;
	if (!hvw_inside(rec->offset, sizeof(value), rec->size) ||
	    !hvw_read32(area, at + rec->offset, &value))
		return JUDGE_RNDIS_PPI;
	w->value = value;
	if (rec->type == RNDIS_PPI_VLAN) {
		w->tci = RNDIS_VLAN_PRIO(value) << 13 | RNDIS_VLAN_DEI(value) << 12 |
			 RNDIS_VLAN_ID(value);
		return nic_vlan_records(nic) ? JUDGE_COUNT : JUDGE_OFFLOAD_USE;
	}
	return offload_ppi_ok(nic, rec->type, value) ? JUDGE_COUNT : JUDGE_OFFLOAD_USE;
}

static enum judge_violation
ppi_walk(struct nic *nic, const struct rndis_packet *h, struct tx_walk *w)
{
	uint8_t copy[PPI_AREA_MAX];
	struct hvw_view area = hvw_view(copy, h->ppi_len);
	enum judge_violation v;
	struct rndis_ppi rec;
	uint64_t at;

	w->tci = NO_TAG;
	if (h->ppi_len == 0)
		return JUDGE_COUNT;
	w->value = (uint64_t)h->ppi_len << 32 | h->ppi_offset;
	if (h->ppi_len > sizeof(copy) || h->ppi_offset < RNDIS_PACKET_DATA_MIN ||
	    h->ppi_offset % 4 != 0 ||
	    !hvw_inside((uint64_t)h->ppi_offset + RNDIS_OFFSET_BASE, h->ppi_len, h->len))
		return JUDGE_RNDIS_PPI;
	txbytes_copy(&nic->bytes, w->ofs + h->ppi_offset + RNDIS_OFFSET_BASE, copy, h->ppi_len);
	for (at = 0; at < area.len; at += rec.size) {
		if (!hvw_read(area, at, &rec, sizeof(rec)))
			return JUDGE_RNDIS_PPI;
		w->value = (uint64_t)rec.size << 32 | rec.type;
		if (rec.size < sizeof(rec) || rec.size % 4 != 0 || rec.offset < sizeof(rec) ||
		    rec.offset > rec.size || !hvw_inside(at, rec.size, area.len))
			return JUDGE_RNDIS_PPI;
		v = ppi_one(nic, area, &rec, at, w);
		if (v != JUDGE_COUNT)
			return v;
	}
	return JUDGE_COUNT;
}

/* The header against the message, the transfer and what was agreed. */
static enum judge_violation
header_check(const struct nic *nic, const struct rndis_packet *h, uint32_t left,
	     struct tx_walk *w)
{
	w->value = h->type;
	if (h->type != RNDIS_PACKET)
		return JUDGE_RNDIS_TYPE;
	w->value = h->len;
	if (h->len < sizeof(*h) || h->len > left || (nic->bytes.gpa && h->len != left))
		return JUDGE_RNDIS_LENGTH;
	w->value = w->index + 1;
	if (w->index >= nic->conf.max_packets)
		return JUDGE_RNDIS_PACKETS;
	w->value = w->ofs;
	if ((w->ofs & ((1u << nic->conf.align_shift) - 1)) != 0)
		return JUDGE_RNDIS_ALIGN;
	w->value = h->oob_len;
	if ((h->oob_offset | h->oob_len | h->oob_count | h->vc) != 0)
		return JUDGE_RNDIS_OOB;
	w->value = (uint64_t)h->data_len << 32 | h->data_offset;
	if (h->data_offset < RNDIS_PACKET_DATA_MIN || h->data_offset % 4 != 0 ||
	    h->data_len == 0 ||
	    !hvw_inside((uint64_t)h->data_offset + RNDIS_OFFSET_BASE, h->data_len, h->len))
		return JUDGE_RNDIS_DATA;
	return JUDGE_COUNT;
}

static enum judge_violation
frame_check(const struct nic *nic, const struct rndis_packet *h, uint32_t frame,
	    struct tx_walk *w)
{
	uint8_t type[2];

	w->value = h->data_len;
	if (h->data_len < NIC_ETH_HDR)
		return JUDGE_FRAME_SHORT;
	if (h->data_len <= nic->s.frame_max)
		return JUDGE_COUNT;
	txbytes_copy(&nic->bytes, frame + 12, type, sizeof(type));
	if (h->data_len <= nic->s.frame_max + NIC_VLAN_TAG && type[0] == 0x81 && type[1] == 0)
		return JUDGE_COUNT;
	return JUDGE_FRAME_LONG;
}

/* Check and stage the message at w->ofs; moves w behind it. */
static enum judge_violation
message_one(struct nic *nic, struct tx_walk *w)
{
	struct nic_bytes *b = &nic->bytes;
	uint32_t left = b->total - w->ofs, frame, end;
	enum judge_violation v;
	struct rndis_packet h;

	w->value = left;
	if (left < sizeof(h))
		return JUDGE_RNDIS_SHORT;
	txbytes_copy(b, w->ofs, &h, sizeof(h));
	v = header_check(nic, &h, left, w);
	if (v == JUDGE_COUNT)
		v = ppi_walk(nic, &h, w);
	if (v != JUDGE_COUNT)
		return v;
	end = h.ppi_len == 0 ? sizeof(h) : h.ppi_offset + RNDIS_OFFSET_BASE + h.ppi_len;
	w->value = (uint64_t)end << 32 | b->first_len;
	if (b->gpa && end > b->first_len)
		return JUDGE_HEADER_SPLIT;
	frame = w->ofs + h.data_offset + RNDIS_OFFSET_BASE;
	v = frame_check(nic, &h, frame, w);
	if (v != JUDGE_COUNT)
		return v;
	stage_frame(nic, frame, h.data_len, w->tci);
	w->ofs += h.len;
	w->index++;
	return JUDGE_COUNT;
}

static void
data_count(struct nic *nic, struct nic_chan *c, uint32_t from)
{
	const struct nic_bytes *b = &nic->bytes;
	uint32_t n = nic->nframes - from;

	c->st.tx_messages++;
	c->st.tx_packets += n;
	for (; from < nic->nframes; from++)
		c->st.tx_bytes += nic->frame[from].len;
	if (b->section == NVSP_SECTION_NONE)
		c->st.tx_gpa += n;
	else if (b->gpa)
		c->st.tx_mixed += n;
	else
		c->st.tx_section += n;
}

/* All messages of a data packet; returns the status to complete it with. */
static uint32_t
data_packet(struct nic *nic, struct nic_chan *c)
{
	uint32_t frames, segs;
	struct tx_walk w = { .ofs = 0 };
	enum judge_violation v;

	if (nic->nframes > NIC_STAGE_FRAMES - STAGE_RESERVE_FRAMES ||
	    nic->nsegs > NIC_STAGE_SEGS - STAGE_RESERVE_SEGS)
		tx_flush(nic, c);
	frames = nic->nframes;
	segs = nic->nsegs;
	do {
		v = message_one(nic, &w);
	} while (v == JUDGE_COUNT && w.ofs < nic->bytes.total);
	if (v == JUDGE_COUNT) {
		data_count(nic, c, frames);
		return NVSP_STATUS_OK;
	}
	nic_violation(nic, c, v, w.value);
	nic->nframes = frames;
	nic->nsegs = segs;
	return NVSP_STATUS_FAIL;
}

static uint32_t
control_packet(struct nic *nic, struct nic_chan *c, uint32_t type)
{
	uint64_t copy[NIC_CTL_MAX / 8];
	struct nic_bytes *b = &nic->bytes;

	if (c->index != 0) {
		nic_violation(nic, c, JUDGE_CONTROL_SUBCHANNEL, type);
		return NVSP_STATUS_FAIL;
	}
	if (b->total > sizeof(copy)) {
		nic_violation(nic, c, JUDGE_CONTROL_LENGTH, b->total);
		return NVSP_STATUS_FAIL;
	}
	txbytes_copy(b, 0, copy, b->total);
	return control_message(nic, (const uint8_t *)copy, b->total);
}

/* The RNDIS part of a packet whose bytes are in nic->bytes. */
static uint32_t
tx_rndis(struct nic *nic, struct nic_chan *c, uint32_t channel_type)
{
	uint32_t hdr[2];

	if (nic->bytes.total < sizeof(hdr)) {
		nic_violation(nic, c, JUDGE_RNDIS_SHORT, nic->bytes.total);
		return NVSP_STATUS_FAIL;
	}
	txbytes_copy(&nic->bytes, 0, hdr, sizeof(hdr));
	if (channel_type > NVSP_CHANNEL_CONTROL ||
	    (channel_type == NVSP_CHANNEL_DATA) != (hdr[0] == RNDIS_PACKET)) {
		nic_violation(nic, c, JUDGE_CHANNEL_TYPE, (uint64_t)hdr[0] << 32 | channel_type);
		return NVSP_STATUS_FAIL;
	}
	if (channel_type == NVSP_CHANNEL_CONTROL)
		return control_packet(nic, c, hdr[0]);
	if (nic->s.rndis != NIC_RNDIS_UP) {
		nic_violation(nic, c, JUDGE_RNDIS_STATE, nic->s.rndis);
		return NVSP_STATUS_FAIL;
	}
	return data_packet(nic, c);
}

/* NVSP 107 from the guest. */
void
tx_message(struct nic *nic, struct nic_chan *c, const struct nic_packet *p)
{
	uint32_t status = NVSP_STATUS_FAIL;
	struct nvsp_rndis msg;

	if (!nvsp_ready(nic)) {
		nic_violation(nic, c, JUDGE_NVSP_ORDER, NVSP_RNDIS);
		return;
	}
	if ((p->desc.flags & VMBUS_PKT_F_COMPLETION) == 0 &&
	    nic_violation(nic, c, JUDGE_NVSP_NO_REPLY, NVSP_RNDIS))
		return;
	nic->bytes.section = NVSP_SECTION_NONE;
	if (!hvw_read(p->nvsp, 0, &msg, sizeof(msg)))
		nic_violation(nic, c, JUDGE_NVSP_SHORT, p->nvsp.len);
	else if (txbytes_get(nic, c, p, &msg))
		status = tx_rndis(nic, c, msg.channel_type);
	if (status != NVSP_STATUS_OK)
		c->st.tx_errors++;
	nic_complete(nic, c, p, status, nic->bytes.section);
}
