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
 * Take received ranges: parked ones first, then the ring's. Transmit completions and control
 * messages met on the way are dispatched.
 *
 * @return How many of @p max were filled; fewer only when nothing is left. The caller must
 *   hvn_inbound_done() each.
 */
uint32_t hvn_inbound_take(struct hvn_channel *ch, struct hvn_range *ranges, uint32_t max);

/** @p n ranges were consumed; the last one of a packet queues the packet's completion. */
void hvn_inbound_done(struct hvn_channel *ch, const struct hvn_range *ranges, uint32_t n);

/** Give ring space back, send the completions owed, unlock. */
void hvn_inbound_end(struct hvn_channel *ch);

/**
 * Walk without receiving: completions and control messages are dispatched, frames parked
 * for the receive side, or acknowledged and counted as park_drops when parking is full or no
 * receive queue exists. Does nothing when another lcore walks.
 */
void hvn_inbound_drain(struct hvn_channel *ch);

/**
 * Walk like hvn_inbound_drain() for the transmit queue, but once parking is full stop as soon
 * as @p enough transmit completions can be collected: frames are dropped only as far as
 * transmit needs it to go on. The caller is the queue's lcore.
 */
void hvn_inbound_reclaim(struct hvn_channel *ch, uint32_t enough);

/** Drop all that was received (port stop), counted as stop_drops; completions are queued. */
void hvn_inbound_flush(struct hvn_channel *ch);

/** True when the ring holds something not walked yet, or ranges are parked. */
bool hvn_inbound_pending(const struct hvn_channel *ch);

#endif /* HVN_INBOUND_H */
