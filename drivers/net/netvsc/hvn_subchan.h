/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Sub-channels as the kernel shows them in sysfs: found, checked and their rings mapped.
 */
#ifndef HVN_SUBCHAN_H
#define HVN_SUBCHAN_H

#include <stdbool.h>
#include <stdint.h>

/** A channel's rings as mapped. */
struct hvn_ring_map {
	void *addr;        /**< outbound, then inbound ring; NULL when not mapped */
	uint64_t len;      /**< both directions, bytes */
	uint32_t relid;
	uint32_t monitor;  /**< monitor id, VMBUS_MONITOR_NONE without */
};

/** True when the kernel gives rings of channels (it also shows the primary's ring). */
bool hvn_subchan_supported(const char *device, uint32_t relid);

/**
 * Map the sub-channels that have appeared since the last call.
 *
 * @param device
 *   Name below /sys/bus/vmbus/devices.
 * @param maps
 *   By sub-channel index minus 1; entries with an address are left alone.
 * @param want
 *   Entries of @p maps.
 * @param[out] found
 *   Mapped entries.
 * @return
 *   0, also when not all are there yet; -EPROTO when the kernel shows an index twice or
 *   beyond @p want; another -errno when a ring cannot be mapped.
 */
int hvn_subchan_scan(const char *device, struct hvn_ring_map *maps, uint32_t want,
		     uint32_t *found);

/** Unmap @p n entries. */
void hvn_subchan_unmap(struct hvn_ring_map *maps, uint32_t n);

#endif /* HVN_SUBCHAN_H */
