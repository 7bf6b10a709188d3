/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Builds the constant frames of a generator: one frame of one flow at a time.
 */
#include <string.h>

#include "template.h"

/* Header lengths in bytes (IEEE 802.3, RFC 791, 8200, 768, 9293). */
#define ETH_LEN 14u
#define IP4_LEN 20u
#define IP6_LEN 40u
#define UDP_LEN 8u
#define TCP_LEN 20u

#define ETHERTYPE_IP4 0x0800u
#define ETHERTYPE_IP6 0x86DDu
#define PROTO_TCP 6u
#define PROTO_UDP 17u
#define PROTO_IP6_NONE 59u
#define PROTO_EXPERIMENT 253u
#define IP_TTL 64u
#define IP4_DONT_FRAGMENT 0x4000u
#define TCP_PSH_ACK 0x18u
#define TCP_WINDOW 65535u

/** Destination port of all flows: "discard" (RFC 863). */
#define PORT_DST 9u
/** Source ports are PORT_BASE + flow % PORT_COUNT: none is well known, none is 0. */
#define PORT_BASE 1024u
#define PORT_COUNT 64000u

/* Benchmark networks: RFC 2544 (198.18.0.0/15) and RFC 5180 (2001:2::/48). */
static const uint8_t ip4_src[4] = { 198, 18, 0, 0 };
static const uint8_t ip4_dst[4] = { 198, 19, 0, 1 };
static const uint8_t ip6_src[16] = { 0x20, 0x01, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0 };
static const uint8_t ip6_dst[16] = { 0x20, 0x01, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1 };

static void
put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static void
put32(uint8_t *p, uint32_t v)
{
	put16(p, v >> 16);
	put16(p + 2, v);
}

/* Sum of big-endian 16-bit words; an odd last byte counts as its word's high half. */
static uint64_t
sum16(uint64_t sum, const uint8_t *p, uint32_t len)
{
	uint32_t i;

	for (i = 0; i + 1 < len; i += 2)
		sum += (uint32_t)p[i] << 8 | p[i + 1];
	if ((len & 1) != 0)
		sum += (uint32_t)p[len - 1] << 8;
	return sum;
}

static uint32_t
fold(uint64_t sum)
{
	while (sum > UINT16_MAX)
		sum = (sum & UINT16_MAX) + (sum >> 16);
	return ~(uint32_t)sum & UINT16_MAX;
}

static uint32_t
l4_headers(enum template_l4 l4)
{
	return l4 == TEMPLATE_UDP ? UDP_LEN : l4 == TEMPLATE_TCP ? TCP_LEN : 0;
}

static uint32_t
l4_proto(const struct template_plan *plan)
{
	if (plan->l4 == TEMPLATE_RAW)
		return plan->ip == 4 ? PROTO_EXPERIMENT : PROTO_IP6_NONE;
	return plan->l4 == TEMPLATE_UDP ? PROTO_UDP : PROTO_TCP;
}

uint32_t
template_headers(const struct template_plan *plan)
{
	return ETH_LEN + (plan->ip == 4 ? IP4_LEN : IP6_LEN) + l4_headers(plan->l4);
}

/* @return Sum of the addresses, for the pseudo header. */
static uint64_t
build_ip4(uint8_t *ip, uint32_t flow, uint32_t proto, uint32_t len)
{
	ip[0] = 0x45;
	put16(ip + 2, IP4_LEN + len);
	put16(ip + 4, flow);
	put16(ip + 6, IP4_DONT_FRAGMENT);
	ip[8] = IP_TTL;
	ip[9] = (uint8_t)proto;
	memcpy(ip + 12, ip4_src, sizeof(ip4_src));
	put16(ip + 14, flow);
	memcpy(ip + 16, ip4_dst, sizeof(ip4_dst));
	put16(ip + 10, fold(sum16(0, ip, IP4_LEN)));
	return sum16(0, ip + 12, 8);
}

static uint64_t
build_ip6(uint8_t *ip, uint32_t flow, uint32_t proto, uint32_t len)
{
	ip[0] = 0x60;
	put16(ip + 4, len);
	ip[6] = (uint8_t)proto;
	ip[7] = IP_TTL;
	memcpy(ip + 8, ip6_src, sizeof(ip6_src));
	put16(ip + 22, flow);
	memcpy(ip + 24, ip6_dst, sizeof(ip6_dst));
	return sum16(0, ip + 8, 32);
}

/* @p pseudo is the sum of addresses, protocol and length. */
static void
build_l4(uint8_t *l4, enum template_l4 kind, uint32_t flow, uint32_t len, uint64_t pseudo)
{
	uint32_t sum;

	if (kind == TEMPLATE_RAW)
		return;
	put16(l4, PORT_BASE + flow % PORT_COUNT);
	put16(l4 + 2, PORT_DST);
	if (kind == TEMPLATE_UDP) {
		put16(l4 + 4, len);
		sum = fold(sum16(pseudo, l4, len));
		/* 0 would mean "no checksum". */
		put16(l4 + 6, sum == 0 ? UINT16_MAX : sum);
		return;
	}
	put32(l4 + 4, flow + 1);
	put32(l4 + 8, 1);
	l4[12] = TCP_LEN / 4 << 4;
	l4[13] = TCP_PSH_ACK;
	put16(l4 + 14, TCP_WINDOW);
	put16(l4 + 16, fold(sum16(pseudo, l4, len)));
}

void
template_build(const struct template_plan *plan, uint32_t flow, uint8_t *frame, uint32_t len)
{
	uint32_t headers = template_headers(plan);
	uint32_t l4_at = headers - l4_headers(plan->l4);
	uint32_t l4_len = len - l4_at;
	uint32_t proto = l4_proto(plan);
	uint64_t pseudo;
	uint32_t i;

	memset(frame, 0, headers);
	for (i = headers; i < len; i++)
		frame[i] = (uint8_t)(i - headers);
	memcpy(frame, plan->dst, sizeof(plan->dst));
	memcpy(frame + 6, plan->src, sizeof(plan->src));
	put16(frame + 12, plan->ip == 4 ? ETHERTYPE_IP4 : ETHERTYPE_IP6);
	if (plan->ip == 4)
		pseudo = build_ip4(frame + ETH_LEN, flow, proto, l4_len);
	else
		pseudo = build_ip6(frame + ETH_LEN, flow, proto, l4_len);
	build_l4(frame + l4_at, plan->l4, flow, l4_len, pseudo + proto + l4_len);
}
