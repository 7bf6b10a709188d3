/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Statistics, violations and settings of a host as JSON.
 */
#ifndef HVSIM_REPORT_H
#define HVSIM_REPORT_H

#include <json-c/json.h>

#include "lab.h"

/** {"nics": [...]}; the caller puts it. NULL when memory is short. */
struct json_object *report_stats(struct lab *lab);

/** {"violations": [...]} that occurred; with lab == NULL all that exist, without counts. */
struct json_object *report_violations(const struct lab *lab);

/** {"mode": ..., "nics": [...]}. */
struct json_object *report_info(struct lab *lab, const char *socket);

/** Statistics and violations in one, for the end of a run; 0 or -errno. */
int report_write(struct lab *lab, const char *path);

#endif /* HVSIM_REPORT_H */
