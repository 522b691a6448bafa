/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/formats.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static void put_quoted(const char *text, struct strbuf *out)
{
	if (!strpbrk(text, ",\"\r\n") && *text != '#') {
		strbuf_puts(out, text);
		return;
	}
	strbuf_putc(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			strbuf_putc(out, '"');
		strbuf_putc(out, *text);
	}
	strbuf_putc(out, '"');
}

/*
 * Whether a spreadsheet would evaluate the text as a formula. Numbers and a
 * single sign are not formulas.
 */
static bool is_formula(const char *text)
{
	char *end;

	text += strspn(text, " ");
	if (!*text || !strchr("=+-@", *text) || !text[1])
		return false;
	(void)strtod(text, &end);
	return *end != '\0';
}

/* Writes one cell on one line; a quote prevents the interpretation as a formula. */
static void put_field(const char *text, struct strbuf *out)
{
	struct strbuf shown = STRBUF_INIT;

	if (is_formula(text))
		strbuf_putc(&shown, '\'');
	text_show(&shown, text);
	put_quoted(shown.text, out);
	strbuf_fini(&shown);
}

static void put_value(const struct value *v, struct strbuf *out)
{
	if (writer_value_number(v, out))
		return;
	if (v->kind == VALUE_TEXT)
		put_field(v->text, out);
	else if (v->kind == VALUE_BOOL)
		strbuf_puts(out, v->yes ? "true" : "false");
}

/* "# flows: what each received; simulated: p99, load; computed: bound" */
static void put_title(const struct table *t, struct strbuf *out)
{
	strbuf_printf(out, "# %s: ", t->name);
	text_show(out, t->title);
	for (int o = ORIGIN_SIMULATED; o <= ORIGIN_PUBLISHED; o++) {
		bool any = false;

		for (size_t i = 0; i < t->n_columns; i++) {
			if (t->columns[i].origin != (enum origin)o)
				continue;
			if (any)
				strbuf_puts(out, ", ");
			else
				strbuf_printf(out, "; %s: ", results_origin_name((enum origin)o));
			text_show(out, t->columns[i].name);
			any = true;
		}
	}
	strbuf_putc(out, '\n');
}

static void put_header(const struct table *t, struct strbuf *out)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		const struct column *c = &t->columns[i];
		struct strbuf name = STRBUF_INIT;

		strbuf_puts(&name, c->name);
		if (*c->unit)
			strbuf_printf(&name, "[%s]", c->unit);
		if (i)
			strbuf_putc(out, ',');
		put_field(name.text, out);
		strbuf_fini(&name);
	}
	strbuf_putc(out, '\n');
}

void writer_csv_table(const struct table *t, struct strbuf *out)
{
	put_header(t, out);
	for (size_t row = 0; row < table_rows(t); row++) {
		for (size_t i = 0; i < t->n_columns; i++) {
			if (i)
				strbuf_putc(out, ',');
			put_value(table_cell(t, row, i), out);
		}
		strbuf_putc(out, '\n');
	}
}

void writer_csv(const struct results *r, struct strbuf *out)
{
	for (size_t i = 0; i < r->n_tables; i++) {
		if (i)
			strbuf_putc(out, '\n');
		put_title(r->tables[i], out);
		writer_csv_table(r->tables[i], out);
	}
	writer_remarks(r, out);
}
