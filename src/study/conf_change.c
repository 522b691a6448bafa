/* SPDX-License-Identifier: BSD-2-Clause */
#include "study/conf_change.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "measure/interval.h"
#include "scenario/scenario.h"
#include "study/compare.h"
#include "study/sweep.h"

#define LEVEL  0.95
#define CHANCE 0.05 /* of the sign test */

/* ---- pairs of one seed --------------------------------------------------- */

struct conf_change_intervals {
	/* cppcheck-suppress unusedStructMember; a column shows `after` */
	struct interval before, after, difference;
};

/* Statistics over the pairs that have both numbers. */
static struct conf_change_intervals intervals_of(const struct conf_change_pair *pairs, size_t n)
{
	double *before = hd_alloc(3 * n, sizeof(*before));
	double *after = before + n, *difference = after + n;
	size_t both = 0;

	for (size_t i = 0; i < n; i++) {
		if (isnan(pairs[i].before) || isnan(pairs[i].after))
			continue;
		before[both] = pairs[i].before;
		after[both] = pairs[i].after;
		difference[both] = pairs[i].after - pairs[i].before;
		both++;
	}
	const struct conf_change_intervals in = {
		.before = interval_of(before, both, LEVEL),
		.after = interval_of(after, both, LEVEL),
		.difference = interval_of(difference, both, LEVEL),
	};

	free(before);
	return in;
}

/* -1, 0 or 1: known to be lower, not known, known to be higher. */
static int direction_of(const struct interval *difference)
{
	return difference->mean - difference->half_width > 0   ? 1
	       : difference->mean + difference->half_width < 0 ? -1
							       : 0;
}

/* P(X >= k) of n tosses of a coin. */
static double tail_of(size_t k, size_t n)
{
	double sum = 0, term = pow(0.5, (double)n);

	for (size_t i = 0; i <= n; i++) {
		sum += i >= k ? term : 0;
		term *= (double)(n - i) / (double)(i + 1);
	}
	return sum;
}

/* ---- goals --------------------------------------------------------------- */

static const struct {
	const char *unit, *as;
	double factor;
} units[] = {
	{ "ps", "us", 1e-6 }, { "ns", "us", 1e-3 }, { "us", "us", 1 },     { "ms", "us", 1e3 },
	{ "s", "us", 1e6 },   { "%", "%", 1 },      { "Gb/s", "Gb/s", 1 },
};

/* A number as goals have it: "2.408 us"; NAN if none was found. */
static double read_found(const char *text, const char **unit)
{
	char *end;
	double number = strtod(text, &end);

	if (end == text)
		return NAN;
	end += strspn(end, " ");
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(end, units[i].unit) == 0) {
			*unit = units[i].as;
			return number * units[i].factor;
		}
	}
	return number;
}

static struct conf_change_goal *goal_of(struct conf_change_goals *g, const char *of,
					const char *goal, const char *asked)
{
	for (size_t i = 0; i < g->n; i++) {
		struct conf_change_goal *x = &g->items[i];

		if (strcmp(x->of, of) == 0 && strcmp(x->goal, goal) == 0 &&
		    strcmp(x->asked, asked) == 0)
			return x;
	}
	g->items = hd_grow(g->items, &g->cap, g->n + 1, sizeof(*g->items));
	g->items[g->n] = (struct conf_change_goal){
		.of = hd_strdup(of), .goal = hd_strdup(goal), .asked = hd_strdup(asked), .unit = ""
	};
	return &g->items[g->n++];
}

/* The pair of the seed at hand; goals that a run does not have are met there. */
static struct conf_change_pair *pair_of(struct conf_change_goal *goal, size_t seed)
{
	size_t had = goal->cap;

	goal->pairs = hd_grow(goal->pairs, &goal->cap, seed + 1, sizeof(*goal->pairs));
	for (size_t i = had; i < goal->cap; i++)
		goal->pairs[i] = (struct conf_change_pair){ NAN, NAN, true, true };
	return &goal->pairs[seed];
}

static void note(struct conf_change_goals *g, struct conf_change_goal *goal, bool after,
		 double found, bool met)
{
	struct conf_change_pair *p = pair_of(goal, g->seeds);

	*(after ? &p->after : &p->before) = found;
	*(after ? &p->met_after : &p->met_before) = met;
}

static void note_implied(struct conf_change_goals *g, const char *of, const char *goal, bool after,
			 bool met)
{
	struct conf_change_goal *x = goal_of(g, of, goal, "yes");

	x->is_implied = true;
	note(g, x, after, NAN, met);
}

static void read_goals(struct conf_change_goals *g, const struct results *r, bool after)
{
	for (size_t k = 0; k < r->n_tables; k++) {
		const struct table *t = r->tables[k];

		for (size_t i = 0; table_is_goals(t) && i < table_rows(t); i++) {
			struct conf_change_goal *x = goal_of(g, table_cell(t, i, 0)->text,
							     table_cell_of(t, i, "goal")->text,
							     table_cell_of(t, i, "asked")->text);
			double found = read_found(table_cell_of(t, i, "found")->text, &x->unit);

			note(g, x, after, found, table_cell_of(t, i, "met")->yes);
		}
	}
	const struct table *jobs = results_find(r, "jobs");

	for (size_t i = 0; jobs && i < table_rows(jobs); i++)
		note_implied(g, table_cell_of(jobs, i, "job")->text, "ends", after,
			     !isnan(value_real(table_cell_of(jobs, i, "completion"))));
	note_implied(g, "run", "no deadlock", after, !results_find(r, "deadlock"));
}

void conf_change_goals_add(struct conf_change_goals *g, const struct results *before,
			   const struct results *after)
{
	read_goals(g, before, false);
	read_goals(g, after, true);
	g->seeds++;
}

void conf_change_goals_fini(struct conf_change_goals *g)
{
	for (size_t i = 0; i < g->n; i++) {
		free(g->items[i].of);
		free(g->items[i].goal);
		free(g->items[i].asked);
		free(g->items[i].pairs);
	}
	free(g->items);
	*g = (struct conf_change_goals){ 0 };
}

struct met_counts {
	size_t before, after;
	size_t lost, won; /* seeds that met it before only, and after only */
};

static struct met_counts count_met(const struct conf_change_goal *goal, size_t seeds)
{
	struct met_counts n = { 0 };

	for (size_t i = 0; i < seeds; i++) {
		const struct conf_change_pair *p = &goal->pairs[i];

		n.before += p->met_before;
		n.after += p->met_after;
		n.lost += p->met_before && !p->met_after;
		n.won += p->met_after && !p->met_before;
	}
	return n;
}

enum conf_change_verdict conf_change_goal_verdict(const struct conf_change_goal *goal, size_t seeds)
{
	struct met_counts n = count_met(goal, seeds);
	struct conf_change_intervals in = intervals_of(goal->pairs, seeds);
	/* "<= 1us": lower is better. */
	int better = direction_of(&in.difference) * (goal->asked[0] == '<' ? -1 : 1);

	if (n.after == seeds)
		return n.before == seeds ? CONF_CHANGE_KEPT : CONF_CHANGE_BETTER;
	if (better < 0 || (n.lost > n.won && tail_of(n.lost, n.lost + n.won) <= CHANCE))
		return CONF_CHANGE_WORSE;
	if (n.after < n.before)
		return CONF_CHANGE_OPEN;
	return better > 0 ? CONF_CHANGE_BETTER : CONF_CHANGE_MISSED;
}

bool conf_change_goals_are_stated(const struct conf_change_goals *g)
{
	for (size_t i = 0; i < g->n; i++) {
		if (!g->items[i].is_implied)
			return true;
	}
	return false;
}

static bool is_any(const struct conf_change_goals *g, enum conf_change_verdict verdict)
{
	for (size_t i = 0; i < g->n; i++) {
		if (conf_change_goal_verdict(&g->items[i], g->seeds) == verdict)
			return true;
	}
	return false;
}

bool conf_change_goals_are_worse(const struct conf_change_goals *g)
{
	return is_any(g, CONF_CHANGE_WORSE);
}

bool conf_change_goals_are_better(const struct conf_change_goals *g)
{
	return is_any(g, CONF_CHANGE_BETTER);
}

struct goal_change_row {
	const char *of, *goal, *asked, *unit, *met_before, *met_after, *verdict;
	struct conf_change_intervals in;
};

static const struct column goal_columns[] = {
	{ "of", NULL, CELL(goal_change_row, of) },
	{ "goal", NULL, CELL(goal_change_row, goal) },
	{ "asked", NULL, CELL(goal_change_row, asked) },
	{ "before", NULL, CELL(goal_change_row, in.before.mean), ORIGIN_SIMULATED, 3 },
	{ "before +-", NULL, CELL(goal_change_row, in.before.half_width), ORIGIN_SIMULATED, 3 },
	{ "after", NULL, CELL(goal_change_row, in.after.mean), ORIGIN_SIMULATED, 3 },
	{ "after +-", NULL, CELL(goal_change_row, in.after.half_width), ORIGIN_SIMULATED, 3 },
	{ "unit", NULL, CELL(goal_change_row, unit) },
	{ "met before", NULL, CELL(goal_change_row, met_before), ORIGIN_SIMULATED },
	{ "met after", NULL, CELL(goal_change_row, met_after), ORIGIN_SIMULATED },
	{ "verdict", NULL, CELL(goal_change_row, verdict), ORIGIN_SIMULATED },
	{ NULL },
};

static void put_goal(const struct conf_change_goal *goal, size_t seeds, struct table *t)
{
	static const char *const verdicts[] = {
		[CONF_CHANGE_KEPT] = "kept",     [CONF_CHANGE_BETTER] = "better",
		[CONF_CHANGE_MISSED] = "missed", [CONF_CHANGE_OPEN] = "cannot tell",
		[CONF_CHANGE_WORSE] = "worse",
	};
	struct met_counts n = count_met(goal, seeds);
	const struct goal_change_row row = {
		.of = goal->of,
		.goal = goal->goal,
		.asked = goal->asked,
		.unit = goal->unit,
		.met_before = table_text(t, "%zu of %zu", n.before, seeds),
		.met_after = table_text(t, "%zu of %zu", n.after, seeds),
		.verdict = verdicts[conf_change_goal_verdict(goal, seeds)],
		.in = intervals_of(goal->pairs, seeds),
	};

	if (!goal->is_implied || n.before < seeds || n.after < seeds)
		table_put_row(t, &row);
}

void conf_change_goals_table(const struct conf_change_goals *g, struct results *r)
{
	struct table *t = results_table(
		r, "goals", "before and after the change: means over the seeds, 95 % intervals",
		goal_columns);

	for (size_t i = 0; i < g->n; i++)
		put_goal(&g->items[i], g->seeds, t);
	if (!table_rows(t))
		results_drop_last(r);
}

/* ---- classes and jobs ---------------------------------------------------- */

struct measure_change_row {
	const char *of, *measure, *unit, *verdict;
	struct conf_change_intervals in;
	double percent, percent_half_width;
};

static const struct column class_columns[] = {
	{ "class", NULL, CELL(measure_change_row, of) },
	{ "measure", NULL, CELL(measure_change_row, measure) },
	{ "before", NULL, CELL(measure_change_row, in.before.mean), ORIGIN_SIMULATED, 3 },
	{ "before +-", NULL, CELL(measure_change_row, in.before.half_width), ORIGIN_SIMULATED, 3 },
	{ "after", NULL, CELL(measure_change_row, in.after.mean), ORIGIN_SIMULATED, 3 },
	{ "after +-", NULL, CELL(measure_change_row, in.after.half_width), ORIGIN_SIMULATED, 3 },
	{ "unit", NULL, CELL(measure_change_row, unit) },
	{ "change", "%", CELL(measure_change_row, percent), ORIGIN_SIMULATED, 1 },
	{ "change +-", "%", CELL(measure_change_row, percent_half_width), ORIGIN_SIMULATED, 1 },
	{ "verdict", NULL, CELL(measure_change_row, verdict), ORIGIN_SIMULATED },
	{ NULL },
};

/* One number of a run: the sum over the rows of a table that are `of`. */
struct measure {
	const char *table, *key, *column, *name, *unit;
	bool lower_is_better;
};

static const struct measure class_measures[] = {
	{ "traffic", "SL", "delivered", "delivered", "Gb/s", false },
	{ "service levels", "SL", "mean", "mean latency", "us", true },
	{ "service levels", "SL", "p99", "p99 latency", "us", true },
	{ NULL },
};

static const struct measure job_measures[] = {
	{ "jobs", "job", "completion", "completion", "us", true },
	{ "jobs", "job", "slowdown", "slowdown", "", true },
	{ NULL },
};

static double measure_in(const struct results *r, const struct measure *m, const struct value *of)
{
	const struct table *t = results_find(r, m->table);
	double sum = NAN;

	for (size_t i = 0; t && i < table_rows(t); i++) {
		const struct value *key = table_cell_of(t, i, m->key);
		double found = value_real(table_cell_of(t, i, m->column));
		bool is_it = key->kind == VALUE_TEXT ? strcmp(key->text, of->text) == 0
						     : key->u == of->u;

		if (is_it && !isnan(found))
			sum = isnan(sum) ? found : sum + found;
	}
	return sum;
}

/* The runs of a comparison: those of the first file, then those of the second. */
static const struct results *run_of(const struct study_sweep *w, bool after, size_t seed)
{
	return w->outcomes[(after ? w->study->seeds : 0) + seed].results;
}

/* Seeds, from the first, that both files were run with: all of them, unless interrupted. */
static size_t pairs_of(const struct study_sweep *w)
{
	size_t n = 0;

	while (n < w->study->seeds && run_of(w, false, n) && run_of(w, true, n))
		n++;
	return n;
}

static void put_measure(const struct study_sweep *w, const struct measure *m,
			const struct value *of, const char *name, struct table *t)
{
	size_t n = pairs_of(w);
	struct conf_change_pair *pairs = hd_alloc(n, sizeof(*pairs));

	for (size_t i = 0; i < n; i++) {
		pairs[i].before = measure_in(run_of(w, false, i), m, of);
		pairs[i].after = measure_in(run_of(w, true, i), m, of);
	}
	struct measure_change_row row = {
		.of = name, .measure = m->name, .unit = m->unit, .in = intervals_of(pairs, n)
	};
	int better = direction_of(&row.in.difference) * (m->lower_is_better ? -1 : 1);

	row.percent = 100 * row.in.difference.mean / row.in.before.mean;
	row.percent_half_width = 100 * row.in.difference.half_width / row.in.before.mean;
	row.verdict = better > 0 ? "better" : better < 0 ? "worse" : "no difference known";
	free(pairs);
	table_put_row(t, &row);
}

/* SLs that some row of traffic has, by their classes. */
static void put_classes(const struct study_sweep *w, const struct scenario *s, struct results *out)
{
	const struct table *traffic = results_find(run_of(w, false, 0), "traffic");
	struct table *t = NULL;
	uint16_t seen = 0;

	for (size_t i = 0; traffic && i < table_rows(traffic); i++) {
		const struct value *sl = table_cell_of(traffic, i, "SL");
		const struct scn_class *class = scenario_class_of_sl(s, (unsigned)sl->u);
		char number[16];

		if (seen & 1u << sl->u)
			continue;
		seen |= (uint16_t)(1u << sl->u);
		snprintf(number, sizeof(number), "SL %u", (unsigned)sl->u);
		if (!t)
			t = results_table(out, "classes",
					  "what each class of traffic got, before and after",
					  class_columns);
		for (const struct measure *m = class_measures; m->name; m++)
			put_measure(w, m, sl, class ? class->name : number, t);
	}
}

static void put_jobs(const struct study_sweep *w, struct results *out)
{
	const struct table *jobs = results_find(run_of(w, false, 0), "jobs");
	size_t n = sizeof(class_columns) / sizeof(*class_columns);
	struct column columns[sizeof(class_columns) / sizeof(*class_columns)];

	if (!jobs || !table_rows(jobs))
		return;
	memcpy(columns, class_columns, n * sizeof(*columns));
	columns[0].name = "job";
	struct table *t =
		results_table(out, "jobs", "what each job took, before and after", columns);

	for (size_t i = 0; i < table_rows(jobs); i++) {
		const struct value *job = table_cell_of(jobs, i, "job");

		for (const struct measure *m = job_measures; m->name; m++)
			put_measure(w, m, job, job->text, t);
	}
}

/* ---- the runs ------------------------------------------------------------ */

struct conf_change_context {
	bool worse;
};

static const char *first_failure(const struct study_sweep *w)
{
	for (size_t i = 0; i < w->study->n_points; i++) {
		if (w->outcomes[i].failure)
			return w->outcomes[i].failure;
	}
	return NULL;
}

static void put_remarks(const struct study_comparison *c, size_t pairs,
			const struct conf_change_goals *g, struct results *out)
{
	results_remark(out, "before: %s; after: %s; each on seeds %llu to %llu", c->values[0],
		       c->values[1], (unsigned long long)c->seed,
		       (unsigned long long)(c->seed + pairs - 1));
	if (!conf_change_goals_are_stated(g))
		results_remark(
			out,
			"the scenario has no goals, so only jobs that do not end and deadlocks count");
	if (is_any(g, CONF_CHANGE_OPEN))
		results_remark(
			out,
			"cannot tell: fewer seeds meet a goal than before, but that may be chance; repeat with more --seeds");
}

static enum hd_status put_change(struct study_comparison *c, const struct study_sweep *w,
				 struct diag *d, struct results *out)
{
	struct conf_change_context *x = c->tables_context;
	const char *failure = first_failure(w);
	size_t pairs = pairs_of(w);
	struct conf_change_goals goals = { 0 };
	struct scenario s;

	if (failure) {
		d->file = NULL;
		return diag_fail(d, HD_ERR_INPUT, "%s", failure);
	}
	if (w->interrupted)
		results_remark(out, "interrupted after %zu of %zu seeds with both files", pairs,
			       (size_t)w->study->seeds);
	if (pairs < CONF_CHANGE_LEAST_SEEDS)
		return HD_OK;
	enum hd_status status = scenario_parse(w->study->base, strlen(w->study->base),
					       w->study->base_file, &w->study->overrides, d, &s);

	if (status == HD_OK) {
		for (size_t i = 0; i < pairs; i++)
			conf_change_goals_add(&goals, run_of(w, false, i), run_of(w, true, i));
		x->worse = conf_change_goals_are_worse(&goals);
		conf_change_goals_table(&goals, out);
		put_classes(w, &s, out);
		put_jobs(w, out);
		put_remarks(c, pairs, &goals, out);
		conf_change_goals_fini(&goals);
	}
	scenario_fini(&s);
	return status;
}

enum hd_status conf_change_run(struct study_comparison *c, struct diag *d, struct results *out,
			       bool *worse)
{
	struct conf_change_context x = { .worse = false };

	for (size_t i = 0; i < c->n; i++) {
		if (strchr(c->values[i], ','))
			return diag_fail(
				d, HD_ERR_INPUT,
				"%s: a name with a comma cannot be compared; copy the file to another name",
				c->values[i]);
	}
	c->field = "qos.opensm";
	c->label = "opensm.conf";
	c->all = true; /* 'service levels' is among those */
	c->tables = put_change;
	c->tables_context = &x;
	enum hd_status status = comparison_run(c, d, out);

	c->tables_context = NULL;
	*worse = x.worse;
	return status;
}
