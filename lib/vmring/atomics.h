/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The only place that spells memory ordering: loads, stores and fences on shared words.
 *
 * Shared words are plain uint32_t in memory that another party maps, so C11 _Atomic types
 * cannot be used; the compiler's builtins on plain types are.
 */
#ifndef VMRING_ATOMICS_H
#define VMRING_ATOMICS_H

#include <stdbool.h>
#include <stdint.h>

/** Load; later reads see at least what the matching release published. */
static inline uint32_t
vmring_load_acquire(const uint32_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

/** Load without ordering; the value may be stale, it is never torn. */
static inline uint32_t
vmring_load_relaxed(const uint32_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

/** Store without ordering. */
static inline void
vmring_store_relaxed(uint32_t *p, uint32_t v)
{
	__atomic_store_n(p, v, __ATOMIC_RELAXED);
}

/** Store; everything before it is visible to who acquires the value. */
static inline void
vmring_store_release(uint32_t *p, uint32_t v)
{
	__atomic_store_n(p, v, __ATOMIC_RELEASE);
}

/** Full fence: orders an earlier store before a later load (the signalling handshake). */
static inline void
vmring_fence(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/** Atomically set bits; full ordering, for words that several parties set and clear. */
static inline void
vmring_or(uint32_t *p, uint32_t bits)
{
	__atomic_fetch_or(p, bits, __ATOMIC_SEQ_CST);
}

/** Atomically take and clear all bits; full ordering. */
static inline uint32_t
vmring_take(uint32_t *p)
{
	return __atomic_exchange_n(p, 0, __ATOMIC_SEQ_CST);
}

/** Count an event that several threads may meet at once. */
static inline void
vmring_count(uint64_t *p)
{
	__atomic_fetch_add(p, 1, __ATOMIC_RELAXED);
}

/** Try to take the one-word lock at @p p (0 free, 1 held); acquires on success. */
static inline bool
vmring_trylock(uint32_t *p)
{
	uint32_t free = 0;

	return __atomic_compare_exchange_n(p, &free, 1, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

/** Give the lock back; pairs with the acquire of vmring_trylock(). */
static inline void
vmring_unlock(uint32_t *p)
{
	__atomic_store_n(p, 0, __ATOMIC_RELEASE);
}

#endif /* VMRING_ATOMICS_H */
