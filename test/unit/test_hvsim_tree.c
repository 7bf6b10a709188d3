/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The fake VMBus tree has the names, formats and order that a guest's bus driver reads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <tree.h>

static char root[64];

static int
setup(void **state)
{
	(void)state;
	strcpy(root, "/tmp/hvsim-tree-XXXXXX");
	return mkdtemp(root) == NULL;
}

static int
teardown(void **state)
{
	(void)state;
	return tree_remove(root);
}

/* Whole content of a file of device @p guid. */
static const char *
text_of(const char *guid, const char *name)
{
	static char text[256];
	char path[512];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/sys/bus/vmbus/devices/%s/%s", root, guid, name);
	f = fopen(path, "r");
	if (f == NULL)
		return NULL;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	return text;
}

static struct tree_dev
device(void)
{
	struct tree_dev dev = {
		.relid = 20,
		.monitor = 3,
		.uio = 5,
		.map = {
			{ "txrx_rings", 0x400000, 0x10000 },
			{ "int_page", 0x1000, 0 },
			{ "monitor_page", 0x1000, 0 },
			{ "recv:925200", 0x1f00000, 0 },
			{ "send:925201", 0x1000000, 0 },
		},
	};
	static const uint8_t mac[6] = { 0, 0x15, 0x5d, 1, 2, 3 };

	tree_guid(dev.guid, mac, 1);
	return dev;
}

static void
test_device(void **state)
{
	struct tree_dev dev = device();
	char id[64];

	(void)state;
	assert_int_equal(strlen(dev.guid), 36);
	assert_int_equal(tree_create(root), 0);
	assert_int_equal(tree_add_device(root, &dev), 0);
	snprintf(id, sizeof(id), "{%s}\n", dev.guid);
	assert_string_equal(text_of(dev.guid, "class_id"),
			    "{f8615163-df3e-46c5-913f-f2d2f965ed0e}\n");
	assert_string_equal(text_of(dev.guid, "device_id"), id);
	assert_string_equal(text_of(dev.guid, "id"), "20\n");
	assert_string_equal(text_of(dev.guid, "monitor_id"), "3\n");
	assert_string_equal(text_of(dev.guid, "numa_node"), "0\n");
	assert_string_equal(text_of(dev.guid, "vendor"), "0x1414\n");
	assert_string_equal(text_of(dev.guid, "uio/uio5/maps/map0/name"), "txrx_rings\n");
	assert_string_equal(text_of(dev.guid, "uio/uio5/maps/map0/size"),
			    "0x0000000000400000\n");
	assert_string_equal(text_of(dev.guid, "uio/uio5/maps/map0/addr"),
			    "0x0000000000010000\n");
	assert_string_equal(text_of(dev.guid, "uio/uio5/maps/map0/offset"), "0x0\n");
	assert_string_equal(text_of(dev.guid, "uio/uio5/maps/map3/name"), "recv:925200\n");
	assert_string_equal(text_of(dev.guid, "uio/uio5/maps/map4/size"),
			    "0x0000000001000000\n");
}

static void
test_channel(void **state)
{
	struct tree_dev dev = device();
	struct tree_chan chan = { .guid = dev.guid, .relid = 77, .index = 2, .monitor = 9 };
	char path[512];
	struct stat st;
	int fd = memfd_create("ring", MFD_CLOEXEC);

	(void)state;
	assert_int_equal(ftruncate(fd, 8192), 0);
	assert_int_equal(tree_create(root), 0);
	assert_int_equal(tree_add_device(root, &dev), 0);
	assert_int_equal(tree_add_channel(root, &chan), 0);
	assert_string_equal(text_of(dev.guid, "channels/77/subchannel_id"), "2\n");
	assert_string_equal(text_of(dev.guid, "channels/77/monitor_id"), "9\n");
	assert_string_equal(text_of(dev.guid, "channels/77/cpu"), "0\n");
	snprintf(path, sizeof(path), "%s/sys/bus/vmbus/devices/%s/channels/77/ring", root,
		 dev.guid);
	/* The folder is there before the ring. */
	assert_int_not_equal(access(path, F_OK), 0);
	assert_int_equal(tree_add_ring(root, &chan, fd), 0);
	assert_int_equal(access(path, R_OK | W_OK), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 8192);
	tree_remove_channel(root, dev.guid, 77);
	assert_null(text_of(dev.guid, "channels/77/subchannel_id"));
	close(fd);
	assert_non_null(text_of(dev.guid, "id"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_device, setup, teardown),
		cmocka_unit_test_setup_teardown(test_channel, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
