/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Receive-side scaling: known Toeplitz answers and spreading over channels.
 *
 * Hashes are those of Microsoft's "Verifying the RSS Hash Calculation".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <netvsp/rss.h>

#include "rawguest.h"

static struct rawguest guest;

static const uint8_t ms_key[40] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
	0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
	0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

static const struct {
	uint8_t src[4], dst[4];
	uint16_t sport, dport;
	uint32_t ip, tcp;
} known4[] = {
	{ { 66, 9, 149, 187 }, { 161, 142, 100, 80 }, 2794, 1766, 0x323e8fc2, 0x51ccc178 },
	{ { 199, 92, 111, 2 }, { 65, 69, 140, 83 }, 14230, 4739, 0xd718262a, 0xc626b0ea },
	{ { 24, 19, 198, 95 }, { 12, 22, 207, 184 }, 12898, 38024, 0xd2d0a5de, 0x5c2b394a },
	{ { 38, 27, 205, 30 }, { 209, 142, 163, 6 }, 48228, 2217, 0x82989176, 0xafc7327f },
	{ { 153, 39, 163, 191 }, { 202, 188, 127, 2 }, 44251, 1303, 0x5d1809c5, 0x10e828a2 },
};

/* 3ffe:2501:200:1fff::7 to 3ffe:2501:200:3::1 and two more. */
static const struct {
	uint8_t src[16], dst[16];
	uint16_t sport, dport;
	uint32_t ip, tcp;
} known6[] = {
	{ { 0x3f, 0xfe, 0x25, 0x01, 0x02, 0x00, 0x1f, 0xff, 0, 0, 0, 0, 0, 0, 0, 7 },
	  { 0x3f, 0xfe, 0x25, 0x01, 0x02, 0x00, 0x00, 0x03, 0, 0, 0, 0, 0, 0, 0, 1 },
	  2794, 1766, 0x2cc18cd5, 0x40207d3d },
	{ { 0x3f, 0xfe, 0x05, 0x01, 0x00, 0x08, 0, 0, 0x02, 0x60, 0x97, 0xff, 0xfe, 0x40, 0xef,
	    0xab },
	  { 0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 },
	  14230, 4739, 0x0f0c461c, 0xdde51bbf },
	{ { 0x3f, 0xfe, 0x19, 0x00, 0x45, 0x45, 0x00, 0x03, 0x02, 0x00, 0xf8, 0xff, 0xfe, 0x21,
	    0x67, 0xcf },
	  { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x02, 0x00, 0xf8, 0xff, 0xfe, 0x21, 0x67, 0xcf },
	  44251, 38024, 0x4b61e985, 0x02d1feef },
};

static void
ports(uint8_t *p, uint16_t sport, uint16_t dport)
{
	p[0] = (uint8_t)(sport >> 8);
	p[1] = (uint8_t)sport;
	p[2] = (uint8_t)(dport >> 8);
	p[3] = (uint8_t)dport;
}

static void
frame4(uint8_t *f, uint32_t n, uint8_t proto)
{
	memset(f, 0, 64);
	f[12] = 0x08;
	f[14] = 0x45;
	f[17] = 50;
	f[23] = proto;
	memcpy(f + 26, known4[n].src, 4);
	memcpy(f + 30, known4[n].dst, 4);
	ports(f + 34, known4[n].sport, known4[n].dport);
}

static void
frame6(uint8_t *f, uint32_t n, uint8_t proto)
{
	memset(f, 0, 78);
	f[12] = 0x86;
	f[13] = 0xdd;
	f[14] = 0x60;
	f[19] = 20;
	f[20] = proto;
	memcpy(f + 22, known6[n].src, 16);
	memcpy(f + 38, known6[n].dst, 16);
	ports(f + 54, known6[n].sport, known6[n].dport);
}

static void
test_known_answers(void **state)
{
	struct rss *rss = calloc(1, sizeof(*rss));
	uint32_t n, type;
	uint8_t f[80];

	(void)state;
	assert_non_null(rss);
	rss_set_key(rss, ms_key);
	rss->entries = 1;
	frame4(f, 0, 6);
	assert_int_equal(rss_hash(rss, f, 64, &type), 0);
	assert_int_equal(type, 0);
	rss->on = true;
	for (n = 0; n < sizeof(known4) / sizeof(known4[0]); n++) {
		rss->types = NDIS_HASH_IPV4 | NDIS_HASH_TCP_IPV4;
		frame4(f, n, 6);
		assert_int_equal(rss_hash(rss, f, 64, &type), known4[n].tcp);
		assert_int_equal(type, NDIS_HASH_TCP_IPV4);
		f[20] = 0x20; /* first fragment: no ports */
		assert_int_equal(rss_hash(rss, f, 64, &type), known4[n].ip);
		frame4(f, n, 17);
		assert_int_equal(rss_hash(rss, f, 64, &type), known4[n].ip);
		assert_int_equal(type, NDIS_HASH_IPV4);
		rss->hash_udp = true;
		assert_int_equal(rss_hash(rss, f, 64, &type), known4[n].tcp);
		assert_int_equal(type, NDIS_HASH_UDP_IPV4);
		rss->hash_udp = false;
		rss->types = NDIS_HASH_TCP_IPV4;
		assert_int_equal(rss_hash(rss, f, 64, &type), 0);
		assert_int_equal(type, 0);
	}
	for (n = 0; n < sizeof(known6) / sizeof(known6[0]); n++) {
		rss->types = NDIS_HASH_IPV6 | NDIS_HASH_TCP_IPV6;
		frame6(f, n, 6);
		assert_int_equal(rss_hash(rss, f, 78, &type), known6[n].tcp);
		frame6(f, n, 58);
		assert_int_equal(rss_hash(rss, f, 78, &type), known6[n].ip);
		assert_int_equal(type, NDIS_HASH_IPV6);
	}
	free(rss);
}

static void
tbl_small(struct nic_conf *conf)
{
	conf->rss_entries = 6; /* not a power of two; the guest's table is shorter */
}

/* Each frame comes out on the channel that hash and table name, with hash records. */
static void
test_spreading(void **state)
{
	struct rawguest *g = &guest;
	struct nic_session_info info;
	struct rndis_ppi_u32 ppi[3];
	struct vmbus_xfer_range r;
	uint32_t n, ch, i;
	uint8_t f[64];

	(void)state;
	rg_start(g, JUDGE_STRICT, tbl_small);
	rg_traffic(g, 4);
	assert_int_equal(rg_rss(g, 4, 3, NDIS_HASH_IPV4 | NDIS_HASH_TCP_IPV4), 0);
	nic_session_info(g->nic, &info);
	assert_int_equal(info.rss_channels, 3);
	for (n = 0; n < 5; n++) {
		frame4(f, n, 6);
		memcpy(f, g->conf.mac, 6);
		rg_wire_in(g, f, sizeof(f));
		rg_run(g);
		ch = known4[n].tcp % 6 % 4 % 3;
		for (i = 0; i < 4; i++) {
			if (i == ch)
				continue;
			assert_false(rg_get(g, i));
		}
		assert_true(rg_get(g, ch));
		memcpy(&r, g->pkt.bytes + 24, sizeof(r));
		memcpy(ppi, g->recv + r.ofs + 44, sizeof(ppi));
		assert_int_equal(ppi[0].hdr.type, RNDIS_PPI_CSUM);
		assert_int_equal(ppi[1].hdr.type, RNDIS_PPI_HASH_VALUE);
		assert_int_equal(ppi[1].value, known4[n].tcp);
		assert_int_equal(ppi[2].value, NDIS_HASH_TOEPLITZ | NDIS_HASH_TCP_IPV4);
		rg_complete(g, ch, g->pkt.desc.xact);
	}
	/* Not IP: channel 0, no hash. */
	rg_frame(g, f, sizeof(f), 1);
	rg_wire_in(g, f, sizeof(f));
	rg_run(g);
	assert_true(rg_get(g, 0));
	rg_complete(g, 0, g->pkt.desc.xact);
	rg_run(g);
	assert_int_equal(rg_violations(g), 0);
	rg_stop(g);
}

/* A transfer that is out while the table changes comes home to its new owner. */
static void
test_table_change(void **state)
{
	struct rawguest *g = &guest;
	struct nic_session_info info;
	uint32_t i, got;
	uint64_t id;
	uint8_t f[64];

	(void)state;
	rg_start(g, JUDGE_STRICT, NULL);
	rg_traffic(g, 2);
	rg_frame(g, f, sizeof(f), 1);
	rg_wire_in(g, f, sizeof(f));
	rg_run(g);
	assert_true(rg_get(g, 0));
	id = g->pkt.desc.xact;
	assert_int_equal(rg_rss(g, 128, 2, NDIS_HASH_IPV4), 0);
	rg_complete(g, 0, id);
	rg_run(g);
	nic_session_info(g->nic, &info);
	assert_int_equal(info.recv_outstanding, 0);
	/* Every sub-allocation is still there: 16 control and all the rest to be used. */
	for (i = 0, got = 0; i < info.recv_slots + 20; i++) {
		frame4(f, i % 5, 6);
		memcpy(f, g->conf.mac, 6);
		f[29] = (uint8_t)i;
		f[28] = (uint8_t)(i >> 8);
		rg_wire_in(g, f, sizeof(f));
		rg_run(g);
		got += rg_get(g, 0);
		got += rg_get(g, 1);
	}
	nic_session_info(g->nic, &info);
	assert_int_equal(got, info.recv_outstanding);
	assert_in_range(got, (info.recv_slots - 16) / 2, info.recv_slots - 16);
	assert_int_equal(rg_violations(g), 0);
	rg_stop(g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_answers),
		cmocka_unit_test(test_spreading),
		cmocka_unit_test(test_table_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
