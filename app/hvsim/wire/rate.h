/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Token bucket in nanoseconds: how many frames a paced wire may send now.
 */
#ifndef HVSIM_WIRE_RATE_H
#define HVSIM_WIRE_RATE_H

#include <stdint.h>
#include <time.h>

#define RATE_NS_PER_S 1000000000ull

/** Most that a bucket keeps while nobody asks: this share of a second's frames... */
#define RATE_KEEP_PER_S 1000u
/** ... and never less than these frames. */
#define RATE_KEEP_MIN 32u

/** A bucket. Credit is in frames x 1e9, so that no fraction is lost; it may go into debt. */
struct rate {
	uint64_t per_s; /**< frames per second, 1..1e9; 0 = not paced */
	uint64_t last_ns;
	int64_t credit;
	int64_t most;
};

/** Start an empty bucket at @p now_ns. */
static inline void
rate_start(struct rate *r, uint64_t per_s, uint64_t now_ns)
{
	uint64_t keep = per_s / RATE_KEEP_PER_S;

	if (keep < RATE_KEEP_MIN)
		keep = RATE_KEEP_MIN;
	r->per_s = per_s;
	r->last_ns = now_ns;
	r->credit = 0;
	r->most = (int64_t)(keep * RATE_NS_PER_S);
}

/** Frames that may go now, at most @p max. Time that goes backwards adds nothing. */
static inline uint32_t
rate_allow(struct rate *r, uint32_t max, uint64_t now_ns)
{
	uint64_t dt = now_ns > r->last_ns ? now_ns - r->last_ns : 0;
	uint64_t frames;

	if (r->per_s == 0)
		return max;
	/* One second fills any bucket: longer gaps add no more, and nothing overflows. */
	if (dt > RATE_NS_PER_S)
		dt = RATE_NS_PER_S;
	if (dt != 0) {
		r->last_ns = now_ns;
		r->credit += (int64_t)(dt * r->per_s);
		if (r->credit > r->most)
			r->credit = r->most;
	}
	if (r->credit < (int64_t)RATE_NS_PER_S)
		return 0;
	frames = (uint64_t)r->credit / RATE_NS_PER_S;
	return frames < max ? (uint32_t)frames : max;
}

/** Pay for @p n frames. */
static inline void
rate_take(struct rate *r, uint32_t n)
{
	if (r->per_s != 0)
		r->credit -= (int64_t)(n * RATE_NS_PER_S);
}

/** Monotonic time in ns. */
static inline uint64_t
rate_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * RATE_NS_PER_S + (uint64_t)ts.tv_nsec;
}

#endif /* HVSIM_WIRE_RATE_H */
