/* SPDX-License-Identifier: BSD-2-Clause */
#include "paper/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"

/* ---- finding the value -------------------------------------------------- */

static size_t column_find(const struct table *t, const char *name, size_t len)
{
	size_t i = 0;

	while (i < t->n_columns && (strlen(t->columns[i].name) != len ||
				    memcmp(t->columns[i].name, name, len) != 0))
		i++;
	return i;
}

/* Does a cell read as the `len` characters at `text`? */
static bool reads_as(const struct value *v, const char *text, size_t len)
{
	char word[64];
	char *end;

	if (v->kind == VALUE_TEXT)
		return strlen(v->text) == len && !memcmp(v->text, text, len);
	if (len >= sizeof(word))
		return false;
	memcpy(word, text, len);
	word[len] = '\0';
	if (v->kind == VALUE_BOOL)
		return strcmp(word, v->yes ? "yes" : "no") == 0;
	double wanted = strtod(word, &end);

	return end != word && !*end &&
	       fabs(value_real(v) - wanted) <= 1e-9 * fabs(wanted);
}

/*
 * Whether the row fits all of "column=value, column=value". False with
 * *unknown set if there is no such column.
 */
static bool row_fits(const struct table *t, size_t row, const char *where,
		     const char **unknown)
{
	while (where && *where) {
		size_t item = strcspn(where, ",");
		const char *equals = memchr(where, '=', item);
		size_t name = equals ? (size_t)(equals - where) : item;
		size_t column = column_find(t, where, name);

		if (!equals || column == t->n_columns) {
			*unknown = where;
			return false;
		}
		if (!reads_as(table_cell(t, row, column), equals + 1,
			      item - name - 1))
			return false;
		where += item;
		where += strspn(where, ", ");
	}
	return true;
}

/* The rows that fit, their number in *n; a reason if a column is unknown. */
static size_t *rows_find(const struct table *t, const char *where, size_t *n,
			 struct strbuf *missing)
{
	size_t *rows = hd_alloc(table_rows(t) + 1, sizeof(*rows));
	const char *unknown = NULL;

	*n = 0;
	for (size_t i = 0; i < table_rows(t); i++) {
		if (row_fits(t, i, where, &unknown))
			rows[(*n)++] = i;
	}
	if (unknown)
		strbuf_printf(missing, "table '%s' has no column for '%s'",
			      t->name, unknown);
	return rows;
}

/* One number of many, as the check says. */
static double take(enum paper_take how, const double *x, size_t n)
{
	double sum = 0, least = INFINITY, most = -INFINITY;

	for (size_t i = 0; i < n; i++) {
		sum += x[i];
		least = fmin(least, x[i]);
		most = fmax(most, x[i]);
	}
	switch (how) {
	case TAKE_MEAN:
		return sum / (double)n;
	case TAKE_LEAST:
		return least;
	case TAKE_MOST:
		return most;
	case TAKE_SUM:
		return sum;
	case TAKE_COUNT:
		return (double)n;
	case TAKE_LAST:
		return x[n - 1];
	default:
		return x[0];
	}
}

/* The rows and the column that a value names. */
struct found {
	const struct table *table;
	size_t column; /* n_columns if none is named */
	size_t *rows, n;
	double *numbers; /* of the column; NaN for what is none */
};

static bool value_find(const struct paper_value *v, const struct results *r,
		       struct found *out, struct strbuf *missing)
{
	const struct table *t = results_find(r, v->table);

	*out = (struct found){ .table = t };
	if (!t) {
		strbuf_printf(missing, "there is no table '%s'", v->table);
		return false;
	}
	out->column = v->column ? column_find(t, v->column, strlen(v->column))
				: t->n_columns;
	if (v->column && out->column == t->n_columns) {
		strbuf_printf(missing, "table '%s' has no column '%s'",
			      v->table, v->column);
		return false;
	}
	out->rows = rows_find(t, v->where, &out->n, missing);
	/* There being none is something that can be counted. */
	if (!out->n && !missing->len && v->take != TAKE_COUNT)
		strbuf_printf(missing, "table '%s' has no row with %s", t->name,
			      v->where ? v->where : "anything");
	if (missing->len)
		return false;
	out->numbers = hd_alloc(out->n + 1, sizeof(*out->numbers));
	for (size_t i = 0; i < out->n; i++)
		out->numbers[i] =
			v->column ? value_real(table_cell(t, out->rows[i],
							  out->column))
				  : 0;
	return true;
}

static void found_fini(struct found *f)
{
	free(f->rows);
	free(f->numbers);
}

/* The number of a value; NaN, and a reason, if there is none. */
static double value_number(const struct paper_value *v, const struct found *f,
			   struct strbuf *missing)
{
	if (v->take == TAKE_ONE && f->n > 1) {
		strbuf_printf(missing, "%zu rows of '%s' fit", f->n, v->table);
		return NAN;
	}
	return take(v->take, f->numbers, f->n);
}

/* ---- judging it --------------------------------------------------------- */

static enum paper_verdict judge_number(const struct paper_expectation *p,
				       struct judgement *out)
{
	double off = fabs(out->ours - p->number);
	double slack = p->tolerance * fabs(p->number);
	bool holds;

	if (!isfinite(out->ours))
		return VERDICT_REFUTED;
	/* What prints as the published digits is equal; a digit that stands
	 * between two may be rounded either way. */
	if (p->relation == RELATION_EQUAL) {
		out->deviation = (out->ours - p->number) / fabs(p->number);
		if (off <= p->digits * (1 + 1e-9))
			return VERDICT_MATCHED;
		return off <= slack ? VERDICT_WITHIN : VERDICT_REFUTED;
	}
	if (p->relation == RELATION_AT_LEAST)
		holds = out->ours >= p->number;
	else
		holds = out->ours <= p->number;
	if (holds)
		return VERDICT_MATCHED;
	return off <= slack ? VERDICT_WITHIN : VERDICT_REFUTED;
}

/* Never the wrong way, and not flat altogether. */
static void judge_course(const struct paper_expectation *p,
			 const struct found *f, struct judgement *out)
{
	double sign = p->relation == RELATION_RISES ? 1 : -1;
	const double *x = f->numbers;
	bool all = f->n > 1 && sign * (x[f->n - 1] - x[0]) > 0;

	for (size_t i = 1; i < f->n; i++)
		all = all && sign * (x[i] - x[i - 1]) >= 0;
	out->verdict = all ? VERDICT_MATCHED : VERDICT_REFUTED;
	out->text = hd_strdup(all ? p->text : "it does not");
}

static void judge_text(const struct paper_check *c, const struct found *f,
		       struct judgement *out)
{
	const char *wanted = c->published.text;
	size_t row = f->rows[c->value.take == TAKE_LAST ? f->n - 1 : 0];
	const struct value *v = table_cell(f->table, row, f->column);

	if (v->kind == VALUE_TEXT)
		out->text = hd_strdup(v->text);
	else if (v->kind == VALUE_BOOL)
		out->text = hd_strdup(v->yes ? "yes" : "no");
	else
		out->text = hd_strdup("a number");
	out->verdict = reads_as(v, wanted, strlen(wanted)) ? VERDICT_MATCHED
							   : VERDICT_REFUTED;
}

/* The number, or its ratio to another one. */
static void judge_ratio(const struct paper_check *c, const struct results *r,
			const struct found *f, struct judgement *out,
			struct strbuf *missing)
{
	struct found other = { 0 };

	out->ours = value_number(&c->value, f, missing);
	if (c->against.table && !missing->len) {
		out->unit[0] = '\0';
		if (value_find(&c->against, r, &other, missing))
			out->ours /= value_number(&c->against, &other, missing);
		found_fini(&other);
	}
	if (!missing->len)
		out->verdict = judge_number(&c->published, out);
}

void judge(const struct paper_check *c, const struct results *r,
	   struct judgement *out)
{
	enum paper_relation how = c->published.relation;
	struct strbuf missing = STRBUF_INIT;
	struct found f;
	const char *unit = NULL;

	*out = (struct judgement){ .verdict = VERDICT_NONE,
				   .ours = NAN,
				   .deviation = NAN };
	bool there = value_find(&c->value, r, &f, &missing);

	if (there && c->value.column)
		unit = f.table->columns[f.column].unit;
	out->unit = hd_strdup(unit ? unit : "");
	if (there && how == RELATION_TEXT)
		judge_text(c, &f, out);
	else if (there && (how == RELATION_RISES || how == RELATION_FALLS))
		judge_course(&c->published, &f, out);
	else if (there)
		judge_ratio(c, r, &f, out, &missing);
	if (missing.len)
		out->missing = strbuf_detach(&missing);
	found_fini(&f);
	strbuf_fini(&missing);
}

void judgement_fini(struct judgement *j)
{
	free(j->text);
	free(j->unit);
	free(j->missing);
}

enum paper_verdict judge_all(const struct judgement *j, size_t n)
{
	enum paper_verdict worst = n ? VERDICT_MATCHED : VERDICT_NONE;

	for (size_t i = 0; i < n; i++)
		worst = j[i].verdict > worst ? j[i].verdict : worst;
	return worst;
}
