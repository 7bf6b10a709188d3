/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Numbers by which guest and host call channels, and the signals that use them.
 *
 * There are 128 monitor ids for the whole machine. Channels get one each as long as they
 * last; then ids are shared, and a signal makes the host look at all who share it.
 */
#include <errno.h>

#include <vmring/atomics.h>

#include "lab.h"

/* A relid that was not used for long, as the kernel's ids: mistakes with old ones show. */
static uint32_t
relid_take(struct lab *lab)
{
	uint32_t tries;
	uint32_t id;

	for (tries = 0; tries < LAB_RELID_MAX; tries++) {
		id = lab->relid_next++;
		if (lab->relid_next == LAB_RELID_MAX)
			lab->relid_next = LAB_RELID_FIRST;
		if (lab->relid[id] == NULL)
			return id;
	}
	return 0;
}

int
lab_ids_take(struct lab *lab, struct lab_chan *c)
{
	uint32_t best = 0;
	uint32_t i;

	c->relid = relid_take(lab);
	if (c->relid == 0)
		return -ENOSPC;
	lab->relid[c->relid] = c;
	for (i = 1; i < LAB_MONITORS; i++)
		if (lab->monitor_users[i] < lab->monitor_users[best])
			best = i;
	c->monitor = best;
	c->next_monitor = lab->monitor[best];
	lab->monitor[best] = c;
	lab->monitor_users[best]++;
	lab_ids_quiet(lab, c);
	return 0;
}

void
lab_ids_quiet(struct lab *lab, const struct lab_chan *c)
{
	struct vmbus_monitor_page *mp = lab->monitor_page.p;
	uint32_t *flags = (uint32_t *)((char *)lab->int_page.p + VMBUS_INT_PAGE_SEND_OFS);

	__atomic_fetch_and(&flags[c->relid / 32], ~(1u << (c->relid % 32)), __ATOMIC_SEQ_CST);
	/* A shared id may carry a neighbour's signal; its look is not judged. */
	if (lab->monitor_users[c->monitor] == 1)
		__atomic_fetch_and(&mp->group[c->monitor / VMBUS_MONITOR_GROUP].pending,
				   ~(1u << (c->monitor % VMBUS_MONITOR_GROUP)),
				   __ATOMIC_SEQ_CST);
}

void
lab_ids_release(struct lab *lab, struct lab_chan *c)
{
	struct lab_chan **p;

	if (c->relid == 0)
		return;
	lab->relid[c->relid] = NULL;
	for (p = &lab->monitor[c->monitor]; *p != NULL; p = &(*p)->next_monitor)
		if (*p == c) {
			*p = c->next_monitor;
			lab->monitor_users[c->monitor]--;
			break;
		}
	c->next_monitor = NULL;
	c->relid = 0;
}

static void
monitor_signal(struct lab *lab, uint32_t id)
{
	struct lab_chan *c = lab->monitor[id];

	if (lab->monitor_users[id] == 1) {
		nic_signal(c->nic->nic, c->index);
		return;
	}
	for (; c != NULL; c = c->next_monitor)
		nic_look(c->nic->nic, c->index);
}

void
lab_signals(struct lab *lab)
{
	struct vmbus_monitor_page *mp = lab->monitor_page.p;
	uint32_t g;

	for (g = 0; g < LAB_MONITORS / VMBUS_MONITOR_GROUP; g++) {
		uint32_t *pending = &mp->group[g].pending;
		uint32_t bits;

		if (vmring_load_relaxed(pending) == 0)
			continue;
		/* Acquire: what the guest wrote before it set the bit is to be seen. */
		bits = vmring_take(pending);
		for (; bits != 0; bits &= bits - 1)
			monitor_signal(lab, g * VMBUS_MONITOR_GROUP +
				       (uint32_t)__builtin_ctz(bits));
	}
}

bool
lab_events(struct lab_nic *n)
{
	uint32_t *flags = (uint32_t *)((char *)n->lab->int_page.p + VMBUS_INT_PAGE_SEND_OFS);
	bool any = false;
	uint32_t i;

	for (i = 0; i < VMBUS_CHANNELS_MAX; i++) {
		const struct lab_chan *c = &n->chan[i];
		uint32_t bit = 1u << (c->relid % 32);
		uint32_t *word = &flags[c->relid / 32];

		if (c->relid == 0 || (vmring_load_relaxed(word) & bit) == 0)
			continue;
		__atomic_fetch_and(word, ~bit, __ATOMIC_SEQ_CST);
		nic_signal(n->nic, i);
		any = true;
	}
	return any;
}
