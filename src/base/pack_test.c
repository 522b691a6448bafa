/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/pack.h"
#include "base/rng.h"

struct row {
	uint8_t u8;
	int8_t i8;
	bool flag;
	uint16_t u16;
	int16_t i16;
	uint32_t u32, pair[2];
	int32_t i32;
	uint64_t u64;
	int64_t i64;
	double real;
};

static const struct pack_member row_members[] = {
	PACK(row, u8),  PACK(row, i8),  PACK(row, flag),      PACK(row, u16),
	PACK(row, i16), PACK(row, u32), PACK_EACH(row, pair), PACK(row, i32),
	PACK(row, u64), PACK(row, i64), PACK(row, real),
};

static void expect_rows_equal(const struct row *a, const struct row *b)
{
	assert_int_equal(a->u8, b->u8);
	assert_int_equal(a->i8, b->i8);
	assert_int_equal(a->flag, b->flag);
	assert_int_equal(a->u16, b->u16);
	assert_int_equal(a->i16, b->i16);
	assert_int_equal(a->u32, b->u32);
	assert_int_equal(a->pair[0], b->pair[0]);
	assert_int_equal(a->pair[1], b->pair[1]);
	assert_int_equal(a->i32, b->i32);
	assert_true(a->u64 == b->u64);
	assert_true(a->i64 == b->i64);
	assert_memory_equal(&a->real, &b->real, sizeof(a->real));
}

/* Small ones, large ones, and those at the edges of their width. */
static uint64_t draw(struct rng *r)
{
	uint64_t v = rng_next(r) >> rng_below(r, 64);

	switch (rng_below(r, 4)) {
	case 0:
		return UINT64_MAX;
	case 1:
		return (uint64_t)1 << rng_below(r, 64);
	case 2:
		return ((uint64_t)1 << rng_below(r, 64)) - 1;
	default:
		return v;
	}
}

static struct row draw_row(struct rng *r)
{
	uint64_t bits = draw(r);
	struct row row = {
		.u8 = (uint8_t)draw(r),
		.i8 = (int8_t)draw(r),
		.flag = rng_below(r, 2),
		.u16 = (uint16_t)draw(r),
		.i16 = (int16_t)draw(r),
		.u32 = (uint32_t)draw(r),
		.pair = { (uint32_t)draw(r), (uint32_t)draw(r) },
		.i32 = (int32_t)draw(r),
		.u64 = draw(r),
		.i64 = (int64_t)draw(r),
	};

	memcpy(&row.real, &bits, sizeof(bits));
	return row;
}

static void what_is_read_is_what_was_written(void **state)
{
	struct rng r;

	(void)state;
	rng_init(&r, 1, 0);
	for (unsigned i = 0; i < 20000; i++) {
		struct row in = draw_row(&r), out = draw_row(&r);
		struct strbuf bytes = STRBUF_INIT, again = STRBUF_INIT;
		struct pack p;

		pack_to(&p, &bytes);
		PACK_STRUCT(&p, row_members, &in);
		pack_from(&p, bytes.text, bytes.len);
		PACK_STRUCT(&p, row_members, &out);
		assert_true(pack_is_done(&p));
		expect_rows_equal(&in, &out);
		pack_to(&p, &again);
		PACK_STRUCT(&p, row_members, &out);
		assert_int_equal(again.len, bytes.len);
		assert_memory_equal(again.text, bytes.text, bytes.len);
		strbuf_fini(&bytes);
		strbuf_fini(&again);
	}
}

static void bytes_cut_short_anywhere_are_refused(void **state)
{
	struct rng r;

	(void)state;
	rng_init(&r, 2, 0);
	for (unsigned i = 0; i < 200; i++) {
		struct row in = draw_row(&r), out;
		struct strbuf bytes = STRBUF_INIT;
		struct pack p;

		pack_to(&p, &bytes);
		PACK_STRUCT(&p, row_members, &in);
		for (size_t len = 0; len < bytes.len; len++) {
			pack_from(&p, bytes.text, len);
			PACK_STRUCT(&p, row_members, &out);
			assert_true(p.refused);
			assert_false(pack_is_done(&p));
		}
		strbuf_add(&bytes, "", 1);
		pack_from(&p, bytes.text, bytes.len);
		PACK_STRUCT(&p, row_members, &out);
		assert_false(p.refused);
		assert_false(pack_is_done(&p));
		strbuf_fini(&bytes);
	}
}

static void writes(struct strbuf *got, const char *want, size_t len)
{
	assert_int_equal(got->len, len);
	assert_memory_equal(got->text, want, len);
	strbuf_clear(got);
}

/* 624485 is the example of the DWARF standard's appendix on LEB128. */
static void numbers_are_leb128(void **state)
{
	struct strbuf bytes = STRBUF_INIT;
	uint64_t never = UINT64_MAX, nothing = 0, example = 624484;
	uint32_t none = UINT32_MAX;
	static const struct pack_member whole[] = { PACK(row, i64) };
	struct row minus = { .i64 = -64 }, plus = { .i64 = 63 };
	double one = 1;
	struct pack p;

	(void)state;
	pack_to(&p, &bytes);
	pack_count(&p, 624485);
	writes(&bytes, "\xe5\x8e\x26", 3);
	pack_u64(&p, &example);
	writes(&bytes, "\xe5\x8e\x26", 3);
	pack_u64(&p, &never);
	writes(&bytes, "\0", 1);
	pack_u32(&p, &none);
	writes(&bytes, "\0", 1);
	pack_u64(&p, &nothing);
	writes(&bytes, "\1", 1);
	PACK_STRUCT(&p, whole, &minus);
	writes(&bytes, "\x7f", 1);
	PACK_STRUCT(&p, whole, &plus);
	writes(&bytes, "\x7e", 1);
	pack_real(&p, &one);
	writes(&bytes, "\0\0\0\0\0\0\xf0\x3f", 8);
	strbuf_fini(&bytes);
}

static void refuses_u32(const char *bytes, size_t len)
{
	uint32_t v = 7;
	struct pack p;

	pack_from(&p, bytes, len);
	pack_u32(&p, &v);
	assert_true(p.refused);
	assert_int_equal(v, 0);
}

static void noncanonical_numbers_are_refused(void **state)
{
	size_t n;
	bool flag = true;
	struct pack p;

	(void)state;
	refuses_u32("\x81\x80\0", 3);           /* a zero on top */
	refuses_u32("\x80\x80\x80\x80\x10", 5); /* 2^32 */
	refuses_u32("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10);
	refuses_u32("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 11);
	pack_from(&p, "\2", 1);
	pack_bool(&p, &flag);
	assert_true(p.refused && !flag);
	pack_from(&p, "\3ab", 3);
	n = pack_count(&p, 0);
	assert_true(p.refused && n == 0);
	pack_from(&p, "\2ab", 3);
	assert_int_equal(pack_count(&p, 0), 2);
	assert_false(p.refused);
	pack_from(&p, "\2\3", 2);
	pack_same(&p, 2);
	assert_false(p.refused);
	pack_same(&p, 2);
	assert_true(p.refused);
	pack_from(&p, "", 0);
	pack_same(&p, 0);
	assert_true(p.refused);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_read_is_what_was_written),
		cmocka_unit_test(bytes_cut_short_anywhere_are_refused),
		cmocka_unit_test(numbers_are_leb128),
		cmocka_unit_test(noncanonical_numbers_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
