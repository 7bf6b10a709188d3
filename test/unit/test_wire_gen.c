/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Tests the generator: every byte of its frames, its mix, its pace and its end.
 */
#include "wire_test.h"

#define S 1000000000ull

static uint32_t
get16(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

/* Flow 1027 of "gen:flows=2000", as scapy builds it. */
static const uint8_t udp4[64] = {
	0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x02, 0x68, 0x76, 0x67, 0x65, 0x6e,
	0x08, 0x00, 0x45, 0x00, 0x00, 0x32, 0x04, 0x03, 0x40, 0x00, 0x40, 0x11,
	0xa6, 0x8e, 0xc6, 0x12, 0x04, 0x03, 0xc6, 0x13, 0x00, 0x01, 0x08, 0x03,
	0x00, 0x09, 0x00, 0x1e, 0xf9, 0x02, 0x00, 0x01, 0x02, 0x03, 0x04, 0x05,
	0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11,
	0x12, 0x13, 0x14, 0x15,
};

/* The same flow with ip=6:l4=tcp:size=79. */
static const uint8_t tcp6[79] = {
	0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x02, 0x68, 0x76, 0x67, 0x65, 0x6e,
	0x86, 0xdd, 0x60, 0x00, 0x00, 0x00, 0x00, 0x19, 0x06, 0x40, 0x20, 0x01,
	0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01,
	0x04, 0x03, 0x20, 0x01, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x02, 0x00, 0x01, 0x08, 0x03, 0x00, 0x09, 0x00, 0x00,
	0x04, 0x04, 0x00, 0x00, 0x00, 0x01, 0x50, 0x18, 0xff, 0xff, 0x59, 0xa6,
	0x00, 0x00, 0x00, 0x01, 0x02, 0x03, 0x04,
};

static void
test_golden(void **state)
{
	const struct wire_rx *t;
	struct wire *w;
	uint32_t n;

	(void)state;
	w = open_wire("gen:flows=2000");
	t = w->ops->templates(w, &n);
	assert_int_equal(n, 2000);
	assert_int_equal(t[1027].len, sizeof(udp4));
	assert_memory_equal(t[1027].data, udp4, sizeof(udp4));
	wire_close(w);

	w = open_wire("gen:flows=2000:ip=6:l4=tcp:size=79");
	t = w->ops->templates(w, &n);
	assert_int_equal(t[1027].len, sizeof(tcp6));
	assert_memory_equal(t[1027].data, tcp6, sizeof(tcp6));
	wire_close(w);
}

/* Check lengths and checksums of one frame from its own bytes. */
static void
check_frame(const uint8_t *f, uint32_t len)
{
	uint32_t v6 = get16(f + 12) == 0x86dd;
	const uint8_t *ip = f + 14, *l4 = ip + (v6 ? 40 : 20);
	uint32_t l4_len = len - (uint32_t)(l4 - f), proto = v6 ? ip[6] : ip[9], sum;

	assert_memory_equal(f, wire_test_mac, 6);
	if (v6) {
		assert_int_equal(get16(ip + 4), l4_len);
		sum = ones_sum(l4_len + proto, ip + 8, 32);
	} else {
		assert_int_equal(get16(f + 12), 0x0800);
		assert_int_equal(get16(ip + 2), len - 14);
		assert_int_equal(ones_sum(0, ip, 20), 0xffff);
		sum = ones_sum(l4_len + proto, ip + 12, 8);
	}
	if (proto != 17 && proto != 6)
		return;
	if (proto == 17) {
		assert_int_equal(get16(l4 + 4), l4_len);
		assert_int_not_equal(get16(l4 + 6), 0);
	}
	assert_int_equal(ones_sum(sum, l4, l4_len), 0xffff);
}

static void
test_every_kind(void **state)
{
	static const char *const l4[] = { "udp", "tcp", "none" };
	const struct wire_rx *t;
	uint32_t ip, k, size, i, n;
	struct wire *w;
	char spec[80];

	(void)state;
	for (ip = 4; ip <= 6; ip += 2) {
		for (k = 0; k < ARRAY_LEN(l4); k++) {
			for (size = 74; size <= 9018; size += size < 200 ? 1 : 401) {
				snprintf(spec, sizeof(spec), "gen:ip=%u:l4=%s:size=%u:flows=5", ip,
					 l4[k], size);
				w = open_wire(spec);
				t = w->ops->templates(w, &n);
				assert_int_equal(n, 5);
				for (i = 0; i < n; i++) {
					assert_int_equal(t[i].len, size);
					check_frame(t[i].data, size);
				}
				wire_close(w);
			}
		}
	}
}

/* 65,536 flows: addresses and ports as documented, so all 5-tuples differ. */
static void
test_flows(void **state)
{
	struct wire *w = open_wire("gen:flows=65536:size=60");
	const struct wire_rx *t;
	uint32_t i, n;

	(void)state;
	t = w->ops->templates(w, &n);
	assert_int_equal(n, 65536);
	for (i = 0; i < n; i++) {
		check_frame(t[i].data, t[i].len);
		assert_int_equal(get16(t[i].data + 28), i);
		assert_int_equal(get16(t[i].data + 34), 1024 + i % 64000);
	}
	wire_close(w);
}

static void
test_imix(void **state)
{
	uint32_t i, n, count[3] = { 0 };
	const struct wire_rx *t;
	struct wire *w;

	(void)state;
	w = open_wire("gen:mix=imix:flows=100");
	t = w->ops->templates(w, &n);
	assert_int_equal(n, 108);
	for (i = 0; i < n; i++) {
		check_frame(t[i].data, t[i].len);
		count[t[i].len == 64 ? 0 : t[i].len == 594 ? 1 : 2]++;
		assert_true(t[i].len == 64 || t[i].len == 594 || t[i].len == 1514);
	}
	assert_int_equal(count[0], 63);
	assert_int_equal(count[1], 36);
	assert_int_equal(count[2], 9);
	wire_close(w);
}

static void
test_options(void **state)
{
	static const uint8_t dst[6] = { 2, 0xaa, 0, 0, 0, 7 }, src[6] = { 2, 0xaa, 0, 0, 0, 8 };
	const struct wire_rx *t;
	struct wire *w;
	uint32_t n;

	(void)state;
	w = open_wire("gen:dst=02:aa:00:00:00:07:src=02-AA-00-00-00-08:"
		      "touch=1:ranges=8:burst=32");
	t = w->ops->templates(w, &n);
	assert_memory_equal(t[0].data, dst, 6);
	assert_memory_equal(t[0].data + 6, src, 6);
	assert_true(w->touch);
	assert_int_equal(w->ranges, 8);
	assert_int_equal(w->burst, 32);
	wire_close(w);

	refuse_wire("gen:size=64:mix=imix", "size and mix", "keep one");
	refuse_wire("gen:size=73:ip=6:l4=tcp", "73-byte", "size=74");
	refuse_wire("gen:mix=imix:ip=6:l4=tcp", "64-byte", "size=74");
	refuse_wire("gen:size=61:ip=6", "61-byte", "size=62");
	refuse_wire("gen:size=9018:flows=65536", "flows=65536", "fewer flows");
}

static void
test_unpaced(void **state)
{
	struct wire *w = open_wire("gen");

	(void)state;
	assert_int_equal(w->ops->budget(w, 0, 64, 0), 64);
	w->ops->sent(w, 64, 4096);
	assert_int_equal(w->ops->budget(w, 5, 1000000, 0), 1000000);
	assert_int_equal(w->stats.rx_frames, 64);
	assert_int_equal(w->stats.rx_bytes, 4096);
	wire_close(w);
}

static void
test_paced(void **state)
{
	struct wire *w = open_wire("gen:rate=123457");
	uint64_t now = 5 * S, sent = 0;
	uint32_t n;

	(void)state;
	/* 10 s in steps of 7.3 us. */
	for (; now <= 15 * S; now += 7300) {
		n = w->ops->budget(w, 0, 64, now);
		w->ops->sent(w, n, n * 64ull);
		sent += n;
	}
	assert_in_range(sent, 1234568, 1234570);
	wire_close(w);
}

static void
test_until_delay(void **state)
{
	struct wire *w = open_wire("gen:until=100:delay=2");
	uint64_t now = S;

	(void)state;
	assert_int_equal(w->ops->budget(w, 0, 64, now), 0);
	assert_int_equal(w->ops->budget(w, 0, 64, now + 1999999), 0);
	assert_int_equal(w->ops->budget(w, 0, 64, now + 2000000), 64);
	w->ops->sent(w, 64, 64 * 64);
	assert_int_equal(w->ops->budget(w, 0, 64, now + 2000000), 36);
	w->ops->sent(w, 36, 36 * 64);
	assert_int_equal(w->ops->budget(w, 0, 64, now + S), 0);
	wire_close(w);
}

static void
test_swallows(void **state)
{
	struct wire *w = open_wire("gen");
	uint8_t frame[100] = { 0 };
	struct wire_rx rx[1];

	(void)state;
	send_frame(w, 0, frame, sizeof(frame), 33);
	assert_int_equal(w->stats.tx_frames, 1);
	assert_int_equal(w->stats.tx_bytes, 100);
	assert_int_equal(w->ops->rx(w, 0, rx, 1), 0);
	wire_close(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_every_kind),
		cmocka_unit_test(test_flows),
		cmocka_unit_test(test_imix),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_unpaced),
		cmocka_unit_test(test_paced),
		cmocka_unit_test(test_until_delay),
		cmocka_unit_test(test_swallows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
