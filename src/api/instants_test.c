/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run can be looked at and stopped at any instant: every example, at INSTANTS
 * shares of its simulated time and of its calls of the progress function, on 1
 * to 3 threads. Looking changes nothing; a run that is stopped has results.
 */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/heddle.h"
#include "base/alloc.h"
#include "base/parallel_for.h"
#include "run/examples_for_tests.h"
#include "run/run.h"

static uint64_t n_looks, n_stops, n_numbers;
static const char *looked_at; /* the example */

static struct fabric *load(const struct example *x)
{
	struct diag d = { .status = HD_OK };
	struct fabric *fabric;

	if (fabric_load(x->text.text, x->text.len, x->path, &x->overrides, &d, &fabric) != HD_OK)
		fail_msg("%s: %s", x->path, d.message);
	return fabric;
}

static struct run *begin(const struct example *x, const struct run_options *o)
{
	struct diag d = { .status = HD_OK };
	struct run *s;

	if (run_open(load(x), o, &d, &s) != HD_OK)
		fail_msg("%s: %s", x->path, d.message);
	return s;
}

/* A simulated number is finite, not negative and not wrapped; a share is 0 to 100 %. */
static void check_number(const struct table *t, const struct column *c, const struct value *v)
{
	double number = value_real(v);
	bool is_share = c->unit && strcmp(c->unit, "%") == 0;

	if (c->origin != ORIGIN_SIMULATED || (v->kind != VALUE_UINT && v->kind != VALUE_REAL))
		return;
	if (!isfinite(number) || number < 0 || number >= 0x1p62 ||
	    (is_share && number > 100 * (1 + 1e-9)))
		fail_msg("%s: table '%s', column '%s': %.17g", looked_at, t->name, c->name, number);
	n_numbers++;
}

/* Writes every cell as text. */
static void print_results(const struct results *r, struct strbuf *out)
{
	for (size_t i = 0; i < r->n_remarks; i++)
		strbuf_printf(out, "# %s\n", r->remarks[i]);
	for (size_t k = 0; k < r->n_tables; k++) {
		const struct table *t = r->tables[k];

		strbuf_printf(out, "%s\n", t->name);
		for (size_t i = 0; i < t->n_cells; i++) {
			const struct value *v = &t->cells[i];

			check_number(t, &t->columns[i % t->n_columns], v);
			if (v->kind == VALUE_TEXT)
				strbuf_printf(out, "%s,", v->text);
			else if (v->kind == VALUE_BOOL)
				strbuf_printf(out, "%d,", v->yes);
			else
				strbuf_printf(out, "%.17g,", value_real(v));
		}
	}
}

/* Calls all functions that read a run; out: the results. */
static void look(const struct run *s, bool all, struct strbuf *out)
{
	struct strbuf text = STRBUF_INIT;
	bool met;
	struct results *r = run_results(s, all, &met);
	struct results *record = run_record(s);

	n_looks++;
	strbuf_clear(out);
	strbuf_printf(out, "%d\n", met);
	run_checksum(s, out);
	run_counters(s, out);
	print_results(r, out);
	print_results(record, &text);
	assert_non_null(results_find(r, "summary"));
	results_free(r);
	results_free(record);
	strbuf_fini(&text);
}

/* The run in one go; when it ended. */
static hd_time reference(const struct example *x, const struct run_options *o, struct strbuf *out)
{
	struct run *s = begin(x, o);
	struct diag d = { .status = HD_OK };

	if (run_to_end(s, &d) != HD_OK)
		fail_msg("%s: %s", x->path, d.message);
	look(s, true, out);
	hd_time end = sim_now(run_sim(s));

	run_close(s);
	return end;
}

/* Before the first event, at shares of its time, and at its end. */
static void looks_change_nothing(const struct example *x)
{
	const struct run_options o = { .sampled = true };
	struct strbuf want = STRBUF_INIT, got = STRBUF_INIT;
	struct diag d = { .status = HD_OK };

	looked_at = x->path;
	parallel_set_threads(1);
	hd_time end = reference(x, &o, &want);

	parallel_set_threads(1 + (unsigned)x->number % 3);
	struct run *s = begin(x, &o);

	look(s, false, &got);
	for (unsigned k = 0; k < INSTANTS && !run_is_over(s); k++) {
		/* The first picosecond, and shares that are no round times. */
		hd_time until = end / INSTANTS * k + 1 + k;

		if (until > end)
			break;
		assert_int_equal(run_advance(s, until, &d), HD_OK);
		look(s, k % 2, &got);
	}
	while (!run_is_over(s))
		assert_int_equal(run_advance(s, HD_TIME_NEVER, &d), HD_OK);
	look(s, true, &got);
	if (strcmp(want.text, got.text) != 0)
		fail_msg("%s: a run that was looked at is another", x->path);
	run_close(s);
	strbuf_fini(&want);
	strbuf_fini(&got);
}

/* A progress function whose n-th call returns false. */
struct stopper {
	uint64_t called, stop_at;
	struct hd_run *closes; /* this run, or NULL */
};

static int stop_at(void *context, double share, uint64_t now)
{
	struct stopper *s = context;

	(void)now;
	assert_true(share >= 0 && share <= 1);
	if (s->called++ != s->stop_at)
		return 1;
	hd_run_close(s->closes);
	return s->closes != NULL;
}

static struct hd_run *open_run(const struct example *x, struct stopper *stopper)
{
	struct hd_run_options o = HD_RUN_OPTIONS_INIT;
	struct hd_error e = HD_ERROR_INIT;
	struct hd_setting *settings = hd_alloc(x->overrides.n + 1, sizeof(*settings));
	struct hd_run *run;

	for (size_t i = 0; i < x->overrides.n; i++)
		settings[i] = (struct hd_setting){ x->overrides.items[i].path,
						   x->overrides.items[i].value };
	o.settings = settings;
	o.n_settings = x->overrides.n;
	o.progress = stop_at;
	o.context = stopper;
	o.all = (int)(stopper->stop_at % 2);
	if (hd_run_load(x->text.text, x->text.len, x->path, &o, &run, &e) != HD_DONE)
		fail_msg("%s", e.text);
	free(settings);
	return run;
}

/* By the progress function of the library, and closed from inside it. */
static void a_stop_leaves_results(const struct example *x, bool closes)
{
	struct stopper whole = { .stop_at = UINT64_MAX };
	struct hd_run *run = open_run(x, &whole);

	assert_int_equal(hd_run_go(run, NULL), HD_DONE);
	hd_run_close(run);
	uint64_t n = whole.called < INSTANTS ? whole.called : INSTANTS;

	/* cppcheck-suppress knownConditionTrueFalse; stop_at() has counted */
	for (uint64_t k = 0; k < n; k++) {
		struct stopper s = { .stop_at = whole.called * k / n };

		run = open_run(x, &s);
		s.closes = closes ? run : NULL;
		assert_int_equal(hd_run_go(run, NULL), HD_STOPPED);
		assert_int_equal(s.called, s.stop_at + 1);
		n_stops++;
		if (closes)
			continue;
		assert_non_null(hd_run_table(run, "summary"));
		hd_run_close(run);
	}
}

static void every_run_can_be_looked_at(void **state)
{
	(void)state;
	each_example(HD_SOURCE_DIR, looks_change_nothing);
	printf("%" PRIu64 " looks at %" PRIu64 " numbers\n", n_looks, n_numbers);
}

/* By its owner, at shares of its time: short runs rarely call the progress function. */
static void a_run_ends_at_any_instant(const struct example *x)
{
	const struct run_options o = { .sampled = true };
	struct diag d = { .status = HD_OK };
	struct strbuf got = STRBUF_INIT;
	hd_time end = reference(x, &o, &got);

	for (unsigned k = 0; k < INSTANTS; k++) {
		struct run *s = begin(x, &o);

		assert_int_equal(run_advance(s, end / INSTANTS * k + 1 + k, &d), HD_OK);
		if (!run_is_over(s))
			assert_int_equal(run_stop(s, &d), HD_OK);
		look(s, k % 2, &got);
		run_close(s);
		n_stops++;
	}
	strbuf_fini(&got);
}

static void stop(const struct example *x)
{
	looked_at = x->path;
	for (unsigned k = 0; k < 2; k++) {
		hd_set_threads(1 + 2 * k);
		a_stop_leaves_results(x, k == 1);
	}
	parallel_set_threads(1 + (unsigned)x->number % 3);
	a_run_ends_at_any_instant(x);
}

static void every_run_can_be_stopped(void **state)
{
	(void)state;
	each_example(HD_SOURCE_DIR, stop);
	printf("%" PRIu64 " stops\n", n_stops);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_run_can_be_looked_at),
		cmocka_unit_test(every_run_can_be_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
