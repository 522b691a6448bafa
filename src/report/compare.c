/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/compare.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* One number that differs, for the short form. */
struct value_difference {
	const struct column *of;
	char *place; /* which table and row it is of */
	double *values;
	double change; /* percent; NAN if it cannot be said */
	size_t order;
};

struct value_differences {
	struct value_difference *items;
	size_t n, cap;
};

struct results_comparison {
	const struct compared *runs;
	size_t n;
	const struct compare_options *o;
	struct results *out;
	struct table *values, *texts, *parameters; /* NULL until needed */
	struct value_differences headline, others; /* the short form's */
	struct strbuf lacking;                     /* tables that not every run has */
	uint64_t equal, alone;
	uint64_t unshown; /* differences that the short form has no place for */
};

/*
 * Rows are identified by their inputs. Results are values, also in words, such as verdicts; texts
 * are labels only in tables without inputs.
 */
static bool is_label(const struct table *t, const struct column *c)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		if (t->columns[i].origin == ORIGIN_GIVEN)
			return c->origin == ORIGIN_GIVEN;
	}
	return c->kind == VALUE_TEXT;
}

/* A number as a reader of labels would write it. */
static void put_label(struct strbuf *out, const struct value *v)
{
	switch (v->kind) {
	case VALUE_NONE:
		strbuf_puts(out, "-");
		break;
	case VALUE_TEXT:
		strbuf_puts(out, v->text);
		break;
	case VALUE_UINT:
		strbuf_printf(out, "%" PRIu64, v->u);
		break;
	case VALUE_INT:
		strbuf_printf(out, "%" PRId64, v->i);
		break;
	case VALUE_REAL:
		strbuf_printf(out, "%.9g", v->real);
		break;
	case VALUE_BOOL:
		strbuf_puts(out, v->yes ? "yes" : "no");
		break;
	}
}

/* Rows of a table by label, in order of labels. */
struct labelled {
	char *label;
	size_t row;
};

static int by_label(const void *a, const void *b)
{
	const struct labelled *x = a, *y = b;
	int order = strcmp(x->label, y->label);

	if (order)
		return order;
	return (x->row > y->row) - (x->row < y->row);
}

static char *label_row(const struct table *t, size_t row)
{
	struct strbuf label = STRBUF_INIT;

	for (size_t i = 0; i < t->n_columns; i++) {
		const struct column *c = &t->columns[i];
		const struct value *v = table_cell(t, row, i);

		/* In a record every value has a name; its texts are values. */
		if (!is_label(t, c) || t->kind == TABLE_RECORD || v->kind == VALUE_NONE)
			continue;
		if (label.len)
			strbuf_putc(&label, ' ');
		if (c->kind != VALUE_TEXT)
			strbuf_printf(&label, "%s ", c->name);
		put_label(&label, v);
		strbuf_puts(&label, c->unit);
	}
	return strbuf_detach(&label);
}

/* Labels that come again get " #2", " #3" in the order of their rows. */
static struct labelled *label_rows(const struct table *t)
{
	size_t n = table_rows(t);
	struct labelled *rows = hd_alloc(n + 1, sizeof(*rows));

	for (size_t i = 0; i < n; i++)
		rows[i] = (struct labelled){ label_row(t, i), i };
	qsort(rows, n, sizeof(*rows), by_label);
	size_t first = 0;
	char *shared = NULL;

	for (size_t i = 1; i < n; i++) {
		if (strcmp(rows[i].label, shared ? shared : rows[first].label) != 0) {
			first = i;
			free(shared);
			shared = NULL;
			continue;
		}
		struct strbuf label = STRBUF_INIT;

		if (!shared)
			shared = hd_strdup(rows[first].label);
		strbuf_printf(&label, "%s #%zu", shared, i - first + 1);
		free(rows[i].label);
		rows[i].label = strbuf_detach(&label);
	}
	free(shared);
	qsort(rows, n, sizeof(*rows), by_label);
	return rows;
}

static void free_labels(struct labelled *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(rows[i].label);
	free(rows);
}

static size_t find_column(const struct table *t, const struct column *like)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		const struct column *c = &t->columns[i];

		if (strcmp(c->name, like->name) == 0 && strcmp(c->unit, like->unit) == 0 &&
		    c->kind == like->kind)
			return i;
	}
	return SIZE_MAX;
}

static bool is_same(const struct value *a, const struct value *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case VALUE_NONE:
		return true;
	case VALUE_TEXT:
		return strcmp(a->text, b->text) == 0;
	case VALUE_BOOL:
		return a->yes == b->yes;
	case VALUE_UINT:
		return a->u == b->u;
	case VALUE_INT:
		return a->i == b->i;
	case VALUE_REAL:
		return fabs(a->real - b->real) <= 1e-12 * fabs(a->real);
	}
	return false;
}

/* A table with one column per run between those given. */
static struct table *make_table(struct results_comparison *c, const char *name, const char *title,
				const struct column *before, const struct column *of_run,
				bool change)
{
	struct column columns[COMPARE_MOST_RUNS + 8] = { 0 };
	char names[COMPARE_MOST_RUNS][32];
	size_t n = 0;

	assert(c->n <= COMPARE_MOST_RUNS);
	for (; before[n].name; n++)
		columns[n] = before[n];
	for (size_t i = 0; i < c->n; i++) {
		snprintf(names[i], sizeof(names[i]), "run %" PRId64, c->runs[i].id);
		columns[n] = *of_run;
		columns[n++].name = names[i];
	}
	if (change)
		columns[n++] = (struct column){ "change", "%", VALUE_REAL, ORIGIN_COMPUTED, 2 };
	return results_table(c->out, name, title, columns);
}

static const struct column number_of_run = { NULL, NULL, VALUE_REAL };
static const struct column words_of_run = { NULL, NULL, VALUE_TEXT };

/* In percent of the first run's value, from there to the last one's. */
static double change_of(const double *values, size_t n)
{
	double from = values[0], to = values[n - 1];

	return from != 0 ? 100 * (to - from) / fabs(from) : NAN;
}

static void put_numbers(struct results_comparison *c, const char *table, const char *label,
			const struct column *of, const double *values)
{
	static const struct column before[] = {
		{ "table", NULL, VALUE_TEXT },  { "row", NULL, VALUE_TEXT },
		{ "value", NULL, VALUE_TEXT },  { "unit", NULL, VALUE_TEXT },
		{ "origin", NULL, VALUE_TEXT }, { NULL },
	};
	struct value row[COMPARE_MOST_RUNS + 8] = {
		value_of_text(table),
		value_of_text(label),
		value_of_text(of->name),
		value_of_text(of->unit),
		value_of_text(results_origin_name(of->origin)),
	};

	if (!c->values)
		c->values =
			make_table(c, "values", "numbers run by run", before, &number_of_run, true);
	for (size_t i = 0; i < c->n; i++)
		row[5 + i] = value_of_real(values[i]);
	row[5 + c->n] = value_of_real(change_of(values, c->n));
	table_put_values(c->values, row);
}

static void put_texts(struct results_comparison *c, const char *table, const char *label,
		      const struct column *of, const struct value *const *cells)
{
	static const struct column before[] = {
		{ "table", NULL, VALUE_TEXT },
		{ "row", NULL, VALUE_TEXT },
		{ "value", NULL, VALUE_TEXT },
		{ NULL },
	};
	struct value row[COMPARE_MOST_RUNS + 8] = {
		value_of_text(table),
		value_of_text(label),
		value_of_text(of->name),
	};

	if (!c->texts)
		c->texts = c->o->brief ? make_table(c, "goals", "what became of goals", before,
						    &words_of_run, false)
				       : make_table(c, "texts", "words run by run", before,
						    &words_of_run, false);
	for (size_t i = 0; i < c->n; i++) {
		struct strbuf text = STRBUF_INIT;

		put_label(&text, cells[i]);
		row[3 + i] = value_of_text(table_take(c->texts, &text));
	}
	table_put_values(c->texts, row);
}

/* ---- the short form ----------------------------------------------------- */

/* Records are what a command says of a run as a whole; a sweep, its curves. */
static bool is_headline(const struct table *t)
{
	return t->kind == TABLE_RECORD || strcmp(t->name, "curves") == 0;
}

/* Half of a confidence interval is the uncertainty of another value. */
static bool is_spread(const struct column *c)
{
	size_t len = strlen(c->name);

	return len > 3 && strcmp(c->name + len - 3, " +-") == 0;
}

static void note_difference(struct results_comparison *c, const struct table *t, const char *label,
			    const struct column *of, const double *values)
{
	struct value_differences *list = is_headline(t) ? &c->headline : &c->others;
	struct value_difference d = { .of = of, .change = change_of(values, c->n) };
	struct strbuf place = STRBUF_INIT;

	if (is_spread(of)) {
		c->unshown++;
		return;
	}
	strbuf_printf(&place, "%s%s%.*s%s", t->name, *label ? ": " : "", COMPARE_LABEL, label,
		      strlen(label) > COMPARE_LABEL ? "..." : "");
	d.place = strbuf_detach(&place);
	d.order = list->n;
	d.values = hd_alloc(c->n, sizeof(*d.values));
	memcpy(d.values, values, c->n * sizeof(*values));
	list->items = hd_grow(list->items, &list->cap, list->n + 1, sizeof(*list->items));
	list->items[list->n++] = d;
}

/*
 * The largest change first; of equal ones that which comes first. Of what one
 * run has and another has not there is no change to speak of.
 */
static int by_change(const void *a, const void *b)
{
	const struct value_difference *x = a, *y = b;
	double one = isnan(x->change) ? -1 : fabs(x->change);
	double two = isnan(y->change) ? -1 : fabs(y->change);

	if (one != two)
		return one < two ? 1 : -1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void put_differences(struct results_comparison *c, const struct value_differences *list,
			    size_t most, const char *name, const char *title)
{
	static const struct column before[] = {
		{ "of", NULL, VALUE_TEXT },
		{ "value", NULL, VALUE_TEXT },
		{ "unit", NULL, VALUE_TEXT },
		{ NULL },
	};
	struct table *t = list->n ? make_table(c, name, title, before, &number_of_run, true) : NULL;

	for (size_t i = 0; i < list->n && i < most; i++) {
		const struct value_difference *d = &list->items[i];
		struct value row[COMPARE_MOST_RUNS + 8] = {
			value_of_text(d->place),
			value_of_text(d->of->name),
			value_of_text(d->of->unit),
		};

		for (size_t k = 0; k < c->n; k++)
			row[3 + k] = value_of_real(d->values[k]);
		row[3 + c->n] = value_of_real(d->change);
		table_put_values(t, row);
	}
}

static void differences_fini(struct value_differences *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->items[i].place);
		free(list->items[i].values);
	}
	free(list->items);
}

static void put_brief(struct results_comparison *c)
{
	uint64_t more = c->unshown;

	/* All in their order if there is place for them. */
	if (c->headline.n > COMPARE_HEADLINE)
		qsort(c->headline.items, c->headline.n, sizeof(*c->headline.items), by_change);
	if (c->others.n)
		qsort(c->others.items, c->others.n, sizeof(*c->others.items), by_change);
	put_differences(c, &c->headline, COMPARE_HEADLINE, "headline", "the runs as a whole");
	put_differences(c, &c->others, COMPARE_LARGEST, "changes",
			"the largest changes of anything else");
	more += c->headline.n > COMPARE_HEADLINE ? c->headline.n - COMPARE_HEADLINE : 0;
	more += c->others.n > COMPARE_LARGEST ? c->others.n - COMPARE_LARGEST : 0;
	if (more)
		results_remark(
			c->out,
			"%" PRIu64
			" more values differ: --table NAME shows those of a table, --all, --csv and --json all of them",
			more);
	differences_fini(&c->headline);
	differences_fini(&c->others);
}

/* One table of the first run and its namesakes. */
struct aligned {
	const struct table **tables;
	struct labelled **rows;
	size_t *at; /* the row of the label at hand, per run; or SIZE_MAX */
};

static void put_cell(struct results_comparison *c, const struct table *t, const char *label,
		     const struct column *of, const struct value *const *cells)
{
	double values[COMPARE_MOST_RUNS];
	bool words = of->kind == VALUE_TEXT || of->kind == VALUE_BOOL;

	for (size_t i = 0; i < c->n; i++)
		values[i] = value_real(cells[i]);
	if (words && (!c->o->brief || table_is_goals(t)))
		put_texts(c, t->name, label, of, cells);
	else if (words)
		c->unshown++;
	else if (c->o->brief)
		note_difference(c, t, label, of, values);
	else
		put_numbers(c, t->name, label, of, values);
}

static void compare_cell(struct results_comparison *c, const struct aligned *a, const char *label,
			 size_t column)
{
	static const struct value none = { .kind = VALUE_NONE };
	const struct table *t = a->tables[0];
	const struct column *of = &t->columns[column];
	const struct value **cells = hd_alloc(c->n, sizeof(void *));
	bool same = true;

	for (size_t i = 0; i < c->n; i++) {
		size_t k = find_column(a->tables[i], of);

		cells[i] = k == SIZE_MAX || a->at[i] == SIZE_MAX
				   ? &none
				   : table_cell(a->tables[i], a->at[i], k);
		same = same && is_same(cells[0], cells[i]);
	}
	c->equal += same;
	if (!same || c->o->all)
		put_cell(c, t, label, of, cells);
	free(cells);
}

static size_t find_label(const struct labelled *rows, size_t n, const char *label)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct labelled *found = &rows[middle];
		int order = strcmp(found->label, label);

		if (order == 0)
			return found->row;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return SIZE_MAX;
}

/* Labels by row, since the first run's order is the order to show. */
static void compare_rows(struct results_comparison *c, struct aligned *a)
{
	const struct table *t = a->tables[0];
	size_t n = table_rows(t);
	const char **label_of = hd_alloc(n + 1, sizeof(*label_of));

	for (size_t i = 0; i < n; i++)
		label_of[a->rows[0][i].row] = a->rows[0][i].label;
	for (size_t row = 0; row < n; row++) {
		a->at[0] = row;
		for (size_t i = 1; i < c->n; i++) {
			a->at[i] = find_label(a->rows[i], table_rows(a->tables[i]), label_of[row]);
			c->alone += a->at[i] == SIZE_MAX;
		}
		for (size_t k = 0; k < t->n_columns; k++) {
			if (!is_label(t, &t->columns[k]) || t->kind == TABLE_RECORD)
				compare_cell(c, a, label_of[row], k);
		}
	}
	free(label_of);
}

static void compare_table(struct results_comparison *c, const struct table *t)
{
	struct aligned a = {
		.tables = hd_alloc(c->n, sizeof(void *)),
		.rows = hd_alloc(c->n, sizeof(void *)),
		.at = hd_alloc(c->n, sizeof(*a.at)),
	};
	bool everywhere = true;

	for (size_t i = 0; i < c->n; i++) {
		a.tables[i] = results_find(c->runs[i].results, t->name);
		everywhere = everywhere && a.tables[i];
	}
	if (!everywhere) {
		strbuf_printf(&c->lacking, "%s'%s'", c->lacking.len ? ", " : "", t->name);
	} else {
		for (size_t i = 0; i < c->n; i++)
			a.rows[i] = label_rows(a.tables[i]);
		compare_rows(c, &a);
		for (size_t i = 0; i < c->n; i++)
			free_labels(a.rows[i], table_rows(a.tables[i]));
	}
	free(a.tables);
	free(a.rows);
	free(a.at);
}

static void compare_parameter(struct results_comparison *c, const char *name)
{
	static const struct column before[] = { { "parameter", NULL, VALUE_TEXT }, { NULL } };
	struct value row[COMPARE_MOST_RUNS + 8] = { value_of_text(name) };
	const char *first = results_parameter_value(c->runs[0].results, name);
	bool same = true;

	for (size_t i = 1; i < c->n; i++) {
		const char *other = results_parameter_value(c->runs[i].results, name);

		same = same && (first && other ? strcmp(first, other) == 0 : first == other);
	}
	if (same && !c->o->all)
		return;
	if (!c->parameters)
		c->parameters = make_table(c, "parameters", "what the runs were told", before,
					   &words_of_run, false);
	for (size_t i = 0; i < c->n; i++) {
		const char *value = results_parameter_value(c->runs[i].results, name);

		row[1 + i] = value_of_text(value ? value : "-");
	}
	table_put_values(c->parameters, row);
}

/* Parameters of the first run, then those that only later runs have. */
static void compare_parameters(struct results_comparison *c)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct results *r = c->runs[i].results;

		for (size_t k = 0; k < r->n_parameters; k++) {
			const char *name = r->parameters[k].name;
			bool seen = false;

			for (size_t j = 0; j < i && !seen; j++)
				seen = results_parameter_value(c->runs[j].results, name) != NULL;
			if (!seen)
				compare_parameter(c, name);
		}
	}
}

/* Runs of different commands have no input in common. */
static bool has_another_command(const struct results_comparison *c)
{
	const char *first = c->runs[0].results->command;

	for (size_t i = 1; i < c->n; i++) {
		const struct compared *run = &c->runs[i];

		if (strcmp(run->results->command, first) == 0)
			continue;
		results_remark(c->out,
			       "run %" PRId64 " is of 'heddle %s', run %" PRId64
			       " of 'heddle %s': what they were told is not compared",
			       c->runs[0].id, first, run->id, run->results->command);
		return true;
	}
	return false;
}

void compare_runs(const struct compared *runs, size_t n, const struct compare_options *o,
		  struct results *out)
{
	struct results_comparison c = {
		.runs = runs, .n = n, .o = o, .out = out, .lacking = STRBUF_INIT
	};
	const struct results *first = runs[0].results;
	struct strbuf left = STRBUF_INIT;

	if (!o->table && !(o->brief && has_another_command(&c)))
		compare_parameters(&c);
	for (size_t i = 0; i < first->n_tables; i++) {
		const struct table *t = first->tables[i];

		if (o->table && strcmp(o->table, t->name) != 0)
			continue;
		if (!o->table && table_rows(t) > COMPARE_MOST_ROWS)
			strbuf_printf(&left, "%s'%s' (%zu rows)", left.len ? ", " : "", t->name,
				      table_rows(t));
		else
			compare_table(&c, t);
	}
	if (left.len)
		results_remark(out, "left out for their length: %s; --table NAME compares one",
			       left.text);
	strbuf_fini(&left);
	if (c.lacking.len)
		results_remark(out, "tables that not every run has: %s", c.lacking.text);
	strbuf_fini(&c.lacking);
	if (o->brief)
		put_brief(&c);
	if (c.equal)
		results_remark(out, "equal in all runs: %" PRIu64 " value%s%s", c.equal,
			       c.equal == 1 ? "" : "s", o->all ? "" : " (--all shows them)");
	if (c.alone)
		results_remark(out, "rows of the first run that another does not have: %" PRIu64,
			       c.alone);
}
