/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Wire structs against the golden vectors: build each example, compare its bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <hvwire/ndis.h>
#include <hvwire/nvsp.h>
#include <hvwire/rndis.h>
#include <hvwire/vmbus.h>

#include "golden.h"

#define VECTORS "netvsc.txt"

static void
check(const char *name, const void *built, size_t len)
{
	uint8_t want[512];

	assert_int_equal(golden_vector(VECTORS, name, want, sizeof(want)), len);
	assert_memory_equal(built, want, len);
}

static void
test_nvsp_init(void **state)
{
	const struct {
		struct vmbus_pkt_desc desc;
		union {
			struct nvsp_init init;
			uint8_t bytes[NVSP_MSG_SIZE];
		} msg;
		uint64_t trailer;
	} HVW_PACKED pkt = {
		.desc = {
			.type = VMBUS_PKT_INBAND,
			.offset8 = sizeof(struct vmbus_pkt_desc) / 8,
			.len8 = (sizeof(struct vmbus_pkt_desc) + NVSP_MSG_SIZE) / 8,
			.flags = VMBUS_PKT_F_COMPLETION,
			.xact = 1,
		},
		.msg.init = {
			.type = NVSP_INIT,
			.min_version = NVSP_VERSION_61,
			.max_version = NVSP_VERSION_61,
		},
	};

	(void)state;
	check("nvsp-init-61", &pkt, sizeof(pkt));
}

/* NVSP_RNDIS for the data channel, without a section. */
#define NVSP_RNDIS_DATA { \
	.type = NVSP_RNDIS, \
	.channel_type = NVSP_CHANNEL_DATA, \
	.section = NVSP_SECTION_NONE, \
}

static void
test_xfer_pages(void **state)
{
	const struct {
		struct vmbus_xfer_hdr hdr;
		struct vmbus_xfer_range range[2];
		union {
			struct nvsp_rndis rndis;
			uint8_t bytes[NVSP_MSG_SIZE];
		} msg;
		uint64_t trailer;
	} HVW_PACKED pkt = {
		.hdr = {
			.desc = {
				.type = VMBUS_PKT_XFER_PAGES,
				.offset8 = 5,
				.len8 = 10,
				.flags = VMBUS_PKT_F_COMPLETION,
				.xact = 20,
			},
			.set_id = NVSP_RXBUF_ID,
			.nranges = 2,
		},
		.range = {
			{ .len = 1806, .ofs = 20 * 1806 },
			{ .len = 1806, .ofs = 21 * 1806 },
		},
		.msg.rndis = NVSP_RNDIS_DATA,
		.trailer = 0x38ull << 32,
	};

	(void)state;
	check("xfer-pages-2", &pkt, sizeof(pkt));
}

static void
test_gpa_direct(void **state)
{
	const struct {
		struct vmbus_gpa_hdr hdr;
		struct vmbus_gpa_range range[2];
		union {
			struct nvsp_rndis rndis;
			uint8_t bytes[NVSP_MSG_SIZE];
		} msg;
		uint64_t trailer;
	} HVW_PACKED pkt = {
		.hdr = {
			.desc = {
				.type = VMBUS_PKT_GPA_DIRECT,
				.offset8 = 7,
				.len8 = 12,
				.flags = VMBUS_PKT_F_COMPLETION,
				.xact = 0x101,
			},
			.nranges = 2,
		},
		.range = {
			{ .len = 76, .ofs = 0x100, .pfn = 0x12345100 >> VMBUS_PAGE_SHIFT },
			{ .len = 60, .ofs = 0x240, .pfn = 0x23456240 >> VMBUS_PAGE_SHIFT },
		},
		.msg.rndis = NVSP_RNDIS_DATA,
		.trailer = 0x78ull << 32,
	};

	(void)state;
	check("gpa-direct-2", &pkt, sizeof(pkt));
}

static void
test_set_rss(void **state)
{
	const uint32_t table = NDIS_RSS_ENTRIES_DEFAULT * sizeof(uint32_t);
	const uint32_t value = sizeof(struct ndis_rss_params) + table + NDIS_RSS_KEY_SIZE;
	const struct {
		struct rndis_oid_request req;
		struct ndis_rss_params rss;
	} HVW_PACKED msg = {
		.req = {
			.type = RNDIS_SET,
			.len = (uint32_t)sizeof(struct rndis_oid_request) + value,
			.rid = 7,
			.oid = OID_GEN_RECEIVE_SCALE_PARAMETERS,
			.buf_len = value,
			.buf_offset = RNDIS_OID_DATA_OFFSET,
		},
		.rss = {
			.hdr = {
				.type = NDIS_OBJ_RSS_PARAMS,
				.rev = 2,
				.size = sizeof(struct ndis_rss_params),
			},
			.hash = NDIS_HASH_TOEPLITZ | NDIS_HASH_IPV4 | NDIS_HASH_TCP_IPV4 |
				NDIS_HASH_IPV6 | NDIS_HASH_TCP_IPV6,
			.ind_size = (uint16_t)table,
			.ind_offset = sizeof(struct ndis_rss_params),
			.key_size = NDIS_RSS_KEY_SIZE,
			.key_offset = (uint32_t)sizeof(struct ndis_rss_params) + table,
		},
	};

	(void)state;
	check("rndis-set-rss", &msg, sizeof(msg));
}

static void
test_packet(void **state)
{
	const uint32_t csum = RNDIS_TXCSUM_IPV4 | RNDIS_TXCSUM_TCP | RNDIS_TXCSUM_IP_HDR |
			      34u << RNDIS_TXCSUM_L4_OFS_SHIFT;
	const struct {
		struct rndis_packet pkt;
		struct rndis_ppi_u32 hash;
		struct rndis_ppi_u32 csum;
	} HVW_PACKED msg = {
		.pkt = {
			.type = RNDIS_PACKET,
			.len = sizeof(msg) + 60,
			.data_offset = sizeof(msg) - RNDIS_OFFSET_BASE,
			.data_len = 60,
			.ppi_offset = RNDIS_PACKET_DATA_MIN,
			.ppi_len = 2 * sizeof(struct rndis_ppi_u32),
		},
		.hash = {
			.hdr = {
				.size = sizeof(struct rndis_ppi_u32),
				.type = RNDIS_PPI_HASH_VALUE,
				.offset = sizeof(struct rndis_ppi),
			},
			.value = 0x1234,
		},
		.csum = {
			.hdr = {
				.size = sizeof(struct rndis_ppi_u32),
				.type = RNDIS_PPI_CSUM,
				.offset = sizeof(struct rndis_ppi),
			},
			.value = csum,
		},
	};

	(void)state;
	check("rndis-packet-csum", &msg, sizeof(msg));
	check("txcsum-v4-tcp-iphdr-34", &csum, sizeof(csum));
}

static void
test_vlan(void **state)
{
	uint8_t bytes[4];
	uint32_t word;

	(void)state;
	assert_int_equal(golden_vector(VECTORS, "vlan-prio5-dei1-id0x123", bytes, 4), 4);
	memcpy(&word, bytes, sizeof(word));
	assert_int_equal(RNDIS_VLAN_PRIO(word), 5);
	assert_int_equal(RNDIS_VLAN_DEI(word), 1);
	assert_int_equal(RNDIS_VLAN_ID(word), 0x123);
}

static void
test_align_up(void **state)
{
	(void)state;
	assert_int_equal(HVW_ALIGN_UP(0u, 8), 0);
	assert_int_equal(HVW_ALIGN_UP(1u, 8), 8);
	assert_int_equal(HVW_ALIGN_UP(8u, 8), 8);
	assert_int_equal(HVW_ALIGN_UP(UINT64_C(0x100000001), 4096), UINT64_C(0x100001000));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nvsp_init),
		cmocka_unit_test(test_xfer_pages),
		cmocka_unit_test(test_gpa_direct),
		cmocka_unit_test(test_set_rss),
		cmocka_unit_test(test_packet),
		cmocka_unit_test(test_vlan),
		cmocka_unit_test(test_align_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
