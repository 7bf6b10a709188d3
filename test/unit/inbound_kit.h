/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * One channel on the raw host, and a receiver for it: what the tests of the walk share.
 */
#ifndef INBOUND_KIT_H
#define INBOUND_KIT_H

#include "hvn_inbound.h"
#include "rawhost.h"

#define RECV_LEN 65536u
#define RING_PAGES 16u

extern struct rawhost rh;
extern struct hvn_channel ch;
extern struct rh_pkt pkt;

/** Ranges that all fit; the offset tells them apart. */
extern struct rh_range ranges[600];

/** cmocka's set-up: a fresh channel on a fresh host. */
int inbound_setup(void **state);
int inbound_teardown(void **state);

/** Walk as a receiver would; yields the ranges that were handed out. */
uint32_t receive(uint32_t max);

/** Next completion of the guest, which must be there. */
uint64_t take_ack(void);

/** The guest owes nothing. */
void no_more_acks(void);

#endif /* INBOUND_KIT_H */
