/* SPDX-License-Identifier: BSD-2-Clause */
#include "paper/grid.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* ---- points ------------------------------------------------------------- */

/* "axis=label|label, ..." */
static enum hd_status select_points(struct study *s, const char *given, struct diag *d)
{
	struct value_list items = { 0 };
	enum hd_status status = HD_OK;

	value_list_split(&items, given);
	for (size_t i = 0; i < items.n; i++) {
		char *equals = strchr(items.items[i], '=');

		if (!equals) {
			status = diag_fail(d, HD_ERR_INPUT, "given: '%.80s' is not AXIS=VALUES",
					   items.items[i]);
			break;
		}
		*equals = '\0';
		study_select(s, items.items[i], equals + 1);
	}
	value_list_fini(&items);
	return status;
}

static enum hd_status make_study(struct study *s, const struct paper *p,
				 const struct paper_experiment *e, bool quick, struct diag *d)
{
	const struct paper_study *of = e->study;
	const char *given = quick && e->quick_given ? e->quick_given : e->given;
	enum hd_status status = HD_OK;

	study_init_template(s, quick && of->quick ? of->quick : of->command, p->file);
	for (size_t i = 0; i < of->n_axes; i++) {
		const struct paper_axis *a = &of->axes[i];
		const struct schema_place *at = schema_place_of(&p->places, &a->values);

		study_add_axis(s, a->name, quick && a->quick ? a->quick : a->values,
			       at ? at->line : 0);
	}
	if (given)
		status = select_points(s, given, d);
	return status == HD_OK ? study_resolve(s, d) : status;
}

/* The rank of a point's setting among all combinations of values of open axes. */
static size_t rank_of_setting(const struct paper_grid *g, size_t point, size_t *n)
{
	size_t rank = 0;

	*n = 1;
	for (size_t i = 0; i < g->study.n_axes; i++) {
		if (!g->of->axes[i].open)
			continue;
		*n *= g->study.axes[i].values.n;
		rank = rank * g->study.axes[i].values.n +
		       study_value(&g->study, i, study_cell(&g->study, point));
	}
	return rank;
}

/* In the order of their first points. */
static void number_settings(struct paper_grid *g)
{
	size_t n;

	rank_of_setting(g, 0, &n);
	size_t *numbers = hd_alloc(n, sizeof(*numbers)); /* from 1; 0: none yet */

	g->settings = hd_alloc(g->study.n_points, sizeof(*g->settings));
	for (size_t i = 0; i < g->study.n_points; i++) {
		size_t *number = &numbers[rank_of_setting(g, i, &n)];

		if (!*number)
			*number = ++g->n_settings;
		g->settings[i] = *number - 1;
	}
	free(numbers);
}

static size_t first_point(const struct paper_grid *g, size_t setting)
{
	size_t point = 0;

	while (g->settings[point] != setting)
		point++;
	return point;
}

enum hd_status paper_grid_init(struct paper_grid *g, const struct paper *p,
			       const struct paper_experiment *e, bool quick, struct diag *d)
{
	*g = (struct paper_grid){ .of = e->study };
	enum hd_status status = make_study(&g->study, p, e, quick, d);

	if (status == HD_OK)
		number_settings(g);
	return status;
}

void paper_grid_fini(struct paper_grid *g)
{
	study_fini(&g->study);
	free(g->settings);
	*g = (struct paper_grid){ 0 };
}

/* ---- settings ----------------------------------------------------------- */

const char *paper_grid_setting_value(const struct paper_grid *g, size_t setting, const char *axis)
{
	size_t i = study_axis_of(&g->study, axis, strlen(axis));

	if (i == g->study.n_axes || !g->of->axes[i].open)
		return NULL;
	return study_value_text(&g->study, i, first_point(g, setting));
}

/* Whether an open axis has more than one value among the points. */
static bool is_tried(const struct paper_grid *g, size_t axis)
{
	const struct study *s = &g->study;

	for (size_t i = 1; g->of->axes[axis].open && i < s->n_points; i++) {
		if (study_value_text(s, axis, i) != study_value_text(s, axis, 0))
			return true;
	}
	return false;
}

void paper_grid_setting_print(const struct paper_grid *g, size_t setting, struct strbuf *out)
{
	size_t point = first_point(g, setting);
	const char *comma = "";

	for (size_t i = 0; i < g->study.n_axes; i++) {
		if (!is_tried(g, i))
			continue;
		strbuf_printf(out, "%s%s=%s", comma, g->study.axes[i].field,
			      study_value_text(&g->study, i, point));
		comma = ", ";
	}
}

/* ---- sets of settings --------------------------------------------------- */

/* The values of each open axis, as bits: their product is a set of settings. */
struct product {
	uint64_t *values;
};

static bool same_except(const struct product *a, const struct product *b, size_t n, size_t axis)
{
	for (size_t i = 0; i < n; i++) {
		if (i != axis && a->values[i] != b->values[i])
			return false;
	}
	return true;
}

/* Merges into the first of `n` products those that differ from it in `axis` only; returns how
 * many are left. */
static size_t merge_into_first(struct product *sets, size_t n, size_t n_axes, size_t axis)
{
	for (size_t k = 1; k < n;) {
		if (!same_except(&sets[0], &sets[k], n_axes, axis)) {
			k++;
			continue;
		}
		sets[0].values[axis] |= sets[k].values[axis];
		free(sets[k].values);
		memmove(&sets[k], &sets[k + 1], (--n - k) * sizeof(*sets));
	}
	return n;
}

/* Merges products that differ in one axis only; returns how many are left. */
static size_t merge_products(struct product *sets, size_t n, size_t n_axes)
{
	for (size_t axis = n_axes; axis-- > 0;) {
		for (size_t i = 0; i < n; i++)
			n = i + merge_into_first(&sets[i], n - i, n_axes, axis);
	}
	return n;
}

static uint64_t value_bit(const struct paper_grid *g, size_t axis, size_t point)
{
	if (!g->of->axes[axis].open)
		return 0;
	return (uint64_t)1 << (study_value(&g->study, axis, study_cell(&g->study, point)) % 64);
}

static struct product *products_of(const struct paper_grid *g, const bool *member, bool wanted,
				   size_t *n)
{
	struct product *sets = hd_alloc(g->n_settings + 1, sizeof(*sets));

	*n = 0;
	for (size_t i = 0; i < g->n_settings; i++) {
		if (member[i] != wanted)
			continue;
		sets[*n].values = hd_alloc(g->study.n_axes + 1, sizeof(uint64_t));
		for (size_t k = 0; k < g->study.n_axes; k++)
			sets[*n].values[k] = value_bit(g, k, first_point(g, i));
		++*n;
	}
	*n = merge_products(sets, *n, g->study.n_axes);
	return sets;
}

/* "axis=label|label" of the values whose bits are set, in the order of the points. */
static void axis_print(const struct paper_grid *g, size_t axis, uint64_t values, struct strbuf *out)
{
	const char *separator = "=";

	strbuf_puts(out, g->study.axes[axis].field);
	for (size_t i = 0; i < g->study.n_points && values; i++) {
		uint64_t bit = value_bit(g, axis, i);

		if (!(values & bit))
			continue;
		strbuf_printf(out, "%s%s", separator, study_value_text(&g->study, axis, i));
		values &= ~bit;
		separator = "|";
	}
}

static void product_print(const struct paper_grid *g, const struct product *p, struct strbuf *out)
{
	const char *comma = "";

	for (size_t i = 0; i < g->study.n_axes; i++) {
		uint64_t all = 0;

		for (size_t k = 0; k < g->study.n_points; k++)
			all |= value_bit(g, i, k);
		if (p->values[i] == all)
			continue;
		strbuf_puts(out, comma);
		axis_print(g, i, p->values[i], out);
		comma = ", ";
	}
}

static void products_free(struct product *sets, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(sets[i].values);
	free(sets);
}

void paper_grid_settings_print(const struct paper_grid *g, const bool *member, struct strbuf *out)
{
	size_t n_in, n_out;
	struct product *in = products_of(g, member, true, &n_in);
	struct product *others = products_of(g, member, false, &n_out);
	bool few = n_in <= n_out;

	if (!few)
		strbuf_puts(out, "all but ");
	for (size_t i = 0; i < (few ? n_in : n_out); i++) {
		strbuf_puts(out, i ? "; " : "");
		product_print(g, few ? &in[i] : &others[i], out);
	}
	products_free(in, n_in);
	products_free(others, n_out);
}

/* ---- results ------------------------------------------------------------ */

/* A table with the columns of `t` behind those of the axes. */
static struct table *add_table(const struct paper_grid *g, const struct table *t,
			       struct results *out)
{
	size_t n = g->study.n_axes;
	struct column *columns = hd_alloc(n + t->n_columns + 1, sizeof(*columns));

	for (size_t i = 0; i < n; i++)
		columns[i] = (struct column){ .name = g->study.axes[i].field, .kind = VALUE_TEXT };
	memcpy(columns + n, t->columns, t->n_columns * sizeof(*columns));
	struct table *made = results_table(out, t->name, t->title, columns);

	free(columns);
	return made;
}

static void append_rows(const struct paper_grid *g, size_t point, const struct table *t,
			struct table *out)
{
	size_t n = g->study.n_axes;
	struct value *row = hd_alloc(out->n_columns, sizeof(*row));

	for (size_t i = 0; i < n; i++)
		row[i] = value_of_text(study_value_text(&g->study, i, point));
	for (size_t k = 0; k < table_rows(t); k++) {
		memcpy(row + n, table_cell(t, k, 0), t->n_columns * sizeof(*row));
		table_put_values(out, row);
	}
	free(row);
}

void paper_grid_gather(const struct paper_grid *g, size_t setting, const char *table,
		       paper_grid_results_fn *of, const void *context, struct results *out)
{
	struct table *made = NULL;

	for (size_t i = 0; i < g->study.n_points; i++) {
		const struct results *r = of(context, i);
		const struct table *t = r ? results_find(r, table) : NULL;

		if (g->settings[i] != setting || !t)
			continue;
		if (!made)
			made = add_table(g, t, out);
		if (made->n_columns == t->n_columns + g->study.n_axes)
			append_rows(g, i, t, made);
	}
}
