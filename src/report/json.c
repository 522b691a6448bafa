/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/formats.h"

#include "base/json.h"

void writer_value_json(struct json *w, const struct value *v)
{
	switch (v->kind) {
	case VALUE_NONE:
		json_none(w);
		break;
	case VALUE_TEXT:
		json_text(w, v->text);
		break;
	case VALUE_UINT:
		json_uint(w, v->u);
		break;
	case VALUE_INT:
		json_int(w, v->i);
		break;
	case VALUE_REAL:
		json_double(w, v->real);
		break;
	case VALUE_BOOL:
		json_bool(w, v->yes);
		break;
	}
}

static void put_columns(struct json *w, const struct table *t)
{
	json_key(w, "columns");
	json_begin_object(w);
	for (size_t i = 0; i < t->n_columns; i++) {
		const struct column *c = &t->columns[i];

		json_key(w, c->name);
		json_begin_object(w);
		w->compact = true;
		json_put_text(w, "type", value_kind_name(c->kind));
		if (*c->unit)
			json_put_text(w, "unit", c->unit);
		json_put_text(w, "origin", results_origin_name(c->origin));
		json_end(w);
		w->compact = false;
	}
	json_end(w);
}

/* One line each: rows are many, and read by programs and by grep. */
static void put_row(struct json *w, const struct table *t, size_t row)
{
	json_begin_object(w);
	w->compact = true;
	for (size_t i = 0; i < t->n_columns; i++) {
		json_key(w, t->columns[i].name);
		writer_value_json(w, table_cell(t, row, i));
	}
	json_end(w);
	w->compact = false;
}

static void put_table(struct json *w, const struct table *t)
{
	json_key(w, t->name);
	json_begin_object(w);
	json_put_text(w, "title", t->title);
	json_put_text(w, "kind", table_kind_name(t->kind));
	put_columns(w, t);
	json_key(w, "rows");
	json_begin_array(w);
	for (size_t row = 0; row < table_rows(t); row++)
		put_row(w, t, row);
	json_end(w);
	json_end(w);
}

void writer_json(const struct results *r, struct strbuf *out)
{
	struct json w;

	json_init(&w, out);
	json_begin_object(&w);
	json_put_text(&w, "command", r->command);
	json_put_text(&w, "version", r->version);
	json_put_uint(&w, "seed", r->seed);
	json_key(&w, "notes");
	json_begin_array(&w);
	for (size_t i = 0; i < r->n_remarks; i++)
		json_text(&w, r->remarks[i]);
	json_end(&w);
	json_key(&w, "tables");
	json_begin_object(&w);
	for (size_t i = 0; i < r->n_tables; i++)
		put_table(&w, r->tables[i]);
	json_end(&w);
	json_end(&w);
}
