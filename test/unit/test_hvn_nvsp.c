/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * NVSP requests have the bytes of the wire; replies that are short, wrong or absurd are
 * refused.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "golden.h"
#include "guard.h"
#include "hvn_nvsp.h"

#define MiB (1u << 20)

/* Words of a reply at the end of readable memory. */
static void *
words(const uint32_t *w, uint32_t bytes)
{
	void *mem = guard_alloc(bytes, GUARD_AFTER);

	memcpy(mem, w, bytes);
	return mem;
}

static void
test_requests(void **state)
{
	uint8_t vec[128];
	union hvn_nvsp_msg m;
	static const uint32_t config[10] = { 125, 1514, 0, 8 };
	static const uint32_t ndis5[10] = { 100, 6, 30 }, ndis4[10] = { 100, 6, 1 };
	static const uint32_t rx[10] = { 101, 0xe111, 0xcafe }, tx[10] = { 104, 7, 0xface };
	static const uint32_t unrx[10] = { 103, 0xcafe }, untx[10] = { 106, 0xface };
	static const uint32_t sub[10] = { 133, 1, 63 };
	static const uint32_t page[10] = { 107, 1, 0xffffffff, 0 }, sec[10] = { 107, 1, 0, 28 };

	(void)state;
	assert_int_equal(golden_vector("netvsc.txt", "nvsp-init-61", vec, sizeof(vec)), 64);
	hvn_nvsp_build_init(&m, 0x60001);
	assert_memory_equal(&m, vec + 16, sizeof(m));
	hvn_nvsp_build_config(&m, 1514, NVSP_CAP_8021Q);
	assert_memory_equal(&m, config, sizeof(m));
	hvn_nvsp_build_ndis_version(&m, NVSP_VERSION_5);
	assert_memory_equal(&m, ndis5, sizeof(m));
	hvn_nvsp_build_ndis_version(&m, NVSP_VERSION_4);
	assert_memory_equal(&m, ndis4, sizeof(m));
	hvn_nvsp_build_buffer(&m, NVSP_RXBUF, 0xe111);
	assert_memory_equal(&m, rx, sizeof(m));
	hvn_nvsp_build_buffer(&m, NVSP_TXBUF, 7);
	assert_memory_equal(&m, tx, sizeof(m));
	hvn_nvsp_build_revoke(&m, NVSP_RXBUF_REVOKE);
	assert_memory_equal(&m, unrx, sizeof(m));
	hvn_nvsp_build_revoke(&m, NVSP_TXBUF_REVOKE);
	assert_memory_equal(&m, untx, sizeof(m));
	hvn_nvsp_build_subchannel(&m, 63);
	assert_memory_equal(&m, sub, sizeof(m));
	hvn_nvsp_build_control(&m, NVSP_SECTION_NONE, 28);
	assert_memory_equal(&m, page, sizeof(m));
	hvn_nvsp_build_control(&m, 0, 28);
	assert_memory_equal(&m, sec, sizeof(m));
}

static int
init(const uint32_t *w, uint32_t bytes)
{
	void *mem = words(w, bytes);
	int ret = hvn_nvsp_parse_init(mem, bytes);

	guard_free(mem, bytes);
	return ret;
}

static void
test_init(void **state)
{
	uint32_t w[4] = { 2, 0xffffffff, 34, 1 };

	(void)state;
	assert_int_equal(init(w, 16), 0);
	for (uint32_t n = 0; n < 16; n++)
		assert_int_equal(init(w, n), -EPROTO);
	for (uint32_t status = 0; status < 10; status++) {
		w[3] = status;
		assert_int_equal(init(w, 16), status == 1 ? 0 : -ENOTSUP);
	}
	w[0] = 1;
	assert_int_equal(init(w, 16), -EPROTO);
}

static int
rxbuf(const uint32_t *w, uint32_t bytes, struct hvn_nvsp_rxbuf *out)
{
	void *mem = words(w, bytes);
	int ret = hvn_nvsp_parse_rxbuf(mem, bytes, 31 * MiB, 126, out);

	guard_free(mem, bytes);
	return ret;
}

static void
test_rxbuf(void **state)
{
	static const uint32_t good[7] = { 102, 1, 1, 0, 1728, 18811, 0 };
	static const struct {
		uint32_t word, val;
		int ret;
	} bad[] = {
		{ 0, 105, -EPROTO }, { 1, 0, -EREMOTEIO }, { 1, 2, -EREMOTEIO },
		{ 2, 0, -EPROTO }, { 2, 2, -EPROTO }, { 3, 8, -EPROTO },
		{ 4, 0, -EPROTO }, { 4, 125, -EPROTO }, { 4, 0xffffffff, -EPROTO },
		{ 5, 0, -EPROTO }, { 5, 18812, -EPROTO }, { 5, 0xffffffff, -EPROTO },
		{ 5, 0x80000000, -EPROTO }, { 6, 12345, 0 },
	};
	struct hvn_nvsp_rxbuf out = { 0, 0 };
	uint32_t w[7];

	(void)state;
	assert_int_equal(rxbuf(good, 28, &out), 0);
	assert_int_equal(out.slot_bytes, 1728);
	assert_int_equal(out.slots, 18811);
	for (uint32_t n = 0; n < 28; n++)
		assert_int_equal(rxbuf(good, n, &out), -EPROTO);
	for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memcpy(w, good, sizeof(w));
		w[bad[i].word] = bad[i].val;
		assert_int_equal(rxbuf(w, 28, &out), bad[i].ret);
	}
}

static void
test_txbuf(void **state)
{
	uint32_t w[3] = { 105, 1, 6144 }, size = 0;

	(void)state;
	assert_int_equal(hvn_nvsp_parse_txbuf(w, 12, 16 * MiB, &size), 0);
	assert_int_equal(size, 6144);
	for (uint32_t n = 0; n < 12; n++)
		assert_int_equal(hvn_nvsp_parse_txbuf(w, n, 16 * MiB, &size), -EPROTO);
	static const uint32_t sizes[] = { 0, 1, 67, 127, 130, 16 * MiB + 4, 0xfffffffc };

	for (uint32_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		w[2] = sizes[i];
		assert_int_equal(hvn_nvsp_parse_txbuf(w, 12, 16 * MiB, &size), -EPROTO);
	}
	w[1] = 2;
	assert_int_equal(hvn_nvsp_parse_txbuf(w, 12, 16 * MiB, &size), -EREMOTEIO);
}

static void
test_subchannel(void **state)
{
	uint32_t w[3] = { 133, 1, 3 }, granted = 99;

	(void)state;
	assert_int_equal(hvn_nvsp_parse_subchannel(w, 12, 3, &granted), 0);
	assert_int_equal(granted, 3);
	assert_int_equal(hvn_nvsp_parse_subchannel(w, 12, 7, &granted), 0);
	assert_int_equal(granted, 3);
	assert_int_equal(hvn_nvsp_parse_subchannel(w, 12, 2, &granted), -EPROTO);
	assert_int_equal(hvn_nvsp_parse_subchannel(w, 11, 3, &granted), -EPROTO);
	w[1] = 2;
	assert_int_equal(hvn_nvsp_parse_subchannel(w, 12, 3, &granted), -EREMOTEIO);
	w[0] = 108;
	assert_int_equal(hvn_nvsp_parse_subchannel(w, 12, 3, &granted), -EPROTO);
}

static int
table_at(uint32_t count, uint32_t offset, uint32_t bytes, uint32_t version, uint32_t place,
	 uint32_t *first)
{
	uint8_t *mem = guard_alloc(bytes, GUARD_AFTER);
	const uint32_t head[3] = { 134, count, offset };
	uint32_t table[16] = { 0 };
	int ret;

	for (uint32_t i = 0; i < 16 && place + 4 * i + 4 <= bytes; i++)
		memcpy(mem + place + 4 * i, &(uint32_t){ 100 + i }, 4);
	memcpy(mem, head, bytes < 12 ? bytes : 12);
	ret = hvn_nvsp_parse_send_table(mem, bytes, version, table);
	guard_free(mem, bytes);
	*first = table[0];
	assert_true(ret != 0 || table[15] == table[0] + 15);
	return ret;
}

static void
test_send_table(void **state)
{
	uint32_t first;

	(void)state;
	assert_int_equal(table_at(16, 12, 76, NVSP_VERSION_61, 12, &first), 0);
	assert_int_equal(first, 100);
	assert_int_equal(table_at(16, 12, 80, NVSP_VERSION_5, 12, &first), 0);
	/* Historic hosts: the offset is wrong, the table lies at 40. */
	assert_int_equal(table_at(16, 28, 104, NVSP_VERSION_6, 40, &first), 0);
	assert_int_equal(first, 100);
	assert_int_equal(table_at(16, 40, 104, NVSP_VERSION_61, 40, &first), 0);
	assert_int_equal(table_at(15, 12, 76, NVSP_VERSION_61, 12, &first), -EPROTO);
	assert_int_equal(table_at(16, 11, 76, NVSP_VERSION_61, 12, &first), -EPROTO);
	assert_int_equal(table_at(16, 13, 76, NVSP_VERSION_61, 12, &first), -EPROTO);
	assert_int_equal(table_at(16, 0xffffffff, 76, NVSP_VERSION_61, 12, &first), -EPROTO);
	for (uint32_t n = 0; n < 76; n++)
		assert_int_equal(table_at(16, 12, n, NVSP_VERSION_61, 12, &first), -EPROTO);
}

static void
test_small(void **state)
{
	uint32_t done[2] = { 108, 1 }, vf[3] = { 128, 1, 77 }, allocated, serial;

	(void)state;
	assert_int_equal(hvn_nvsp_parse_rndis_complete(done, 8), 0);
	assert_int_equal(hvn_nvsp_parse_rndis_complete(done, 7), -EPROTO);
	done[1] = 5;
	assert_int_equal(hvn_nvsp_parse_rndis_complete(done, 8), -EREMOTEIO);
	assert_int_equal(hvn_nvsp_parse_vf(vf, 12, &allocated, &serial), 0);
	assert_int_equal(serial, 77);
	assert_int_equal(hvn_nvsp_parse_vf(vf, 8, &allocated, &serial), -EPROTO);
	vf[1] = 2;
	assert_int_equal(hvn_nvsp_parse_vf(vf, 12, &allocated, &serial), -EPROTO);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_init),
		cmocka_unit_test(test_rxbuf),
		cmocka_unit_test(test_txbuf),
		cmocka_unit_test(test_subchannel),
		cmocka_unit_test(test_send_table),
		cmocka_unit_test(test_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
