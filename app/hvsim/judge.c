/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Keeps the record of a guest's protocol violations and says which are fatal.
 */
#include <string.h>

#include "judge.h"

static const struct {
	const char *name;
	const char *text;
} judge_list[JUDGE_COUNT] = {
#define JUDGE_V(id, name_, text_) [JUDGE_##id] = { .name = name_, .text = text_ },
#include "judge_names.h"
#undef JUDGE_V
};

const char *
judge_name(enum judge_violation v)
{
	return v < JUDGE_COUNT ? judge_list[v].name : "?";
}

const char *
judge_text(enum judge_violation v)
{
	return v < JUDGE_COUNT ? judge_list[v].text : "?";
}

enum judge_violation
judge_find(const char *name)
{
	unsigned int v;

	for (v = 0; v < JUDGE_COUNT; v++)
		if (strcmp(judge_list[v].name, name) == 0)
			break;
	return (enum judge_violation)v;
}

/* A real host throttles a guest that signals too much, it does not drop it. */
static bool
judge_harmless(enum judge_violation v)
{
	return v == JUDGE_SIGNAL_REDUNDANT;
}

bool
judge_record(struct judge *j, enum judge_violation v, const char *nic, uint32_t channel,
	     uint64_t value)
{
	if (v >= JUDGE_COUNT)
		return false;
	if (j->count[v]++ == 0) {
		j->first[v].value = value;
		j->first[v].channel = channel;
		snprintf(j->first[v].nic, sizeof(j->first[v].nic), "%s", nic);
	}
	return j->mode == JUDGE_STRICT && !j->expected[v] && !judge_harmless(v);
}

const char *
judge_expect(struct judge *j, const char *names, char *bad, size_t badlen)
{
	while (*names != '\0') {
		size_t len = strcspn(names, ",");
		enum judge_violation v;

		snprintf(bad, badlen, "%.*s", (int)len, names);
		v = judge_find(bad);
		if (len == 0 || v == JUDGE_COUNT)
			return bad;
		j->expected[v] = true;
		names += len;
		if (*names == ',')
			names++;
	}
	return NULL;
}
