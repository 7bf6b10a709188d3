/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The simulated synthetic NIC: everything the host does behind VMBus channels.
 *
 * The device knows no sockets, files or processes: memory and services come from its
 * environment, so a unit test can drive it in one process. All calls come from one thread.
 *
 *   created --nic_open()--> session (primary channel) --NVSP 133--> sub-channels
 *      ^                        |
 *      +------nic_close()-------+   (all session state is lost, as on the real host)
 */
#ifndef HVSIM_NIC_H
#define HVSIM_NIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../judge.h"
#include "../wire/wire.h"

/** Packet-info layouts of received frames (the records and their order are host policy). */
enum nic_ppi_layout {
	NIC_PPI_CSUM_HASH, /**< checksum, hash value, hash info: the usual one */
	NIC_PPI_HASH_CSUM, /**< the same in another order */
	NIC_PPI_CSUM,      /**< checksum only (OpenVMM's form) */
	NIC_PPI_NONE,
	NIC_PPI_UNKNOWN,   /**< an unknown record first, then the usual ones */
	NIC_PPI_MIX,       /**< a different one for each packet in turn */
};

/** What the user asks of one NIC. */
struct nic_conf {
	char name[32];          /**< "netvsc0": in logs, statistics, violations */
	uint8_t mac[6];
	uint32_t channels;      /**< most channels, 1..64 */
	uint32_t nvsp_version;  /**< highest version the host accepts, NVSP_VERSION_* */
	uint32_t mtu;           /**< largest MTU the host allows, bytes, 1500..9000 */
	uint32_t ring_bytes;    /**< one direction, multiple of 4096 */
	uint32_t section_size;  /**< send section, bytes; 6144 */
	uint32_t max_packets;   /**< RNDIS packets per transfer; 8 */
	uint32_t align_shift;   /**< log2 of their alignment; 3 */
	uint32_t ranges;        /**< most ranges per transfer-page packet, 1..375 */
	uint32_t rss_entries;   /**< indirection table, 1..256; 128 */
	uint32_t recv_slots;    /**< cap on receive sub-allocations, 0 = all that fit */
	uint64_t link_bps;
	enum nic_ppi_layout ppi;
	bool hash_udp;          /**< hash UDP 4-tuples (a host decision) */
};

/** Services of the environment. */
struct nic_env {
	void *ctx;
	/**
	 * A sub-channel was offered: give ring memory (2 x ring_bytes, zeroed; transmit ring
	 * first), then publish it to the guest when nic_channel_opened() was called.
	 * @return Memory or NULL.
	 */
	void *(*channel_offer)(void *ctx, uint32_t index);
	/** The sub-channel is gone: unpublish, free its ring memory. */
	void (*channel_rescind)(void *ctx, uint32_t index);
	/** Resolve guest memory; see guestmem_find(). */
	void *(*gpa)(void *ctx, uint64_t gpa, uint32_t len);
	/** Interrupt the guest for channel @p index. */
	void (*interrupt)(void *ctx, uint32_t index);
};

/** Counters of one channel since the NIC was created. */
struct nic_channel_stats {
	uint64_t rx_packets;     /**< delivered to the guest */
	uint64_t rx_bytes;
	uint64_t rx_messages;    /**< transfer-page packets */
	uint64_t rx_completions; /**< completions that the guest sent */
	uint64_t rx_no_buffer;   /**< dropped: no receive sub-allocation free */
	uint64_t rx_ring_full;   /**< dropped or held: inbound ring full */
	uint64_t rx_filtered;    /**< dropped by the packet filter */
	uint64_t rx_oversize;    /**< dropped: longer than the negotiated MTU */
	uint64_t tx_packets;
	uint64_t tx_bytes;
	uint64_t tx_messages;    /**< VMBus packets with data */
	uint64_t tx_section;     /**< frames by send section */
	uint64_t tx_gpa;         /**< frames by GPA ranges */
	uint64_t tx_mixed;       /**< frames by both */
	uint64_t tx_errors;      /**< messages completed with a status other than success */
	uint64_t signals;        /**< signals from the guest */
	uint64_t signals_redundant; /**< signals that found nothing to do */
	uint64_t interrupts;     /**< interrupts sent to the guest */
};

struct nic;

/** Create a NIC. @p wire and @p judge stay the caller's and must outlive it. NULL: no memory. */
struct nic *nic_create(const struct nic_conf *conf, const struct nic_env *env,
		       struct wire *wire, struct judge *judge);

/** Destroy; closes an open session first. */
void nic_destroy(struct nic *nic);

const struct nic_conf *nic_conf(const struct nic *nic);

/**
 * Start a session on the primary channel (the guest opened /dev/uioN).
 *
 * @param rings
 *   2 x ring_bytes: the guest's transmit ring, then its receive ring. They are reset here.
 * @param recv, send
 *   Receive and send buffers with their GPADL handles and sizes in bytes.
 */
int nic_open(struct nic *nic, void *rings, void *recv, uint32_t recv_gpadl, uint64_t recv_len,
	     void *send, uint32_t send_gpadl, uint64_t send_len);

/** End the session (last close, or the guest died): everything negotiated is forgotten. */
void nic_close(struct nic *nic);

/** True between nic_open() and nic_close(). */
bool nic_is_open(const struct nic *nic);

/** Channels that exist now (1 + sub-channels offered), 0 without a session. */
uint32_t nic_channels(const struct nic *nic);

/** The kernel has opened sub-channel @p index: it may carry traffic now. */
void nic_channel_opened(struct nic *nic, uint32_t index);

/**
 * The guest signalled channel @p index, and certainly this one (a monitor id or an event
 * bit of its own). Signalled modes. Signals beyond the guest's reasons are recorded.
 */
void nic_signal(struct nic *nic, uint32_t index);

/** Somebody signalled and it may have been channel @p index: look without judging. */
void nic_look(struct nic *nic, uint32_t index);

/**
 * Do a bounded amount of work: in polling mode look at all rings, in the signalled modes at
 * those that were signalled; take frames from the wire; post what is due.
 *
 * @return Units of work done; 0 means idle.
 */
uint32_t nic_poll(struct nic *nic, uint64_t now_ns);

/** Change the link; sends the indication. */
void nic_set_link(struct nic *nic, bool up);

/** Read the counters of channel @p index (0..63); zeros when it never existed. */
void nic_channel_stats(const struct nic *nic, uint32_t index, struct nic_channel_stats *st);

/** What the session negotiated, for "hvsim ctl stats". */
struct nic_session_info {
	uint32_t nvsp_version;  /**< 0 before INIT */
	uint32_t mtu;           /**< from NDIS config, bytes */
	uint32_t filter;        /**< NDIS_FILTER_* */
	uint32_t channels;
	uint32_t recv_slots;
	uint32_t recv_outstanding; /**< sub-allocations with the guest now */
	uint32_t rss_channels;  /**< channels in the indirection table, 0 = RSS off */
	bool link_up;
	bool dead;              /**< the judge killed a channel */
};
void nic_session_info(const struct nic *nic, struct nic_session_info *info);

#endif /* HVSIM_NIC_H */
