/* SPDX-License-Identifier: BSD-2-Clause */
#include "paper/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "measure/interval.h"
#include "paper/value.h"

#define LEVEL 0.95 /* of intervals over repetitions */
#define FLAT  1e-9 /* of a value: a change that arithmetic may have made */

/* A check, tried on the results: what all of its cases share. */
struct check_context {
	const struct paper_check *check;
	const struct results *results;
	struct strbuf missing;
};

/* Result of one case. */
struct finding {
	enum paper_verdict verdict;
	bool unclear;  /* an exception that chance may have made */
	double value;  /* judged */
	double beyond; /* how far it is on the wrong side */
	char *text;    /* if it is no number */
};

/* ---- numbers of a case -------------------------------------------------- */

/* The number, or its ratio to another one. */
static double ratio(struct check_context *t, const struct bindings *in)
{
	const struct paper_check *c = t->check;
	struct paper_cells f = { 0 }, other = { 0 };
	double x = NAN;

	if (paper_value_find(&c->value, t->results, in, &f, &t->missing))
		x = paper_cells_reduce(&f, &c->value, &t->missing);
	if (c->against.table && !t->missing.len &&
	    paper_value_find(&c->against, t->results, in, &other, &t->missing))
		x /= paper_cells_reduce(&other, &c->against, &t->missing);
	paper_cells_fini(&f);
	paper_cells_fini(&other);
	return x;
}

/*
 * The cells that differ in a column, of rows of the case in their order; NULL
 * without that column.
 */
static const struct value **distinct(struct check_context *t, const char *name,
				     const struct bindings *in, size_t *n)
{
	const struct value **cells = NULL;
	struct paper_cells f;
	size_t cap = 0;

	*n = 0;
	if (!paper_value_find(&t->check->value, t->results, in, &f, &t->missing)) {
		paper_cells_fini(&f);
		return NULL;
	}
	size_t column = paper_column_find(f.table, name, strlen(name));

	if (column == f.table->n_columns)
		strbuf_printf(&t->missing, "table '%s' has no column '%s'", f.table->name, name);
	for (size_t i = 0; i < f.n && column < f.table->n_columns; i++) {
		const struct value *v = table_cell(f.table, f.rows[i], column);
		size_t k = 0;

		while (k < *n && !paper_cell_same(cells[k], v))
			k++;
		if (k < *n)
			continue;
		cells = hd_grow(cells, &cap, *n + 1, sizeof(const void *));
		cells[(*n)++] = v;
	}
	paper_cells_fini(&f);
	return cells;
}

/* One number per repetition, or one; NULL if something is missing. */
static double *samples(struct check_context *t, struct bindings *in, size_t *n)
{
	const char *over = t->check->over;
	const struct value **seeds = NULL;

	*n = 1;
	if (over)
		seeds = distinct(t, over, in, n);
	double *x = hd_alloc(*n + 1, sizeof(*x));

	for (size_t i = 0; i < *n && !t->missing.len; i++) {
		if (over)
			bindings_add(in, over, strlen(over), seeds[i]);
		x[i] = ratio(t, in);
		if (over)
			free(in->items[--in->n].name);
	}
	free((void *)seeds);
	if (t->missing.len) {
		free(x);
		return NULL;
	}
	return x;
}

/* ---- judging a case ----------------------------------------------------- */

/*
 * Whether repetitions leave it open on which side of `limit` it is. Where all
 * of them are the same there is no chance to speak of.
 */
static bool is_unclear(const double *x, size_t n, double limit)
{
	struct interval i = interval_of(x, n, LEVEL);

	return n > 1 && i.half_width > 0 && fabs(i.mean - limit) <= i.half_width;
}

static struct finding judge_equal(const struct paper_expectation *p, double x)
{
	double off = fabs(x - p->number);
	struct finding f = { .verdict = VERDICT_NOT, .value = x };

	/*
	 * Values that print as the published digits are equal; a value halfway between two digits
	 * may be rounded either way.
	 */
	if (off <= p->digits * (1 + 1e-9))
		f.verdict = p->computed ? VERDICT_COMPUTED : VERDICT_MATCHED;
	else if (off <= p->tolerance * fabs(p->number))
		f.verdict = VERDICT_WITHIN;
	f.beyond = off;
	return f;
}

static struct finding judge_numbers(const struct paper_expectation *p, const double *x, size_t n)
{
	double mean = measure_mean(x, n);
	struct finding f = { .verdict = VERDICT_NOT, .value = mean };

	if (!isfinite(mean)) {
		f.beyond = INFINITY;
		return f;
	}
	if (p->relation == RELATION_EQUAL)
		return judge_equal(p, mean);
	bool least = p->relation == RELATION_AT_LEAST || p->relation == RELATION_ABOVE;
	bool strict = p->relation == RELATION_ABOVE || p->relation == RELATION_BELOW;

	f.beyond = least ? p->number - mean : mean - p->number;
	if (strict ? f.beyond < 0 : f.beyond <= 0)
		f.verdict = VERDICT_TREND;
	else if (p->tolerance > 0 && f.beyond <= p->tolerance * fabs(p->number))
		f.verdict = VERDICT_WITHIN;
	else
		f.unclear = is_unclear(x, n, p->number);
	return f;
}

static double course_sign(enum paper_relation r)
{
	return r == RELATION_RISES || r == RELATION_NEVER_FALLS ? 1 : -1;
}

/* Whether a step by `by` from `base`, counted in the direction that was
 * published, is a step too. */
static bool step_holds(enum paper_relation r, double by, double base)
{
	double least = FLAT * fabs(base);

	if (r == RELATION_NEVER_FALLS || r == RELATION_NEVER_RISES)
		return by >= -least;
	return by > least;
}

/* A step of a course, from one set of repetitions to the next. */
static struct finding judge_step(enum paper_relation r, const double *from, const double *to,
				 size_t n)
{
	double *by = hd_alloc(n, sizeof(*by));
	struct finding f = { .verdict = VERDICT_TREND };

	for (size_t i = 0; i < n; i++)
		by[i] = course_sign(r) * (to[i] - from[i]);
	double mean = measure_mean(by, n), base = measure_mean(from, n);

	/* Nothing after nothing is no change, and no number otherwise. */
	f.value = mean == 0 ? 1 : measure_mean(to, n) / base;
	f.beyond = base != 0 ? -mean / fabs(base) : -mean;
	if (!step_holds(r, mean, base)) {
		f.verdict = VERDICT_NOT;
		f.unclear = is_unclear(by, n, 0);
	}
	free(by);
	return f;
}

/* Each step, from row to row. */
static struct finding judge_rows(const struct paper_expectation *p, const struct paper_cells *f)
{
	enum paper_relation r = p->relation;
	const double *x = f->numbers;
	double sign = course_sign(r);
	bool all = f->n > 1;

	for (size_t i = 1; i < f->n; i++)
		all = all && step_holds(r, sign * (x[i] - x[i - 1]), x[i - 1]);
	return (struct finding){
		.verdict = all ? VERDICT_TREND : VERDICT_NOT,
		.value = NAN,
		.beyond = all ? 0 : 1,
		.text = hd_strdup(all ? p->text : "it does not"),
	};
}

static struct finding judge_text(const struct paper_check *c, const struct paper_cells *f)
{
	const char *wanted = c->published.text;
	size_t row = f->rows[c->value.take == REDUCE_LAST ? f->n - 1 : 0];
	const struct value *v = table_cell(f->table, row, f->column);
	bool same = paper_cell_is(v, wanted, strlen(wanted));
	const char *ours = v->kind == VALUE_TEXT   ? v->text
			   : v->kind == VALUE_BOOL ? (v->yes ? "yes" : "no")
						   : "a number";

	return (struct finding){
		.verdict = same ? VERDICT_TREND : VERDICT_NOT,
		.value = NAN,
		.beyond = !same,
		.text = hd_strdup(ours),
	};
}

/* ---- all cases ---------------------------------------------------------- */

/* Adds the result of a case. */
static void count(struct judgement *j, struct finding *f, const struct bindings *in, double *worst)
{
	bool first = j->cases++ == 0;

	j->holds += f->verdict <= VERDICT_TREND;
	j->unclear += f->unclear;
	/* If all hold, the worst verdict; otherwise the number of cases that hold. */
	if (first || f->verdict > j->verdict)
		j->verdict = f->verdict;
	if (first || f->beyond > *worst) {
		struct strbuf at = STRBUF_INIT;

		*worst = f->beyond;
		j->ours = f->value;
		free(j->text);
		j->text = f->text;
		f->text = NULL;
		bindings_print(in, &at);
		free(j->at);
		j->at = strbuf_detach(&at);
	}
	free(f->text);
}

/* A case that is a course along a column: every step is one. */
static void judge_along(struct check_context *t, struct bindings *in, struct judgement *j,
			double *worst)
{
	const char *along = t->check->along;
	size_t n_places, n = 0, before_n = 0;
	const struct value **places = distinct(t, along, in, &n_places);
	double *before = NULL;

	for (size_t i = 0; i < n_places && !t->missing.len; i++) {
		bindings_add(in, along, strlen(along), places[i]);
		double *x = samples(t, in, &n);

		if (x && before && n == before_n) {
			struct finding f = judge_step(t->check->published.relation, before, x, n);

			count(j, &f, in, worst);
		}
		free(in->items[--in->n].name);
		free(before);
		before = x;
		before_n = n;
	}
	free(before);
	free((void *)places);
}

static void judge_case(struct check_context *t, struct bindings *in, struct judgement *j,
		       double *worst)
{
	const struct paper_check *c = t->check;
	enum paper_relation r = c->published.relation;
	struct finding f = { 0 };
	struct paper_cells rows = { 0 };

	if (c->along) {
		judge_along(t, in, j, worst);
		return;
	}
	if (r == RELATION_TEXT || relation_is_course(r)) {
		if (paper_value_find(&c->value, t->results, in, &rows, &t->missing))
			f = r == RELATION_TEXT ? judge_text(c, &rows)
					       : judge_rows(&c->published, &rows);
		paper_cells_fini(&rows);
	} else {
		size_t n;
		double *x = samples(t, in, &n);

		if (x)
			f = judge_numbers(&c->published, x, n);
		free(x);
	}
	if (!t->missing.len)
		count(j, &f, in, worst);
	else
		free(f.text);
}

/*
 * Every combination of values that the columns `each` have. A case of which
 * something is missing is not judged: not every point has its counterpart.
 */
static void judge_each(struct check_context *t, const char *each, struct bindings *in,
		       struct judgement *j, double *worst)
{
	size_t len = strcspn(each, ","), n;

	if (!*each) {
		judge_case(t, in, j, worst);
		strbuf_fini(&t->missing);
		return;
	}
	char *name = hd_strndup(each, len);
	const struct value **cells = distinct(t, name, in, &n);
	const char *rest = each + len;

	rest += strspn(rest, ", ");
	for (size_t i = 0; i < n; i++) {
		bindings_add(in, name, len, cells[i]);
		judge_each(t, rest, in, j, worst);
		free(in->items[--in->n].name);
	}
	free((void *)cells);
	free(name);
}

static void conclude(const struct paper_check *c, struct judgement *j)
{
	const struct paper_expectation *p = &c->published;
	if (p->relation == RELATION_EQUAL)
		j->deviation = (j->ours - p->number) / fabs(p->number);
	if (j->holds < j->cases && j->holds + j->unclear == j->cases)
		j->verdict = VERDICT_TREND;
	else if (j->holds < j->cases)
		j->verdict = 2 * j->holds > j->cases ? VERDICT_PARTLY : VERDICT_NOT;
}

void judge(const struct paper_check *c, const struct results *r, struct judgement *out)
{
	struct check_context t = { .check = c, .results = r, .missing = STRBUF_INIT };
	const struct table *table = results_find(r, c->value.table);
	struct bindings in = { 0 };
	const char *unit = NULL;
	double worst = -INFINITY;

	*out = (struct judgement){ .verdict = VERDICT_NONE, .ours = NAN, .deviation = NAN };
	/* Ratios have none. */
	if (table && c->value.column && !c->against.table && !c->along) {
		size_t i = paper_column_find(table, c->value.column, strlen(c->value.column));

		unit = i < table->n_columns ? table->columns[i].unit : NULL;
	}
	out->unit = hd_strdup(unit ? unit : "");
	if (c->each)
		judge_each(&t, c->each, &in, out, &worst);
	else
		judge_case(&t, &in, out, &worst);
	if (!out->cases && !t.missing.len)
		strbuf_puts(&t.missing, "no case");
	if (out->cases)
		conclude(c, out);
	else
		out->missing = strbuf_detach(&t.missing);
	strbuf_fini(&t.missing);
	bindings_fini(&in);
}

void judgement_fini(struct judgement *j)
{
	free(j->text);
	free(j->unit);
	free(j->missing);
	free(j->at);
}

void judgement_missing(struct judgement *j, const char *why)
{
	*j = (struct judgement){ .verdict = VERDICT_NONE,
				 .ours = NAN,
				 .deviation = NAN,
				 .unit = hd_strdup(""),
				 .missing = hd_strdup(why) };
}

void judgement_print(const struct judgement *j, struct strbuf *out)
{
	if (j->missing) {
		strbuf_printf(out, "none: %s", j->missing);
		return;
	}
	if (j->cases > 1)
		strbuf_printf(out, "%zu of %zu cases, worst ", j->holds, j->cases);
	if (j->text)
		strbuf_puts(out, j->text);
	else
		strbuf_printf(out, "%.5g%s%s", j->ours, *j->unit ? " " : "", j->unit);
	if (j->cases > 1)
		strbuf_printf(out, " at %s", j->at);
	if (j->unclear)
		strbuf_printf(out, "; %zu may be chance", j->unclear);
}

enum paper_verdict judge_all(const struct judgement *j, size_t n)
{
	enum paper_verdict worst = n ? VERDICT_MATCHED : VERDICT_NONE;

	for (size_t i = 0; i < n; i++)
		worst = j[i].verdict > worst ? j[i].verdict : worst;
	return worst;
}
