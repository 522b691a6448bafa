/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "wire/cursor.h"
#include "wire/rmpp.h"

/*
 * A response with any number of records, split into segments by the standard's rules only: bytes
 * at their offsets, without Heddle's encoder.
 */
enum { PATH_SIZE = 64, MAX_RECORDS = 60, MAX_STRIDE = 520 };

struct answer {
	size_t stride; /* a multiple of 8 */
	unsigned records;
	uint8_t bytes[MAX_RECORDS * MAX_STRIDE + SA_DATA_SIZE];
	size_t size;
	unsigned segments;
};

/* Every byte of record i is its number. */
static void make_answer(struct answer *a, unsigned records, size_t stride)
{
	memset(a, 0, sizeof(*a));
	a->stride = stride;
	a->records = records;
	for (unsigned i = 0; i < records; i++)
		for (size_t k = 0; k < PATH_SIZE; k += 2)
			store_be16(a->bytes + i * stride + k, (uint16_t)(0x4000 + i));
	/* The last record is not padded to the stride. */
	a->size = records ? (records - 1) * stride + PATH_SIZE : 0;
	a->segments = (unsigned)((a->size + 199) / 200);
	if (a->segments == 0)
		a->segments = 1;
}

/* Segment s, 1 to a->segments, of transaction 7. */
static void make_segment(const struct answer *a, unsigned s, uint8_t *mad)
{
	bool last = s == a->segments;
	size_t from = 200 * (size_t)(s - 1);
	size_t n = last ? a->size - from : 200;

	memset(mad, 0, 256);
	mad[0] = 1;
	mad[1] = 3;
	mad[2] = 2;
	mad[3] = 0x92;
	mad[15] = 7;
	mad[17] = 0x35;
	mad[24] = 1; /* RMPP version 1, type DATA */
	mad[25] = 1;
	mad[26] = (uint8_t)(0x15 << 3 | 1 | (s == 1) << 1 | last << 2);
	store_be32(mad + 28, s);
	if (last)
		store_be32(mad + 32, (uint32_t)(20 + n));
	store_be16(mad + 44, (uint16_t)(a->stride / 8));
	memcpy(mad + 56, a->bytes + from, n);
}

/* Records that were shown, with their position and completeness checked. */
struct shown {
	bool record[MAX_RECORDS];
	unsigned n;
};

static void note(const struct answer *a, const struct mad *m, struct shown *out)
{
	for (size_t i = 0; i < m->table.n; i++) {
		uint64_t number = m->table.first + i;

		assert_true(number < a->records);
		assert_memory_equal(m->table.at + i * m->table.stride,
				    a->bytes + number * a->stride, PATH_SIZE);
		out->n += !out->record[number];
		out->record[number] = true;
	}
}

static void receive(struct rmpp_joiner *j, const struct answer *a, unsigned s, uint64_t tid,
		    struct shown *out)
{
	const struct rmpp_key key = { .tid = tid, .qp = 1 };
	struct diag d = { .status = HD_OK };
	uint8_t *bytes = malloc(MAD_SIZE);
	struct mad m;

	assert_non_null(bytes);
	make_segment(a, s, bytes);
	assert_int_equal(mad_decode(bytes, MAD_SIZE, &d, &m), HD_OK);
	assert_true(m.rmpp.active);
	assert_int_equal(m.rmpp.segment, s);
	assert_int_equal(m.rmpp.last, s == a->segments);
	if (j)
		rmpp_join(j, &key, &m);
	note(a, &m, out);
	free(bytes);
}

static struct answer *draw(struct rng *rng)
{
	static struct answer a;

	make_answer(&a, (unsigned)rng_below(rng, MAX_RECORDS + 1),
		    PATH_SIZE + 8 * rng_below(rng, 8 * 7 + 1));
	return &a;
}

static void every_record_of_an_answer_is_shown_once(void **state)
{
	(void)state;
	struct rng rng;

	rng_init(&rng, 5, 1);
	for (int round = 0; round < 300; round++) {
		struct answer *a = draw(&rng);
		struct rmpp_joiner j = { 0 };
		unsigned before = 0;
		struct shown all = { .n = 0 };

		for (unsigned s = 1; s <= a->segments; s++) {
			struct shown one = { .n = 0 };

			receive(&j, a, s, 7, &one);
			receive(NULL, a, s, 7, &all);
			before += one.n;
			for (unsigned i = 0; i < a->records; i++)
				all.record[i] |= one.record[i];
		}
		assert_int_equal(before, a->records);
		for (unsigned i = 0; i < a->records; i++)
			assert_true(all.record[i]);
		rmpp_fini(&j);
	}
}

/* True if the record overlaps the segment, by arithmetic only. */
static bool touches(const struct answer *a, unsigned record, unsigned segment)
{
	size_t begin = record * a->stride, end = begin + PATH_SIZE;

	return begin < 200 * (size_t)segment && end > 200 * (size_t)(segment - 1);
}

static void a_lost_segment_costs_its_own_records_only(void **state)
{
	(void)state;
	struct rng rng;

	rng_init(&rng, 6, 1);
	for (int round = 0; round < 300; round++) {
		struct answer *a = draw(&rng);
		struct rmpp_joiner j = { 0 };
		struct shown got = { .n = 0 };
		unsigned lost = 1 + (unsigned)rng_below(&rng, a->segments);

		for (unsigned s = 1; s <= a->segments; s++)
			if (s != lost)
				receive(&j, a, s, 7, &got);
		for (unsigned i = 0; i < a->records; i++)
			assert_int_equal(got.record[i], !touches(a, i, lost));
		rmpp_fini(&j);
	}
}

static void segments_that_come_again_change_nothing(void **state)
{
	(void)state;
	struct answer *a = malloc(sizeof(*a));
	struct rmpp_joiner j = { 0 };
	struct shown got = { .n = 0 };

	assert_non_null(a);
	make_answer(a, 50, 72);
	for (unsigned s = 1; s <= a->segments; s++) {
		receive(&j, a, s, 7, &got);
		receive(&j, a, s > 2 ? s - 1 : s, 7, &got);
	}
	assert_int_equal(got.n, 50);
	rmpp_fini(&j);
	free(a);
}

static void answers_do_not_mix(void **state)
{
	(void)state;
	enum { ANSWERS = RMPP_ANSWERS };
	struct answer *a = malloc(sizeof(*a));
	struct rmpp_joiner j = { 0 };
	struct shown got[ANSWERS + 1] = { 0 };

	assert_non_null(a);
	make_answer(a, 20, 72);
	/* As many responses as can be stored; then one more, which replaces the oldest. */
	for (unsigned s = 1; s <= a->segments; s++)
		for (unsigned k = 0; k < ANSWERS; k++)
			receive(&j, a, s, k, &got[k]);
	for (unsigned k = 0; k < ANSWERS; k++)
		assert_int_equal(got[k].n, 20);
	memset(got, 0, sizeof(got));
	for (unsigned s = 1; s <= a->segments; s++)
		for (unsigned k = 0; k <= ANSWERS; k++)
			receive(&j, a, s, k, &got[k]);
	for (unsigned k = 0; k <= ANSWERS; k++)
		assert_true(got[k].n > 0 && got[k].n < 20);
	rmpp_fini(&j);
	free(a);
}

static void summary_of(const uint8_t *bytes, struct strbuf *out, size_t *n)
{
	struct diag d = { .status = HD_OK };
	struct mad m;

	assert_int_equal(mad_decode(bytes, MAD_SIZE, &d, &m), HD_OK);
	strbuf_clear(out);
	mad_summary(&m, out);
	*n = m.table.n;
}

static void segments_have_their_flags(void **state)
{
	(void)state;
	struct answer *a = malloc(sizeof(*a));
	struct strbuf out = STRBUF_INIT;
	uint8_t bytes[MAD_SIZE];
	size_t n;

	assert_non_null(a);
	make_answer(a, 4, 64);
	make_segment(a, 1, bytes);
	summary_of(bytes, &out, &n);
	assert_string_equal(out.text, "SubnAdmGetTableResp(PathRecord) segment 1");
	assert_int_equal(n, 3);
	make_segment(a, 2, bytes);
	summary_of(bytes, &out, &n);
	assert_string_equal(out.text, "SubnAdmGetTableResp(PathRecord) segment 2 (last)");
	assert_int_equal(n, 0); /* 56 bytes: the end of record 4 */
	bytes[25] = RMPP_ACK;
	summary_of(bytes, &out, &n);
	assert_string_equal(out.text, "SubnAdmGetTableResp(PathRecord) ACK segment 2 (last)");
	assert_int_equal(n, 0);
	/* No records found: an empty response. */
	make_answer(a, 0, 64);
	make_segment(a, 1, bytes);
	summary_of(bytes, &out, &n);
	assert_int_equal(n, 0);
	strbuf_fini(&out);
	free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_record_of_an_answer_is_shown_once),
		cmocka_unit_test(a_lost_segment_costs_its_own_records_only),
		cmocka_unit_test(segments_that_come_again_change_nothing),
		cmocka_unit_test(answers_do_not_mix),
		cmocka_unit_test(segments_have_their_flags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
