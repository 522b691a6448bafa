/* SPDX-License-Identifier: BSD-2-Clause */
#include "paper/points.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/text.h"

static const struct pieces *values_of(const struct paper_points *g, size_t axis)
{
	const struct paper_axis *a = &g->study->axes[axis];

	return g->quick ? &a->few : &a->full;
}

/* How many points the whole grid has; 0 if they are too many. */
static size_t whole_of(const struct paper_points *g)
{
	size_t n = 1;

	for (size_t i = 0; i < g->study->n_axes; i++) {
		if (values_of(g, i)->n > PAPER_MOST_POINTS / n)
			return 0;
		n *= values_of(g, i)->n;
	}
	return n;
}

/* Which value of an axis a point of the whole grid has. */
static size_t value_at(const struct paper_points *g, size_t point, size_t axis)
{
	for (size_t i = g->study->n_axes; i-- > axis + 1;)
		point /= values_of(g, i)->n;
	return point % values_of(g, axis)->n;
}

/* The part before the '=', or all of it; and what stands behind. */
static char *label_of(const char *value)
{
	return text_trimmed(value, strcspn(value, "="));
}

static const char *text_of(const char *value)
{
	const char *equals = strchr(value, '=');

	return equals ? equals + 1 : value;
}

/* ---- which points ------------------------------------------------------- */

static size_t axis_named(const struct paper_study *s, const char *name, size_t len)
{
	size_t i = 0;

	while (i < s->n_axes &&
	       (strlen(s->axes[i].name) != len || memcmp(s->axes[i].name, name, len) != 0))
		i++;
	return i;
}

static bool is_label(const char *value, const char *label, size_t len)
{
	char *its = label_of(value);
	bool same = strlen(its) == len && memcmp(its, label, len) == 0;

	free(its);
	return same;
}

/* Marks the values that "a|b|c" names; false if one is unknown. */
static bool mark_values(const struct pieces *values, const char *text, size_t len, bool *wanted)
{
	const char *end = text + len;

	while (text < end) {
		const char *bar = memchr(text, '|', (size_t)(end - text));
		size_t n = (size_t)((bar ? bar : end) - text);
		bool known = false;

		for (size_t i = 0; i < values->n; i++) {
			bool it = is_label(values->items[i], text, n);

			wanted[i] |= it;
			known |= it;
		}
		if (!known)
			return false;
		text += n + 1;
	}
	return true;
}

/* Which values of each axis count: NULL for an axis means all of them. */
static enum hd_status read_given(const struct paper_points *g, const char *given, struct diag *d,
				 bool **wanted)
{
	while (given && *given) {
		size_t item = strcspn(given, ",");
		size_t name = strcspn(given, "=,");
		size_t axis = axis_named(g->study, given, name);

		if (name == item || axis == g->study->n_axes)
			return diag_fail(d, HD_ERR_INPUT, "'%.*s' names no axis of the study",
					 (int)item, given);
		const struct pieces *values = values_of(g, axis);

		free(wanted[axis]); /* said twice: the last one counts */
		wanted[axis] = hd_alloc(values->n, sizeof(**wanted));
		if (!mark_values(values, given + name + 1, item - name - 1, wanted[axis]))
			return diag_fail(d, HD_ERR_INPUT, "'%.*s' is no value of that axis%s",
					 (int)item, given, g->quick ? " in a quick run" : "");
		given += item;
		given += strspn(given, ", ");
	}
	return HD_OK;
}

/* The number of a point's setting: equal for equal values of open axes. */
static size_t setting_key(const struct paper_points *g, size_t point)
{
	size_t key = 0;

	for (size_t i = 0; i < g->study->n_axes; i++) {
		if (g->study->axes[i].open)
			key = key * values_of(g, i)->n + value_at(g, point, i);
	}
	return key;
}

/* `numbers` has a setting's number, from 1, by its key. */
static void add_point(struct paper_points *g, size_t point, size_t *numbers)
{
	size_t *number = &numbers[setting_key(g, point)];

	if (!*number)
		*number = ++g->n_settings;
	g->settings[g->n_points] = *number - 1;
	g->points[g->n_points++] = point;
}

enum hd_status points_init(struct paper_points *g, const struct paper_experiment *e, bool quick,
			   struct diag *d)
{
	const struct paper_study *s = e->study;
	const char *given = quick && e->quick_given ? e->quick_given : e->given;

	*g = (struct paper_points){ .study = s, .quick = quick };
	size_t whole = whole_of(g);

	if (!whole)
		return diag_fail(d, HD_ERR_INPUT, "the study has more than %d points",
				 PAPER_MOST_POINTS);
	bool **wanted = hd_alloc(s->n_axes + 1, sizeof(*wanted));
	size_t *numbers = hd_alloc(whole, sizeof(*numbers));
	enum hd_status status = read_given(g, given, d, wanted);

	g->points = hd_alloc(whole, sizeof(*g->points));
	g->settings = hd_alloc(whole, sizeof(*g->settings));
	for (size_t i = 0; status == HD_OK && i < whole; i++) {
		bool in = true;

		for (size_t a = 0; a < s->n_axes; a++)
			in = in && (!wanted[a] || wanted[a][value_at(g, i, a)]);
		if (in)
			add_point(g, i, numbers);
	}
	for (size_t a = 0; a < s->n_axes; a++)
		free(wanted[a]);
	free(wanted);
	free(numbers);
	return status;
}

void points_fini(struct paper_points *g)
{
	free(g->points);
	free(g->settings);
	*g = (struct paper_points){ 0 };
}

/* ---- what they are ------------------------------------------------------ */

char *points_label(const struct paper_points *g, size_t i, size_t axis)
{
	return label_of(values_of(g, axis)->items[value_at(g, g->points[i], axis)]);
}

char *points_command(const struct paper_points *g, size_t i)
{
	const struct paper_study *s = g->study;
	const char *c = g->quick && s->quick ? s->quick : s->command;
	struct strbuf out = STRBUF_INIT;

	while (*c) {
		size_t len = *c == '{' ? strcspn(c, "}") : 0;
		size_t axis = len ? axis_named(s, c + 1, len - 1) : s->n_axes;

		if (axis < s->n_axes) {
			const struct pieces *v = values_of(g, axis);

			strbuf_puts(&out, text_of(v->items[value_at(g, g->points[i], axis)]));
			c += len + 1;
		} else {
			strbuf_putc(&out, *c++);
		}
	}
	return strbuf_detach(&out);
}

static size_t first_of(const struct paper_points *g, size_t setting)
{
	size_t point = 0;

	while (g->settings[point] != setting)
		point++;
	return point;
}

char *points_setting_label(const struct paper_points *g, size_t setting, const char *axis)
{
	size_t i = axis_named(g->study, axis, strlen(axis));

	if (i == g->study->n_axes || !g->study->axes[i].open)
		return NULL;
	return points_label(g, first_of(g, setting), i);
}

/* Whether the paper leaves it open, and more than one value is tried. */
static bool is_tried(const struct paper_points *g, size_t axis)
{
	for (size_t i = 1; g->study->axes[axis].open && i < g->n_points; i++) {
		if (value_at(g, g->points[i], axis) != value_at(g, g->points[0], axis))
			return true;
	}
	return false;
}

void points_setting(const struct paper_points *g, size_t setting, struct strbuf *out)
{
	size_t point = first_of(g, setting);
	const char *comma = "";

	for (size_t i = 0; i < g->study->n_axes; i++) {
		if (!is_tried(g, i))
			continue;
		char *label = points_label(g, point, i);

		strbuf_printf(out, "%s%s=%s", comma, g->study->axes[i].name, label);
		comma = ", ";
		free(label);
	}
}

/* ---- their results ------------------------------------------------------ */

/* The table's columns behind those of the axes. */
static struct table *like(const struct paper_points *g, const struct table *t, struct results *out)
{
	size_t n = g->study->n_axes;
	struct column *columns = hd_alloc(n + t->n_columns + 1, sizeof(*columns));

	for (size_t i = 0; i < n; i++)
		columns[i] = (struct column){ .name = g->study->axes[i].name, .kind = VALUE_TEXT };
	memcpy(columns + n, t->columns, t->n_columns * sizeof(*columns));
	struct table *made = results_table(out, t->name, t->title, columns);

	free(columns);
	return made;
}

static void append(const struct paper_points *g, size_t i, const struct table *t, struct table *out)
{
	size_t n_axes = g->study->n_axes;
	struct value *row = hd_alloc(out->n_columns, sizeof(*row));
	char **labels = hd_alloc(n_axes, sizeof(*labels));

	for (size_t a = 0; a < n_axes; a++) {
		labels[a] = points_label(g, i, a);
		row[a] = value_of_text(labels[a]);
	}
	for (size_t k = 0; k < table_rows(t); k++) {
		memcpy(row + n_axes, table_cell(t, k, 0), t->n_columns * sizeof(*row));
		table_put_values(out, row);
	}
	for (size_t a = 0; a < n_axes; a++)
		free(labels[a]);
	free(labels);
	free(row);
}

struct table *points_gather(const struct paper_points *g, size_t setting, const char *table,
			    points_results_fn *of, const void *context, struct results *out)
{
	struct table *made = NULL;

	for (size_t i = 0; i < g->n_points; i++) {
		const struct results *r = of(context, i);
		const struct table *t = r ? results_find(r, table) : NULL;

		if (g->settings[i] != setting || !t)
			continue;
		if (!made)
			made = like(g, t, out);
		if (made->n_columns == t->n_columns + g->study->n_axes)
			append(g, i, t, made);
	}
	return made;
}
