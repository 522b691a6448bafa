/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/formats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "report/writer.h"

void writer_value_text(const struct value *v, const struct column *c, struct strbuf *out)
{
	switch (v->kind) {
	case VALUE_NONE:
		strbuf_putc(out, '-');
		break;
	case VALUE_TEXT:
		text_show(out, v->text);
		break;
	case VALUE_UINT:
		strbuf_printf(out, "%llu", (unsigned long long)v->u);
		break;
	case VALUE_INT:
		strbuf_printf(out, "%lld", (long long)v->i);
		break;
	case VALUE_REAL:
		if (c->places > 0)
			strbuf_printf(out, "%.*f", c->places, v->real);
		else
			strbuf_printf(out, "%.6g", v->real);
		break;
	case VALUE_BOOL:
		strbuf_puts(out, v->yes ? "yes" : "no");
		break;
	}
}

static void put_heading(const struct column *c, struct strbuf *out)
{
	text_show(out, c->name);
	if (*c->unit)
		strbuf_printf(out, "[%s]", c->unit);
}

/* Characters, not bytes: what a terminal gives a column to each. */
static size_t width_of(const char *text)
{
	size_t width = 0;

	while (*text) {
		size_t len = utf8_length(text);

		text += len ? len : 1;
		width++;
	}
	return width;
}

/* Words to the left, numbers to the right; nothing after the last word. */
static void put_aligned(const char *text, const struct column *c, size_t width, bool last,
			struct strbuf *out)
{
	size_t pad = width - width_of(text);
	bool left = c->kind == VALUE_TEXT || c->kind == VALUE_BOOL;

	if (!left)
		strbuf_pad(out, ' ', pad);
	strbuf_puts(out, text);
	if (left && !last)
		strbuf_pad(out, ' ', pad);
}

/* All that is printed of a table, as strings, to find widths first. */
struct text_grid {
	size_t n_columns, n_rows; /* rows of cells, with `heads` before them */
	size_t heads;
	char **cells;
	size_t *widths;
};

static char *to_text(const struct value *v, const struct column *c)
{
	struct strbuf s = STRBUF_INIT;

	writer_value_text(v, c, &s);
	return strbuf_detach(&s);
}

static char *to_heading(const struct column *c, bool is_origin)
{
	struct strbuf s = STRBUF_INIT;

	if (is_origin)
		strbuf_puts(&s, c->origin == ORIGIN_GIVEN ? "-" : results_origin_name(c->origin));
	else
		put_heading(c, &s);
	return strbuf_detach(&s);
}

static void grid_init(struct text_grid *g, const struct table *t, bool origins)
{
	g->n_columns = t->n_columns;
	g->heads = origins ? 2 : 1;
	g->n_rows = g->heads + table_rows(t);
	g->cells = hd_alloc(g->n_rows * g->n_columns, sizeof(char *));
	g->widths = hd_alloc(g->n_columns, sizeof(*g->widths));
	for (size_t row = 0; row < g->n_rows; row++) {
		for (size_t i = 0; i < g->n_columns; i++) {
			const struct column *c = &t->columns[i];
			char *text = row < g->heads ? to_heading(c, row == 1)
						    : to_text(table_cell(t, row - g->heads, i), c);
			size_t width = width_of(text);

			g->cells[row * g->n_columns + i] = text;
			if (width > g->widths[i])
				g->widths[i] = width;
		}
	}
}

static void grid_fini(struct text_grid *g)
{
	for (size_t i = 0; i < g->n_rows * g->n_columns; i++)
		free(g->cells[i]);
	free(g->cells);
	free(g->widths);
}

static bool has_mixed_origins(const struct table *t)
{
	if (*writer_table_origin(t))
		return false;
	for (size_t i = 0; i < t->n_columns; i++) {
		if (t->columns[i].origin != ORIGIN_GIVEN)
			return true;
	}
	return false;
}

static void put_title(const struct table *t, struct strbuf *out)
{
	const char *origin = writer_table_origin(t);

	strbuf_printf(out, "# %s", t->name);
	if (*t->title) {
		strbuf_puts(out, ": ");
		text_show(out, t->title);
	}
	if (*origin)
		strbuf_printf(out, " (%s)", origin);
	strbuf_putc(out, '\n');
}

/* A goal that is not met, a verdict that says so. */
static bool is_missed(const struct value *v, const struct column *c)
{
	static const char *const words[] = { "missed",         "worse",        "differs",
					     "not reproduced", "missing",      "refused",
					     "can lock up",    "paths broken", "end ports lost" };

	if (v->kind == VALUE_BOOL)
		return strcmp(c->name, "met") == 0 && !v->yes;
	if (v->kind != VALUE_TEXT || strcmp(c->name, "verdict") != 0)
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(v->text, words[i]) == 0)
			return true;
	}
	return false;
}

static bool is_missed_row(const struct table *t, size_t row)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		if (is_missed(table_cell(t, row, i), &t->columns[i]))
			return true;
	}
	return false;
}

static void put_rows(const struct table *t, bool coloured, struct strbuf *out)
{
	struct text_grid g;

	grid_init(&g, t, has_mixed_origins(t));
	for (size_t row = 0; row < g.n_rows; row++) {
		bool red = coloured && row >= g.heads && is_missed_row(t, row - g.heads);

		strbuf_puts(out, red ? "\033[31m" : "");
		strbuf_puts(out, row < g.heads ? "# " : "  ");
		for (size_t i = 0; i < g.n_columns; i++) {
			if (i)
				strbuf_puts(out, "  ");
			put_aligned(g.cells[row * g.n_columns + i], &t->columns[i], g.widths[i],
				    i + 1 == g.n_columns, out);
		}
		strbuf_puts(out, red ? "\033[0m\n" : "\n");
	}
	grid_fini(&g);
}

/* "name: value unit (origin)", one a line. */
static void put_record(const struct table *t, struct strbuf *out)
{
	size_t width = 0;
	bool mixed = has_mixed_origins(t);

	if (table_rows(t) == 0)
		return;
	for (size_t i = 0; i < t->n_columns; i++) {
		size_t w = width_of(t->columns[i].name);

		width = w > width ? w : width;
	}
	for (size_t i = 0; i < t->n_columns; i++) {
		const struct column *c = &t->columns[i];

		strbuf_printf(out, "  %s:", c->name);
		strbuf_pad(out, ' ', width - width_of(c->name) + 1);
		writer_value_text(table_cell(t, 0, i), c, out);
		if (*c->unit)
			strbuf_printf(out, " %s", c->unit);
		if (mixed && c->origin != ORIGIN_GIVEN)
			strbuf_printf(out, " (%s)", results_origin_name(c->origin));
		strbuf_putc(out, '\n');
	}
}

void writer_remarks(const struct results *r, struct strbuf *out)
{
	for (size_t i = 0; i < r->n_remarks; i++) {
		strbuf_puts(out, "# note: ");
		text_show(out, r->remarks[i]);
		strbuf_putc(out, '\n');
	}
}

static void write_all(const struct results *r, bool coloured, struct strbuf *out)
{
	for (size_t i = 0; i < r->n_tables; i++) {
		const struct table *t = r->tables[i];

		if (i)
			strbuf_putc(out, '\n');
		put_title(t, out);
		if (t->kind == TABLE_RECORD)
			put_record(t, out);
		else
			put_rows(t, coloured, out);
	}
	if (r->n_remarks && r->n_tables)
		strbuf_putc(out, '\n');
	writer_remarks(r, out);
}

void writer_text(const struct results *r, struct strbuf *out)
{
	write_all(r, false, out);
}

void writer_coloured(const struct results *r, struct strbuf *out)
{
	write_all(r, true, out);
}
