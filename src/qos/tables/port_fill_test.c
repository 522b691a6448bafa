/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/tables/port_fill.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct port_fill start(const struct port_fill_params *params)
{
	struct strbuf lost = STRBUF_INIT;
	struct diag d = { .status = HD_OK };
	struct port_fill p;

	assert_int_equal(fill_port_init(&p, params, &lost, &d), HD_OK);
	strbuf_fini(&lost);
	return p;
}

/* VLs that begin with one slot: four of DBTS, four of DB, CH. */
#define FLOORS 9

static struct port_fill open_port(uint64_t mbps, struct hd_ratio best_effort)
{
	struct port_fill_params params = {
		.link = { mbps * 1000000, 1 },
		.best_effort = best_effort,
		.vls = 15,
	};
	return start(&params);
}

static struct port_answer ask(struct port_fill *p, const char *text)
{
	struct diag d = { .status = HD_OK };
	enum traffic_class class = TC_CH;
	struct hd_rate rate = { 0, 1 };

	assert_int_equal(port_request_read(text, &d, &class, &rate), HD_OK);
	return fill_port_ask(p, class, rate);
}

/* Paper 000: at 2.5 Gb/s 64 Kb/s are 1 slot, 64 Mb/s 418, 300 Mb/s 1959. */
static void rates_are_the_papers_slots(void **state)
{
	(void)state;
	struct port_fill p = open_port(2500, (struct hd_ratio){ 1, 5 });

	assert_int_equal(ask(&p, "DB:64Kb/s").slots, 1);
	assert_int_equal(ask(&p, "DB:64Mb/s").slots, 418);
	assert_int_equal(ask(&p, "DB:300Mb/s").slots, 1959);
	/* A fifth of 64 entries of 255, and a slot of each of the other VLs;
	 * three of them have reservations now. */
	assert_int_equal(p.low.total, 64 * 255 / 5 + FLOORS - 3 + 1 + 418 + 1959);
	assert_int_equal(p.high.total, 0);
	assert_true(ask(&p, "DBTS:64Mb/s").admitted);
	assert_int_equal(p.high.total, 418);
}

/* A tenth of 1 Gb/s for PBE: two of 40 Mb/s fit into it and not a third. */
static void preferential_best_effort_keeps_to_its_share(void **state)
{
	(void)state;
	struct port_fill_params params = {
		.link = { 1000000000, 1 },
		.best_effort = { 1, 5 },
		.preferred = { 1, 10 },
		.vls = 15,
	};
	struct port_fill p = start(&params);
	uint32_t total = p.low.total;

	assert_int_equal(total, 64 * 255 / 5 + 64 * 255 / 10 + FLOORS);
	assert_int_equal(ask(&p, "PBE:40Mb/s").vl, 10);
	assert_true(ask(&p, "PBE:40Mb/s").admitted);
	assert_false(ask(&p, "PBE:40Mb/s").admitted);
	assert_int_equal(p.low.total, total);
	/* With eight VLs it travels with best effort, and has both shares. */
	params.vls = 8;
	p = start(&params);
	assert_int_equal(p.low.slots[6], 64 * 255 / 5 + 64 * 255 / 10);
	/* Nothing is reserved by default. */
	p = open_port(1000, (struct hd_ratio){ 1, 5 });
	assert_false(ask(&p, "PBE:64Kb/s").admitted);
}

/* At 1 Gb/s 16,310 slots are left of 16,320, in both tables together. */
static void both_tables_share_one_link(void **state)
{
	(void)state;
	struct port_fill p = open_port(1000, (struct hd_ratio){ 0, 1 });

	assert_true(ask(&p, "DBTS:500Mb/s").admitted);
	assert_false(ask(&p, "DB:500Mb/s").admitted);
	assert_int_equal(p.low.total, FLOORS + 1); /* and BE */
	assert_true(ask(&p, "DB:499Mb/s").admitted);
	assert_false(ask(&p, "DBTS:2Gb/s").admitted);
}

/* 64 entries of 255 are no room for the slots of the other classes. */
static void rejects_best_effort_without_room_for_others(void **state)
{
	(void)state;
	const struct port_fill_params params = { .link = { 1000000000, 1 },
						 .best_effort = { 1, 1 },
						 .vls = 15 };
	struct strbuf lost = STRBUF_INIT;
	struct diag d = { .status = HD_OK };
	struct port_fill p;

	assert_int_equal(fill_port_init(&p, &params, &lost, &d), HD_ERR_FULL);
	strbuf_fini(&lost);
}

/* With two VLs DB travels with DBTS, and both are in the high table. */
static void a_shared_vl_is_in_one_table(void **state)
{
	(void)state;
	const struct port_fill_params params = { .link = { 1000000000, 1 },
						 .best_effort = { 1, 5 },
						 .vls = 2 };
	struct port_fill p = start(&params);

	assert_true(ask(&p, "DB:100Mb/s").admitted);
	assert_true(ask(&p, "DBTS:100Mb/s").admitted);
	assert_int_equal(p.high.slots[0], 2 * 1632);
	assert_int_equal(p.low.slots[0], 1);
}

static void words_that_reserve_nothing_are_refused(void **state)
{
	(void)state;
	const char *const wrong[] = { "DB", "BE:1Gb/s", "XX:1Gb/s", ":1Gb/s", "DB:", "DB:fast" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct diag d = { .status = HD_OK };
		enum traffic_class class;
		struct hd_rate rate;

		assert_int_not_equal(port_request_read(wrong[i], &d, &class, &rate), HD_OK);
		assert_true(strlen(d.message) > 0);
	}
}

/* 418 slots are one full entry of 255 and one of 163. */
static void tables_show_what_each_vl_has(void **state)
{
	(void)state;
	const char *const words[] = { "DB:64Mb/s", "DB:9Gb/s", "DBTS:64Mb/s" };
	struct port_fill p = open_port(2500, (struct hd_ratio){ 1, 5 });
	struct results *r = results_new("test");
	struct diag d = { .status = HD_OK };
	unsigned refused = 0;

	assert_int_equal(fill_port_show(&p, words, 3, r, &d, &refused), HD_OK);
	assert_int_equal(refused, 1);
	const struct table *high = results_find(r, "high");

	assert_non_null(high);
	assert_int_equal(high->n_cells, high->n_columns);
	assert_int_equal(high->cells[1].u, 418);
	assert_string_equal(high->cells[4].text, "255+163");
	const struct table *asked = results_find(r, "connections");

	assert_int_equal(asked->n_cells, 3 * asked->n_columns);
	assert_false(asked->cells[asked->n_columns + 4].yes);
	/* Every VL of a class. */
	const struct table *low = results_find(r, "low");

	assert_int_equal(low->n_cells, (FLOORS + 1) * low->n_columns);
	results_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_are_the_papers_slots),
		cmocka_unit_test(preferential_best_effort_keeps_to_its_share),
		cmocka_unit_test(both_tables_share_one_link),
		cmocka_unit_test(rejects_best_effort_without_room_for_others),
		cmocka_unit_test(a_shared_vl_is_in_one_table),
		cmocka_unit_test(words_that_reserve_nothing_are_refused),
		cmocka_unit_test(tables_show_what_each_vl_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
