/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Offloads: what the host offers (receive checksum verdicts only) and those verdicts.
 */
#include <string.h>

#include "nic_priv.h"

#define ETHERTYPE_IPV4 0x0800u
#define ETHERTYPE_IPV6 0x86ddu
#define PROTO_TCP 6u
#define PROTO_UDP 17u

void
offload_caps(const struct nic *nic, struct ndis_offload *off)
{
	uint32_t tcp = NDIS_CSUM_CAP_TCP | NDIS_CSUM_CAP_TCP_OPT | NDIS_CSUM_CAP_UDP |
		       NDIS_CSUM_CAP_IP_OPT;

	(void)nic;
	*off = (struct ndis_offload){
		.hdr = {
			.type = NDIS_OBJ_OFFLOAD,
			.rev = 3,
			.size = NDIS_OFFLOAD_SIZE_REV3,
		},
		.ip4_tx = { .encap = NDIS_ENCAP_8023 },
		.ip4_rx = { .encap = NDIS_ENCAP_8023, .caps = tcp | NDIS_CSUM_CAP_IP },
		.ip6_tx = { .encap = NDIS_ENCAP_8023 },
		.ip6_rx = { .encap = NDIS_ENCAP_8023, .caps = tcp },
	};
}

/* Is @p v a checksum setting that asks for nothing but receive verdicts? */
static bool
offload_csum_ok(uint8_t v)
{
	return v == NDIS_OFFLOAD_SET_NO_CHANGE || v == NDIS_OFFLOAD_SET_OFF ||
	       v == NDIS_OFFLOAD_SET_RX;
}

/* Is @p v a switch that is not turned on? */
static bool
offload_off(uint8_t v)
{
	return v == NDIS_OFFLOAD_SET_NO_CHANGE || v == NDIS_OFFLOAD_SET_OFF;
}

/* Offload parameters: refused when they switch on what was not offered. */
uint32_t
offload_set(struct nic *nic, struct hvw_view val)
{
	struct ndis_offload_params p = { .flags = 0 };
	uint64_t len = val.len < sizeof(p) ? val.len : sizeof(p);

	if (len < NDIS_OFFLOAD_PARAMS_SIZE_REV1) {
		nic_violation(nic, &nic->chan[0], JUDGE_OFFLOAD_PARAMS, val.len);
		return RNDIS_STATUS_INVALID_LENGTH;
	}
	hvw_read(val, 0, &p, len);
	if (p.hdr.type != NDIS_OBJ_DEFAULT || p.hdr.rev < 1 ||
	    p.hdr.size < NDIS_OFFLOAD_PARAMS_SIZE_REV1 || p.hdr.size > val.len) {
		nic_violation(nic, &nic->chan[0], JUDGE_OFFLOAD_PARAMS, p.hdr.size);
		return RNDIS_STATUS_INVALID_DATA;
	}
	if (!offload_csum_ok(p.ip4_csum) || !offload_csum_ok(p.tcp4_csum) ||
	    !offload_csum_ok(p.udp4_csum) || !offload_csum_ok(p.tcp6_csum) ||
	    !offload_csum_ok(p.udp6_csum) || !offload_off(p.lso1) ||
	    !offload_off(p.lso2_ip4) || !offload_off(p.lso2_ip6) || !offload_off(p.rsc_ip4) ||
	    !offload_off(p.rsc_ip6)) {
		nic_violation(nic, &nic->chan[0], JUDGE_OFFLOAD_PARAMS, p.tcp4_csum);
		return RNDIS_STATUS_NOT_SUPPORTED;
	}
	nic->s.offload = p;
	return RNDIS_STATUS_SUCCESS;
}

/* May a guest's packet carry this checksum or LSO record? Only one that asks for nothing. */
bool
offload_ppi_ok(const struct nic *nic, uint32_t type, uint32_t value)
{
	const uint32_t work = RNDIS_TXCSUM_TCP | RNDIS_TXCSUM_UDP | RNDIS_TXCSUM_IP_HDR;

	(void)nic;
	return type == RNDIS_PPI_CSUM && (value & work) == 0;
}

/* Sum of big-endian 16-bit words, not folded. */
static uint64_t
sum16(const uint8_t *p, uint32_t len)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i + 1 < len; i += 2)
		sum += (uint32_t)p[i] << 8 | p[i + 1];
	if ((len & 1) != 0)
		sum += (uint32_t)p[len - 1] << 8;
	return sum;
}

/* True when a sum over data and its checksum says that they match. */
static bool
sum_good(uint64_t sum)
{
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}

/* Verdict on a TCP or UDP segment; @p pseudo is the sum of the addresses. */
static uint32_t
verdict_l4(const uint8_t *l4, uint32_t len, uint32_t proto, uint64_t pseudo)
{
	bool good;

	if (proto == PROTO_UDP && len >= 8) {
		if (l4[6] == 0 && l4[7] == 0)
			return 0; /* sent without checksum */
	} else if (proto != PROTO_TCP || len < 20) {
		return 0;
	}
	good = sum_good(pseudo + proto + len + sum16(l4, len));
	if (proto == PROTO_TCP)
		return good ? RNDIS_RXCSUM_TCP_OK : RNDIS_RXCSUM_TCP_BAD;
	return good ? RNDIS_RXCSUM_UDP_OK : RNDIS_RXCSUM_UDP_BAD;
}

static uint32_t
verdict_ip4(const uint8_t *ip, uint32_t len)
{
	uint32_t hlen = (ip[0] & 0xfu) * 4, total = (uint32_t)ip[2] << 8 | ip[3], bits;

	if (hlen < 20 || total < hlen || total > len)
		return 0;
	if (!sum_good(sum16(ip, hlen)))
		return RNDIS_RXCSUM_IP_BAD;
	bits = RNDIS_RXCSUM_IP_OK;
	if ((ip[6] & 0x3f) == 0 && ip[7] == 0)
		bits |= verdict_l4(ip + hlen, total - hlen, ip[9], sum16(ip + 12, 8));
	return bits;
}

/* Checksum record's value for a frame from the wire; no bit: not checked. */
uint32_t
offload_rx_verdict(const uint8_t *frame, uint32_t len)
{
	uint32_t ofs = NIC_ETH_HDR, type, plen;

	if (len < ofs + 20)
		return 0;
	type = (uint32_t)frame[12] << 8 | frame[13];
	if (type == 0x8100) {
		type = (uint32_t)frame[16] << 8 | frame[17];
		ofs += NIC_VLAN_TAG;
	}
	if (type == ETHERTYPE_IPV4 && len >= ofs + 20)
		return verdict_ip4(frame + ofs, len - ofs);
	if (type != ETHERTYPE_IPV6 || len < ofs + 40)
		return 0;
	plen = (uint32_t)frame[ofs + 4] << 8 | frame[ofs + 5];
	if (plen > len - ofs - 40)
		return 0;
	return verdict_l4(frame + ofs + 40, plen, frame[ofs + 6], sum16(frame + ofs + 8, 32));
}
