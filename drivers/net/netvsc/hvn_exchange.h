/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The hand-over of one reply between the lcore that drains and the thread that waits.
 */
#ifndef HVN_EXCHANGE_H
#define HVN_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "hvn_session.h"

/** Low bits of hvn_exchange.state. */
enum hvn_exchange_step {
	HVN_EX_WAITING = 1, /**< the requester waits */
	HVN_EX_COPYING = 2, /**< the drainer writes the reply */
	HVN_EX_DONE = 3,    /**< the requester may read the reply */
};

static inline uint64_t
hvn_exchange_word(uint32_t id, enum hvn_exchange_step step)
{
	return (uint64_t)id << 2 | step;
}

/** Requester: wait for @p id from now on. Release: the drainer reads expect after it. */
static inline void
hvn_exchange_arm(struct hvn_exchange *x, uint32_t id, uint32_t expect)
{
	x->expect = expect;
	x->err = 0;
	x->len = 0;
	__atomic_store_n(&x->state, hvn_exchange_word(id, HVN_EX_WAITING), __ATOMIC_RELEASE);
}

/** Requester: is the reply there? Acquire: pairs with the release in finish. */
static inline bool
hvn_exchange_done(const struct hvn_exchange *x, uint32_t id)
{
	return __atomic_load_n(&x->state, __ATOMIC_ACQUIRE) ==
	       hvn_exchange_word(id, HVN_EX_DONE);
}

/** Requester: stop waiting; false when the drainer has begun to answer. */
static inline bool
hvn_exchange_cancel(struct hvn_exchange *x, uint32_t id)
{
	uint64_t word = hvn_exchange_word(id, HVN_EX_WAITING);

	return __atomic_compare_exchange_n(&x->state, &word, 0, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE);
}

/** Requester: the reply was used. */
static inline void
hvn_exchange_rest(struct hvn_exchange *x)
{
	__atomic_store_n(&x->state, 0, __ATOMIC_RELEASE);
}

/** Drainer: does somebody wait for @p id? */
static inline bool
hvn_exchange_wants(const struct hvn_exchange *x, uint32_t id)
{
	return __atomic_load_n(&x->state, __ATOMIC_ACQUIRE) ==
	       hvn_exchange_word(id, HVN_EX_WAITING);
}

/**
 * Drainer: answer @p id with @p len bytes (cut to HVN_REPLY_MAX) or with @p err.
 *
 * @return False when nobody waits for it any more.
 */
static inline bool
hvn_exchange_finish(struct hvn_exchange *x, uint32_t id, const void *msg, uint32_t len, int err)
{
	uint64_t word = hvn_exchange_word(id, HVN_EX_WAITING);

	if (!__atomic_compare_exchange_n(&x->state, &word,
					 hvn_exchange_word(id, HVN_EX_COPYING), false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return false;
	x->err = err;
	x->len = err != 0 ? 0 : len < HVN_REPLY_MAX ? len : HVN_REPLY_MAX;
	if (x->len != 0)
		memcpy(x->reply, msg, x->len);
	__atomic_store_n(&x->state, hvn_exchange_word(id, HVN_EX_DONE), __ATOMIC_RELEASE);
	return true;
}

#endif /* HVN_EXCHANGE_H */
