/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The list of protocol violations: JUDGE_V(enum suffix, stable name, what the guest did).
 * No include guard: judge.h and judge.c include it with different macros.
 */

/* Rings and packets. */
JUDGE_V(RING_WRITE_INDEX, "ring-write-index",
	"transmit ring's write index is out of range or not a multiple of 8")
JUDGE_V(RING_READ_INDEX, "ring-read-index",
	"receive ring's read index is impossible or passed the write index")
JUDGE_V(RING_DESCRIPTOR, "ring-descriptor",
	"packet descriptor's lengths do not fit each other or what was published")
JUDGE_V(PACKET_FLAGS, "packet-flags", "packet has flags that do not exist for its type")
JUDGE_V(PACKET_TYPE, "packet-type", "packet type is not one that a guest sends")
JUDGE_V(PACKET_LENGTH, "packet-length", "packet is longer than any NIC message")
JUDGE_V(PACKET_TRAILER, "packet-trailer", "packet's trailer does not name its start")

/* Signals. */
JUDGE_V(SIGNAL_MISSING, "signal-missing",
	"empty transmit ring became non-empty and the host was not signalled")
JUDGE_V(SIGNAL_REDUNDANT, "signal-redundant",
	"more signals than the ring had reasons for (recorded, never fatal)")
JUDGE_V(WAKE_MISSING, "wake-missing",
	"receive ring got the free space that the host waits for and no signal came")

/* NVSP. */
JUDGE_V(NVSP_SHORT, "nvsp-short", "NVSP message is shorter than its struct")
JUDGE_V(NVSP_TYPE, "nvsp-type", "NVSP message type does not exist in the agreed version")
JUDGE_V(NVSP_ORDER, "nvsp-order", "NVSP message came before one that it depends on")
JUDGE_V(NVSP_DUPLICATE, "nvsp-duplicate", "NVSP message came twice in one session")
JUDGE_V(NVSP_CHANNEL, "nvsp-channel", "NVSP message of the primary channel on a sub-channel")
JUDGE_V(NVSP_TRANSPORT, "nvsp-transport", "NVSP message other than RNDIS with guest memory")
JUDGE_V(NVSP_NO_REPLY, "nvsp-no-reply", "message that needs an answer did not ask for it")
JUDGE_V(CONFIG_MTU, "config-mtu", "NDIS config's frame size is not 1514 to 9216")
JUDGE_V(BUFFER_GPADL, "buffer-gpadl", "receive or send buffer's GPADL is unknown")
JUDGE_V(REVOKE_ORDER, "revoke-order", "buffer was revoked before RNDIS HALT")
JUDGE_V(REVOKE_ID, "revoke-id", "revoked buffer does not exist or has another id")
JUDGE_V(SUBCHANNEL_OP, "subchannel-op", "sub-channel request's operation is unknown")
JUDGE_V(SUBCHANNEL_COUNT, "subchannel-count", "zero or more sub-channels than there are")
JUDGE_V(SUBCHANNEL_REPEAT, "subchannel-repeat", "sub-channels were requested twice")
JUDGE_V(SWITCH_PATH, "switch-path", "data path is neither synthetic nor VF")

/* Transport of RNDIS messages. */
JUDGE_V(CHANNEL_TYPE, "channel-type", "RNDIS message on the wrong channel type")
JUDGE_V(CONTROL_SUBCHANNEL, "control-subchannel", "RNDIS control message on a sub-channel")
JUDGE_V(SECTION_RANGE, "section-range", "send section or its size lies outside the buffer")
JUDGE_V(SECTION_REUSED, "section-reused", "send section was used before its completion")
JUDGE_V(GPA_RANGE, "gpa-range", "guest memory range is empty or malformed")
JUDGE_V(GPA_COUNT, "gpa-count", "more guest memory ranges than the host announced")
JUDGE_V(GPA_UNMAPPED, "gpa-unmapped", "guest memory range is not memory of the guest")
JUDGE_V(RNDIS_NO_DATA, "rndis-no-data", "RNDIS message without section and without ranges")

/* RNDIS data. */
JUDGE_V(RNDIS_STATE, "rndis-state", "RNDIS data before INITIALIZE or after HALT")
JUDGE_V(RNDIS_SHORT, "rndis-short", "fewer bytes than an RNDIS header")
JUDGE_V(RNDIS_LENGTH, "rndis-length", "RNDIS message length does not match what was sent")
JUDGE_V(RNDIS_TYPE, "rndis-type", "message behind an RNDIS packet is not an RNDIS packet")
JUDGE_V(RNDIS_OOB, "rndis-oob", "RNDIS packet with out-of-band data or a VC handle")
JUDGE_V(RNDIS_DATA, "rndis-data", "RNDIS packet's frame lies outside its message")
JUDGE_V(RNDIS_ALIGN, "rndis-align", "RNDIS packet in a section is not aligned as announced")
JUDGE_V(RNDIS_PPI, "rndis-ppi", "per-packet information is malformed or out of place")
JUDGE_V(RNDIS_PACKETS, "rndis-packets", "more RNDIS packets in one section than announced")
JUDGE_V(HEADER_SPLIT, "header-split", "RNDIS header is split over guest memory ranges")
JUDGE_V(OFFLOAD_USE, "offload-use", "packet asks for an offload that was not offered")
JUDGE_V(FRAME_LONG, "frame-long", "frame is longer than the agreed MTU allows")
JUDGE_V(FRAME_SHORT, "frame-short", "frame is shorter than an Ethernet header")

/* Completions of received packets. */
JUDGE_V(COMPLETION_UNKNOWN, "completion-unknown", "completion of a packet that never was")
JUDGE_V(COMPLETION_DOUBLE, "completion-double", "completion of a packet already completed")
JUDGE_V(COMPLETION_CHANNEL, "completion-channel", "completion on another channel")
JUDGE_V(COMPLETION_PAYLOAD, "completion-payload", "completion's payload is not a valid one")

/* RNDIS control. */
JUDGE_V(CONTROL_LENGTH, "control-length", "control message is too long, short or malformed")
JUDGE_V(CONTROL_RID, "control-rid", "control request with request id 0")
JUDGE_V(CONTROL_TYPE, "control-type", "control message of a type that guests do not send")
JUDGE_V(CONTROL_STATE, "control-state", "control message does not suit the RNDIS state")
JUDGE_V(CONTROL_OVERRUN, "control-overrun", "too many control requests without taking replies")
JUDGE_V(OID_VALUE, "oid-value", "value of a SET is too short or malformed")
JUDGE_V(FILTER_BITS, "filter-bits", "packet filter has bits that do not exist")
JUDGE_V(RSS_PARAMS, "rss-params", "RSS parameters are malformed")
JUDGE_V(RSS_TABLE, "rss-table", "RSS table names a channel that does not exist")
JUDGE_V(RSS_KEY, "rss-key", "RSS key is not 40 bytes or lies outside the value")
JUDGE_V(OFFLOAD_PARAMS, "offload-params", "offload parameters are malformed or not offered")
