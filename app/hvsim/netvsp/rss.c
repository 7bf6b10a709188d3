/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Toeplitz hashing of IPv4 and IPv6 frames, alone and with TCP or UDP ports.
 */
#include <string.h>

#include "rss.h"

#define ETH_HDR 14u
#define ETHERTYPE_IPV4 0x0800u
#define ETHERTYPE_IPV6 0x86ddu
#define IPV4_HDR 20u
#define IPV6_HDR 40u
#define PROTO_TCP 6u
#define PROTO_UDP 17u

void
rss_set_key(struct rss *rss, const uint8_t *key)
{
	uint32_t window[RSS_INPUT_MAX * 8];
	uint32_t bit, byte, val;

	memcpy(rss->key, key, sizeof(rss->key));
	/* window[n]: the 32 key bits that start at bit n */
	for (bit = 0; bit < RSS_INPUT_MAX * 8; bit++) {
		const uint8_t *k = key + bit / 8;
		uint64_t five = (uint64_t)k[0] << 32 | (uint32_t)k[1] << 24 |
				(uint32_t)k[2] << 16 | (uint32_t)k[3] << 8 | k[4];

		window[bit] = (uint32_t)(five >> (8 - bit % 8));
	}
	for (byte = 0; byte < RSS_INPUT_MAX; byte++) {
		for (val = 0; val < 256; val++) {
			uint32_t h = 0;

			for (bit = 0; bit < 8; bit++)
				if ((val & (0x80u >> bit)) != 0)
					h ^= window[byte * 8 + bit];
			rss->lut[byte][val] = h;
		}
	}
}

static uint32_t
rss_mix(const struct rss *rss, uint32_t at, const uint8_t *in, uint32_t len)
{
	uint32_t h = 0, i;

	for (i = 0; i < len; i++)
		h ^= rss->lut[at + i][in[i]];
	return h;
}

/* Which of the types applies to an IP packet with @p proto; 0 when none. */
static uint32_t
rss_type(const struct rss *rss, bool ip6, uint32_t proto, bool has_ports)
{
	uint32_t tcp = ip6 ? NDIS_HASH_TCP_IPV6 : NDIS_HASH_TCP_IPV4;
	uint32_t udp = ip6 ? NDIS_HASH_UDP_IPV6 : NDIS_HASH_UDP_IPV4;
	uint32_t ip = ip6 ? NDIS_HASH_IPV6 : NDIS_HASH_IPV4;

	if (has_ports && proto == PROTO_TCP && (rss->types & tcp) != 0)
		return tcp;
	if (has_ports && proto == PROTO_UDP && (rss->hash_udp || (rss->types & udp) != 0))
		return udp;
	return rss->types & ip;
}

uint32_t
rss_hash(const struct rss *rss, const uint8_t *frame, uint32_t len, uint32_t *type)
{
	const uint8_t *ip = frame + ETH_HDR, *ports;
	uint32_t ethertype, alen, proto, hlen, hash;
	bool ip6, fragment = false;

	*type = 0;
	if (!rss->on || len < ETH_HDR + IPV4_HDR)
		return 0;
	ethertype = (uint32_t)frame[12] << 8 | frame[13];
	ip6 = ethertype == ETHERTYPE_IPV6;
	if (ip6) {
		if (len < ETH_HDR + IPV6_HDR)
			return 0;
		hlen = IPV6_HDR;
		proto = ip[6];
		alen = 32;
		ports = ip + hlen;
		ip += 8;
	} else if (ethertype == ETHERTYPE_IPV4) {
		hlen = (ip[0] & 0xfu) * 4;
		if (hlen < IPV4_HDR)
			return 0;
		fragment = (ip[6] & 0x3f) != 0 || ip[7] != 0;
		proto = ip[9];
		alen = 8;
		ports = ip + hlen;
		ip += 12;
	} else {
		return 0;
	}
	*type = rss_type(rss, ip6, proto, !fragment && len >= ETH_HDR + hlen + 4);
	if (*type == 0)
		return 0;
	hash = rss_mix(rss, 0, ip, alen);
	if (*type != NDIS_HASH_IPV4 && *type != NDIS_HASH_IPV6)
		hash ^= rss_mix(rss, alen, ports, 4);
	return hash;
}
