/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Ring engine with a thread on each side; a lost signal or a race is a failure here.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <vmring/vmring.h>

#include "guard.h"

#define BYTES (4 * VMBUS_PAGE_SIZE)
#define PACKETS 60000u
#define PKT_MAX 1024u
#define PATIENCE_S 20

/* What both threads share, beside the ring. */
struct run {
	struct vmring prod;
	struct vmring cons;
	bool sleep;          /* wait for signals instead of looking again and again */
	sem_t filled;        /* producer to consumer */
	sem_t drained;       /* consumer to producer */
	uint32_t done;       /* set when the looker shall end */
	const char *fault;   /* of the producer, NULL when well; read after the join */
	uint32_t signals;    /* producer's; read after the join */
};

static bool
wait_signal(sem_t *sem)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	while (sem_timedwait(sem, &until) != 0) {
		if (errno != EINTR)
			return false;
	}
	return true;
}

static uint32_t
next_random(uint32_t *rnd)
{
	*rnd = *rnd * 1664525 + 1013904223;
	return *rnd >> 8;
}

static uint32_t
checksum(const uint8_t *p, uint32_t len)
{
	uint32_t sum = 2166136261u;

	for (uint32_t i = 0; i < len; i++)
		sum = (sum ^ p[i]) * 16777619u;
	return sum;
}

/* A packet with number, random length and bytes, and a sum over them; returns its length. */
static uint32_t
make_packet(uint8_t *pkt, uint32_t number, uint32_t *rnd)
{
	uint32_t len = 24 + next_random(rnd) % ((PKT_MAX - 24) / 8) * 8;
	const struct vmbus_pkt_desc desc = {
		.type = VMBUS_PKT_INBAND,
		.offset8 = sizeof(desc) / 8,
		.len8 = (uint16_t)(len / 8),
		.xact = number,
	};
	uint32_t sum;

	memcpy(pkt, &desc, sizeof(desc));
	for (uint32_t i = sizeof(desc) + 8; i < len; i++)
		pkt[i] = (uint8_t)(*rnd >> (i % 24));
	sum = checksum(pkt + sizeof(desc) + 8, len - sizeof(desc) - 8);
	memcpy(pkt + sizeof(desc), &sum, 4);
	memset(pkt + sizeof(desc) + 4, 0, 4);
	return len;
}

/* Wait until more than @p cost bytes are free. */
static bool
wait_space(struct run *run, uint32_t cost)
{
	struct vmring *r = &run->prod;

	for (;;) {
		if (vmring_refresh(r) != 0)
			return false;
		if (vmring_free(r) > cost)
			return true;
		if (!run->sleep) {
			sched_yield();
			continue;
		}
		vmring_store_relaxed(&r->hdr->pending_send, cost);
		vmring_fence();
		if (vmring_refresh(r) != 0)
			return false;
		if (vmring_free(r) <= cost && !wait_signal(&run->drained))
			return false;
		vmring_store_relaxed(&r->hdr->pending_send, 0);
	}
}

static void
publish(struct run *run)
{
	if (vmring_publish(&run->prod)) {
		run->signals++;
		sem_post(&run->filled);
	}
}

static void *
produce(void *arg)
{
	uint32_t rnd = 1, len, batch = 0;
	uint8_t pkt[PKT_MAX];
	struct run *run = arg;

	for (uint32_t number = 0; number < PACKETS; number++) {
		len = make_packet(pkt, number, &rnd);
		if (!vmring_fits(&run->prod, len)) {
			publish(run);
			if (!wait_space(run, vmring_cost(len))) {
				run->fault = "no space was signalled, or a bad index";
				break;
			}
		}
		vmring_put(&run->prod, pkt, len);
		if (batch-- == 0) {
			publish(run);
			batch = next_random(&rnd) % 8;
		}
	}
	publish(run);
	return NULL;
}

static const char *
check_packet(struct run *run, uint32_t avail, uint32_t number, uint32_t *cost)
{
	struct vmbus_pkt_desc desc;
	uint8_t pkt[PKT_MAX];
	uint32_t sum, len;

	if (vmring_peek(&run->cons, avail, &desc) != 0)
		return "bad descriptor";
	len = desc.len8 * 8u;
	if (desc.xact != number || len > PKT_MAX || len < 24)
		return "wrong packet";
	vmring_copy_out(&run->cons, 0, pkt, len);
	memcpy(&sum, pkt + sizeof(desc), 4);
	if (sum != checksum(pkt + sizeof(desc) + 8, len - sizeof(desc) - 8))
		return "wrong bytes";
	*cost = vmring_skip(&run->cons, &desc);
	return NULL;
}

/* Nothing to read: look again, or unmask, look once more and sleep. */
static bool
wait_packets(struct run *run)
{
	struct vmring *r = &run->cons;
	bool ok = true;

	if (!run->sleep) {
		sched_yield();
		return true;
	}
	vmring_store_relaxed(&r->hdr->imask, 0);
	vmring_fence();
	if (!vmring_pending(r))
		ok = wait_signal(&run->filled);
	vmring_store_relaxed(&r->hdr->imask, 1);
	return ok;
}

static const char *
consume(struct run *run)
{
	uint32_t number = 0, avail, cost, rnd = 99, batch;
	const char *fault;

	while (number < PACKETS) {
		if (vmring_poll(&run->cons, &avail) != 0)
			return "bad write index";
		if (avail == 0 && !wait_packets(run))
			return "no packets were signalled";
		for (batch = next_random(&rnd) % 16 + 1; avail > 0 && batch > 0; batch--) {
			fault = check_packet(run, avail, number++, &cost);
			if (fault != NULL)
				return fault;
			avail -= cost;
		}
		if (vmring_release(&run->cons))
			sem_post(&run->drained);
	}
	return NULL;
}

/* Another lcore that wants to know, without the lock, whether the ring is worth it. */
static void *
look(void *arg)
{
	struct run *run = arg;
	uintptr_t seen = 0;

	while (vmring_load_acquire(&run->done) == 0) {
		seen += vmring_pending(&run->cons);
		sched_yield();
	}
	return (void *)seen;
}

static void
run_both(bool sleep)
{
	uint8_t *mem = guard_alloc(BYTES, GUARD_AFTER);
	struct run *run = calloc(1, sizeof(*run));
	const char *fault;
	pthread_t thread, looker;

	assert_non_null(run);
	run->sleep = sleep;
	vmring_reset_shared(mem);
	assert_int_equal(vmring_attach(&run->prod, mem, BYTES, true), 0);
	assert_int_equal(vmring_attach(&run->cons, mem, BYTES, false), 0);
	vmring_store_relaxed(&run->cons.hdr->imask, 1);
	assert_int_equal(sem_init(&run->filled, 0, 0) | sem_init(&run->drained, 0, 0), 0);
	assert_int_equal(pthread_create(&looker, NULL, look, run), 0);
	assert_int_equal(pthread_create(&thread, NULL, produce, run), 0);
	fault = consume(run);
	if (fault != NULL)
		fail_msg("%s", fault); /* memory stays for the producer */
	pthread_join(thread, NULL);
	vmring_store_release(&run->done, 1);
	pthread_join(looker, NULL);
	if (run->fault != NULL)
		fail_msg("%s", run->fault);
	/* Masked all the time: no signal. Otherwise there were some, not one each. */
	assert_in_range(run->signals, sleep ? 1 : 0, sleep ? PACKETS / 2 : 0);
	sem_destroy(&run->filled);
	sem_destroy(&run->drained);
	guard_free(mem, BYTES);
	free(run);
}

static void
test_polling(void **state)
{
	(void)state;
	run_both(false);
}

static void
test_signalled(void **state)
{
	(void)state;
	run_both(true);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_polling),
		cmocka_unit_test(test_signalled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
