/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The driver SDK headers, and what differs between the DPDK releases that are supported.
 */
#ifndef HVN_COMPAT_H
#define HVN_COMPAT_H

/* DPDK's register header has a struct of the same name as lib/hvwire; ours is meant. */
#define vmbus_gpa_range dpdk_vmbus_gpa_range
#include <bus_vmbus_driver.h>
#undef vmbus_gpa_range

#endif /* HVN_COMPAT_H */
