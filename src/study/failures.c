/* SPDX-License-Identifier: BSD-2-Clause */
#include "study/failures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "study/sweep.h"

/* ---- what a run says ---------------------------------------------------- */

enum verdict { REFUSED, LOSES, HANGS, MISSES, RUNS };
static const char *const verdict_names[] = { "refused", "loses ranks", "hangs", "misses goals",
					     "runs" };

struct suffering {
	const struct failure *of;
	enum verdict verdict;
	double slowdown;  /* of the slowest job; NAN without jobs */
	double delivered; /* share of the previous value in %; NAN: it was 0 */
	double p99, lost;
	const char *why; /* refused */
};

static double cell_of(const struct table *t, size_t row, const char *name)
{
	const struct value *v = table_cell_of(t, row, name);

	return v->kind == VALUE_BOOL ? v->yes : value_real(v);
}

static double measured(const struct study_sweep *w, size_t point, const char *name)
{
	return sweep_mean(w, point, study_measure_index(&w->study->measures, name), NULL);
}

/* Whether a job has fewer ranks: then its time says nothing. */
static bool loses_ranks(const struct results *now, const struct results *was)
{
	const struct table *a = results_find(now, "jobs");
	const struct table *b = results_find(was, "jobs");

	for (size_t i = 0; a && b && i < table_rows(a); i++) {
		if (cell_of(a, i, "ranks") != cell_of(b, i, "ranks"))
			return true;
	}
	return false;
}

static bool misses_goals(const struct results *now)
{
	for (size_t k = 0; k < now->n_tables; k++) {
		const struct table *t = now->tables[k];

		for (size_t i = 0; table_is_goals(t) && i < table_rows(t); i++) {
			if (cell_of(t, i, "met") == 0)
				return true;
		}
	}
	return false;
}

/* Slowdown of the slowest job; INFINITY if a job does not end. */
static double slowdown_of(const struct results *now, const struct results *was)
{
	const struct table *a = results_find(now, "jobs");
	const struct table *b = results_find(was, "jobs");
	double most = NAN;

	for (size_t i = 0; a && b && i < table_rows(a); i++) {
		double ends = cell_of(a, i, "completion");
		double ended = cell_of(b, i, "completion");

		if (isnan(ended))
			continue;
		if (isnan(ends))
			return INFINITY;
		most = isnan(most) ? ends / ended : fmax(most, ends / ended);
	}
	return most;
}

/* Point 0 is the scenario as it is. */
static struct suffering suffering_of(const struct study_sweep *w, size_t point,
				     const struct failure *of)
{
	const struct point_outcome *now = &w->outcomes[point];
	struct suffering s = {
		.of = of, .slowdown = NAN, .delivered = NAN, .p99 = NAN, .lost = NAN
	};

	if (!now->results) {
		s.why = now->failure;
		return s;
	}
	const struct results *whole = w->outcomes[0].results;
	double before = measured(w, 0, "delivered");
	bool loses = loses_ranks(now->results, whole);

	if (!loses)
		s.slowdown = slowdown_of(now->results, whole);
	if (before > 0)
		s.delivered = 100 * measured(w, point, "delivered") / before;
	s.p99 = measured(w, point, "p99");
	s.lost = measured(w, point, "lost");
	s.verdict = loses                        ? LOSES
		    : isinf(s.slowdown)          ? HANGS
		    : misses_goals(now->results) ? MISSES
						 : RUNS;
	return s;
}

static int compare_reals(double a, double b)
{
	return isnan(a) || isnan(b) ? isnan(a) - isnan(b) : (a > b) - (a < b);
}

static int worse_first(const void *a, const void *b)
{
	const struct suffering *x = a, *y = b;
	int order = (int)x->verdict - (int)y->verdict;

	order = order ? order : compare_reals(y->slowdown, x->slowdown);
	order = order ? order : compare_reals(x->delivered, y->delivered);
	order = order ? order : compare_reals(y->p99, x->p99);
	return order ? order : (x->of > y->of) - (x->of < y->of);
}

/* ---- showing them ------------------------------------------------------- */

struct failure_row {
	const char *name, *verdict;
	double slowdown, delivered, p99, lost;
	const char *why;
};

static const struct column columns[] = {
	{ "failure", NULL, CELL(failure_row, name) },
	{ "verdict", NULL, CELL(failure_row, verdict), ORIGIN_SIMULATED },
	{ "slowdown", NULL, CELL(failure_row, slowdown), ORIGIN_SIMULATED, 4 },
	{ "delivered", "%", CELL(failure_row, delivered), ORIGIN_SIMULATED, 2 },
	{ "p99", "us", CELL(failure_row, p99), ORIGIN_SIMULATED, 3 },
	{ "lost", NULL, CELL(failure_row, lost), ORIGIN_SIMULATED },
	{ "why refused", NULL, CELL(failure_row, why) },
	{ NULL },
};

static void show(const struct suffering *all, size_t n, struct results *r)
{
	struct table *t = results_table(
		r, "simulated failures",
		"the same scenario without them, the worst first; slowdown of the slowest job, delivered of what was",
		columns);

	for (size_t i = 0; i < n; i++) {
		const struct suffering *s = &all[i];

		table_put_row(t, &(struct failure_row){
					 .name = s->of->name,
					 .verdict = verdict_names[s->verdict],
					 .slowdown = isinf(s->slowdown) ? NAN : s->slowdown,
					 .delivered = s->delivered,
					 .p99 = s->p99,
					 .lost = s->lost,
					 .why = s->why });
	}
}

/* ---- running them ------------------------------------------------------- */

static void vary(const struct failures *f, struct strbuf *out)
{
	strbuf_puts(out, "fabric.failed_links=none");
	for (size_t i = 0; i < f->n; i++)
		strbuf_printf(out, ",[%s]", f->items[i].without);
}

static enum hd_status make_study(const struct failures *f, struct diag *d, struct study *out)
{
	struct strbuf axis = STRBUF_INIT;
	enum hd_status status = study_read(f->path, f->overrides, d, out);

	vary(f, &axis);
	if (status == HD_OK)
		status = study_vary(out, axis.text, d);
	if (status == HD_OK) {
		study_append(&out->keep, "jobs, goals, job goals");
		status = study_resolve(out, d);
	}
	strbuf_fini(&axis);
	return status;
}

/* Judges the completed runs; returns their number. */
static size_t judge_runs(const struct failures *f, const struct study_sweep *w,
			 struct suffering *all, bool *is_well)
{
	enum verdict whole = suffering_of(w, 0, NULL).verdict;
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++) {
		if (!point_outcome_is_known(&w->outcomes[i + 1]))
			continue;
		all[n] = suffering_of(w, i + 1, &f->items[i]);
		if (all[n++].verdict < whole)
			*is_well = false;
	}
	return n;
}

static enum hd_status judge(const struct failures *f, const struct study_sweep *w, struct diag *d,
			    struct results *out, bool *is_well)
{
	const struct point_outcome *whole = &w->outcomes[0];
	struct suffering *all = hd_alloc(f->n, sizeof(*all));
	size_t n = 0;

	*is_well = true;
	/* Without the whole one there is nothing to measure others by. */
	if (whole->results)
		n = judge_runs(f, w, all, is_well);
	else if (!w->interrupted)
		diag_fail(d, HD_ERR_INPUT, "%s",
			  whole->failure ? whole->failure : "the scenario was not run");
	if (n)
		qsort(all, n, sizeof(*all), worse_first);
	if (d->status == HD_OK)
		show(all, n, out);
	if (w->interrupted && n < f->n)
		results_remark(out, "interrupted after %zu of %zu runs",
			       n + (whole->results ? 1 : 0), f->n + 1);
	free(all);
	return d->status;
}

enum hd_status failures_simulate(const struct failures *f, struct diag *d, struct results *out,
				 bool *is_well)
{
	struct study study = { 0 };
	struct study_sweep w;
	enum hd_status status = make_study(f, d, &study);

	if (status == HD_OK) {
		sweep_init(&w, &study);
		w.at_once = f->at_once;
		w.tick = f->tick;
		w.context = f->context;
		status = sweep_run(&w, d);
		if (status == HD_OK)
			status = judge(f, &w, d, out, is_well);
		sweep_fini(&w);
	}
	study_fini(&study);
	return status;
}
