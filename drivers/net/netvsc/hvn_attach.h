/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * A NIC below ethdev: its maps, channels, buffers and control session, opened and closed.
 *
 *   mapped by the bus -> hvn_nic_open() -> hvn_nic_grow() -> hvn_nic_close() -> hvn_nic_free()
 *                            ^                                                      |
 *                            +------------- hvn_nic_map() (fresh uio session) ------+
 */
#ifndef HVN_ATTACH_H
#define HVN_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>

#include "hvn_channel.h"
#include "hvn_nvsp.h"
#include "hvn_rndis.h"
#include "hvn_section.h"
#include "hvn_session.h"
#include "hvn_subchan.h"

struct rte_vmbus_device;

/** MTU that the driver asks for; changing it needs a new session and comes later. */
#define HVN_MTU 1500u
/** Smallest MTU that a host may set. Source: IPv4's minimum. */
#define HVN_MTU_MIN 68u

struct hvn_nic {
	struct rte_vmbus_device *vmbus;
	const char *name;            /**< the device's, for logs and sysfs */
	int socket;                  /**< NUMA node for memory */
	uint32_t latency_us;         /**< monitor latency asked for, us */
	int notify_fd;               /**< eventfd for hvn_session.notify_fd, or -1 */
	bool open;                   /**< hvn_nic_open() succeeded, not closed yet */
	bool asked;                  /**< sub-channels were requested: once per session */

	uint32_t version;            /**< NVSP version */
	struct hvn_nvsp_rxbuf rxbuf;
	uint32_t section_bytes;      /**< of one send section, 0 = no send buffer */
	struct hvn_rndis_limits limits;
	struct hvn_rss_caps rss;
	struct ndis_offload offload; /**< zero when the host told nothing */
	uint32_t mtu;
	uint32_t max_channels;       /**< that can be asked for, 1.. */
	struct rte_ether_addr mac;

	struct hvn_session session;
	struct hvn_section_pool sections;
	uint8_t *pages;              /**< request memory in PA mode, else NULL */

	uint32_t nchannels;          /**< channels in use */
	struct hvn_channel *channel[VMBUS_CHANNELS_MAX];
	struct hvn_ring_map map[VMBUS_CHANNELS_MAX]; /**< [0]: the bus's mapping */
};

/** Bytes of the largest frame without FCS. */
static inline uint32_t
hvn_nic_frame_max(const struct hvn_nic *nic)
{
	return nic->mtu + RTE_ETHER_HDR_LEN;
}

/**
 * Bring a mapped NIC up to the point where it has told all about itself; the filter is 0.
 *
 * @return 0, or -errno with one log line and everything but the bus's mapping undone.
 */
int hvn_nic_open(struct hvn_nic *nic);

/**
 * Open channels until there are @p want.
 *
 * @return
 *   0; -EALREADY when sub-channels were asked for in this session: open a new one;
 *   another -errno with one log line.
 */
int hvn_nic_grow(struct hvn_nic *nic, uint32_t want);

/**
 * End the session and give all maps back. Memory that the host may have used is only safe
 * to free after this. Structs of channels and sections stay until hvn_nic_free().
 */
void hvn_nic_close(struct hvn_nic *nic);

/** Free channels and sections of a closed NIC. */
void hvn_nic_free(struct hvn_nic *nic);

/** Map a closed NIC again: the kernel starts a fresh session. */
int hvn_nic_map(struct hvn_nic *nic);

#endif /* HVN_ATTACH_H */
