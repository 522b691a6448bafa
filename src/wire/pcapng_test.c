/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/capture_for_tests.h"

/* Blocks built by the specification; files of other programs are tested in tests/cli. */

static const uint8_t payload[] = { 1, 2, 3, 4, 5, 6 };

/* Adds type and both lengths to a body of whole 32-bit words. */
static void put_block(struct file *f, uint32_t type, const struct file *body)
{
	uint32_t length = (uint32_t)body->size + 12;

	put32(f, type);
	put32(f, length);
	put_bytes(f, body->bytes, body->size);
	put32(f, length);
}

static void put_section(struct file *f)
{
	struct file body = { .big = f->big };

	put32(&body, 0x1A2B3C4D);
	put16(&body, 1);
	put16(&body, 0);
	put32(&body, 0xFFFFFFFF); /* of unknown length */
	put32(&body, 0xFFFFFFFF);
	put_block(f, 0x0A0D0D0A, &body);
}

/* Adds resolution and offset of the clock unless they are 0. */
static void put_interface(struct file *f, uint16_t link, uint8_t resolution, int64_t offset)
{
	struct file body = { .big = f->big };

	put16(&body, link);
	put16(&body, 0);
	put32(&body, 4); /* snapshot length: for simple packets */
	put16(&body, 2); /* a name option with padding, to be skipped */
	put16(&body, 5);
	put_bytes(&body, "ibp0s\0\0\0", 8);
	if (resolution) {
		put16(&body, 9);
		put16(&body, 1);
		put_bytes(&body, (uint8_t[]){ resolution, 0, 0, 0 }, 4);
	}
	if (offset) {
		put16(&body, 14);
		put16(&body, 8);
		uint32_t high = (uint32_t)((uint64_t)offset >> 32);
		uint32_t low = (uint32_t)offset;

		put32(&body, f->big ? high : low);
		put32(&body, f->big ? low : high);
	}
	put32(&body, 0);
	put_block(f, 1, &body);
}

/* Six captured bytes of a packet of 60, at `time` in units of its interface. */
static void put_packet(struct file *f, uint32_t interface, uint64_t time)
{
	struct file body = { .big = f->big };

	put32(&body, interface);
	put32(&body, (uint32_t)(time >> 32));
	put32(&body, (uint32_t)time);
	put32(&body, sizeof(payload));
	put32(&body, 60);
	put_bytes(&body, payload, sizeof(payload));
	put_bytes(&body, (uint8_t[]){ 0, 0 }, 2);
	put_block(f, 6, &body);
}

/* An ERF record of type 25: a flow-control packet of six bytes. */
static void put_erf_packet(struct file *f, uint32_t interface)
{
	static const uint8_t erf[] = { 0, 0, 0, 0x40, 7, 0, 0, 0, 25, 0x04, 0, 22, 0, 0, 0, 6 };
	struct file body = { .big = f->big };

	put32(&body, interface);
	put32(&body, 0);
	put32(&body, 0);
	put32(&body, 22);
	put32(&body, 22);
	put_bytes(&body, erf, sizeof(erf));
	put_bytes(&body, payload, sizeof(payload));
	put_bytes(&body, (uint8_t[]){ 0, 0 }, 2);
	put_block(f, 6, &body);
}

static struct capture *open_file(const struct file *f)
{
	struct diag d;
	struct capture *c = open_bytes(f, &d);

	if (!c)
		fail_msg("refused: %s", d.message);
	assert_string_equal(capture_format(c), "pcapng");
	return c;
}

static struct capture_record next(struct capture *c)
{
	struct diag d = { .status = HD_OK };
	struct capture_record rec = { 0 };
	bool found;

	if (capture_next(c, &d, &rec, &found) != HD_OK)
		fail_msg("refused: %s", d.message);
	assert_true(found);
	return rec;
}

static void ends(struct capture *c)
{
	struct diag d = { .status = HD_OK };
	struct capture_record rec;
	bool found;

	assert_int_equal(capture_next(c, &d, &rec, &found), HD_OK);
	assert_false(found);
	capture_close(c);
}

static void packets_are_what_their_interface_carries(void **state)
{
	(void)state;

	for (int big = 0; big < 2; big++) {
		struct file f = { .big = big };

		put_section(&f);
		put_interface(&f, 1, 0, 0);
		put_interface(&f, 247, 0, 0);
		put_interface(&f, 105, 0, 0);
		put_packet(&f, 2, 0);
		put_packet(&f, 1, 0);
		/* An interface may also be described later. */
		put_interface(&f, 197, 0, 0);
		put_packet(&f, 0, 0);
		put_erf_packet(&f, 3);
		struct capture *c = open_file(&f);
		struct capture_record rec = next(c);

		assert_int_equal(rec.kind, CAPTURE_OTHER);
		assert_int_equal(rec.type, 0);
		assert_int_equal(rec.link_type, 105);
		assert_string_equal(capture_link_name(105), "IEEE802_11");
		assert_int_equal(next(c).kind, CAPTURE_PACKET);
		assert_int_equal(next(c).kind, CAPTURE_ETHERNET);
		rec = next(c);
		assert_int_equal(rec.kind, CAPTURE_FLOW);
		assert_int_equal(rec.number, 4);
		assert_int_equal(rec.seconds, 7);
		assert_true(rec.ps == 250 * HD_MS);
		assert_int_equal(rec.size, sizeof(payload));
		assert_memory_equal(rec.bytes, payload, sizeof(payload));
		ends(c);
	}
}

static void every_interface_has_its_own_clock(void **state)
{
	(void)state;
	static const struct {
		uint8_t resolution; /* 0: no option */
		int64_t offset;
		uint64_t time;
		uint64_t seconds, ps;
	} rows[] = {
		{ 0, 0, 5250001, 5, UINT64_C(250001000000) },
		{ 6, 0, 5250001, 5, UINT64_C(250001000000) },
		{ 9, 1000, 5000000001, 1005, 1000 },
		{ 9, -2, 5000000001, 3, 1000 },
		{ 9, -7, 5000000001, 0, 1000 },
		{ 3, 0, 5250, 5, UINT64_C(250000000000) },
		{ 12, 0, UINT64_C(5000000000007), 5, 7 },
		{ 0x80 | 10, 0, 5 * 1024 + 256, 5, UINT64_C(250000000000) },
		{ 0x80 | 32, 0, UINT64_C(0x540000000), 5, UINT64_C(250000000000) },
		{ 19, 0, UINT64_C(12500000000000000000), 1, UINT64_C(250000000000) },
		{ 0x80 | 63, 0, UINT64_C(0xA000000000000000), 1, UINT64_C(250000000000) },
	};
	const size_t n = sizeof(rows) / sizeof(*rows);

	for (int big = 0; big < 2; big++) {
		struct file f = { .big = big };

		put_section(&f);
		for (size_t i = 0; i < n; i++)
			put_interface(&f, 247, rows[i].resolution, rows[i].offset);
		for (size_t i = 0; i < n; i++)
			put_packet(&f, (uint32_t)i, rows[i].time);
		struct capture *c = open_file(&f);

		for (size_t i = 0; i < n; i++) {
			struct capture_record rec = next(c);

			assert_int_equal(rec.seconds, rows[i].seconds);
			assert_true(rec.ps == rows[i].ps);
			assert_int_equal(rec.size, sizeof(payload));
			assert_int_equal(rec.wire_size, 60);
		}
		ends(c);
	}
}

static void a_section_has_its_own_order_and_interfaces(void **state)
{
	(void)state;
	struct file f = { .big = false };

	put_section(&f);
	put_interface(&f, 105, 0, 0);
	put_interface(&f, 247, 0, 0);
	put_packet(&f, 1, 1000000);
	f.big = true;
	put_section(&f);
	put_interface(&f, 1, 3, 0);
	put_packet(&f, 0, 2000);
	put_packet(&f, 1, 3000000);
	struct capture *c = open_file(&f);
	struct capture_record rec = next(c);
	struct diag d = { .status = HD_OK };
	bool found;

	assert_int_equal(rec.kind, CAPTURE_PACKET);
	assert_int_equal(rec.seconds, 1);
	rec = next(c);
	assert_int_equal(rec.kind, CAPTURE_ETHERNET);
	assert_int_equal(rec.seconds, 2);
	assert_int_equal(capture_next(c, &d, &rec, &found), HD_ERR_INPUT);
	assert_string_equal(d.message, "byte 252: a packet of interface 1, but 1 is described");
	capture_close(c);
}

static void simple_and_obsolete_packets_are_read_too(void **state)
{
	(void)state;
	struct file f = { .big = true }, simple = { .big = true }, old = { .big = true },
		    other = { .big = true };

	put_section(&f);
	put_interface(&f, 247, 0, 0);
	put32(&simple, 60); /* truncated to the interface's snapshot length of four */
	put_bytes(&simple, payload, 4);
	put_block(&f, 3, &simple);
	put32(&other, 17);
	put_block(&f, 5, &other);
	put_block(&f, 0x80000BAD, &other);
	put16(&old, 0);
	put16(&old, 9); /* number of dropped packets */
	put32(&old, 0);
	put32(&old, 2500000);
	put32(&old, 4);
	put32(&old, 4);
	put_bytes(&old, payload, 4);
	put_block(&f, 2, &old);
	struct capture *c = open_file(&f);
	struct capture_record rec = next(c);

	assert_int_equal(rec.kind, CAPTURE_PACKET);
	assert_int_equal(rec.seconds, 0);
	assert_int_equal(rec.size, 4);
	assert_int_equal(rec.wire_size, 60);
	assert_memory_equal(rec.bytes, payload, 4);
	rec = next(c);
	assert_int_equal(rec.seconds, 2);
	assert_true(rec.ps == 500 * HD_MS);
	assert_int_equal(rec.size, 4);
	assert_int_equal(rec.wire_size, 4);
	ends(c);
}

static void a_file_without_infiniband_is_refused_by_its_interface(void **state)
{
	(void)state;
	struct file f = { .big = false };
	struct diag d;

	put_section(&f);
	assert_null(open_bytes(&f, &d));
	assert_string_equal(d.message, "no interface is described in this pcapng file");
	put_interface(&f, 105, 0, 0);
	put_interface(&f, 101, 0, 0);
	put_packet(&f, 1, 0);
	assert_null(open_bytes(&f, &d));
	assert_int_equal(d.status, HD_ERR_INPUT);
	assert_string_equal(
		d.message,
		"interface 0: link type 105 (IEEE802_11) carries no InfiniBand, expected Ethernet, Linux cooked, ERF or InfiniBand");
	assert_string_equal(capture_link_name(101), "RAW");
	assert_string_equal(capture_link_name(65535), "unknown");
}

/* Offsets of blocks in the file below, and its packet. */
enum {
	INTERFACE_AT = 28,
	OPTION_AT = INTERFACE_AT + 8 + 8,
	RESOLUTION_AT = OPTION_AT + 12,
	INTERFACE_END = RESOLUTION_AT + 8 + 4,
	PACKET_AT = INTERFACE_END + 4,
};

static void reports_the_place_of_invalid_input(void **state)
{
	(void)state;
	static const struct {
		size_t at;
		uint32_t value;
		const char *why;
	} rows[] = {
		{ 8, 0x12345678, "byte 0: no pcapng section: byte order 0x12345678" },
		{ 4, 12, "byte 0: no pcapng block: length 12" },
		{ INTERFACE_AT + 4, 14, "byte 28: no pcapng block: length 14" },
		{ INTERFACE_AT + 4, 8, "byte 28: no pcapng block: length 8" },
		{ INTERFACE_AT + 4, 1 << 30, "byte 28: no pcapng block: length 1073741824" },
		{ INTERFACE_END, 52, "byte 28: a block of 44 bytes says 52 bytes at its end" },
		{ OPTION_AT, 2 << 16 | 500,
		  "byte 28: interface 0: an option of 500 bytes reaches past its block" },
		{ RESOLUTION_AT + 4, UINT32_C(20) << 24,
		  "byte 28: interface 0: resolution 10^-20 of its clock is too fine" },
		{ RESOLUTION_AT + 4, UINT32_C(0xC0) << 24,
		  "byte 28: interface 0: resolution 2^-64 of its clock is too fine" },
		{ PACKET_AT + 4, 1 << 20, "byte 72: truncated: the file ends inside a block" },
		{ PACKET_AT + 8, 1, "byte 72: a packet of interface 1, but 1 is described" },
		{ PACKET_AT + 20, 9, "byte 72: a packet reaches past its block of 40 bytes" },
	};
	struct file whole = { .big = true };

	put_section(&whole);
	put_interface(&whole, 247, 6, 0);
	put_packet(&whole, 0, 0);
	struct capture *sound = open_file(&whole);

	assert_int_equal(next(sound).kind, CAPTURE_PACKET);
	ends(sound);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct file f = whole;
		struct capture_record rec;
		struct diag d;
		bool found;

		store_be32(f.bytes + rows[i].at, rows[i].value);
		struct capture *c = open_bytes(&f, &d);

		if (c)
			assert_int_equal(capture_next(c, &d, &rec, &found), HD_ERR_INPUT);
		assert_string_equal(d.message, rows[i].why);
		capture_close(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_are_what_their_interface_carries),
		cmocka_unit_test(every_interface_has_its_own_clock),
		cmocka_unit_test(a_section_has_its_own_order_and_interfaces),
		cmocka_unit_test(simple_and_obsolete_packets_are_read_too),
		cmocka_unit_test(a_file_without_infiniband_is_refused_by_its_interface),
		cmocka_unit_test(reports_the_place_of_invalid_input),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
