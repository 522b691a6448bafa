/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/seeds_for_tests.h"
#include "wire/capture.h"
#include "wire/roce.h"

#define FIXTURE HD_SOURCE_DIR "/tests/fixtures/rxe.pcap"

/* Offsets in a frame of the fixture: Ethernet, IPv4, UDP, BTH. */
enum { IP = 14, UDP = 34, BTH = 42 };

static struct capture *open_fixture(void)
{
	struct diag d = { .status = HD_OK };
	FILE *f = fopen(FIXTURE, "rb");
	struct capture *c = NULL;

	assert_non_null(f);
	assert_int_equal(capture_open(f, &d, &c), HD_OK);
	return c;
}

static bool next(struct capture *c, struct capture_record *rec)
{
	struct diag d = { .status = HD_OK };
	bool found;

	assert_int_equal(capture_next(c, &d, rec, &found), HD_OK);
	return found;
}

/* The counts are tshark's: -T fields -e infiniband.bth.opcode. */
static void the_kernels_packets_all_check(void **state)
{
	(void)state;
	static const unsigned expected[256] = {
		[0x00] = 26, [0x01] = 26, [0x02] = 26, [0x04] = 25, [0x0A] = 27, [0x0C] = 5,
		[0x0D] = 5,  [0x0E] = 10, [0x0F] = 5,  [0x11] = 90, [0x12] = 10, [0x13] = 5,
		[0x14] = 5,  [0x20] = 10, [0x21] = 20, [0x22] = 10, [0x64] = 10
	};
	struct capture *c = open_fixture();
	unsigned counts[256] = { 0 }, n = 0, others = 0;
	struct capture_record rec;

	while (next(c, &rec)) {
		struct diag d = { .status = HD_OK };
		struct roce r;
		enum hd_status status = wire_roce_decode(rec.bytes, rec.size, &d, &r);

		if (status == HD_ERR_UNFIT) {
			others++;
			continue;
		}
		assert_int_equal(status, HD_OK);
		assert_int_equal(wire_roce_check(rec.bytes, rec.size), CRC_GOOD);
		counts[r.packet.bth.opcode]++;
		n++;
	}
	capture_close(c);
	assert_int_equal(n, 315);
	assert_int_equal(n + others, 524);
	assert_memory_equal(counts, expected, sizeof(counts));
}

/* Effect of changing byte `i` of a frame. */
enum effect { NO_EFFECT, BAD, BAD_OR_NOT_ROCE };

static enum effect effect_of(size_t i)
{
	if (i < 12)
		return NO_EFFECT; /* Ethernet addresses are not covered */
	switch (i) {
	case 12: /* EtherType */
	case 13:
	case IP:     /* version, header length */
	case IP + 2: /* length: the ICRC would be at another offset, or truncated */
	case IP + 3:
	case IP + 6: /* flags, fragment offset */
	case IP + 7:
	case IP + 9:  /* protocol */
	case UDP + 2: /* port */
	case UDP + 3:
		return BAD_OR_NOT_ROCE;
	case IP + 1:  /* type of service */
	case IP + 8:  /* time to live */
	case IP + 10: /* checksum */
	case IP + 11:
	case UDP + 6: /* checksum */
	case UDP + 7:
	case BTH + 4: /* FECN, BECN, reserved */
		return NO_EFFECT;
	default:
		return BAD;
	}
}

static void check_change(const uint8_t *frame, size_t size, size_t i)
{
	struct diag d = { .status = HD_OK };
	enum crc_verdict v = wire_roce_check(frame, size);
	struct roce r;
	bool refused = wire_roce_decode(frame, size, &d, &r) != HD_OK;

	switch (effect_of(i)) {
	case NO_EFFECT:
		assert_int_equal(v, CRC_GOOD);
		break;
	case BAD:
		assert_int_equal(v, CRC_BAD);
		break;
	case BAD_OR_NOT_ROCE:
		/* No CRC verdict, but a reason. */
		assert_int_not_equal(v, CRC_GOOD);
		assert_true(v == CRC_BAD || (refused && d.message[0]));
	}
}

static void change_every_byte(uint8_t *frame, size_t size)
{
	static const uint8_t changes[] = { 0xFF, 1, 2, 4, 8, 16, 32, 64, 128, 0x5A };

	for (size_t i = 0; i < size; i++) {
		for (size_t k = 0; k < sizeof(changes); k++) {
			frame[i] ^= changes[k];
			check_change(frame, size, i);
			frame[i] ^= changes[k];
		}
	}
	assert_int_equal(wire_roce_check(frame, size), CRC_GOOD);
}

/* One packet of each opcode, or with HD_LONG=1 every packet. */
static void every_changed_byte_has_the_effect_it_must(void **state)
{
	(void)state;
	bool all = run_is_long();
	struct capture *c = open_fixture();
	bool seen[256] = { false };
	struct capture_record rec;
	unsigned n = 0;

	while (next(c, &rec)) {
		uint8_t opcode = rec.size > BTH ? rec.bytes[BTH] : 0;

		if (wire_roce_check(rec.bytes, rec.size) != CRC_GOOD || (seen[opcode] && !all))
			continue;
		uint8_t *copy = malloc(rec.size);

		assert_non_null(copy);
		memcpy(copy, rec.bytes, rec.size);
		change_every_byte(copy, rec.size);
		free(copy);
		seen[opcode] = true;
		n++;
	}
	capture_close(c);
	assert_int_equal(n, all ? 315 : 17);
}

/* Effects that depend on the bit. */
static void the_right_flips_make_it_another_protocol(void **state)
{
	(void)state;
	static const struct {
		size_t byte;
		uint8_t change;
		const char *reason;
	} rows[] = {
		{ 12, 0x80, "not RoCEv2: EtherType 0x8800" },
		{ IP, 0x10, "not RoCEv2: IPv5 header of 20 bytes" },
		{ IP, 0x02, "not RoCEv2: IPv4 header of 28 bytes" },
		{ IP + 9, 0x17, "not RoCEv2: IP protocol 6" },
		{ IP + 6, 0x20, "not RoCEv2: a fragment of a datagram" },
		{ UDP + 3, 0x01, "not RoCEv2: UDP port 4790" },
		{ IP + 2, 0x80,
		  "packet is truncated: the IP header has 33836 bytes, 1068 are present" },
	};
	struct capture *c = open_fixture();
	struct capture_record rec;

	/* A SEND of 1024 bytes: 1082 with all headers. */
	while (next(c, &rec))
		if (rec.size == 1082 && wire_roce_check(rec.bytes, rec.size) == CRC_GOOD)
			break;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct diag d = { .status = HD_OK };
		uint8_t frame[1082];
		struct roce r;

		memcpy(frame, rec.bytes, sizeof(frame));
		frame[rows[i].byte] ^= rows[i].change;
		assert_int_not_equal(wire_roce_decode(frame, sizeof(frame), &d, &r), HD_OK);
		assert_string_equal(d.message, rows[i].reason);
		assert_int_equal(wire_roce_check(frame, sizeof(frame)), CRC_ABSENT);
	}
	capture_close(c);
}

/* Decodes the kernel's frames and encodes them again. */
static void encoding_gives_the_kernels_own_bytes(void **state)
{
	(void)state;
	struct capture *c = open_fixture();
	struct capture_record rec;
	unsigned n = 0;

	while (next(c, &rec)) {
		struct diag d = { .status = HD_OK };
		uint8_t frame[ROCE_MAX];
		struct roce r;
		size_t size;

		if (wire_roce_decode(rec.bytes, rec.size, &d, &r) != HD_OK)
			continue;
		assert_int_equal(wire_roce_encode(&r, frame, sizeof(frame), &size), HD_OK);
		assert_int_equal(size, rec.size);
		/* Heddle sets the IP identification and the UDP checksum to 0. */
		frame[IP + 4] = rec.bytes[IP + 4];
		frame[IP + 5] = rec.bytes[IP + 5];
		memcpy(frame + IP + 10, rec.bytes + IP + 10, 2);
		memcpy(frame + UDP + 6, rec.bytes + UDP + 6, 2);
		/* The ICRC covers the identification, so the comparison ends before it. */
		assert_memory_equal(frame, rec.bytes, size - ICRC_SIZE);
		n++;
	}
	capture_close(c);
	assert_int_equal(n, 315);
}

static void vlan_and_ipv6_frames_come_back(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct diag d = { .status = HD_OK };
		struct roce r = { .dst_mac = { 2, 0, 0, 0, 0, 1 },
				  .src_mac = { 2, 0, 0, 0, 0, 2 },
				  .has_vlan = i & 1,
				  .vlan = i & 1 ? 0x6064 : 0,
				  .ip_version = i & 2 ? 6 : 4,
				  .tclass = 0x69,
				  .hop_limit = 64,
				  .src_port = 0xC123,
				  .flow_label = i & 2 ? 0xABCDE : 0,
				  .src = { [10] = 0xFF, 0xFF, 10, 0, 0, 1 },
				  .dst = { [10] = 0xFF, 0xFF, 10, 0, 0, 2 } };
		uint8_t frame[ROCE_MAX];
		struct roce got = { 0 };
		size_t size;

		packet_init(&r.packet, SERVICE_UD | OP_SEND_ONLY_IMM);
		r.packet.bth.dest_qp = 0x123;
		r.packet.payload_len = 5;
		assert_int_equal(wire_roce_encode(&r, frame, sizeof(frame), &size), HD_OK);
		assert_int_equal(size,
				 14 + (i & 1 ? 4 : 0) + (i & 2 ? 40 : 20) + 8 + 12 + 8 + 4 + 8 + 4);
		assert_int_equal(wire_roce_check(frame, size), CRC_GOOD);
		assert_int_equal(wire_roce_decode(frame, size, &d, &got), HD_OK);
		assert_memory_equal(&got, &r, offsetof(struct roce, packet));
		assert_int_equal(got.packet.bth.dest_qp, 0x123);
		assert_int_equal(got.packet.payload_len, 5);
		/* A frame that is truncated at any byte is refused with a reason. */
		for (size_t less = 0; less < size; less++) {
			struct diag why = { .status = HD_OK };

			assert_int_not_equal(wire_roce_decode(frame, less, &why, &got), HD_OK);
			assert_true(why.message[0]);
			assert_int_equal(wire_roce_check(frame, less), CRC_ABSENT);
		}
	}
}

/* 802.1ad: a service tag before the customer's; a third is not parsed. */
static void check_tags(const struct capture_record *rec, size_t n_tags)
{
	static const uint8_t tags[] = { 0x88, 0xA8, 0x20, 0x07, 0x81, 0x00,
					0x00, 0x2A, 0x81, 0x00, 0x00, 0x01 };
	bool known = n_tags < 3;
	size_t more = 4 * n_tags, size = rec->size + more;
	struct diag d = { .status = HD_OK };
	uint8_t frame[ROCE_MAX + 4];
	struct roce r;

	memcpy(frame, rec->bytes, 12);
	memcpy(frame + 12, tags, more);
	memcpy(frame + 12 + more, rec->bytes + 12, rec->size - 12);
	assert_int_equal(wire_roce_check(frame, size), known ? CRC_GOOD : CRC_ABSENT);
	assert_int_equal(wire_roce_decode(frame, size, &d, &r), known ? HD_OK : HD_ERR_UNFIT);
	assert_true(!known || (r.has_vlan && r.vlan == 0x2007));
}

static void tags_before_the_ethertype_are_skipped(void **state)
{
	struct capture *c = open_fixture();
	struct capture_record rec;
	unsigned n = 0;

	(void)state;
	while (next(c, &rec)) {
		if (wire_roce_check(rec.bytes, rec.size) != CRC_GOOD)
			continue;
		for (size_t tags = 1; tags <= 3; tags++)
			check_tags(&rec, tags);
		n++;
	}
	capture_close(c);
	assert_int_equal(n, 315);
}

/* The RFC 1071 sum over the header, including the checksum, is all ones. */
static void ipv4_headers_sum_up(void **state)
{
	(void)state;
	struct roce r = { .ip_version = 4,
			  .tclass = 3,
			  .hop_limit = 1,
			  .src = { [12] = 192, 0, 2, 1 },
			  .dst = { [12] = 198, 51, 100, 7 } };
	uint8_t frame[ROCE_MAX];
	uint32_t sum = 0;
	size_t size;

	packet_init(&r.packet, OPCODE_CNP_ROCE);
	r.packet.payload_len = 16;
	assert_int_equal(wire_roce_encode(&r, frame, sizeof(frame), &size), HD_OK);
	for (size_t i = IP; i < IP + 20; i += 2)
		sum += load_be16(frame + i);
	sum = (sum & 0xFFFF) + (sum >> 16);
	assert_int_equal(sum, 0xFFFF);
	assert_int_equal(frame[BTH], 0x81);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kernels_packets_all_check),
		cmocka_unit_test(every_changed_byte_has_the_effect_it_must),
		cmocka_unit_test(the_right_flips_make_it_another_protocol),
		cmocka_unit_test(encoding_gives_the_kernels_own_bytes),
		cmocka_unit_test(vlan_and_ipv6_frames_come_back),
		cmocka_unit_test(tags_before_the_ethertype_are_skipped),
		cmocka_unit_test(ipv4_headers_sum_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
