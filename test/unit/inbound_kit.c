/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * One channel on the raw host, and a receiver for it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "hvn_session.h"
#include "inbound_kit.h"

struct rawhost rh;
struct hvn_channel ch;
struct rh_pkt pkt;

struct rh_range ranges[600];

int
inbound_setup(void **state)
{
	(void)state;
	rh_open(&rh, RING_PAGES, 65000 / 8 * 8, RECV_LEN, 6144, 4);
	rh_attach(&rh, &ch);
	ch.session = (struct hvn_session *)(void *)&rh_session;
	for (uint32_t i = 0; i < 600; i++)
		ranges[i] = (struct rh_range){ .len = 64, .ofs = i * 64 };
	return 0;
}

int
inbound_teardown(void **state)
{
	(void)state;
	rh_close(&rh);
	return 0;
}

uint32_t
receive(uint32_t max)
{
	struct hvn_range r;
	uint32_t n = 0;

	if (!hvn_inbound_begin(&ch))
		return 0;
	while (n < max && hvn_inbound_take(&ch, &r, 1)) {
		assert_true((uint64_t)r.ofs + r.len <= RECV_LEN);
		hvn_inbound_done(&ch, &r, 1);
		n++;
	}
	hvn_inbound_end(&ch);
	return n;
}

uint64_t
take_ack(void)
{
	assert_true(rh_take(&rh, &pkt));
	return rh_ack_id(&pkt);
}

void
no_more_acks(void)
{
	assert_false(rh_take(&rh, &pkt));
	rh_release(&rh);
}
