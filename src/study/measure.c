/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "study/commands.h"

size_t measure_of(const struct study_command *c, const char *name)
{
	size_t i = 0;

	while (i < c->n_measures &&
	       strcmp(c->measures[i].column.name, name) != 0)
		i++;
	return i;
}

/* What a user writes, in the measure's unit; NAN if it is none. */
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
		return hd_time_parse(text, NULL, &time) == HD_OK
			       ? (double)time / (double)HD_US
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
		return strcmp(text, "yes") == 0  ? 1
		       : strcmp(text, "no") == 0 ? 0
						 : NAN;
	return hd_double_parse(text, NULL, &number) == HD_OK ? number : NAN;
}

static enum hd_status refuse_name(const struct study_command *c,
				  const char *name, struct diag *d)
{
	const char *names[MOST_MEASURES];
	struct strbuf all = STRBUF_INIT;

	for (size_t i = 0; i < c->n_measures; i++) {
		names[i] = c->measures[i].column.name;
		strbuf_printf(&all, "%s%s", i ? ", " : "", names[i]);
	}
	const char *near = text_nearest(name, names, c->n_measures);

	diag_fail(d, HD_ERR_INPUT, "no measure '%.80s'; there are %s%s%s%s",
		  name, all.text, near ? " (did you mean '" : "",
		  near ? near : "", near ? "'?)" : "");
	strbuf_fini(&all);
	return d->status;
}

static enum hd_status check_units(const struct column *a,
				  const struct column *b, struct diag *d)
{
	const char *left = a->unit ? a->unit : "";
	const char *right = b->unit ? b->unit : "";

	return strcmp(left, right) == 0
		       ? HD_OK
		       : diag_fail(d, HD_ERR_INPUT,
				   "%s [%s] and %s [%s] are in other units",
				   a->name, left, b->name, right);
}

enum hd_status measure_check(const struct study_command *c,
			     const struct term *t, struct diag *d)
{
	size_t none = c->n_measures;
	size_t left = measure_of(c, t->left), right = measure_of(c, t->right);

	if (left == none)
		return refuse_name(c, t->left, d);
	if (right == none && t->share > 0)
		return refuse_name(c, t->right, d);
	const struct column *column = &c->measures[left].column;

	if (right != none)
		return check_units(column, &c->measures[right].column, d);

	if (isnan(quantity(column, t->right)))
		return diag_fail(d, HD_ERR_INPUT,
				 "'%.80s' is no value of %s%s%s", t->right,
				 t->left, column->unit ? ", which is in " : "",
				 column->unit ? column->unit : "");
	return HD_OK;
}

bool measure_holds(const struct study_command *c, const struct term *t,
		   const double *values)
{
	size_t left = measure_of(c, t->left), right = measure_of(c, t->right);
	double other = right == c->n_measures
			       ? quantity(&c->measures[left].column, t->right)
			       : values[right];

	return relation_holds(t->relation, values[left],
			      t->share > 0 ? t->share * other : other);
}

/* ---- what a command's tables say ---------------------------------------- */

static const struct table *table_with(const struct results *all,
				      const struct measure *m, size_t *column)
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

static double reduce(const struct table *t, size_t column, enum take take)
{
	double sum = 0, least = NAN, most = NAN;
	size_t n = table_rows(t);

	for (size_t row = 0; row < n; row++) {
		double x = number_of(table_cell(t, row, column));

		sum += isnan(x) ? 0 : x;
		least = fmin(least, x);
		most = fmax(most, x);
	}
	switch (take) {
	case TAKE_LEAST:
	case TAKE_ALL:
		return least;
	case TAKE_MOST:
		return most;
	case TAKE_SUM:
		return sum;
	case TAKE_ONE:
	case TAKE_LAST:
		break;
	}
	return n ? number_of(table_cell(t, n - 1, column)) : NAN;
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

enum hd_status headline_add(const struct study_command *c,
			    const struct results *all, struct diag *d,
			    struct results *r)
{
	struct column columns[MOST_MEASURES + 1] = { 0 };
	struct value values[MOST_MEASURES] = { 0 };

	for (size_t i = 0; i < c->n_measures; i++) {
		const struct measure *m = &c->measures[i];
		size_t column;
		const struct table *t = table_with(all, m, &column);
		size_t most = m->take == TAKE_ONE    ? 1
			      : m->take == TAKE_LAST ? 2
						     : SIZE_MAX;

		columns[i] = m->column;
		if (!t)
			continue;
		if (table_rows(t) > most)
			return diag_fail(
				d, HD_ERR_INPUT,
				"the table '%s' has %zu rows, and a point has "
				"%zu of them: set or vary what it runs over",
				t->name, table_rows(t), most);
		values[i] = as_kind(m->column.kind, reduce(t, column, m->take));
	}
	table_put_values(
		results_record(r, "headline", "the point in short", columns),
		values);
	return HD_OK;
}

bool headline_is_whole(const struct study_command *c, const struct results *r)
{
	const struct table *t = results_find(r, "headline");

	if (!t || t->n_columns != c->n_measures || table_rows(t) != 1)
		return false;
	for (size_t i = 0; i < c->n_measures; i++) {
		const struct column *want = &c->measures[i].column;

		if (strcmp(t->columns[i].name, want->name) != 0 ||
		    t->columns[i].kind != want->kind)
			return false;
	}
	return true;
}
