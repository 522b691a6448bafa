/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/formats.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/text.h"

/* In double quotes gnuplot takes blanks as they are, but no quote. */
static void put_quoted(const char *text, struct strbuf *out)
{
	struct strbuf shown = STRBUF_INIT;

	text_show(&shown, text);
	strbuf_putc(out, '"');
	for (const char *c = shown.text; *c; c++)
		strbuf_putc(out, *c == '"' ? '\'' : *c);
	strbuf_putc(out, '"');
	strbuf_fini(&shown);
}

static void put_cell(const struct value *v, struct strbuf *out)
{
	if (writer_value_number(v, out))
		return;
	if (v->kind == VALUE_TEXT)
		put_quoted(v->text, out);
	else if (v->kind == VALUE_BOOL)
		strbuf_putc(out, v->yes ? '1' : '0');
	else
		strbuf_puts(out, "NaN");
}

static void put_header(const struct table *t, struct strbuf *out)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		struct strbuf name = STRBUF_INIT;

		strbuf_puts(&name, t->columns[i].name);
		if (*t->columns[i].unit)
			strbuf_printf(&name, " [%s]", t->columns[i].unit);
		strbuf_puts(out, i ? " " : "");
		put_quoted(name.text, out);
		strbuf_fini(&name);
	}
	strbuf_putc(out, '\n');
}

static bool is_number(const struct table *t, size_t column)
{
	enum value_kind kind = t->columns[column].kind;

	return kind == VALUE_REAL || kind == VALUE_UINT || kind == VALUE_INT;
}

static bool varies(const struct table *t, size_t column)
{
	for (size_t row = 1; row < table_rows(t); row++) {
		const struct value *a = table_cell(t, row - 1, column);
		const struct value *b = table_cell(t, row, column);

		if (a->kind != b->kind || (a->kind != VALUE_NONE && value_real(a) != value_real(b)))
			return true;
	}
	return false;
}

/* The column of the x axis, by the rule of the page (web/src/charts.js): the
 * first given number with a unit, else time, else the first number, of those
 * that vary. n_columns: no column qualifies. */
static size_t x_column(const struct table *t)
{
	size_t time = t->n_columns, first = t->n_columns;

	for (size_t i = 0; i < t->n_columns; i++) {
		const struct column *c = &t->columns[i];

		if (!is_number(t, i) || !varies(t, i))
			continue;
		if (c->origin == ORIGIN_GIVEN && *c->unit)
			return i;
		if (time == t->n_columns && strcmp(c->name, "time") == 0)
			time = i;
		if (first == t->n_columns)
			first = i;
	}
	return time < t->n_columns ? time : first;
}

/* A series has a curve per combination of words and inputs; any other table is one block. */
static void put_label(const struct table *t, size_t row, size_t x, struct strbuf *out)
{
	for (size_t i = 0; t->kind == TABLE_SERIES && i < t->n_columns; i++) {
		if (i == x ||
		    (t->columns[i].kind != VALUE_TEXT && t->columns[i].origin != ORIGIN_GIVEN))
			continue;
		put_cell(table_cell(t, row, i), out);
		strbuf_putc(out, ' ');
	}
}

/* The rows, curve after curve as each first appears, and where curves begin. */
struct order {
	size_t *rows, *ends; /* ends[c]: behind the last row of curve c */
	size_t n_curves;
};

static void find_order(const struct table *t, struct order *out)
{
	const size_t n = table_rows(t), x = x_column(t);
	uint32_t *curves = hd_alloc(n, sizeof(*curves));
	char **labels = hd_alloc(n, sizeof(*labels));
	struct text_map known = { 0 };

	*out = (struct order){ .rows = hd_alloc(n, sizeof(*out->rows)),
			       .ends = hd_alloc(n + 1, sizeof(*out->ends)) };
	for (size_t row = 0; row < n; row++) {
		struct strbuf label = STRBUF_INIT;

		put_label(t, row, x, &label);
		strbuf_putc(&label, '\n');
		const size_t len = label.len;

		labels[row] = strbuf_detach(&label);
		curves[row] = text_map_put(&known, labels[row], len, (uint32_t)out->n_curves);
		if (curves[row] == MAP_NONE)
			curves[row] = (uint32_t)out->n_curves++;
		out->ends[curves[row] + 1]++;
	}
	for (size_t c = 1; c <= out->n_curves; c++)
		out->ends[c] += out->ends[c - 1];
	/* Where each begins becomes where it ends. */
	for (size_t row = 0; row < n; row++)
		out->rows[out->ends[curves[row]]++] = row;
	text_map_fini(&known);
	for (size_t row = 0; row < n; row++)
		free(labels[row]);
	free(labels);
	free(curves);
}

static void put_row(const struct table *t, size_t row, struct strbuf *out)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		strbuf_puts(out, i ? " " : "");
		put_cell(table_cell(t, row, i), out);
	}
	strbuf_putc(out, '\n');
}

/* *index counts what gnuplot calls so. */
static void put_table(const struct table *t, size_t *index, struct strbuf *out)
{
	struct order order;

	find_order(t, &order);
	for (size_t c = 0, i = 0; c < order.n_curves; c++) {
		strbuf_printf(out, "%s# index %zu: %s: ", *index ? "\n\n" : "", *index, t->name);
		text_show(out, t->title);
		strbuf_putc(out, '\n');
		put_header(t, out);
		++*index;
		for (; i < order.ends[c]; i++)
			put_row(t, order.rows[i], out);
	}
	free(order.rows);
	free(order.ends);
}

void writer_gnuplot(const struct results *r, struct strbuf *out)
{
	size_t index = 0;

	for (size_t i = 0; i < r->n_tables; i++)
		put_table(r->tables[i], &index, out);
	writer_remarks(r, out);
}
