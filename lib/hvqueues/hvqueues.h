/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Default numbers of queues and ring entries, from the machine's CPU topology.
 *
 * Two halves: a reader that counts CPUs in a sysfs tree, and pure arithmetic on the counts.
 * Nothing here looks at affinity or cgroups: EAL pins the thread that probes a device, so
 * they would say one CPU.
 *
 * Sources: Linux netif_get_num_default_rss_queues(), netvsc's default number of channels,
 * MANA's receive buffers per queue (figures only).
 */
#ifndef HVQUEUES_HVQUEUES_H
#define HVQUEUES_HVQUEUES_H

#include <stddef.h>
#include <stdint.h>

/** Most queues that the policy asks for; also most channels of a synthetic NIC. */
#define HVQ_QUEUES_MAX 64u
/** Fewest queues that the policy asks for, before vCPUs and host have their say. */
#define HVQ_QUEUES_FLOOR 16u
/** Highest CPU number that is understood, plus one. Source: Linux, largest NR_CPUS. */
#define HVQ_CPUS_MAX 8192u

/** Ring entries of a queue when the application does not care. */
#define HVQ_RING_DEFAULT 1024u
/** MANA receive ring entries. Source: Linux mana, minimum and maximum. */
#define HVQ_MANA_RING_MIN 128u
#define HVQ_MANA_RING_MAX 8192u
/** Synthetic NIC: packets of a queue that may be out at once; fewer would starve bursts. */
#define HVQ_NETVSC_RING_MIN 64u
/** Largest power of two that ethdev's 16-bit ring sizes can say. */
#define HVQ_NETVSC_RING_MAX 32768u

/** What the machine has. */
struct hvq_topology {
	uint32_t vcpus; /**< CPUs online, 1.. */
	uint32_t cores; /**< physical cores with an online CPU, 1..vcpus */
};

/** What the policy makes of it; every step is kept so that it can be shown. */
struct hvq_policy {
	uint32_t rss;           /**< cores when 1 or 2, else half of them, rounded up */
	uint32_t policy_queues; /**< rss, at least HVQ_QUEUES_FLOOR, at most HVQ_QUEUES_MAX */
	uint32_t netvsc;        /**< default of a synthetic NIC: not above vCPUs and host */
	uint32_t mana;          /**< default of a MANA port: power of two, not above netvsc */
};

/** Entries of one ring. */
struct hvq_ring {
	uint32_t min; /**< fewest, 1..def */
	uint32_t max; /**< most, def.. */
	uint32_t def; /**< when the application gives 0 */
};

/**
 * Count the online CPUs and the physical cores behind them.
 *
 * A core counts once however many of its SMT siblings are online. A CPU whose topology
 * cannot be read counts as a core of its own.
 * @param sysfs
 *   Root of a sysfs tree, the folder that holds "devices"; NULL for the machine's /sys,
 *   and then a missing or unreadable tree is no error: the C library's count is taken.
 * @param[out] topo
 *   Untouched on error.
 * @return
 *   0; -ENOENT when the tree has no online CPU; -EINVAL when its list of online CPUs is
 *   not one or names a CPU from HVQ_CPUS_MAX on; -ENAMETOOLONG for an endless root;
 *   -ENOMEM; or the negative errno of reading.
 */
int hvq_topology_read(const char *sysfs, struct hvq_topology *topo);

/**
 * Apply the policy.
 *
 * @param topo
 *   Counts; zeros are taken as 1, more cores than CPUs as one core for each CPU.
 * @param host_queues
 *   Channels or queues that the host grants, with the first one; 0 is taken as 1.
 */
void hvq_policy_apply(const struct hvq_topology *topo, uint32_t host_queues,
		      struct hvq_policy *out);

/**
 * Say in one line why a synthetic NIC (or MANA port) has its default number of queues.
 *
 * @param[out] buf
 *   Receives at most @p len bytes with the terminating NUL, no line end.
 * @return Like snprintf(): the characters needed.
 */
int hvq_policy_reason(const struct hvq_topology *topo, uint32_t host_queues,
		      char *buf, size_t len);

/**
 * Receive ring limits of a synthetic NIC's queue.
 *
 * There is no descriptor ring: the size is the most packets of the queue that the host has
 * delivered and the driver has not completed.
 * @param sections
 *   Receive sections of the whole NIC; 0 when not known.
 */
void hvq_netvsc_ring(uint32_t sections, struct hvq_ring *out);

/**
 * Receive ring limits of a MANA queue.
 *
 * @param device_max
 *   Most entries that the device's verbs provider takes; 0 when not known.
 */
void hvq_mana_ring(uint32_t device_max, struct hvq_ring *out);

/**
 * Choose a ring size.
 *
 * @param asked
 *   What the application wants, entries; 0 for the default.
 * @param[out] size
 *   Untouched on error.
 * @return 0; -EINVAL when @p asked lies outside the limits.
 */
int hvq_ring_pick(const struct hvq_ring *ring, uint32_t asked, uint32_t *size);

#endif /* HVQUEUES_HVQUEUES_H */
