/* SPDX-License-Identifier: BSD-2-Clause */
#include "study/compare.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "study/sweep.h"

#define FEW_PORTS 4 /* per variant, without --all */

/* ---- tables of all variants --------------------------------------------- */

/* A table of the variants' results: its columns are those that any of them has. */
struct stacked {
	const struct study_comparison *of;
	const struct study_sweep *runs;
	const char *name;
	const struct table *like; /* the first of them */
	struct column *columns;   /* the label, then the others, then a NULL name */
	size_t n, cap;
};

static size_t column_of(const struct column *columns, size_t n, const char *name)
{
	size_t i = 0;

	while (i < n && strcmp(columns[i].name, name) != 0)
		i++;
	return i;
}

static void add_column(struct stacked *x, const struct column *c)
{
	x->columns = hd_grow(x->columns, &x->cap, x->n + 2, sizeof(*x->columns));
	x->columns[x->n] = *c;
	x->columns[x->n++].cell = (struct cell){ 0 };
	x->columns[x->n] = (struct column){ 0 };
}

static const struct table *table_of(const struct stacked *x, size_t variant)
{
	const struct point_outcome *o = &x->runs->outcomes[variant];

	return o->results ? results_find(o->results, x->name) : NULL;
}

static bool has_column(const struct stacked *x, const char *name)
{
	for (size_t v = 0; v < x->of->n; v++) {
		const struct table *t = table_of(x, v);

		if (t && column_of(t->columns, t->n_columns, name) < t->n_columns)
			return true;
	}
	return false;
}

static void find_columns(struct stacked *x)
{
	const char *label = has_column(x, x->of->label) ? x->of->field : x->of->label;

	add_column(x, &(struct column){ label, NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 });
	for (size_t v = 0; v < x->of->n; v++) {
		const struct table *t = table_of(x, v);

		for (size_t i = 0; t && i < t->n_columns; i++) {
			if (column_of(x->columns, x->n, t->columns[i].name) == x->n)
				add_column(x, &t->columns[i]);
		}
	}
}

static void put_rows(const struct stacked *x, size_t variant, struct table *out)
{
	const struct table *t = table_of(x, variant);
	bool is_few = !x->of->all && strcmp(x->name, "ports") == 0;
	size_t rows = !t ? 0 : is_few && table_rows(t) > FEW_PORTS ? FEW_PORTS : table_rows(t);
	struct value *values = hd_alloc(x->n, sizeof(*values));

	for (size_t row = 0; row < rows; row++) {
		values[0] = value_of_text(x->of->values[variant]);
		for (size_t i = 1; i < x->n; i++) {
			size_t from = column_of(t->columns, t->n_columns, x->columns[i].name);

			values[i] = from < t->n_columns ? *table_cell(t, row, from)
							: value_of_text(NULL);
		}
		table_put_values(out, values);
	}
	free(values);
}

static void put_table(struct stacked *x, struct results *out)
{
	find_columns(x);
	struct table *t = x->like->kind == TABLE_SERIES
				  ? results_series(out, x->name, x->like->title, x->columns)
				  : results_table(out, x->name, x->like->title, x->columns);

	for (size_t v = 0; v < x->of->n; v++)
		put_rows(x, v, t);
	free(x->columns);
}

/* The fabric is the same in each variant; the headline is no table of 'sim'. */
static bool is_shown(const struct study_comparison *c, const char *name)
{
	return strcmp(name, "headline") != 0 && (c->all || strcmp(name, "fabric") != 0);
}

static void put_tables(const struct study_comparison *c, const struct study_sweep *w,
		       struct results *out)
{
	for (size_t v = 0; v < c->n; v++) {
		const struct results *r = w->outcomes[v].results;

		for (size_t i = 0; r && i < r->n_tables; i++) {
			struct stacked x = {
				.of = c, .runs = w, .name = r->tables[i]->name, .like = r->tables[i]
			};

			if (is_shown(c, x.name) && !results_find(out, x.name))
				put_table(&x, out);
		}
	}
}

/* ---- remarks ------------------------------------------------------------ */

static bool is_said_by(const struct study_sweep *w, size_t variant, const char *remark)
{
	const struct results *r = w->outcomes[variant].results;

	for (size_t i = 0; r && i < r->n_remarks; i++) {
		if (strcmp(r->remarks[i], remark) == 0)
			return true;
	}
	return false;
}

/* Once, with the variants that it is about. */
static void put_remark(const struct study_comparison *c, const struct study_sweep *w, size_t first,
		       const char *remark, struct results *out)
{
	struct strbuf names = STRBUF_INIT;

	for (size_t v = 0; v < c->n; v++) {
		if (!is_said_by(w, v, remark))
			continue;
		if (v < first) {
			strbuf_fini(&names);
			return;
		}
		strbuf_printf(&names, "%s%s", names.len ? ", " : "", c->values[v]);
	}
	results_remark(out, "%s: %s", names.text, remark);
	strbuf_fini(&names);
}

static void put_remarks(const struct study_comparison *c, const struct study_sweep *w,
			struct results *out)
{
	size_t ended = 0;

	for (size_t v = 0; v < c->n; v++) {
		const struct point_outcome *o = &w->outcomes[v];

		ended += point_outcome_is_known(o);
		if (o->failure)
			results_remark(out, "%s: not simulated: %s", c->values[v], o->failure);
		for (size_t i = 0; o->results && i < o->results->n_remarks; i++)
			put_remark(c, w, v, o->results->remarks[i], out);
	}
	if (ended < c->n)
		results_remark(out, "interrupted after %zu of %zu runs", ended, c->n);
}

/* ---- running them ------------------------------------------------------- */

static enum hd_status make_study(const struct study_comparison *c, struct diag *d,
				 struct study *out)
{
	struct strbuf axis = STRBUF_INIT;
	enum hd_status status = study_read(c->path, c->overrides, d, out);

	if (status == HD_OK && out->file) {
		d->file = c->path;
		status = diag_fail(d, HD_ERR_INPUT, "is a study; a scenario is required");
	}
	strbuf_printf(&axis, "%s=", c->field);
	for (size_t i = 0; i < c->n; i++)
		strbuf_printf(&axis, "%s%s", i ? "," : "", c->values[i]);
	if (status == HD_OK)
		status = study_vary(out, axis.text, d);
	strbuf_fini(&axis);
	if (status != HD_OK)
		return status;
	study_append(&out->keep, "all");
	out->as_sim = true;
	out->all = c->all;
	out->rates = c->rates;
	if (c->seeds)
		out->seeds = c->seeds;
	return study_resolve(out, d);
}

/* If no variant could be run there is nothing to compare. */
static enum hd_status judge(const struct study_comparison *c, const struct study_sweep *w,
			    struct diag *d, struct results *out)
{
	const struct point_outcome *first = &w->outcomes[0];

	for (size_t v = 0; v < c->n; v++) {
		if (!w->outcomes[v].failure) {
			put_tables(c, w, out);
			put_remarks(c, w, out);
			return HD_OK;
		}
	}
	d->file = NULL;
	return diag_fail(d, first->again ? HD_ERR_ENV : HD_ERR_INPUT, "%s", first->failure);
}

enum hd_status comparison_run(struct study_comparison *c, struct diag *d, struct results *out)
{
	struct study study = { 0 };
	struct study_sweep w;
	enum hd_status status = make_study(c, d, &study);

	if (status == HD_OK) {
		c->seed = study.first_seed;
		results_set_scenario(out, study.base);
		sweep_init(&w, &study);
		w.at_once = c->at_once;
		w.tick = c->tick;
		w.context = c->context;
		if (c->begin)
			c->begin(c->context);
		status = sweep_run(&w, d);
		if (status == HD_OK)
			status = c->tables ? c->tables(c, &w, d, out) : judge(c, &w, d, out);
		sweep_fini(&w);
	}
	/* The refusal outlives the study. */
	if (d->file && (d->file == study.file || d->file == study.base_file))
		d->file = c->path;
	study_fini(&study);
	return status;
}
