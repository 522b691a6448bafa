/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "wire/dissect.h"
#include "wire/hex.h"

static struct capture_record record_of(enum capture_kind kind, const uint8_t *bytes, size_t size)
{
	return (struct capture_record){ .number = 7,
					.seconds = 3,
					.ps = 500 * HD_MS,
					.kind = kind,
					.bytes = bytes,
					.size = size,
					.wire_size = size };
}

/* The line of a record, after checking its verdict; the caller frees it. */
static char *line_of(const struct capture_record *rec, enum dissect_state expected)
{
	struct strbuf out = STRBUF_INIT;
	struct dissection d;

	dissect(rec, &d);
	assert_int_equal(d.state, expected);
	dissection_line(&d, &out);
	return strbuf_detach(&out);
}

static void check_line(const struct packet *p, const char *expected)
{
	uint8_t bytes[PACKET_MAX];
	size_t size;

	assert_int_equal(packet_encode(p, bytes, sizeof(bytes), &size), HD_OK);
	struct capture_record rec = record_of(CAPTURE_PACKET, bytes, size);
	char *line = line_of(&rec, DISSECT_WHOLE);

	assert_string_equal(line, expected);
	free(line);
}

static void lines_list_the_fields_of_each_header(void **state)
{
	(void)state;
	struct packet p;

	packet_init(&p, OP_ACK);
	p.lrh = (struct lrh){ .vl = 2, .sl = 3, .slid = 4, .dlid = 5 };
	p.bth.dest_qp = 0xABC;
	p.bth.psn = 9;
	p.bth.becn = true;
	p.aeth = (struct aeth){ AETH_NAK | NAK_REMOTE_ACCESS, 8 };
	check_line(
		&p,
		"     7 3.500000000 IB     lid 4 > 5 sl 3 vl 2 RC ACK qp 0xabc psn 9 BECN NAK remote access error msn 8 payload 0 B ICRC ok VCRC ok");
	p.aeth.syndrome = AETH_RNR_NAK | 14;
	check_line(
		&p,
		"     7 3.500000000 IB     lid 4 > 5 sl 3 vl 2 RC ACK qp 0xabc psn 9 BECN RNR-NAK timer 14 msn 8 payload 0 B ICRC ok VCRC ok");

	packet_init(&p, SERVICE_RD | OP_SEND_ONLY_IMM);
	p.headers |= HEADER_BIT(HEADER_GRH);
	p.grh.sgid[15] = 1;
	p.grh.dgid[0] = 0xFE;
	p.grh.dgid[1] = 0x80;
	p.rdeth.ee_context = 6;
	p.deth = (struct deth){ 0x11, 0x22 };
	p.immdt.data = 0x33;
	p.bth.fecn = p.bth.ack_req = p.bth.se = true;
	check_line(
		&p,
		"     7 3.500000000 IB     lid 0 > 0 sl 0 vl 0 gid ::1 > fe80:: RD SEND_ONLY_IMM qp 0x0 psn 0 FECN SE A ee 0x6 from qp 0x22 q_key 0x11 imm 0x00000033 payload 0 B ICRC ok VCRC ok");
}

static void datagrams_to_queue_pair_0_are_shown(void **state)
{
	(void)state;
	const struct mad_header h = { .mgmt_class = MAD_SMP_DIRECT,
				      .method = MAD_GET,
				      .attribute = ATTR_NODE_INFO,
				      .hop_count = 1 };
	uint8_t mad[MAD_SIZE], bytes[PACKET_MAX];
	struct strbuf out = STRBUF_INIT;
	struct dissection d;
	struct packet p;
	size_t size;

	mad_write(&h, mad);
	packet_init(&p, SERVICE_UD | OP_SEND_ONLY);
	p.lrh.vl = 15;
	p.payload = mad;
	p.payload_len = MAD_SIZE;
	assert_int_equal(packet_encode(&p, bytes, sizeof(bytes), &size), HD_OK);
	struct capture_record rec = record_of(CAPTURE_PACKET, bytes, size);

	dissect(&rec, &d);
	assert_true(d.has_mad);
	dissection_full(&d, &out);
	assert_non_null(strstr(out.text, "SubnGet(NodeInfo) hop 0/1"));
	assert_non_null(strstr(out.text, "# NodeInfo\n"));
	/* In a packet to another queue pair the MAD is only payload. */
	p.bth.dest_qp = 2;
	assert_int_equal(packet_encode(&p, bytes, sizeof(bytes), &size), HD_OK);
	dissect(&rec, &d);
	assert_false(d.has_mad);
	strbuf_fini(&out);
}

static void a_truncated_packet_has_no_crc_verdict(void **state)
{
	(void)state;
	struct dissect_counts counts = { 0 };
	uint8_t bytes[PACKET_MAX];
	struct dissection d;
	struct packet p;
	size_t size;

	packet_init(&p, OP_SEND_ONLY);
	p.payload_len = 1000;
	assert_int_equal(packet_encode(&p, bytes, sizeof(bytes), &size), HD_OK);
	struct capture_record rec = record_of(CAPTURE_PACKET, bytes, 100);

	rec.wire_size = size;
	char *line = line_of(&rec, DISSECT_CUT);

	assert_string_equal(line, "     7 3.500000000 IB     cut: 100 of 1026 bytes captured");
	free(line);
	dissect(&rec, &d);
	dissect_count(&counts, &d);
	assert_false(dissection_is_bad(&d));
	assert_int_equal(counts.cut, 1);
	assert_int_equal(counts.malformed + counts.icrc_bad + counts.vcrc_bad, 0);
}

static void flow_packets_may_be_padded_with_ones_only(void **state)
{
	(void)state;
	uint8_t bytes[48] = { 0x01, 0x23, 0x34, 0x56, 0xD1, 0x9F };

	memset(bytes + 6, 0xFF, 42);
	struct capture_record rec = record_of(CAPTURE_FLOW, bytes, 48);
	char *line = line_of(&rec, DISSECT_WHOLE);

	assert_string_equal(line, "     7 3.500000000 FC     vl 3 fctbs 291 fccl 1110 LPCRC ok");
	free(line);
	memset(bytes + 20, 0, 1);
	line = line_of(&rec, DISSECT_MALFORMED);
	assert_string_equal(
		line,
		"     7 3.500000000 FC     malformed: 42 bytes after a flow-control packet LPCRC ok");
	free(line);
	rec.size = rec.wire_size = 5;
	free(line_of(&rec, DISSECT_MALFORMED));
	/* Operation 2 does not exist. */
	const uint8_t strange[] = { 0x21, 0x23, 0x34, 0x56, 0xD1, 0x9F };

	rec = record_of(CAPTURE_FLOW, strange, sizeof(strange));
	line = line_of(&rec, DISSECT_MALFORMED);
	assert_non_null(strstr(line, "operation 2, expected 0 or 1 LPCRC BAD"));
	free(line);
}

static void hexadecimal_is_read_as_people_paste_it(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		const char *bytes;
		const char *reason;
	} rows[] = {
		{ "0aFF", "\x0a\xff", NULL },
		{ " 0a:Ff\n0b-0c.0D ", "\x0a\xff\x0b\x0c\x0d", NULL },
		{ "", "", NULL },
		{ "0a f", NULL, "half a byte at the end: 'f' has no second digit" },
		{ "0a 0x12", NULL, "'x' at character 5 is not a hexadecimal digit" },
		{ "g0", NULL, "'g' at character 1 is not a hexadecimal digit" },
		{ "0 a", NULL, "' ' at character 2 is not a hexadecimal digit" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct strbuf out = STRBUF_INIT;
		struct diag d = { .status = HD_OK };
		enum hd_status status = hex_parse(rows[i].text, &d, &out);

		assert_int_equal(status, rows[i].reason ? HD_ERR_INPUT : HD_OK);
		if (rows[i].reason)
			assert_string_equal(d.message, rows[i].reason);
		else
			assert_string_equal(out.text, rows[i].bytes);
		strbuf_fini(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_list_the_fields_of_each_header),
		cmocka_unit_test(datagrams_to_queue_pair_0_are_shown),
		cmocka_unit_test(a_truncated_packet_has_no_crc_verdict),
		cmocka_unit_test(flow_packets_may_be_padded_with_ones_only),
		cmocka_unit_test(hexadecimal_is_read_as_people_paste_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
