/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * RNDIS control messages and the NDIS objects in them: built and checked, nothing waits.
 */
#ifndef HVN_RNDIS_H
#define HVN_RNDIS_H

#include <stdint.h>

#include <hvwire/ndis.h>
#include <hvwire/rndis.h>

/** Longest request: one page, because it goes as one guest-physical range. */
#define HVN_RNDIS_REQUEST_MAX 4096u
/** Bytes that we take in one transfer; what known guests say. */
#define HVN_RNDIS_MAX_TRANSFER 0x4000u

/** What the device said at initialise, clamped to what the driver can use. */
struct hvn_rndis_limits {
	uint32_t max_packets;  /**< RNDIS packets in one section, 1..HVN_RNDIS_PACKETS_MAX */
	uint32_t max_transfer; /**< bytes in one section, 0 = sections are of no use */
	uint32_t align;        /**< of packets in a section, bytes, power of two 8..4096 */
};
#define HVN_RNDIS_PACKETS_MAX 64u

/** Receive scaling as the device offers it. */
struct hvn_rss_caps {
	uint32_t queues;  /**< 1..64; 1 means no RSS */
	uint32_t entries; /**< of the table, 1..NDIS_RSS_ENTRIES_MAX */
	uint32_t types;   /**< NDIS_HASH_* that can be selected */
};

/** RSS settings to program. */
struct hvn_rss_conf {
	uint32_t types;   /**< NDIS_HASH_* */
	uint32_t entries;
	uint8_t key[NDIS_RSS_KEY_SIZE];
	uint16_t table[NDIS_RSS_ENTRIES_MAX]; /**< channel numbers */
};
#define HVN_RSS_PARAMS_MAX \
	(sizeof(struct ndis_rss_params) + 4 * NDIS_RSS_ENTRIES_MAX + NDIS_RSS_KEY_SIZE)

/*
 * Builders write at most HVN_RNDIS_REQUEST_MAX bytes and return the message's length,
 * 0 when it does not fit.
 */
uint32_t hvn_rndis_build_initialize(void *buf, uint32_t rid);
uint32_t hvn_rndis_build_halt(void *buf, uint32_t rid);
uint32_t hvn_rndis_build_keepalive_complete(void *buf, uint32_t rid);
/** @p type is RNDIS_QUERY or RNDIS_SET; @p in may be NULL when @p in_len is 0. */
uint32_t hvn_rndis_build_oid(void *buf, uint32_t type, uint32_t rid, uint32_t oid,
			     const void *in, uint32_t in_len);

/*
 * Checks of completions: private bytes @p msg of @p len bytes, already matched by type and
 * request id. They return 0; -EPROTO when malformed; -EREMOTEIO with the device's status
 * in *@p status when it refused (status 0 otherwise).
 */
int hvn_rndis_parse_initialize(const void *msg, uint32_t len, struct hvn_rndis_limits *out,
			       uint32_t *status);
/** @p out_len: room at @p out, then bytes that were copied (the rest is cleared). */
int hvn_rndis_parse_query(const void *msg, uint32_t len, void *out, uint32_t *out_len,
			  uint32_t *status);
int hvn_rndis_parse_set(const void *msg, uint32_t len, uint32_t *status);

/** Indication; yields its status and, when it carries one, a u32 value (else 0). */
int hvn_rndis_parse_indicate(const void *msg, uint32_t len, uint32_t *status, uint32_t *value);

/** RSS capabilities object of @p len bytes. */
int hvn_rndis_parse_rss_caps(const void *obj, uint32_t len, struct hvn_rss_caps *out);

/** Offload capabilities object of @p len bytes; what is missing reads as zero. */
int hvn_rndis_parse_offload(const void *obj, uint32_t len, struct ndis_offload *out);

/**
 * RSS parameters object.
 *
 * @param buf
 *   At least HVN_RSS_PARAMS_MAX bytes.
 * @return Length, bytes.
 */
uint32_t hvn_rndis_build_rss(void *buf, const struct hvn_rss_conf *conf, uint16_t flags);

/** Input of the offload capability query for NVSP @p version; returns its length, bytes. */
uint32_t hvn_rndis_build_offload_query(struct ndis_offload *in, uint32_t version);

#endif /* HVN_RNDIS_H */
