/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Receive-side scaling: Toeplitz hash of a frame and the channel that its table names.
 */
#ifndef HVSIM_NETVSP_RSS_H
#define HVSIM_NETVSP_RSS_H

#include <stdbool.h>
#include <stdint.h>

#include <hvwire/ndis.h>

/** Longest hash input: two IPv6 addresses and two ports, bytes. */
#define RSS_INPUT_MAX 36u

struct rss {
	bool on;
	uint32_t types;     /**< NDIS_HASH_* that the guest chose */
	bool hash_udp;      /**< the host hashes UDP ports although the guest did not ask */
	uint32_t entries;   /**< of the table, 1..NDIS_RSS_ENTRIES_MAX */
	uint8_t table[NDIS_RSS_ENTRIES_MAX]; /**< channel indices */
	uint8_t key[NDIS_RSS_KEY_SIZE];
	uint32_t lut[RSS_INPUT_MAX][256]; /**< hash of each byte value at each place */
};

/** Take @p key (NDIS_RSS_KEY_SIZE bytes) into use. */
void rss_set_key(struct rss *rss, const uint8_t *key);

/**
 * Hash an untagged Ethernet frame.
 *
 * @param type
 *   Receives the NDIS_HASH_* bit of the tuple that was hashed, 0 when none was (RSS off,
 *   no IP, type not chosen).
 * @return The hash; 0 when @p type is 0.
 */
uint32_t rss_hash(const struct rss *rss, const uint8_t *frame, uint32_t len, uint32_t *type);

/** The channel that the table names for @p hash; 0 when RSS is off. */
static inline uint32_t
rss_channel(const struct rss *rss, uint32_t hash)
{
	return rss->on ? rss->table[hash % rss->entries] : 0;
}

#endif /* HVSIM_NETVSP_RSS_H */
