/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The files that the guest sees below /sys/bus/vmbus, as plain files in a folder.
 */
#ifndef HVSIM_TREE_H
#define HVSIM_TREE_H

#include <stddef.h>
#include <stdint.h>

/** A GUID as text, with its NUL. */
#define TREE_GUID_LEN 37

/** One device, as the kernel shows it when uio_hv_generic has it. */
struct tree_dev {
	char guid[TREE_GUID_LEN]; /**< instance, lower case, no braces: the folder's name */
	uint32_t relid;           /**< of the primary channel */
	uint32_t monitor;
	uint32_t uio;             /**< N of uioN */
	struct {
		const char *name; /**< "txrx_rings", "recv:923154", ... */
		uint64_t size;    /**< bytes */
		uint64_t addr;    /**< looks like a physical address; nobody reads it */
	} map[5];
};

/** One channel's folder. */
struct tree_chan {
	const char *guid;
	uint32_t relid;
	uint32_t index;   /**< subchannel_id: 0 is the primary */
	uint32_t monitor;
	uint32_t cpu;
};

/** Make ROOT/sys/bus/vmbus/devices; 0 or -errno. */
int tree_create(const char *root);

/** Add a device with everything but its channels; 0 or -errno. */
int tree_add_device(const char *root, const struct tree_dev *dev);

/** Add a channel's folder, still without the "ring" file; 0 or -errno. */
int tree_add_channel(const char *root, const struct tree_chan *chan);

/** Let the "ring" file appear: a link to descriptor @p fd of this process; 0 or -errno. */
int tree_add_ring(const char *root, const struct tree_chan *chan, int fd);

/** Remove a channel's folder. */
void tree_remove_channel(const char *root, const char *guid, uint32_t relid);

/** Remove a folder and everything below it; links are not followed. 0 or -errno. */
int tree_remove(const char *path);

/** The instance GUID of the NIC with address @p mac; bytes as Hyper-V could have dealt them. */
void tree_guid(char guid[TREE_GUID_LEN], const uint8_t mac[6], uint32_t index);

#endif /* HVSIM_TREE_H */
