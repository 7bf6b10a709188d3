/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Queries and sets of NDIS objects: identity, link, filter, RSS.
 */
#include <string.h>

#include "nic_priv.h"

#define FILTER_KNOWN 0xffu
#define MAC_OPTIONS 0x24du       /* copy lookahead, no pend, no loopback, priority, VLAN */
#define VENDOR_ID 0x155du        /* 00:15:5d. Source: OpenVMM */
#define SPEED_UNIT 100u          /* bit/s */
#define MEDIA_UP 0u
#define MEDIA_DOWN 1u

/* Values of one 32-bit word; false when @p oid is none of them. */
static bool
oid_word(const struct nic *nic, uint32_t oid, uint32_t *val)
{
	uint64_t speed = nic->conf.link_bps / SPEED_UNIT;

	switch (oid) {
	case OID_GEN_HARDWARE_STATUS:
	case OID_GEN_MEDIA_SUPPORTED:
	case OID_GEN_MEDIA_IN_USE:
		*val = 0;
		return true;
	case OID_GEN_MAXIMUM_LOOKAHEAD:
	case OID_GEN_CURRENT_LOOKAHEAD:
	case OID_GEN_MAXIMUM_FRAME_SIZE:
		*val = nic->s.frame_max - NIC_ETH_HDR;
		return true;
	case OID_GEN_MAXIMUM_TOTAL_SIZE:
		*val = nic->s.frame_max;
		return true;
	case OID_GEN_LINK_SPEED:
		*val = speed < UINT32_MAX ? (uint32_t)speed : UINT32_MAX;
		return true;
	case OID_GEN_VENDOR_ID:
		*val = VENDOR_ID;
		return true;
	case OID_GEN_CURRENT_PACKET_FILTER:
		*val = nic->s.filter;
		return true;
	case OID_GEN_MAC_OPTIONS:
		*val = MAC_OPTIONS;
		return true;
	case OID_GEN_MEDIA_CONNECT_STATUS:
		*val = nic->link_up ? MEDIA_UP : MEDIA_DOWN;
		return true;
	case OID_GEN_MAXIMUM_SEND_PACKETS:
		*val = UINT32_MAX;
		return true;
	case OID_802_3_MAXIMUM_LIST_SIZE:
		*val = NIC_MCAST_MAX;
		return true;
	default:
		return false;
	}
}

static uint32_t
oid_rss_caps(const struct nic *nic, uint8_t *out)
{
	struct ndis_rss_caps caps = {
		.hdr = { .type = NDIS_OBJ_RSS_CAPS, .rev = 2, .size = sizeof(caps) },
		.caps = NDIS_HASH_TOEPLITZ | NDIS_RSS_CAP_IPV4 | NDIS_RSS_CAP_IPV6,
		.nmsi = 1,
		.nqueues = nic->conf.channels,
		.ind_entries = (uint16_t)nic->conf.rss_entries,
	};

	memcpy(out, &caps, sizeof(caps));
	return sizeof(caps);
}

static const uint32_t oid_list[] = {
	OID_GEN_SUPPORTED_LIST, OID_GEN_HARDWARE_STATUS, OID_GEN_MEDIA_SUPPORTED,
	OID_GEN_MEDIA_IN_USE, OID_GEN_MAXIMUM_LOOKAHEAD, OID_GEN_MAXIMUM_FRAME_SIZE,
	OID_GEN_LINK_SPEED, OID_GEN_VENDOR_ID, OID_GEN_VENDOR_DESCRIPTION,
	OID_GEN_CURRENT_PACKET_FILTER, OID_GEN_CURRENT_LOOKAHEAD, OID_GEN_MAXIMUM_TOTAL_SIZE,
	OID_GEN_MAC_OPTIONS, OID_GEN_MEDIA_CONNECT_STATUS, OID_GEN_MAXIMUM_SEND_PACKETS,
	OID_GEN_RECEIVE_SCALE_CAPABILITIES, OID_GEN_RECEIVE_SCALE_PARAMETERS,
	OID_GEN_FRIENDLY_NAME, OID_802_3_PERMANENT_ADDRESS, OID_802_3_CURRENT_ADDRESS,
	OID_802_3_MULTICAST_LIST, OID_802_3_MAXIMUM_LIST_SIZE,
	OID_TCP_OFFLOAD_CURRENT_CONFIG, OID_TCP_OFFLOAD_PARAMETERS,
	OID_TCP_OFFLOAD_HARDWARE_CAPABILITIES,
};

/*
 * Answer a query into @p out (@p max bytes, enough for every value here).
 *
 * @return RNDIS status; @p len bytes were written.
 */
uint32_t
oid_query(struct nic *nic, uint32_t oid, uint8_t *out, uint32_t max, uint32_t *len)
{
	static const char vendor[] = "hvsim";
	static const uint16_t friendly[256] = { 'N', 'e', 't', 'w', 'o', 'r', 'k', ' ',
						'D', 'e', 'v', 'i', 'c', 'e' };
	struct ndis_offload off;
	uint32_t word;

	*len = 0;
	if (max < sizeof(friendly))
		return RNDIS_STATUS_RESOURCES;
	if (oid_word(nic, oid, &word)) {
		memcpy(out, &word, sizeof(word));
		*len = sizeof(word);
		return RNDIS_STATUS_SUCCESS;
	}
	switch (oid) {
	case OID_GEN_SUPPORTED_LIST:
		*len = sizeof(oid_list);
		memcpy(out, oid_list, *len);
		break;
	case OID_GEN_VENDOR_DESCRIPTION:
		*len = sizeof(vendor) - 1;
		memcpy(out, vendor, *len);
		break;
	case OID_GEN_FRIENDLY_NAME:
		*len = sizeof(friendly);
		memcpy(out, friendly, *len);
		break;
	case OID_802_3_PERMANENT_ADDRESS:
	case OID_802_3_CURRENT_ADDRESS:
		*len = sizeof(nic->conf.mac);
		memcpy(out, nic->conf.mac, *len);
		break;
	case OID_GEN_RECEIVE_SCALE_CAPABILITIES:
		*len = oid_rss_caps(nic, out);
		break;
	case OID_TCP_OFFLOAD_HARDWARE_CAPABILITIES:
	case OID_TCP_OFFLOAD_CURRENT_CONFIG:
		offload_caps(nic, &off);
		*len = sizeof(off);
		memcpy(out, &off, *len);
		break;
	default:
		return RNDIS_STATUS_NOT_SUPPORTED;
	}
	return RNDIS_STATUS_SUCCESS;
}

/* What is wrong with RSS parameters that switch RSS on; JUDGE_COUNT when nothing. */
static enum judge_violation
rss_check(const struct nic *nic, struct hvw_view val, const struct ndis_rss_params *p,
	  struct hvw_view *table, struct hvw_view *key, uint64_t *value)
{
	uint32_t i, entry = 0;

	*value = (uint64_t)p->ind_size << 32 | p->ind_offset;
	if (p->ind_size == 0 || p->ind_size % 4 != 0 ||
	    !hvw_sub(val, p->ind_offset, p->ind_size, table))
		return JUDGE_RSS_PARAMS;
	*value = (uint64_t)p->key_size << 32 | p->key_offset;
	if (p->key_size != NDIS_RSS_KEY_SIZE || !hvw_sub(val, p->key_offset, p->key_size, key))
		return JUDGE_RSS_KEY;
	for (i = 0; i < p->ind_size / 4u && i < nic->conf.rss_entries; i++) {
		hvw_read32(*table, i * 4u, &entry);
		*value = (uint64_t)i << 32 | entry;
		if (entry >= nic->s.channels)
			return JUDGE_RSS_TABLE;
	}
	return JUDGE_COUNT;
}

static void
rss_apply(struct nic *nic, const struct ndis_rss_params *p, struct hvw_view table,
	  struct hvw_view key)
{
	struct rss *rss = &nic->s.rss;
	uint32_t i, entry = 0, n = p->ind_size / 4u;

	rss->entries = nic->conf.rss_entries;
	for (i = 0; i < rss->entries; i++) {
		hvw_read32(table, i % n * 4u, &entry);
		rss->table[i] = (uint8_t)entry;
	}
	rss->types = p->hash & ~0xffu;
	rss->hash_udp = nic->conf.hash_udp;
	rss_set_key(rss, key.base);
	rss->on = true;
}

/* Receive-scale parameters. A short table is repeated up to the host's size. */
static uint32_t
oid_rss_set(struct nic *nic, struct hvw_view val)
{
	struct nic_chan *c = &nic->chan[0];
	struct ndis_rss_params p;
	struct hvw_view table, key;
	enum judge_violation v;
	uint64_t value;

	if (!hvw_read(val, 0, &p, sizeof(p)) || p.hdr.type != NDIS_OBJ_RSS_PARAMS) {
		nic_violation(nic, c, JUDGE_RSS_PARAMS, val.len);
		return RNDIS_STATUS_INVALID_DATA;
	}
	if ((p.flags & NDIS_RSS_FLAG_DISABLE) != 0 || (p.hash & 0xff) == 0) {
		nic->s.rss.on = false;
	} else {
		v = rss_check(nic, val, &p, &table, &key, &value);
		if (v != JUDGE_COUNT) {
			nic_violation(nic, c, v, value);
			return RNDIS_STATUS_INVALID_DATA;
		}
		rss_apply(nic, &p, table, key);
	}
	slots_share(nic);
	prebuilt_changed(nic);
	return RNDIS_STATUS_SUCCESS;
}

static uint32_t
oid_filter_set(struct nic *nic, struct hvw_view val)
{
	uint32_t filter;

	if (!hvw_read32(val, 0, &filter)) {
		nic_violation(nic, &nic->chan[0], JUDGE_OID_VALUE, OID_GEN_CURRENT_PACKET_FILTER);
		return RNDIS_STATUS_INVALID_LENGTH;
	}
	if ((filter & ~FILTER_KNOWN) != 0) {
		nic_violation(nic, &nic->chan[0], JUDGE_FILTER_BITS, filter);
		return RNDIS_STATUS_INVALID_DATA;
	}
	if (filter != nic->s.filter) {
		nic->s.filter = filter;
		prebuilt_changed(nic);
	}
	return RNDIS_STATUS_SUCCESS;
}

static uint32_t
oid_multicast_set(struct nic *nic, struct hvw_view val)
{
	if (val.len % 6 != 0) {
		nic_violation(nic, &nic->chan[0], JUDGE_OID_VALUE, OID_802_3_MULTICAST_LIST);
		return RNDIS_STATUS_INVALID_LENGTH;
	}
	if (val.len / 6 > NIC_MCAST_MAX)
		return RNDIS_STATUS_MULTICAST_FULL;
	hvw_read(val, 0, nic->s.mcast, val.len);
	nic->s.mcast_count = (uint32_t)(val.len / 6);
	return RNDIS_STATUS_SUCCESS;
}

/* Act on a SET; returns its RNDIS status. */
uint32_t
oid_set(struct nic *nic, uint32_t oid, struct hvw_view val)
{
	switch (oid) {
	case OID_GEN_CURRENT_PACKET_FILTER:
		return oid_filter_set(nic, val);
	case OID_GEN_RECEIVE_SCALE_PARAMETERS:
		return oid_rss_set(nic, val);
	case OID_802_3_MULTICAST_LIST:
		return oid_multicast_set(nic, val);
	case OID_TCP_OFFLOAD_PARAMETERS:
		return offload_set(nic, val);
	default:
		return RNDIS_STATUS_NOT_SUPPORTED;
	}
}
