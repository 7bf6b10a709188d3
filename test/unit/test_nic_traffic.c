/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The simulated NIC with a well-behaved raw guest: bring-up, both directions, RSS, link.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "rawguest.h"

static struct rawguest guest;

static const enum judge_mode modes[] = { JUDGE_STRICT, JUDGE_LENIENT, JUDGE_POLLING };

/* Take one received frame from channel @p ch and compare; completes its transfer. */
static void
expect_frame(struct rawguest *g, uint32_t ch, const uint8_t *frame, uint32_t len)
{
	struct vmbus_xfer_range r;
	struct rndis_packet h;

	assert_true(rg_get(g, ch));
	assert_int_equal(g->pkt.desc.type, VMBUS_PKT_XFER_PAGES);
	memcpy(&r, g->pkt.bytes + 24, sizeof(r));
	assert_true(r.ofs + (uint64_t)r.len <= RG_RECV_BYTES && r.len >= sizeof(h));
	memcpy(&h, g->recv + r.ofs, sizeof(h));
	assert_int_equal(h.type, RNDIS_PACKET);
	assert_true(h.len <= r.len);
	assert_int_equal(h.data_len, len);
	assert_memory_equal(g->recv + r.ofs + 8 + h.data_offset, frame, len);
	rg_complete(g, ch, g->pkt.desc.xact);
}

static void
test_bring_up(void **state)
{
	static const uint32_t versions[] = { NVSP_VERSION_1, NVSP_VERSION_2, NVSP_VERSION_4,
					     NVSP_VERSION_5, NVSP_VERSION_6, NVSP_VERSION_61 };
	struct rawguest *g = &guest;
	struct nic_session_info info;
	uint8_t mac[6];
	uint32_t m, v, mtu;

	(void)state;
	for (m = 0; m < 3; m++) {
		for (v = 0; v < 6; v++) {
			rg_start(g, modes[m], NULL);
			rg_nvsp_up(g, versions[v], 1514);
			rg_rndis_up(g);
			assert_int_equal(rg_query(g, OID_802_3_PERMANENT_ADDRESS, mac, 6), 6);
			assert_memory_equal(mac, g->conf.mac, 6);
			assert_int_equal(rg_query(g, OID_GEN_MAXIMUM_FRAME_SIZE, &mtu, 4), 4);
			assert_int_equal(mtu, 1500);
			nic_session_info(g->nic, &info);
			assert_int_equal(info.nvsp_version, versions[v]);
			assert_int_equal(rg_violations(g), 0);
			rg_stop(g);
		}
	}
}

static void
test_receive_lengths(void **state)
{
	struct rawguest *g = &guest;
	uint8_t frame[1600];
	uint32_t m, len;

	(void)state;
	for (m = 0; m < 3; m++) {
		rg_start(g, modes[m], NULL);
		rg_traffic(g, 1);
		for (len = 14; len <= 1514; len++) {
			rg_frame(g, frame, len, (uint8_t)len);
			rg_wire_in(g, frame, len);
			rg_run(g);
			expect_frame(g, 0, frame, len);
			assert_false(rg_get(g, 0));
		}
		rg_run(g);
		assert_int_equal(rg_violations(g), 0);
		rg_stop(g);
	}
}

static void
test_send_lengths(void **state)
{
	struct rawguest *g = &guest;
	uint8_t frame[1600];
	uint32_t m, len, n;

	(void)state;
	for (m = 0; m < 3; m++) {
		rg_start(g, modes[m], NULL);
		rg_traffic(g, 1);
		for (len = 14; len <= 1514; len++) {
			uint32_t at = g->wire.out_count % RG_FRAMES;

			rg_frame(g, frame, len, (uint8_t)(len + 1));
			n = rg_rndis_packet(g->send + 3 * 6144, frame, len);
			rg_send_section(g, 0, 0x100 + len, 3, n);
			assert_int_equal(rg_expect(g, 0x100 + len, NVSP_RNDIS_COMPLETE)[4], 1);
			assert_int_equal(g->wire.out_len[at], len);
			assert_memory_equal(g->wire.out[at], frame, len);
		}
		assert_int_equal(rg_violations(g), 0);
		rg_stop(g);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bring_up),
		cmocka_unit_test(test_receive_lengths),
		cmocka_unit_test(test_send_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
