/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The control session on the primary channel: NVSP and RNDIS requests with deadlines, and
 * the messages that the host sends unasked.
 *
 * Requests are serialised by a mutex; the waiting thread drains the primary channel's inbound
 * ring itself when no lcore does. The three hvn_session_on_*() functions are called by
 * whoever drains, under the channel's in_lock: they copy and never wait.
 *
 * An exchange is one word that both sides move with atomics, so that a reply that comes
 * after the deadline, or for an older request, cannot touch the buffer of a newer one:
 *
 *   0 -> id|WAITING (requester) -> id|COPYING -> id|DONE (drainer) -> 0 (requester)
 */
#ifndef HVN_SESSION_H
#define HVN_SESSION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "hvn_channel.h"
#include "hvn_rndis.h"
#include "hvn_section.h"

/** Longest reply kept: any query that the driver makes fits. */
#define HVN_REPLY_MAX 1024u
/** RNDIS requests whose memory may be with the host; each holds one page. */
#define HVN_REQUEST_SLOTS 4u
/** Deadlines, ms: a live host answers NVSP at once; RNDIS may restart its queues first. */
#define HVN_NVSP_DEADLINE_MS 5000u
#define HVN_RNDIS_DEADLINE_MS 10000u

/** One outstanding request of a kind. */
struct hvn_exchange {
	uint64_t state;    /**< id << 2 | enum in hvn_session.c; 0 = none outstanding */
	uint32_t expect;   /**< RNDIS: type of the completion; set before the state */
	int err;           /**< with DONE: 0 or -errno, then the reply is not valid */
	uint32_t len;      /**< with DONE: bytes of the reply */
	uint8_t reply[HVN_REPLY_MAX];
};

/** Memory of one RNDIS request; owned by the host from sending to the NVSP completion. */
struct hvn_request_slot {
	uint64_t xact;  /**< 0 = free */
	uint8_t *mem;   /**< HVN_RNDIS_REQUEST_MAX bytes, page-aligned, or the section */
	uint64_t gpa;   /**< guest-physical address; unused for a section */
};

/** Counters; written under the primary channel's in_lock. */
struct hvn_session_stats {
	uint64_t late;         /**< replies and completions that nobody waits for (any more) */
	uint64_t malformed;    /**< control messages that made no sense */
	uint64_t indications;  /**< status indications */
	uint64_t unknown;      /**< well-formed messages of a kind that the driver ignores */
};

/** Things that the host said unasked; atomics, newest wins. */
struct hvn_session_notes {
	uint32_t link_changes;   /**< connect and disconnect indications so far */
	uint32_t link_down;      /**< 1 after a disconnect indication */
	uint32_t speed;          /**< 100 bit/s, from an indication; 0 = none came */
	uint32_t vf_allocated;   /**< 1: a VF is present */
	uint32_t vf_serial;
	uint32_t keepalive_rid;  /**< to be answered; 0 = none */
	uint32_t table_valid;    /**< a send table came */
	uint32_t table[NVSP_SEND_TABLE_ENTRIES]; /**< channel numbers as the host gave them */
};

struct hvn_session {
	struct hvn_channel *ch;      /**< primary channel; drained while waiting */
	pthread_mutex_t lock;        /**< one requester at a time */
	uint32_t seq;                /**< of transaction and request ids, never 0; under lock */
	uint32_t version;            /**< NVSP version agreed on, 0 before */
	uint32_t nvsp_ms;            /**< deadlines, ms */
	uint32_t rndis_ms;
	uint32_t last_status;        /**< RNDIS status of the last refused request */
	bool by_section;             /**< requests go through section 0, not by address */
	uint32_t nslots;             /**< 0 = no transport for RNDIS yet */
	uint32_t slot_bytes;         /**< longest request */
	int notify_fd;               /**< eventfd written when notes need attention, or -1 */
	int uio_fd;                  /**< tells when the device is gone, or -1 */
	struct hvn_request_slot slots[HVN_REQUEST_SLOTS];
	struct hvn_exchange nvsp;
	struct hvn_exchange rndis;
	struct hvn_session_notes notes;
	struct hvn_session_stats stats;
};

/** Start with nothing agreed and no RNDIS transport; @p ch stays the caller's. */
void hvn_session_init(struct hvn_session *s, struct hvn_channel *ch);

/** Free what hvn_session_init() made; nobody may use the session any more. */
void hvn_session_fini(struct hvn_session *s);

/**
 * RNDIS requests go by guest-physical address.
 *
 * @param mem
 *   @p pages pages of VMBUS_PAGE_SIZE, page-aligned; the caller's, must outlive the channel.
 * @param gpa
 *   Their guest-physical addresses.
 */
void hvn_session_use_pages(struct hvn_session *s, uint8_t *mem, const uint64_t *gpa,
			   uint32_t pages);

/** RNDIS requests go through section 0 of the send buffer, @p bytes long at @p mem. */
void hvn_session_use_section(struct hvn_session *s, uint8_t *mem, uint32_t bytes);

/*
 * Requests. Any control thread may call them; never from a burst. They return 0 or:
 * -ETIMEDOUT no answer within the deadline; -EIO the channel is dead; -EPROTO malformed
 * answer; -EREMOTEIO refused (last_status); -ENOTSUP no transport; -EMSGSIZE too long.
 */

/** NVSP message without an answer, @p len bytes. */
int hvn_session_send(struct hvn_session *s, const void *msg, uint32_t len);

/** NVSP request; @p reply_len: room at @p reply, then bytes of the answer copied there. */
int hvn_session_nvsp(struct hvn_session *s, const void *msg, uint32_t len, void *reply,
		     uint32_t *reply_len);

int hvn_session_initialize(struct hvn_session *s, struct hvn_rndis_limits *out);

/** Query; @p out_len: room at @p out (<= HVN_REPLY_MAX), then bytes that the device gave. */
int hvn_session_query(struct hvn_session *s, uint32_t oid, const void *in, uint32_t in_len,
		      void *out, uint32_t *out_len);

/** Query a u32. */
int hvn_session_query_u32(struct hvn_session *s, uint32_t oid, uint32_t *val);

int hvn_session_set(struct hvn_session *s, uint32_t oid, const void *buf, uint32_t len);

/** Halt; waits until the host has taken the message. */
int hvn_session_halt(struct hvn_session *s);

/**
 * Look at the uio descriptor: a rescinded device shows there, and a laboratory host that
 * died. Kills the primary channel if so.
 */
bool hvn_session_gone(struct hvn_session *s);

/** Answer what the host wants answered (keepalive); does nothing while a request is on. */
void hvn_session_attend(struct hvn_session *s);

/* Called by whoever drains the primary channel. */

/** A completion (type 0xb) with HVN_XACT_REQUEST in its id arrived with @p len bytes. */
void hvn_session_on_completion(struct hvn_session *s, uint64_t xact, const void *payload,
			       uint32_t len);

/** An in-band packet (type 6) arrived: send table, VF association, ... */
void hvn_session_on_inband(struct hvn_session *s, const void *payload, uint32_t len);

/**
 * An RNDIS control message arrived in the receive buffer; @p msg is shared memory, copy
 * first. The transfer-page packet is completed by the caller.
 */
void hvn_session_on_control(struct hvn_session *s, const void *msg, uint32_t len);

#endif /* HVN_SESSION_H */
