/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/tables/fill.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/seeds_for_tests.h"

struct connection {
	unsigned vl;
	uint32_t slots;
};

static int by_size(const void *a, const void *b)
{
	return *(const uint8_t *)a - *(const uint8_t *)b;
}

/* The weights of a VL's entries, sorted. */
static unsigned weights_of(const struct fill *f, unsigned vl, uint8_t *out)
{
	struct vlarb_entry table[VLARB_MAX];
	uint8_t n;
	unsigned found = 0;

	fill_table(f, table, &n);
	for (unsigned i = 0; i < n; i++) {
		if (table[i].vl == vl)
			out[found++] = table[i].weight;
	}
	qsort(out, found, 1, by_size);
	return found;
}

static void assert_same_tables(const struct fill *a, const struct fill *b)
{
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		uint8_t one[VLARB_MAX] = { 0 }, other[VLARB_MAX] = { 0 };
		unsigned n = weights_of(a, vl, one);

		assert_int_equal(n, weights_of(b, vl, other));
		assert_memory_equal(one, other, n);
		assert_int_equal(a->slots[vl], b->slots[vl]);
	}
	assert_int_equal(a->total, b->total);
	assert_int_equal(a->n_entries, b->n_entries);
}

static void rebuild(struct fill *f, const struct connection *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(fill_add(f, list[i].vl, list[i].slots), HD_OK);
}

/* Adds or removes one connection at random; the list's new length. */
static size_t step(struct fill *f, struct rng *rng, struct connection *list, size_t n)
{
	struct connection c = { (unsigned)rng_below(rng, N_DATA_VLS),
				1 + (uint32_t)rng_below(rng, 700) };

	if (n && rng_below(rng, 5) < 2) {
		size_t gone = rng_below(rng, n);

		fill_remove(f, list[gone].vl, list[gone].slots);
		list[gone] = list[n - 1];
		return n - 1;
	}
	if (fill_add(f, c.vl, c.slots) != HD_OK)
		return n;
	list[n] = c;
	return n + 1;
}

/* The table depends on the remaining connections only, not on their order. */
static void any_order_ends_in_the_same_table(void **state)
{
	(void)state;
	struct rng rng;

	rng_init(&rng, 5, 0);
	for (int round = 0; round < 200; round++) {
		struct fill f, fresh;
		struct connection list[300];
		size_t n = 0;
		enum fill_place place = (enum fill_place)(round % 2);

		fill_init(&f, FILL_STRICT, place);
		for (int i = 0; i < 300; i++)
			n = step(&f, &rng, list, n);
		fill_init(&fresh, FILL_STRICT, place);
		rebuild(&fresh, list, n);
		assert_same_tables(&f, &fresh);
	}
}

static void assert_every_vl_has_an_entry(const struct fill *f)
{
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		uint8_t weights[VLARB_MAX] = { 0 };

		assert_true(weights_of(f, vl, weights) > 0);
	}
}

/*
 * VLs with floors: any order ends in the same sums and number of entries, every
 * VL has an entry all the time, and with all reservations gone the entries of
 * the floors are where they were.
 */
static void floors_are_there_while_nothing_is_reserved(void **state)
{
	const struct fill_start start = {
		.be_vls = 1 << 8 | 1 << 9, .ch_vls = 1 << 10, .be = { 1, 5 }, .floor_vls = 0x7fff
	};
	struct rng rng;

	(void)state;
	rng_init(&rng, seed_of_run(9), 0);
	for (unsigned round = 0; round < cases_of_run(200, 5000); round++) {
		struct fill f, empty, fresh;
		struct connection list[300];
		size_t n = 0;
		enum fill_mode mode = round % 3 == 2 ? FILL_ET : FILL_STRICT;

		fill_init(&empty, mode, (enum fill_place)(round % 2));
		assert_int_equal(fill_begin(&empty, &start), HD_OK);
		assert_int_equal(empty.total, 2 * 1632 + 1 + 12);
		f = empty;
		fresh = empty;
		for (int i = 0; i < 300; i++) {
			n = step(&f, &rng, list, n);
			assert_every_vl_has_an_entry(&f);
		}
		if (mode == FILL_STRICT) {
			rebuild(&fresh, list, n);
			assert_same_tables(&f, &fresh);
		}
		while (n-- > 0)
			fill_remove(&f, list[n].vl, list[n].slots);
		assert_int_equal(f.total, empty.total);
		/* VLs 8 to 10 have shares: their entries may be elsewhere. */
		for (unsigned p = 0; p < FRAME_ENTRIES; p++) {
			const struct vlarb_entry *e = &empty.entry[p];

			if (e->weight && (e->vl < 8 || e->vl > 10))
				assert_memory_equal(&f.entry[p], e, sizeof(*e));
		}
		if (mode == FILL_STRICT)
			assert_same_tables(&f, &empty);
	}
}

static void adding_touches_only_the_own_entries(void **state)
{
	(void)state;
	struct fill f, before;
	struct rng rng;

	rng_init(&rng, 6, 0);
	fill_init(&f, FILL_STRICT, PLACE_SPREAD);
	for (int i = 0; i < 400; i++) {
		unsigned vl = (unsigned)rng_below(&rng, 8);

		before = f;
		if (fill_add(&f, vl, 1 + (uint32_t)rng_below(&rng, 90)))
			assert_memory_equal(&before, &f, sizeof(f));
		for (unsigned p = 0; p < FRAME_ENTRIES; p++) {
			if (before.entry[p].weight && before.entry[p].vl != vl)
				assert_memory_equal(&before.entry[p], &f.entry[p],
						    sizeof(f.entry[p]));
		}
	}
}

/*
 * Best effort's 20 % needs 13 entries and challenged traffic 1, so 50 entries
 * or 12,750 slots are left where paper 000 counts 13,055.
 */
static void entries_do_limit_what_fits(void **state)
{
	(void)state;
	struct fill strict, paper;

	fill_init(&strict, FILL_STRICT, PLACE_FIRST);
	fill_init(&paper, FILL_PAPER, PLACE_FIRST);
	assert_int_equal(fill_add(&strict, 13, 3264), HD_OK);
	assert_int_equal(fill_add(&strict, 14, 1), HD_OK);
	assert_int_equal(strict.n_entries, 14);
	assert_int_equal(fill_add(&strict, 0, 12751), HD_ERR_FULL);
	assert_int_equal(fill_add(&strict, 0, 12750), HD_OK);

	assert_int_equal(fill_add(&paper, 13, 3264), HD_OK);
	assert_int_equal(fill_add(&paper, 14, 1), HD_OK);
	assert_int_equal(fill_add(&paper, 0, 13056), HD_ERR_FULL);
	assert_int_equal(fill_add(&paper, 0, 13055), HD_OK);
}

/* A paper-mode table that does not fit is scaled, shares kept near. */
static void paper_mode_still_makes_a_legal_table(void **state)
{
	(void)state;
	struct fill f;
	struct vlarb_entry table[VLARB_MAX];
	uint8_t n;
	uint32_t sums[N_DATA_VLS] = { 0 }, all = 0;

	fill_init(&f, FILL_PAPER, PLACE_FIRST);
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++)
		assert_int_equal(fill_add(&f, vl, 1024 + vl), HD_OK);
	fill_table(&f, table, &n);
	assert_true(n <= VLARB_MAX);
	for (unsigned i = 0; i < n; i++) {
		sums[table[i].vl] += table[i].weight;
		all += table[i].weight;
	}
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		double share = (double)sums[vl] / all;
		double asked = (double)f.slots[vl] / f.total;

		assert_true(share > 0.99 * asked && share < 1.01 * asked);
	}
}

/*
 * A VL with the least reservation keeps a slot when weights are scaled down:
 * every admitted connection can send.
 */
static void scaling_keeps_a_slot_per_vl(void **state)
{
	(void)state;
	for (unsigned small = 1; small < N_DATA_VLS; small++) {
		struct fill f;
		struct vlarb_entry table[VLARB_MAX];
		uint32_t sums[N_DATA_VLS] = { 0 };
		uint8_t n;

		fill_init(&f, FILL_PAPER, PLACE_FIRST);
		for (unsigned vl = 0; vl < small; vl++)
			assert_int_equal(fill_add(&f, vl, 1), HD_OK);
		for (unsigned vl = small; vl < N_DATA_VLS; vl++)
			assert_int_equal(
				fill_add(&f, vl, (FRAME_SLOTS - small) / (N_DATA_VLS - small)),
				HD_OK);
		fill_table(&f, table, &n);
		assert_in_range(n, N_DATA_VLS, VLARB_MAX);
		for (unsigned i = 0; i < n; i++)
			sums[table[i].vl] += table[i].weight;
		for (unsigned vl = 0; vl < N_DATA_VLS; vl++)
			assert_true(sums[vl] > 0);
	}
}

static void et_keeps_full_entries_until_the_last_leaves(void **state)
{
	(void)state;
	struct fill f;
	uint8_t weights[VLARB_MAX] = { 0 };

	fill_init(&f, FILL_ET, PLACE_FIRST);
	assert_int_equal(fill_add(&f, 3, 10), HD_OK);
	assert_int_equal(fill_add(&f, 3, 300), HD_OK);
	assert_int_equal(weights_of(&f, 3, weights), 2);
	assert_int_equal(weights[0], 255);
	fill_remove(&f, 3, 300);
	assert_int_equal(weights_of(&f, 3, weights), 2);
	fill_remove(&f, 3, 10);
	assert_int_equal(weights_of(&f, 3, weights), 0);
	assert_int_equal(f.n_entries, 0);
}

static void spreading_halves_the_gap_with_each_doubling(void **state)
{
	(void)state;
	for (unsigned entries = 1; entries <= 32; entries *= 2) {
		struct fill spread, first;
		unsigned others = FRAME_ENTRIES - entries;

		fill_init(&spread, FILL_STRICT, PLACE_SPREAD);
		fill_init(&first, FILL_STRICT, PLACE_FIRST);
		assert_int_equal(fill_add(&spread, 0, 255 * entries), HD_OK);
		assert_int_equal(fill_add(&spread, 1, 255 * others), HD_OK);
		assert_int_equal(fill_add(&first, 0, 255 * entries), HD_OK);
		assert_int_equal(fill_add(&first, 1, 255 * others), HD_OK);
		assert_int_equal(fill_gap(&first, 0), 255 * others);
		assert_int_equal(fill_gap(&spread, 0), 255 * (FRAME_ENTRIES / entries - 1));
	}
}

/* Checks one arrival or departure, with any other changes of entries. */
static void assert_monotone(const struct fill *before, const struct fill *after, bool comes,
			    unsigned vl)
{
	for (unsigned p = 0; p < FRAME_ENTRIES; p++) {
		uint8_t was = before->entry[p].weight;
		uint8_t is = after->entry[p].weight;

		assert_true(comes ? is >= was : is <= was);
		assert_true(is == was || after->entry[p].vl == vl);
	}
}

/* Performs one random step; returns the number of connections. */
static unsigned come_or_go(struct fill *f, struct connection *held, unsigned n, struct rng *rng)
{
	struct fill before = *f;
	bool comes = n == 0 || (n < 400 && rng_below(rng, 100) < 55);
	struct connection *c = &held[comes ? n : rng_below(rng, n)];

	if (comes) {
		*c = (struct connection){ (unsigned)rng_below(rng, 6),
					  1 + (uint32_t)rng_below(rng, 700) };
		n += fill_add(f, c->vl, c->slots) == HD_OK;
	} else {
		fill_remove(f, c->vl, c->slots);
	}
	assert_monotone(&before, f, comes, c->vl);
	if (!comes)
		*c = held[--n];
	return n;
}

/*
 * A port that arbitrates meanwhile needs this. After the last release the table
 * is empty.
 */
static void weights_follow_arrivals_and_departures(void **state)
{
	(void)state;
	for (unsigned place = PLACE_FIRST; place <= PLACE_SPREAD; place++) {
		struct connection held[401];
		struct rng rng;
		struct fill f;
		unsigned n = 0;

		rng_init(&rng, 5, place);
		fill_init(&f, FILL_STRICT, (enum fill_place)place);
		for (int i = 0; i < 20000; i++)
			n = come_or_go(&f, held, n, &rng);
		for (; n > 0; n--)
			fill_remove(&f, held[n - 1].vl, held[n - 1].slots);
		assert_int_equal(f.n_entries, 0);
		assert_int_equal(f.total, 0);
		for (unsigned p = 0; p < FRAME_ENTRIES; p++)
			assert_int_equal(f.entry[p].weight, 0);
	}
}

static void weights_that_repeat_are_counted(void **state)
{
	static const struct vlarb_entry table[] = {
		{ 1, 255 }, { 0, 7 }, { 1, 255 }, { 1, 255 }, { 1, 231 }, { 0, 255 }, { 1, 255 },
	};
	static const char *const texts[] = { "7+255", "3*255+231+255", "" };

	(void)state;
	for (unsigned vl = 0; vl < 3; vl++) {
		struct strbuf text = STRBUF_INIT;

		fill_print_weights(table, sizeof(table) / sizeof(*table), vl, &text);
		assert_string_equal(text.len ? text.text : "", texts[vl]);
		strbuf_fini(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_order_ends_in_the_same_table),
		cmocka_unit_test(floors_are_there_while_nothing_is_reserved),
		cmocka_unit_test(adding_touches_only_the_own_entries),
		cmocka_unit_test(entries_do_limit_what_fits),
		cmocka_unit_test(paper_mode_still_makes_a_legal_table),
		cmocka_unit_test(scaling_keeps_a_slot_per_vl),
		cmocka_unit_test(et_keeps_full_entries_until_the_last_leaves),
		cmocka_unit_test(spreading_halves_the_gap_with_each_doubling),
		cmocka_unit_test(weights_follow_arrivals_and_departures),
		cmocka_unit_test(weights_that_repeat_are_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
