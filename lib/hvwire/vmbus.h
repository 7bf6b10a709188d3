/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * VMBus formats that a NIC driver meets: ring header, packet framing, monitor page.
 *
 * One direction of a channel, as it lies in memory:
 *
 *   0      ring header page (indices, mask, flow control)
 *   4096   data area of D bytes; packets are 8-aligned and wrap at any 8 bytes
 *
 *   packet: [descriptor 16][type header][payload, padded to 8][trailer 8]
 *
 * Sources: Linux include/linux/hyperv.h, OpenVMM vmbus_ring, DPDK bus/vmbus (facts).
 */
#ifndef HVWIRE_VMBUS_H
#define HVWIRE_VMBUS_H

#include "base.h"

/** Page size of the Hyper-V interface, bytes; independent of the guest's page size. */
#define VMBUS_PAGE_SIZE 4096u
#define VMBUS_PAGE_SHIFT 12

/** Class of a synthetic NIC. */
#define VMBUS_NIC_CLASS_GUID "f8615163-df3e-46c5-913f-f2d2f965ed0e"

/** Header page of one ring direction (first 4096 bytes). */
struct vmbus_ring_hdr {
	uint32_t write_index;  /**< byte offset of the next byte to write; by the producer */
	uint32_t read_index;   /**< byte offset of the next byte to read; by the consumer */
	uint32_t imask;        /**< by the consumer; non-zero: producer must not signal */
	uint32_t pending_send; /**< by the producer; free bytes it waits for, 0 = none */
	uint32_t reserved[12];
	uint32_t features;     /**< VMBUS_RING_FEAT_* */
	uint8_t reserved2[VMBUS_PAGE_SIZE - 68];
};
HVW_SIZE(vmbus_ring_hdr, 4096);
HVW_OFFSET(vmbus_ring_hdr, read_index, 4);
HVW_OFFSET(vmbus_ring_hdr, imask, 8);
HVW_OFFSET(vmbus_ring_hdr, pending_send, 12);
HVW_OFFSET(vmbus_ring_hdr, features, 64);

/** Feature bit 0: the producer may arm pending_send. */
#define VMBUS_RING_FEAT_PENDING_SEND 0x1u

/** Packet types. */
enum vmbus_pkt_type {
	VMBUS_PKT_INBAND = 0x6,    /**< data in the packet; both directions */
	VMBUS_PKT_XFER_PAGES = 0x7, /**< ranges of the receive buffer; host to guest */
	VMBUS_PKT_GPA_DIRECT = 0x9, /**< guest-physical ranges; guest to host */
	VMBUS_PKT_COMPLETION = 0xb, /**< answer to a packet that asked for it */
};

/** Packet flag: the receiver owes a completion with the same transaction id. */
#define VMBUS_PKT_F_COMPLETION 0x1u

/** Packet descriptor: first 16 bytes of every packet. */
struct vmbus_pkt_desc {
	uint16_t type;    /**< enum vmbus_pkt_type */
	uint16_t offset8; /**< start of the payload, 8-byte units from the descriptor */
	uint16_t len8;    /**< length without the trailer, 8-byte units */
	uint16_t flags;   /**< VMBUS_PKT_F_* */
	uint64_t xact;    /**< transaction id, echoed by the completion */
} HVW_PACKED;
HVW_SIZE(vmbus_pkt_desc, 16);
HVW_OFFSET(vmbus_pkt_desc, offset8, 2);
HVW_OFFSET(vmbus_pkt_desc, len8, 4);
HVW_OFFSET(vmbus_pkt_desc, flags, 6);
HVW_OFFSET(vmbus_pkt_desc, xact, 8);

/** Bytes after each packet: u32 zero, u32 ring offset of its descriptor. */
#define VMBUS_PKT_TRAILER 8u

/** One range of a transfer-page packet. */
struct vmbus_xfer_range {
	uint32_t len; /**< bytes */
	uint32_t ofs; /**< byte offset into the receive buffer */
} HVW_PACKED;
HVW_SIZE(vmbus_xfer_range, 8);
HVW_OFFSET(vmbus_xfer_range, ofs, 4);

/** Transfer-page packet, up to its ranges. */
struct vmbus_xfer_hdr {
	struct vmbus_pkt_desc desc;
	uint16_t set_id;   /**< NVSP_RXBUF_ID */
	uint8_t sender_owns; /**< may be garbage */
	uint8_t reserved;  /**< may be garbage */
	uint32_t nranges;
} HVW_PACKED;
HVW_SIZE(vmbus_xfer_hdr, 24);
HVW_OFFSET(vmbus_xfer_hdr, set_id, 16);
HVW_OFFSET(vmbus_xfer_hdr, nranges, 20);

/** Most ranges in one transfer-page packet (375 plain; with RSC 562). Source: OpenVMM, Linux. */
#define VMBUS_XFER_RANGES 375u
#define VMBUS_XFER_RANGES_RSC 562u

/** One single-page guest-physical range, as this driver and upstream's write it. */
struct vmbus_gpa_range {
	uint32_t len; /**< bytes, 1.. */
	uint32_t ofs; /**< byte offset into the first page, 0..4095 */
	uint64_t pfn; /**< guest-physical address >> 12; more pfns follow in multi-page ranges */
} HVW_PACKED;
HVW_SIZE(vmbus_gpa_range, 16);
HVW_OFFSET(vmbus_gpa_range, ofs, 4);
HVW_OFFSET(vmbus_gpa_range, pfn, 8);

/** Fixed part of a range; ceil((ofs + len) / 4096) page numbers of 8 bytes follow. */
struct vmbus_gpa_range_hdr {
	uint32_t len;
	uint32_t ofs;
} HVW_PACKED;
HVW_SIZE(vmbus_gpa_range_hdr, 8);
HVW_OFFSET(vmbus_gpa_range_hdr, ofs, 4);

/** GPA-direct packet, up to its ranges. */
struct vmbus_gpa_hdr {
	struct vmbus_pkt_desc desc;
	uint32_t reserved;
	uint32_t nranges;
} HVW_PACKED;
HVW_SIZE(vmbus_gpa_hdr, 24);
HVW_OFFSET(vmbus_gpa_hdr, nranges, 20);

/** Ranges that any host takes in one GPA-direct packet. Source: Linux MAX_PAGE_BUFFER_COUNT. */
#define VMBUS_GPA_RANGES_MAX 32u

/** Interrupt page: host-to-guest event bits at 0, guest-to-host bits at 2048, by relid. */
#define VMBUS_INT_PAGE_SEND_OFS 2048u

/** Monitor page (child to parent): trigger bits and latencies, by monitor id 0..127. */
struct vmbus_monitor_page {
	uint32_t trigger_state;
	uint32_t reserved;
	struct {
		uint32_t pending; /**< guest sets a bit (atomic or), host clears it */
		uint32_t armed;
	} group[4];
	uint8_t reserved2[24];
	uint32_t next_checktime[4][32];
	uint16_t latency[4][32]; /**< 100 ns units */
	uint8_t reserved3[256];
	uint64_t param[4][32];
	uint8_t reserved4[1984];
};
HVW_SIZE(vmbus_monitor_page, 4096);
HVW_OFFSET(vmbus_monitor_page, next_checktime, 64);
HVW_OFFSET(vmbus_monitor_page, group, 8);
HVW_OFFSET(vmbus_monitor_page, latency, 576);
HVW_OFFSET(vmbus_monitor_page, param, 1088);

/** "No monitor" in monitor_id. */
#define VMBUS_MONITOR_NONE 255u
/** Monitor ids per trigger group. */
#define VMBUS_MONITOR_GROUP 32u

/** Most channels of one NIC. Source: Linux VRSS_CHANNEL_MAX. */
#define VMBUS_CHANNELS_MAX 64u

/** uio maps of a NIC, in the order of /sys/.../maps/mapK. Source: uio_hv_generic. */
enum vmbus_uio_map {
	VMBUS_MAP_RINGS,   /**< transmit ring, then receive ring, equal halves */
	VMBUS_MAP_INT,     /**< interrupt page */
	VMBUS_MAP_MONITOR, /**< monitor page, child to parent */
	VMBUS_MAP_RECV,    /**< receive buffer; name "recv:<gpadl>" */
	VMBUS_MAP_SEND,    /**< send buffer; name "send:<gpadl>" */
	VMBUS_MAP_COUNT,
};

/** Sizes that the kernel's uio driver gives, bytes. Source: uio_hv_generic. */
#define VMBUS_UIO_RING_BYTES (2u << 20)   /**< one direction */
#define VMBUS_UIO_RECV_BYTES (31u << 20)
#define VMBUS_UIO_SEND_BYTES (16u << 20)

#endif /* HVWIRE_VMBUS_H */
