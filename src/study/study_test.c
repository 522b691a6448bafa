/* SPDX-License-Identifier: BSD-2-Clause */
#include "study/study.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "study/point.h"
#include "study/tables.h"

static const char scenario[] = "fabric: {topology: {kind: star, hosts: 4}}\n"
			       "traffic:\n- {name: a, kind: poisson, load: 50%, payload: 256}\n"
			       "run: {seed: 7, measure: 10us}\n";

/* A study of the scenario above, with these axes, up to three. */
static enum hd_status make(struct study *s, const char *const *vary, struct diag *d)
{
	enum hd_status status = study_parse(scenario, strlen(scenario), "x.yaml", d, s);

	for (; *vary && status == HD_OK; vary++)
		status = study_vary(s, *vary, d);
	return status;
}

static void put_cells(const struct study *s, struct strbuf *out)
{
	for (size_t i = 0; i < s->n_cells; i++) {
		strbuf_puts(out, i ? " " : "");
		for (size_t k = 0; k < s->n_axes; k++)
			strbuf_printf(out, "%s%s", k ? "/" : "",
				      s->axes[k].values.items[study_value(s, k, s->cells[i])]);
	}
}

#define LOADS "traffic.0.load=10%,20%,30%"
#define VLS   "qos.vls=1,2"

static void axes_span_a_grid(void **state)
{
	static const struct {
		const char *vary[4], *skip, *expected;
	} cases[] = {
		{ { VLS, LOADS }, NULL, "1/10% 1/20% 1/30% 2/10% 2/20% 2/30%" },
		{ { "qos.vls=1,2 & traffic.0.load=10%,20%" }, NULL, "1/10% 2/20%" },
		{ { "qos.vls=1,2 & traffic.0.load=10%,20%", "traffic.0.kind=cbr,poisson" },
		  NULL,
		  "1/10%/cbr 1/10%/poisson 2/20%/cbr 2/20%/poisson" },
		{ { VLS, LOADS },
		  "qos.vls = 2 and traffic.0.load > 0.1",
		  "1/10% 1/20% 1/30% 2/10%" },
		{ { VLS, LOADS }, "traffic.0.load <= 10%, qos.vls != 1", "1/20% 1/30%" },
		{ { VLS, "traffic.0.sl=0,1,2" }, "traffic.0.sl >= qos.vls", "1/0 2/0 2/1" },
		{ { "traffic.0.kind=cbr,poisson", VLS },
		  "traffic.0.kind = cbr and qos.vls = 2",
		  "cbr/1 poisson/1 poisson/2" },
		{ { NULL }, NULL, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct diag d = { .status = HD_OK };
		struct strbuf out = STRBUF_INIT;
		struct study s;

		assert_int_equal(make(&s, cases[i].vary, &d), HD_OK);
		if (cases[i].skip)
			study_append(&s.skip, cases[i].skip);
		s.seeds = 2;
		if (study_resolve(&s, &d) != HD_OK)
			fail_msg("case %zu: %s", i, d.message);
		put_cells(&s, &out);
		assert_string_equal(out.text, cases[i].expected);
		assert_int_equal(s.n_points, 2 * s.n_cells);
		/* Seeds count on from the scenario's. */
		assert_int_equal(study_seed(&s, 0), 7);
		assert_int_equal(study_seed(&s, 1), 8);
		study_fini(&s);
		strbuf_fini(&out);
	}
}

/* Names of fields, those of one field with the same number. */
static const struct {
	unsigned field;
	const char *vary;
} names[] = {
	{ 0, "traffic.0.load=10%,20%" },
	{ 0, "traffic.a.load=10%,20%" },
	{ 0, "traffic[0].load=10%,20%" },
	{ 0, "traffic[a].load=10%,20%" },
	{ 0, "traffic.-.load=10%,20%" },
	{ 0, "traffic.00.load=10%,20%" },
	{ 1, "traffic.0.payload=256,512" },
	{ 1, "traffic.a.payload=256,512" },
	{ 2, "fabric.routing=minhop,updn" },
	{ 2, "fabric.routing.engine=minhop,updn" },
	{ 2, "fabric[routing].engine=minhop,updn" },
	{ 3, "fabric.topology.hosts=4,5" },
	{ 3, "fabric[topology][hosts]=4,5" },
	{ 4, "qos.vls=1,2" },
	{ 4, "qos[vls]=1,2" },
};

static void one_field_under_two_names_is_refused(void **state)
{
	const size_t n = sizeof(names) / sizeof(*names);

	(void)state;
	for (size_t i = 0; i < n * n; i++) {
		const char *vary[3] = { names[i / n].vary, names[i % n].vary };
		struct diag d = { .status = HD_OK };
		struct study s;

		assert_int_equal(make(&s, vary, &d), HD_OK);
		bool refused = study_resolve(&s, &d) == HD_ERR_INPUT;

		if (refused != (names[i / n].field == names[i % n].field))
			fail_msg("%s and %s: '%s'", vary[0], vary[1], d.message);
		study_fini(&s);
	}
}

static void invalid_studies_are_refused(void **state)
{
	static const struct {
		const char *vary[4], *skip, *stop, *find, *part;
	} cases[] = {
		{ { LOADS, LOADS }, .part = "it is given twice" },
		{ { LOADS, "traffic.a.load=10%,20%" },
		  .part = "traffic.a.load: it is varied as 'traffic.0.load', too" },
		{ { "run.seed=1,2" }, .part = "how many seeds" },
		{ { "run[seed]=1,2" }, .part = "how many seeds" },
		{ { "qos.vls=1,2 & traffic.0.load=10%" },
		  .part = "1 values cannot go along with 2" },
		{ { LOADS }, "qos.vls = 2", .part = "not a field" },
		{ { LOADS }, "traffic.0.load < fast", .part = "not a value" },
		{ { LOADS }, "traffic.0.load", .part = "invalid condition" },
		{ { LOADS }, "traffic.0.load > 1%", .part = "none of the 3" },
		{ { "traffic.0.kind=cbr,ge" }, "traffic.0.kind < ge", .part = "are words" },
		{ { LOADS }, .stop = "qos.vls", .part = "names no field" },
		{ { LOADS },
		  .stop = "traffic.0.load when p98 > 1us",
		  .part = "unknown measure 'p98'" },
		{ { LOADS },
		  .find = "largest traffic.0.load with p99 < 5%",
		  .part = "not a value of p99" },
		{ { LOADS }, .find = "largest traffic.0.load", .part = "has no condition" },
		{ { LOADS }, .find = "best", .part = "invalid rule 'best'" },
		{ { "traffic.0.load=20%,10%" }, .stop = "traffic.0.load", .part = "must rise" },
		{ { LOADS },
		  .stop = "traffic.0.load",
		  .find = "largest traffic.0.load with lost = 0",
		  .part = "cannot be used together" },
		{ { "traffic.0.payload=1..2000:1", "traffic.0.sl=0..9:1",
		    "traffic.0.load=1%..51%:1%" },
		  .part = "1020000 points" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct diag d = { .status = HD_OK };
		struct study s;

		assert_int_equal(make(&s, cases[i].vary, &d), HD_OK);
		s.skip = cases[i].skip ? hd_strdup(cases[i].skip) : NULL;
		s.stop = cases[i].stop ? hd_strdup(cases[i].stop) : NULL;
		s.find = cases[i].find ? hd_strdup(cases[i].find) : NULL;
		assert_int_equal(study_resolve(&s, &d), HD_ERR_INPUT);
		if (!strstr(d.message, cases[i].part))
			fail_msg("case %zu: %s", i, d.message);
		study_fini(&s);
	}
}

static void a_recorded_study_comes_back_as_the_same(void **state)
{
	static const char *const vary[] = { "qos.vls=1,2 & traffic.0.load=10%..20%:10%",
					    "traffic.0.kind=cbr,ge", NULL };
	struct diag d = { .status = HD_OK };
	struct strbuf before = STRBUF_INIT, after = STRBUF_INIT;
	struct results *r = results_new("sweep");
	struct study s, again;

	(void)state;
	assert_int_equal(make(&s, vary, &d), HD_OK);
	study_append(&s.skip, "traffic.0.kind = ge and qos.vls = 2");
	study_append(&s.keep, "traffic");
	s.stop = hd_strdup("traffic.0.load when p99 > 1us");
	overrides_put(&s.overrides, "--set", "run.measure", "20us");
	s.seeds = 3;
	assert_int_equal(study_resolve(&s, &d), HD_OK);
	study_describe(&s, &before);
	study_record(&s, r);
	assert_int_equal(study_restore(r, NULL, &d, &again), HD_OK);
	study_describe(&again, &after);
	assert_string_equal(before.text, after.text);
	assert_int_equal(s.n_points, again.n_points);
	strbuf_fini(&before);
	strbuf_fini(&after);
	study_fini(&s);
	study_fini(&again);
	results_free(r);
}

/* ---- searches, on a measure of our making ------------------------------- */

static void set_p99(struct study_sweep *w, size_t point, double p99)
{
	struct results *r = results_new(POINT_COMMAND);
	const struct measures *m = &w->study->measures;
	struct column *columns = hd_alloc(m->n + 1, sizeof(*columns));
	struct value *values = hd_alloc(m->n, sizeof(*values));

	for (size_t i = 0; i < m->n; i++)
		columns[i] = m->items[i].column;
	values[study_measure_index(m, "p99")] = value_of_real(p99);
	table_put_values(results_record(r, "headline", "", columns), values);
	free(columns);
	free(values);
	w->outcomes[point] = (struct point_outcome){ .results = r };
}

/* A condition compares a measure with a value in its unit, and no other. */
static void measures_are_compared_in_their_units(void **state)
{
	static const struct {
		const char *measure, *value;
		double number; /* NAN: no number */
	} rows[] = {
		{ "p99", "2500ns", 2.5 },
		{ "p99", "10", NAN },
		{ "offered", "5000Mb/s", 5 },
		{ "offered", "5us", NAN },
		{ "busiest link", "50%", 50 },
		{ "busiest link", "high", NAN },
		{ "fairness", "0.75", 0.75 },
		{ "fairness", "yes", NAN },
		{ "lost", "5", 5 },
		{ "lost", "no", NAN },
		{ "goals met", "yes", 1 },
		{ "goals met", "no", 0 },
		{ "goals met", "1", NAN },
		{ "completion", "2ms", 2000 },
		{ "completion[b]", "2500ns", 2.5 },
		{ "completion[b]", "2", NAN },
		{ "slowdown[a]", "1.5", 1.5 },
		{ "unfinished jobs", "0", 0 },
		{ "completion[c]", "2us", NAN },
	};
	const char *const jobs[] = { "a", "b" };
	struct measures m;

	(void)state;
	measures_init(&m, study_command_default());
	measures_add_jobs(&m, 2, jobs);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct term t = { (char *)rows[i].measure, RELATION_SAME, (char *)rows[i].value,
				  0 };
		struct diag d = { .status = HD_OK };

		assert_int_equal(study_measure_check(&m, &t, &d),
				 isnan(rows[i].number) ? HD_ERR_INPUT : HD_OK);
		if (isnan(rows[i].number))
			continue;
		double *values = hd_alloc(m.n, sizeof(*values));

		values[study_measure_index(&m, t.left)] = rows[i].number;
		assert_true(study_measure_holds(&m, &t, values));
		values[study_measure_index(&m, t.left)] += 0.5;
		assert_false(study_measure_holds(&m, &t, values));
		free(values);
	}
	measures_fini(&m);
}

/* Bisection finds what a look at every value finds, in few runs. */
static void bisection_finds_the_step(void **state)
{
	static const char *const vary[] = { "traffic.0.load=1%..100%:1%", NULL };

	(void)state;
	for (unsigned step = 0; step <= 100; step++) {
		struct diag d = { .status = HD_OK };
		struct study s;
		struct study_sweep w;
		size_t n, runs = 0;

		assert_int_equal(make(&s, vary, &d), HD_OK);
		s.find = hd_strdup(step % 2 ? "largest traffic.0.load with p99 < 5us"
					    : "smallest traffic.0.load with p99 >= 5us");
		assert_int_equal(study_resolve(&s, &d), HD_OK);
		sweep_init(&w, &s);
		struct sweep_chain *chains = sweep_chains(&s, &n);
		size_t next;

		assert_int_equal(n, 1);
		while (sweep_next(&w, &chains[0], &next)) {
			/* Below the step it is fast, from there on slow. */
			set_p99(&w, chains[0].ranks[next], next < step ? 4.9 : 5);
			runs++;
		}
		size_t found = sweep_found(&w, &chains[0]);

		if (step % 2)
			assert_int_equal(found, step - 1);
		else
			assert_int_equal(found, step < 100 ? step : SIZE_MAX);
		assert_true(runs <= 7);
		sweep_chains_free(chains, n);
		sweep_fini(&w);
		study_fini(&s);
	}
}

/* ---- commands ----------------------------------------------------------- */

struct way_row {
	const char *name;
	double completion, em;
	bool granted;
};

static const struct column way_columns[] = {
	{ "name", NULL, CELL(way_row, name) },
	{ "x", "us", CELL(way_row, completion) },
	{ "em", "%", CELL(way_row, em) },
	{ "granted", NULL, CELL(way_row, granted) },
	{ NULL },
};

static const struct study_measure way_measures[] = {
	{ { "last", "us", VALUE_REAL }, "ways", "x", CURVE_MEAN, REDUCE_LAST },
	{ { "least", "us", VALUE_REAL }, "ways", "x", CURVE_MEAN, REDUCE_LEAST },
	{ { "most", "%", VALUE_REAL }, "ways", "em", CURVE_MEAN, REDUCE_MOST },
	{ { "sum", NULL, VALUE_REAL }, NULL, "granted", CURVE_MEAN, REDUCE_SUM },
	{ { "slowest", "us", VALUE_REAL }, "ways", "x", CURVE_MEAN, REDUCE_SLOWEST },
	{ { "none", NULL, VALUE_REAL }, "elsewhere", "x", CURVE_MEAN },
	{ { "no slowest", "%", VALUE_REAL }, "ways", "em", CURVE_MEAN, REDUCE_SLOWEST },
	{ { "missing", NULL, VALUE_UINT }, "ways", "em", CURVE_MEAN, REDUCE_MISSING },
	{ { "x[tree]", "us", VALUE_REAL }, "ways", "x", CURVE_MEAN, REDUCE_ONE, "tree" },
	{ { "x[ring]", "us", VALUE_REAL }, "ways", "x", CURVE_MEAN, REDUCE_ONE, "ring" },
};

static const struct study_command ways = { "mcast compare", true, way_measures,
					   sizeof(way_measures) / sizeof(*way_measures) };

static void a_headline_is_taken_of_a_command_s_tables(void **state)
{
	const struct way_row rows[] = { { "tree", 7, 3, true }, { "unicast", 2, NAN, false } };
	struct results *all = results_new("x"), *r = results_new("y");
	struct table *t = results_table(all, "ways", "", way_columns);
	struct diag d = { .status = HD_OK };
	struct measures m;

	(void)state;
	measures_init(&m, &ways);
	for (size_t i = 0; i < 2; i++)
		table_put_row(t, &rows[i]);
	assert_int_equal(study_headline_add(&m, all, &d, r), HD_OK);
	const struct table *h = results_find(r, "headline");

	assert_true(table_cell(h, 0, 0)->real == 2);
	assert_true(table_cell(h, 0, 1)->real == 2);
	assert_true(table_cell(h, 0, 2)->real == 3);
	assert_true(table_cell(h, 0, 3)->real == 1);
	assert_true(table_cell(h, 0, 4)->real == 7);
	assert_int_equal(table_cell(h, 0, 5)->kind, VALUE_NONE);
	assert_int_equal(table_cell(h, 0, 6)->kind, VALUE_NONE);
	assert_int_equal(table_cell(h, 0, 7)->u, 1);
	assert_true(table_cell(h, 0, 8)->real == 7);
	assert_int_equal(table_cell(h, 0, 9)->kind, VALUE_NONE);
	/* With a third row, the selection is ambiguous. */
	table_put_row(t, &rows[0]);
	results_drop_last(r);
	assert_int_equal(study_headline_add(&m, all, &d, r), HD_ERR_INPUT);
	assert_non_null(strstr(d.message, "has 3 rows, of which a point selects 2"));
	measures_fini(&m);
	results_free(all);
	results_free(r);
}

static void commands_are_found_by_their_words(void **state)
{
	char *words[] = { "cc", "compare", "x.yaml" };
	char *one[] = { "model ge" };
	char *other[] = { "ccc", "compare" }, *part[] = { "cc" };
	size_t used;

	(void)state;
	assert_string_equal(study_command_of(3, words, &used)->name, "cc compare");
	assert_int_equal(used, 2);
	assert_string_equal(study_command_of(1, one, &used)->name, "model ge");
	assert_int_equal(used, 1);
	assert_null(study_command_of(2, other, &used));
	assert_null(study_command_of(1, part, &used));
	assert_null(study_command_of(0, NULL, &used));
}

/* Options decide as much as the scenario does: no two are the same point. */
static void assert_points_differ(const struct study *s)
{
	struct diag d = { .status = HD_OK };
	struct point_id a, b;

	assert_int_equal(point_identify(s, 0, &d, &a), HD_OK);
	assert_int_equal(point_identify(s, 1, &d, &b), HD_OK);
	assert_string_not_equal(a.key, b.key);
	point_id_fini(&a);
	point_id_fini(&b);
}

static const struct option *const *some_options(const char *command)
{
	static const char *const kinds[] = { "fimd", "cct", NULL };
	static const struct option table[] = {
		{ .name = "algorithm", .kind = OPT_CHOICE, .choices = kinds },
		{ .name = "ack-delay", .kind = OPT_TIME },
		{ .name = "all", .kind = OPT_FLAG },
		{ .name = NULL },
	};
	static const struct option *const tables[] = { table, NULL };

	assert_string_equal(command, "cc compare");
	return tables;
}

/* Fields without a dot are options: any, or those of the command. */
static void options_of_a_command_are_fields_too(void **state)
{
	static const struct {
		const char *vary, *refused; /* NULL: accepted */
		double second;              /* value of the axis; NAN: a word */
	} cases[] = {
		{ "ack-delay=1us,2500ns", NULL, 2.5 },
		{ "algorithm=fimd,cct", NULL, NAN },
		{ "all=no,yes", NULL, NAN },
		{ "traffic.0.load=10%,20%", NULL, 20 },
		{ "algorithm=fimd,lipd", "invalid value 'lipd'", NAN },
		{ "all=no,1", "(yes or no is)", NAN },
		{ "ack-delay=1us,soon", "invalid value 'soon'", NAN },
		{ "delay=1us", "has no such option", NAN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *const vary[] = { cases[i].vary, NULL };
		struct diag d = { .status = HD_OK };
		struct study s;

		assert_int_equal(make(&s, vary, &d), HD_OK);
		s.command_text = hd_strdup("cc compare");
		s.options_of = some_options;
		enum hd_status status = study_resolve(&s, &d);

		if (cases[i].refused) {
			assert_int_equal(status, HD_ERR_INPUT);
			assert_non_null(strstr(d.message, cases[i].refused));
		} else {
			assert_int_equal(status, HD_OK);
			assert_int_equal(s.axes[0].kind == VALUE_TEXT, isnan(cases[i].second));
			if (!isnan(cases[i].second))
				assert_true(s.axes[0].numbers[1] == cases[i].second);
			assert_points_differ(&s);
		}
		study_fini(&s);
	}
}

static void shards_are_named_by_two_numbers_or_slurm(void **state)
{
	static const char *const bad[] = { "", "3", "0/3", "4/3", "1/0", "a/3", "1/3x", "1/-3" };
	struct diag d = { .status = HD_OK };
	size_t shard, n;

	(void)state;
	assert_int_equal(shard_parse("3/10", &d, &shard, &n), HD_OK);
	assert_int_equal(shard, 2);
	assert_int_equal(n, 10);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct diag why = { .status = HD_OK };

		assert_int_equal(shard_parse(bad[i], &why, &shard, &n), HD_ERR_USAGE);
	}
	unsetenv("SLURM_ARRAY_TASK_ID");
	unsetenv("SLURM_ARRAY_TASK_COUNT");
	unsetenv("SLURM_ARRAY_TASK_MAX");
	unsetenv("SLURM_ARRAY_TASK_STEP");
	assert_int_equal(shard_parse("auto", &d, &shard, &n), HD_OK);
	assert_int_equal(shard, 0);
	assert_int_equal(n, 1);
	setenv("SLURM_ARRAY_TASK_ID", "5", 1);
	setenv("SLURM_ARRAY_TASK_MIN", "0", 1);
	setenv("SLURM_ARRAY_TASK_COUNT", "6", 1);
	assert_int_equal(shard_parse("auto", &d, &shard, &n), HD_OK);
	assert_int_equal(shard, 5);
	assert_int_equal(n, 6);
	setenv("SLURM_ARRAY_TASK_ID", "6", 1);
	assert_int_equal(shard_parse("auto", &d, &shard, &n), HD_ERR_USAGE);
}

/* Which shard of how many a task of --array is: "task MIN MAX STEP COUNT". */
static void arrays_of_slurm_have_no_gaps(void **state)
{
	static const struct {
		const char *task, *low, *high, *step, *count;
		size_t shard; /* SIZE_MAX: it is refused */
	} cases[] = {
		{ "1", "1", "10", "1", "10", 0 },
		{ "4", "1", "7", "3", "3", 1 }, /* --array=1-7:3 */
		{ "7", "1", "8", "3", "3", 2 },
		{ "5", "1", "7", "3", "3", SIZE_MAX },
		{ "3", "1", "7", "1", "3", SIZE_MAX }, /* --array=1,3,7 */
		{ "3", "1", "7", "0", "3", SIZE_MAX },
		{ "3", "1", "3", "1", "0", SIZE_MAX },
		{ "3", "4", "6", "1", "3", SIZE_MAX },
		{ "x", "1", "3", "1", "3", SIZE_MAX },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct diag d = { .status = HD_OK };
		size_t shard = SIZE_MAX, n;

		setenv("SLURM_ARRAY_TASK_ID", cases[i].task, 1);
		setenv("SLURM_ARRAY_TASK_MIN", cases[i].low, 1);
		setenv("SLURM_ARRAY_TASK_MAX", cases[i].high, 1);
		setenv("SLURM_ARRAY_TASK_STEP", cases[i].step, 1);
		setenv("SLURM_ARRAY_TASK_COUNT", cases[i].count, 1);
		assert_int_equal(shard_parse("auto", &d, &shard, &n),
				 cases[i].shard == SIZE_MAX ? HD_ERR_USAGE : HD_OK);
		assert_int_equal(shard, cases[i].shard);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(axes_span_a_grid),
		cmocka_unit_test(one_field_under_two_names_is_refused),
		cmocka_unit_test(invalid_studies_are_refused),
		cmocka_unit_test(a_recorded_study_comes_back_as_the_same),
		cmocka_unit_test(measures_are_compared_in_their_units),
		cmocka_unit_test(bisection_finds_the_step),
		cmocka_unit_test(a_headline_is_taken_of_a_command_s_tables),
		cmocka_unit_test(commands_are_found_by_their_words),
		cmocka_unit_test(options_of_a_command_are_fields_too),
		cmocka_unit_test(shards_are_named_by_two_numbers_or_slurm),
		cmocka_unit_test(arrays_of_slurm_have_no_gaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
