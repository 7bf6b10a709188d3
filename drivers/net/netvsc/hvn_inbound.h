/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Walking a channel's inbound ring: one range of a received frame at a time.
 *
 * All functions need in_lock, taken with hvn_inbound_begin() and given back with
 * hvn_inbound_end(), which also releases ring space and sends the completions owed.
 */
#ifndef HVN_INBOUND_H
#define HVN_INBOUND_H

#include "hvn_channel.h"

/**
 * Begin a walk if there is anything to do and nobody else walks.
 *
 * @return True: in_lock is held and hvn_inbound_end() must follow.
 */
bool hvn_inbound_begin(struct hvn_channel *ch);

/**
 * Next received range: parked ones first, then the ring. Transmit completions and control
 * messages met on the way are dispatched.
 *
 * @return True with *@p r filled; the caller must hvn_inbound_done() it. False: nothing left.
 */
bool hvn_inbound_next(struct hvn_channel *ch, struct hvn_range *r);

/** The range was consumed; the last one of its packet queues the packet's completion. */
void hvn_inbound_done(struct hvn_channel *ch, const struct hvn_range *r);

/** Give ring space back, send the completions owed, unlock. */
void hvn_inbound_end(struct hvn_channel *ch);

/**
 * Walk without receiving: completions and control messages are dispatched, frames parked
 * for the receive side, or acknowledged and counted as park_drops when parking is full or no
 * receive queue exists. Does nothing when another lcore walks.
 */
void hvn_inbound_drain(struct hvn_channel *ch);

/** Drop everything parked or half-walked (port stop); completions are queued. */
void hvn_inbound_flush(struct hvn_channel *ch);

/** True when the ring holds something not walked yet, or ranges are parked. */
bool hvn_inbound_pending(const struct hvn_channel *ch);

#endif /* HVN_INBOUND_H */
