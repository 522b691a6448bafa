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

static double number_of(const struct value *v)
{
	switch (v->kind) {
	case VALUE_UINT:
		return (double)v->u;
	case VALUE_INT:
		return (double)v->i;
	case VALUE_REAL:
		return v->real;
	default:
		return NAN;
	}
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
	       fabs(number_of(v) - wanted) <= 1e-9 * fabs(wanted);
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

/* The rows that count, their number in *n; NULL and a reason if none does. */
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
	else if (!*n)
		strbuf_printf(missing, "table '%s' has no row with %s", t->name,
			      where ? where : "anything");
	if (*n)
		return rows;
	free(rows);
	return NULL;
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

/* Never the wrong way, and not flat altogether; by the tolerance's leave. */
static enum paper_verdict judge_course(const struct paper_expectation *p,
				       const double *x, size_t n)
{
	double sign = p->relation == RELATION_RISES ? 1 : -1;
	bool all = true;

	for (size_t i = 1; i < n; i++)
		all = all && sign * (x[i] - x[i - 1]) >= 0;
	return all && n > 1 && sign * (x[n - 1] - x[0]) > 0 ? VERDICT_MATCHED
							    : VERDICT_REFUTED;
}

static void judge_rows(const struct paper_check *c, const struct table *t,
		       size_t column, const size_t *rows, size_t n,
		       struct judgement *out)
{
	const struct paper_expectation *p = &c->published;
	double *x = hd_alloc(n, sizeof(*x));
	bool course =
		p->relation == RELATION_RISES || p->relation == RELATION_FALLS;

	for (size_t i = 0; i < n && column < t->n_columns; i++)
		x[i] = number_of(table_cell(t, rows[i], column));
	if (p->relation == RELATION_TEXT) {
		size_t row = rows[c->value.take == TAKE_LAST ? n - 1 : 0];
		const struct value *v = table_cell(t, row, column);

		out->text = hd_strdup(v->kind == VALUE_TEXT ? v->text
				      : v->kind == VALUE_BOOL
					      ? v->yes ? "yes" : "no"
					      : "a number");
		out->verdict = reads_as(v, p->text, strlen(p->text))
				       ? VERDICT_MATCHED
				       : VERDICT_REFUTED;
	} else if (course) {
		out->verdict = judge_course(p, x, n);
		out->text = hd_strdup(out->verdict == VERDICT_MATCHED
					      ? p->text
					      : "it does not");
	} else {
		out->ours = take(c->value.take, x, n);
		out->verdict = judge_number(p, out);
	}
	free(x);
}

void judge(const struct paper_check *c, const struct results *r,
	   struct judgement *out)
{
	const struct paper_value *v = &c->value;
	const struct table *t = results_find(r, v->table);
	struct strbuf missing = STRBUF_INIT;
	size_t *rows = NULL, n = 0, column = 0;

	*out = (struct judgement){ .verdict = VERDICT_NONE,
				   .ours = NAN,
				   .deviation = NAN };
	if (!t)
		strbuf_printf(&missing, "there is no table '%s'", v->table);
	if (t && v->column)
		column = column_find(t, v->column, strlen(v->column));
	if (t && v->column && column == t->n_columns)
		strbuf_printf(&missing, "table '%s' has no column '%s'",
			      v->table, v->column);
	if (!missing.len && t)
		rows = rows_find(t, v->where, &n, &missing);
	bool course = c->published.relation == RELATION_RISES ||
		      c->published.relation == RELATION_FALLS;

	if (rows && n > 1 && v->take == TAKE_ONE && !course)
		strbuf_printf(&missing, "%zu rows of '%s' fit", n, v->table);
	out->unit = hd_strdup(rows && v->column && t->columns[column].unit
				      ? t->columns[column].unit
				      : "");
	if (missing.len)
		out->missing = strbuf_detach(&missing);
	else if (rows)
		judge_rows(c, t, v->column ? column : t->n_columns, rows, n,
			   out);
	strbuf_fini(&missing);
	free(rows);
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
