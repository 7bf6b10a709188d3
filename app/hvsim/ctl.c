/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Asks a running host and prints the answer for people or as JSON.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "ctl.h"
#include "preload/proto.h"
#include "report.h"

/** A host answers between two bursts; it is given up after this, milliseconds. */
#define CTL_TIMEOUT_MS 5000

int
ctl_socket(const struct cli *cli, char path[RUNDIR_SOCKET_MAX], char *err, size_t errlen)
{
	const char *name = cli->socket != NULL ? cli->socket : getenv("HVSIM_SOCKET");
	int fd;
	int ret;

	if (name == NULL) {
		ret = rundir_find(path);
		if (ret != 0) {
			if (ret == -EEXIST)
				snprintf(err, errlen, "several hvsim run, one of them at %s; "
					 "choose one with --socket", path);
			else
				snprintf(err, errlen, "no hvsim runs; start one with hvsim serve, "
					 "or give its --socket");
			return ret;
		}
		name = path;
	}
	if (strlen(name) >= RUNDIR_SOCKET_MAX) {
		snprintf(err, errlen, "socket path %s is longer than %d bytes; use a shorter one",
			 name, RUNDIR_SOCKET_MAX - 1);
		return -ENAMETOOLONG;
	}
	memmove(path, name, strlen(name) + 1);
	fd = hvsim_proto_connect(path);
	if (fd < 0) {
		snprintf(err, errlen, "no hvsim serves socket %s: %s; start one with hvsim serve "
			 "--socket", path, strerror(-fd));
		return fd;
	}
	close(fd);
	return 0;
}

/* Read all of @p fd; the caller frees. */
static char *
read_all(int fd)
{
	size_t cap = 65536;
	size_t len = 0;
	char *text = malloc(cap);
	ssize_t n;

	while (text != NULL && (n = read(fd, text + len, cap - len - 1)) > 0) {
		len += (size_t)n;
		if (cap - len < 2) {
			char *p = realloc(text, cap * 2);

			if (p == NULL)
				break;
			text = p;
			cap *= 2;
		}
	}
	if (text != NULL)
		text[len] = '\0';
	return text;
}

/* Ask; the answer is the caller's to put. */
static int
ask(const char *path, const char *words, struct json_object **answer, char *err, size_t errlen)
{
	struct proto_msg m = { .type = PROTO_CTL };
	struct pollfd pfd = { .events = POLLIN };
	char *text;
	int fd = -1;
	int ret;

	snprintf(m.text, sizeof(m.text), "%s", words);
	pfd.fd = hvsim_proto_connect(path);
	ret = pfd.fd < 0 ? pfd.fd : hvsim_proto_send(pfd.fd, &m, -1, 0);
	if (ret == 0 && poll(&pfd, 1, CTL_TIMEOUT_MS) == 1)
		ret = hvsim_proto_recv(pfd.fd, &m, &fd, 0);
	if (pfd.fd >= 0)
		close(pfd.fd);
	if (ret != 1) {
		snprintf(err, errlen, "hvsim at %s gave no answer; is it stopped?", path);
		return ret < 0 ? ret : -ETIMEDOUT;
	}
	if (m.status != 0) {
		snprintf(err, errlen, "%s", m.text[0] != '\0' ? m.text : strerror(-m.status));
		return m.status;
	}
	text = fd < 0 ? NULL : read_all(fd);
	if (fd >= 0)
		close(fd);
	*answer = text == NULL ? NULL : json_tokener_parse(text);
	free(text);
	if (*answer != NULL)
		return 0;
	snprintf(err, errlen, "hvsim at %s gave an answer that is no JSON", path);
	return -EPROTO;
}

static const char *
text_of(struct json_object *o, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(o, key, &v) ? json_object_get_string(v) : "";
}

static struct json_object *
list_of(struct json_object *o, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(o, key, &v) ? v : NULL;
}

static void
print_violations(struct json_object *top)
{
	struct json_object *list = list_of(top, "violations");
	size_t n = list == NULL ? 0 : json_object_array_length(list);
	size_t i;

	for (i = 0; i < n; i++) {
		struct json_object *o = json_object_array_get_idx(list, i);

		if (list_of(o, "count") == NULL) {
			printf("%-22s %s\n", text_of(o, "name"), text_of(o, "text"));
			continue;
		}
		printf("%-22s %8s  %s; first: %s channel %s value %s%s\n", text_of(o, "name"),
		       text_of(o, "count"), text_of(o, "text"), text_of(o, "first_nic"),
		       text_of(o, "first_channel"), text_of(o, "first_value"),
		       strcmp(text_of(o, "expected"), "true") == 0 ? " (expected)" : "");
	}
	if (n == 0)
		printf("none\n");
}

/* Members that are not zero and not nested, on one line. */
static void
print_members(struct json_object *o)
{
	struct json_object_iterator it = json_object_iter_begin(o);
	struct json_object_iterator end = json_object_iter_end(o);

	for (; !json_object_iter_equal(&it, &end); json_object_iter_next(&it)) {
		struct json_object *v = json_object_iter_peek_value(&it);

		if (!json_object_is_type(v, json_type_object) &&
		    !json_object_is_type(v, json_type_array) &&
		    strcmp(json_object_get_string(v), "0") != 0)
			printf(" %s=%s", json_object_iter_peek_name(&it),
			       json_object_get_string(v));
	}
	printf("\n");
}

static void
print_nics(struct json_object *top)
{
	struct json_object *list = list_of(top, "nics");
	size_t n = list == NULL ? 0 : json_object_array_length(list);
	size_t i;
	size_t k;

	for (i = 0; i < n; i++) {
		struct json_object *o = json_object_array_get_idx(list, i);
		struct json_object *part = list_of(o, "session");
		struct json_object *chans = list_of(o, "channels");

		printf("nic:");
		print_members(o);
		if (part != NULL) {
			printf("  session:");
			print_members(part);
		}
		part = list_of(o, "wire");
		if (part != NULL && json_object_is_type(part, json_type_object)) {
			printf("  wire:");
			print_members(part);
		}
		if (chans == NULL || !json_object_is_type(chans, json_type_array))
			continue;
		for (k = 0; k < json_object_array_length(chans); k++) {
			printf("  channel:");
			print_members(json_object_array_get_idx(chans, k));
		}
	}
}

int
ctl_main(const struct cli *cli, char *err, size_t errlen)
{
	bool violations = strcmp(cli->cmd[0], "violations") == 0;
	char words[PROTO_TEXT] = "";
	char path[RUNDIR_SOCKET_MAX];
	struct json_object *answer = NULL;
	size_t len = 0;
	int ret = 0;
	int i;

	if (cli->list && !violations) {
		snprintf(err, errlen, "--list belongs to violations; leave it out");
		return -EINVAL;
	}
	for (i = 0; cli->cmd[i] != NULL && len < sizeof(words); i++)
		len += (size_t)snprintf(words + len, sizeof(words) - len, "%s%s",
					i == 0 ? "" : " ", cli->cmd[i]);
	if (len >= sizeof(words)) {
		snprintf(err, errlen, "ctl: too many words; see hvsim --help");
		return -E2BIG;
	}
	if (cli->list) {
		answer = report_violations(NULL);
	} else {
		ret = ctl_socket(cli, path, err, errlen);
		if (ret == 0)
			ret = ask(path, words, &answer, err, errlen);
	}
	if (ret != 0)
		return ret;
	if (cli->json) {
		printf("%s\n", json_object_to_json_string_ext(answer, JSON_C_TO_STRING_PRETTY));
	} else if (violations) {
		print_violations(answer);
	} else {
		if (strcmp(cli->cmd[0], "info") == 0)
			print_members(answer);
		print_nics(answer);
	}
	json_object_put(answer);
	return 0;
}
