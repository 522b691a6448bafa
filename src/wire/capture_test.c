/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>

#include "wire/capture_for_tests.h"
#include "wire/erf.h"

static const uint8_t sample[] = { 0x70, 0x12, 0x37, 0x5C, 0x00, 0x0E, 0x17, 0xD2, 1, 2, 3, 4 };

/* A pcap file with two records at 5.25 s, the second cut. */
static void make_pcap(struct file *f, bool big, bool nano, uint32_t link)
{
	*f = (struct file){ .big = big };
	put32(f, nano ? 0xA1B23C4D : 0xA1B2C3D4);
	put16(f, 2);
	put16(f, 4);
	put32(f, 0);
	put32(f, 0);
	put32(f, 65535);
	put32(f, link);
	for (int i = 0; i < 2; i++) {
		put32(f, 5);
		put32(f, nano ? 250000001 : 250000);
		put32(f, sizeof(sample));
		put32(f, i ? 1500 : sizeof(sample));
		put_bytes(f, sample, sizeof(sample));
	}
}

static void check_two_records(const struct file *f, const char *format, uint64_t ps)
{
	struct diag d;
	struct capture *c = open_bytes(f, &d);
	struct capture_record rec;
	bool found;

	assert_non_null(c);
	assert_string_equal(capture_format(c), format);
	for (unsigned i = 1; i <= 2; i++) {
		assert_int_equal(capture_next(c, &d, &rec, &found), HD_OK);
		assert_true(found);
		assert_int_equal(rec.number, i);
		assert_int_equal(rec.seconds, 5);
		assert_true(rec.ps == ps);
		assert_int_equal(rec.kind, CAPTURE_PACKET);
		assert_int_equal(rec.size, sizeof(sample));
		assert_int_equal(rec.wire_size, i == 2 ? 1500 : sizeof(sample));
		assert_memory_equal(rec.bytes, sample, sizeof(sample));
	}
	assert_int_equal(capture_next(c, &d, &rec, &found), HD_OK);
	assert_false(found);
	capture_close(c);
}

static void reads_pcap_of_either_order_and_precision(void **state)
{
	(void)state;
	struct file f;

	for (int i = 0; i < 4; i++) {
		bool nano = i & 2;

		make_pcap(&f, i & 1, nano, 247);
		check_two_records(&f, "pcap", UINT64_C(250000000000) + (nano ? 1000 : 0));
	}
}

/* Section header, interface description, enhanced packets. */
static void make_pcapng(struct file *f, bool big)
{
	*f = (struct file){ .big = big };
	put32(f, 0x0A0D0D0A);
	put32(f, 28);
	put32(f, 0x1A2B3C4D);
	put16(f, 1);
	put16(f, 0);
	put32(f, 0xFFFFFFFF);
	put32(f, 0xFFFFFFFF);
	put32(f, 28);
	put32(f, 1);
	put32(f, 20);
	put16(f, 247);
	put16(f, 0);
	put32(f, 65535);
	put32(f, 20);
	for (int i = 0; i < 2; i++) {
		put32(f, 6);
		put32(f, 32 + sizeof(sample));
		put32(f, 0);
		/* Microseconds in 64 bits, as two halves, the high half first. */
		put32(f, 0);
		put32(f, 5250000);
		put32(f, sizeof(sample));
		put32(f, i ? 1500 : sizeof(sample));
		put_bytes(f, sample, sizeof(sample));
		put32(f, 32 + sizeof(sample));
	}
}

static void reads_pcapng_of_either_order(void **state)
{
	(void)state;
	struct file f;

	make_pcapng(&f, false);
	check_two_records(&f, "pcapng", UINT64_C(250000000000));
	make_pcapng(&f, true);
	check_two_records(&f, "pcapng", UINT64_C(250000000000));
}

/* Adds an ERF record: `extensions` of 8 bytes, then `lead`, packet and padding. */
static void put_erf(struct file *f, uint8_t type, unsigned extensions, size_t lead, size_t padding,
		    uint16_t wlen)
{
	size_t rlen = 16 + 8 * (size_t)extensions + lead + sizeof(sample) + padding;
	uint8_t head[16] = { 0 };
	static const uint8_t zeros[16];

	store_le32(head, 0x40000000); /* a quarter of a second */
	store_le32(head + 4, 5);
	head[8] = (uint8_t)(type | (extensions ? 0x80 : 0));
	head[9] = 0x04;
	store_be16(head + 10, (uint16_t)rlen);
	store_be16(head + 14, wlen);
	put_bytes(f, head, sizeof(head));
	for (unsigned i = 0; i < extensions; i++) {
		uint8_t extension[8] = { i + 1 < extensions ? 0x80 : 0 };

		put_bytes(f, extension, sizeof(extension));
	}
	put_bytes(f, zeros, lead);
	put_bytes(f, sample, sizeof(sample));
	put_bytes(f, zeros, padding);
}

static void reads_native_erf(void **state)
{
	(void)state;
	struct file f = { .size = 0 };

	put_erf(&f, 21, 0, 0, 4, sizeof(sample));
	put_erf(&f, 21, 2, 0, 0, 1500);
	check_two_records(&f, "ERF", UINT64_C(250000000000));
}

static void erf_types_tell_what_a_record_is(void **state)
{
	(void)state;
	static const struct {
		uint8_t type;
		enum capture_kind kind;
		size_t lead;
	} rows[] = { { 21, CAPTURE_PACKET, 0 },
		     { 25, CAPTURE_FLOW, 0 },
		     { 2, CAPTURE_ETHERNET, 2 },
		     { 3, CAPTURE_OTHER, 0 } };
	struct file f = { .size = 0 };
	struct capture_record rec;
	struct diag d;
	bool found;

	for (size_t i = 0; i < 4; i++)
		put_erf(&f, rows[i].type, 0, rows[i].lead, 0, sizeof(sample));
	struct capture *c = open_bytes(&f, &d);

	assert_non_null(c);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(capture_next(c, &d, &rec, &found), HD_OK);
		assert_true(found);
		assert_int_equal(rec.kind, rows[i].kind);
		assert_int_equal(rec.type, rows[i].type);
		assert_memory_equal(rec.bytes, sample, sizeof(sample));
	}
	capture_close(c);
}

/* The record layout that tshark 4.0.17 was seen to read, byte by byte. */
static void writes_the_layout_that_wireshark_reads(void **state)
{
	(void)state;
	static const uint8_t expected[] = {
		/* pcap, nanoseconds, little-endian, link type 197 */
		0x4D, 0x3C, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0, 197,
		0, 0, 0,
		/* at 3.5 s, 16 + 12 bytes */
		3, 0, 0, 0, 0x00, 0x65, 0xCD, 0x1D, 28, 0, 0, 0, 28, 0, 0, 0,
		/* ERF: fraction one half, seconds 3, type 21, flags, rlen */
		0, 0, 0, 0x80, 3, 0, 0, 0, 21, 0x06, 0, 28, 0, 0, 0, 12,
		/* the packet */
		0x70, 0x12, 0x37, 0x5C, 0x00, 0x0E, 0x17, 0xD2, 1, 2, 3, 4,
		/* at 3.5 s, a flow-control packet of 6 bytes, type 25 */
		3, 0, 0, 0, 0x00, 0x65, 0xCD, 0x1D, 22, 0, 0, 0, 22, 0, 0, 0, 0, 0, 0, 0x80, 3, 0,
		0, 0, 25, 0x04, 0, 22, 0, 0, 0, 6, 0x01, 0x23, 0x34, 0x56, 0xD1, 0x9F
	};
	const struct flow_packet flow = { FLOW_NORMAL, 0x123, 3, 0x456, 0 };
	struct capture_writer w;
	uint8_t bytes[256];
	FILE *stream = fmemopen(bytes, sizeof(bytes), "w+b");

	assert_non_null(stream);
	capture_begin(&w, stream, false);
	capture_write_packet(&w, 3 * HD_S + 500 * HD_MS, 2, sample, sizeof(sample));
	capture_write_flow(&w, 3 * HD_S + 500 * HD_MS, 0, &flow);
	assert_int_equal(capture_finish(&w), HD_OK);
	assert_int_equal(ftell(stream), sizeof(expected));
	fclose(stream);
	assert_memory_equal(bytes, expected, sizeof(expected));
}

static void padded_flow_packets_are_48_bytes_of_which_42_are_ones(void **state)
{
	(void)state;
	const struct flow_packet flow = { FLOW_NORMAL, 0x123, 3, 0x456, 0 };
	struct file f = { .size = 24 + 16 + 16 + 48 };
	FILE *stream = fmemopen(f.bytes, sizeof(f.bytes), "w+b");
	struct capture_writer w;
	struct capture_record rec;
	struct diag d;
	bool found;

	assert_non_null(stream);
	capture_begin(&w, stream, true);
	capture_write_flow(&w, 0, 0, &flow);
	assert_int_equal(capture_finish(&w), HD_OK);
	assert_int_equal(ftell(stream), f.size);
	fclose(stream);
	struct capture *c = open_bytes(&f, &d);

	assert_non_null(c);
	assert_int_equal(capture_next(c, &d, &rec, &found), HD_OK);
	assert_int_equal(rec.kind, CAPTURE_FLOW);
	assert_int_equal(rec.size, 48);
	for (size_t i = 6; i < 48; i++)
		assert_int_equal(rec.bytes[i], 0xFF);
	capture_close(c);
}

static void nanoseconds_survive_the_binary_fraction(void **state)
{
	(void)state;
	static const uint64_t times[] = { 0,    1,         2,         3,         999,
					  1000, 123456789, 500000000, 999999998, 999999999 };

	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		struct erf h = { .seconds = 7,
				 .ps = times[i] * HD_NS,
				 .type = ERF_INFINIBAND,
				 .rlen = ERF_HEADER_SIZE },
			   got;
		struct diag d = { .status = HD_OK };
		uint8_t bytes[ERF_HEADER_SIZE];
		struct byte_writer w;

		writer_init(&w, bytes, sizeof(bytes));
		erf_write_header(&w, &h);
		assert_int_equal(erf_read(bytes, sizeof(bytes), &d, &got), HD_OK);
		assert_int_equal(got.seconds, 7);
		assert_true(got.ps / HD_NS == times[i]);
		assert_true(got.ps >= h.ps && got.ps - h.ps < 233);
	}
}

/* Reads the whole file; true if it ended regularly. */
static bool drain(const struct file *f, struct diag *d)
{
	struct capture *c = open_bytes(f, d);
	struct capture_record rec;
	bool found = true;
	unsigned sum = 0;

	if (!c)
		return false;
	while (found && capture_next(c, d, &rec, &found) == HD_OK)
		for (size_t i = 0; found && i < rec.size; i++)
			sum += rec.bytes[i];
	capture_close(c);
	return d->status == HD_OK && sum < UINT32_MAX;
}

static void check_cuts(const struct file *whole, const size_t *ends, size_t n)
{
	struct file f = *whole;

	for (f.size = 0; f.size <= whole->size; f.size++) {
		bool clean = false;
		struct diag d;

		for (size_t i = 0; i < n; i++)
			clean |= f.size == ends[i];
		assert_int_equal(drain(&f, &d), clean);
		assert_int_equal(d.message[0] == 0, clean);
	}
}

static void reports_a_cut_within_a_record(void **state)
{
	(void)state;
	const size_t pcap_ends[] = { 24, 24 + 28, 24 + 56 };
	const size_t ng_ends[] = { 48, 48 + 44, 48 + 88 };
	const size_t erf_ends[] = { 32, 76 };
	struct file f;

	make_pcap(&f, false, false, 247);
	check_cuts(&f, pcap_ends, 3);
	make_pcapng(&f, true);
	check_cuts(&f, ng_ends, 3);
	f.size = 0;
	put_erf(&f, 21, 0, 0, 4, sizeof(sample));
	put_erf(&f, 21, 2, 0, 0, 1500);
	check_cuts(&f, erf_ends, 2);
}

static void rejects_other_files_with_the_expected_format(void **state)
{
	(void)state;
	struct file f = { .size = 0 };
	struct diag d;

	put_bytes(&f, "#!/bin/sh\necho not a capture\n", 29);
	assert_null(open_bytes(&f, &d));
	assert_int_equal(d.status, HD_ERR_INPUT);
	assert_string_equal(d.message, "not a capture, expected pcap, pcapng or ERF");
	make_pcap(&f, false, false, 105);
	assert_null(open_bytes(&f, &d));
	assert_string_equal(
		d.message,
		"link type 105 (IEEE802_11) carries no InfiniBand, expected Ethernet, Linux cooked, ERF or InfiniBand");
}

/* Whether the file is read, refused or compressed, its descriptor is closed. */
static void no_file_stays_open(void **state)
{
	static const uint8_t cut_gzip[16] = { 0x1F, 0x8B, 8 };
	struct file files[3] = { { .size = 0 } };

	(void)state;
	make_pcap(&files[0], false, false, 247);
	put_bytes(&files[1], "#!/bin/sh\n", 10);
	put_bytes(&files[2], cut_gzip, sizeof(cut_gzip));
	for (int i = 0; i < 3; i++) {
		struct diag d = { .status = HD_OK };
		struct capture *c;
		FILE *stream = tmpfile();
		int fd = fileno(stream);

		fwrite(files[i].bytes, 1, files[i].size, stream);
		rewind(stream);
		if (capture_open(stream, &d, &c) == HD_OK)
			capture_close(c);
		assert_int_equal(d.status == HD_OK, i == 0);
		assert_int_equal(fcntl(fd, F_GETFD), -1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_pcap_of_either_order_and_precision),
		cmocka_unit_test(reads_pcapng_of_either_order),
		cmocka_unit_test(reads_native_erf),
		cmocka_unit_test(erf_types_tell_what_a_record_is),
		cmocka_unit_test(writes_the_layout_that_wireshark_reads),
		cmocka_unit_test(padded_flow_packets_are_48_bytes_of_which_42_are_ones),
		cmocka_unit_test(nanoseconds_survive_the_binary_fraction),
		cmocka_unit_test(reports_a_cut_within_a_record),
		cmocka_unit_test(no_file_stays_open),
		cmocka_unit_test(rejects_other_files_with_the_expected_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
