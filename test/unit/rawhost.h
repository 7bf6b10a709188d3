/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * A raw host in the test's own process: it writes and reads a channel's bytes by hand.
 *
 * Nothing here uses the ring engine or the driver's builders: offsets and words are stated a
 * second time, so that a shared mistake cannot hide. All memory ends at a guard page.
 */
#ifndef TEST_RAWHOST_H
#define TEST_RAWHOST_H

#include <stdbool.h>
#include <stdint.h>

#include "hvn_channel.h"

/** Longest packet that the raw host takes from the guest, bytes. */
#define RH_PKT_MAX 8192u
/** Most frames in one packet of the guest. */
#define RH_FRAMES_MAX 64u
/** Longest frame, bytes. */
#define RH_FRAME_MAX 16384u

/** The host's half of one channel. */
struct rawhost {
	uint8_t *rings;      /**< guest's outbound ring, then its inbound ring */
	uint64_t half;       /**< bytes of one ring with its header page */
	uint32_t size;       /**< bytes of one data area */
	uint8_t *recv;       /**< receive buffer */
	uint32_t recv_len;
	uint8_t *send;       /**< send buffer */
	uint64_t send_len;
	uint32_t section;    /**< bytes of a send section */
	uint32_t align;      /**< alignment that the host asked for, bytes */
	uint32_t rpos;       /**< next byte to read of the guest's outbound ring */
	uint32_t wpos;       /**< next byte to write of the guest's inbound ring */
	uint32_t sig_word;   /**< where the guest signals */
};

/** One packet of the guest, copied out. */
struct rh_pkt {
	uint32_t type;
	uint32_t offset;     /**< of the payload, bytes */
	uint32_t len;        /**< bytes without the trailer */
	uint32_t flags;
	uint64_t xact;
	uint8_t bytes[RH_PKT_MAX];
};

/** What a transmit packet of the guest carried. */
struct rh_tx {
	bool by_section;     /**< header (and frames, if no ranges) in a section */
	uint32_t section;
	uint32_t section_len;
	uint32_t nranges;
	uint32_t nframes;
	uint32_t msg_len[RH_FRAMES_MAX];   /**< RNDIS message lengths */
	uint32_t frame_len[RH_FRAMES_MAX];
	uint8_t frame[RH_FRAMES_MAX][RH_FRAME_MAX];
};

/** A record of per-packet information as the host writes it. */
struct rh_ppi {
	uint32_t size;
	uint32_t type;
	uint32_t offset;
	uint32_t value;
};

/** A range of the receive buffer as it stands in a transfer-page packet. */
struct rh_range {
	uint32_t len;
	uint32_t ofs;
};

/** What the driver handed to the session (the stubs of hvn_session_on_*). */
struct rh_session {
	uint32_t completions;
	uint32_t inbands;
	uint32_t controls;
	uint64_t xact;       /**< of the last completion */
	uint32_t len;        /**< of the last message */
	uint8_t bytes[512];  /**< its first bytes */
};
extern struct rh_session rh_session;

/** Start EAL without hugepages, devices or files; once per program. */
void rh_eal_init(void);

/**
 * Allocate rings of @p pages data pages, a receive buffer and a send buffer.
 *
 * @param start
 *   Where both rings' indices begin, a multiple of 8 (to test wrapping).
 */
void rh_open(struct rawhost *rh, uint32_t pages, uint32_t start, uint32_t recv_len,
	     uint32_t section, uint32_t sections);
void rh_close(struct rawhost *rh);

/** Attach the driver's channel to the host's memory, signals to rawhost.sig_word. */
void rh_attach(struct rawhost *rh, struct hvn_channel *ch);

/** @{ Shared words: ring 0 is the guest's outbound one; word 0 write index, 1 read index,
 * 2 mask, 3 pending_send, 16 features. */
uint32_t *rh_word(struct rawhost *rh, uint32_t ring, uint32_t word);
/** @} */

/** Bytes that the host may still write to the guest's inbound ring. */
uint32_t rh_room(struct rawhost *rh);
/** Write @p len bytes (multiple of 8) and a trailer, unpublished. */
void rh_put(struct rawhost *rh, const void *pkt, uint32_t len);
/** Write a packet from its parts. @p head goes between descriptor and payload. */
void rh_packet(struct rawhost *rh, uint16_t type, uint16_t flags, uint64_t xact,
	       const void *head, uint32_t head_len, const void *payload, uint32_t len);
/** Publish everything written. */
void rh_publish(struct rawhost *rh);

/** Write a well-formed transfer-page packet of @p n ranges. */
void rh_xfer(struct rawhost *rh, uint64_t xact, const struct rh_range *ranges, uint32_t n,
	     uint32_t channel_type);
/** Write the completion of the guest's packet @p xact. */
void rh_complete(struct rawhost *rh, uint64_t xact, uint32_t nvsp_type, uint32_t status);

/** Take the guest's next packet; false when there is none. Checks framing and trailer. */
bool rh_take(struct rawhost *rh, struct rh_pkt *pkt);
/** Let the guest reuse the space of all packets taken. */
void rh_release(struct rawhost *rh);
/** Check that @p pkt is a receive completion with status 1; yields its id. */
uint64_t rh_ack_id(const struct rh_pkt *pkt);
/** Check a transmit packet and take its frames apart. */
void rh_tx_parse(const struct rawhost *rh, const struct rh_pkt *pkt, struct rh_tx *tx);

/** Write an RNDIS packet message at @p dst; the frame starts @p gap bytes behind the records.
 * @return Bytes of the message. */
uint32_t rh_rndis(uint8_t *dst, const struct rh_ppi *ppi, uint32_t n, uint32_t gap,
		  const void *frame, uint32_t len);

/** Fill with bytes that depend on @p seed; the seed is in the first four. */
void rh_pattern(uint8_t *dst, uint32_t len, uint32_t seed);
/** True when @p bytes are what rh_pattern() wrote. */
bool rh_pattern_ok(const uint8_t *bytes, uint32_t len, uint32_t seed);

#endif /* TEST_RAWHOST_H */
