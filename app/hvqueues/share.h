/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * What this process may use of the machine; shown beside the policy, never part of it.
 */
#ifndef HVQUEUES_SHARE_H
#define HVQUEUES_SHARE_H

/** CPUs that this process may run on; 0 when not known. */
unsigned int share_affinity(void);

/**
 * CPU time that the process's control group allows, in CPUs (1.5: one and a half).
 *
 * @return The smallest quota from the group up to the root; 0 without any.
 */
double share_cgroup(void);

#endif /* HVQUEUES_SHARE_H */
