/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/formats.h"

#include <string.h>

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
	if (value_write_number(v, out))
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

/* A series is a curve for each choice of its words. */
static bool begins_curve(const struct table *t, size_t row)
{
	for (size_t i = 0; t->kind == TABLE_SERIES && row && i < t->n_columns;
	     i++) {
		const struct value *a = table_cell(t, row - 1, i);
		const struct value *b = table_cell(t, row, i);

		if (a->kind == VALUE_TEXT && b->kind == VALUE_TEXT &&
		    strcmp(a->text, b->text) != 0)
			return true;
	}
	return row == 0;
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
	for (size_t row = 0; row < table_rows(t); row++) {
		if (begins_curve(t, row)) {
			strbuf_printf(out, "%s# index %zu: %s: ",
				      *index ? "\n\n" : "", *index, t->name);
			text_show(out, t->title);
			strbuf_putc(out, '\n');
			put_header(t, out);
			++*index;
		}
		put_row(t, row, out);
	}
}

void gnuplot_write(const struct results *r, struct strbuf *out)
{
	size_t index = 0;

	for (size_t i = 0; i < r->n_tables; i++)
		put_table(r->tables[i], &index, out);
	remarks_write(r, out);
}
