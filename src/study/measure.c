/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "study/commands.h"

size_t study_measure_index(const struct measures *m, const char *name)
{
	size_t i = 0;

	while (i < m->n && strcmp(m->items[i].column.name, name) != 0)
		i++;
	return i;
}

/* Parses a user's value in the measure's unit; NAN if it has no number. */
static double quantity(const struct column *c, const char *text)
{
	static const struct {
		const char *unit;
		double worth; /* in b/s */
	} rates[] = { { "Gb/s", 1e9 }, { "Mb/s", 1e6 }, { "MB/s", 8e6 } };
	const char *unit = c->unit ? c->unit : "";
	struct hd_rate rate;
	struct hd_ratio share;
	hd_time time;
	double number;

	if (strcmp(unit, "us") == 0)
		return hd_time_parse(text, NULL, &time) == HD_OK ? (double)time / (double)HD_US
								 : NAN;
	for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++) {
		if (strcmp(unit, rates[i].unit) == 0)
			return hd_rate_parse(text, NULL, &rate) == HD_OK
				       ? hd_rate_bps(rate) / rates[i].worth
				       : NAN;
	}
	if (strcmp(unit, "%") == 0)
		return hd_ratio_parse(text, NULL, &share) == HD_OK
			       ? 100 * (double)share.num / (double)share.den
			       : NAN;
	if (c->kind == VALUE_BOOL)
		return strcmp(text, "yes") == 0 ? 1 : strcmp(text, "no") == 0 ? 0 : NAN;
	return hd_double_parse(text, NULL, &number) == HD_OK ? number : NAN;
}

static enum hd_status refuse_name(const struct measures *m, const char *name, struct diag *d)
{
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
	const char **names = hd_alloc(m->n, sizeof(*names));
	struct strbuf all = STRBUF_INIT;

	for (size_t i = 0; i < m->n; i++) {
		names[i] = m->items[i].column.name;
		strbuf_printf(&all, "%s%s", i == 0 ? "" : i + 1 < m->n ? ", " : " or ", names[i]);
	}
	const char *near = text_nearest(name, names, m->n);

	diag_fail(d, HD_ERR_INPUT, "unknown measure '%.80s'%s (expected %s)", name,
		  text_hint(near).text, all.text);
	strbuf_fini(&all);
	free(names);
	return d->status;
}

static enum hd_status check_units(const struct column *a, const struct column *b, struct diag *d)
{
	const char *left = a->unit ? a->unit : "";
	const char *right = b->unit ? b->unit : "";

	return strcmp(left, right) == 0
		       ? HD_OK
		       : diag_fail(d, HD_ERR_INPUT, "%s [%s] and %s [%s] have different units",
				   a->name, left, b->name, right);
}

enum hd_status study_measure_check(const struct measures *m, const struct term *t, struct diag *d)
{
	size_t none = m->n;
	size_t left = study_measure_index(m, t->left), right = study_measure_index(m, t->right);

	if (left == none)
		return refuse_name(m, t->left, d);
	if (right == none && t->share > 0)
		return refuse_name(m, t->right, d);
	const struct column *column = &m->items[left].column;

	if (right != none)
		return check_units(column, &m->items[right].column, d);

	if (isnan(quantity(column, t->right)))
		return diag_fail(d, HD_ERR_INPUT, "'%.80s' is not a value of %s%s%s", t->right,
				 t->left, column->unit ? ", which is in " : "",
				 column->unit ? column->unit : "");
	return HD_OK;
}

bool study_measure_holds(const struct measures *m, const struct term *t, const double *values)
{
	size_t left = study_measure_index(m, t->left), right = study_measure_index(m, t->right);
	double other = right == m->n ? quantity(&m->items[left].column, t->right) : values[right];

	return condition_relation_holds(t->relation, values[left],
					t->share > 0 ? t->share * other : other);
}

/* ---- what a command's tables say ---------------------------------------- */

static const struct table *table_with(const struct results *all, const struct study_measure *m,
				      size_t *column)
{
	for (size_t i = 0; i < all->n_tables; i++) {
		const struct table *t = all->tables[i];

		if (m->table && strcmp(t->name, m->table) != 0)
			continue;
		for (*column = 0; *column < t->n_columns; ++*column) {
			if (strcmp(t->columns[*column].name, m->from) == 0)
				return t;
		}
	}
	return NULL;
}

static double number_of(const struct value *v)
{
	return v->kind == VALUE_BOOL ? v->yes : value_real(v);
}

/* Whether a row of the table counts for the measure. */
static bool has_row(const struct table *t, size_t row, const struct study_measure *m)
{
	const struct value *first = table_cell(t, row, 0);

	return !m->row || (first->kind == VALUE_TEXT && strcmp(first->text, m->row) == 0);
}

/* The numbers of the rows that count, to be freed. A sum ignores rows without a value. */
static double *numbers_of(const struct table *t, size_t column, const struct study_measure *m,
			  size_t *n)
{
	double *x = hd_alloc(table_rows(t) + 1, sizeof(*x));

	*n = 0;
	for (size_t row = 0; row < table_rows(t); row++) {
		if (!has_row(t, row, m))
			continue;
		x[*n] = number_of(table_cell(t, row, column));
		*n += m->take != REDUCE_SUM || !isnan(x[*n]);
	}
	return x;
}

static struct value as_kind(enum value_kind kind, double x)
{
	if (isnan(x))
		return (struct value){ .kind = VALUE_NONE };
	if (kind == VALUE_BOOL)
		return (struct value){ .kind = kind, .yes = x > 0 };
	if (kind == VALUE_UINT)
		return (struct value){ .kind = kind, .u = (uint64_t)x };
	return (struct value){ .kind = kind, .real = x };
}

static enum hd_status value_of_measure(const struct study_measure *m, const struct results *all,
				       struct diag *d, struct value *out)
{
	size_t column;
	const struct table *t = table_with(all, m, &column);
	size_t most = m->take == REDUCE_ONE ? 1 : m->take == REDUCE_LAST ? 2 : SIZE_MAX;

	size_t n;

	if (!t)
		return HD_OK;
	double *x = numbers_of(t, column, m, &n);

	if (n > most)
		diag_fail(
			d, HD_ERR_INPUT,
			"table '%s' has %zu rows, of which a point selects %zu: set or vary the columns that identify a row",
			t->name, table_rows(t), most);
	else
		*out = as_kind(m->column.kind, measure_reduce(m->take, x, n));
	free(x);
	return n > most ? HD_ERR_INPUT : HD_OK;
}

enum hd_status study_headline_add(const struct measures *m, const struct results *all,
				  struct diag *d, struct results *r)
{
	struct column *columns = hd_alloc(m->n + 1, sizeof(*columns));
	struct value *values = hd_alloc(m->n, sizeof(*values));
	enum hd_status status = HD_OK;

	for (size_t i = 0; i < m->n && status == HD_OK; i++) {
		columns[i] = m->items[i].column;
		status = value_of_measure(&m->items[i], all, d, &values[i]);
	}
	if (status == HD_OK)
		table_put_values(results_record(r, "headline", "the point in short", columns),
				 values);
	free(columns);
	free(values);
	return status;
}

bool study_headline_is_complete(const struct measures *m, const struct results *r)
{
	const struct table *t = results_find(r, "headline");

	if (!t || t->n_columns != m->n || table_rows(t) != 1)
		return false;
	for (size_t i = 0; i < m->n; i++) {
		const struct column *want = &m->items[i].column;

		if (strcmp(t->columns[i].name, want->name) != 0 || t->columns[i].kind != want->kind)
			return false;
	}
	return true;
}
