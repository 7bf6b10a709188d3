/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Wrong guests: rings, packets, signals, completions of received packets.
 */
#include "judge_cases.h"

/* An in-band packet with @p desc and @p len bytes behind it. */
static void
put_desc(struct rawguest *g, struct vmbus_pkt_desc desc, uint32_t len)
{
	uint8_t pkt[4096] = { 0 };
	const struct nvsp_init init = { NVSP_INIT, NVSP_VERSION_61, NVSP_VERSION_61 };

	memcpy(pkt, &desc, sizeof(desc));
	memcpy(pkt + sizeof(desc), &init, sizeof(init));
	rg_put(g, 0, pkt, (uint32_t)sizeof(desc) + len);
}

static void
keepalive(struct rawguest *g)
{
	const struct rndis_halt msg = { RNDIS_KEEPALIVE, sizeof(msg), 1000 };
	struct vmbus_gpa_range r = { sizeof(msg), 0, RG_MEM_GPA >> 12 };

	memcpy(g->mem, &msg, sizeof(msg));
	rg_gpa(g, 0, 5, &r, sizeof(r), 1, NVSP_CHANNEL_CONTROL, NVSP_SECTION_NONE, 0);
}

static void
write_index_range(struct rawguest *g)
{
	rg_tx_hdr(g, 0)->write_index = rg_ring_size(g);
	rg_signal(g, 0);
}

static void
write_index_align(struct rawguest *g)
{
	rg_tx_hdr(g, 0)->write_index += 12;
	rg_signal(g, 0);
}

static void
read_index_range(struct rawguest *g)
{
	rg_rx_hdr(g, 0)->read_index = 0xfffffff8;
	keepalive(g);
}

static void
read_index_passed(struct rawguest *g)
{
	rg_rx_hdr(g, 0)->read_index = (rg_rx_hdr(g, 0)->write_index + 64) % rg_ring_size(g);
	keepalive(g);
}

static void
descriptor_lengths(struct rawguest *g)
{
	put_desc(g, (struct vmbus_pkt_desc){ VMBUS_PKT_INBAND, 8, 7, 1, 1 }, 40);
}

static void
descriptor_long(struct rawguest *g)
{
	put_desc(g, (struct vmbus_pkt_desc){ VMBUS_PKT_INBAND, 2, 0xffff, 1, 1 }, 40);
}

static void
descriptor_offset(struct rawguest *g)
{
	put_desc(g, (struct vmbus_pkt_desc){ VMBUS_PKT_INBAND, 1, 7, 1, 1 }, 40);
}

static void
packet_flags(struct rawguest *g)
{
	put_desc(g, (struct vmbus_pkt_desc){ VMBUS_PKT_INBAND, 2, 7, 5, 1 }, 40);
}

static void
packet_type(struct rawguest *g)
{
	put_desc(g, (struct vmbus_pkt_desc){ VMBUS_PKT_XFER_PAGES, 2, 7, 1, 1 }, 40);
}

static void
packet_length(struct rawguest *g)
{
	put_desc(g, (struct vmbus_pkt_desc){ VMBUS_PKT_INBAND, 2, 259, 1, 1 }, 257 * 8);
}

static void
packet_trailer(struct rawguest *g)
{
	struct vmbus_ring_hdr *h = rg_tx_hdr(g, 0);
	const uint32_t msg[14] = { VMBUS_PKT_INBAND | 2 << 16, 7 | 1 << 16, 1, 0, NVSP_INIT,
				   NVSP_VERSION_61, NVSP_VERSION_61 };
	uint32_t end = rg_write(g, 0, 0, msg, sizeof(msg));

	g->rings[0][4096 + end - 1] = 9;
	h->write_index = end;
	rg_signal(g, 0);
}

static void
signal_missing(struct rawguest *g)
{
	g->mute = true;
	keepalive(g);
	rg_wait(g, 1400000000);
}

static void
signal_redundant(struct rawguest *g)
{
	nic_signal(g->nic, 0);
	nic_signal(g->nic, 0);
}

/* Send frames by guest memory until the completions fill the receive ring; read, no signal. */
static void
wake_missing(struct rawguest *g)
{
	uint8_t frame[64];
	uint32_t i, n;
	struct vmbus_gpa_range r = { 0, 0, RG_MEM_GPA >> 12 };

	rg_frame(g, frame, sizeof(frame), 1);
	n = rg_rndis_packet(g->mem, frame, sizeof(frame));
	r.len = n;
	for (i = 0; i < 200; i++) {
		rg_gpa(g, 0, 100 + i, &r, sizeof(r), 1, NVSP_CHANNEL_DATA, NVSP_SECTION_NONE, 0);
		rg_run(g);
	}
	g->deaf = true;
	while (rg_get(g, 0))
		;
	rg_wait(g, 1400000000);
}

/* One frame to the guest; its transaction id. */
static uint64_t
receive(struct rawguest *g)
{
	uint8_t frame[64];

	rg_frame(g, frame, sizeof(frame), 1);
	rg_wire_in(g, frame, sizeof(frame));
	rg_run(g);
	if (!rg_get(g, 0))
		return UINT64_MAX;
	return g->pkt.desc.xact;
}

static void
completion_unknown(struct rawguest *g)
{
	rg_complete(g, 0, 0x999999);
}

static void
completion_never_used(struct rawguest *g)
{
	rg_complete(g, 0, receive(g) + 1);
}

static void
completion_double(struct rawguest *g)
{
	uint64_t id = receive(g);

	rg_complete(g, 0, id);
	rg_run(g);
	rg_complete(g, 0, id);
}

static void
completion_channel(struct rawguest *g)
{
	rg_complete(g, 1, receive(g));
}

static void
completion_payload(struct rawguest *g)
{
	struct vmbus_pkt_desc desc = { VMBUS_PKT_COMPLETION, 2, 7, 0, receive(g) };
	const uint32_t msg[2] = { NVSP_RNDIS, 1 };
	uint8_t pkt[56] = { 0 };

	memcpy(pkt, &desc, sizeof(desc));
	memcpy(pkt + sizeof(desc), msg, sizeof(msg));
	rg_put(g, 0, pkt, sizeof(pkt));
}

static void
completion_empty(struct rawguest *g)
{
	struct vmbus_pkt_desc desc = { VMBUS_PKT_COMPLETION, 2, 2, 0, receive(g) };

	rg_put(g, 0, &desc, sizeof(desc));
}

static void
completion_flags(struct rawguest *g)
{
	struct vmbus_pkt_desc desc = { VMBUS_PKT_COMPLETION, 2, 7, 1, receive(g) };
	const uint32_t msg[2] = { NVSP_RNDIS_COMPLETE, 1 };
	uint8_t pkt[56] = { 0 };

	memcpy(pkt, &desc, sizeof(desc));
	memcpy(pkt + sizeof(desc), msg, sizeof(msg));
	rg_put(g, 0, pkt, sizeof(pkt));
}

const struct judge_case judge_ring_cases[] = {
	{ JUDGE_RING_WRITE_INDEX, LEVEL_OPEN, write_index_range, true },
	{ JUDGE_RING_WRITE_INDEX, LEVEL_TRAFFIC, write_index_align, true },
	{ JUDGE_RING_READ_INDEX, LEVEL_RNDIS, read_index_range, true },
	{ JUDGE_RING_READ_INDEX, LEVEL_RNDIS, read_index_passed, true },
	{ JUDGE_RING_DESCRIPTOR, LEVEL_OPEN, descriptor_lengths, false },
	{ JUDGE_RING_DESCRIPTOR, LEVEL_OPEN, descriptor_long, false },
	{ JUDGE_RING_DESCRIPTOR, LEVEL_OPEN, descriptor_offset, false },
	{ JUDGE_PACKET_FLAGS, LEVEL_OPEN, packet_flags, false },
	{ JUDGE_PACKET_FLAGS, LEVEL_TRAFFIC, completion_flags, false },
	{ JUDGE_PACKET_TYPE, LEVEL_OPEN, packet_type, false },
	{ JUDGE_PACKET_LENGTH, LEVEL_OPEN, packet_length, false },
	{ JUDGE_PACKET_TRAILER, LEVEL_OPEN, packet_trailer, false },
	{ JUDGE_SIGNAL_MISSING, LEVEL_RNDIS, signal_missing, false },
	{ JUDGE_SIGNAL_REDUNDANT, LEVEL_OPEN, signal_redundant, false },
	{ JUDGE_WAKE_MISSING, LEVEL_TRAFFIC, wake_missing, false },
	{ JUDGE_COMPLETION_UNKNOWN, LEVEL_TRAFFIC, completion_unknown, false },
	{ JUDGE_COMPLETION_UNKNOWN, LEVEL_TRAFFIC, completion_never_used, false },
	{ JUDGE_COMPLETION_DOUBLE, LEVEL_TRAFFIC, completion_double, false },
	{ JUDGE_COMPLETION_CHANNEL, LEVEL_TRAFFIC, completion_channel, false },
	{ JUDGE_COMPLETION_PAYLOAD, LEVEL_TRAFFIC, completion_payload, false },
	{ JUDGE_COMPLETION_PAYLOAD, LEVEL_TRAFFIC, completion_empty, false },
	{ JUDGE_COUNT, LEVEL_OPEN, NULL, false },
};
