/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * A raw host in the test's own process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rte_eal.h>

#include "guard.h"
#include "hvn_session.h"
#include "rawhost.h"

#define PAGE 4096u
#define DESC 16u
#define TRAILER 8u
/** Words of a ring's header page. */
#define W_WRITE 0u
#define W_READ 1u
#define W_FEATURES 16u

struct rh_session rh_session;

static void
session_keep(const void *bytes, uint32_t len)
{
	rh_session.len = len;
	memcpy(rh_session.bytes, bytes, len < sizeof(rh_session.bytes) ? len :
	       sizeof(rh_session.bytes));
}

void
hvn_session_on_completion(struct hvn_session *s, uint64_t xact, const void *payload,
			  uint32_t len)
{
	(void)s;
	rh_session.completions++;
	rh_session.xact = xact;
	session_keep(payload, len);
}

void
hvn_session_on_inband(struct hvn_session *s, const void *payload, uint32_t len)
{
	(void)s;
	rh_session.inbands++;
	session_keep(payload, len);
}

void
hvn_session_on_control(struct hvn_session *s, const void *msg, uint32_t len)
{
	(void)s;
	rh_session.controls++;
	session_keep(msg, len);
}

void
rh_eal_init(void)
{
	static char args[][24] = {
		"unit", "--no-huge", "--no-shconf", "--no-pci", "--no-telemetry", "-m", "64",
		"-l", "0", "--log-level=error",
	};
	char *argv[sizeof(args) / sizeof(args[0]) + 1] = { NULL };
	const int argc = sizeof(args) / sizeof(args[0]);

	for (int i = 0; i < argc; i++)
		argv[i] = args[i];
	if (rte_eal_init(argc, argv) < 0)
		abort();
}

uint32_t *
rh_word(struct rawhost *rh, uint32_t ring, uint32_t word)
{
	return (uint32_t *)(void *)(rh->rings + ring * rh->half + word * 4);
}

static uint32_t
load(uint32_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static void
store(uint32_t *p, uint32_t v)
{
	__atomic_store_n(p, v, __ATOMIC_RELEASE);
}

static uint8_t *
data(const struct rawhost *rh, uint32_t ring)
{
	return rh->rings + ring * rh->half + PAGE;
}

void
rh_open(struct rawhost *rh, uint32_t pages, uint32_t start, uint32_t recv_len,
	uint32_t section, uint32_t sections)
{
	memset(rh, 0, sizeof(*rh));
	memset(&rh_session, 0, sizeof(rh_session));
	rh->size = pages * PAGE;
	rh->half = rh->size + PAGE;
	rh->rings = guard_alloc(2 * rh->half, GUARD_AFTER);
	rh->recv_len = recv_len;
	rh->recv = guard_alloc(recv_len, GUARD_AFTER);
	rh->section = section;
	rh->send_len = (uint64_t)section * sections;
	rh->send = guard_alloc(rh->send_len, GUARD_AFTER);
	rh->align = 8;
	rh->rpos = start;
	rh->wpos = start;
	for (uint32_t ring = 0; ring < 2; ring++) {
		store(rh_word(rh, ring, W_WRITE), start);
		store(rh_word(rh, ring, W_READ), start);
		store(rh_word(rh, ring, W_FEATURES), 1);
	}
}

void
rh_close(struct rawhost *rh)
{
	guard_free(rh->rings, 2 * rh->half);
	guard_free(rh->recv, rh->recv_len);
	guard_free(rh->send, rh->send_len);
}

void
rh_attach(struct rawhost *rh, struct hvn_channel *ch)
{
	assert_int_equal(hvn_channel_init(ch, rh->rings, 2 * rh->half, 0, 7), 0);
	ch->recv = rh->recv;
	ch->recv_len = rh->recv_len;
	hvn_channel_set_signal(ch, &rh->sig_word, 1u << 7, -1);
}

uint32_t
rh_room(struct rawhost *rh)
{
	uint32_t read = load(rh_word(rh, 1, W_READ));

	assert_true(read < rh->size && read % 8 == 0);
	return rh->size - (rh->wpos >= read ? rh->wpos - read : rh->wpos + rh->size - read);
}

static void
put_byte_run(struct rawhost *rh, const uint8_t *src, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++) {
		data(rh, 1)[rh->wpos] = src[i];
		rh->wpos = (rh->wpos + 1) % rh->size;
	}
}

void
rh_put(struct rawhost *rh, const void *pkt, uint32_t len)
{
	uint32_t trailer[2] = { 0, rh->wpos };

	assert_int_equal(len % 8, 0);
	assert_true(rh_room(rh) > len + TRAILER);
	put_byte_run(rh, pkt, len);
	put_byte_run(rh, (const uint8_t *)trailer, sizeof(trailer));
}

void
rh_packet(struct rawhost *rh, uint16_t type, uint16_t flags, uint64_t xact, const void *head,
	  uint32_t head_len, const void *payload, uint32_t len)
{
	uint32_t padded = (len + 7) / 8 * 8;
	uint8_t *pkt = calloc(1, DESC + head_len + padded);
	uint16_t words[4] = {
		type, (uint16_t)((DESC + head_len) / 8), (uint16_t)((DESC + head_len + padded) / 8),
		flags,
	};

	assert_non_null(pkt);
	assert_int_equal(head_len % 8, 0);
	memcpy(pkt, words, sizeof(words));
	memcpy(pkt + 8, &xact, sizeof(xact));
	if (head_len != 0)
		memcpy(pkt + DESC, head, head_len);
	if (len != 0)
		memcpy(pkt + DESC + head_len, payload, len);
	rh_put(rh, pkt, DESC + head_len + padded);
	free(pkt);
}

void
rh_publish(struct rawhost *rh)
{
	store(rh_word(rh, 1, W_WRITE), rh->wpos);
}

void
rh_xfer(struct rawhost *rh, uint64_t xact, const struct rh_range *ranges, uint32_t n,
	uint32_t channel_type)
{
	const uint32_t nvsp[10] = { 107, channel_type, 0xffffffff };
	uint8_t *head = calloc(1, 8 + n * 8);
	uint16_t set = 0xcafe;

	assert_non_null(head);
	memcpy(head, &set, sizeof(set));
	head[2] = 0x5a; /* hosts leave garbage in these two */
	head[3] = 0xa5;
	memcpy(head + 4, &n, sizeof(n));
	memcpy(head + 8, ranges, n * 8);
	rh_packet(rh, 7, 1, xact, head, 8 + n * 8, nvsp, sizeof(nvsp));
	free(head);
}

void
rh_complete(struct rawhost *rh, uint64_t xact, uint32_t nvsp_type, uint32_t status)
{
	const uint32_t nvsp[10] = { nvsp_type, status };

	rh_packet(rh, 0xb, 0, xact, NULL, 0, nvsp, sizeof(nvsp));
}

static void
take_bytes(struct rawhost *rh, uint32_t pos, void *dst, uint32_t len)
{
	uint8_t *to = dst;

	for (uint32_t i = 0; i < len; i++)
		to[i] = data(rh, 0)[(pos + i) % rh->size];
}

bool
rh_take(struct rawhost *rh, struct rh_pkt *pkt)
{
	uint32_t write = load(rh_word(rh, 0, W_WRITE)), used, trailer[2];
	uint16_t words[4];

	assert_true(write < rh->size && write % 8 == 0);
	if (write == rh->rpos)
		return false;
	used = write > rh->rpos ? write - rh->rpos : write + rh->size - rh->rpos;
	take_bytes(rh, rh->rpos, words, sizeof(words));
	pkt->type = words[0];
	pkt->offset = words[1] * 8u;
	pkt->len = words[2] * 8u;
	pkt->flags = words[3];
	assert_true(pkt->len + TRAILER <= used && pkt->len <= RH_PKT_MAX);
	assert_true(pkt->offset >= DESC && pkt->offset <= pkt->len);
	take_bytes(rh, rh->rpos, pkt->bytes, pkt->len);
	memcpy(&pkt->xact, pkt->bytes + 8, sizeof(pkt->xact));
	take_bytes(rh, (rh->rpos + pkt->len) % rh->size, trailer, sizeof(trailer));
	assert_int_equal(trailer[0], 0);
	assert_int_equal(trailer[1], rh->rpos);
	rh->rpos = (rh->rpos + pkt->len + TRAILER) % rh->size;
	return true;
}

void
rh_release(struct rawhost *rh)
{
	store(rh_word(rh, 0, W_READ), rh->rpos);
}

static uint32_t
word_at(const uint8_t *bytes, uint32_t ofs)
{
	uint32_t v;

	memcpy(&v, bytes + ofs, sizeof(v));
	return v;
}

uint64_t
rh_ack_id(const struct rh_pkt *pkt)
{
	assert_int_equal(pkt->type, 0xb);
	assert_int_equal(pkt->flags, 0);
	assert_int_equal(pkt->offset, DESC);
	assert_true(pkt->len >= DESC + 8);
	assert_int_equal(word_at(pkt->bytes, DESC), 108);
	assert_int_equal(word_at(pkt->bytes, DESC + 4), 1);
	for (uint32_t i = DESC + 8; i < pkt->len; i++)
		assert_int_equal(pkt->bytes[i], 0);
	return pkt->xact;
}

/* Check one PACKET message's header in @p avail private bytes; yields where the frame is. */
static uint32_t
parse_header(const uint8_t *h, uint32_t avail, struct rh_tx *tx)
{
	uint32_t n = tx->nframes, ppi = 8 + 36, end;

	assert_true(avail >= 44 && n < RH_FRAMES_MAX);
	assert_int_equal(word_at(h, 0), 1);
	tx->msg_len[n] = word_at(h, 4);
	tx->frame_len[n] = word_at(h, 12);
	assert_true(tx->frame_len[n] >= 1 && tx->frame_len[n] <= RH_FRAME_MAX);
	for (uint32_t ofs = 16; ofs < 28; ofs += 4)
		assert_int_equal(word_at(h, ofs), 0);
	assert_int_equal(word_at(h, 36), 0);
	assert_int_equal(word_at(h, 40), 0);
	assert_int_equal(word_at(h, 28), 36);
	end = ppi + word_at(h, 32);
	assert_true(end <= avail && end <= word_at(h, 8) + 8 && word_at(h, 8) % 4 == 0);
	while (ppi < end) {
		assert_true(end - ppi >= 12 && word_at(h, ppi) >= 16);
		assert_int_equal(word_at(h, ppi) % 4, 0);
		assert_true(word_at(h, ppi) <= end - ppi);
		ppi += word_at(h, ppi);
	}
	return word_at(h, 8) + 8;
}

/* Messages back to back in a section. */
static void
parse_messages(const struct rawhost *rh, const uint8_t *sec, struct rh_tx *tx)
{
	uint32_t ofs = 0;

	while (ofs < tx->section_len) {
		uint32_t left = tx->section_len - ofs, n = tx->nframes;
		uint32_t at = parse_header(sec + ofs, left, tx);

		assert_int_equal(ofs % rh->align, 0);
		assert_true(tx->msg_len[n] >= at + tx->frame_len[n] && tx->msg_len[n] <= left);
		memcpy(tx->frame[n], sec + ofs + at, tx->frame_len[n]);
		for (uint32_t i = at + tx->frame_len[n]; i < tx->msg_len[n]; i++)
			assert_int_equal(sec[ofs + i], 0);
		ofs += tx->msg_len[n];
		tx->nframes++;
	}
}

/* One message over ranges; its header in the first one or in the section. */
static void
parse_ranges(const struct rh_pkt *pkt, const uint8_t *sec, struct rh_tx *tx)
{
	uint32_t got = 0, at = 0, hdr = tx->section_len;

	if (tx->by_section)
		at = parse_header(sec, hdr, tx);
	for (uint32_t i = 0; i < tx->nranges; i++) {
		const uint8_t *r = pkt->bytes + 24 + i * 16;
		uint32_t len = word_at(r, 0), ofs = word_at(r, 4);
		const uint8_t *mem;
		uint64_t pfn;

		memcpy(&pfn, r + 8, sizeof(pfn));
		assert_true(len != 0 && ofs < PAGE && ofs + len <= PAGE);
		mem = (const uint8_t *)(uintptr_t)(pfn * PAGE + ofs);
		if (i == 0 && !tx->by_section) {
			hdr = len;
			at = parse_header(mem, len, tx);
			continue;
		}
		assert_true(got + len <= RH_FRAME_MAX);
		memcpy(tx->frame[0] + got, mem, len);
		got += len;
	}
	assert_int_equal(at, hdr);
	assert_int_equal(got, tx->frame_len[0]);
	assert_int_equal(tx->msg_len[0], hdr + got);
	tx->nframes = 1;
}

void
rh_tx_parse(const struct rawhost *rh, const struct rh_pkt *pkt, struct rh_tx *tx)
{
	const uint8_t *nvsp = pkt->bytes + pkt->offset, *sec = NULL;

	assert_true(pkt->len - pkt->offset >= 16);
	assert_int_equal(pkt->flags, 1);
	assert_int_equal(word_at(nvsp, 0), 107);
	assert_int_equal(word_at(nvsp, 4), 0);
	for (uint32_t i = 16; i < pkt->len - pkt->offset; i++)
		assert_int_equal(nvsp[i], 0);
	tx->nframes = 0;
	tx->nranges = 0;
	tx->section = word_at(nvsp, 8);
	tx->section_len = word_at(nvsp, 12);
	tx->by_section = tx->section != 0xffffffff;
	if (tx->by_section) {
		assert_true((uint64_t)(tx->section + 1) * rh->section <= rh->send_len);
		assert_true(tx->section_len <= rh->section && tx->section_len != 0);
		sec = rh->send + (uint64_t)tx->section * rh->section;
	} else {
		assert_int_equal(tx->section_len, 0);
	}
	if (pkt->type == 6) {
		assert_int_equal(pkt->offset, DESC);
		assert_true(tx->by_section);
		parse_messages(rh, sec, tx);
		return;
	}
	assert_int_equal(pkt->type, 9);
	assert_int_equal(word_at(pkt->bytes, 16), 0);
	tx->nranges = word_at(pkt->bytes, 20);
	assert_true(tx->nranges >= 1 && tx->nranges <= 32);
	assert_int_equal(pkt->offset, 24 + tx->nranges * 16);
	parse_ranges(pkt, sec, tx);
}

uint32_t
rh_rndis(uint8_t *dst, const struct rh_ppi *ppi, uint32_t n, uint32_t gap, const void *frame,
	 uint32_t len)
{
	uint32_t h[11] = { 1, 0, 0, len, 0, 0, 0, n != 0 ? 36 : 0, 0, 0, 0 };
	uint32_t at = sizeof(h);

	for (uint32_t i = 0; i < n; i++) {
		memset(dst + at, 0xee, ppi[i].size);
		memcpy(dst + at, &ppi[i], 12);
		if (ppi[i].offset + 4 <= ppi[i].size)
			memcpy(dst + at + ppi[i].offset, &ppi[i].value, 4);
		at += ppi[i].size;
	}
	h[8] = at - (uint32_t)sizeof(h);
	memset(dst + at, 0xdd, gap);
	at += gap;
	h[1] = at + len;
	h[2] = at - 8;
	memcpy(dst, h, sizeof(h));
	memcpy(dst + at, frame, len);
	return at + len;
}

void
rh_pattern(uint8_t *dst, uint32_t len, uint32_t seed)
{
	for (uint32_t i = 0; i < len; i++)
		dst[i] = (uint8_t)(i < 4 ? seed >> (8 * i) : seed * 29 + i * 7 + (i >> 8) + 3);
}

bool
rh_pattern_ok(const uint8_t *bytes, uint32_t len, uint32_t seed)
{
	for (uint32_t i = 0; i < len; i++) {
		if (bytes[i] !=
		    (uint8_t)(i < 4 ? seed >> (8 * i) : seed * 29 + i * 7 + (i >> 8) + 3))
			return false;
	}
	return true;
}
