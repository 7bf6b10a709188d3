/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * What the files of the simulated NIC share: its state and the calls between its parts.
 *
 *   nic.c       life cycle, poll loop, statistics
 *   dispatch.c  packets of a transmit ring, completions and replies into the receive ring
 *   nvsp.c      NVSP state machine          control.c  RNDIS control channel
 *   oid.c       queries and sets            offload.c  offload capabilities, verdicts
 *   tx.c        RNDIS data from the guest   txbytes.c  its bytes: section, guest memory
 *   rx.c        frames to the guest         prebuilt.c the same for generator wires
 *   slots.c     receive sub-allocations     slotfill.c their content
 */
#ifndef HVSIM_NETVSP_NIC_PRIV_H
#define HVSIM_NETVSP_NIC_PRIV_H

#include <hvwire/cursor.h>
#include <hvwire/ndis.h>
#include <hvwire/nvsp.h>
#include <hvwire/rndis.h>

#include "../vmbus/channel.h"
#include "nic.h"
#include "rss.h"

#define NIC_ETH_HDR 14u
#define NIC_VLAN_TAG 4u
#define NIC_MTU_FRAME_MIN 1514u     /**< NDIS config's smallest frame. Source: OpenVMM */
#define NIC_MTU_FRAME_MAX 9216u     /**< and largest */
#define NIC_CTL_SLOTS 16u           /**< sub-allocations for control. Source: OpenVMM */
#define NIC_RX_DATA_OFS 128u        /**< frame's place in a sub-allocation */
#define NIC_RX_TAIL 36u             /**< unused end of a sub-allocation. Source: OpenVMM */
#define NIC_RX_RING_SPARE 2048u     /**< receive ring kept for completions. Source: OpenVMM */
#define NIC_PKT_MAX 2048u           /**< longest packet from a guest, bytes */
#define NIC_GPA_RANGES 34u          /**< announced MDL chain. Source: OpenVMM */
#define NIC_PIECES 80u              /**< pieces of one RNDIS transfer, page by page */
#define NIC_OUT_MAX 1024u           /**< completions waiting for ring space. Source: OpenVMM */
#define NIC_REPLY_MAX 704u          /**< longest control reply, bytes */
#define NIC_REPLIES 64u             /**< control replies waiting */
#define NIC_CTL_MAX 4096u           /**< longest control request, bytes */
#define NIC_DRAIN_MAX 512u          /**< packets of one channel in one poll */
#define NIC_RX_BURST 64u            /**< frames from a wire in one poll */
#define NIC_STAGE_FRAMES 256u       /**< frames of the guest handed to the wire at once */
#define NIC_STAGE_SEGS 1024u
#define NIC_MCAST_MAX 32u            /**< exact multicast addresses */
#define NIC_NO_SLOT UINT32_MAX
#define NIC_OWNER_NONE 0xffu
#define NIC_ACK_WORDS 8u            /**< 8-byte words of a usual completion with trailer */
#define NIC_AUDIT_NS 10000000ull    /**< pause between audits of the signals */

/** One receive sub-allocation. */
struct nic_slot {
	struct vmbus_xfer_range range; /**< as it goes into a transfer-page packet */
	uint32_t next;                 /**< free list or transfer, NIC_NO_SLOT ends */
	uint16_t gen;                  /**< prebuilt: generation of its content, 0 none */
	uint8_t owner;                 /**< channel whose free list it returns to */
	uint8_t holder;                /**< NIC_HELD_*: with the guest, by channel */
};
#define NIC_HELD_BY 0x7fu   /**< channel + 1, 0: with the host */
#define NIC_HELD_HEAD 0x80u /**< first of its transfer: its number is the transaction id */

/** A completion or reply that waits for space in the receive ring. */
struct nic_out {
	uint64_t xact;
	uint32_t section; /**< send section to free, NVSP_SECTION_NONE */
	uint16_t type;    /**< enum vmbus_pkt_type */
	uint16_t len;     /**< of msg */
	uint8_t msg[80];
};

struct nic_chan {
	struct hvchan ch;
	uint32_t index;
	uint8_t *rings;         /**< NULL: not offered */
	uint32_t free_head, free_tail, free_count; /**< sub-allocations, first in first out */
	uint32_t held;          /**< sub-allocations with the guest */
	uint32_t batch_head, batch_tail, batch_count; /**< transfer being filled */
	uint32_t *tmpl;         /**< prebuilt: templates of this channel */
	uint32_t tmpl_count, tmpl_next;
	uint32_t held_seen;     /**< prebuilt: held at the last look */
	uint64_t moved_ns;      /**< prebuilt: when held changed last */
	uint64_t settled_ns;    /**< prebuilt: when the next batch may go, 0: not known yet */
	uint64_t patience_ns;   /**< prebuilt: how long a guest may complete nothing */
	struct nic_out *out;    /**< NIC_OUT_MAX entries, first in first out */
	uint32_t out_head, out_count;
	struct nic_channel_stats st;
};

struct nic_reply {
	uint32_t len;
	uint8_t data[NIC_REPLY_MAX];
};

enum nic_rndis_state {
	NIC_RNDIS_IDLE,
	NIC_RNDIS_UP,
	NIC_RNDIS_HALTED,
};

/** Everything that one session negotiates; cleared by nic_open(). */
struct nic_session {
	bool open;
	uint8_t *recv, *send;
	uint32_t recv_gpadl, send_gpadl;
	uint64_t recv_len, send_len;
	uint32_t version;      /**< NVSP, 0 before INIT */
	uint32_t msg_size;     /**< NVSP message in host's packets, 32 or 40 */
	bool have_config, have_ndis, have_rx, have_tx;
	bool rx_revoked;
	uint16_t rx_id, tx_id;
	uint32_t frame_max;    /**< longest frame without tag, bytes */
	uint64_t caps;         /**< NVSP_CAP_* */
	uint32_t suballoc;     /**< bytes */
	uint32_t nslots;
	uint32_t nsections;
	uint32_t channels;     /**< 1 + granted */
	uint32_t channels_open;
	bool subchannels_asked;
	uint32_t offers_due;   /**< sub-channels to offer after the reply, 0 none */
	bool table_due;        /**< send table to send when all are open */
	enum nic_rndis_state rndis;
	uint32_t filter;
	bool link_due;         /**< an indication found no room */
	uint32_t mcast_count;
	uint8_t mcast[NIC_MCAST_MAX][6];
	struct ndis_offload_params offload;
	struct rss rss;
};

/** RNDIS bytes of one packet from the guest, piece by piece. */
struct nic_bytes {
	struct wire_seg piece[NIC_PIECES];
	uint32_t count;
	uint32_t total;       /**< bytes */
	uint32_t first_len;   /**< of the first range or of the section: header's limit */
	uint32_t section;     /**< or NVSP_SECTION_NONE */
	bool gpa;             /**< there are ranges */
};

struct nic {
	struct nic_conf conf;
	struct nic_env env;
	struct wire *wire;
	struct judge *judge;
	bool signalled;
	bool link_up;
	struct nic_session s;
	struct nic_slot *slots;
	const uint8_t **slot_frame; /**< prebuilt: the template in each */
	uint32_t slots_alloc;
	uint64_t *section_stamp;  /**< epoch of a section's last use, NIC_SECTION_BUSY */
	uint32_t sections_alloc;
	uint64_t epoch;           /**< goes up with each publish */
	uint64_t next_audit_ns;
	uint32_t wire_turn;       /**< wire queue, or channel of a generator, that is next */
	uint16_t gen;             /**< prebuilt: current generation of slot contents, 1.. */
	uint32_t ppi_turn;
	struct nic_reply *reply;  /**< NIC_REPLIES */
	uint32_t reply_head, reply_count;
	uint32_t ctl_free[NIC_CTL_SLOTS];
	uint32_t ctl_count;
	uint32_t nframes, nsegs;
	struct wire_tx frame[NIC_STAGE_FRAMES];
	struct wire_seg seg[NIC_STAGE_SEGS];
	uint8_t tags[NIC_STAGE_FRAMES][NIC_VLAN_TAG];
	uint64_t pkt[NIC_PKT_MAX / 8]; /**< private copy of the packet in hand */
	struct nic_bytes bytes;
	struct nic_chan chan[VMBUS_CHANNELS_MAX];
};
#define NIC_SECTION_BUSY UINT64_MAX

/** A packet from the guest, already private. */
struct nic_packet {
	struct vmbus_pkt_desc desc;
	const uint8_t *base; /**< whole packet */
	struct hvw_view nvsp; /**< payload */
};

/** Record a violation; true when the channel died of it. */
bool nic_violation(struct nic *nic, struct nic_chan *c, enum judge_violation v, uint64_t value);

/* dispatch.c */
uint32_t nic_drain(struct nic *nic, struct nic_chan *c);
void nic_publish(struct nic *nic, struct nic_chan *c);
bool nic_room(struct nic *nic, struct nic_chan *c, uint32_t cost);
bool nic_has_room(struct nic *nic, struct nic_chan *c, uint32_t cost);
void nic_send(struct nic *nic, struct nic_chan *c, uint16_t type, uint64_t xact,
	      const void *msg, uint32_t len, uint32_t section);
void nic_complete(struct nic *nic, struct nic_chan *c, const struct nic_packet *p,
		  uint32_t status, uint32_t section);
void nic_flush_out(struct nic *nic, struct nic_chan *c);

/* nvsp.c */
void nvsp_message(struct nic *nic, struct nic_chan *c, const struct nic_packet *p);
bool nvsp_ready(const struct nic *nic);
void nvsp_send_table(struct nic *nic);

/* control.c */
uint32_t control_message(struct nic *nic, const uint8_t *msg, uint32_t len);
bool control_reply(struct nic *nic, const void *msg, uint32_t len);
void control_flush(struct nic *nic);
void control_link(struct nic *nic);

/* oid.c */
uint32_t oid_query(struct nic *nic, uint32_t oid, uint8_t *out, uint32_t max, uint32_t *len);
uint32_t oid_set(struct nic *nic, uint32_t oid, struct hvw_view val);

/* offload.c */
void offload_caps(const struct nic *nic, struct ndis_offload *off);
uint32_t offload_set(struct nic *nic, struct hvw_view val);
bool offload_ppi_ok(const struct nic *nic, uint32_t type, uint32_t value);
uint32_t offload_rx_verdict(const uint8_t *frame, uint32_t len);

/* tx.c, txbytes.c */
void tx_message(struct nic *nic, struct nic_chan *c, const struct nic_packet *p);
void tx_flush(struct nic *nic, struct nic_chan *c);
bool txbytes_get(struct nic *nic, struct nic_chan *c, const struct nic_packet *p,
		 const struct nvsp_rndis *msg);
void txbytes_copy(const struct nic_bytes *b, uint32_t ofs, void *dst, uint32_t len);

/* rx.c, prebuilt.c */
uint32_t rx_poll(struct nic *nic);
uint32_t prebuilt_poll(struct nic *nic, uint64_t now_ns);
void prebuilt_changed(struct nic *nic);
bool rx_wanted(const struct nic *nic, const uint8_t *frame);
bool rx_xfer(struct nic *nic, struct nic_chan *c, uint32_t head, uint32_t count,
	     enum nvsp_channel_type type);

/* slots.c */
int slots_setup(struct nic *nic);
void slots_share(struct nic *nic);
uint32_t slots_take(struct nic *nic, struct nic_chan *c);
void slots_give(struct nic *nic, uint32_t slot);
void slots_completion(struct nic *nic, struct nic_chan *c, const struct nic_packet *p);
bool slots_completion_fast(struct nic *nic, struct nic_chan *c, const uint64_t *word);

/* slotfill.c */
void slot_fill(struct nic *nic, uint32_t slot, const uint8_t *frame, uint32_t len,
	       uint32_t hash, uint32_t hash_type);

/** Sub-allocation's bytes. */
static inline uint8_t *
nic_slot_mem(const struct nic *nic, uint32_t slot)
{
	return nic->s.recv + (uint64_t)slot * nic->s.suballoc;
}

/** True when the guest uses 802.1Q records in place of tags. */
static inline bool
nic_vlan_records(const struct nic *nic)
{
	return (nic->s.caps & NVSP_CAP_8021Q) != 0;
}

#endif /* HVSIM_NETVSP_NIC_PRIV_H */
