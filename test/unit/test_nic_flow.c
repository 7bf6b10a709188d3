/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The simulated NIC under pressure and over time: full rings, no buffers, sessions, link.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "rawguest.h"

static struct rawguest guest;

static const enum judge_mode modes[] = { JUDGE_STRICT, JUDGE_LENIENT, JUDGE_POLLING };

static void
direct(struct rawguest *g, uint64_t xact)
{
	struct vmbus_gpa_range r = { 0, 0, RG_MEM_GPA >> 12 };
	uint8_t frame[64];

	rg_frame(g, frame, sizeof(frame), 1);
	r.len = rg_rndis_packet(g->mem, frame, sizeof(frame));
	rg_gpa(g, 0, xact, &r, sizeof(r), 1, NVSP_CHANNEL_DATA, NVSP_SECTION_NONE, 0);
	rg_run(g);
}

/* Completions that do not fit wait in order and come after the guest made room. */
static void
test_completions_wait(void **state)
{
	struct rawguest *g = &guest;
	uint32_t m, i, next;

	(void)state;
	for (m = 0; m < 3; m++) {
		rg_start(g, modes[m], NULL);
		rg_traffic(g, 1);
		for (i = 0; i < 400; i++)
			direct(g, 1000 + i);
		assert_int_equal(g->wire.out_count, 400);
		assert_int_equal(rg_rx_hdr(g, 0)->pending_send != 0, m < 2);
		for (next = 0; next < 400; rg_run(g)) {
			while (rg_get(g, 0)) {
				assert_int_equal(g->pkt.desc.type, VMBUS_PKT_COMPLETION);
				assert_int_equal(g->pkt.desc.xact, 1000 + next);
				next++;
			}
			nic_poll(g->nic, g->now_ns);
		}
		assert_int_equal(rg_rx_hdr(g, 0)->pending_send, 0);
		assert_int_equal(rg_violations(g), 0);
		rg_stop(g);
	}
}

/* A section whose completion waits is still the NIC's. */
static void
test_section_waits(void **state)
{
	struct rawguest *g = &guest;
	uint32_t i, n;
	uint8_t frame[64];

	(void)state;
	rg_start(g, JUDGE_LENIENT, NULL);
	rg_traffic(g, 1);
	for (i = 0; i < 200; i++)
		direct(g, 1000 + i);
	rg_frame(g, frame, sizeof(frame), 1);
	n = rg_rndis_packet(g->send, frame, sizeof(frame));
	rg_send_section(g, 0, 1, 0, n);
	rg_run(g);
	assert_int_equal(rg_violations(g), 0);
	rg_send_section(g, 0, 2, 0, n);
	rg_run(g);
	assert_int_equal(g->judge.count[JUDGE_SECTION_REUSED], 1);
	rg_stop(g);
}

/* The NIC stops reading when too many completions wait, and loses none. */
static void
test_transmit_pressure(void **state)
{
	struct rawguest *g = &guest;
	uint32_t sent = 0, done = 0, i;

	(void)state;
	rg_start(g, JUDGE_STRICT, NULL);
	rg_traffic(g, 1);
	for (i = 0; i < 1500; i++) {
		struct vmbus_ring_hdr *h = rg_tx_hdr(g, 0);
		uint32_t used = (h->write_index + rg_ring_size(g) - h->read_index) %
				rg_ring_size(g);

		if (rg_ring_size(g) - used <= 96)
			break;
		direct(g, 1000 + sent++);
	}
	assert_in_range(sent, 1200, 1499);
	while (done < sent) {
		while (rg_get(g, 0))
			assert_int_equal(g->pkt.desc.xact, 1000 + done++);
		nic_poll(g->nic, g->now_ns);
		rg_run(g);
	}
	assert_int_equal(g->wire.out_count, sent);
	assert_int_equal(rg_violations(g), 0);
	rg_stop(g);
}

static void
few_slots(struct nic_conf *conf)
{
	conf->recv_slots = 16 + 10;
	conf->channels = 2;
}

/* A guest that does not complete: frames stay with the wire, or are dropped by name. */
static void
test_no_buffers(void **state)
{
	struct rawguest *g = &guest;
	struct nic_channel_stats st;
	uint64_t ids[10];
	uint8_t frame[64];
	uint32_t i;

	(void)state;
	rg_start(g, JUDGE_STRICT, few_slots);
	rg_traffic(g, 1);
	rg_frame(g, frame, sizeof(frame), 1);
	for (i = 0; i < 14; i++)
		rg_wire_in(g, frame, sizeof(frame));
	rg_run(g);
	nic_channel_stats(g->nic, 0, &st);
	assert_int_equal(st.rx_packets, 10);
	assert_int_equal(st.rx_packets + st.rx_no_buffer + g->wire.in_count - g->wire.in_next, 14);
	for (i = 0; i < 10; i++) {
		assert_true(rg_get(g, 0));
		ids[i] = g->pkt.desc.xact;
	}
	for (i = 10; i-- > 0;)
		rg_complete(g, 0, ids[i]);
	rg_run(g);
	for (i = 0; i < 10; i++)
		rg_wire_in(g, frame, sizeof(frame));
	rg_run(g);
	nic_channel_stats(g->nic, 0, &st);
	assert_int_equal(st.rx_packets, 20);
	assert_int_equal(rg_violations(g), 0);
	rg_stop(g);
}

/* Receive data never takes the ring's last bytes, so completions always fit a while. */
static void
test_receive_ring_full(void **state)
{
	struct rawguest *g = &guest;
	struct nic_channel_stats st;
	uint8_t frame[64];
	uint32_t i, n = 0;

	(void)state;
	rg_start(g, JUDGE_STRICT, NULL);
	rg_traffic(g, 1);
	rg_frame(g, frame, sizeof(frame), 1);
	for (i = 0; i < 300; i++) {
		rg_wire_in(g, frame, sizeof(frame));
		rg_run(g);
		if (g->wire.in_next < g->wire.in_count)
			break;
	}
	nic_channel_stats(g->nic, 0, &st);
	assert_in_range(st.rx_packets, 100, 140);
	assert_true(rg_rx_hdr(g, 0)->pending_send != 0);
	while (rg_get(g, 0)) {
		n += g->pkt.desc.type == VMBUS_PKT_XFER_PAGES;
		rg_complete(g, 0, g->pkt.desc.xact);
	}
	assert_int_equal(n, st.rx_packets);
	rg_run(g);
	assert_int_equal(rg_rx_hdr(g, 0)->pending_send, 0);
	rg_wire_in(g, frame, sizeof(frame));
	rg_run(g);
	assert_true(rg_get(g, 0));
	assert_int_equal(rg_violations(g), 0);
	rg_stop(g);
}

/* HALT and INITIALIZE again; close and open again, with channels. */
static void
test_sessions(void **state)
{
	const struct rndis_halt halt = { RNDIS_HALT, sizeof(halt), 99 };
	struct rawguest *g = &guest;
	struct nic_session_info info;
	struct nvsp_revoke rx = { NVSP_RXBUF_REVOKE, NVSP_RXBUF_ID, 0 };
	struct nvsp_revoke tx = { NVSP_TXBUF_REVOKE, NVSP_TXBUF_ID, 0 };
	uint32_t i;

	(void)state;
	rg_start(g, JUDGE_STRICT, NULL);
	for (i = 0; i < 5; i++) {
		rg_traffic(g, 1 + i % 4);
		assert_int_equal(nic_channels(g->nic), 1 + i % 4);
		rg_filter(g, 0);
		rg_control_send(g, &halt, sizeof(halt), NVSP_STATUS_OK);
		rg_rndis_up(g);
		rg_control_send(g, &halt, sizeof(halt), NVSP_STATUS_OK);
		rg_nvsp(g, 0, 0, 0, &rx, sizeof(rx));
		rg_nvsp(g, 0, 0, 0, &tx, sizeof(tx));
		rg_run(g);
		nic_close(g->nic);
		assert_false(nic_is_open(g->nic));
		assert_int_equal(nic_channels(g->nic), 0);
		nic_session_info(g->nic, &info);
		assert_int_equal(info.nvsp_version, 0);
		assert_int_equal(nic_open(g->nic, g->rings[0], g->recv, RG_RECV_GPADL,
					  RG_RECV_BYTES, g->send, RG_SEND_GPADL,
					  RG_SEND_BYTES), 0);
	}
	assert_int_equal(rg_violations(g), 0);
	rg_stop(g);
}

static void
test_link(void **state)
{
	struct rawguest *g = &guest;
	struct rndis_indicate ind;
	struct vmbus_xfer_range r;
	uint32_t up, media;

	(void)state;
	rg_start(g, JUDGE_STRICT, NULL);
	rg_traffic(g, 1);
	for (up = 0; up < 2; up++) {
		nic_set_link(g->nic, up);
		nic_set_link(g->nic, up);
		assert_int_equal(g->wire.link, up);
		rg_run(g);
		assert_true(rg_get(g, 0));
		memcpy(&r, g->pkt.bytes + 24, sizeof(r));
		memcpy(&ind, g->recv + r.ofs, sizeof(ind));
		assert_int_equal(ind.type, RNDIS_INDICATE);
		assert_int_equal(ind.status,
				 up ? RNDIS_IND_MEDIA_CONNECT : RNDIS_IND_MEDIA_DISCONNECT);
		rg_complete(g, 0, g->pkt.desc.xact);
		assert_false(rg_get(g, 0));
		assert_int_equal(rg_query(g, OID_GEN_MEDIA_CONNECT_STATUS, &media, 4), 4);
		assert_int_equal(media, !up);
	}
	assert_int_equal(rg_violations(g), 0);
	rg_stop(g);
}

/* 802.1Q: a tag becomes a record towards the guest and a record a tag towards the wire. */
static void
test_vlan(void **state)
{
	const uint32_t word = 5 | 1 << 3 | 0x123 << 4;
	struct rawguest *g = &guest;
	struct rndis_ppi_u32 ppi[2];
	struct vmbus_xfer_range r;
	struct rndis_packet h;
	uint8_t frame[68], plain[64];

	(void)state;
	rg_start(g, JUDGE_STRICT, NULL);
	rg_traffic(g, 1);
	rg_frame(g, plain, sizeof(plain), 9);
	memcpy(frame, plain, 12);
	memcpy(frame + 12, "\x81\x00\xb1\x23", 4);
	memcpy(frame + 16, plain + 12, 52);
	rg_wire_in(g, frame, sizeof(frame));
	rg_run(g);
	assert_true(rg_get(g, 0));
	memcpy(&r, g->pkt.bytes + 24, sizeof(r));
	memcpy(&h, g->recv + r.ofs, sizeof(h));
	memcpy(ppi, g->recv + r.ofs + 44, sizeof(ppi));
	assert_int_equal(h.data_len, 64);
	assert_memory_equal(g->recv + r.ofs + 8 + h.data_offset, plain, 64);
	assert_int_equal(ppi[1].hdr.type, RNDIS_PPI_VLAN);
	assert_int_equal(ppi[1].value, word);
	rg_complete(g, 0, g->pkt.desc.xact);
	/* And back, the record of the received frame in place. */
	h.data_offset = RNDIS_PACKET_DATA_MIN + 16;
	h.ppi_len = 16;
	h.len = 44 + 16 + 64;
	memcpy(g->send, &h, sizeof(h));
	memcpy(g->send + 44, &ppi[1], 16);
	memcpy(g->send + 60, plain, 64);
	rg_send_section(g, 0, 5, 0, h.len);
	assert_int_equal(rg_expect(g, 5, NVSP_RNDIS_COMPLETE)[4], 1);
	assert_int_equal(g->wire.out_len[0], 68);
	assert_memory_equal(g->wire.out[0], frame, 68);
	assert_int_equal(rg_violations(g), 0);
	rg_stop(g);
}

/* A jumbo session: what fits is delivered, what is longer is dropped by name. */
static void
test_mtu(void **state)
{
	struct rawguest *g = &guest;
	struct nic_channel_stats st;
	uint8_t frame[4000];
	uint32_t mtu;

	(void)state;
	rg_start(g, JUDGE_STRICT, NULL);
	rg_nvsp_up(g, NVSP_VERSION_61, 3014);
	rg_rndis_up(g);
	rg_filter(g, NDIS_FILTER_PROMISCUOUS);
	assert_int_equal(rg_query(g, OID_GEN_MAXIMUM_FRAME_SIZE, &mtu, 4), 4);
	assert_int_equal(mtu, 3000);
	rg_frame(g, frame, 3015, 1);
	rg_wire_in(g, frame, 3015);
	rg_wire_in(g, frame, 3014);
	rg_run(g);
	nic_channel_stats(g->nic, 0, &st);
	assert_int_equal(st.rx_oversize, 1);
	assert_int_equal(st.rx_packets, 1);
	assert_int_equal(rg_violations(g), 0);
	rg_stop(g);
}

/* The host refuses versions above its own; the guest goes down until one is taken. */
static void
old_host(struct nic_conf *conf)
{
	conf->nvsp_version = NVSP_VERSION_5;
}

static void
test_old_host(void **state)
{
	struct rawguest *g = &guest;
	struct nvsp_init init = { NVSP_INIT, NVSP_VERSION_61, NVSP_VERSION_61 };

	(void)state;
	rg_start(g, JUDGE_STRICT, old_host);
	rg_nvsp(g, 0, 1, 8, &init, sizeof(init));
	assert_int_not_equal(rg_expect(g, 8, NVSP_INIT_COMPLETE)[12], NVSP_STATUS_OK);
	rg_nvsp_up(g, NVSP_VERSION_5, 1514);
	assert_int_equal(g->pkt.nvsp_len, 32);
	rg_rndis_up(g);
	assert_int_equal(rg_violations(g), 0);
	rg_stop(g);
}

/* Refused values are answered, the session lives. */
static void
test_status(void **state)
{
	struct rawguest *g = &guest;
	const uint32_t filter = 0x1001;

	(void)state;
	rg_start(g, JUDGE_LENIENT, NULL);
	rg_traffic(g, 2);
	assert_int_equal(rg_set(g, OID_GEN_CURRENT_PACKET_FILTER, &filter, 4),
			 RNDIS_STATUS_INVALID_DATA);
	assert_int_equal(rg_set(g, 0x12345678, &filter, 4), RNDIS_STATUS_NOT_SUPPORTED);
	assert_int_equal(rg_rss(g, 128, 3, NDIS_HASH_IPV4), RNDIS_STATUS_INVALID_DATA);
	assert_int_equal(g->judge.count[JUDGE_RSS_TABLE], 1);
	rg_stop(g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_completions_wait),
		cmocka_unit_test(test_section_waits),
		cmocka_unit_test(test_transmit_pressure),
		cmocka_unit_test(test_no_buffers),
		cmocka_unit_test(test_receive_ring_full),
		cmocka_unit_test(test_sessions),
		cmocka_unit_test(test_link),
		cmocka_unit_test(test_vlan),
		cmocka_unit_test(test_mtu),
		cmocka_unit_test(test_old_host),
		cmocka_unit_test(test_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
