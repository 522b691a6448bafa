/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/formats.h"

#include <string.h>

#include "base/text.h"

/* Characters with a meaning in LaTeX, and their escapes. */
static const struct {
	char sign;
	const char *escaped;
} escapes[] = {
	{ '&', "\\&" },
	{ '%', "\\%" },
	{ '$', "\\$" },
	{ '#', "\\#" },
	{ '_', "\\_" },
	{ '{', "\\{" },
	{ '}', "\\}" },
	{ '~', "\\textasciitilde{}" },
	{ '^', "\\textasciicircum{}" },
	{ '\\', "\\textbackslash{}" },
	{ '<', "\\textless{}" },
	{ '>', "\\textgreater{}" },
	{ '|', "\\textbar{}" },
	{ '"', "\\textquotedbl{}" },
};

static void put_text(const char *text, struct strbuf *out)
{
	struct strbuf shown = STRBUF_INIT;

	text_show(&shown, text);
	for (const char *c = shown.text; *c; c++) {
		size_t i = 0;

		while (i < sizeof(escapes) / sizeof(*escapes) && escapes[i].sign != *c)
			i++;
		if (i < sizeof(escapes) / sizeof(*escapes))
			strbuf_puts(out, escapes[i].escaped);
		else if (strncmp(c, "+-", 2) == 0)
			c++, strbuf_puts(out, "$\\pm$");
		else
			strbuf_putc(out, *c);
	}
	strbuf_fini(&shown);
}

static void put_heading(const struct column *c, struct strbuf *out)
{
	put_text(c->name, out);
	if (!*c->unit)
		return;
	strbuf_puts(out, " [");
	if (strcmp(c->unit, "us") == 0)
		strbuf_puts(out, "$\\mu$s");
	else
		put_text(c->unit, out);
	strbuf_putc(out, ']');
}

static void put_cell(const struct value *v, const struct column *c, struct strbuf *out)
{
	struct strbuf text = STRBUF_INIT;

	if (v->kind == VALUE_NONE)
		strbuf_puts(&text, "--");
	else
		writer_value_text(v, c, &text);
	put_text(text.text, out);
	strbuf_fini(&text);
}

static bool is_word(const struct column *c)
{
	return c->kind == VALUE_TEXT || c->kind == VALUE_BOOL;
}

static void put_rows(const struct table *t, struct strbuf *out)
{
	strbuf_puts(out, "\\begin{tabular}{");
	for (size_t i = 0; i < t->n_columns; i++)
		strbuf_putc(out, is_word(&t->columns[i]) ? 'l' : 'r');
	strbuf_puts(out, "}\n\\toprule\n");
	for (size_t i = 0; i < t->n_columns; i++) {
		strbuf_puts(out, i ? " & " : "");
		put_heading(&t->columns[i], out);
	}
	strbuf_puts(out, " \\\\\n\\midrule\n");
	for (size_t row = 0; row < table_rows(t); row++) {
		for (size_t i = 0; i < t->n_columns; i++) {
			strbuf_puts(out, i ? " & " : "");
			put_cell(table_cell(t, row, i), &t->columns[i], out);
		}
		strbuf_puts(out, " \\\\\n");
	}
}

/* One row is read down, not across. */
static void put_record(const struct table *t, struct strbuf *out)
{
	strbuf_puts(out, "\\begin{tabular}{lr}\n\\toprule\n");
	for (size_t i = 0; i < t->n_columns && table_rows(t); i++) {
		put_heading(&t->columns[i], out);
		strbuf_puts(out, " & ");
		put_cell(table_cell(t, 0, i), &t->columns[i], out);
		strbuf_puts(out, " \\\\\n");
	}
}

void writer_latex(const struct results *r, struct strbuf *out)
{
	for (size_t i = 0; i < r->n_tables; i++) {
		const struct table *t = r->tables[i];

		strbuf_printf(out, "%s%% %s: ", i ? "\n" : "", t->name);
		text_show(out, t->title);
		strbuf_putc(out, '\n');
		if (t->kind == TABLE_RECORD)
			put_record(t, out);
		else
			put_rows(t, out);
		strbuf_puts(out, "\\bottomrule\n\\end{tabular}\n");
	}
	for (size_t i = 0; i < r->n_remarks; i++) {
		strbuf_puts(out, "% note: ");
		text_show(out, r->remarks[i]);
		strbuf_putc(out, '\n');
	}
}
