/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Builds the simulated machine and lets its NICs work.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab.h"

/** First GPADL handle. Source: Linux, drivers/hv/connection.c. */
#define GPADL_FIRST 0xE1E10u

int
lab_create(struct lab *lab, const struct cli *cli, const char *root, char *err, size_t errlen)
{
	const char *bad;
	char name[64];
	uint32_t i;
	int ret;

	*lab = (struct lab){
		.root = root,
		.judge = { .mode = cli->mode },
		.relid_next = LAB_RELID_FIRST,
		.gpadl_next = GPADL_FIRST,
		.due_ns = UINT64_MAX,
		.verbose = cli->verbose,
	};
	bad = cli->expect == NULL ? NULL :
		judge_expect(&lab->judge, cli->expect, name, sizeof(name));
	if (bad != NULL) {
		snprintf(err, errlen, "--expect %s: no such violation; see hvsim ctl violations "
			 "--list", bad);
		return -EINVAL;
	}
	ret = tree_create(root);
	if (ret == 0)
		ret = shm_create(&lab->int_page, "hvsim-int", VMBUS_PAGE_SIZE);
	if (ret == 0)
		ret = shm_create(&lab->monitor_page, "hvsim-monitor", VMBUS_PAGE_SIZE);
	lab->gm = guestmem_create(cli->gpa);
	lab->nic = calloc(cli->nics, sizeof(*lab->nic));
	if (ret == 0 && (lab->gm == NULL || lab->nic == NULL))
		ret = -ENOMEM;
	if (ret != 0) {
		snprintf(err, errlen, "cannot set up in %s: %s; make room there or set "
			 "XDG_RUNTIME_DIR", root, strerror(-ret));
		return ret;
	}
	for (i = 0; ret == 0 && i < cli->nics; i++) {
		lab->nics++;
		ret = lab_nic_create(lab, i, &cli->nic[i], err, errlen);
	}
	return ret;
}

void
lab_destroy(struct lab *lab)
{
	uint32_t i;

	for (i = 0; i < lab->nics; i++)
		lab_nic_destroy(&lab->nic[i]);
	free(lab->nic);
	guestmem_destroy(lab->gm);
	shm_destroy(&lab->int_page);
	shm_destroy(&lab->monitor_page);
	lab->nics = 0;
	lab->nic = NULL;
	lab->gm = NULL;
}

uint32_t
lab_poll(struct lab *lab, uint64_t now_ns)
{
	uint32_t work = 0;
	uint32_t i;

	if (lab->judge.mode != JUDGE_POLLING)
		lab_signals(lab);
	for (i = 0; i < lab->nics; i++)
		work += nic_poll(lab->nic[i].nic, now_ns);
	return work;
}

void
lab_tick(struct lab *lab, uint64_t now_ns)
{
	uint64_t next = UINT64_MAX;
	uint32_t i;
	uint32_t k;

	if (now_ns < lab->due_ns)
		return;
	for (i = 0; i < lab->nics; i++)
		for (k = 1; k < VMBUS_CHANNELS_MAX; k++) {
			struct lab_chan *c = &lab->nic[i].chan[k];

			if (c->due_ns == 0)
				continue;
			if (c->due_ns <= now_ns)
				lab_chan_publish(c);
			else if (c->due_ns < next)
				next = c->due_ns;
		}
	lab->due_ns = next;
}

struct lab_nic *
lab_find(struct lab *lab, const char *name)
{
	char number[16];
	uint32_t i;

	for (i = 0; i < lab->nics; i++) {
		snprintf(number, sizeof(number), "%u", i);
		if (strcmp(name, nic_conf(lab->nic[i].nic)->name) == 0 ||
		    strcmp(name, lab->nic[i].guid) == 0 || strcmp(name, number) == 0)
			return &lab->nic[i];
	}
	return NULL;
}
