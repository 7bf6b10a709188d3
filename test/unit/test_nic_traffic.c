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

/* The same frame by guest memory in several ranges, and mixed with a section. */
static void
test_send_transports(void **state)
{
	const uint64_t pfn = RG_MEM_GPA >> 12;
	struct rawguest *g = &guest;
	struct nic_channel_stats st;
	uint8_t frame[1600];
	uint32_t m, len, n;

	(void)state;
	for (m = 0; m < 3; m++) {
		rg_start(g, modes[m], NULL);
		rg_traffic(g, 1);
		for (len = 60; len <= 1514; len += 7) {
			const struct vmbus_gpa_range one = { 44 + len, 100, pfn };
			const struct vmbus_gpa_range r[3] = {
				{ 44 + 20, 4096 - 64, pfn },
				{ 10, 0, pfn + 1 },
				{ len - 30, 10, pfn + 1 },
			};
			struct {
				struct vmbus_gpa_range_hdr r;
				uint64_t pfn[2];
			} multi = { { 44 + len, 4096 - 30 }, { pfn, pfn + 1 } };
			uint64_t at = g->wire.out_count;
			uint32_t k;

			rg_frame(g, frame, len, (uint8_t)len);
			n = rg_rndis_packet(g->mem + 100, frame, len);
			rg_gpa(g, 0, 1, &one, 16, 1, 0, NVSP_SECTION_NONE, 0);
			assert_int_equal(rg_expect(g, 1, NVSP_RNDIS_COMPLETE)[4], 1);
			rg_rndis_packet(g->mem + 4096 - 64, frame, len);
			rg_gpa(g, 0, 2, r, 48, 3, 0, NVSP_SECTION_NONE, 0);
			assert_int_equal(rg_expect(g, 2, NVSP_RNDIS_COMPLETE)[4], 1);
			rg_rndis_packet(g->mem + 4096 - 30, frame, len);
			rg_gpa(g, 0, 3, &multi, 24, 1, 0, NVSP_SECTION_NONE, 0);
			assert_int_equal(rg_expect(g, 3, NVSP_RNDIS_COMPLETE)[4], 1);
			n = rg_rndis_packet(g->send + 6144, frame, len);
			memcpy(g->mem + 10, g->send + 6144 + 64, n - 64);
			rg_gpa(g, 0, 4, &(struct vmbus_gpa_range){ n - 64, 10, pfn }, 16, 1, 0, 1,
			       64);
			assert_int_equal(rg_expect(g, 4, NVSP_RNDIS_COMPLETE)[4], 1);
			assert_int_equal(g->wire.out_count, at + 4);
			for (k = 0; k < 4; k++) {
				assert_int_equal(g->wire.out_len[(at + k) % RG_FRAMES], len);
				assert_memory_equal(g->wire.out[(at + k) % RG_FRAMES], frame, len);
			}
		}
		nic_channel_stats(g->nic, 0, &st);
		assert_int_equal(st.tx_gpa, 3 * st.tx_mixed);
		assert_int_equal(st.tx_packets, st.tx_gpa + st.tx_mixed);
		assert_int_equal(rg_violations(g), 0);
		rg_stop(g);
	}
}

/* Eight packets in one section, padded, give eight frames and one completion. */
static void
test_send_aggregate(void **state)
{
	struct rawguest *g = &guest;
	uint8_t frame[8][128];
	struct rndis_packet h;
	uint32_t i, at = 0, last = 0;

	(void)state;
	rg_start(g, JUDGE_STRICT, NULL);
	rg_traffic(g, 1);
	for (i = 0; i < 8; i++) {
		rg_frame(g, frame[i], 60 + i, (uint8_t)i);
		last = at;
		at += rg_rndis_packet(g->send + at, frame[i], 60 + i);
		if (i == 7)
			break;
		memset(g->send + at, 0, 8);
		at = HVW_ALIGN_UP(at, 8u);
		memcpy(&h, g->send + last, sizeof(h));
		h.len = at - last;
		memcpy(g->send + last, &h, sizeof(h));
	}
	rg_send_section(g, 0, 5, 0, at);
	assert_int_equal(rg_expect(g, 5, NVSP_RNDIS_COMPLETE)[4], 1);
	assert_false(rg_get(g, 0));
	assert_int_equal(g->wire.out_count, 8);
	for (i = 0; i < 8; i++)
		assert_memory_equal(g->wire.out[i], frame[i], 60 + i);
	/* One bad packet among good ones: none goes out, in a host that lets the guest live. */
	rg_stop(g);
	rg_start(g, JUDGE_LENIENT, NULL);
	rg_traffic(g, 1);
	at = rg_rndis_packet(g->send, frame[0], 60);
	last = at;
	at += rg_rndis_packet(g->send + at, frame[0], 60);
	g->send[last + 16] = 1;
	rg_send_section(g, 0, 6, 0, at);
	assert_int_equal(rg_expect(g, 6, NVSP_RNDIS_COMPLETE)[4], NVSP_STATUS_FAIL);
	assert_int_equal(g->wire.out_count, 0);
	assert_int_equal(g->judge.count[JUDGE_RNDIS_OOB], 1);
	rg_stop(g);
}

static void
ranges_five(struct nic_conf *conf)
{
	conf->ranges = 5;
	conf->ppi = NIC_PPI_MIX;
}

/* Seventeen frames in transfers of five; each transfer has one completion. */
static void
test_receive_ranges(void **state)
{
	static const uint32_t counts[] = { 5, 5, 5, 2 };
	struct rawguest *g = &guest;
	struct nic_session_info info;
	uint32_t i, t, nranges, at = 0;
	uint8_t frame[17][80];

	(void)state;
	rg_start(g, JUDGE_STRICT, ranges_five);
	rg_traffic(g, 1);
	for (i = 0; i < 17; i++) {
		rg_frame(g, frame[i], 64 + i % 5, (uint8_t)i);
		rg_wire_in(g, frame[i], 64 + i % 5);
	}
	rg_run(g);
	nic_session_info(g->nic, &info);
	assert_int_equal(info.recv_outstanding, 17);
	for (t = 0; t < 4; t++) {
		assert_true(rg_get(g, 0));
		memcpy(&nranges, g->pkt.bytes + 20, 4);
		assert_int_equal(nranges, counts[t]);
		assert_int_equal(g->pkt.desc.offset8, 3 + nranges);
		for (i = 0; i < nranges; i++, at++) {
			struct vmbus_xfer_range r;
			struct rndis_packet h;

			memcpy(&r, g->pkt.bytes + 24 + 8 * i, sizeof(r));
			memcpy(&h, g->recv + r.ofs, sizeof(h));
			assert_int_equal(h.data_len, 64 + at % 5);
			assert_memory_equal(g->recv + r.ofs + 8 + h.data_offset, frame[at],
					    h.data_len);
		}
		rg_complete(g, 0, g->pkt.desc.xact);
	}
	assert_false(rg_get(g, 0));
	rg_run(g);
	nic_session_info(g->nic, &info);
	assert_int_equal(info.recv_outstanding, 0);
	assert_int_equal(rg_violations(g), 0);
	rg_stop(g);
}

/* What each filter lets through: directed, multicast, broadcast, foreign. */
static void
test_filter(void **state)
{
	static const struct {
		uint32_t filter;
		bool mine, multi, broad, other;
	} cases[] = {
		{ 0, false, false, false, false },
		{ NDIS_FILTER_DIRECTED, true, false, false, false },
		{ NDIS_FILTER_ALL_MULTICAST, false, true, false, false },
		{ NDIS_FILTER_BROADCAST, false, false, true, false },
		{ 0x0d, true, true, true, false },
		{ NDIS_FILTER_PROMISCUOUS, true, true, true, true },
		{ NDIS_FILTER_MULTICAST, false, true, false, false },
	};
	const uint8_t group[6] = { 1, 0, 0x5e, 0, 0, 1 };
	struct rawguest *g = &guest;
	uint8_t frame[64];
	uint32_t i, k;

	(void)state;
	rg_start(g, JUDGE_STRICT, NULL);
	rg_traffic(g, 1);
	assert_int_equal(rg_set(g, OID_802_3_MULTICAST_LIST, group, 6), 0);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const bool want[4] = { cases[i].mine, cases[i].multi, cases[i].broad,
				       cases[i].other };

		rg_filter(g, cases[i].filter);
		for (k = 0; k < 4; k++) {
			rg_frame(g, frame, sizeof(frame), (uint8_t)k);
			if (k == 1)
				memcpy(frame, group, 6);
			else if (k == 2)
				memset(frame, 0xff, 6);
			else if (k == 3)
				frame[5] ^= 1;
			rg_wire_in(g, frame, sizeof(frame));
			rg_run(g);
			if (want[k])
				expect_frame(g, 0, frame, sizeof(frame));
			assert_false(rg_get(g, 0));
			rg_run(g);
		}
	}
	assert_int_equal(rg_violations(g), 0);
	rg_stop(g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bring_up),
		cmocka_unit_test(test_receive_lengths),
		cmocka_unit_test(test_send_lengths),
		cmocka_unit_test(test_send_transports),
		cmocka_unit_test(test_send_aggregate),
		cmocka_unit_test(test_receive_ranges),
		cmocka_unit_test(test_filter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
