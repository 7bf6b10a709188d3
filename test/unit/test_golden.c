/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The Toeplitz vectors against the hash's definition, bit by bit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "golden.h"

/* For each set bit of the input, the 32 key bits that start at its number. */
static uint32_t
toeplitz(const uint8_t *key, const uint8_t *in, unsigned int len)
{
	uint32_t hash = 0;

	for (unsigned int bit = 0; bit < len * 8; bit++) {
		if ((in[bit / 8] & 0x80 >> bit % 8) == 0)
			continue;
		for (unsigned int i = 0; i < 32; i++) {
			unsigned int k = bit + i;

			hash ^= (uint32_t)(key[k / 8] >> (7 - k % 8) & 1) << (31 - i);
		}
	}
	return hash;
}

static void
test_toeplitz(void **state)
{
	struct golden_toeplitz t;
	unsigned int v6 = 0;

	(void)state;
	golden_toeplitz(&t);
	assert_int_equal(t.nflows, 8);
	for (unsigned int i = 0; i < t.nflows; i++) {
		const struct golden_flow *f = &t.flow[i];
		unsigned int n = f->addr_len;
		uint8_t in[36];

		memcpy(in, f->src, n);
		memcpy(in + n, f->dst, n);
		in[2 * n] = (uint8_t)(f->sport >> 8);
		in[2 * n + 1] = (uint8_t)f->sport;
		in[2 * n + 2] = (uint8_t)(f->dport >> 8);
		in[2 * n + 3] = (uint8_t)f->dport;
		assert_int_equal(toeplitz(t.key, in, 2 * n), f->hash_addr);
		assert_int_equal(toeplitz(t.key, in, 2 * n + 4), f->hash_ports);
		v6 += n == 16;
	}
	assert_int_equal(v6, 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_toeplitz),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
