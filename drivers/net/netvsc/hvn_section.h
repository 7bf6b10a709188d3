/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The NIC's pool of send sections, shared by its transmit queues, and a queue's cache of it.
 *
 * A section belongs to the host from the packet that names it until its completion.
 */
#ifndef HVN_SECTION_H
#define HVN_SECTION_H

#include <stdint.h>

#include <rte_spinlock.h>

/** Sections that move between a queue's cache and the pool at once. */
#define HVN_SECTION_BATCH 32u

/** The pool. Control requests keep one section for themselves, outside the pool. */
struct hvn_section_pool {
	uint8_t *base;          /**< send buffer (shared with the host) */
	uint32_t size;          /**< bytes of one section, 0 = no send buffer */
	uint32_t count;         /**< sections in the buffer, including the control section */
	rte_spinlock_t lock;
	uint32_t nfree;         /**< entries of free[], under lock */
	uint32_t *free;         /**< stack of free section numbers, under lock */
};

/** A transmit queue's cache; its owner is the queue's lcore. */
struct hvn_section_cache {
	uint32_t n;
	uint32_t held;   /**< sections of the pool that the queue has: cached or with the host */
	uint32_t limit;  /**< most of them: the queue's fair share of the pool */
	uint32_t idx[2 * HVN_SECTION_BATCH];
};

/**
 * Set the pool up over @p len bytes at @p base with sections of @p size bytes.
 * Section 0 is kept for control requests.
 * @return 0, -EINVAL (no section fits), -ENOMEM.
 */
int hvn_section_pool_init(struct hvn_section_pool *p, void *base, uint64_t len, uint32_t size,
			  int socket);

/** Free the stack; sections still with the host are forgotten (the channel is closed). */
void hvn_section_pool_fini(struct hvn_section_pool *p);

/**
 * Move up to HVN_SECTION_BATCH sections into @p c, within its share.
 * @return How many the cache has then.
 */
uint32_t hvn_section_refill(struct hvn_section_pool *p, struct hvn_section_cache *c);

/** Move sections back until at most @p keep stay in the cache. */
void hvn_section_drain(struct hvn_section_pool *p, struct hvn_section_cache *c, uint32_t keep);

/**
 * Let @p c have at most its share of the pool among @p queues queues; returns what it had
 * cached. A busy queue cannot starve the others, nor can idle caches hold the whole pool.
 */
void hvn_section_share(struct hvn_section_pool *p, struct hvn_section_cache *c, uint32_t queues);

/** Take a section; NVSP_SECTION_NONE (0xffffffff) when there is none. */
static inline uint32_t
hvn_section_get(struct hvn_section_pool *p, struct hvn_section_cache *c)
{
	if (unlikely(c->n == 0) && hvn_section_refill(p, c) == 0)
		return UINT32_MAX;
	return c->idx[--c->n];
}

/** Give a section back. */
static inline void
hvn_section_put(struct hvn_section_pool *p, struct hvn_section_cache *c, uint32_t section)
{
	if (unlikely(c->n == RTE_DIM(c->idx)))
		hvn_section_drain(p, c, HVN_SECTION_BATCH);
	c->idx[c->n++] = section;
}

#endif /* HVN_SECTION_H */
