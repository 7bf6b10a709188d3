/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Wrong guests: NVSP messages, buffers, sub-channels.
 */
#include "judge_cases.h"

static void
init(struct rawguest *g, uint16_t flags, uint32_t version)
{
	struct nvsp_init msg = { NVSP_INIT, version, version };

	rg_nvsp(g, 0, flags, 1, &msg, sizeof(msg));
	rg_run(g);
}

static void
config(struct rawguest *g, uint32_t frame_max)
{
	struct nvsp_ndis_config msg = { NVSP_NDIS_CONFIG, frame_max, 0, 0 };

	rg_nvsp(g, 0, 0, 0, &msg, sizeof(msg));
}

static void
buffer(struct rawguest *g, uint32_t type, uint32_t gpadl)
{
	struct nvsp_buffer msg = { type, gpadl, 1, 0 };

	rg_nvsp(g, 0, 1, 2, &msg, sizeof(msg));
}

static void
ndis(struct rawguest *g, uint32_t ch)
{
	struct nvsp_ndis_version msg = { NVSP_NDIS_VERSION, 6, 30 };

	rg_nvsp(g, ch, 0, 0, &msg, sizeof(msg));
}

static void
subchannels(struct rawguest *g, uint32_t op, uint32_t count)
{
	struct nvsp_subchannel msg = { NVSP_SUBCHANNEL, op, count };

	rg_nvsp(g, 0, 1, 4, &msg, sizeof(msg));
}

static void
revoke(struct rawguest *g, uint16_t id)
{
	struct nvsp_revoke msg = { NVSP_RXBUF_REVOKE, id, 0 };

	rg_nvsp(g, 0, 0, 0, &msg, sizeof(msg));
}

static void
short_init(struct rawguest *g)
{
	const uint32_t pkt[6] = { VMBUS_PKT_INBAND | 2 << 16, 3 | 1 << 16, 1, 0, NVSP_INIT,
				  NVSP_VERSION_61 };

	rg_put(g, 0, pkt, sizeof(pkt));
}

static void
short_empty(struct rawguest *g)
{
	const uint32_t pkt[4] = { VMBUS_PKT_INBAND | 2 << 16, 2 | 1 << 16, 1, 0 };

	rg_put(g, 0, pkt, sizeof(pkt));
}

static void
short_rndis(struct rawguest *g)
{
	const uint32_t pkt[6] = { VMBUS_PKT_INBAND | 2 << 16, 3 | 1 << 16, 1, 0, NVSP_RNDIS, 0 };

	rg_put(g, 0, pkt, sizeof(pkt));
}

static void
type_unknown(struct rawguest *g)
{
	const uint32_t msg = 99;

	rg_nvsp(g, 0, 0, 0, &msg, sizeof(msg));
}

static void
type_version(struct rawguest *g)
{
	init(g, 1, NVSP_VERSION_4);
	subchannels(g, NVSP_SUBCHANNEL_ALLOCATE, 1);
}

static void
order_before_init(struct rawguest *g)
{
	buffer(g, NVSP_RXBUF, RG_RECV_GPADL);
}

static void
order_before_config(struct rawguest *g)
{
	init(g, 1, NVSP_VERSION_61);
	buffer(g, NVSP_RXBUF, RG_RECV_GPADL);
}

static void
order_rndis(struct rawguest *g)
{
	init(g, 1, NVSP_VERSION_61);
	rg_send_section(g, 0, 1, 0, 100);
}

static void
order_subchannel(struct rawguest *g)
{
	init(g, 1, NVSP_VERSION_61);
	subchannels(g, NVSP_SUBCHANNEL_ALLOCATE, 1);
}

static void
duplicate_init(struct rawguest *g)
{
	init(g, 1, NVSP_VERSION_61);
}

static void
duplicate_ndis(struct rawguest *g)
{
	ndis(g, 0);
}

static void
duplicate_config(struct rawguest *g)
{
	config(g, 1514);
}

static void
duplicate_rx(struct rawguest *g)
{
	buffer(g, NVSP_RXBUF, RG_RECV_GPADL);
}

static void
duplicate_tx(struct rawguest *g)
{
	buffer(g, NVSP_TXBUF, RG_SEND_GPADL);
}

static void
channel(struct rawguest *g)
{
	ndis(g, 1);
}

static void
transport(struct rawguest *g)
{
	uint32_t pkt[20] = { VMBUS_PKT_GPA_DIRECT | 5 << 16, 10 | 0 << 16, 1, 0, 0, 1, 64, 0,
			     RG_MEM_GPA >> 12, 0, NVSP_NDIS_VERSION, 6, 30 };

	rg_put(g, 0, pkt, sizeof(pkt));
}

static void
no_reply_init(struct rawguest *g)
{
	init(g, 0, NVSP_VERSION_61);
}

static void
no_reply_rndis(struct rawguest *g)
{
	struct nvsp_rndis msg = { NVSP_RNDIS, NVSP_CHANNEL_DATA, 0, 0 };
	uint8_t frame[60];

	rg_frame(g, frame, sizeof(frame), 3);
	msg.section_size = rg_rndis_packet(g->send, frame, sizeof(frame));
	rg_nvsp(g, 0, 0, 1, &msg, sizeof(msg));
}

static void
config_mtu(struct rawguest *g)
{
	init(g, 1, NVSP_VERSION_61);
	config(g, 1000);
}

static void
gpadl_rx(struct rawguest *g)
{
	init(g, 1, NVSP_VERSION_61);
	config(g, 1514);
	buffer(g, NVSP_RXBUF, 5);
}

static void
gpadl_tx(struct rawguest *g)
{
	init(g, 1, NVSP_VERSION_61);
	buffer(g, NVSP_TXBUF, RG_RECV_GPADL);
}

static void
revoke_order(struct rawguest *g)
{
	revoke(g, NVSP_RXBUF_ID);
}

static void
revoke_id(struct rawguest *g)
{
	revoke(g, 1);
}

static void
revoke_twice(struct rawguest *g)
{
	revoke(g, NVSP_RXBUF_ID);
	revoke(g, NVSP_RXBUF_ID);
}

static void
subchannel_op(struct rawguest *g)
{
	subchannels(g, 2, 1);
}

static void
subchannel_zero(struct rawguest *g)
{
	subchannels(g, NVSP_SUBCHANNEL_ALLOCATE, 0);
}

static void
subchannel_many(struct rawguest *g)
{
	subchannels(g, NVSP_SUBCHANNEL_ALLOCATE, 4);
}

static void
subchannel_repeat(struct rawguest *g)
{
	subchannels(g, NVSP_SUBCHANNEL_ALLOCATE, 1);
}

static void
switch_path(struct rawguest *g)
{
	struct nvsp_switch_path msg = { NVSP_SWITCH_PATH, 2 };

	rg_nvsp(g, 0, 1, 1, &msg, sizeof(msg));
}

const struct judge_case judge_nvsp_cases[] = {
	{ JUDGE_NVSP_SHORT, LEVEL_OPEN, short_init, false },
	{ JUDGE_NVSP_SHORT, LEVEL_OPEN, short_empty, false },
	{ JUDGE_NVSP_SHORT, LEVEL_RNDIS, short_rndis, false },
	{ JUDGE_NVSP_TYPE, LEVEL_NVSP, type_unknown, false },
	{ JUDGE_NVSP_TYPE, LEVEL_OPEN, type_version, false },
	{ JUDGE_NVSP_ORDER, LEVEL_OPEN, order_before_init, false },
	{ JUDGE_NVSP_ORDER, LEVEL_OPEN, order_before_config, false },
	{ JUDGE_NVSP_ORDER, LEVEL_OPEN, order_rndis, false },
	{ JUDGE_NVSP_ORDER, LEVEL_OPEN, order_subchannel, false },
	{ JUDGE_NVSP_DUPLICATE, LEVEL_NVSP, duplicate_init, false },
	{ JUDGE_NVSP_DUPLICATE, LEVEL_NVSP, duplicate_ndis, false },
	{ JUDGE_NVSP_DUPLICATE, LEVEL_NVSP, duplicate_config, false },
	{ JUDGE_NVSP_DUPLICATE, LEVEL_NVSP, duplicate_rx, false },
	{ JUDGE_NVSP_DUPLICATE, LEVEL_NVSP, duplicate_tx, false },
	{ JUDGE_NVSP_CHANNEL, LEVEL_TRAFFIC, channel, false },
	{ JUDGE_NVSP_TRANSPORT, LEVEL_NVSP, transport, false },
	{ JUDGE_NVSP_NO_REPLY, LEVEL_OPEN, no_reply_init, false },
	{ JUDGE_NVSP_NO_REPLY, LEVEL_TRAFFIC, no_reply_rndis, false },
	{ JUDGE_CONFIG_MTU, LEVEL_OPEN, config_mtu, false },
	{ JUDGE_BUFFER_GPADL, LEVEL_OPEN, gpadl_rx, false },
	{ JUDGE_BUFFER_GPADL, LEVEL_OPEN, gpadl_tx, false },
	{ JUDGE_REVOKE_ORDER, LEVEL_RNDIS, revoke_order, false },
	{ JUDGE_REVOKE_ID, LEVEL_NVSP, revoke_id, false },
	{ JUDGE_REVOKE_ID, LEVEL_NVSP, revoke_twice, false },
	{ JUDGE_SUBCHANNEL_OP, LEVEL_RNDIS, subchannel_op, false },
	{ JUDGE_SUBCHANNEL_COUNT, LEVEL_RNDIS, subchannel_zero, false },
	{ JUDGE_SUBCHANNEL_COUNT, LEVEL_RNDIS, subchannel_many, false },
	{ JUDGE_SUBCHANNEL_REPEAT, LEVEL_TRAFFIC, subchannel_repeat, false },
	{ JUDGE_SWITCH_PATH, LEVEL_NVSP, switch_path, false },
	{ JUDGE_COUNT, LEVEL_OPEN, NULL, false },
};
