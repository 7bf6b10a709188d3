/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Tests the pcap wire: what is captured can be replayed; bad files are refused by name.
 */
#include <pcap/pcap.h>
#include <stdlib.h>
#include <unistd.h>

#include "wire_test.h"

#include <wire/rate.h>

#define FRAMES 40u

static char dir[] = "/tmp/hvsim-test-XXXXXX";
static char file_a[64], file_b[64];

static int
setup(void **state)
{
	(void)state;
	if (mkdtemp(dir) == NULL)
		return -1;
	snprintf(file_a, sizeof(file_a), "%s/a.pcap", dir);
	snprintf(file_b, sizeof(file_b), "%s/b.pcap", dir);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	unlink(file_a);
	unlink(file_b);
	return rmdir(dir);
}

static struct wire *
open_file(const char *fmt, const char *name)
{
	char spec[160];

	snprintf(spec, sizeof(spec), fmt, name);
	return open_wire(spec);
}

static void
refuse_file(const char *fmt, const char *name, const char *word, const char *remedy)
{
	char spec[160];

	snprintf(spec, sizeof(spec), fmt, name);
	refuse_wire(spec, word, remedy);
}

static uint32_t
frame_len(uint32_t i)
{
	return 60 + i * 229;
}

/* Write FRAMES frames of 60..8991 bytes through the wire. */
static void
write_capture(const char *fmt)
{
	struct wire *w = open_file(fmt, file_a);
	uint8_t frame[WIRE_FRAME_MAX];
	uint32_t i;

	for (i = 0; i < FRAMES; i++) {
		fill_frame(frame, frame_len(i), i);
		send_frame(w, 0, frame, frame_len(i), 500);
	}
	assert_int_equal(w->stats.tx_frames, FRAMES);
	assert_int_equal(w->stats.tx_dropped, 0);
	wire_close(w);
}

static void
test_round_trip(void **state)
{
	uint8_t frame[WIRE_FRAME_MAX];
	uint32_t i, got = 0, n;
	struct wire_rx rx[7];
	struct wire *w;

	(void)state;
	write_capture("pcap:out=%s");
	w = open_file("pcap:in=%s:loop=3", file_a);
	while ((n = w->ops->rx(w, 0, rx, 7)) != 0) {
		for (i = 0; i < n; i++, got++) {
			fill_frame(frame, frame_len(got % FRAMES), got % FRAMES);
			assert_int_equal(rx[i].len, frame_len(got % FRAMES));
			assert_memory_equal(rx[i].data, frame, rx[i].len);
		}
	}
	assert_int_equal(got, 3 * FRAMES);
	assert_int_equal(w->stats.rx_frames, got);
	wire_close(w);
}

static void
test_for_ever(void **state)
{
	struct wire_rx rx[64];
	uint32_t i;
	struct wire *w;

	(void)state;
	write_capture("pcap:out=%s");
	w = open_file("pcap:in=%s:loop=0", file_a);
	for (i = 0; i < 1000; i++)
		assert_int_equal(w->ops->rx(w, 0, rx, 64), 64);
	wire_close(w);
}

static void
test_pace(void **state)
{
	struct wire_rx rx[64];
	struct wire *w;
	uint64_t start, end;
	uint32_t got = 0;

	(void)state;
	write_capture("pcap:out=%s");
	w = open_file("pcap:in=%s:rate=2000:loop=2:delay=5", file_a);
	start = rate_now_ns();
	do {
		got += w->ops->rx(w, 0, rx, 64);
		end = rate_now_ns();
	} while (got < 2 * FRAMES && end - start < 5 * RATE_NS_PER_S);
	assert_int_equal(got, 2 * FRAMES);
	/* 5 ms, then 80 frames at 0.5 ms. */
	assert_true(end - start >= 45000000);
	wire_close(w);
}

/* Read the capture with libpcap itself. */
static void
test_capture_file(void **state)
{
	char err[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *hdr;
	uint8_t frame[WIRE_FRAME_MAX];
	const u_char *data;
	uint32_t i, cap;
	struct wire *w;
	pcap_t *p;

	(void)state;
	write_capture("pcap:out=%s:snaplen=96");
	p = pcap_open_offline(file_a, err);
	assert_non_null(p);
	assert_int_equal(pcap_datalink(p), DLT_EN10MB);
	for (i = 0; pcap_next_ex(p, &hdr, &data) == 1; i++) {
		cap = frame_len(i) < 96 ? frame_len(i) : 96;
		fill_frame(frame, frame_len(i), i);
		assert_int_equal(hdr->len, frame_len(i));
		assert_int_equal(hdr->caplen, cap);
		assert_memory_equal(data, frame, cap);
		assert_in_range(hdr->ts.tv_usec, 0, 999999);
	}
	assert_int_equal(i, FRAMES);
	pcap_close(p);
	/* Only the first frame is whole: the others cannot be replayed. */
	w = open_file("pcap:in=%s", file_a);
	assert_int_equal(w->stats.rx_dropped, FRAMES - 1);
	wire_close(w);
}

static void
write_raw(const char *name, const void *data, size_t len)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	fclose(f);
}

static void
test_bad_files(void **state)
{
	uint32_t hdr[6] = { 0xa1b2c3d4, 0x00040002, 0, 0, 65535, DLT_RAW };

	(void)state;
	write_raw(file_b, "no capture", 10);
	refuse_file("pcap:in=%s", file_b, file_b, "cannot read");
	write_raw(file_b, hdr, sizeof(hdr));
	refuse_file("pcap:in=%s", file_b, "link type", "Ethernet");
	hdr[5] = DLT_EN10MB;
	write_raw(file_b, hdr, sizeof(hdr));
	refuse_file("pcap:in=%s", file_b, "no complete frame", "another file");

	write_capture("pcap:out=%s");
	assert_int_equal(truncate(file_a, 5000), 0);
	refuse_file("pcap:in=%s", file_a, "is damaged", "replace");
	refuse_file("pcap:out=%s", dir, "regular file", "name one");
}

static void
test_same_file(void **state)
{
	char fmt[160];

	(void)state;
	write_capture("pcap:out=%s");
	unlink(file_b);
	assert_int_equal(link(file_a, file_b), 0);
	snprintf(fmt, sizeof(fmt), "pcap:in=%s:out=%%s", file_a);
	refuse_file(fmt, file_b, "same file", "another out");
}

/* A frame that cannot be written is a drop. */
static void
test_empty_frame(void **state)
{
	struct wire *w = open_file("pcap:out=%s", file_a);
	uint8_t frame[60] = { 0 };

	(void)state;
	send_frame(w, 0, frame, sizeof(frame), 60);
	send_frame(w, 0, frame, 0, 60);
	assert_int_equal(w->stats.tx_frames, 1);
	assert_int_equal(w->stats.tx_dropped, 1);
	wire_close(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_for_ever),
		cmocka_unit_test(test_pace),
		cmocka_unit_test(test_capture_file),
		cmocka_unit_test(test_bad_files),
		cmocka_unit_test(test_same_file),
		cmocka_unit_test(test_empty_frame),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
