/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The shared pool of send sections.
 */
#include <errno.h>
#include <string.h>

#include <rte_malloc.h>

#include "hvn_section.h"

int
hvn_section_pool_init(struct hvn_section_pool *p, void *base, uint64_t len, uint32_t size,
		      int socket)
{
	uint64_t count = size != 0 ? len / size : 0;

	if (count < 2 || count > UINT32_MAX / 2)
		return -EINVAL;
	p->free = rte_malloc_socket("hvn_sections", count * sizeof(p->free[0]),
				    RTE_CACHE_LINE_SIZE, socket);
	if (p->free == NULL)
		return -ENOMEM;
	p->base = base;
	p->size = size;
	p->count = (uint32_t)count;
	p->nfree = 0;
	rte_spinlock_init(&p->lock);
	/* Low numbers on top: a lightly loaded queue stays in a small, warm part. */
	for (uint32_t i = p->count - 1; i >= 1; i--)
		p->free[p->nfree++] = i;
	return 0;
}

void
hvn_section_pool_fini(struct hvn_section_pool *p)
{
	rte_free(p->free);
	memset(p, 0, sizeof(*p));
}

uint32_t
hvn_section_refill(struct hvn_section_pool *p, struct hvn_section_cache *c)
{
	uint32_t n = RTE_MIN(HVN_SECTION_BATCH, (uint32_t)RTE_DIM(c->idx) - c->n);

	if (p->size == 0 || c->held >= c->limit)
		return c->n;
	n = RTE_MIN(n, c->limit - c->held);
	rte_spinlock_lock(&p->lock);
	n = RTE_MIN(n, p->nfree);
	p->nfree -= n;
	memcpy(&c->idx[c->n], &p->free[p->nfree], n * sizeof(c->idx[0]));
	rte_spinlock_unlock(&p->lock);
	c->n += n;
	c->held += n;
	return c->n;
}

void
hvn_section_share(struct hvn_section_pool *p, struct hvn_section_cache *c, uint32_t queues)
{
	hvn_section_drain(p, c, 0);
	c->limit = p->size == 0 ? 0 : RTE_MAX((p->count - 1) / queues, 1u);
}

void
hvn_section_drain(struct hvn_section_pool *p, struct hvn_section_cache *c, uint32_t keep)
{
	uint32_t n = c->n > keep ? c->n - keep : 0;

	if (n == 0)
		return;
	if (p->size == 0) { /* the buffer is gone, and its sections with it */
		c->n = 0;
		c->held = 0;
		return;
	}
	rte_spinlock_lock(&p->lock);
	memcpy(&p->free[p->nfree], &c->idx[keep], n * sizeof(c->idx[0]));
	p->nfree += n;
	rte_spinlock_unlock(&p->lock);
	c->n = keep;
	c->held -= n;
}
