/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * What a simulated NIC is plugged into: a source and sink of Ethernet frames.
 *
 * Frames have no FCS. A wire belongs to one NIC; everything runs on the host's one thread,
 * nothing here blocks. Two kinds of receive exist:
 *  - general: rx() hands out frames, which the NIC copies;
 *  - prebuilt (generator): the frames are constant templates. The NIC copies a template
 *    into a receive-buffer slot once and then only asks budget() how many may be sent.
 */
#ifndef HVSIM_WIRE_H
#define HVSIM_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Longest frame that a wire carries, bytes without FCS (MTU 9000 with two tags). */
#define WIRE_FRAME_MAX 9022u

/** A frame from the wire to the guest. Valid until the next rx() on the same queue. */
struct wire_rx {
	const uint8_t *data;
	uint32_t len; /**< bytes */
};

/** A piece of a frame in guest memory; valid during the call only. */
struct wire_seg {
	const void *data;
	uint32_t len;
};

/** A frame from the guest to the wire. */
struct wire_tx {
	const struct wire_seg *segs;
	uint32_t nsegs; /**< 1.. */
	uint32_t len;   /**< sum of the segments, bytes */
};

/** Counters of a wire; rx is towards the guest. */
struct wire_stats {
	uint64_t rx_frames;
	uint64_t rx_bytes;
	uint64_t rx_dropped; /**< frames the wire had but could not hand over (e.g. loop full) */
	uint64_t tx_frames;
	uint64_t tx_bytes;
	uint64_t tx_dropped; /**< frames taken from the guest that the far end did not accept */
};

struct wire;

/** Operations of one kind of wire; optional members may be NULL. */
struct wire_ops {
	const char *name; /**< "tap", "gen", "sink", "loop", "pair", "pcap" */
	void (*close)(struct wire *w);
	/**
	 * Take up to @p max frames for the guest from wire queue @p q; fewer do not mean empty.
	 * Ask every queue in turn (a TAP looks for news once per round).
	 */
	uint32_t (*rx)(struct wire *w, uint32_t q, struct wire_rx *frames, uint32_t max);
	/** Give @p n frames of the guest to wire queue @p q; all are consumed. */
	void (*tx)(struct wire *w, uint32_t q, const struct wire_tx *frames, uint32_t n);
	/** Prebuilt wires: the templates and their number; NULL for general wires. */
	const struct wire_rx *(*templates)(struct wire *w, uint32_t *count);
	/**
	 * Prebuilt wires: how many frames NIC channel @p q may send now (rate), <= @p max.
	 * All channels share one budget: ask them in rotating order, or the first gets it all,
	 * and call sent() before the next is asked.
	 */
	uint32_t (*budget)(struct wire *w, uint32_t q, uint32_t max, uint64_t now_ns);
	/** Prebuilt wires: @p n frames of together @p bytes were sent. */
	void (*sent)(struct wire *w, uint32_t n, uint64_t bytes);
	/** A descriptor that becomes readable when rx() of queue @p q has frames, or -1. */
	int (*fd)(struct wire *w, uint32_t q);
	/** The NIC's link as the far end sees it (TAP carrier and so on). */
	void (*set_link)(struct wire *w, bool up);
};

/** Common part of every wire; kinds embed it as their first member. */
struct wire {
	const struct wire_ops *ops;
	struct wire_stats stats;
	uint32_t nqueues;  /**< wire queues, 1..256; rx() and tx() take 0..nqueues-1 */
	bool waits;        /**< frames wait for a guest that does not listen yet (files) */
	bool touch;        /**< prebuilt: rewrite the payload of a slot on every use */
	uint32_t ranges;   /**< prebuilt: frames per VMBus message wanted, 0 = NIC's default */
	uint32_t burst;    /**< prebuilt: frames per batch, 0 = NIC's default */
};

/**
 * Open the wire that @p spec describes.
 *
 * @param spec
 *   "KIND[:key=value]...", e.g. "tap:name=hv0:queues=16", "gen:size=64:flows=256",
 *   "gen:mix=imix:rate=1000000:ranges=8:touch=1", "sink", "loop", "pair:id=a",
 *   "pcap:in=a.pcap:out=b.pcap". "gen" swallows what the guest transmits, as "sink" does.
 *   Values contain no ':', except MAC addresses. Keys (defaults in brackets):
 *   - tap: name [hv%d, the kernel numbers], queues 1..256 [1], mtu [1500], up 0|1 [1],
 *     mac of the kernel's side [random]
 *   - gen: size 60..9018 bytes without FCS [64] or mix=imix (64, 594, 1514 bytes as 7:4:1),
 *     flows 1..65536 [256], l4 udp|tcp|none [udp], ip 4|6 [4], rate in frames/s [0: what
 *     the NIC takes], burst, ranges, touch 0|1 [0], until N frames [0: no end], delay ms
 *     [0], dst [the NIC], src [02:68:76:67:65:6e]
 *   - sink: none
 *   - loop: queues 1..64 [1], depth 1..4096 frames, power of two [512], swap MACs 0|1 [0]
 *   - pair: id (both NICs name the same), queues 1..64 [1], depth as loop
 *   - pcap: in, out (regular files, Ethernet), loop N rounds of in [1; 0: for ever], rate
 *     in frames/s [0: what the NIC takes], delay ms [0], snaplen of out [65535]
 * @param mac
 *   The NIC's own address (6 bytes): the default destination of generated frames.
 * @param err
 *   On failure one line that names the value and the remedy.
 * @return The wire, owned by the caller, or NULL.
 */
struct wire *wire_open(const char *spec, const uint8_t mac[6], char *err, size_t errlen);

/** Close @p w; NULL is allowed. */
void wire_close(struct wire *w);

#endif /* HVSIM_WIRE_H */
