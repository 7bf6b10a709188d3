/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * A transmit queue's memory and the way of its descriptors back from the host.
 */
#include <errno.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_memory.h>

#include "hvn_inbound.h"
#include "hvn_tx.h"
#include "hvn_tx_ring.h"

/** Completions that let transmit go on for a while. */
#define RECLAIM_ENOUGH 32u
/** mbufs freed in one call. */
#define FREE_BATCH 64u

static_assert(VMBUS_PAGE_SIZE % HVN_TX_HDR_SIZE == 0, "header slots never cross a page");

/** Look up the guest-physical address of each header slot. */
static int
map_headers(struct hvn_txq *txq)
{
	for (uint32_t i = 0; i < txq->nb_desc; i++) {
		rte_iova_t iova = rte_mem_virt2iova(txq->hdrs + (uint64_t)i * HVN_TX_HDR_SIZE);

		if (iova == RTE_BAD_IOVA)
			return -EFAULT;
		txq->hdr_gpa[i] = iova;
	}
	return 0;
}

int
hvn_txq_alloc(struct hvn_txq *txq, uint32_t nb_desc, int socket)
{
	uint32_t entries = rte_align32pow2(nb_desc);

	txq->nb_desc = nb_desc;
	txq->comp_mask = entries - 1;
	txq->txd = rte_zmalloc_socket("hvn_txd", nb_desc * sizeof(txq->txd[0]), 64, socket);
	txq->free = rte_zmalloc_socket("hvn_txf", nb_desc * sizeof(txq->free[0]), 64, socket);
	txq->comp = rte_zmalloc_socket("hvn_txc", entries * sizeof(txq->comp[0]), 64, socket);
	txq->state = rte_zmalloc_socket("hvn_txs", nb_desc, 64, socket);
	txq->hdrs = rte_zmalloc_socket("hvn_txh", (size_t)nb_desc * HVN_TX_HDR_SIZE,
				       VMBUS_PAGE_SIZE, socket);
	txq->hdr_gpa = rte_zmalloc_socket("hvn_txg", nb_desc * sizeof(txq->hdr_gpa[0]), 64,
					  socket);
	if (txq->txd == NULL || txq->free == NULL || txq->comp == NULL || txq->state == NULL ||
	    txq->hdrs == NULL || txq->hdr_gpa == NULL) {
		hvn_txq_free(txq);
		return -ENOMEM;
	}
	if (txq->gpa_ok && map_headers(txq) != 0)
		txq->gpa_ok = false;
	for (uint32_t i = 0; i < nb_desc; i++) {
		txq->free[i] = nb_desc - 1 - i;
		txq->txd[i].section = NVSP_SECTION_NONE;
	}
	txq->nfree = nb_desc;
	txq->comp_head = 0;
	txq->comp_tail = 0;
	txq->cache = (struct hvn_section_cache){ .limit = UINT32_MAX };
	return 0;
}

void
hvn_txq_free(struct hvn_txq *txq)
{
	/* The pool outlives the queue: what the cache held would be lost to it. */
	if (txq->pool != NULL)
		hvn_section_drain(txq->pool, &txq->cache, 0);
	rte_free(txq->txd);
	rte_free(txq->free);
	rte_free(txq->comp);
	rte_free(txq->state);
	rte_free(txq->hdrs);
	rte_free(txq->hdr_gpa);
	txq->txd = NULL;
	txq->free = NULL;
	txq->comp = NULL;
	txq->state = NULL;
	txq->hdrs = NULL;
	txq->hdr_gpa = NULL;
	txq->nb_desc = 0;
	txq->nfree = 0;
}

bool
hvn_txq_complete(struct hvn_txq *txq, uint64_t xact, bool ok)
{
	uint64_t txd = xact - 1;

	if (unlikely(txd >= txq->nb_desc || txq->state[txd] != HVN_TXD_SENT))
		return false;
	txq->state[txd] = HVN_TXD_DONE;
	txq->comp[txq->comp_head & txq->comp_mask] =
		(uint32_t)txd | (ok ? 0 : HVN_TX_COMP_ERROR);
	/* Pairs with the acquire in hvn_txq_collect(). */
	vmring_store_release(&txq->comp_head, txq->comp_head + 1);
	return true;
}

/** Return one descriptor's resources; its mbuf goes to @p mbufs. */
static inline uint32_t
retire(struct hvn_txq *txq, uint32_t idx, struct rte_mbuf **mbufs, uint32_t n)
{
	struct hvn_txd *txd = &txq->txd[idx];

	if (txd->section != NVSP_SECTION_NONE)
		hvn_section_put(txq->pool, &txq->cache, txd->section);
	if (txd->mbuf != NULL)
		mbufs[n++] = txd->mbuf;
	txd->mbuf = NULL;
	txd->section = NVSP_SECTION_NONE;
	txq->state[idx] = HVN_TXD_FREE;
	txq->free[txq->nfree++] = idx;
	return n;
}

void
hvn_txq_collect(struct hvn_txq *txq)
{
	/* Pairs with the release in hvn_txq_complete(). */
	uint32_t head = vmring_load_acquire(&txq->comp_head);
	struct rte_mbuf *mbufs[FREE_BATCH];
	uint32_t n = 0;

	while (txq->comp_tail != head) {
		uint32_t entry = txq->comp[txq->comp_tail & txq->comp_mask];
		uint32_t idx = entry & ~HVN_TX_COMP_ERROR;

		if (unlikely((entry & HVN_TX_COMP_ERROR) != 0))
			txq->stats.errors += txq->txd[idx].packets;
		n = retire(txq, idx, mbufs, n);
		txq->comp_tail++;
		if (unlikely(n == FREE_BATCH)) {
			rte_pktmbuf_free_bulk(mbufs, n);
			n = 0;
		}
	}
	if (n != 0)
		rte_pktmbuf_free_bulk(mbufs, n);
}

uint32_t
hvn_txq_reclaim(struct hvn_txq *txq)
{
	hvn_inbound_reclaim(txq->ch, RECLAIM_ENOUGH);
	hvn_txq_collect(txq);
	return txq->nb_desc - txq->nfree;
}

void
hvn_txq_abandon(struct hvn_txq *txq)
{
	struct rte_mbuf *m;

	hvn_txq_collect(txq);
	for (uint32_t i = 0; i < txq->nb_desc; i++) {
		m = NULL;
		if (txq->state[i] != HVN_TXD_FREE && retire(txq, i, &m, 0) != 0)
			rte_pktmbuf_free(m);
	}
	hvn_section_drain(txq->pool, &txq->cache, 0);
}
