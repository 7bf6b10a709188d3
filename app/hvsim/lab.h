/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The simulated machine: NICs with their memory, numbers, files and signals. It does what
 * hypervisor and guest kernel do between the device model and the guest process.
 */
#ifndef HVSIM_LAB_H
#define HVSIM_LAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hvwire/vmbus.h>

#include "cli.h"
#include "guestmem.h"
#include "judge.h"
#include "netvsp/nic.h"
#include "shm.h"
#include "tree.h"
#include "wire/wire.h"

/** VMBus channel numbers that the host gives, and where it begins. */
#define LAB_RELID_MAX 2048u
#define LAB_RELID_FIRST 14u

/** Monitor ids. */
#define LAB_MONITORS 128u

/** Most descriptors of one uio device that guests hold together. */
#define LAB_UIO_MAX 256u

struct lab_nic;

/** A channel as guest and kernel know it. */
struct lab_chan {
	struct lab_nic *nic;
	uint32_t index;
	uint32_t relid;    /**< 0: the channel does not exist */
	uint32_t monitor;
	struct lab_chan *next_monitor; /**< another channel with the same monitor id */
	struct shm rings;
	uint64_t due_ns;   /**< when its "ring" file appears; 0: it has appeared */
};

struct lab_nic {
	struct lab *lab;
	uint32_t index;    /**< N of /dev/uioN */
	char guid[TREE_GUID_LEN];
	struct nic *nic;
	struct wire *wire;
	struct shm recv;
	struct shm send;
	uint32_t recv_gpadl;
	uint32_t send_gpadl;
	struct lab_chan chan[VMBUS_CHANNELS_MAX];
	int owner;         /**< guest that opened the session; its VAs are tried first */
	int uio[LAB_UIO_MAX]; /**< the host's ends */
	uint32_t uios;
	int32_t events;    /**< uio's event count */
	uint64_t sessions; /**< sessions begun so far */
};

struct lab {
	const char *root;  /**< of the fake tree */
	struct judge judge;
	struct guestmem *gm;
	struct shm int_page;
	struct shm monitor_page;
	struct lab_chan *relid[LAB_RELID_MAX];
	uint32_t relid_next;
	struct lab_chan *monitor[LAB_MONITORS];
	uint32_t monitor_users[LAB_MONITORS];
	uint32_t gpadl_next;
	uint64_t due_ns;   /**< earliest due_ns of all channels, UINT64_MAX: none */
	struct lab_nic *nic; /**< array */
	uint32_t nics;
	uint32_t open;     /**< NICs with a session */
	bool verbose;
};

/**
 * Build the machine that @p cli describes; the tree goes below @p root (kept).
 *
 * @param err
 *   On failure one line that names the value and the remedy.
 * @return 0 or -errno.
 */
int lab_create(struct lab *lab, const struct cli *cli, const char *root, char *err,
	       size_t errlen);

/** Take everything apart; @p lab may be half built. */
void lab_destroy(struct lab *lab);

/** One round: take signals, let every open NIC work. Returns the work done, 0: idle. */
uint32_t lab_poll(struct lab *lab, uint64_t now_ns);

/** Let "ring" files appear that are due. */
void lab_tick(struct lab *lab, uint64_t now_ns);

/** A NIC by its name, GUID or number; NULL when there is none. */
struct lab_nic *lab_find(struct lab *lab, const char *name);

/* labnic.c: one NIC. */

/** Add NIC @p index, not yet in a session; error as lab_create(). */
int lab_nic_create(struct lab *lab, uint32_t index, const struct cli_nic *conf, char *err,
		   size_t errlen);

/** End its session and take it apart; may be half built. */
void lab_nic_destroy(struct lab_nic *n);

/** A "ring" file appears, and the channel is open. */
void lab_chan_publish(struct lab_chan *c);

/* labuio.c: /dev/uioN. */

/**
 * Guest @p owner opens the device; the first open starts a session.
 *
 * @param host, guest
 *   Receive the two ends; the caller owns the guest's, the NIC keeps the host's until
 *   lab_uio_close().
 */
int lab_uio_open(struct lab_nic *n, int owner, int *host, int *guest);

/** The guest's last duplicate of that descriptor is gone; the last close ends the session. */
void lab_uio_close(struct lab_nic *n, int host);

/** Descriptor of map @p k for a mapping of @p len bytes, or -errno; stays the NIC's. */
int lab_uio_map(struct lab_nic *n, uint64_t k, uint64_t len);

/** The guest wrote @p value: 1 enables interrupts and signals, 0 disables them. */
void lab_uio_write(struct lab_nic *n, int32_t value);

/** Interrupt the guest. */
void lab_uio_interrupt(struct lab_nic *n);

/* labids.c: numbers of channels. */

/** Give @p c a channel number and a monitor id; -ENOSPC when there are none. */
int lab_ids_take(struct lab *lab, struct lab_chan *c);

/** Forget signals that an earlier guest left standing for @p c. */
void lab_ids_quiet(struct lab *lab, const struct lab_chan *c);

/** Take them back. */
void lab_ids_release(struct lab *lab, struct lab_chan *c);

/** Pass the signals that stand in the monitor page on to the NICs. */
void lab_signals(struct lab *lab);

/** Pass on those of @p n in the interrupt page; false when there were none. */
bool lab_events(struct lab_nic *n);

#endif /* HVSIM_LAB_H */
