/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Wrong guests: sections, guest memory, RNDIS packets.
 */
#include "judge_cases.h"

#define PFN (RG_MEM_GPA >> 12)

/* A good packet of @p len frame bytes at @p dst; its header, to be spoilt and put back. */
static struct rndis_packet
good(const struct rawguest *g, uint8_t *dst, uint32_t len)
{
	uint8_t frame[2048];
	struct rndis_packet h;

	rg_frame(g, frame, len, 5);
	rg_rndis_packet(dst, frame, len);
	memcpy(&h, dst, sizeof(h));
	return h;
}

/* Send header @p h over the good packet in section 0, @p n bytes. */
static void
spoilt(struct rawguest *g, const struct rndis_packet *h, uint32_t n)
{
	memcpy(g->send, h, sizeof(*h));
	rg_send_section(g, 0, 1, 0, n);
}

static void
direct(struct rawguest *g, const struct vmbus_gpa_range *r, uint32_t n)
{
	rg_gpa(g, 0, 1, r, n * (uint32_t)sizeof(*r), n, NVSP_CHANNEL_DATA, NVSP_SECTION_NONE, 0);
}

static void
channel_type(struct rawguest *g)
{
	struct rndis_packet h = good(g, g->mem, 60);
	struct vmbus_gpa_range r = { h.len, 0, PFN };

	rg_gpa(g, 0, 1, &r, sizeof(r), 1, NVSP_CHANNEL_CONTROL, NVSP_SECTION_NONE, 0);
}

static void
channel_type_unknown(struct rawguest *g)
{
	struct rndis_packet h = good(g, g->mem, 60);
	struct vmbus_gpa_range r = { h.len, 0, PFN };

	rg_gpa(g, 0, 1, &r, sizeof(r), 1, 2, NVSP_SECTION_NONE, 0);
}

static void
control_subchannel(struct rawguest *g)
{
	struct rndis_halt msg = { RNDIS_KEEPALIVE, sizeof(msg), 9 };
	struct vmbus_gpa_range r = { sizeof(msg), 0, PFN };

	memcpy(g->mem, &msg, sizeof(msg));
	rg_gpa(g, 1, 1, &r, sizeof(r), 1, NVSP_CHANNEL_CONTROL, NVSP_SECTION_NONE, 0);
}

static void
section_index(struct rawguest *g)
{
	rg_send_section(g, 0, 1, 32, 100);
}

static void
section_index_huge(struct rawguest *g)
{
	rg_send_section(g, 0, 1, 0xfffffffe, 100);
}

static void
section_size(struct rawguest *g)
{
	rg_send_section(g, 0, 1, 31, 6145);
}

static void
section_empty(struct rawguest *g)
{
	rg_send_section(g, 0, 1, 3, 0);
}

static void
section_reused(struct rawguest *g)
{
	struct rndis_packet h = good(g, g->send, 60);

	g->mute = true;
	rg_send_section(g, 0, 1, 0, h.len);
	rg_send_section(g, 0, 2, 0, h.len);
	g->mute = false;
	rg_signal(g, 0);
}

static void
gpa_empty(struct rawguest *g)
{
	direct(g, &(struct vmbus_gpa_range){ 0, 0, PFN }, 1);
}

static void
gpa_offset(struct rawguest *g)
{
	direct(g, &(struct vmbus_gpa_range){ 104, 4096, PFN }, 1);
}

static void
gpa_pages(struct rawguest *g)
{
	direct(g, &(struct vmbus_gpa_range){ 8192, 0, PFN }, 1);
}

static void
gpa_overflow(struct rawguest *g)
{
	direct(g, &(struct vmbus_gpa_range){ 0xffffffff, 4095, PFN }, 1);
}

static void
gpa_none(struct rawguest *g)
{
	const struct vmbus_gpa_range r = { 104, 0, PFN };

	rg_gpa(g, 0, 1, &r, sizeof(r), 0, NVSP_CHANNEL_DATA, NVSP_SECTION_NONE, 0);
}

static void
gpa_missing(struct rawguest *g)
{
	const struct vmbus_gpa_range r = { 104, 0, PFN };

	rg_gpa(g, 0, 1, &r, sizeof(r), 2, NVSP_CHANNEL_DATA, NVSP_SECTION_NONE, 0);
}

static void
gpa_count(struct rawguest *g)
{
	struct rndis_packet h = good(g, g->mem, 396);
	struct vmbus_gpa_range r[35];
	uint32_t i, at = 100;

	r[0] = (struct vmbus_gpa_range){ at, 0, PFN };
	for (i = 1; i < 35; i++, at += 10)
		r[i] = (struct vmbus_gpa_range){ 10, at, PFN };
	if (h.len == at)
		direct(g, r, 35);
}

static void
gpa_unmapped(struct rawguest *g)
{
	direct(g, &(struct vmbus_gpa_range){ 104, 0, 5 }, 1);
}

static void
gpa_unmapped_top(struct rawguest *g)
{
	direct(g, &(struct vmbus_gpa_range){ 104, 0, UINT64_MAX }, 1);
}

static void
no_data(struct rawguest *g)
{
	rg_send_section(g, 0, 1, NVSP_SECTION_NONE, 0);
}

static void
state(struct rawguest *g)
{
	struct rndis_packet h = good(g, g->send, 60);

	spoilt(g, &h, h.len);
}

static void
short_header(struct rawguest *g)
{
	struct rndis_packet h = good(g, g->send, 60);

	spoilt(g, &h, 4);
}

static void
short_packet(struct rawguest *g)
{
	struct rndis_packet h = good(g, g->send, 60);

	spoilt(g, &h, 40);
}

static void
length_long(struct rawguest *g)
{
	struct rndis_packet h = good(g, g->send, 60);

	h.len++;
	spoilt(g, &h, h.len - 1);
}

static void
length_direct(struct rawguest *g)
{
	struct rndis_packet h = good(g, g->mem, 60);

	direct(g, &(struct vmbus_gpa_range){ h.len + 8, 0, PFN }, 1);
}

static void
second_type(struct rawguest *g)
{
	struct rndis_packet h = good(g, g->send, 60), h2 = good(g, g->send + 104, 60);

	h2.type = RNDIS_INITIALIZE;
	memcpy(g->send + h.len, &h2, sizeof(h2));
	rg_send_section(g, 0, 1, 0, 2 * h.len);
}

static void
oob(struct rawguest *g)
{
	struct rndis_packet h = good(g, g->send, 60);

	h.oob_len = 4;
	spoilt(g, &h, h.len);
}

static void
vc_handle(struct rawguest *g)
{
	struct rndis_packet h = good(g, g->send, 60);

	h.vc = 1;
	spoilt(g, &h, h.len);
}

static void
data_offset(struct rawguest *g)
{
	struct rndis_packet h = good(g, g->send, 60);

	h.data_offset = 32;
	spoilt(g, &h, h.len);
}

static void
data_length(struct rawguest *g)
{
	struct rndis_packet h = good(g, g->send, 60);

	h.data_len = 61;
	spoilt(g, &h, h.len);
}

static void
data_overflow(struct rawguest *g)
{
	struct rndis_packet h = good(g, g->send, 60);

	h.data_offset = 0xfffffffc;
	spoilt(g, &h, h.len);
}

static void
data_empty(struct rawguest *g)
{
	struct rndis_packet h = good(g, g->send, 60);

	h.data_len = 0;
	spoilt(g, &h, h.len);
}

static void
align(struct rawguest *g)
{
	struct rndis_packet h = good(g, g->send, 61);
	struct rndis_packet h2 = good(g, g->send + h.len, 60);

	rg_send_section(g, 0, 1, 0, h.len + h2.len);
}

/* A packet with one record; the frame lies behind it. */
static void
with_ppi(struct rawguest *g, struct rndis_ppi_u32 rec)
{
	struct rndis_packet h = good(g, g->send, 60);

	h.ppi_offset = RNDIS_PACKET_DATA_MIN;
	h.ppi_len = sizeof(rec);
	h.data_offset += sizeof(rec);
	h.len += sizeof(rec);
	memcpy(g->send + sizeof(h), &rec, sizeof(rec));
	spoilt(g, &h, h.len);
}

static void
ppi_size_zero(struct rawguest *g)
{
	with_ppi(g, (struct rndis_ppi_u32){ { 0, RNDIS_PPI_VLAN, 12 }, 0 });
}

static void
ppi_size_long(struct rawguest *g)
{
	with_ppi(g, (struct rndis_ppi_u32){ { 20, RNDIS_PPI_VLAN, 12 }, 0 });
}

static void
ppi_offset(struct rawguest *g)
{
	with_ppi(g, (struct rndis_ppi_u32){ { 16, RNDIS_PPI_VLAN, 16 }, 0 });
}

static void
ppi_outside(struct rawguest *g)
{
	struct rndis_packet h = good(g, g->send, 60);

	h.ppi_offset = 0xfffffff0;
	h.ppi_len = 0x20;
	spoilt(g, &h, h.len);
}

static void
ppi_huge(struct rawguest *g)
{
	struct rndis_packet h = good(g, g->send, 600);

	h.ppi_offset = RNDIS_PACKET_DATA_MIN;
	h.ppi_len = 300;
	spoilt(g, &h, h.len);
}

static void
packets(struct rawguest *g)
{
	struct rndis_packet h;
	uint32_t i, at = 0;

	for (i = 0; i < 9; i++, at += h.len)
		h = good(g, g->send + at, 60);
	rg_send_section(g, 0, 1, 0, at);
}

static void
header_split(struct rawguest *g)
{
	struct rndis_packet h = good(g, g->mem, 60);
	const struct vmbus_gpa_range r[2] = { { 40, 0, PFN }, { h.len - 40, 40, PFN } };

	direct(g, r, 2);
}

static void
header_split_mixed(struct rawguest *g)
{
	struct rndis_packet h = good(g, g->mem, 60);
	const struct vmbus_gpa_range r = { h.len - 20, 20, PFN };

	memcpy(g->send, g->mem, 20);
	rg_gpa(g, 0, 1, &r, sizeof(r), 1, NVSP_CHANNEL_DATA, 0, 20);
}

static void
offload_csum(struct rawguest *g)
{
	with_ppi(g, (struct rndis_ppi_u32){ { 16, RNDIS_PPI_CSUM, 12 },
					    RNDIS_TXCSUM_IPV4 | RNDIS_TXCSUM_TCP });
}

static void
offload_lso(struct rawguest *g)
{
	with_ppi(g, (struct rndis_ppi_u32){ { 16, RNDIS_PPI_LSO, 12 }, 0x436005b4 });
}

static void
frame_long(struct rawguest *g)
{
	struct rndis_packet h = good(g, g->send, 1515);

	spoilt(g, &h, h.len);
}

static void
frame_short(struct rawguest *g)
{
	struct rndis_packet h = good(g, g->send, 60);

	h.data_len = 13;
	spoilt(g, &h, h.len);
}

const struct judge_case judge_data_cases[] = {
	{ JUDGE_CHANNEL_TYPE, LEVEL_RNDIS, channel_type, false },
	{ JUDGE_CHANNEL_TYPE, LEVEL_RNDIS, channel_type_unknown, false },
	{ JUDGE_CONTROL_SUBCHANNEL, LEVEL_TRAFFIC, control_subchannel, false },
	{ JUDGE_SECTION_RANGE, LEVEL_TRAFFIC, section_index, false },
	{ JUDGE_SECTION_RANGE, LEVEL_TRAFFIC, section_index_huge, false },
	{ JUDGE_SECTION_RANGE, LEVEL_TRAFFIC, section_size, false },
	{ JUDGE_SECTION_RANGE, LEVEL_TRAFFIC, section_empty, false },
	{ JUDGE_SECTION_REUSED, LEVEL_TRAFFIC, section_reused, false },
	{ JUDGE_GPA_RANGE, LEVEL_TRAFFIC, gpa_empty, false },
	{ JUDGE_GPA_RANGE, LEVEL_TRAFFIC, gpa_offset, false },
	{ JUDGE_GPA_RANGE, LEVEL_TRAFFIC, gpa_pages, false },
	{ JUDGE_GPA_RANGE, LEVEL_TRAFFIC, gpa_overflow, false },
	{ JUDGE_GPA_RANGE, LEVEL_TRAFFIC, gpa_none, false },
	{ JUDGE_GPA_RANGE, LEVEL_TRAFFIC, gpa_missing, false },
	{ JUDGE_GPA_COUNT, LEVEL_TRAFFIC, gpa_count, false },
	{ JUDGE_GPA_UNMAPPED, LEVEL_TRAFFIC, gpa_unmapped, false },
	{ JUDGE_GPA_UNMAPPED, LEVEL_TRAFFIC, gpa_unmapped_top, false },
	{ JUDGE_RNDIS_NO_DATA, LEVEL_TRAFFIC, no_data, false },
	{ JUDGE_RNDIS_STATE, LEVEL_NVSP, state, false },
	{ JUDGE_RNDIS_SHORT, LEVEL_TRAFFIC, short_header, false },
	{ JUDGE_RNDIS_SHORT, LEVEL_TRAFFIC, short_packet, false },
	{ JUDGE_RNDIS_LENGTH, LEVEL_TRAFFIC, length_long, false },
	{ JUDGE_RNDIS_LENGTH, LEVEL_TRAFFIC, length_direct, false },
	{ JUDGE_RNDIS_TYPE, LEVEL_TRAFFIC, second_type, false },
	{ JUDGE_RNDIS_OOB, LEVEL_TRAFFIC, oob, false },
	{ JUDGE_RNDIS_OOB, LEVEL_TRAFFIC, vc_handle, false },
	{ JUDGE_RNDIS_DATA, LEVEL_TRAFFIC, data_offset, false },
	{ JUDGE_RNDIS_DATA, LEVEL_TRAFFIC, data_length, false },
	{ JUDGE_RNDIS_DATA, LEVEL_TRAFFIC, data_overflow, false },
	{ JUDGE_RNDIS_DATA, LEVEL_TRAFFIC, data_empty, false },
	{ JUDGE_RNDIS_ALIGN, LEVEL_TRAFFIC, align, false },
	{ JUDGE_RNDIS_PPI, LEVEL_TRAFFIC, ppi_size_zero, false },
	{ JUDGE_RNDIS_PPI, LEVEL_TRAFFIC, ppi_size_long, false },
	{ JUDGE_RNDIS_PPI, LEVEL_TRAFFIC, ppi_offset, false },
	{ JUDGE_RNDIS_PPI, LEVEL_TRAFFIC, ppi_outside, false },
	{ JUDGE_RNDIS_PPI, LEVEL_TRAFFIC, ppi_huge, false },
	{ JUDGE_RNDIS_PACKETS, LEVEL_TRAFFIC, packets, false },
	{ JUDGE_HEADER_SPLIT, LEVEL_TRAFFIC, header_split, false },
	{ JUDGE_HEADER_SPLIT, LEVEL_TRAFFIC, header_split_mixed, false },
	{ JUDGE_OFFLOAD_USE, LEVEL_TRAFFIC, offload_csum, false },
	{ JUDGE_OFFLOAD_USE, LEVEL_TRAFFIC, offload_lso, false },
	{ JUDGE_FRAME_LONG, LEVEL_TRAFFIC, frame_long, false },
	{ JUDGE_FRAME_SHORT, LEVEL_TRAFFIC, frame_short, false },
	{ JUDGE_COUNT, LEVEL_OPEN, NULL, false },
};
