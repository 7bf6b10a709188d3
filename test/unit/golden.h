/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Reader of the golden vectors in test/golden, for tests.
 */
#ifndef TEST_GOLDEN_H
#define TEST_GOLDEN_H

#include <stddef.h>
#include <stdint.h>

#define GOLDEN_KEY_BYTES 40
#define GOLDEN_FLOWS_MAX 16

/** One flow with its hashes; numbers in host order, addresses as on the wire. */
struct golden_flow {
	unsigned int addr_len; /**< 4 or 16 */
	uint8_t src[16];
	uint8_t dst[16];
	uint16_t sport;
	uint16_t dport;
	uint32_t hash_addr;    /**< over both addresses */
	uint32_t hash_ports;   /**< over both addresses and both ports */
};

struct golden_toeplitz {
	uint8_t key[GOLDEN_KEY_BYTES];
	unsigned int nflows;
	struct golden_flow flow[GOLDEN_FLOWS_MAX];
};

/**
 * Read vector @p name of @p file (without folder).
 *
 * @return Its length; a missing file or vector, or one that does not fit, ends the program
 *   with a message.
 */
size_t golden_vector(const char *file, const char *name, uint8_t *buf, size_t cap);

/** Read toeplitz.txt; anything odd ends the program with a message. */
void golden_toeplitz(struct golden_toeplitz *t);

#endif /* TEST_GOLDEN_H */
