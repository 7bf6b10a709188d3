/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Reads the description of one NIC: "netvsc,key=value,...".
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hvwire/nvsp.h>
#include <hvwire/vmbus.h>

#include "cli.h"

/** Longest description. */
#define NIC_SPEC_MAX 1024
/** MTUs that a host can allow, bytes. */
#define MTU_MIN 1500
#define MTU_MAX 9000

/* Numbers that a key accepts; values may end in K, M or G (1000, or 1024 when @p binary). */
struct range {
	const char *key;
	uint64_t min;
	uint64_t max;
	bool binary;
	size_t ofs; /* of a u32 in struct nic_conf */
	uint32_t multiple;
};

#define CONF(field) offsetof(struct nic_conf, field)

static const struct range ranges[] = {
	{ "channels", 1, VMBUS_CHANNELS_MAX, false, CONF(channels), 1 },
	{ "queues", 1, VMBUS_CHANNELS_MAX, false, CONF(channels), 1 },
	{ "mtu", MTU_MIN, MTU_MAX, false, CONF(mtu), 1 },
	/* The smallest ring holds a few of the longest control messages. */
	{ "ring", 16384, 64 << 20, true, CONF(ring_bytes), VMBUS_PAGE_SIZE },
	{ "section", 1024, 1 << 20, true, CONF(section_size), 8 },
	/* 16 of them carry control messages only. */
	{ "slots", 17, 65536, false, CONF(recv_slots), 1 },
	{ "ranges", 1, VMBUS_XFER_RANGES, false, CONF(ranges), 1 },
	{ "rss", 1, 256, false, CONF(rss_entries), 1 },
	{ "packets", 1, 64, false, CONF(max_packets), 1 },
	{ "align", 0, 8, false, CONF(align_shift), 1 },
};

static const char nic_keys[] = "mac, name, channels (queues), wire, nvsp, mtu, ring, section, "
	"slots, ranges, ppi, rss, speed, packets, align, hash-udp";

static const struct {
	const char *name;
	uint32_t version;
} nvsp_names[] = {
	{ "1", NVSP_VERSION_1 },
	{ "2", NVSP_VERSION_2 },
	{ "4", NVSP_VERSION_4 },
	{ "5", NVSP_VERSION_5 },
	{ "6", NVSP_VERSION_6 },
	{ "6.1", NVSP_VERSION_61 },
};

static const struct {
	const char *name;
	enum nic_ppi_layout layout;
} ppi_names[] = {
	{ "csum-hash", NIC_PPI_CSUM_HASH },
	{ "hash-csum", NIC_PPI_HASH_CSUM },
	{ "csum", NIC_PPI_CSUM },
	{ "none", NIC_PPI_NONE },
	{ "unknown", NIC_PPI_UNKNOWN },
	{ "mix", NIC_PPI_MIX },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* A number with an optional K, M or G. */
static bool
parse_number(const char *text, bool binary, uint64_t *value)
{
	uint64_t unit = binary ? 1024 : 1000;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 0);
	if (errno != 0)
		return false;
	if (*end != '\0') {
		const char *units = "KMG";
		const char *at = strchr(units, *end);
		int n;

		if (at == NULL || end[1] != '\0')
			return false;
		for (n = (int)(at - units); n >= 0; n--)
			if (__builtin_mul_overflow(*value, unit, value))
				return false;
	}
	return true;
}

static int
parse_range(struct nic_conf *conf, const struct range *r, const char *value, char *err,
	    size_t errlen)
{
	uint32_t v32;
	uint64_t v;

	if (!parse_number(value, r->binary, &v) || v < r->min || v > r->max ||
	    v % r->multiple != 0) {
		char step[32] = "";

		if (r->multiple > 1)
			snprintf(step, sizeof(step), ", a multiple of %u", r->multiple);
		snprintf(err, errlen, "--nic: %s=%s: use a number from %llu to %llu%s", r->key,
			 value, (unsigned long long)r->min, (unsigned long long)r->max, step);
		return -EINVAL;
	}
	v32 = (uint32_t)v;
	memcpy((char *)conf + r->ofs, &v32, sizeof(v32));
	return 0;
}

static int
parse_mac(struct nic_conf *conf, const char *value, char *err, size_t errlen)
{
	unsigned int b[6];
	int used = 0;
	int i;

	if (strspn(value, "0123456789abcdefABCDEF:") != strlen(value) ||
	    sscanf(value, "%2x:%2x:%2x:%2x:%2x:%2x%n", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5],
		   &used) != 6 || value[used] != '\0' || (b[0] & 1) != 0 ||
	    (b[0] | b[1] | b[2] | b[3] | b[4] | b[5]) == 0) {
		snprintf(err, errlen, "--nic: mac=%s: use a unicast address such as "
			 "00:15:5d:01:02:03", value);
		return -EINVAL;
	}
	for (i = 0; i < 6; i++)
		conf->mac[i] = (uint8_t)b[i];
	return 0;
}

static int
parse_name(struct nic_conf *conf, const char *value, char *err, size_t errlen)
{
	if (*value == '\0' || strlen(value) >= sizeof(conf->name) ||
	    strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") !=
	    strlen(value)) {
		snprintf(err, errlen, "--nic: name=%s: use 1 to %zu letters, digits, '-', '_', '.'",
			 value, sizeof(conf->name) - 1);
		return -EINVAL;
	}
	strcpy(conf->name, value);
	return 0;
}

/* Keys whose values are words. */
static int
parse_word(struct cli_nic *nic, const char *key, const char *value, char *err, size_t errlen)
{
	const char *good = NULL;
	uint64_t v;
	size_t i;

	if (strcmp(key, "nvsp") == 0) {
		good = "1, 2, 4, 5, 6 or 6.1";
		for (i = 0; i < COUNT(nvsp_names); i++)
			if (strcmp(value, nvsp_names[i].name) == 0) {
				nic->conf.nvsp_version = nvsp_names[i].version;
				return 0;
			}
	} else if (strcmp(key, "ppi") == 0) {
		good = "csum-hash, hash-csum, csum, none, unknown or mix";
		for (i = 0; i < COUNT(ppi_names); i++)
			if (strcmp(value, ppi_names[i].name) == 0) {
				nic->conf.ppi = ppi_names[i].layout;
				return 0;
			}
	} else if (strcmp(key, "hash-udp") == 0) {
		good = "0 or 1";
		if (strcmp(value, "0") == 0 || strcmp(value, "1") == 0) {
			nic->conf.hash_udp = value[0] == '1';
			return 0;
		}
	} else if (strcmp(key, "speed") == 0) {
		good = "bits per second such as 10G";
		if (parse_number(value, false, &v) && v != 0) {
			nic->conf.link_bps = v;
			return 0;
		}
	} else {
		snprintf(err, errlen, "--nic: unknown key %s; known are %s", key, nic_keys);
		return -EINVAL;
	}
	snprintf(err, errlen, "--nic: %s=%s: use %s", key, value, good);
	return -EINVAL;
}

static int
parse_pair(struct cli_nic *nic, const char *key, const char *value, char *err, size_t errlen)
{
	size_t i;

	for (i = 0; i < COUNT(ranges); i++)
		if (strcmp(key, ranges[i].key) == 0)
			return parse_range(&nic->conf, &ranges[i], value, err, errlen);
	if (strcmp(key, "mac") == 0)
		return parse_mac(&nic->conf, value, err, errlen);
	if (strcmp(key, "name") == 0)
		return parse_name(&nic->conf, value, err, errlen);
	if (strcmp(key, "wire") == 0) {
		if (strlen(value) >= sizeof(nic->wire)) {
			snprintf(err, errlen, "--nic: wire=%.40s... is too long; use at most %zu "
				 "characters", value, sizeof(nic->wire) - 1);
			return -EINVAL;
		}
		strcpy(nic->wire, value);
		return 0;
	}
	return parse_word(nic, key, value, err, errlen);
}

/* Refuse values that are fine alone but not together; fill in what was not given. */
static int
check_together(struct cli_nic *nic, char *err, size_t errlen)
{
	struct nic_conf *c = &nic->conf;

	if (c->nvsp_version < NVSP_VERSION_5 && c->channels > 1)
		snprintf(err, errlen, "--nic: channels=%u contradicts nvsp=%s: sub-channels need "
			 "nvsp=5 or newer", c->channels,
			 c->nvsp_version == NVSP_VERSION_1 ? "1" :
			 c->nvsp_version == NVSP_VERSION_2 ? "2" : "4");
	else if (c->nvsp_version < NVSP_VERSION_2 && c->mtu > 1500)
		snprintf(err, errlen, "--nic: mtu=%u contradicts nvsp=1: frames beyond 1500 bytes "
			 "need nvsp=2 or newer", c->mtu);
	else
		err[0] = '\0';
	if (err[0] != '\0')
		return -EINVAL;
	if (c->channels == 0)
		c->channels = c->nvsp_version < NVSP_VERSION_5 ? 1 : VMBUS_CHANNELS_MAX;
	if (c->mtu == 0)
		c->mtu = c->nvsp_version < NVSP_VERSION_2 ? MTU_MIN : MTU_MAX;
	return 0;
}

/* Channels and MTU stay 0: "not given". */
static void
nic_defaults(struct cli_nic *nic, uint32_t index)
{
	*nic = (struct cli_nic){
		.conf = {
			/* Microsoft's prefix for Hyper-V. */
			.mac = { 0x00, 0x15, 0x5d, 0x00, 0x00, (uint8_t)(index + 1) },
			.nvsp_version = NVSP_VERSION_61,
			.ring_bytes = VMBUS_UIO_RING_BYTES,
			.section_size = 6144,
			.max_packets = 8,
			.align_shift = 3,
			.ranges = 1,
			.rss_entries = 128,
			.link_bps = 10000000000ull,
			.ppi = NIC_PPI_CSUM_HASH,
		},
		.wire = "sink",
	};
	snprintf(nic->conf.name, sizeof(nic->conf.name), "netvsc%u", index);
}

/* Stands @p key before position @p at of the description already? */
static bool
given_before(const char *spec, const char *key, size_t at)
{
	size_t len = strlen(key);
	const char *p;

	for (p = strchr(spec, ','); p != NULL && (size_t)(p - spec) + 1 < at;
	     p = strchr(p + 1, ','))
		if (strncmp(p + 1, key, len) == 0 && p[1 + len] == '=')
			return true;
	return false;
}

/* A key that is given twice, maybe by its other name, contradicts itself. */
static int
check_once(const char *spec, const char *key, size_t at, char *err, size_t errlen)
{
	const char *other = strcmp(key, "queues") == 0 ? "channels" :
		strcmp(key, "channels") == 0 ? "queues" : key;

	if (!given_before(spec, key, at) && !given_before(spec, other, at))
		return 0;
	snprintf(err, errlen, "--nic %s: %s is given twice; keep one", spec, key);
	return -EINVAL;
}

int
cli_parse_nic(struct cli_nic *nic, const char *spec, uint32_t index, char *err, size_t errlen)
{
	char text[NIC_SPEC_MAX];
	char *save = NULL;
	char *item;

	nic_defaults(nic, index);
	if (strlen(spec) >= sizeof(text)) {
		snprintf(err, errlen, "--nic: the description has more than %d characters; "
			 "shorten it", NIC_SPEC_MAX - 1);
		return -EINVAL;
	}
	strcpy(text, spec);
	item = strtok_r(text, ",", &save);
	if (item == NULL || strcmp(item, "netvsc") != 0) {
		snprintf(err, errlen, "--nic %s: unknown kind of NIC; begin with netvsc", spec);
		return -EINVAL;
	}
	while ((item = strtok_r(NULL, ",", &save)) != NULL) {
		char *value = strchr(item, '=');

		if (value == NULL) {
			snprintf(err, errlen, "--nic: %s has no value; write %s=VALUE; known keys "
				 "are %s", item, item, nic_keys);
			return -EINVAL;
		}
		*value++ = '\0';
		if (check_once(spec, item, (size_t)(item - text), err, errlen) != 0 ||
		    parse_pair(nic, item, value, err, errlen) != 0)
			return -EINVAL;
	}
	return check_together(nic, err, errlen);
}
