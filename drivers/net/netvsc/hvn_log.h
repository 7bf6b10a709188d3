/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Log macros of the driver; log type pmd.net.hv_netvsc.driver.
 */
#ifndef HVN_LOG_H
#define HVN_LOG_H

#include <rte_log.h>

extern int hvn_logtype;

/** Log one line; the line end is added. */
void hvn_log(uint32_t level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** HVN_LOG(ERR, "...", ...) */
#define HVN_LOG(level, ...) hvn_log(RTE_LOG_##level, __VA_ARGS__)

#endif /* HVN_LOG_H */
