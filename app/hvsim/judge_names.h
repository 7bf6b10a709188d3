/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The list of protocol violations: JUDGE_V(enum suffix, stable name, what the guest did).
 * No include guard: judge.h and judge.c include it with different macros.
 */
