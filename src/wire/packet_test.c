/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "wire/crc.h"
#include "wire/packet.h"

/* Published test vector: RC WRITE_ONLY, 14 bytes, ICRC 9625B75A, VCRC 45FA. */
static const uint8_t vector[] = { 0x70, 0x12, 0x37, 0x5C, 0x00, 0x0E, 0x17, 0xD2, 0x0A, 0x20,
				  0x24, 0x87, 0x00, 0x87, 0xB1, 0xB3, 0x00, 0x0D, 0xEC, 0x2A,
				  0x01, 0x71, 0x0A, 0x1C, 0x01, 0x5D, 0x40, 0x02, 0x38, 0xF2,
				  0x7A, 0x05, 0x00, 0x00, 0x00, 0x0E, 0xBB, 0x88, 0x4D, 0x85,
				  0xFD, 0x5C, 0xFB, 0xA4, 0x72, 0x8B, 0xC0, 0x69, 0x0E, 0xD4,
				  0x00, 0x00, 0x96, 0x25, 0xB7, 0x5A, 0x45, 0xFA };

/* The vector with a GRH; `word1` is its second word. */
static size_t global_vector(uint32_t word1, uint32_t icrc, uint16_t vcrc, uint8_t *out)
{
	static const uint8_t lrh[] = { 0x70, 0x13, 0x37, 0x5C, 0x00, 0x18, 0x17, 0xD2 };
	size_t rest = sizeof(vector) - LRH_SIZE - ICRC_SIZE - VCRC_SIZE;
	uint8_t *p = out;

	memcpy(p, lrh, LRH_SIZE);
	p += LRH_SIZE;
	memset(p, 0, GRH_SIZE);
	p[0] = 0x60;
	store_be32(p + 4, word1);
	store_be32(p + 8 + 4, 0x0125);
	store_be32(p + 8 + 12, 0x0026);
	store_be32(p + 24 + 4, 0x0117);
	store_be32(p + 24 + 12, 0x0096);
	p += GRH_SIZE;
	memcpy(p, vector + LRH_SIZE, rest);
	p += rest;
	store_be32(p, icrc);
	store_be16(p + 4, vcrc);
	return (size_t)(p + 6 - out);
}

static void published_vectors_check(void **state)
{
	(void)state;
	uint8_t bytes[128];
	struct crc_verdicts v = packet_check(vector, sizeof(vector));

	assert_int_equal(v.icrc, CRC_GOOD);
	assert_int_equal(v.vcrc, CRC_GOOD);
	size_t size = global_vector(0x00320010, 0x1493EC46, 0x7C44, bytes);

	v = packet_check(bytes, size);
	assert_int_equal(v.icrc, CRC_GOOD);
	assert_int_equal(v.vcrc, CRC_GOOD);
	size = global_vector(0x00301B10, 0xADBF9E56, 0xE971, bytes);
	v = packet_check(bytes, size);
	assert_int_equal(v.icrc, CRC_GOOD);
	assert_int_equal(v.vcrc, CRC_GOOD);
}

static void decodes_the_published_packet(void **state)
{
	(void)state;
	struct diag d = { .status = HD_OK };
	struct packet p;

	assert_int_equal(packet_decode(vector, sizeof(vector), &d, &p), HD_OK);
	assert_int_equal(p.headers,
			 HEADER_BIT(HEADER_LRH) | HEADER_BIT(HEADER_BTH) | HEADER_BIT(HEADER_RETH));
	assert_int_equal(p.lrh.slid, 0x17D2);
	assert_int_equal(p.bth.psn, 0x0DEC2A);
	assert_true(p.reth.va == UINT64_C(0x01710A1C015D4002));
	assert_int_equal(p.reth.rkey, 0x38F27A05);
	assert_int_equal(p.reth.dma_len, 14);
	assert_int_equal(p.payload_len, 14);
	assert_ptr_equal(p.payload, vector + 36);
	assert_int_equal(p.icrc, 0x5AB72596);
	assert_int_equal(p.vcrc, 0xFA45);
}

static void encodes_the_published_packet(void **state)
{
	(void)state;
	uint8_t bytes[PACKET_MAX];
	struct packet p;
	size_t size;

	packet_init(&p, 0x0A);
	p.lrh = (struct lrh){ .vl = 7, .sl = 1, .dlid = 0x375C, .slid = 0x17D2 };
	p.bth.pkey = 0x2487;
	p.bth.dest_qp = 0x87B1B3;
	p.bth.psn = 0x0DEC2A;
	p.reth = (struct reth){ UINT64_C(0x01710A1C015D4002), 0x38F27A05, 14 };
	p.payload = vector + 36;
	p.payload_len = 14;
	assert_int_equal(packet_size(&p), sizeof(vector));
	assert_int_equal(packet_encode(&p, bytes, sizeof(bytes), &size), HD_OK);
	assert_int_equal(size, sizeof(vector));
	assert_memory_equal(bytes, vector, size);

	p.headers |= HEADER_BIT(HEADER_GRH);
	p.grh.hop_limit = 0x10;
	store_be32(p.grh.sgid + 4, 0x0125);
	store_be32(p.grh.sgid + 12, 0x0026);
	store_be32(p.grh.dgid + 4, 0x0117);
	store_be32(p.grh.dgid + 12, 0x0096);
	uint8_t expected[128];
	size_t expected_size = global_vector(0x00301B10, 0xADBF9E56, 0xE971, expected);

	assert_int_equal(packet_encode(&p, bytes, sizeof(bytes), &size), HD_OK);
	assert_int_equal(size, expected_size);
	assert_memory_equal(bytes, expected, size);
}

static uint32_t draw(struct rng *rng, unsigned bits)
{
	return (uint32_t)(rng_next(rng) >> (64 - bits));
}

static void draw_bytes(struct rng *rng, uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)rng_next(rng);
}

/* Sets every field that the opcode uses at random; others stay zero. */
static void draw_extended(struct rng *rng, struct packet *p)
{
	if (packet_has(p, HEADER_RDETH))
		p->rdeth.ee_context = draw(rng, 24);
	if (packet_has(p, HEADER_DETH))
		p->deth = (struct deth){ draw(rng, 32), draw(rng, 24) };
	if (packet_has(p, HEADER_XRCETH))
		p->xrceth.srqn = draw(rng, 24);
	if (packet_has(p, HEADER_FETH))
		p->feth = (struct feth){ (uint8_t)draw(rng, 4), (uint8_t)draw(rng, 2) };
	if (packet_has(p, HEADER_RETH))
		p->reth = (struct reth){ rng_next(rng), draw(rng, 32), draw(rng, 32) };
	if (packet_has(p, HEADER_ATOMICETH))
		p->atomiceth = (struct atomiceth){ rng_next(rng), draw(rng, 32), rng_next(rng),
						   rng_next(rng) };
	if (packet_has(p, HEADER_AETH))
		p->aeth = (struct aeth){ (uint8_t)draw(rng, 8), draw(rng, 24) };
	if (packet_has(p, HEADER_ATOMICACKETH))
		p->atomicacketh.original = rng_next(rng);
	if (packet_has(p, HEADER_IMMDT))
		p->immdt.data = draw(rng, 32);
	if (packet_has(p, HEADER_IETH))
		p->ieth.rkey = draw(rng, 32);
}

static void draw_packet(struct rng *rng, uint8_t opcode, const uint8_t *payload, struct packet *p)
{
	memset(p, 0, sizeof(*p));
	p->headers = HEADER_BIT(HEADER_LRH) | opcode_headers(opcode);
	p->lrh = (struct lrh){ .vl = (uint8_t)draw(rng, 4),
			       .sl = (uint8_t)draw(rng, 4),
			       .dlid = (uint16_t)draw(rng, 16),
			       .slid = (uint16_t)draw(rng, 16) };
	p->bth.opcode = opcode;
	p->bth.se = draw(rng, 1);
	p->bth.mig = draw(rng, 1);
	p->bth.fecn = draw(rng, 1);
	p->bth.becn = draw(rng, 1);
	p->bth.ack_req = draw(rng, 1);
	p->bth.pkey = (uint16_t)draw(rng, 16);
	p->bth.dest_qp = draw(rng, 24);
	p->bth.psn = draw(rng, 24);
	draw_extended(rng, p);
	if (draw(rng, 1)) {
		p->headers |= HEADER_BIT(HEADER_GRH);
		p->grh.ip_ver = 6;
		p->grh.next_header = 0x1B;
		p->grh.tclass = (uint8_t)draw(rng, 8);
		p->grh.flow_label = draw(rng, 20);
		p->grh.hop_limit = (uint8_t)draw(rng, 8);
		draw_bytes(rng, p->grh.sgid, 16);
		draw_bytes(rng, p->grh.dgid, 16);
	}
	if (opcode_flags(opcode) & OPCODE_PAYLOAD) {
		p->payload = payload;
		p->payload_len = rng_below(rng, 4097);
	}
}

/* Sets the fields that encoding computes, so that whole structs can be compared. */
static void expect_computed(struct packet *p, const struct packet *got)
{
	bool global = packet_has(p, HEADER_GRH);

	p->lrh.lnh = global ? LNH_GLOBAL : LNH_LOCAL;
	p->lrh.pkt_len = (uint16_t)((packet_size(p) - 2) / 4);
	p->bth.pad = (uint8_t)((4 - p->payload_len % 4) % 4);
	p->grh.pay_len = global ? (uint16_t)(packet_size(p) - 2 - 48) : 0;
	p->icrc = got->icrc;
	p->vcrc = got->vcrc;
	p->payload = got->payload;
}

static void decoding_undoes_encoding_for_every_opcode(void **state)
{
	(void)state;
	uint8_t bytes[PACKET_MAX], payload[4096];
	struct rng rng;

	rng_init(&rng, 7, 1);
	draw_bytes(&rng, payload, sizeof(payload));
	for (unsigned i = 0; i < 256 * 16; i++) {
		uint8_t opcode = (uint8_t)i;
		struct diag d = { .status = HD_OK };
		struct packet p, got;
		size_t size;

		if (!opcode_is_known(opcode))
			continue;
		draw_packet(&rng, opcode, payload, &p);
		assert_int_equal(packet_encode(&p, bytes, sizeof(bytes), &size), HD_OK);
		assert_int_equal(size, packet_size(&p));
		assert_int_equal(packet_check(bytes, size).icrc, CRC_GOOD);
		assert_int_equal(packet_check(bytes, size).vcrc, CRC_GOOD);
		memset(&got, 0, sizeof(got));
		assert_int_equal(packet_decode(bytes, size, &d, &got), HD_OK);
		if (p.payload_len)
			assert_memory_equal(got.payload, payload, p.payload_len);
		expect_computed(&p, &got);
		assert_memory_equal(&p, &got, sizeof(p));
	}
}

static void raw_packets_have_no_icrc(void **state)
{
	(void)state;
	const uint8_t payload[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct diag d = { .status = HD_OK };
	uint8_t bytes[64];
	struct packet p = { .headers = HEADER_BIT(HEADER_LRH) | HEADER_BIT(HEADER_RWH),
			    .lrh = { .vl = 2, .dlid = 3, .slid = 4 },
			    .rwh = { 0x88B5 },
			    .payload = payload,
			    .payload_len = sizeof(payload) };
	struct packet got;
	size_t size;

	assert_int_equal(packet_encode(&p, bytes, sizeof(bytes), &size), HD_OK);
	assert_int_equal(size, 8 + 4 + 8 + 2);
	assert_int_equal(packet_check(bytes, size).icrc, CRC_ABSENT);
	assert_int_equal(packet_check(bytes, size).vcrc, CRC_GOOD);
	assert_int_equal(packet_decode(bytes, size, &d, &got), HD_OK);
	assert_int_equal(got.lrh.lnh, LNH_RAW);
	assert_int_equal(got.rwh.ether_type, 0x88B5);
	assert_int_equal(got.payload_len, 8);
}

static void gives_the_reason_why_encoding_fails(void **state)
{
	(void)state;
	uint8_t bytes[PACKET_MAX];
	struct packet p;
	size_t size = 77;

	packet_init(&p, OP_SEND_ONLY);
	p.payload_len = 8188;
	assert_int_equal(packet_encode(&p, bytes, sizeof(bytes), &size), HD_ERR_RANGE);
	p.payload_len = 8188 - 8 - 12 - 4;
	assert_int_equal(packet_size(&p), PACKET_MAX);
	assert_int_equal(packet_encode(&p, bytes, PACKET_MAX - 1, &size), HD_ERR_FULL);
	p.headers |= HEADER_BIT(HEADER_RETH);
	assert_int_equal(packet_encode(&p, bytes, sizeof(bytes), &size), HD_ERR_UNFIT);
	p.bth.opcode = 0xFF;
	assert_int_equal(packet_encode(&p, bytes, sizeof(bytes), &size), HD_ERR_UNFIT);
	assert_int_equal(size, 77);
}

/* Decodes a copy of exactly that size, so that sanitizers detect reads past its end. */
static enum hd_status decode_exactly(const uint8_t *bytes, size_t size, struct diag *d)
{
	uint8_t *copy = malloc(size ? size : 1);
	struct packet p;

	assert_non_null(copy);
	memcpy(copy, bytes, size);
	*d = (struct diag){ .status = HD_OK };
	enum hd_status status = packet_decode(copy, size, d, &p);

	packet_check(copy, size);
	free(copy);
	return status;
}

static void every_short_and_long_packet_is_refused_with_a_reason(void **state)
{
	(void)state;
	uint8_t longer[sizeof(vector) + 5] = { 0 };
	struct diag d;

	memcpy(longer, vector, sizeof(vector));
	for (size_t size = 0; size <= sizeof(longer); size++) {
		enum hd_status status = decode_exactly(longer, size, &d);

		assert_int_equal(status, size == sizeof(vector) ? HD_OK : HD_ERR_INPUT);
		assert_int_equal(d.message[0] != 0, size != sizeof(vector));
	}
}

/* Short packets with consistent length fields: the headers must not fit. */
static void consistent_but_short_packets_are_refused(void **state)
{
	(void)state;
	uint8_t bytes[sizeof(vector)];
	struct diag d;

	memcpy(bytes, vector, sizeof(bytes));
	for (unsigned words = 2; words < 14; words++) {
		/*
		 * LRH, BTH, RETH, pad count 2 and ICRC take 10 words, up to the last word of the
		 * payload.
		 */
		bytes[5] = (uint8_t)words;
		assert_int_equal(decode_exactly(bytes, words * 4 + 2, &d),
				 words < 11 ? HD_ERR_INPUT : HD_OK);
	}
}

static void refusals_name_what_is_wrong(void **state)
{
	(void)state;
	static const struct {
		size_t byte;
		uint8_t value;
		const char *reason;
	} rows[] = {
		{ 0, 0x71, "link version 1, expected 0" },
		{ 8, 0x1F, "unknown opcode 0x1f" },
		{ 9, 0x21, "transport version 1, expected 0" },
		{ 8, 0x11, "28 bytes after the headers of RC ACK, which has no payload" },
	};
	uint8_t bytes[sizeof(vector)];
	struct diag d;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		memcpy(bytes, vector, sizeof(bytes));
		bytes[rows[i].byte] = rows[i].value;
		if (rows[i].value == 0x11)
			bytes[9] = 0;
		assert_int_equal(decode_exactly(bytes, sizeof(bytes), &d), HD_ERR_INPUT);
		assert_string_equal(d.message, rows[i].reason);
	}
}

static void random_bytes_are_decoded_or_refused_never_more(void **state)
{
	(void)state;
	bool is_long = run_is_long();
	unsigned rounds = is_long ? 2000000 : 20000;
	uint8_t bytes[128];
	struct rng rng;
	unsigned refused = 0;
	struct diag d;

	rng_init(&rng, 11, 1);
	for (unsigned i = 0; i < rounds; i++) {
		size_t size = rng_below(&rng, sizeof(bytes));

		draw_bytes(&rng, bytes, size);
		if (size > 5 && draw(&rng, 3)) {
			/* A valid version and length. */
			bytes[0] &= 0xF0;
			bytes[4] = 0;
			bytes[5] = (uint8_t)((size - 2) / 4);
		}
		if (decode_exactly(bytes, size, &d) != HD_OK) {
			refused++;
			assert_true(d.message[0]);
		}
	}
	assert_true(refused > 0 && refused < rounds);
}

/* Mask of the bits of byte `i` of the vector that the ICRC covers. */
static uint8_t covered_local(size_t i)
{
	if (i == 0)
		return 0x0F;          /* VL is not covered */
	return i == 12 ? 0x00 : 0xFF; /* FECN, BECN and resv6 are not covered */
}

static void every_flipped_bit_shows(void **state)
{
	(void)state;
	uint8_t bytes[sizeof(vector)];

	for (size_t bit = 0; bit < 8 * sizeof(vector); bit++) {
		size_t i = bit / 8;
		uint8_t mask = (uint8_t)(1 << bit % 8);

		/* LNH determines the ICRC's position and existence. */
		if (i == 1 && (mask & 3))
			continue;
		memcpy(bytes, vector, sizeof(bytes));
		bytes[i] ^= mask;
		struct crc_verdicts v = packet_check(bytes, sizeof(bytes));
		bool under_icrc = i < sizeof(vector) - VCRC_SIZE && (covered_local(i) & mask);

		assert_int_equal(v.vcrc, CRC_BAD);
		assert_int_equal(v.icrc, under_icrc ? CRC_BAD : CRC_GOOD);
	}
}

static bool covered_global(size_t i, uint8_t mask)
{
	if (i < 8)
		return false; /* the LRH is not covered */
	if (i == 8)
		return mask & 0xF0; /* IPVer is covered, TClass is not */
	if (i <= 11)
		return false; /* TClass and flow label are not covered */
	return i != 15 /* hop limit */ && i != 8 + 40 + 4;
}

static void a_router_may_change_what_the_icrc_does_not_cover(void **state)
{
	(void)state;
	uint8_t good[128], bytes[128];
	size_t size = global_vector(0x00301B10, 0xADBF9E56, 0xE971, good);

	for (size_t bit = 0; bit < 8 * (size - VCRC_SIZE); bit++) {
		size_t i = bit / 8;
		uint8_t mask = (uint8_t)(1 << bit % 8);

		if (i == 1 && (mask & 3))
			continue;
		memcpy(bytes, good, size);
		bytes[i] ^= mask;
		assert_int_equal(packet_check(bytes, size).icrc,
				 covered_global(i, mask) ? CRC_BAD : CRC_GOOD);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_vectors_check),
		cmocka_unit_test(decodes_the_published_packet),
		cmocka_unit_test(encodes_the_published_packet),
		cmocka_unit_test(decoding_undoes_encoding_for_every_opcode),
		cmocka_unit_test(raw_packets_have_no_icrc),
		cmocka_unit_test(gives_the_reason_why_encoding_fails),
		cmocka_unit_test(every_short_and_long_packet_is_refused_with_a_reason),
		cmocka_unit_test(consistent_but_short_packets_are_refused),
		cmocka_unit_test(refusals_name_what_is_wrong),
		cmocka_unit_test(random_bytes_are_decoded_or_refused_never_more),
		cmocka_unit_test(every_flipped_bit_shows),
		cmocka_unit_test(a_router_may_change_what_the_icrc_does_not_cover),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
