/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "wire/headers.h"
#include "wire/record_for_tests.h"

static uint64_t shown(enum header h, const uint8_t *bytes, const char *name)
{
	return field_record_get(header_info(h), bytes, name);
}

static void tables_are_sound(void **state)
{
	(void)state;
	for (unsigned h = 0; h < HEADER_COUNT; h++)
		check_record(header_info((enum header)h));
	check_record(flow_packet_info());
}

static void sizes_add_up(void **state)
{
	(void)state;
	assert_int_equal(header_set_size(0), 0);
	assert_int_equal(header_set_size(HEADER_BIT(HEADER_LRH) | HEADER_BIT(HEADER_GRH) |
					 HEADER_BIT(HEADER_BTH)),
			 60);
	assert_int_equal(header_set_size((1U << HEADER_COUNT) - 1),
			 8 + 40 + 4 + 12 + 4 + 8 + 4 + 4 + 16 + 28 + 4 + 8 + 4 + 4);
}

/* Bytes of the standard's CRC test vector. */
static void route_headers_read_as_published(void **state)
{
	(void)state;
	const uint8_t bytes[] = { 0x70, 0x12, 0x37, 0x5C, 0x00, 0x0E, 0x17, 0xD2, 0x0A, 0x20,
				  0x24, 0x87, 0x00, 0x87, 0xB1, 0xB3, 0x00, 0x0D, 0xEC, 0x2A };
	struct lrh lrh;
	struct bth bth;
	struct byte_reader r;

	reader_init(&r, bytes, sizeof(bytes));
	lrh_read(&r, &lrh);
	bth_read(&r, &bth);
	assert_false(r.failed);
	assert_int_equal(lrh.vl, 7);
	assert_int_equal(lrh.lver, 0);
	assert_int_equal(lrh.sl, 1);
	assert_int_equal(lrh.lnh, LNH_LOCAL);
	assert_int_equal(lrh.dlid, 0x375C);
	assert_int_equal(lrh.pkt_len, 14);
	assert_int_equal(lrh.slid, 0x17D2);
	assert_int_equal(bth.opcode, 0x0A);
	assert_int_equal(bth.pad, 2);
	assert_int_equal(bth.pkey, 0x2487);
	assert_int_equal(bth.dest_qp, 0x87B1B3);
	assert_int_equal(bth.psn, 0x0DEC2A);
	assert_false(bth.se || bth.mig || bth.fecn || bth.becn || bth.ack_req);
}

/* Each flag alone sets its bit of the standard's layout. */
static void bth_flags_stand_at_their_bits(void **state)
{
	(void)state;
	const struct {
		size_t byte;
		struct bth bth;
		uint8_t value;
	} rows[] = { { 1, { .se = true }, 0x80 },     { 1, { .mig = true }, 0x40 },
		     { 1, { .pad = 3 }, 0x30 },       { 1, { .tver = 0xF }, 0x0F },
		     { 4, { .fecn = true }, 0x80 },   { 4, { .becn = true }, 0x40 },
		     { 8, { .ack_req = true }, 0x80 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint8_t bytes[BTH_SIZE], expected[BTH_SIZE] = { 0 };
		struct byte_writer w;

		writer_init(&w, bytes, sizeof(bytes));
		bth_write(&w, &rows[i].bth);
		expected[rows[i].byte] = rows[i].value;
		assert_memory_equal(bytes, expected, BTH_SIZE);
	}
}

static void codec_and_table_agree_on_lrh_and_bth(void **state)
{
	(void)state;
	const struct lrh lrh = { .vl = 0xA,
				 .lver = 5,
				 .sl = 0xC,
				 .lnh = 3,
				 .pkt_len = 0x5A5,
				 .dlid = 0x1234,
				 .slid = 0x5678 };
	const struct bth bth = { .opcode = 0x64,
				 .se = true,
				 .pad = 2,
				 .tver = 9,
				 .becn = true,
				 .pkey = 0x8001,
				 .dest_qp = 0x123456,
				 .psn = 0xABCDEF };
	uint8_t bytes[LRH_SIZE + BTH_SIZE];
	const uint8_t *b = bytes + LRH_SIZE;
	struct byte_writer w;

	writer_init(&w, bytes, sizeof(bytes));
	lrh_write(&w, &lrh);
	bth_write(&w, &bth);
	assert_false(w.failed);
	assert_int_equal(shown(HEADER_LRH, bytes, "VL"), 0xA);
	assert_int_equal(shown(HEADER_LRH, bytes, "LVer"), 5);
	assert_int_equal(shown(HEADER_LRH, bytes, "SL"), 0xC);
	assert_int_equal(shown(HEADER_LRH, bytes, "LNH"), 3);
	assert_int_equal(shown(HEADER_LRH, bytes, "PktLen"), 0x5A5);
	assert_int_equal(shown(HEADER_LRH, bytes, "DLID"), 0x1234);
	assert_int_equal(shown(HEADER_LRH, bytes, "SLID"), 0x5678);
	assert_int_equal(shown(HEADER_BTH, b, "OpCode"), 0x64);
	assert_int_equal(shown(HEADER_BTH, b, "SE"), 1);
	assert_int_equal(shown(HEADER_BTH, b, "MigReq"), 0);
	assert_int_equal(shown(HEADER_BTH, b, "PadCnt"), 2);
	assert_int_equal(shown(HEADER_BTH, b, "TVer"), 9);
	assert_int_equal(shown(HEADER_BTH, b, "P_Key"), 0x8001);
	assert_int_equal(shown(HEADER_BTH, b, "FECN"), 0);
	assert_int_equal(shown(HEADER_BTH, b, "BECN"), 1);
	assert_int_equal(shown(HEADER_BTH, b, "DestQP"), 0x123456);
	assert_int_equal(shown(HEADER_BTH, b, "AckReq"), 0);
	assert_int_equal(shown(HEADER_BTH, b, "PSN"), 0xABCDEF);
}

static void codec_and_table_agree_on_grh(void **state)
{
	(void)state;
	struct grh grh = { .ip_ver = 6,
			   .tclass = 0xA5,
			   .next_header = 0x1B,
			   .hop_limit = 63,
			   .flow_label = 0x12345,
			   .pay_len = 0x0130 };
	uint8_t bytes[GRH_SIZE];
	struct byte_writer w;

	for (uint8_t i = 0; i < 16; i++) {
		grh.sgid[i] = i;
		grh.dgid[i] = (uint8_t)(0xF0 + i);
	}
	writer_init(&w, bytes, sizeof(bytes));
	grh_write(&w, &grh);
	assert_int_equal(shown(HEADER_GRH, bytes, "IPVer"), 6);
	assert_int_equal(shown(HEADER_GRH, bytes, "TClass"), 0xA5);
	assert_int_equal(shown(HEADER_GRH, bytes, "FlowLabel"), 0x12345);
	assert_int_equal(shown(HEADER_GRH, bytes, "PayLen"), 0x0130);
	assert_int_equal(shown(HEADER_GRH, bytes, "NxtHdr"), 0x1B);
	assert_int_equal(shown(HEADER_GRH, bytes, "HopLmt"), 63);
	assert_memory_equal(bytes + 8, grh.sgid, 16);
	assert_memory_equal(bytes + 24, grh.dgid, 16);
}

/* Writes one extended header and checks it with its field table. */
#define CHECK_EXTENDED(type, header, value)       \
	uint8_t bytes_##type[64];                 \
	struct byte_writer w_##type;              \
	writer_init(&w_##type, bytes_##type, 64); \
	const struct type v_##type = value;       \
	type##_write(&w_##type, &v_##type);       \
	assert_int_equal(w_##type.at - bytes_##type, header_info(header)->size)
#define VALUE(...) __VA_ARGS__

static void codec_and_table_agree_on_extended_headers(void **state)
{
	(void)state;
	CHECK_EXTENDED(rdeth, HEADER_RDETH, VALUE({ 0x654321 }));
	assert_int_equal(shown(HEADER_RDETH, bytes_rdeth, "EEContext"), 0x654321);
	CHECK_EXTENDED(deth, HEADER_DETH, VALUE({ 0x80010000, 0x123456 }));
	assert_int_equal(shown(HEADER_DETH, bytes_deth, "Q_Key"), 0x80010000);
	assert_int_equal(shown(HEADER_DETH, bytes_deth, "SrcQP"), 0x123456);
	CHECK_EXTENDED(xrceth, HEADER_XRCETH, VALUE({ 0xABCDEF }));
	assert_int_equal(shown(HEADER_XRCETH, bytes_xrceth, "XRCSRQ"), 0xABCDEF);
	CHECK_EXTENDED(feth, HEADER_FETH, VALUE({ .placement = 0xA, .selectivity = 1 }));
	assert_int_equal(shown(HEADER_FETH, bytes_feth, "Placement"), 0xA);
	assert_int_equal(shown(HEADER_FETH, bytes_feth, "Selectivity"), 1);
	CHECK_EXTENDED(aeth, HEADER_AETH, VALUE({ 0x63, 0x010203 }));
	assert_int_equal(shown(HEADER_AETH, bytes_aeth, "Syndrome"), 0x63);
	assert_int_equal(shown(HEADER_AETH, bytes_aeth, "MSN"), 0x010203);
	CHECK_EXTENDED(immdt, HEADER_IMMDT, VALUE({ 0xDEADBEEF }));
	assert_int_equal(shown(HEADER_IMMDT, bytes_immdt, "ImmData"), 0xDEADBEEF);
	CHECK_EXTENDED(ieth, HEADER_IETH, VALUE({ 0xCAFEF00D }));
	assert_int_equal(shown(HEADER_IETH, bytes_ieth, "R_Key"), 0xCAFEF00D);
	CHECK_EXTENDED(rwh, HEADER_RWH, VALUE({ 0x88B5 }));
	assert_int_equal(shown(HEADER_RWH, bytes_rwh, "EtherType"), 0x88B5);
}

static void codec_and_table_agree_on_memory_headers(void **state)
{
	(void)state;
	const uint64_t va = UINT64_C(0x0123456789ABCDEF);
	const uint64_t other = UINT64_C(0xFEDCBA9876543210);

	CHECK_EXTENDED(reth, HEADER_RETH, VALUE({ va, 0x11223344, 4096 }));
	assert_true(shown(HEADER_RETH, bytes_reth, "VA") == va);
	assert_int_equal(shown(HEADER_RETH, bytes_reth, "R_Key"), 0x11223344);
	assert_int_equal(shown(HEADER_RETH, bytes_reth, "DMALen"), 4096);
	CHECK_EXTENDED(atomiceth, HEADER_ATOMICETH, VALUE({ va, 0x11223344, other, 7 }));
	assert_true(shown(HEADER_ATOMICETH, bytes_atomiceth, "VA") == va);
	assert_int_equal(shown(HEADER_ATOMICETH, bytes_atomiceth, "R_Key"), 0x11223344);
	assert_true(shown(HEADER_ATOMICETH, bytes_atomiceth, "SwapOrAdd") == other);
	assert_int_equal(shown(HEADER_ATOMICETH, bytes_atomiceth, "Compare"), 7);
	CHECK_EXTENDED(atomicacketh, HEADER_ATOMICACKETH, VALUE({ other }));
	assert_true(shown(HEADER_ATOMICACKETH, bytes_atomicacketh, "OrigRemData") == other);
}

/*
 * Published bytes: op 0, FCTBS 0x123, VL 3, FCCL 0x456; and the initialisation of VL 0 with 128
 * blocks.
 */
static void flow_packets_match_the_published_bytes(void **state)
{
	(void)state;
	static const uint8_t normal[] = { 0x01, 0x23, 0x34, 0x56, 0xD1, 0x9F };
	static const uint8_t init[] = { 0x10, 0x00, 0x00, 0x80, 0x50, 0xD5 };
	struct flow_packet flow = { .op = FLOW_NORMAL, .fctbs = 0x123, .vl = 3, .fccl = 0x456 };
	uint8_t bytes[FLOW_SIZE];
	struct byte_writer w;
	struct byte_reader r;

	writer_init(&w, bytes, sizeof(bytes));
	flow_packet_write(&w, &flow);
	assert_memory_equal(bytes, normal, FLOW_SIZE);
	assert_true(flow_packet_crc_ok(bytes));
	bytes[1] ^= 4;
	assert_false(flow_packet_crc_ok(bytes));

	reader_init(&r, init, sizeof(init));
	flow_packet_read(&r, &flow);
	assert_false(r.failed);
	assert_int_equal(flow.op, FLOW_INIT);
	assert_int_equal(flow.fctbs, 0);
	assert_int_equal(flow.vl, 0);
	assert_int_equal(flow.fccl, 128);
	assert_int_equal(flow.lpcrc, 0xD550);
	assert_true(flow_packet_crc_ok(init));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_are_sound),
		cmocka_unit_test(sizes_add_up),
		cmocka_unit_test(route_headers_read_as_published),
		cmocka_unit_test(bth_flags_stand_at_their_bits),
		cmocka_unit_test(codec_and_table_agree_on_lrh_and_bth),
		cmocka_unit_test(codec_and_table_agree_on_grh),
		cmocka_unit_test(codec_and_table_agree_on_extended_headers),
		cmocka_unit_test(codec_and_table_agree_on_memory_headers),
		cmocka_unit_test(flow_packets_match_the_published_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
