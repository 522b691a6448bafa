/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/tables/plan.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"

/* Goals as operators state them: MPI 70 %, storage 30 %. */
static void shares_become_weights_of_whole_packets(void **state)
{
	(void)state;
	struct plan_class c[] = { { "mpi", { 7, 10 }, 2048, false },
				  { "ost", { 3, 10 }, 4096, false } };
	struct diag d = { .status = HD_OK };
	struct plan p;

	assert_int_equal(plan_make(c, 2, &(struct plan_link){ 8, 64, 26 }, &d, &p), HD_OK);
	assert_int_equal(p.tables.vlarb.n_high, 0);
	for (unsigned i = 0; i < p.tables.vlarb.n_low; i++) {
		unsigned blocks = p.tables.vlarb.low[i].vl == 0 ? 33 : 65;

		assert_true(p.tables.vlarb.low[i].weight % blocks == 0 ||
			    p.tables.vlarb.low[i].weight == 255);
	}
	assert_true(fabs(p.outcome[0].achieved - 0.7) < 0.01);
	assert_true(fabs(p.outcome[1].achieved - 0.3) < 0.01);
	assert_int_equal(p.outcome[1].sl, 1);
	assert_int_equal(p.remarks.len, 0);
	plan_fini(&p);
}

static void latency_goes_first_and_is_limited(void **state)
{
	(void)state;
	struct plan_class c[] = { { "mds", { 1, 2 }, 256, true },
				  { "bulk", { 1, 2 }, 4096, false } };
	struct diag d = { .status = HD_OK };
	struct plan p;

	assert_int_equal(plan_make(c, 2, &(struct plan_link){ 4, 64, 26 }, &d, &p), HD_OK);
	assert_int_equal(p.tables.vlarb.n_high, 1);
	assert_int_equal(p.tables.vlarb.high[0].vl, 0);
	/*
	 * Limit 1: 4096 bytes are 12.8 packets of 320 (5 blocks), so 13 of
	 * 282 bytes pass before one of 4122: 47 %. Limit 2: 26, or 64 %.
	 */
	assert_int_equal(p.tables.vlarb.high_limit, 2);
	assert_true(fabs(p.outcome[0].floor - 26 * 282. / (26 * 282 + 4122)) < 1e-9);
	assert_true(fabs(p.outcome[0].achieved - 0.5) < 1e-9);
	assert_true(fabs(p.outcome[1].achieved - 0.5) < 1e-9);
	assert_non_null(strstr(p.remarks.text, "up to 64.0%"));
	plan_fini(&p);
}

/* One high packet of 2 KiB against each low one of the same size. */
static void limit_zero_serves_where_it_is_enough(void **state)
{
	(void)state;
	struct plan_class c[] = { { "fast", { 1, 2 }, 2048, true },
				  { "bulk", { 1, 2 }, 2048, false } };
	struct diag d = { .status = HD_OK };
	struct plan p;

	assert_int_equal(plan_make(c, 2, &(struct plan_link){ 4, 64, 26 }, &d, &p), HD_OK);
	assert_int_equal(p.tables.vlarb.high_limit, 0);
	assert_true(fabs(p.outcome[0].floor - 0.5) < 1e-9);
	plan_fini(&p);
}

static void fewer_vls_than_classes_are_said(void **state)
{
	(void)state;
	struct plan_class c[] = { { "a", { 1, 2 }, 2048, false },
				  { "b", { 1, 4 }, 2048, false },
				  { "c", { 1, 4 }, 2048, false } };
	struct diag d = { .status = HD_OK };
	struct plan p;

	assert_int_equal(plan_make(c, 3, &(struct plan_link){ 2, 64, 26 }, &d, &p), HD_OK);
	assert_int_equal(p.outcome[2].vl, 1);
	assert_non_null(strstr(p.remarks.text, "'c' shares VL 1"));
	assert_true(fabs(p.outcome[2].achieved - 0.25) < 0.01);
	plan_fini(&p);
}

static void impossible_goals_are_refused(void **state)
{
	(void)state;
	struct plan_class more[] = { { "a", { 3, 4 }, 2048, false },
				     { "b", { 1, 2 }, 2048, false } };
	struct plan_class none[] = { { "a", { 0, 1 }, 2048, false } };
	struct diag d = { .status = HD_OK };
	struct plan p;

	assert_int_equal(plan_make(more, 2, &(struct plan_link){ 8, 64, 26 }, &d, &p),
			 HD_ERR_RANGE);
	assert_non_null(strstr(d.message, "125%"));
	d = (struct diag){ .status = HD_OK };
	assert_int_equal(plan_make(none, 1, &(struct plan_link){ 8, 64, 26 }, &d, &p),
			 HD_ERR_RANGE);
	d = (struct diag){ .status = HD_OK };
	assert_int_equal(plan_make(none, 0, &(struct plan_link){ 8, 64, 26 }, &d, &p),
			 HD_ERR_RANGE);
}

/* Packets count, not bytes: 45 small ones pass for each large one. */
static void sizes_decide_what_a_limit_is_worth(void **state)
{
	(void)state;
	struct plan_class c[] = { { "a", { 2, 5 }, 64, true },
				  { "b", { 2, 5 }, 4096, true },
				  { "c", { 1, 5 }, 256, false } };
	struct plan_class f[] = { { "c0", { 36, 100 }, 64, false },
				  { "c1", { 38, 100 }, 4096, false },
				  { "c2", { 26, 100 }, 4096, true } };
	const struct plan_link link = { 8, 64, 26 };
	struct diag d = { .status = HD_OK };
	struct plan p;

	/* With limit 0 a and b would have 176 of 176 + 282 bytes together. */
	assert_int_equal(plan_make(c, 3, &link, &d, &p), HD_OK);
	assert_int_equal(p.tables.vlarb.high_limit, 1);
	assert_true(p.outcome[0].floor >= 0.395 && p.outcome[1].floor >= 0.395);
	/*
	 * Worst for c: 31 packets of a, the last one of b, before each of its
	 * own: 62 blocks and 65, 31 * 90 + 4122 bytes.
	 */
	assert_true(fabs(p.outcome[2].floor - 282. / (282 + 31 * 90 + 4122)) < 1e-9);
	plan_fini(&p);
	/* 44 + 1 low packets a round, each behind one of 4122 bytes. */
	assert_int_equal(plan_make(f, 3, &link, &d, &p), HD_OK);
	double round = 44 * 90 + 4122 + 45 * 4122;

	assert_true(fabs(p.outcome[0].floor - 44 * 90 / round) < 1e-9);
	assert_true(fabs(p.outcome[1].floor - 4122 / round) < 1e-9);
	assert_true(fabs(p.outcome[2].floor - 0.5) < 1e-9);
	plan_fini(&p);
}

static void unplanned_sls_go_with_the_least_class(void **state)
{
	(void)state;
	struct plan_class c[] = { { "bulk", { 6, 10 }, 4096, false },
				  { "back", { 1, 10 }, 4096, false },
				  { "soon", { 5, 100 }, 256, true } };
	struct diag d = { .status = HD_OK };
	struct plan p;

	assert_int_equal(plan_make(c, 3, &(struct plan_link){ 8, 64, 26 }, &d, &p), HD_OK);
	for (unsigned sl = 3; sl < N_SLS; sl++)
		assert_int_equal(p.tables.sl2vl.vl[sl], p.outcome[1].vl);
	/* SL 0, of programs that set none, is the largest class that is not served first. */
	assert_int_equal(p.default_class, 0);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(p.tables.sl2vl.vl[p.outcome[i].sl], p.outcome[i].vl);
	plan_fini(&p);
}

/* Five classes on two VLs: classes with low latency have one of them. */
static void latency_and_bulk_classes_share_no_vl(void **state)
{
	(void)state;
	struct plan_class c[] = { { "a", { 1, 10 }, 256, true },
				  { "b", { 2, 10 }, 4096, false },
				  { "c", { 1, 10 }, 2048, true },
				  { "d", { 3, 10 }, 1024, false },
				  { "e", { 1, 10 }, 64, true } };
	struct diag d = { .status = HD_OK };
	struct plan p;

	assert_int_equal(plan_make(c, 5, &(struct plan_link){ 2, 64, 26 }, &d, &p), HD_OK);
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(p.outcome[i].vl, c[i].latency ? 0 : 1);
		assert_true(p.outcome[i].floor == 0);
	}
	plan_fini(&p);
	assert_int_equal(plan_make(c, 5, &(struct plan_link){ 1, 64, 26 }, &d, &p), HD_OK);
	assert_int_equal(p.tables.vlarb.n_high, 0);
	assert_non_null(strstr(p.remarks.text, "nothing is arbitrated"));
	plan_fini(&p);
}

static void small_tables_are_kept_to_or_refused_with_the_count(void **state)
{
	(void)state;
	static const unsigned percent[] = { 30, 20, 15, 10, 10, 10, 5 };
	struct plan_class c[7],
		ends[] = { { "a", { 2, 100 }, 4096, false }, { "b", { 98, 100 }, 4096, false } };
	struct diag d = { .status = HD_OK };
	struct plan p;

	for (unsigned i = 0; i < 7; i++)
		c[i] = (struct plan_class){ "class", { percent[i], 100 }, 4096, false };
	assert_int_equal(plan_make(c, 7, &(struct plan_link){ 8, 8, 26 }, &d, &p), HD_OK);
	assert_int_equal(p.tables.vlarb.n_low, 8);
	for (unsigned i = 0; i < 7; i++)
		assert_true(fabs(p.outcome[i].achieved - percent[i] / 100.) < 0.005);
	plan_fini(&p);
	assert_int_equal(plan_make(c, 7, &(struct plan_link){ 8, 6, 26 }, &d, &p), HD_ERR_RANGE);
	assert_non_null(strstr(d.message, "7 VLs need an entry each"));
	d = (struct diag){ .status = HD_OK };
	assert_int_equal(plan_make(ends, 2, &(struct plan_link){ 8, 8, 26 }, &d, &p), HD_ERR_RANGE);
	assert_non_null(strstr(d.message, "96.55% at most"));
	assert_non_null(strstr(d.message, "takes 11 entries"));
}

static void words_become_classes(void **state)
{
	(void)state;
	char mds[] = "mds=10%,latency,256", mpi[] = "mpi=60%";
	char *words[] = { mds, mpi };
	struct diag d = { .status = HD_OK };
	struct plan_class c[2];

	assert_int_equal(plan_classes_read(words, 2, 4096, &d, c), HD_OK);
	assert_string_equal(c[0].name, "mds");
	assert_int_equal(c[0].payload, 256);
	assert_true(c[0].latency);
	assert_int_equal(10 * c[0].share.num, c[0].share.den);
	assert_string_equal(c[1].name, "mpi");
	assert_int_equal(c[1].payload, 4096);
	assert_false(c[1].latency);
	assert_int_equal(5 * c[1].share.num, 3 * c[1].share.den);
}

static void words_that_are_no_classes_are_refused(void **state)
{
	(void)state;
	const char *const wrong[][2] = {
		{ "mpi", "'mpi' is not a class" },
		{ "=10%", "'=10%' is not a class" },
		{ "a=10%,8KiB", "class 'a': packets have 1 to 2048" },
		{ "a=10%,2049", "class 'a': packets have 1 to 2048" },
		{ "a=10%,0", "class 'a': packets have 1 to 2048" },
		{ "copy=1%", "class 'copy' is given twice" },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char copy[] = "copy=1%", word[32];
		char *words[] = { copy, word };
		struct diag d = { .status = HD_OK };
		struct plan_class c[2];

		strcpy(word, wrong[i][0]);
		assert_int_not_equal(plan_classes_read(words, 2, 2048, &d, c), HD_OK);
		assert_non_null(strstr(d.message, wrong[i][1]));
	}
}

/* A row for each class, and each sentence of the plan as a remark. */
static void a_plan_is_shown_whole(void **state)
{
	(void)state;
	struct plan_class c[] = { { "mds", { 1, 2 }, 256, true },
				  { "bulk", { 1, 2 }, 4096, false } };
	struct results *r = results_new("test");
	struct diag d = { .status = HD_OK };
	struct plan p;

	assert_int_equal(plan_make(c, 2, &(struct plan_link){ 4, 64, 26 }, &d, &p), HD_OK);
	plan_show(&p, c, 2, r);
	const struct table *t = results_find(r, "classes");

	assert_int_equal(t->n_cells, 2 * t->n_columns);
	assert_string_equal(t->cells[3].text, "high");
	assert_string_equal(t->cells[t->n_columns].text, "bulk");
	assert_true(fabs(t->cells[5].real - 50) < 1e-9);
	assert_int_equal(results_find(r, "tables")->cells[1].u, 2);
	size_t lines = 0;

	for (const char *at = p.remarks.text; *at; at++)
		lines += *at == '\n' || at[1] == '\0';
	assert_true(lines > 0);
	assert_int_equal(r->n_remarks, lines + 1); /* service of programs without an SL */
	plan_fini(&p);
	results_free(r);
}

/* Draws one to six classes of several sizes, at most half of them with latency. */
static unsigned draw_classes(struct rng *rng, struct plan_class *c)
{
	static const uint32_t payloads[] = { 256, 1024, 2048, 4096 };
	unsigned n = 1 + (unsigned)rng_below(rng, 6);

	for (unsigned i = 0; i < n; i++)
		c[i] = (struct plan_class){ "class",
					    { 1 + rng_below(rng, 99 / n), 100 },
					    payloads[rng_below(rng, 4)],
					    rng_below(rng, 3) == 0 };
	return n;
}

/* Weights are below a packet only where entries are too few for larger. */
static void check_lines(const struct plan *p, const struct plan_link *link)
{
	const struct opensm_port port = { .scope = OPENSM_SWE,
					  .vls = link->vls,
					  .low_cap = link->entries,
					  .high_cap = link->entries };
	struct opensm_findings findings = { 0 };
	struct strbuf text = STRBUF_INIT;
	struct opensm_tables tables;
	struct opensm_conf conf;

	opensm_export(OPENSM_DEFAULT, &p->tables, &text);
	opensm_conf_read(text.text, &conf);
	opensm_lint(&conf, &port, 4096, &findings);
	for (size_t i = 0; i < findings.n; i++) {
		if (strcmp(findings.items[i].code, "W1") != 0)
			fail_msg("%s of\n%s", findings.items[i].message, text.text);
	}
	opensm_effective(&conf, &port, &tables);
	assert_int_equal(tables.vls, link->vls);
	assert_int_equal(tables.vlarb.high_limit, p->tables.vlarb.high_limit);
	assert_memory_equal(&tables.sl2vl, &p->tables.sl2vl, sizeof(tables.sl2vl));
	opensm_findings_fini(&findings);
	opensm_conf_fini(&conf);
	strbuf_fini(&text);
}

static void lines_of_a_plan_have_no_finding(void **state)
{
	static const unsigned vls[] = { 1, 2, 4, 8, 15 };
	unsigned made = 0;
	struct rng rng;

	(void)state;
	rng_init(&rng, 5, 0);
	for (unsigned i = 0; i < 1000; i++) {
		const struct plan_link link = { vls[rng_below(&rng, 5)],
						1 + (unsigned)rng_below(&rng, 64), 26 };
		struct diag d = { .status = HD_OK };
		struct plan_class c[6];
		unsigned n = draw_classes(&rng, c);
		struct plan p;

		if (plan_make(c, n, &link, &d, &p) != HD_OK)
			continue;
		made++;
		check_lines(&p, &link);
		plan_fini(&p);
	}
	assert_true(made > 500);
}

/* With one VL no class has priority, and the row shows the table. */
static void one_vl_has_one_table(void **state)
{
	const struct plan_class c = { "fast", { 1, 2 }, 2048, true };
	struct results *r = results_new("test");
	struct diag d = { .status = HD_OK };
	struct plan p;

	(void)state;
	assert_int_equal(plan_make(&c, 1, &(struct plan_link){ 1, 64, 26 }, &d, &p), HD_OK);
	plan_show(&p, &c, 1, r);
	const struct table *t = results_find(r, "classes");

	assert_string_equal(t->cells[3].text, "low");
	assert_string_equal(t->cells[4].text, "33");
	results_free(r);
	plan_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_become_weights_of_whole_packets),
		cmocka_unit_test(latency_goes_first_and_is_limited),
		cmocka_unit_test(limit_zero_serves_where_it_is_enough),
		cmocka_unit_test(fewer_vls_than_classes_are_said),
		cmocka_unit_test(impossible_goals_are_refused),
		cmocka_unit_test(sizes_decide_what_a_limit_is_worth),
		cmocka_unit_test(unplanned_sls_go_with_the_least_class),
		cmocka_unit_test(latency_and_bulk_classes_share_no_vl),
		cmocka_unit_test(small_tables_are_kept_to_or_refused_with_the_count),
		cmocka_unit_test(words_become_classes),
		cmocka_unit_test(words_that_are_no_classes_are_refused),
		cmocka_unit_test(a_plan_is_shown_whole),
		cmocka_unit_test(lines_of_a_plan_have_no_finding),
		cmocka_unit_test(one_vl_has_one_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
