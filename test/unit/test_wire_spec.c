/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Tests the text that describes a wire: what is accepted and what each mistake is told.
 */
#include "wire_test.h"

static const struct {
	const char *spec, *word, *remedy;
} refusals[] = {
	{ "", "unknown kind \"\"", "gen, loop, pair, pcap, sink, tap" },
	{ "tub", "unknown kind \"tub\"", "gen, loop, pair, pcap, sink, tap" },
	{ "gen,size=64", "unknown kind", "gen" },
	{ "gen:", "unknown option \"\"", "size, mix" },
	{ "gen:size=64:", "unknown option \"\"", "size" },
	{ "gen:sice=64", "unknown option \"sice\"", "size, mix, dst, src, flows, l4, ip, rate" },
	{ "gen:size", "\"size\" has no value", "size=..." },
	{ "gen:size:flows=1", "\"size\" has no value", "size=..." },
	{ "gen:size=", "size= is not a number", "60 to 9018" },
	{ "gen:size=64b", "size=64b", "60 to 9018" },
	{ "gen:size=-64", "size=-64", "60 to 9018" },
	{ "gen:size=59", "size=59", "60 to 9018" },
	{ "gen:size=9019", "size=9019", "60 to 9018" },
	{ "gen:size=18446744073709551680", "size=18446744073709551680", "60 to 9018" },
	{ "gen:size=64:size=64", "\"size\" is given twice", "keep one" },
	{ "gen:touch=2", "touch=2", "0 to 1" },
	{ "gen:l4=sctp", "l4=sctp is unknown", "udp, tcp, none" },
	{ "gen:ip=5", "ip=5 is unknown", "4, 6" },
	{ "gen:dst=02:00:00:00:00", "dst=02 is not a MAC", "aa:bb:cc:dd:ee:ff" },
	{ "gen:dst=02:00:00:00:00:0g", "dst=02 is not a MAC", "aa:bb:cc:dd:ee:ff" },
	{ "gen:dst=02:00:00:00:00:011", "dst=02:00:00:00:00:011", "aa:bb:cc:dd:ee:ff" },
	{ "sink:x=1", "\"x\" is too much", "no options" },
	{ "pair", "no id", "pair:id=NAME" },
	{ "pair:id=", "id= must have", "1 to 31" },
	{ "pair:id=01234567890123456789012345678901", "must have", "1 to 31" },
	{ "pair:id=a:depth=3", "depth=3", "power of two" },
	{ "loop:queues=65", "queues=65", "1 to 64" },
	{ "loop:depth=100", "depth=100", "power of two" },
	{ "tap:queues=0", "queues=0", "1 to 256" },
	{ "tap:queues=257", "queues=257", "1 to 256" },
	{ "tap:mtu=9001", "mtu=9001", "68 to 9000" },
	{ "tap:name=0123456789abcdef", "name=0123456789abcdef", "1 to 15" },
	{ "pcap", "no file", "in=FILE" },
	{ "pcap:loop=2:out=/dev/shm/x", "loop, rate and delay", "add in=FILE" },
	{ "pcap:in=/nonexistent/x:snaplen=100", "snaplen", "add out=FILE" },
	{ "pcap:in=/nonexistent/x", "/nonexistent/x", "No such file" },
	{ "pcap:out=/nonexistent/x", "/nonexistent/x", "No such file" },
	{ "pcap:in=-", "in=-", "regular file" },
	{ "pcap:out=/dev/null", "out=/dev/null", "regular file" },
};

static void
test_refusals(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(refusals); i++)
		refuse_wire(refusals[i].spec, refusals[i].word, refusals[i].remedy);
}

static void
test_accepted(void **state)
{
	static const struct {
		const char *spec, *kind;
	} good[] = {
		{ "sink", "sink" },
		{ "gen", "gen" },
		{ "gen:size=60", "gen" },
		{ "gen:size=9018:flows=1", "gen" },
		{ "gen:dst=02:aa:00:00:00:07:src=02-AA-00-00-00-08:size=64", "gen" },
		{ "gen:mix=imix:rate=1000000:ranges=8:touch=1:burst=64", "gen" },
		{ "loop:swap=1:queues=64:depth=1", "loop" },
		{ "pair:id=a", "pair" },
	};
	struct wire *w;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(good); i++) {
		w = open_wire(good[i].spec);
		assert_string_equal(w->ops->name, good[i].kind);
		wire_close(w);
	}
	wire_close(NULL);
}

/* A short buffer gets a cut text and nothing behind it. */
static void
test_short_error(void **state)
{
	char err[16];
	size_t len;

	(void)state;
	for (len = 0; len < sizeof(err); len++) {
		memset(err, 'x', sizeof(err));
		assert_null(wire_open("gen:size=1", wire_test_mac, err, len));
		assert_int_equal(err[len], 'x');
		if (len != 0)
			assert_true(memchr(err, '\0', len) != NULL);
	}
}

static void
test_sink_counts(void **state)
{
	struct wire *w = open_wire("sink");
	struct wire_rx rx[4];
	uint8_t frame[60] = { 0 };

	(void)state;
	send_frame(w, 0, frame, sizeof(frame), 20);
	assert_int_equal(w->ops->rx(w, 0, rx, 4), 0);
	assert_int_equal(w->stats.tx_frames, 1);
	assert_int_equal(w->stats.tx_bytes, 60);
	assert_null(w->ops->templates);
	wire_close(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_accepted),
		cmocka_unit_test(test_short_error),
		cmocka_unit_test(test_sink_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
