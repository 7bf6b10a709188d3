/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * What each kind of wire tells the common part: its options and how to open it.
 */
#ifndef HVSIM_WIRE_KIND_H
#define HVSIM_WIRE_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire.h"

/** Longest text value of an option, with its terminating zero (file names). */
#define WIRE_TEXT_MAX 1024u

/** Types of option values and of the field that receives them. */
enum wire_opt_type {
	WIRE_OPT_U64,    /**< decimal number min..max; field uint64_t */
	WIRE_OPT_FLAG,   /**< 0 or 1; field uint64_t */
	WIRE_OPT_MAC,    /**< aa:bb:cc:dd:ee:ff, '-' also separates; field uint8_t[6] */
	WIRE_OPT_TEXT,   /**< 1..max characters, max < WIRE_TEXT_MAX; field char[max + 1] */
	WIRE_OPT_CHOICE, /**< one of the words; field uint64_t, index of the word */
};

/** One option of a kind. */
struct wire_opt {
	const char *key;
	enum wire_opt_type type;
	size_t offset; /**< of the field in the kind's configuration */
	uint64_t min;
	uint64_t max;
	const char *const *words; /**< choices, NULL-terminated */
};

/** Where an error text goes. */
struct wire_err {
	char *text;
	size_t len;
	const char *spec; /**< the whole specification, named in every error */
};

/** A kind of wire. */
struct wire_kind {
	const char *name;
	const struct wire_opt *opts; /**< at most 32 */
	uint32_t nopts;
	size_t conf_size;
	const void *defaults; /**< conf_size bytes, NULL = zeros */
	/**
	 * Open a wire.
	 *
	 * @param conf The kind's configuration, valid during the call.
	 * @param given Bit i is set when option i was written by the user.
	 * @param mac The NIC's own address.
	 * @return The wire or NULL with @p err set.
	 */
	struct wire *(*open)(const void *conf, uint32_t given, const uint8_t mac[6],
			     const struct wire_err *err);
};

extern const struct wire_kind wire_kind_gen;
extern const struct wire_kind wire_kind_loop;
extern const struct wire_kind wire_kind_pair;
extern const struct wire_kind wire_kind_pcap;
extern const struct wire_kind wire_kind_sink;
extern const struct wire_kind wire_kind_tap;

/** Write a one-line error that begins with the specification. @return NULL, for callers. */
void *wire_fail(const struct wire_err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/** Parse "aa:bb:cc:dd:ee:ff" or with '-'; exactly 17 characters are read. */
bool wire_parse_mac(const char *text, uint8_t mac[6]);

/**
 * Copy a frame of the guest into @p buf once.
 *
 * @return Its length in bytes; 0 when it is empty or longer than @p room.
 */
uint32_t wire_gather(const struct wire_tx *frame, uint8_t *buf, uint32_t room);

/** Transmit that accepts and forgets everything. */
void wire_tx_count(struct wire *w, uint32_t q, const struct wire_tx *frames, uint32_t n);

/** Receive of a wire that never has anything. */
uint32_t wire_rx_none(struct wire *w, uint32_t q, struct wire_rx *frames, uint32_t max);

#endif /* HVSIM_WIRE_KIND_H */
