/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Tests the TAP wire through the real kernel, in a network namespace of its own.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wire_test.h"

#include <wire/rate.h>

/** EtherType for local experiments: nothing else in the namespace sends it. */
#define TEST_TYPE 0x88b5
#define DEADLINE_NS (5 * RATE_NS_PER_S)
#define FLOWS 512u

static const char *skip_reason;

#define SKIP_IF_NEEDED() \
	do { \
		if (skip_reason != NULL) { \
			print_message("skipped: %s\n", skip_reason); \
			skip(); \
		} \
	} while (0)

static int
setup(void **state)
{
	int fd;

	(void)state;
	if (geteuid() != 0) {
		skip_reason = "a TAP interface needs root";
	} else if ((fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC)) < 0) {
		skip_reason = "/dev/net/tun cannot be opened";
	} else {
		close(fd);
		if (unshare(CLONE_NEWNET) != 0)
			skip_reason = "no network namespace of its own is allowed";
	}
	return 0;
}

/* A packet socket that sends to, and hears from, the kernel's side of the TAP. */
static int
open_packet(const char *name)
{
	struct sockaddr_ll addr = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(TEST_TYPE),
		.sll_ifindex = (int)if_nametoindex(name),
	};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(TEST_TYPE));
	int room = 8 << 20;

	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

static void
make_frame(uint8_t *frame, uint32_t len, uint32_t seed)
{
	fill_frame(frame, len, seed);
	memset(frame, 0xff, 6);
	memset(frame + 6, 0x02, 6);
	frame[12] = TEST_TYPE >> 8;
	frame[13] = TEST_TYPE & 0xff;
	memcpy(frame + 14, &seed, sizeof(seed));
}

/* Take frames of TEST_TYPE from all queues, check them, count them per queue. */
static uint32_t
drain(struct wire *w, uint32_t *per_queue, uint32_t (*len_of)(uint32_t seed))
{
	uint8_t frame[WIRE_FRAME_MAX];
	struct wire_rx rx[32];
	uint32_t q, i, n, seed, got = 0;

	for (q = 0; q < w->nqueues; q++) {
		n = w->ops->rx(w, q, rx, 32);
		for (i = 0; i < n; i++) {
			if (rx[i].data[12] != TEST_TYPE >> 8 ||
			    rx[i].data[13] != (TEST_TYPE & 0xff))
				continue;
			memcpy(&seed, rx[i].data + 14, sizeof(seed));
			make_frame(frame, len_of(seed), seed);
			assert_int_equal(rx[i].len, len_of(seed));
			assert_memory_equal(rx[i].data, frame, rx[i].len);
			per_queue[q]++;
			got++;
		}
	}
	return got;
}

static uint32_t
any_len(uint32_t seed)
{
	return 60 + seed * 37 % 1455;
}

static uint32_t
jumbo_len(uint32_t seed)
{
	return 60 + seed * 37 % 8955;
}

/* FLOWS frames each way, of many lengths, through @p queues queues. */
static void
both_ways(const char *spec, uint32_t queues, uint32_t (*len_of)(uint32_t seed))
{
	static uint8_t frame[WIRE_FRAME_MAX], back[WIRE_FRAME_MAX];
	uint32_t per_queue[256] = { 0 };
	uint32_t i, got, seed;
	struct wire *w = open_wire(spec);
	uint64_t start;
	ssize_t len;
	int fd;

	assert_int_equal(w->nqueues, queues);
	fd = open_packet("hvt0");
	start = rate_now_ns();
	for (i = 0, got = 0; got < FLOWS && rate_now_ns() - start < DEADLINE_NS;) {
		if (i < FLOWS) {
			make_frame(frame, len_of(i), i);
			assert_int_equal(send(fd, frame, len_of(i), 0), len_of(i));
			i++;
		}
		got += drain(w, per_queue, len_of);
	}
	assert_int_equal(got, FLOWS);
	assert_int_equal(w->stats.rx_dropped, 0);

	for (i = 0; i < FLOWS; i++) {
		make_frame(frame, len_of(i), i);
		send_frame(w, i % queues, frame, len_of(i), i % 3 == 0 ? WIRE_FRAME_MAX : 200);
	}
	assert_int_equal(w->stats.tx_frames, FLOWS);
	assert_int_equal(w->stats.tx_dropped, 0);
	start = rate_now_ns();
	for (got = 0; got < FLOWS && rate_now_ns() - start < DEADLINE_NS;) {
		len = recv(fd, back, sizeof(back), 0);
		if (len < 0)
			continue;
		memcpy(&seed, back + 14, sizeof(seed));
		make_frame(frame, len_of(seed), seed);
		assert_int_equal(len, len_of(seed));
		assert_memory_equal(back, frame, (size_t)len);
		got++;
	}
	assert_int_equal(got, FLOWS);
	close(fd);
	wire_close(w);
	assert_int_equal(if_nametoindex("hvt0"), 0);
}

static void
test_1_queue(void **state)
{
	(void)state;
	SKIP_IF_NEEDED();
	both_ways("tap:name=hvt0", 1, any_len);
}

static void
test_4_queues(void **state)
{
	(void)state;
	SKIP_IF_NEEDED();
	both_ways("tap:name=hvt0:queues=4", 4, any_len);
}

static void
test_256_queues(void **state)
{
	(void)state;
	SKIP_IF_NEEDED();
	both_ways("tap:name=hvt0:queues=256", 256, any_len);
}

static void
test_jumbo(void **state)
{
	(void)state;
	SKIP_IF_NEEDED();
	both_ways("tap:name=hvt0:queues=2:mtu=9000", 2, jumbo_len);
}

/* Address of the kernel's side, and a neighbour behind the wire that needs no ARP. */
static void
set_addresses(const char *name, struct sockaddr_in *neighbour)
{
	struct ifreq ifr = { 0 };
	struct arpreq arp = { .arp_flags = ATF_COM | ATF_PERM };
	struct sockaddr_in in = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	in.sin_addr.s_addr = htonl(0x0a090001);
	memcpy(&ifr.ifr_addr, &in, sizeof(in));
	assert_int_equal(ioctl(fd, SIOCSIFADDR, &ifr), 0);
	in.sin_addr.s_addr = htonl(0xffffff00);
	memcpy(&ifr.ifr_netmask, &in, sizeof(in));
	assert_int_equal(ioctl(fd, SIOCSIFNETMASK, &ifr), 0);
	in.sin_addr.s_addr = htonl(0x0a090002);
	memcpy(&arp.arp_pa, &in, sizeof(in));
	arp.arp_ha.sa_family = ARPHRD_ETHER;
	memcpy(arp.arp_ha.sa_data, wire_test_mac, 6);
	snprintf(arp.arp_dev, sizeof(arp.arp_dev), "%s", name);
	assert_int_equal(ioctl(fd, SIOCSARP, &arp), 0);
	close(fd);
	*neighbour = in;
	neighbour->sin_port = htons(9);
}

/* Look for UDP frames in all queues. @return How many; each must be complete and correct. */
static uint32_t
drain_udp(struct wire *w, uint32_t *queues_used)
{
	struct wire_rx rx[32];
	uint32_t q, i, n, len, sum, got = 0;
	const uint8_t *ip;

	for (q = 0; q < w->nqueues; q++) {
		n = w->ops->rx(w, q, rx, 32);
		for (i = 0; i < n; i++) {
			ip = rx[i].data + 14;
			if (rx[i].data[12] != 8 || rx[i].data[13] != 0 || ip[9] != 17)
				continue;
			len = (uint32_t)ip[2] << 8 | ip[3];
			assert_true(len + 14 <= rx[i].len);
			assert_int_equal(ones_sum(0, ip, 20), 0xffff);
			sum = ones_sum(len - 20 + 17, ip + 12, 8);
			assert_int_equal(ones_sum(sum, ip + 20, len - 20), 0xffff);
			queues_used[q]++;
			got++;
		}
	}
	return got;
}

/* UDP of many flows from a socket: checksums are complete and the queues share the work. */
static void
test_sockets(void **state)
{
	uint32_t used[256] = { 0 }, i, got = 0, busy = 0;
	struct sockaddr_in to;
	uint8_t data[1400];
	struct wire *w;
	uint64_t start;
	int fd;

	(void)state;
	SKIP_IF_NEEDED();
	w = open_wire("tap:name=hvt0:queues=16:mac=02:11:22:33:44:55");
	set_addresses("hvt0", &to);
	start = rate_now_ns();
	for (i = 0; got < FLOWS && rate_now_ns() - start < DEADLINE_NS;) {
		if (i < FLOWS) {
			fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
			fill_frame(data, sizeof(data), i);
			assert_true(sendto(fd, data, 1 + i * 2, 0, (struct sockaddr *)&to,
					   sizeof(to)) > 0);
			close(fd);
			i++;
		}
		got += drain_udp(w, used);
	}
	assert_int_equal(got, FLOWS);
	for (i = 0; i < w->nqueues; i++)
		busy += used[i] != 0 ? 1 : 0;
	assert_true(busy > w->nqueues / 2);
	wire_close(w);
}

/* Moved to another namespace the interface keeps its wire, and its name is free again. */
static void
test_namespace(void **state)
{
	uint32_t used[256] = { 0 };
	uint8_t frame[60];
	struct wire *w;
	uint64_t start;
	char cmd[80];
	pid_t pid;
	int fd, home, up[2], gone[2], status;
	char c = 0;

	(void)state;
	SKIP_IF_NEEDED();
	if (system("command -v ip >/dev/null") != 0) {
		print_message("skipped: the ip command is not installed\n");
		skip();
	}
	home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	assert_true(home >= 0 && pipe(up) == 0 && pipe(gone) == 0);
	pid = fork();
	if (pid == 0) {
		close(gone[1]);
		if (unshare(CLONE_NEWNET) == 0 && write(up[1], &c, 1) == 1)
			(void)!read(gone[0], &c, 1);
		_exit(0);
	}
	close(gone[0]);
	assert_int_equal(read(up[0], &c, 1), 1);
	w = open_wire("tap:name=hvt0:queues=2");
	snprintf(cmd, sizeof(cmd), "ip link set hvt0 netns %d", (int)pid);
	assert_int_equal(system(cmd), 0);
	assert_int_equal(if_nametoindex("hvt0"), 0);

	snprintf(cmd, sizeof(cmd), "/proc/%d/ns/net", (int)pid);
	fd = open(cmd, O_RDONLY | O_CLOEXEC);
	assert_int_equal(setns(fd, CLONE_NEWNET), 0);
	close(fd);
	assert_int_equal(system("ip link set hvt0 up"), 0);
	fd = open_packet("hvt0");
	assert_int_equal(setns(home, CLONE_NEWNET), 0);

	make_frame(frame, any_len(0), 0);
	assert_int_equal(send(fd, frame, any_len(0), 0), any_len(0));
	start = rate_now_ns();
	while (drain(w, used, any_len) == 0 && rate_now_ns() - start < DEADLINE_NS)
		;
	assert_int_equal(used[0] + used[1], 1);
	send_frame(w, 1, frame, any_len(0), 60);
	assert_int_equal(w->stats.tx_frames, 1);
	assert_int_equal(recv(fd, frame, sizeof(frame), 0), any_len(0));
	close(fd);
	wire_close(w);
	close(home);
	close(gone[1]);
	close(up[0]);
	close(up[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

static int
get_ifr(const char *name, unsigned long request, struct ifreq *ifr)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc;

	memset(ifr, 0, sizeof(*ifr));
	snprintf(ifr->ifr_name, sizeof(ifr->ifr_name), "%s", name);
	rc = ioctl(fd, request, ifr);
	close(fd);
	return rc;
}

/* The interface's carrier: IFF_RUNNING would follow it only some time later. */
static bool
has_carrier(const char *name)
{
	struct ethtool_value value = { .cmd = ETHTOOL_GLINK };
	struct ifreq ifr = { .ifr_data = (void *)&value };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	assert_int_equal(ioctl(fd, SIOCETHTOOL, &ifr), 0);
	close(fd);
	return value.data != 0;
}

static void
test_options(void **state)
{
	static const uint8_t mac[6] = { 0x02, 0x11, 0x22, 0x33, 0x44, 0x55 };
	struct ifreq ifr;
	struct wire *w;

	(void)state;
	SKIP_IF_NEEDED();
	w = open_wire("tap:name=hvt0:up=0:mtu=4000:mac=02:11:22:33:44:55");
	assert_int_equal(get_ifr("hvt0", SIOCGIFHWADDR, &ifr), 0);
	assert_memory_equal(ifr.ifr_hwaddr.sa_data, mac, 6);
	assert_int_equal(get_ifr("hvt0", SIOCGIFMTU, &ifr), 0);
	assert_int_equal(ifr.ifr_mtu, 4000);
	assert_int_equal(get_ifr("hvt0", SIOCGIFFLAGS, &ifr), 0);
	assert_int_equal(ifr.ifr_flags & IFF_UP, 0);
	wire_close(w);

	w = open_wire("tap");
	assert_int_equal(get_ifr("hv0", SIOCGIFFLAGS, &ifr), 0);
	assert_int_equal(ifr.ifr_flags & IFF_UP, IFF_UP);
	assert_true(has_carrier("hv0"));
	w->ops->set_link(w, false);
	assert_false(has_carrier("hv0"));
	w->ops->set_link(w, true);
	assert_true(has_carrier("hv0"));
	wire_close(w);
}

static uint32_t
count_fds(void)
{
	uint32_t n = 0;
	int fd;

	for (fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
	return n;
}

static void
test_refusals(void **state)
{
	uint32_t fds;
	struct wire *w;
	pid_t pid;
	int status;

	(void)state;
	SKIP_IF_NEEDED();
	w = open_wire("tap:name=hvt0");
	fds = count_fds();
	refuse_wire("tap:name=hvt0", "an interface named hvt0 exists", "ip link del hvt0");
	refuse_wire("tap:name=lo", "an interface named lo exists", "another name");
	refuse_wire("tap:name=a/b", "a/b", "Invalid argument");
	refuse_wire("tap:name=hvt1:mac=01:00:00:00:00:01", "MAC address of", "hvt1");
	assert_int_equal(if_nametoindex("hvt1"), 0);
	assert_int_equal(count_fds(), fds);
	wire_close(w);

	pid = fork();
	if (pid == 0) {
		char err[512] = "";

		if (setgid(65534) != 0 || setuid(65534) != 0)
			_exit(1);
		w = wire_open("tap:name=hvt0", wire_test_mac, err, sizeof(err));
		_exit(w == NULL && strstr(err, "run as root") != NULL ? 0 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Readable when a frame waits, not before. */
static void
test_descriptor(void **state)
{
	uint32_t used[256] = { 0 };
	struct pollfd pfd = { .events = POLLIN };
	uint8_t frame[60];
	struct wire *w;
	int fd;

	(void)state;
	SKIP_IF_NEEDED();
	w = open_wire("tap:name=hvt0");
	fd = open_packet("hvt0");
	make_frame(frame, any_len(0), 0);
	assert_int_equal(send(fd, frame, any_len(0), 0), any_len(0));
	pfd.fd = w->ops->fd(w, 0);
	assert_int_equal(poll(&pfd, 1, 1000), 1);
	while (drain(w, used, any_len) == 0)
		assert_int_equal(poll(&pfd, 1, 1000), 1);
	close(fd);
	wire_close(w);
}

/* An interface that went, or is down, costs drops but no crash and no endless work. */
static void
test_down(void **state)
{
	struct wire_rx rx[4];
	uint8_t frame[60];
	struct wire *w;
	uint32_t i;

	(void)state;
	SKIP_IF_NEEDED();
	w = open_wire("tap:name=hvt0:up=0:queues=2");
	make_frame(frame, sizeof(frame), 1);
	send_frame(w, 0, frame, sizeof(frame), 60);
	send_frame(w, 1, frame, sizeof(frame), 20);
	send_frame(w, 1, frame, 10, 20);
	assert_int_equal(w->stats.tx_dropped, 3);
	for (i = 0; i < 100; i++)
		assert_int_equal(w->ops->rx(w, i % 2, rx, 4), 0);
	wire_close(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_1_queue),
		cmocka_unit_test(test_4_queues),
		cmocka_unit_test(test_256_queues),
		cmocka_unit_test(test_jumbo),
		cmocka_unit_test(test_sockets),
		cmocka_unit_test(test_namespace),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_descriptor),
		cmocka_unit_test(test_down),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
