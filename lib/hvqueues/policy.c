/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The arithmetic from counts of CPUs to default queues and ring sizes.
 */
#include <errno.h>
#include <stdio.h>

#include "hvqueues.h"

static uint32_t
lesser(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint32_t
greater(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* Largest power of two that is not above @p n (1..). */
static uint32_t
pow2_floor(uint32_t n)
{
	uint32_t p = 1;

	while (p <= n / 2)
		p *= 2;
	return p;
}

void
hvq_policy_apply(const struct hvq_topology *topo, uint32_t host_queues, struct hvq_policy *out)
{
	uint32_t vcpus = greater(topo->vcpus, 1);
	uint32_t cores = lesser(greater(topo->cores, 1), vcpus);
	uint32_t host = greater(host_queues, 1);

	/* Two cores stay two: one queue would mean no RSS at all. */
	out->rss = cores <= 2 ? cores : cores / 2 + cores % 2;
	out->policy_queues = lesser(HVQ_QUEUES_MAX, greater(HVQ_QUEUES_FLOOR, out->rss));
	out->netvsc = lesser(out->policy_queues, lesser(vcpus, host));
	/* RSS through verbs needs a power of two of work queues. */
	out->mana = pow2_floor(out->netvsc);
}

int
hvq_policy_reason(const struct hvq_topology *topo, uint32_t host_queues, char *buf, size_t len)
{
	struct hvq_policy p;
	const char *why;

	hvq_policy_apply(topo, host_queues, &p);
	if (p.netvsc == p.policy_queues)
		why = p.policy_queues == HVQ_QUEUES_FLOOR ? "the policy's least" :
		      p.policy_queues == HVQ_QUEUES_MAX ? "the policy's most" :
		      "half of the cores";
	else if (p.netvsc == greater(topo->vcpus, 1))
		why = "one for each vCPU";
	else
		why = "all that the host grants";
	return snprintf(buf, len, "%u, %s (%u vCPUs, %u cores, RSS default %u, policy %u, host %u)",
			p.netvsc, why, topo->vcpus, topo->cores, p.rss, p.policy_queues,
			host_queues);
}

/* Limits of a ring whose device takes @p max entries. */
static void
ring_limits(uint32_t min, uint32_t max, struct hvq_ring *out)
{
	out->max = max;
	out->min = lesser(min, max);
	out->def = lesser(HVQ_RING_DEFAULT, max);
}

void
hvq_netvsc_ring(uint32_t sections, struct hvq_ring *out)
{
	uint32_t max = sections == 0 ? HVQ_NETVSC_RING_MAX : sections;

	ring_limits(HVQ_NETVSC_RING_MIN, lesser(max, HVQ_NETVSC_RING_MAX), out);
}

void
hvq_mana_ring(uint32_t device_max, struct hvq_ring *out)
{
	uint32_t max = device_max == 0 ? HVQ_MANA_RING_MAX : device_max;

	ring_limits(HVQ_MANA_RING_MIN, lesser(max, HVQ_MANA_RING_MAX), out);
}

int
hvq_ring_pick(const struct hvq_ring *ring, uint32_t asked, uint32_t *size)
{
	if (asked == 0)
		asked = ring->def;
	if (asked < ring->min || asked > ring->max)
		return -EINVAL;
	*size = asked;
	return 0;
}
