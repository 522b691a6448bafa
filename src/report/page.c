/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/page.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "report/formats.h"
#include "report/page_template.h"

/* Where the template has room for the results. */
#define PLACE "@HEDDLE-DATA@"

/* Column by column: shorter, and what plots need. */
static void put_column(struct json *w, const struct table *t, size_t i)
{
	const struct column *c = &t->columns[i];
	size_t rows = table_rows(t);

	json_begin_object(w);
	json_put_text(w, "name", c->name);
	json_put_text(w, "unit", c->unit);
	json_put_text(w, "type", value_kind_name(c->kind));
	json_put_text(w, "origin", results_origin_name(c->origin));
	json_key(w, "places");
	json_int(w, c->places);
	json_key(w, "cells");
	json_begin_array(w);
	for (size_t row = 0; row < rows; row++)
		writer_value_json(w, table_cell(t, row, i));
	json_end(w);
	json_end(w);
}

static void put_table(struct json *w, const struct table *t)
{
	json_begin_object(w);
	json_put_text(w, "name", t->name);
	json_put_text(w, "title", t->title);
	json_put_text(w, "kind", table_kind_name(t->kind));
	json_key(w, "columns");
	json_begin_array(w);
	for (size_t i = 0; i < t->n_columns; i++)
		put_column(w, t, i);
	json_end(w);
	json_end(w);
}

static void put_head(struct json *w, const struct page_run *run)
{
	const struct results *r = run->results;
	char seed[24];

	/* JavaScript's numbers do not hold every seed. */
	snprintf(seed, sizeof(seed), "%" PRIu64, r->seed);
	json_key(w, "id");
	json_int(w, run->id);
	json_put_text(w, "created", run->created ? run->created : "");
	json_put_text(w, "command", r->command);
	json_put_text(w, "arguments", r->arguments);
	json_put_text(w, "version", r->version);
	json_put_text(w, "seed", seed);
	json_put_text(w, "scenario", r->scenario);
}

static bool is_among(const char *const *names, const char *name)
{
	for (; names && *names; names++) {
		if (strcmp(*names, name) == 0)
			return true;
	}
	return false;
}

void page_put_run(struct json *w, const struct page_run *run, const char *const *without)
{
	const struct results *r = run->results;

	json_begin_object(w);
	put_head(w, run);
	json_key(w, "parameters");
	json_begin_array(w);
	for (size_t i = 0; i < r->n_parameters; i++) {
		json_begin_array(w);
		json_text(w, r->parameters[i].name);
		json_text(w, r->parameters[i].value);
		json_end(w);
	}
	json_end(w);
	json_key(w, "remarks");
	json_begin_array(w);
	for (size_t i = 0; i < r->n_remarks; i++)
		json_text(w, r->remarks[i]);
	json_end(w);
	json_key(w, "tables");
	json_begin_array(w);
	for (size_t i = 0; i < r->n_tables; i++) {
		if (!is_among(without, r->tables[i]->name))
			put_table(w, r->tables[i]);
	}
	json_end(w);
	json_end(w);
}

/*
 * A script ends at "</script" and changes its meaning at "<!--", so every
 * '<' is escaped. In JSON it occurs in strings only.
 */
static void put_escaped(struct strbuf *out, const char *json)
{
	while (*json) {
		size_t plain = strcspn(json, "<");

		strbuf_add(out, json, plain);
		json += plain;
		if (*json) {
			strbuf_puts(out, "\\u003c");
			json++;
		}
	}
}

enum hd_status page_write(const struct page_run *runs, size_t n, struct strbuf *out, struct diag *d)
{
	const char *page = (const char *)page_template;
	const char *place = page_template_len ? strstr(page, PLACE) : NULL;
	struct strbuf data = STRBUF_INIT;
	struct json w;

	memory_for("the page's tables");
	if (!place)
		return diag_fail(d, HD_ERR_ENV, "the page is not part of this build: %s",
				 page_missing);
	json_init(&w, &data);
	w.compact = true;
	json_begin_object(&w);
	json_key(&w, "runs");
	json_begin_array(&w);
	for (size_t i = 0; i < n; i++)
		page_put_run(&w, &runs[i], NULL);
	json_end(&w);
	json_end(&w);
	strbuf_add(out, page, (size_t)(place - page));
	put_escaped(out, data.text);
	strbuf_puts(out, place + strlen(PLACE));
	strbuf_fini(&data);
	return HD_OK;
}
