/* SPDX-License-Identifier: BSD-2-Clause */
#include "study/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* ---- columns ------------------------------------------------------------ */

struct columns {
	struct column *items;
	size_t n, cap;
};

static void add_column(struct columns *c, struct column column)
{
	c->items = hd_grow(c->items, &c->cap, c->n + 2, sizeof(*c->items));
	c->items[c->n++] = column;
	c->items[c->n] = (struct column){ 0 };
}

static void add_axes(struct columns *c, const struct study *s)
{
	for (size_t i = 0; i < s->n_axes; i++)
		add_column(c,
			   (struct column){ s->axes[i].field, s->axes[i].unit,
					    s->axes[i].kind });
}

/* What the row of every point begins with. */
static void add_point(struct columns *c, const struct study *s)
{
	add_column(c, (struct column){ "point", NULL, VALUE_UINT });
	add_axes(c, s);
	add_column(c, (struct column){ "seed", NULL, VALUE_UINT });
}

static void put_value(const struct study *s, size_t axis, size_t cell,
		      struct table *t)
{
	const struct axis *a = &s->axes[axis];
	size_t value = study_value(s, axis, cell);

	if (a->kind == VALUE_REAL)
		table_put_real(t, a->numbers[value]);
	else
		table_put_text(t, a->values.items[value]);
}

static void put_axes(const struct study *s, size_t cell, struct table *t)
{
	for (size_t i = 0; i < s->n_axes; i++)
		put_value(s, i, cell, t);
}

static void put_point(const struct study *s, size_t point, struct table *t)
{
	table_put_uint(t, point);
	put_axes(s, study_cell(s, point), t);
	table_put_uint(t, study_seed(s, point));
}

static const char *title_of(const struct study *s)
{
	return s->title ? s->title : "what each point gave";
}

/* ---- points ------------------------------------------------------------- */

static const struct value *headline(const struct outcome *o, size_t measure)
{
	return table_cell(results_find(o->results, "headline"), 0, measure);
}

static void put_failure(const struct outcome *o, struct table *t)
{
	if (o->state == OUTCOME_FAILED)
		table_put_text(t, o->failure);
	else
		table_put_none(t);
}

static void put_wide(const struct sweep *w, struct results *r)
{
	struct columns c = { 0 };

	add_point(&c, w->study);
	for (size_t i = 0; i < N_MEASURES; i++)
		add_column(&c, point_measures[i]);
	add_column(&c, (struct column){ "failure", NULL, VALUE_TEXT });
	struct table *t =
		results_table(r, "points", title_of(w->study), c.items);

	free(c.items);
	for (size_t p = 0; p < w->study->n_points; p++) {
		const struct outcome *o = &w->outcomes[p];

		if (o->state == OUTCOME_NONE)
			continue;
		put_point(w->study, p, t);
		for (size_t i = 0; i < N_MEASURES; i++) {
			if (o->state == OUTCOME_DONE)
				table_put_value(t, headline(o, i));
			else
				table_put_none(t);
		}
		put_failure(o, t);
	}
}

static void put_measure(const struct outcome *o, size_t measure,
			struct table *t)
{
	const struct column *c = &point_measures[measure];
	const struct value *v = headline(o, measure);

	table_put_text(t, c->name);
	table_put_text(t, c->unit ? c->unit : "");
	if (v->kind == VALUE_BOOL)
		table_put_real(t, v->yes);
	else
		table_put_real(t, value_real(v));
	table_put_none(t);
}

static void put_tidy(const struct sweep *w, struct results *r)
{
	static const struct column tail[] = {
		{ "measure", NULL, VALUE_TEXT },
		{ "unit", NULL, VALUE_TEXT },
		{ "value", NULL, VALUE_REAL, ORIGIN_SIMULATED },
		{ "failure", NULL, VALUE_TEXT },
	};
	struct columns c = { 0 };

	add_point(&c, w->study);
	for (size_t i = 0; i < sizeof(tail) / sizeof(*tail); i++)
		add_column(&c, tail[i]);
	struct table *t =
		results_table(r, "points", title_of(w->study), c.items);

	free(c.items);
	for (size_t p = 0; p < w->study->n_points; p++) {
		const struct outcome *o = &w->outcomes[p];

		for (size_t i = 0; o->state == OUTCOME_DONE && i < N_MEASURES;
		     i++) {
			put_point(w->study, p, t);
			put_measure(o, i, t);
		}
		if (o->state != OUTCOME_FAILED)
			continue;
		put_point(w->study, p, t);
		table_put_none(t);
		table_put_none(t);
		table_put_none(t);
		put_failure(o, t);
	}
}

/* ---- cells -------------------------------------------------------------- */

/* Measures of the curves; `spread`: with their confidence. */
static const struct {
	const char *name, *spread;
} curves[] = {
	{ "offered", NULL },   { "delivered", "delivered +-" },
	{ "mean", "mean +-" }, { "p50", NULL },
	{ "p99", "p99 +-" },   { "max", NULL },
	{ "fairness", NULL },  { "busiest link", NULL },
	{ "lost", NULL },
};
#define N_CURVES (sizeof(curves) / sizeof(*curves))

static size_t count_done(const struct sweep *w, size_t rank)
{
	size_t seeds = (size_t)w->study->seeds, n = 0;

	for (size_t i = 0; i < seeds; i++)
		n += w->outcomes[rank * seeds + i].state == OUTCOME_DONE;
	return n;
}

static void put_cell(const struct sweep *w, size_t rank, struct table *t)
{
	put_axes(w->study, w->study->cells[rank], t);
	for (size_t i = 0; i < N_CURVES; i++) {
		double spread;

		table_put_real(t,
			       sweep_mean(w, rank, measure_of(curves[i].name),
					  &spread));
		if (curves[i].spread && w->study->seeds > 1)
			table_put_real(t, spread);
	}
}

static void put_curves(const struct sweep *w, struct results *r)
{
	struct columns c = { 0 };

	add_axes(&c, w->study);
	for (size_t i = 0; i < N_CURVES; i++) {
		struct column m = point_measures[measure_of(curves[i].name)];

		m.kind = VALUE_REAL; /* a mean */
		add_column(&c, m);
		m.name = curves[i].spread;
		if (m.name && w->study->seeds > 1)
			add_column(&c, m);
	}
	struct table *t = results_series(
		r, "curves",
		w->study->seeds > 1
			? "means over the seeds, and 95 % confidence"
			: "what each point gave, in short",
		c.items);

	free(c.items);
	for (size_t rank = 0; rank < w->study->n_cells; rank++) {
		if (count_done(w, rank))
			put_cell(w, rank, t);
	}
}

/* Nothing found: only what the chain has in common. */
static void put_found(const struct sweep *w, const struct chain *c,
		      struct table *t)
{
	const struct study *s = w->study;
	size_t at = sweep_found(w, c);
	bool found = at != SIZE_MAX;

	for (size_t i = 0; i < s->n_axes; i++) {
		if (!found &&
		    s->axes[i].dimension == s->axes[s->search.axis].dimension)
			table_put_none(t);
		else
			put_value(s, i, s->cells[c->ranks[found ? at : 0]], t);
	}
	table_put_bool(t, found);
}

static bool put_finds(const struct sweep *w, struct results *r)
{
	const struct study *s = w->study;
	struct columns c = { 0 };
	size_t n;
	bool all = true;

	if (s->search.kind != SEARCH_LARGEST &&
	    s->search.kind != SEARCH_SMALLEST)
		return true;
	add_axes(&c, s);
	add_column(&c, (struct column){ "found", NULL, VALUE_BOOL,
					ORIGIN_SIMULATED });
	struct table *t = results_table(r, "found", s->find, c.items);
	struct chain *chains = sweep_chains(s, &n);

	free(c.items);
	for (size_t i = w->shard; i < n; i += w->n_shards) {
		put_found(w, &chains[i], t);
		all &= sweep_found(w, &chains[i]) != SIZE_MAX;
	}
	chains_free(chains, n);
	return all;
}

/* ---- what is kept ------------------------------------------------------- */

static const struct table *kept_table(const struct outcome *o, const char *name)
{
	return o->state == OUTCOME_DONE ? results_find(o->results, name) : NULL;
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

/* A table like `like`, each row with its point before it. */
static struct table *begin_kept(const struct study *s, const struct table *like,
				struct results *r)
{
	struct columns c = { 0 };

	add_point(&c, s);
	for (size_t i = 0; i < like->n_columns; i++)
		add_column(&c, like->columns[i]);
	struct table *t = results_table(r, like->name, like->title, c.items);

	free(c.items);
	return t;
}

static void put_rows(const struct study *s, size_t point,
		     const struct table *from, struct table *t)
{
	for (size_t row = 0; row < table_rows(from); row++) {
		put_point(s, point, t);
		for (size_t i = 0; i < from->n_columns; i++)
			table_put_value(t, table_cell(from, row, i));
	}
}

static void join_kept(const struct sweep *w, const char *name,
		      struct results *r)
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
		results_remark(r,
			       "%zu points have other columns in '%s': those "
			       "are in the database only",
			       other, name);
}

static void put_kept(const struct sweep *w, struct results *r)
{
	const struct pieces *tables = &w->study->tables;

	for (size_t i = 0; i < tables->n; i++) {
		if (strcmp(tables->items[i], "all") != 0 &&
		    !results_find(r, tables->items[i]))
			join_kept(w, tables->items[i], r);
	}
}

static bool put_remarks(const struct sweep *w, struct results *r)
{
	size_t failed = 0, done = 0;
	const struct outcome *first = NULL;

	for (size_t i = w->study->n_points; i-- > 0;) {
		const struct outcome *o = &w->outcomes[i];

		done += o->state != OUTCOME_NONE;
		failed += o->state == OUTCOME_FAILED;
		if (o->state == OUTCOME_FAILED)
			first = o;
	}
	if (w->study->skip || w->study->search.kind != SEARCH_ALL ||
	    w->interrupted || w->n_shards > 1)
		results_remark(r, "%zu of %zu points were run", done,
			       w->study->n_points);
	if (first)
		results_remark(r, "%zu point%s failed; the first: %s", failed,
			       failed == 1 ? "" : "s", first->failure);
	return !failed;
}

bool sweep_tables(const struct sweep *w, enum sweep_shape shape,
		  struct results *r)
{
	bool found = put_finds(w, r);

	if (shape == SWEEP_CURVES || shape == SWEEP_BOTH)
		put_curves(w, r);
	if (shape == SWEEP_WIDE || shape == SWEEP_BOTH)
		put_wide(w, r);
	if (shape == SWEEP_TIDY)
		put_tidy(w, r);
	put_kept(w, r);
	return put_remarks(w, r) && found;
}
