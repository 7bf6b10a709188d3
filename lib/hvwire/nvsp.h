/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * NVSP: the messages between a synthetic NIC's driver and its host, inside VMBus packets.
 *
 * Sources: Linux hyperv_net.h, OpenVMM netvsp, DPDK hn_nvs.h (facts only).
 */
#ifndef HVWIRE_NVSP_H
#define HVWIRE_NVSP_H

#include "base.h"

/** Protocol versions, major << 16 | minor (1 and 2 are historic encodings). */
#define NVSP_VERSION_1 0x00000002u
#define NVSP_VERSION_2 0x00030002u
#define NVSP_VERSION_4 0x00040000u
#define NVSP_VERSION_5 0x00050000u
#define NVSP_VERSION_6 0x00060000u
#define NVSP_VERSION_61 0x00060001u

/** Message types. G: guest to host, H: host to guest. */
enum nvsp_type {
	NVSP_INIT = 1,             /**< G */
	NVSP_INIT_COMPLETE = 2,    /**< H */
	NVSP_NDIS_VERSION = 100,   /**< G */
	NVSP_RXBUF = 101,          /**< G: here is the receive buffer */
	NVSP_RXBUF_COMPLETE = 102, /**< H */
	NVSP_RXBUF_REVOKE = 103,   /**< G */
	NVSP_TXBUF = 104,          /**< G: here is the send buffer */
	NVSP_TXBUF_COMPLETE = 105, /**< H */
	NVSP_TXBUF_REVOKE = 106,   /**< G */
	NVSP_RNDIS = 107,          /**< both: an RNDIS message */
	NVSP_RNDIS_COMPLETE = 108, /**< both */
	NVSP_NDIS_CONFIG = 125,    /**< G, since version 2 */
	NVSP_VF_ASSOCIATION = 128, /**< H, since version 4 */
	NVSP_SWITCH_PATH = 129,    /**< both, since version 4 */
	NVSP_SUBCHANNEL = 133,     /**< G and its completion, since version 5 */
	NVSP_SEND_TABLE = 134,     /**< H, since version 5 */
};

/** Status of completions. */
enum nvsp_status {
	NVSP_STATUS_NONE = 0,
	NVSP_STATUS_OK = 1,
	NVSP_STATUS_FAIL = 2,
	NVSP_STATUS_BAD_RNDIS = 5,
	NVSP_STATUS_BUSY = 6,
	NVSP_STATUS_BAD_VERSION = 7,
};

/** Bytes of a message: 28 up to version 6 (32 on the ring), 40 since 6.1. Guests send 40 always. */
#define NVSP_MSG_SIZE_V1 28u
#define NVSP_MSG_SIZE_V61 40u
#define NVSP_MSG_SIZE NVSP_MSG_SIZE_V61

struct nvsp_init {
	uint32_t type;
	uint32_t min_version;
	uint32_t max_version;
} HVW_PACKED;
HVW_SIZE(nvsp_init, 12);
HVW_OFFSET(nvsp_init, min_version, 4);
HVW_OFFSET(nvsp_init, max_version, 8);

struct nvsp_init_complete {
	uint32_t type;
	uint32_t version;  /**< deprecated; not to be trusted */
	uint32_t mdl_max;  /**< longest MDL chain; a hint */
	uint32_t status;
} HVW_PACKED;
HVW_SIZE(nvsp_init_complete, 16);
HVW_OFFSET(nvsp_init_complete, mdl_max, 8);
HVW_OFFSET(nvsp_init_complete, status, 12);

struct nvsp_ndis_version {
	uint32_t type;
	uint32_t major;
	uint32_t minor;
} HVW_PACKED;
HVW_SIZE(nvsp_ndis_version, 12);
HVW_OFFSET(nvsp_ndis_version, major, 4);
HVW_OFFSET(nvsp_ndis_version, minor, 8);

/** NVSP_RXBUF and NVSP_TXBUF. */
struct nvsp_buffer {
	uint32_t type;
	uint32_t gpadl;
	uint16_t id;
	uint16_t reserved;
} HVW_PACKED;
HVW_SIZE(nvsp_buffer, 12);
HVW_OFFSET(nvsp_buffer, gpadl, 4);
HVW_OFFSET(nvsp_buffer, id, 8);

/** Ids that guests give to their buffers. Source: Linux, DPDK. */
#define NVSP_RXBUF_ID 0xcafeu
#define NVSP_TXBUF_ID 0xfaceu

struct nvsp_rxbuf_complete {
	uint32_t type;
	uint32_t status;
	uint32_t nsections;     /**< 1 on every known host */
	uint32_t sec_offset;
	uint32_t sec_suballoc;  /**< bytes of one sub-allocation */
	uint32_t sec_count;     /**< sub-allocations */
	uint32_t sec_end;
} HVW_PACKED;
HVW_SIZE(nvsp_rxbuf_complete, 28);
HVW_OFFSET(nvsp_rxbuf_complete, status, 4);
HVW_OFFSET(nvsp_rxbuf_complete, nsections, 8);
HVW_OFFSET(nvsp_rxbuf_complete, sec_offset, 12);
HVW_OFFSET(nvsp_rxbuf_complete, sec_suballoc, 16);
HVW_OFFSET(nvsp_rxbuf_complete, sec_count, 20);
HVW_OFFSET(nvsp_rxbuf_complete, sec_end, 24);

struct nvsp_txbuf_complete {
	uint32_t type;
	uint32_t status;
	uint32_t section_size;  /**< bytes */
} HVW_PACKED;
HVW_SIZE(nvsp_txbuf_complete, 12);
HVW_OFFSET(nvsp_txbuf_complete, status, 4);
HVW_OFFSET(nvsp_txbuf_complete, section_size, 8);

/** NVSP_RXBUF_REVOKE and NVSP_TXBUF_REVOKE. */
struct nvsp_revoke {
	uint32_t type;
	uint16_t id;
	uint16_t reserved;
} HVW_PACKED;
HVW_SIZE(nvsp_revoke, 8);
HVW_OFFSET(nvsp_revoke, id, 4);

struct nvsp_rndis {
	uint32_t type;
	uint32_t channel_type;  /**< enum nvsp_channel_type */
	uint32_t section;       /**< send section index or NVSP_SECTION_NONE */
	uint32_t section_size;  /**< bytes used in the section */
} HVW_PACKED;
HVW_SIZE(nvsp_rndis, 16);
HVW_OFFSET(nvsp_rndis, channel_type, 4);
HVW_OFFSET(nvsp_rndis, section, 8);
HVW_OFFSET(nvsp_rndis, section_size, 12);

enum nvsp_channel_type {
	NVSP_CHANNEL_DATA = 0,
	NVSP_CHANNEL_CONTROL = 1,
};

#define NVSP_SECTION_NONE 0xffffffffu

struct nvsp_rndis_complete {
	uint32_t type;
	uint32_t status;
} HVW_PACKED;
HVW_SIZE(nvsp_rndis_complete, 8);
HVW_OFFSET(nvsp_rndis_complete, status, 4);

struct nvsp_ndis_config {
	uint32_t type;
	uint32_t mtu;       /**< largest frame without FCS: MTU + 14, bytes */
	uint32_t reserved;
	uint64_t caps;      /**< NVSP_CAP_* */
} HVW_PACKED;
HVW_SIZE(nvsp_ndis_config, 20);
HVW_OFFSET(nvsp_ndis_config, mtu, 4);
HVW_OFFSET(nvsp_ndis_config, caps, 12);

#define NVSP_CAP_SRIOV (1ull << 2)
#define NVSP_CAP_8021Q (1ull << 3)
#define NVSP_CAP_TEAMING (1ull << 5)
#define NVSP_CAP_RSC (1ull << 7)

struct nvsp_vf_association {
	uint32_t type;
	uint32_t allocated;  /**< 0 or 1 */
	uint32_t serial;
} HVW_PACKED;
HVW_SIZE(nvsp_vf_association, 12);
HVW_OFFSET(nvsp_vf_association, allocated, 4);
HVW_OFFSET(nvsp_vf_association, serial, 8);

struct nvsp_switch_path {
	uint32_t type;
	uint32_t active_path;  /**< 0 synthetic, 1 VF */
} HVW_PACKED;
HVW_SIZE(nvsp_switch_path, 8);
HVW_OFFSET(nvsp_switch_path, active_path, 4);

#define NVSP_SUBCHANNEL_ALLOCATE 1u

struct nvsp_subchannel {
	uint32_t type;
	uint32_t op;     /**< NVSP_SUBCHANNEL_ALLOCATE */
	uint32_t count;  /**< channels beside the primary one */
} HVW_PACKED;
HVW_SIZE(nvsp_subchannel, 12);
HVW_OFFSET(nvsp_subchannel, op, 4);
HVW_OFFSET(nvsp_subchannel, count, 8);

struct nvsp_subchannel_complete {
	uint32_t type;
	uint32_t status;
	uint32_t count;  /**< granted, may be fewer */
} HVW_PACKED;
HVW_SIZE(nvsp_subchannel_complete, 12);
HVW_OFFSET(nvsp_subchannel_complete, status, 4);
HVW_OFFSET(nvsp_subchannel_complete, count, 8);

/** NVSP_SEND_TABLE, up to the table. */
struct nvsp_send_table {
	uint32_t type;
	uint32_t count;   /**< NVSP_SEND_TABLE_ENTRIES */
	uint32_t offset;  /**< of the table, bytes from the message start */
} HVW_PACKED;
HVW_SIZE(nvsp_send_table, 12);
HVW_OFFSET(nvsp_send_table, count, 4);
HVW_OFFSET(nvsp_send_table, offset, 8);

#define NVSP_SEND_TABLE_ENTRIES 16u

#endif /* HVWIRE_NVSP_H */
