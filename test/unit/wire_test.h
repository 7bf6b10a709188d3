/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * What the tests of all kinds of wire share: opening, refusals, frames, checksums.
 */
#ifndef TEST_WIRE_TEST_H
#define TEST_WIRE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <wire/wire.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

static const uint8_t wire_test_mac[6] = { 0x02, 0, 0, 0, 0, 0x01 };

/** Open a wire that must open. */
static inline struct wire *
open_wire(const char *spec)
{
	char err[512] = "";
	struct wire *w = wire_open(spec, wire_test_mac, err, sizeof(err));

	if (w == NULL)
		fail_msg("%s: %s", spec, err);
	return w;
}

/** Opening must fail with one line that contains each of the @p words (NULL: none). */
static inline void
refuse_wire(const char *spec, const char *word, const char *remedy)
{
	char err[512] = "";
	struct wire *w = wire_open(spec, wire_test_mac, err, sizeof(err));

	if (w != NULL)
		fail_msg("%s was accepted", spec);
	if (strchr(err, '\n') != NULL || strstr(err, word) == NULL || strstr(err, remedy) == NULL)
		fail_msg("%s: \"%s\" lacks \"%s\" or \"%s\"", spec, err, word, remedy);
}

/** Send one frame in pieces of @p piece bytes. */
static inline void
send_frame(struct wire *w, uint32_t q, const uint8_t *data, uint32_t len, uint32_t piece)
{
	struct wire_seg segs[64];
	struct wire_tx tx = { .segs = segs, .len = len };
	uint32_t at, n;

	for (at = 0; at < len; at += n) {
		n = len - at < piece ? len - at : piece;
		assert_true(tx.nsegs < ARRAY_LEN(segs));
		segs[tx.nsegs++] = (struct wire_seg){ .data = data + at, .len = n };
	}
	w->ops->tx(w, q, &tx, 1);
}

/** A frame of @p len bytes that nobody confuses with frame @p seed + 1. */
static inline void
fill_frame(uint8_t *frame, uint32_t len, uint32_t seed)
{
	uint32_t i;

	for (i = 0; i < len; i++)
		frame[i] = (uint8_t)(seed * 31 + i * 7);
}

/** Ones'-complement sum over bytes, the textbook way; 0xffff = correct checksum inside. */
static inline uint32_t
ones_sum(uint32_t sum, const uint8_t *p, uint32_t len)
{
	uint32_t i;

	for (i = 0; i < len; i++) {
		sum += (i & 1) != 0 ? p[i] : (uint32_t)p[i] << 8;
		if (sum > 0xffff)
			sum -= 0xffff;
	}
	return sum;
}

#endif /* TEST_WIRE_TEST_H */
