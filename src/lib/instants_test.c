/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run can be looked at and stopped at any instant: every example, at INSTANTS
 * shares of its simulated time and of its calls of the progress function, on 1
 * to 3 threads. Looking changes nothing; a run that is stopped has results.
 */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/seeds_for_tests.h"
#include "base/team.h"
#include "lib/heddle.h"
#include "lib/simulation.h"

#define INSTANTS 20
#define EXAMPLES HD_SOURCE_DIR "/examples/"
#define SITE     EXAMPLES "site/site.yaml"

/* One example: its text, and what is made shorter in it. */
struct one {
	const char *path;
	struct strbuf text;
	struct overrides overrides;
	size_t number;
};

static uint64_t n_looks, n_stops;

/* Quick runs compute a first part of every example. */
static void shorten(struct overrides *o)
{
	overrides_put(o, "test", "run.warmup", "3us");
	overrides_put(o, "test", "run.measure", "20us");
	overrides_put(o, "test", "run.horizon", "25us");
}

/* The site has a topology of a file that 'heddle topo gen' would write. */
static void replace_topology(struct strbuf *text)
{
	static const char file[] = "{file: site.ibnet}";
	char *at = strstr(text->text, file);
	struct strbuf whole = STRBUF_INIT;

	assert_non_null(at);
	strbuf_add(&whole, text->text, (size_t)(at - text->text));
	strbuf_puts(&whole, "{kind: fat-tree, radix: 36, levels: 2}");
	strbuf_puts(&whole, at + strlen(file));
	strbuf_fini(text);
	*text = whole;
}

static struct fabric *load(const struct one *x)
{
	struct diag d = { .status = HD_OK };
	struct fabric *f;

	if (fabric_load(x->text.text, x->text.len, x->path, &x->overrides, &d, &f) != HD_OK)
		fail_msg("%s: %s", x->path, d.message);
	return f;
}

static struct simulation *begin(const struct one *x, const struct simulation_options *o)
{
	struct diag d = { .status = HD_OK };
	struct simulation *s;

	if (simulation_new(load(x), o, &d, &s) != HD_OK)
		fail_msg("%s: %s", x->path, d.message);
	return s;
}

/* Every cell as text. */
static void print_results(const struct results *r, struct strbuf *out)
{
	for (size_t i = 0; i < r->n_remarks; i++)
		strbuf_printf(out, "# %s\n", r->remarks[i]);
	for (size_t k = 0; k < r->n_tables; k++) {
		const struct table *t = r->tables[k];

		strbuf_printf(out, "%s\n", t->name);
		for (size_t i = 0; i < t->n_cells; i++) {
			const struct value *v = &t->cells[i];

			if (v->kind == VALUE_TEXT)
				strbuf_printf(out, "%s,", v->text);
			else if (v->kind == VALUE_BOOL)
				strbuf_printf(out, "%d,", v->yes);
			else
				strbuf_printf(out, "%.17g,", value_real(v));
		}
	}
}

/* All that can be asked of a run; out: what it has. */
static void look(const struct simulation *s, bool all, struct strbuf *out)
{
	struct strbuf text = STRBUF_INIT;
	bool met;
	struct results *r = simulation_results(s, all, &met);
	struct results *record = simulation_record(s);

	n_looks++;
	strbuf_clear(out);
	strbuf_printf(out, "%d\n", met);
	simulation_checksum(s, out);
	simulation_counters(s, out);
	print_results(r, out);
	print_results(record, &text);
	assert_non_null(results_find(r, "summary"));
	results_free(r);
	results_free(record);
	strbuf_fini(&text);
}

/* The run in one go; when it ended. */
static hd_time reference(const struct one *x, const struct simulation_options *o,
			 struct strbuf *out)
{
	struct simulation *s = begin(x, o);
	struct diag d = { .status = HD_OK };

	if (simulation_run(s, &d) != HD_OK)
		fail_msg("%s: %s", x->path, d.message);
	look(s, true, out);
	hd_time end = sim_now(simulation_sim(s));

	simulation_free(s);
	return end;
}

/* Before the first event, at shares of its time, and at its end. */
static void looks_change_nothing(const struct one *x)
{
	const struct simulation_options o = { .sampled = true };
	struct strbuf want = STRBUF_INIT, got = STRBUF_INIT;
	struct diag d = { .status = HD_OK };

	team_ask(1);
	hd_time end = reference(x, &o, &want);

	team_ask(1 + (unsigned)x->number % 3);
	struct simulation *s = begin(x, &o);

	look(s, false, &got);
	for (unsigned k = 0; k < INSTANTS && !simulation_is_over(s); k++) {
		/* The first picosecond, and shares that are no round times. */
		hd_time until = end / INSTANTS * k + 1 + k;

		if (until > end)
			break;
		if (k > 0 && !has_its_turn(k % 5, 5, x->number))
			continue;
		assert_int_equal(simulation_advance(s, until, &d), HD_OK);
		look(s, k % 2, &got);
	}
	while (!simulation_is_over(s))
		assert_int_equal(simulation_advance(s, HD_TIME_NEVER, &d), HD_OK);
	look(s, true, &got);
	if (strcmp(want.text, got.text) != 0)
		fail_msg("%s: a run that was looked at is another", x->path);
	simulation_free(s);
	strbuf_fini(&want);
	strbuf_fini(&got);
}

/* A progress function that says no when it is called for the n-th time. */
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

static struct hd_run *open_run(const struct one *x, struct stopper *stopper)
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
static void a_stop_leaves_results(const struct one *x, bool closes)
{
	unsigned stops = cases_of_run(1, INSTANTS);
	struct stopper whole = { .stop_at = UINT64_MAX };
	struct hd_run *run = open_run(x, &whole);

	assert_int_equal(hd_run_go(run, NULL), HD_DONE);
	hd_run_close(run);
	for (unsigned k = 0; k < stops; k++) {
		/* Those of a quick run differ from example to example. */
		uint64_t turn = run_is_long() ? k : (x->number + 7 * k);
		struct stopper s = { .stop_at = whole.called * (turn % INSTANTS) / INSTANTS };

		if (!whole.called)
			break;
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

static void try_example(struct one *x, void (*test)(const struct one *x))
{
	struct diag d = { .status = HD_OK };

	x->text = (struct strbuf)STRBUF_INIT;
	x->overrides = (struct overrides){ .items = NULL };
	assert_int_equal(file_read(x->path, 1 << 20, &d, &x->text), HD_OK);
	if (strcmp(x->path, SITE) == 0)
		replace_topology(&x->text);
	/* A study is no scenario. */
	if (!strstr(x->text.text, "\nscenario:")) {
		if (!run_is_long())
			shorten(&x->overrides);
		test(x);
	}
	overrides_fini(&x->overrides);
	strbuf_fini(&x->text);
}

static void each_example(void (*test)(const struct one *x))
{
	glob_t found;

	assert_int_equal(glob(EXAMPLES "*.yaml", 0, NULL, &found), 0);
	assert_int_equal(glob(SITE, GLOB_APPEND, NULL, &found), 0);
	assert_true(found.gl_pathc > 30);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct one x = { .path = found.gl_pathv[i], .number = i };

		/* With sanitizers every third, and those with jobs. */
		if (cases_of_run(3, 3) == 3 || i % 3 == 0 || strstr(x.path, "job"))
			try_example(&x, test);
	}
	globfree(&found);
}

static void every_run_can_be_looked_at(void **state)
{
	(void)state;
	each_example(looks_change_nothing);
	printf("%llu looks\n", (unsigned long long)n_looks);
}

static void stop(const struct one *x)
{
	for (unsigned k = 0; k < 2; k++) {
		hd_set_threads(1 + 2 * k);
		if (has_its_turn(k, 2, x->number))
			a_stop_leaves_results(x, k == 1);
	}
}

static void every_run_can_be_stopped(void **state)
{
	(void)state;
	each_example(stop);
	printf("%llu stops\n", (unsigned long long)n_stops);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_run_can_be_looked_at),
		cmocka_unit_test(every_run_can_be_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
