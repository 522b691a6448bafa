/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "qos/tables/vls.h"

static unsigned weight_of(const struct vlarb_entry *entries, unsigned n, unsigned vl)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += entries[i].vl == vl ? entries[i].weight : 0;
	return sum;
}

/* The rules of the header, counted in another way than entry by entry. */
static void weights_are_kept_in_whatever_entries(void **state)
{
	const struct vl_class classes[] = {
		{ 3, TC_COUNT, 2, .high = true, .weight = 600 },
		{ 5, TC_COUNT, VL_ANY, .weight = 255 },
		{ 9, TC_COUNT, VL_ANY, .weight = 1 }, /* VL 1, as SL 5 */
	};
	const struct vl_plan p = { .vls = 4, .classes = classes, .n_classes = 3, .high_limit = 7 };
	struct sl2vl map = qos_vls_map(&p, 4);
	struct vlarb t;

	(void)state;
	assert_int_equal(map.vl[3], 2);
	assert_int_equal(map.vl[5], 1);
	assert_int_equal(map.vl[7], 3);
	assert_true(qos_vls_tables(&p, &t));
	assert_int_equal(t.high_limit, 7);
	assert_int_equal(t.n_high, 3); /* 255 + 255 + 90 */
	assert_int_equal(weight_of(t.high, t.n_high, 2), 600);
	assert_int_equal(weight_of(t.low, t.n_low, 1), 256);
	/* VLs without a class are served, too. */
	assert_int_equal(weight_of(t.low, t.n_low, 0), 65);
	assert_int_equal(weight_of(t.low, t.n_low, 3), 65);
	assert_int_equal(weight_of(t.low, t.n_low, 2), 0);
}

static void a_given_table_is_taken_as_it_is(void **state)
{
	const struct vlarb_entry low[] = { { 1, 9 }, { 0, 3 } };
	const struct vl_class c = { 0, TC_COUNT, VL_ANY, .weight = 50 };
	const struct vl_plan p = { .vls = 2, .classes = &c, .n_classes = 1, .low = { low, 2 } };
	struct vlarb t;

	(void)state;
	assert_true(qos_vls_tables(&p, &t));
	assert_int_equal(t.n_high, 0);
	assert_int_equal(t.n_low, 2);
	assert_int_equal(t.low[0].vl, 1);
	assert_int_equal(weight_of(t.low, 2, 0), 3);
}

static void a_table_has_64_entries(void **state)
{
	struct vl_class c = { 0, TC_COUNT, 0, .high = true, .weight = 64 * 255 };
	const struct vl_plan p = { .vls = 1, .classes = &c, .n_classes = 1 };
	struct vlarb t;

	(void)state;
	assert_true(qos_vls_tables(&p, &t));
	assert_int_equal(t.n_high, VLARB_MAX);
	c.weight++;
	assert_false(qos_vls_tables(&p, &t));
}

/* ---- laws of the mapping ------------------------------------------------ */

struct drawn {
	struct vl_class classes[N_SLS];
	struct vl_plan plan;
	unsigned vls; /* of the link */
};

/* Draws classes on separate SLs; a third of the plans fixes VLs. */
static void draw_plan(struct rng *r, struct drawn *x)
{
	unsigned vls = 1 + (unsigned)rng_below(r, N_DATA_VLS);
	bool asks = rng_below(r, 3) == 0;
	uint8_t sls[N_SLS];

	*x = (struct drawn){ .vls = 1 + (unsigned)rng_below(r, vls) };
	if (rng_below(r, 2))
		x->vls = vls;
	x->plan = (struct vl_plan){
		.vls = vls,
		.classes = x->classes,
		.n_classes = 1 + rng_below(r, N_SLS),
	};
	for (unsigned i = 0; i < N_SLS; i++) {
		unsigned at = (unsigned)rng_below(r, i + 1);

		sls[i] = sls[at];
		sls[at] = (uint8_t)i;
	}
	for (unsigned i = 0; i < x->plan.n_classes; i++)
		x->classes[i] = (struct vl_class){
			.sl = sls[i],
			.kind = (unsigned)rng_below(r, TC_COUNT),
			.vl = asks && rng_below(r, 2) ? (int)rng_below(r, vls) : VL_ANY,
		};
}

static bool is_fixed(const struct drawn *x, size_t i)
{
	return x->vls == x->plan.vls && x->classes[i].vl != VL_ANY;
}

static bool is_reserved(const struct vl_class *c)
{
	return c->kind <= TC_DB;
}

/* The VL that a class has without any other class. */
static unsigned own_vl(const struct drawn *x, size_t i)
{
	const struct vl_class *c = &x->classes[i];
	/* OpenSM's map has SL 15 on VL 7. */
	unsigned sl = c->sl == 15 ? 7 : c->sl;

	return (c->vl == VL_ANY ? sl : (unsigned)c->vl) % x->vls;
}

/* Whether separate VLs of the classes keep the kinds apart. */
static bool own_vls_suffice(const struct drawn *x)
{
	for (size_t i = 0; i < x->plan.n_classes; i++)
		for (size_t k = 0; k < i; k++)
			if (x->classes[i].kind != x->classes[k].kind &&
			    own_vl(x, i) == own_vl(x, k))
				return false;
	return true;
}

/*
 * Whether there is a VL for reserved classes and another one for the rest, given the classes with
 * fixed VLs.
 */
static bool sides_fit(const struct drawn *x)
{
	bool held[2][N_DATA_VLS] = { { false } };

	for (size_t i = 0; i < x->plan.n_classes; i++)
		if (is_fixed(x, i))
			held[is_reserved(&x->classes[i])][own_vl(x, i)] = true;
	for (unsigned a = 0; a < x->vls; a++)
		for (unsigned b = 0; b < x->vls; b++)
			if (a != b && !held[0][a] && !held[1][b])
				return true;
	return false;
}

static void check_map(const struct drawn *x, const struct sl2vl *map)
{
	uint16_t used = 0;
	bool own = own_vls_suffice(x), apart = sides_fit(x), any_fixed = false;

	for (unsigned sl = 0; sl < N_SLS; sl++)
		assert_true(map->vl[sl] < x->vls);
	for (size_t i = 0; i < x->plan.n_classes; i++) {
		const struct vl_class *c = &x->classes[i];

		used |= (uint16_t)(1u << map->vl[c->sl]);
		any_fixed |= is_fixed(x, i);
		if (own || is_fixed(x, i))
			assert_int_equal(map->vl[c->sl], own_vl(x, i));
		for (size_t k = 0; k < i && apart; k++) {
			const struct vl_class *o = &x->classes[k];

			if (is_fixed(x, i) && is_fixed(x, k))
				continue;
			if (is_reserved(c) != is_reserved(o))
				assert_int_not_equal(map->vl[c->sl], map->vl[o->sl]);
		}
	}
	if (own || any_fixed)
		return;
	/* Classes share VLs only if there are too few. */
	unsigned n = (unsigned)x->plan.n_classes;

	assert_int_equal(__builtin_popcount(used), n < x->vls ? n : x->vls);
}

/* Reserved from the rest with two VLs, DBTS from DB with three, CH from BE and
 * PBE with four. */
static void check_kinds(const struct drawn *x, const struct sl2vl *map)
{
	for (size_t i = 0; i < x->plan.n_classes; i++)
		if (is_fixed(x, i))
			return;
	for (size_t i = 0; i < x->plan.n_classes; i++) {
		const struct vl_class *c = &x->classes[i];

		for (size_t k = 0; k < x->plan.n_classes; k++) {
			const struct vl_class *o = &x->classes[k];
			unsigned needs = is_reserved(c) != is_reserved(o)         ? 2
					 : c->kind == TC_DBTS && o->kind == TC_DB ? 3
					 : c->kind == TC_CH && o->kind != TC_CH   ? 4
										  : 99;

			if (x->vls >= needs)
				assert_int_not_equal(map->vl[c->sl], map->vl[o->sl]);
		}
	}
}

/* An SL without a class shares the VL of best effort; without best effort, a VL
 * without reservations, if one exists. */
static void check_others(const struct drawn *x, const struct sl2vl *map)
{
	bool held[2][N_DATA_VLS] = { { false } }, has_class[N_SLS] = { false };
	unsigned n[2] = { 0, 0 };

	for (size_t i = 0; i < x->plan.n_classes; i++) {
		const struct vl_class *c = &x->classes[i];

		has_class[c->sl] = true;
		held[is_reserved(c)][map->vl[c->sl]] = true;
	}
	for (unsigned vl = 0; vl < x->vls; vl++) {
		n[0] += held[0][vl];
		n[1] += held[1][vl];
	}
	for (unsigned sl = 0; sl < N_SLS; sl++) {
		if (!has_class[sl] && n[0])
			assert_true(held[0][map->vl[sl]]);
		else if (!has_class[sl] && n[1] < x->vls)
			assert_false(held[1][map->vl[sl]]);
	}
}

static void kinds_are_kept_apart(void **state)
{
	struct rng r;

	(void)state;
	rng_init(&r, seed_of_run(20260701), 0);
	for (unsigned i = 0; i < cases_of_run(20000, 1000000); i++) {
		struct drawn x;

		draw_plan(&r, &x);
		struct sl2vl map = qos_vls_map(&x.plan, x.vls);

		check_map(&x, &map);
		check_kinds(&x, &map);
		check_others(&x, &map);
	}
}

/* A map of 16 SLs applies to links with all VLs, whatever it merges. */
static void a_given_map_is_kept(void **state)
{
	struct vl_class classes[] = { { 4, TC_DBTS, VL_ANY }, { 8, TC_BE, VL_ANY } };
	struct sl2vl given = { { 3, 3, 3, 3, 1, 2, 0, 0, 1, 15 } };
	const struct vl_plan p = { .vls = 4, .map = &given, .classes = classes, .n_classes = 2 };
	struct sl2vl all = qos_vls_map(&p, 4), two = qos_vls_map(&p, 2);

	(void)state;
	assert_memory_equal(&all, &given, sizeof(all));
	assert_int_equal(two.vl[4], 0);
	assert_int_equal(two.vl[8], 1);
	assert_int_equal(two.vl[9], VL_MANAGEMENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights_are_kept_in_whatever_entries),
		cmocka_unit_test(a_given_table_is_taken_as_it_is),
		cmocka_unit_test(a_table_has_64_entries),
		cmocka_unit_test(kinds_are_kept_apart),
		cmocka_unit_test(a_given_map_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
