/* SPDX-License-Identifier: BSD-2-Clause */
#include "study/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"

/* ---- columns ------------------------------------------------------------ */

struct sweep_columns {
	struct column *items;
	size_t n, cap;
	struct value_list names; /* generated names */
};

static void add_column(struct sweep_columns *c, struct column column)
{
	c->items = hd_grow(c->items, &c->cap, c->n + 2, sizeof(*c->items));
	c->items[c->n++] = column;
	c->items[c->n] = (struct column){ 0 };
}

static void add_axes(struct sweep_columns *c, const struct study *s)
{
	for (size_t i = 0; i < s->n_axes; i++) {
		const struct axis *a = &s->axes[i];

		add_column(c, a->labels.n ? (struct column){ a->field, NULL, VALUE_TEXT }
					  : (struct column){ a->field, a->unit, a->kind });
	}
}

/* Adds the leading columns of every point. */
static void add_point_columns(struct sweep_columns *c, const struct study *s)
{
	add_column(c, (struct column){ "point", NULL, VALUE_UINT });
	add_axes(c, s);
	add_column(c, (struct column){ "seed", NULL, VALUE_UINT });
}

/* The values of a row, collected in order. */
struct row_cells {
	struct value *items;
	size_t n, cap;
};

static void add(struct row_cells *row, struct value value)
{
	row->items = hd_grow(row->items, &row->cap, row->n + 1, sizeof(*row->items));
	row->items[row->n++] = value;
}

/* Adds the row and starts the next one. */
static void put(struct row_cells *row, struct table *t)
{
	table_put_values(t, row->items);
	row->n = 0;
}

static struct value axis_value(const struct study *s, size_t axis, size_t cell)
{
	const struct axis *a = &s->axes[axis];
	size_t value = study_value(s, axis, cell);

	if (a->labels.n)
		return value_of_text(a->labels.items[value]);
	return a->kind == VALUE_REAL ? value_of_real(a->numbers[value])
				     : value_of_text(a->values.items[value]);
}

static void add_cell(struct row_cells *row, const struct study *s, size_t cell)
{
	for (size_t i = 0; i < s->n_axes; i++)
		add(row, axis_value(s, i, cell));
}

static void add_point(struct row_cells *row, const struct study *s, size_t point)
{
	add(row, value_of_uint(point));
	add_cell(row, s, study_cell(s, point));
	add(row, value_of_uint(study_seed(s, point)));
}

static const char *title_of(const struct study *s)
{
	return s->title ? s->title : "what each point gave";
}

/* ---- points ------------------------------------------------------------- */

static const struct value *headline(const struct point_outcome *o, size_t measure)
{
	return table_cell(results_find(o->results, "headline"), 0, measure);
}

static struct value failure_of(const struct point_outcome *o)
{
	return value_of_text(o->failure);
}

static void put_wide(const struct study_sweep *w, struct results *r)
{
	const struct measures *m = &w->study->measures;
	struct sweep_columns c = { 0 };
	struct row_cells row = { 0 };

	add_point_columns(&c, w->study);
	for (size_t i = 0; i < m->n; i++)
		add_column(&c, m->items[i].column);
	add_column(&c, (struct column){ "failure", NULL, VALUE_TEXT });
	struct table *t = results_table(r, "points", title_of(w->study), c.items);

	free(c.items);
	for (size_t p = 0; p < w->study->n_points; p++) {
		const struct point_outcome *o = &w->outcomes[p];

		if (!point_outcome_is_known(o))
			continue;
		add_point(&row, w->study, p);
		for (size_t i = 0; i < m->n; i++)
			add(&row, o->results ? *headline(o, i) : value_of_text(NULL));
		add(&row, failure_of(o));
		put(&row, t);
	}
	free(row.items);
}

/* Adds measure, unit, value and failure; a failed point has the failure only. */
static void add_measure(struct row_cells *row, const struct measures *m,
			const struct point_outcome *o, size_t measure)
{
	const struct column *c = &m->items[measure].column;
	const struct value *v = o->results ? headline(o, measure) : NULL;

	add(row, value_of_text(v ? c->name : NULL));
	add(row, value_of_text(!v ? NULL : c->unit ? c->unit : ""));
	add(row, value_of_real(!v ? NAN : v->kind == VALUE_BOOL ? v->yes : value_real(v)));
	add(row, failure_of(o));
}

static void put_tidy(const struct study_sweep *w, struct results *r)
{
	static const struct column tail[] = {
		{ "measure", NULL, VALUE_TEXT },
		{ "unit", NULL, VALUE_TEXT },
		{ "value", NULL, VALUE_REAL, ORIGIN_SIMULATED },
		{ "failure", NULL, VALUE_TEXT },
	};
	const struct measures *m = &w->study->measures;
	struct sweep_columns c = { 0 };
	struct row_cells row = { 0 };

	add_point_columns(&c, w->study);
	for (size_t i = 0; i < sizeof(tail) / sizeof(*tail); i++)
		add_column(&c, tail[i]);
	c.items[c.n - 2].origin = m->items[0].column.origin;
	struct table *t = results_table(r, "points", title_of(w->study), c.items);

	free(c.items);
	for (size_t p = 0; p < w->study->n_points; p++) {
		const struct point_outcome *o = &w->outcomes[p];
		size_t n = o->results ? m->n : o->failure ? 1 : 0;

		for (size_t i = 0; i < n; i++) {
			add_point(&row, w->study, p);
			add_measure(&row, m, o, i);
			put(&row, t);
		}
	}
	free(row.items);
}

/* ---- cells -------------------------------------------------------------- */

static size_t count_done(const struct study_sweep *w, size_t rank)
{
	size_t seeds = (size_t)w->study->seeds, n = 0;

	for (size_t i = 0; i < seeds; i++)
		n += w->outcomes[rank * seeds + i].results ? 1 : 0;
	return n;
}

static bool has_spread(const struct study *s, const struct study_measure *m)
{
	return m->curve == CURVE_SPREAD && s->seeds > 1;
}

static void add_means(struct row_cells *row, const struct study_sweep *w, size_t rank)
{
	const struct measures *m = &w->study->measures;

	for (size_t i = 0; i < m->n; i++) {
		double spread, mean = sweep_mean(w, rank, i, &spread);

		if (m->items[i].curve != CURVE_NONE)
			add(row, value_of_real(mean));
		if (has_spread(w->study, &m->items[i]))
			add(row, value_of_real(spread));
	}
}

static struct table *begin_curves(const struct study *s, struct results *r)
{
	struct sweep_columns c = { 0 };

	add_axes(&c, s);
	for (size_t i = 0; i < s->measures.n; i++) {
		const struct study_measure *m = &s->measures.items[i];
		struct column column = m->column;
		struct strbuf name = STRBUF_INIT;

		column.kind = VALUE_REAL; /* a mean */
		if (m->curve != CURVE_NONE)
			add_column(&c, column);
		strbuf_printf(&name, "%s +-", column.name);
		column.name = strbuf_detach(&name);
		value_list_add(&c.names, (char *)column.name);
		if (has_spread(s, m))
			add_column(&c, column);
	}
	struct table *t = results_series(r, "curves",
					 s->seeds > 1 ? "means over the seeds, and 95 % confidence"
						      : "what each point gave, in short",
					 c.items);

	value_list_fini(&c.names);
	free(c.items);
	return t;
}

static void put_curves(const struct study_sweep *w, struct results *r)
{
	struct table *t = begin_curves(w->study, r);
	struct row_cells row = { 0 };

	for (size_t rank = 0; rank < w->study->n_cells; rank++) {
		if (!count_done(w, rank))
			continue;
		add_cell(&row, w->study, w->study->cells[rank]);
		add_means(&row, w, rank);
		put(&row, t);
	}
	free(row.items);
}

/* Adds a search without a result: only the common fields of the chain. */
static void put_found(const struct study_sweep *w, const struct sweep_chain *c,
		      struct row_cells *row, struct table *t)
{
	const struct study *s = w->study;
	size_t at = sweep_found(w, c);
	bool found = at != SIZE_MAX;
	size_t cell = s->cells[c->ranks[found ? at : 0]];

	for (size_t i = 0; i < s->n_axes; i++) {
		bool sought = s->axes[i].dimension == s->axes[s->search.axis].dimension;

		add(row, sought && !found ? value_of_text(NULL) : axis_value(s, i, cell));
	}
	add(row, value_of_bool(found));
	put(row, t);
}

static bool put_finds(const struct study_sweep *w, struct results *r)
{
	const struct study *s = w->study;
	struct sweep_columns c = { 0 };
	struct row_cells row = { 0 };
	size_t n;
	bool all = true;

	if (s->search.kind != SEARCH_LARGEST && s->search.kind != SEARCH_SMALLEST)
		return true;
	add_axes(&c, s);
	add_column(&c, (struct column){ "found", NULL, VALUE_BOOL, ORIGIN_SIMULATED });
	struct table *t = results_table(r, "found", s->find, c.items);
	struct sweep_chain *chains = sweep_chains(s, &n);

	free(c.items);
	for (size_t i = w->shard; i < n; i += w->n_shards) {
		put_found(w, &chains[i], &row, t);
		all &= sweep_found(w, &chains[i]) != SIZE_MAX;
	}
	free(row.items);
	sweep_chains_free(chains, n);
	return all;
}

/* ---- what is kept ------------------------------------------------------- */

static const struct table *kept_table(const struct point_outcome *o, const char *name)
{
	return o->results ? results_find(o->results, name) : NULL;
}

static bool same_columns(const struct table *a, const struct table *b)
{
	if (a->n_columns != b->n_columns)
		return false;
	for (size_t i = 0; i < a->n_columns; i++) {
		if (strcmp(a->columns[i].name, b->columns[i].name) != 0 ||
		    a->columns[i].kind != b->columns[i].kind)
			return false;
	}
	return true;
}

/* Creates a table like `like`, with the point before each row. */
static struct table *begin_kept(const struct study *s, const struct table *like, struct results *r)
{
	struct sweep_columns c = { 0 };

	add_point_columns(&c, s);
	for (size_t i = 0; i < like->n_columns; i++)
		add_column(&c, like->columns[i]);
	struct table *t = results_table(r, like->name, like->title, c.items);

	free(c.items);
	return t;
}

static void put_rows(const struct study *s, size_t point, const struct table *from, struct table *t)
{
	struct row_cells all = { 0 };

	for (size_t row = 0; row < table_rows(from); row++) {
		add_point(&all, s, point);
		for (size_t i = 0; i < from->n_columns; i++)
			add(&all, *table_cell(from, row, i));
		put(&all, t);
	}
	free(all.items);
}

static void join_kept(const struct study_sweep *w, const char *name, struct results *r)
{
	const struct table *like = NULL;
	struct table *t = NULL;
	size_t other = 0;

	for (size_t p = 0; p < w->study->n_points; p++) {
		const struct table *from = kept_table(&w->outcomes[p], name);

		if (from && !t) {
			like = from;
			t = begin_kept(w->study, like, r);
		}
		if (from && same_columns(from, like))
			put_rows(w->study, p, from, t);
		else if (from)
			other++;
	}
	if (!t)
		results_remark(r, "no point has a table '%s'", name);
	if (other)
		results_remark(
			r, "%zu points have other columns in '%s': those are in the database only",
			other, name);
}

static void put_kept(const struct study_sweep *w, struct results *r)
{
	const struct value_list *tables = &w->study->tables;

	for (size_t i = 0; i < tables->n; i++) {
		if (strcmp(tables->items[i], "all") != 0 && !results_find(r, tables->items[i]))
			join_kept(w, tables->items[i], r);
	}
}

/* As for a single run: goals were missed, or jobs did not finish. */
static bool is_missed(const struct study_sweep *w, const struct point_outcome *o)
{
	size_t goals = study_measure_index(&w->study->measures, GOALS_MET);

	if (!o->results || goals == w->study->measures.n)
		return false;
	const struct value *met = headline(o, goals);

	return met->kind == VALUE_BOOL && !met->yes;
}

/* For a search, such points are the expected outcome. */
static bool put_missed(const struct study_sweep *w, struct results *r)
{
	size_t n = 0, first = 0;

	for (size_t i = w->study->n_points; i-- > 0;) {
		if (is_missed(w, &w->outcomes[i])) {
			first = i;
			n++;
		}
	}
	if (n)
		results_remark(r,
			       "goals missed or jobs failed at %zu point%s; the first is point %zu",
			       n, n == 1 ? "" : "s", first);
	return !n || w->study->search.kind != SEARCH_ALL;
}

static bool put_remarks(const struct study_sweep *w, struct results *r)
{
	size_t failed = 0, done = 0;
	const struct point_outcome *first = NULL;

	for (size_t i = w->study->n_points; i-- > 0;) {
		const struct point_outcome *o = &w->outcomes[i];

		done += point_outcome_is_known(o);
		failed += o->failure ? 1 : 0;
		if (o->failure)
			first = o;
	}
	if (w->interrupted)
		results_remark(r, "interrupted after %zu of %zu points", done, w->study->n_points);
	else if (w->study->skip || w->study->search.kind != SEARCH_ALL || w->n_shards > 1)
		results_remark(r, "%zu of %zu points were run", done, w->study->n_points);
	if (first)
		results_remark(r, "%zu point%s failed; the first: %s", failed,
			       failed == 1 ? "" : "s", first->failure);
	return !failed;
}

bool sweep_tables(const struct study_sweep *w, enum sweep_shape shape, struct results *r)
{
	bool found = put_finds(w, r);

	if (shape == SWEEP_CURVES || shape == SWEEP_BOTH)
		put_curves(w, r);
	if (shape == SWEEP_WIDE || shape == SWEEP_BOTH)
		put_wide(w, r);
	if (shape == SWEEP_TIDY)
		put_tidy(w, r);
	put_kept(w, r);
	found &= put_missed(w, r);
	return put_remarks(w, r) && found;
}
