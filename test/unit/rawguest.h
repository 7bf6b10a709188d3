/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * A guest for unit tests that builds every byte by hand, in one process with the NIC.
 *
 * It shares no ring code with the NIC: indices, packets and signals are written here
 * plainly, so that each can also be written wrongly.
 */
#ifndef RAWGUEST_H
#define RAWGUEST_H

#include <stdbool.h>
#include <stdint.h>

#include <hvwire/ndis.h>
#include <hvwire/nvsp.h>
#include <hvwire/rndis.h>
#include <hvwire/vmbus.h>

#include <netvsp/nic.h>

#define RG_RECV_GPADL 0xe1e11u
#define RG_SEND_GPADL 0xe1e12u
#define RG_RECV_BYTES (1u << 20)
#define RG_SEND_BYTES (32u * 6144u)
#define RG_MEM_BYTES (64u * 4096u) /**< guest memory for GPA ranges */
#define RG_MEM_GPA 0x40000000ull   /**< where it lies for the guest */
#define RG_CAPTURE 4096u           /**< bytes of each captured frame */
#define RG_FRAMES 64u
#define RG_CHANNELS 8u

/** A wire that a test feeds and reads. */
struct rg_wire {
	struct wire w;
	uint8_t in[RG_FRAMES][RG_CAPTURE];
	struct wire_rx in_frame[RG_FRAMES];
	uint32_t in_count, in_next;
	uint8_t out[RG_FRAMES][RG_CAPTURE];
	uint32_t out_len[RG_FRAMES];
	uint64_t out_count;
	uint64_t budget; /**< templates that may still be sent */
	bool link;
};

/** The last packet taken from a receive ring. */
struct rg_packet {
	struct vmbus_pkt_desc desc;
	uint8_t bytes[4096];  /**< whole packet */
	uint32_t len;
	const uint8_t *nvsp;  /**< payload */
	uint32_t nvsp_len;
};

struct rawguest {
	struct nic *nic;
	struct nic_conf conf;
	struct judge judge;
	struct rg_wire wire;
	uint8_t *rings[RG_CHANNELS];  /**< 2 x ring_bytes */
	bool offered[RG_CHANNELS];
	uint8_t *recv, *send, *mem;
	uint32_t interrupts[RG_CHANNELS];
	uint64_t now_ns;
	uint32_t rid;
	bool mute;   /**< do not signal */
	bool deaf;   /**< do not signal after reading */
	struct rg_packet pkt;
	uint8_t reply[1024]; /**< last control reply */
	uint32_t reply_len;
	uint64_t reply_xact;
};

/** Make guest and NIC and open the session; tests may change @p g->conf in @p tweak. */
void rg_start(struct rawguest *g, enum judge_mode mode, void (*tweak)(struct nic_conf *conf));

/** Destroy both. */
void rg_stop(struct rawguest *g);

/** Let the NIC work until it is idle. */
void rg_run(struct rawguest *g);

/** Let time pass, in steps, with the NIC polled. */
void rg_wait(struct rawguest *g, uint64_t ns);

/** Ring headers of channel @p ch. */
struct vmbus_ring_hdr *rg_tx_hdr(struct rawguest *g, uint32_t ch);
struct vmbus_ring_hdr *rg_rx_hdr(struct rawguest *g, uint32_t ch);

/** Data bytes of one ring. */
uint32_t rg_ring_size(const struct rawguest *g);

/** Write one packet without publishing; returns the write index behind it. */
uint32_t rg_write(struct rawguest *g, uint32_t ch, uint32_t at, const void *pkt, uint32_t len);

/** Signal channel @p ch unless the NIC masked that. */
void rg_signal(struct rawguest *g, uint32_t ch);

/** Write, publish, signal by the rule (unless mute). */
void rg_put(struct rawguest *g, uint32_t ch, const void *pkt, uint32_t len);

/** In-band packet with an NVSP message, padded to 40 bytes. */
void rg_nvsp(struct rawguest *g, uint32_t ch, uint16_t flags, uint64_t xact, const void *msg,
	     uint32_t len);

/** GPA-direct packet: ranges as given, then NVSP 107. */
void rg_gpa(struct rawguest *g, uint32_t ch, uint64_t xact, const void *ranges, uint32_t bytes,
	    uint32_t count, uint32_t channel_type, uint32_t section, uint32_t size);

/** Completion of a received packet. */
void rg_complete(struct rawguest *g, uint32_t ch, uint64_t xact);

/** Take the next packet from channel @p ch into g->pkt; false when there is none. */
bool rg_get(struct rawguest *g, uint32_t ch);

/** rg_get() that must be a completion of @p xact with NVSP type @p type; its payload. */
const uint8_t *rg_expect(struct rawguest *g, uint64_t xact, uint32_t type);

/** NVSP up to version @p version with configuration, buffers. */
void rg_nvsp_up(struct rawguest *g, uint32_t version, uint32_t frame_max);

/** Send control message @p msg by guest memory; expects its completion with @p status. */
void rg_control_send(struct rawguest *g, const void *msg, uint32_t len, uint32_t status);

/** The same, and take its reply into g->reply, completing it. */
void rg_control(struct rawguest *g, const void *msg, uint32_t len);

/** RNDIS INITIALIZE. */
void rg_rndis_up(struct rawguest *g);

/** QUERY @p oid; the value's length, copied to @p out. */
uint32_t rg_query(struct rawguest *g, uint32_t oid, void *out, uint32_t max);

/** SET @p oid; the RNDIS status. */
uint32_t rg_set(struct rawguest *g, uint32_t oid, const void *val, uint32_t len);

/** Set the packet filter. */
void rg_filter(struct rawguest *g, uint32_t filter);

/** Everything up to traffic: NVSP 6.1, RNDIS, @p channels channels, filter 0x0d. */
void rg_traffic(struct rawguest *g, uint32_t channels);

/** Switch RSS on with the sample key and a table of @p entries that goes round. */
uint32_t rg_rss(struct rawguest *g, uint32_t entries, uint32_t channels, uint32_t types);

/** Build a plain RNDIS packet for @p frame at @p dst; its length. */
uint32_t rg_rndis_packet(uint8_t *dst, const void *frame, uint32_t len);

/** Send @p n bytes that lie in section @p section. */
void rg_send_section(struct rawguest *g, uint32_t ch, uint64_t xact, uint32_t section,
		     uint32_t n);

/** Fill @p frame with an Ethernet frame of @p len bytes to the NIC's MAC, pattern @p seed. */
void rg_frame(const struct rawguest *g, uint8_t *frame, uint32_t len, uint8_t seed);

/** Hand @p frame to the wire, for the guest. */
void rg_wire_in(struct rawguest *g, const void *frame, uint32_t len);

/** Sum of all violations. */
uint64_t rg_violations(const struct rawguest *g);

#endif /* RAWGUEST_H */
