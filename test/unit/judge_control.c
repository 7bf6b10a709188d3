/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Wrong guests: RNDIS control messages and the values of SETs.
 */
#include "judge_cases.h"

/* Send a control message without expecting anything. */
static void
control(struct rawguest *g, const void *msg, uint32_t copy, uint32_t len)
{
	struct {
		struct vmbus_gpa_range_hdr r;
		uint64_t pfn[2];
	} r = { { len, 0 }, { RG_MEM_GPA >> 12, (RG_MEM_GPA >> 12) + 1 } };

	memcpy(g->mem, msg, copy);
	rg_gpa(g, 0, 1, &r, len > 4096 ? 24 : 16, 1, NVSP_CHANNEL_CONTROL, NVSP_SECTION_NONE, 0);
	rg_run(g);
}

static void
set(struct rawguest *g, uint32_t oid, const void *val, uint32_t len)
{
	struct rndis_oid_request req = { RNDIS_SET, sizeof(req) + len, 500, oid, len,
					 RNDIS_OID_DATA_OFFSET, 0 };
	uint8_t msg[2048];

	memcpy(msg, &req, sizeof(req));
	memcpy(msg + sizeof(req), val, len);
	control(g, msg, (uint32_t)sizeof(req) + len, (uint32_t)sizeof(req) + len);
}

static void
simple(struct rawguest *g, uint32_t type, uint32_t len, uint32_t rid)
{
	const struct rndis_halt msg = { type, len, rid };

	control(g, &msg, sizeof(msg), sizeof(msg));
}

static void
length_field(struct rawguest *g)
{
	simple(g, RNDIS_KEEPALIVE, 8, 1);
}

static void
length_long(struct rawguest *g)
{
	simple(g, RNDIS_KEEPALIVE, 16, 1);
}

static void
length_huge(struct rawguest *g)
{
	const struct rndis_halt msg = { RNDIS_KEEPALIVE, 4104, 1 };

	control(g, &msg, sizeof(msg), 4104);
}

static void
length_value(struct rawguest *g)
{
	struct rndis_oid_request req = { RNDIS_SET, sizeof(req), 5, OID_GEN_CURRENT_PACKET_FILTER,
					 4, RNDIS_OID_DATA_OFFSET, 0 };

	control(g, &req, sizeof(req), sizeof(req));
}

static void
length_offset(struct rawguest *g)
{
	struct rndis_oid_request req = { RNDIS_SET, sizeof(req), 5, OID_GEN_CURRENT_PACKET_FILTER,
					 4, 0xfffffff8, 0 };

	control(g, &req, sizeof(req), sizeof(req));
}

static void
length_init(struct rawguest *g)
{
	simple(g, RNDIS_INITIALIZE, 12, 1);
}

static void
rid_zero(struct rawguest *g)
{
	simple(g, RNDIS_KEEPALIVE, 12, 0);
}

static void
type_reset(struct rawguest *g)
{
	simple(g, RNDIS_RESET, 12, 1);
}

static void
type_completion(struct rawguest *g)
{
	simple(g, RNDIS_QUERY | RNDIS_COMPLETION, 12, 1);
}

static void
state_second_init(struct rawguest *g)
{
	const struct rndis_initialize msg = { RNDIS_INITIALIZE, sizeof(msg), 7, 1, 0, 0x4000 };

	control(g, &msg, sizeof(msg), sizeof(msg));
}

static void
state_before_init(struct rawguest *g)
{
	simple(g, RNDIS_KEEPALIVE, 12, 1);
}

static void
state_after_halt(struct rawguest *g)
{
	simple(g, RNDIS_HALT, 12, 1);
	simple(g, RNDIS_KEEPALIVE, 12, 2);
}

/* Take replies from the ring but never complete them. */
static void
overrun(struct rawguest *g)
{
	uint32_t i;

	for (i = 0; i < 90 && g->judge.count[JUDGE_CONTROL_OVERRUN] == 0; i++) {
		simple(g, RNDIS_KEEPALIVE, 12, 1 + i);
		while (rg_get(g, 0))
			;
	}
}

static void
value_filter(struct rawguest *g)
{
	set(g, OID_GEN_CURRENT_PACKET_FILTER, "ab", 2);
}

static void
value_multicast(struct rawguest *g)
{
	set(g, OID_802_3_MULTICAST_LIST, "abcdefg", 7);
}

static void
filter_bits(struct rawguest *g)
{
	const uint32_t filter = 0x1001;

	set(g, OID_GEN_CURRENT_PACKET_FILTER, &filter, sizeof(filter));
}

/* RSS parameters for one channel; @p spoil changes them. */
static void
rss(struct rawguest *g, void (*spoil)(struct ndis_rss_params *p, uint32_t *table))
{
	struct {
		struct ndis_rss_params p;
		uint32_t table[16];
		uint8_t key[40];
	} val = {
		.p = {
			.hdr = { NDIS_OBJ_RSS_PARAMS, 2, sizeof(val.p) },
			.hash = NDIS_HASH_TOEPLITZ | NDIS_HASH_IPV4,
			.ind_size = sizeof(val.table),
			.ind_offset = sizeof(val.p),
			.key_size = sizeof(val.key),
			.key_offset = sizeof(val.p) + sizeof(val.table),
		},
	};

	spoil(&val.p, val.table);
	set(g, OID_GEN_RECEIVE_SCALE_PARAMETERS, &val, sizeof(val));
}

static void
spoil_type(struct ndis_rss_params *p, uint32_t *table)
{
	(void)table;
	p->hdr.type = NDIS_OBJ_OFFLOAD;
}

static void
spoil_size(struct ndis_rss_params *p, uint32_t *table)
{
	(void)table;
	p->ind_size = 6;
}

static void
spoil_offset(struct ndis_rss_params *p, uint32_t *table)
{
	(void)table;
	p->ind_offset = 0xfffffff0;
}

static void
spoil_table(struct ndis_rss_params *p, uint32_t *table)
{
	(void)p;
	table[3] = 1;
}

static void
spoil_key(struct ndis_rss_params *p, uint32_t *table)
{
	(void)table;
	p->key_size = 39;
}

static void
spoil_key_offset(struct ndis_rss_params *p, uint32_t *table)
{
	(void)table;
	p->key_offset++;
}

static void
rss_type(struct rawguest *g)
{
	rss(g, spoil_type);
}

static void
rss_size(struct rawguest *g)
{
	rss(g, spoil_size);
}

static void
rss_offset(struct rawguest *g)
{
	rss(g, spoil_offset);
}

static void
rss_short(struct rawguest *g)
{
	set(g, OID_GEN_RECEIVE_SCALE_PARAMETERS, "abcd", 4);
}

static void
rss_table(struct rawguest *g)
{
	rss(g, spoil_table);
}

static void
rss_key(struct rawguest *g)
{
	rss(g, spoil_key);
}

static void
rss_key_offset(struct rawguest *g)
{
	rss(g, spoil_key_offset);
}

static void
offload_unoffered(struct rawguest *g)
{
	const struct ndis_offload_params p = {
		.hdr = { NDIS_OBJ_DEFAULT, 3, sizeof(p) },
		.tcp4_csum = NDIS_OFFLOAD_SET_TXRX,
	};

	set(g, OID_TCP_OFFLOAD_PARAMETERS, &p, sizeof(p));
}

static void
offload_size(struct rawguest *g)
{
	const struct ndis_offload_params p = { .hdr = { NDIS_OBJ_DEFAULT, 3, 200 } };

	set(g, OID_TCP_OFFLOAD_PARAMETERS, &p, sizeof(p));
}

const struct judge_case judge_control_cases[] = {
	{ JUDGE_CONTROL_LENGTH, LEVEL_RNDIS, length_field, false },
	{ JUDGE_CONTROL_LENGTH, LEVEL_RNDIS, length_long, false },
	{ JUDGE_CONTROL_LENGTH, LEVEL_RNDIS, length_huge, false },
	{ JUDGE_CONTROL_LENGTH, LEVEL_RNDIS, length_value, false },
	{ JUDGE_CONTROL_LENGTH, LEVEL_RNDIS, length_offset, false },
	{ JUDGE_CONTROL_LENGTH, LEVEL_NVSP, length_init, false },
	{ JUDGE_CONTROL_RID, LEVEL_RNDIS, rid_zero, false },
	{ JUDGE_CONTROL_TYPE, LEVEL_RNDIS, type_reset, false },
	{ JUDGE_CONTROL_TYPE, LEVEL_RNDIS, type_completion, false },
	{ JUDGE_CONTROL_STATE, LEVEL_RNDIS, state_second_init, false },
	{ JUDGE_CONTROL_STATE, LEVEL_NVSP, state_before_init, false },
	{ JUDGE_CONTROL_STATE, LEVEL_RNDIS, state_after_halt, false },
	{ JUDGE_CONTROL_OVERRUN, LEVEL_RNDIS, overrun, false },
	{ JUDGE_OID_VALUE, LEVEL_RNDIS, value_filter, false },
	{ JUDGE_OID_VALUE, LEVEL_RNDIS, value_multicast, false },
	{ JUDGE_FILTER_BITS, LEVEL_RNDIS, filter_bits, false },
	{ JUDGE_RSS_PARAMS, LEVEL_RNDIS, rss_type, false },
	{ JUDGE_RSS_PARAMS, LEVEL_RNDIS, rss_size, false },
	{ JUDGE_RSS_PARAMS, LEVEL_RNDIS, rss_offset, false },
	{ JUDGE_RSS_PARAMS, LEVEL_RNDIS, rss_short, false },
	{ JUDGE_RSS_TABLE, LEVEL_RNDIS, rss_table, false },
	{ JUDGE_RSS_KEY, LEVEL_RNDIS, rss_key, false },
	{ JUDGE_RSS_KEY, LEVEL_RNDIS, rss_key_offset, false },
	{ JUDGE_OFFLOAD_PARAMS, LEVEL_RNDIS, offload_unoffered, false },
	{ JUDGE_OFFLOAD_PARAMS, LEVEL_RNDIS, offload_size, false },
	{ JUDGE_COUNT, LEVEL_OPEN, NULL, false },
};
