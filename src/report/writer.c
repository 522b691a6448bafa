/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/writer.h"

#include <string.h>

#include "base/text.h"
#include "report/formats.h"

const struct writer writers[] = {
	{ "text", "txt", writer_text },       { "csv", "csv", writer_csv },
	{ "json", "json", writer_json },      { "latex", "tex", writer_latex },
	{ "gnuplot", "dat", writer_gnuplot }, { "checksum", "sum", writer_checksum },
	{ "null", "null", writer_null },      { NULL },
};

const char *const writer_names[] = {
	"auto", "text", "csv", "json", "latex", "gnuplot", "checksum", "null", NULL,
};

const struct writer *writer_find(const char *name)
{
	for (const struct writer *w = writers; w->name; w++) {
		if (strcmp(w->name, name) == 0)
			return w;
	}
	return NULL;
}

const struct writer *writer_of_path(const char *path)
{
	const char *dot = strrchr(path, '.');

	for (const struct writer *w = writers; dot && w->name; w++) {
		if (strcmp(w->extension, dot + 1) == 0)
			return w;
	}
	return NULL;
}

bool writer_value_number(const struct value *v, struct strbuf *out)
{
	if (v->kind == VALUE_UINT)
		strbuf_printf(out, "%llu", (unsigned long long)v->u);
	else if (v->kind == VALUE_INT)
		strbuf_printf(out, "%lld", (long long)v->i);
	else if (v->kind == VALUE_REAL)
		text_double(out, v->real);
	else
		return false;
	return true;
}

void writer_null(const struct results *r, struct strbuf *out)
{
	(void)r;
	(void)out;
}

const char *writer_table_origin(const struct table *t)
{
	enum origin found = ORIGIN_GIVEN;

	for (size_t i = 0; i < t->n_columns; i++) {
		enum origin o = t->columns[i].origin;

		if (o == ORIGIN_GIVEN || o == found)
			continue;
		if (found != ORIGIN_GIVEN)
			return "";
		found = o;
	}
	return found == ORIGIN_GIVEN ? "" : results_origin_name(found);
}
