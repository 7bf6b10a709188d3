/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Builds the constant frames of a generator: one frame of one flow at a time.
 */
#ifndef HVSIM_WIRE_TEMPLATE_H
#define HVSIM_WIRE_TEMPLATE_H

#include <stdint.h>

/** What follows the network header. */
enum template_l4 {
	TEMPLATE_UDP,
	TEMPLATE_TCP,
	TEMPLATE_RAW, /**< nothing: IP protocol 253 (RFC 3692) or next header 59 (none) */
};

/** What all frames of a generator have in common. */
struct template_plan {
	uint8_t dst[6];
	uint8_t src[6];
	uint32_t ip; /**< 4 or 6 */
	enum template_l4 l4;
};

/** Bytes of the headers: the shortest frame that @p plan allows (without padding). */
uint32_t template_headers(const struct template_plan *plan);

/**
 * Write one frame: Ethernet, IP, L4, payload; all checksums correct.
 *
 * Flows differ in source address (198.18.0.0 or 2001:2:: plus the flow number) and, with
 * UDP or TCP, in source port, so that a NIC that hashes addresses only spreads them too.
 *
 * @param flow 0..65535
 * @param len Frame length without FCS, bytes, >= template_headers().
 */
void template_build(const struct template_plan *plan, uint32_t flow, uint8_t *frame, uint32_t len);

#endif /* HVSIM_WIRE_TEMPLATE_H */
