/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The control session on the primary channel: NVSP and RNDIS requests with deadlines, and
 * the messages that the host sends unasked.
 *
 * Requests are serialised by a mutex; the waiting thread drains the primary channel's inbound
 * ring itself when no lcore does. The three hvn_session_on_*() functions are called by
 * whoever drains, under the channel's in_lock: they copy and never wait.
 */
#ifndef HVN_SESSION_H
#define HVN_SESSION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "hvn_channel.h"
#include "hvn_section.h"

/** Longest reply kept: any query that the driver makes fits. */
#define HVN_REPLY_MAX 1024u

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
