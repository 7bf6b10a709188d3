/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Damaged packets: whatever bytes a guest sends, the NIC stays within its memory.
 *
 * Good packets get random bytes changed, in the ring and in the memory they name. Run
 * under the address sanitizer, every buffer of the guest is its own allocation.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "rawguest.h"

#define ROUNDS 6000u
#define PKT_MAX 640u

static struct rawguest guest;
static uint64_t seed;

static uint32_t
rnd(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 16) % below;
}

/* Values that break arithmetic, and plain noise. */
static uint32_t
odd_value(void)
{
	static const uint32_t odd[] = { 0, 1, 7, 8, 0x7f, 0xff, 0xfff, 0x1000, 0x7fffffff,
					0x80000000, 0xfffffff8, 0xffffffff };

	return rnd(2) == 0 ? odd[rnd(sizeof(odd) / sizeof(odd[0]))] : (uint32_t)seed;
}

static void
damage(uint8_t *mem, uint32_t len)
{
	uint32_t n = rnd(4), v, at;

	for (; n > 0; n--) {
		v = odd_value();
		at = rnd(len);
		if (rnd(3) == 0 && at + 4 <= len)
			memcpy(mem + (at & ~3u), &v, 4);
		else
			mem[at] = (uint8_t)v;
	}
}

/* A good packet of some kind into @p pkt; its length. */
static uint32_t
build(struct rawguest *g, uint8_t *pkt)
{
	const uint64_t pfn = RG_MEM_GPA >> 12;
	struct vmbus_pkt_desc desc = { VMBUS_PKT_INBAND, 2, 7, 1, rnd(700) };
	struct vmbus_gpa_range r[3] = { { 60, 0, pfn }, { 4000, 60, pfn }, { 100, 0, pfn + 1 } };
	uint32_t msg[10] = { NVSP_RNDIS, 0, rnd(33), 104 }, hlen = 16, count = 1 + rnd(3);
	struct rndis_oid_request set = { RNDIS_SET, 28 + 60, 5, OID_GEN_RECEIVE_SCALE_PARAMETERS,
					 60, 20, 0 };
	static const uint32_t oids[] = { OID_GEN_RECEIVE_SCALE_PARAMETERS,
					 OID_TCP_OFFLOAD_PARAMETERS, OID_802_3_MULTICAST_LIST,
					 OID_GEN_CURRENT_PACKET_FILTER };
	uint8_t frame[60];

	memset(pkt, 0, PKT_MAX);
	rg_frame(g, frame, sizeof(frame), (uint8_t)seed);
	switch (rnd(4)) {
	case 0:
		rg_rndis_packet(g->send + (msg[2] % 32) * 6144, frame, sizeof(frame));
		damage(g->send + (msg[2] % 32) * 6144, 64);
		break;
	case 1:
		desc.type = VMBUS_PKT_COMPLETION;
		desc.flags = 0;
		msg[0] = NVSP_RNDIS_COMPLETE;
		msg[1] = 1;
		break;
	case 2:
		msg[0] = 99 + rnd(40);
		break;
	default:
		desc.type = VMBUS_PKT_GPA_DIRECT;
		hlen = 24 + 16 * count;
		memcpy(pkt + 20, &count, 4);
		memcpy(pkt + 24, r, 16 * count);
		msg[1] = rnd(2);
		msg[2] = rnd(4) == 0 ? msg[2] : NVSP_SECTION_NONE;
		set.oid = oids[rnd(4)];
		if (msg[1] == 0)
			rg_rndis_packet(g->mem, frame, sizeof(frame));
		else
			memcpy(g->mem, &set, sizeof(set));
		damage(g->mem, 100);
	}
	desc.offset8 = (uint16_t)(hlen / 8);
	desc.len8 = (uint16_t)(hlen / 8 + 5);
	memcpy(pkt, &desc, sizeof(desc));
	memcpy(pkt + hlen, msg, sizeof(msg));
	return hlen + 40;
}

static bool
alive(struct rawguest *g)
{
	struct nic_session_info info;

	nic_session_info(g->nic, &info);
	return !info.dead && info.filter != 0;
}

static void
run_seed(uint64_t start, enum judge_mode mode)
{
	struct rawguest *g = &guest;
	uint8_t pkt[PKT_MAX], frame[200];
	uint32_t i, ch, len;

	seed = start;
	rg_start(g, mode, NULL);
	for (i = 0; i < ROUNDS; i++) {
		if (!alive(g) || rnd(500) == 0) {
			nic_close(g->nic);
			memset(g->judge.expected, true, sizeof(g->judge.expected));
			assert_int_equal(nic_open(g->nic, g->rings[0], g->recv, RG_RECV_GPADL,
						  RG_RECV_BYTES, g->send, RG_SEND_GPADL,
						  RG_SEND_BYTES), 0);
			rg_traffic(g, 1 + rnd(4));
		}
		rg_frame(g, frame, sizeof(frame), 1);
		if (rnd(4) == 0)
			rg_wire_in(g, frame, 14 + rnd(180));
		ch = rnd(nic_channels(g->nic));
		len = build(g, pkt);
		if (rnd(3) == 0)
			damage(pkt, len);
		rg_put(g, ch, pkt, len);
		rg_run(g);
		if (rnd(20) == 0)
			rg_tx_hdr(g, ch)->write_index = odd_value();
		if (rnd(50) == 0)
			rg_rx_hdr(g, ch)->read_index = odd_value();
		else
			rg_rx_hdr(g, ch)->read_index = rg_rx_hdr(g, ch)->write_index;
		nic_look(g->nic, ch);
		rg_run(g);
	}
	rg_stop(g);
}

static void
test_lenient(void **state)
{
	(void)state;
	run_seed(0x9e3779b97f4a7c15, JUDGE_LENIENT);
	run_seed(0x123456789abcdef1, JUDGE_LENIENT);
}

static void
test_strict(void **state)
{
	(void)state;
	run_seed(0xdeadbeefcafef00d, JUDGE_STRICT);
}

static void
test_polling(void **state)
{
	(void)state;
	run_seed(0x0f1e2d3c4b5a6978, JUDGE_POLLING);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lenient),
		cmocka_unit_test(test_strict),
		cmocka_unit_test(test_polling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
