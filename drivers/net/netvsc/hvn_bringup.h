/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The conversation with the host that brings a NIC up and ends it.
 */
#ifndef HVN_BRINGUP_H
#define HVN_BRINGUP_H

#include "hvn_attach.h"

/*
 * Both fill struct hvn_nic with what the host said, and return 0 or -errno with one log
 * line.
 */

/** Version, configuration, receive and send buffer. */
int hvn_bringup_nvsp(struct hvn_nic *nic);

/** Initialise RNDIS, set the filter to 0, ask for MTU, MAC and capabilities. */
int hvn_bringup_rndis(struct hvn_nic *nic);

/** Ask for @p count sub-channels. */
int hvn_bringup_subchannels(struct hvn_nic *nic, uint32_t count, uint32_t *granted);

/** Halt and take the buffers back; errors are ignored, the device is closed anyway. */
void hvn_bringup_end(struct hvn_nic *nic);

#endif /* HVN_BRINGUP_H */
