/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Opens the wire that a specification text names, after checking every word of it.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kind.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/** Characters of a MAC address as text. */
#define MAC_TEXT 17u
/** Bytes of a list of words in an error. */
#define LIST_MAX 256u

static const struct wire_kind *const kinds[] = {
	&wire_kind_gen,
	&wire_kind_loop,
	&wire_kind_pair,
	&wire_kind_pcap,
	&wire_kind_sink,
	&wire_kind_tap,
};

void *
wire_fail(const struct wire_err *err, const char *fmt, ...)
{
	va_list ap;
	int used;

	if (err->len == 0)
		return NULL;
	used = snprintf(err->text, err->len, "wire %.200s: ", err->spec);
	if (used < 0 || (size_t)used >= err->len)
		return NULL;
	va_start(ap, fmt);
	vsnprintf(err->text + used, err->len - (size_t)used, fmt, ap);
	va_end(ap);
	return NULL;
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool
wire_parse_mac(const char *text, uint8_t mac[6])
{
	uint32_t i;
	int hi, lo;

	for (i = 0; i < 6; i++, text += 3) {
		hi = hex_digit(text[0]);
		lo = hi < 0 ? -1 : hex_digit(text[1]);
		if (lo < 0)
			return false;
		if (i < 5 && text[2] != ':' && text[2] != '-')
			return false;
		mac[i] = (uint8_t)(hi << 4 | lo);
	}
	return true;
}

static void
list_add(char *list, const char *word)
{
	size_t used = strlen(list);

	snprintf(list + used, LIST_MAX - used, "%s%s", used == 0 ? "" : ", ", word);
}

static bool
set_number(const struct wire_opt *opt, const char *value, uint64_t *field,
	   const struct wire_err *err)
{
	uint64_t min = opt->type == WIRE_OPT_FLAG ? 0 : opt->min;
	uint64_t max = opt->type == WIRE_OPT_FLAG ? 1 : opt->max;
	uint64_t n = 0;
	const char *p;

	for (p = value; *p >= '0' && *p <= '9' && p - value < 19; p++)
		n = n * 10 + (uint64_t)(*p - '0');
	if (p == value || *p != '\0' || n < min || n > max) {
		wire_fail(err, "%s=%s is not a number from %llu to %llu", opt->key, value,
			  (unsigned long long)min, (unsigned long long)max);
		return false;
	}
	*field = n;
	return true;
}

static bool
set_choice(const struct wire_opt *opt, const char *value, uint64_t *field,
	   const struct wire_err *err)
{
	char list[LIST_MAX] = "";
	uint64_t i;

	for (i = 0; opt->words[i] != NULL; i++) {
		if (strcmp(opt->words[i], value) == 0) {
			*field = i;
			return true;
		}
		list_add(list, opt->words[i]);
	}
	wire_fail(err, "%s=%s is unknown; choose one of %s", opt->key, value, list);
	return false;
}

static bool
set_option(const struct wire_opt *opt, const char *value, void *conf, const struct wire_err *err)
{
	void *field = (char *)conf + opt->offset;

	switch (opt->type) {
	case WIRE_OPT_U64:
	case WIRE_OPT_FLAG:
		return set_number(opt, value, field, err);
	case WIRE_OPT_CHOICE:
		return set_choice(opt, value, field, err);
	case WIRE_OPT_MAC:
		if (strlen(value) == MAC_TEXT && wire_parse_mac(value, field))
			return true;
		wire_fail(err, "%s=%s is not a MAC address; write aa:bb:cc:dd:ee:ff", opt->key,
			  value);
		return false;
	case WIRE_OPT_TEXT:
		if (value[0] != '\0' && strlen(value) <= opt->max) {
			memcpy(field, value, strlen(value) + 1);
			return true;
		}
		wire_fail(err, "%s=%s must have 1 to %llu characters", opt->key, value,
			  (unsigned long long)opt->max);
		return false;
	}
	return false;
}

static const struct wire_opt *
find_option(const struct wire_kind *kind, const char *key, const struct wire_err *err)
{
	char list[LIST_MAX] = "";
	uint32_t i;

	for (i = 0; i < kind->nopts; i++) {
		if (strcmp(kind->opts[i].key, key) == 0)
			return &kind->opts[i];
		list_add(list, kind->opts[i].key);
	}
	if (kind->nopts == 0)
		return wire_fail(err, "\"%s\" is too much; %s takes no options", key, kind->name);
	return wire_fail(err, "unknown option \"%s\"; %s takes %s", key, kind->name, list);
}

/* End a piece of the text at the next colon. @return What follows it, NULL at the end. */
static char *
cut(char *text)
{
	char *end = strchr(text, ':');

	if (end == NULL)
		return NULL;
	*end = '\0';
	return end + 1;
}

/* MAC addresses contain the separator: they are recognised by shape and taken whole. */
static char *
cut_value(const struct wire_opt *opt, char *value)
{
	uint8_t mac[6];

	if (opt->type == WIRE_OPT_MAC && strlen(value) >= MAC_TEXT && wire_parse_mac(value, mac)) {
		char *rest = cut(value + MAC_TEXT);

		return rest;
	}
	return cut(value);
}

static bool
parse_options(const struct wire_kind *kind, char *text, void *conf, uint32_t *given,
	      const struct wire_err *err)
{
	const struct wire_opt *opt;
	char *value, *rest;
	uint32_t bit;

	for (; text != NULL; text = rest) {
		value = strpbrk(text, "=:");
		if (value == NULL || *value == ':') {
			cut(text);
			opt = find_option(kind, text, err);
			if (opt != NULL)
				wire_fail(err, "option \"%s\" has no value; write %s=...", text,
					  text);
			return false;
		}
		*value++ = '\0';
		opt = find_option(kind, text, err);
		if (opt == NULL)
			return false;
		bit = 1u << (opt - kind->opts);
		if ((*given & bit) != 0) {
			wire_fail(err, "option \"%s\" is given twice; keep one", opt->key);
			return false;
		}
		*given |= bit;
		rest = cut_value(opt, value);
		if (!set_option(opt, value, conf, err))
			return false;
	}
	return true;
}

static const struct wire_kind *
find_kind(const char *name, const struct wire_err *err)
{
	char list[LIST_MAX] = "";
	size_t i;

	for (i = 0; i < ARRAY_LEN(kinds); i++) {
		if (strcmp(kinds[i]->name, name) == 0)
			return kinds[i];
		list_add(list, kinds[i]->name);
	}
	return wire_fail(err, "unknown kind \"%s\"; choose one of %s", name, list);
}

struct wire *
wire_open(const char *spec, const uint8_t mac[6], char *err_text, size_t errlen)
{
	const struct wire_err err = { .text = err_text, .len = errlen, .spec = spec };
	const struct wire_kind *kind;
	struct wire *w = NULL;
	char *text, *options;
	uint32_t given = 0;
	void *conf = NULL;

	text = strdup(spec);
	if (text == NULL)
		return wire_fail(&err, "no memory");
	options = cut(text);
	kind = find_kind(text, &err);
	if (kind == NULL)
		goto out;
	conf = calloc(1, kind->conf_size != 0 ? kind->conf_size : 1);
	if (conf == NULL) {
		wire_fail(&err, "no memory");
		goto out;
	}
	if (kind->defaults != NULL)
		memcpy(conf, kind->defaults, kind->conf_size);
	if (parse_options(kind, options, conf, &given, &err))
		w = kind->open(conf, given, mac, &err);
out:
	free(conf);
	free(text);
	return w;
}

void
wire_close(struct wire *w)
{
	if (w != NULL)
		w->ops->close(w);
}

uint32_t
wire_gather(const struct wire_tx *frame, uint8_t *buf, uint32_t room)
{
	uint32_t i, used = 0;

	for (i = 0; i < frame->nsegs; i++) {
		const struct wire_seg *seg = &frame->segs[i];

		if (seg->len > room - used)
			return 0;
		memcpy(buf + used, seg->data, seg->len);
		used += seg->len;
	}
	return used;
}

void
wire_tx_count(struct wire *w, uint32_t q, const struct wire_tx *frames, uint32_t n)
{
	uint64_t bytes = 0;
	uint32_t i;

	(void)q;
	for (i = 0; i < n; i++)
		bytes += frames[i].len;
	w->stats.tx_frames += n;
	w->stats.tx_bytes += bytes;
}

uint32_t
wire_rx_none(struct wire *w, uint32_t q, struct wire_rx *frames, uint32_t max)
{
	(void)w;
	(void)q;
	(void)frames;
	(void)max;
	return 0;
}
