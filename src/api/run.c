/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs of heddle.h, and their tables. */
#include <stdlib.h>
#include <string.h>

#include "api/guard.h"
#include "api/opened.h"

struct hd_run {
	struct api_opened opened;
	struct results *results; /* once it has been run */
	bool has_run, met;
	bool is_going; /* inside hd_run_go */
	uint64_t checksum;
};

static int run_make(const struct api_opening *what, struct hd_run **out, struct hd_error *error)
{
	struct hd_run *run = out ? calloc(1, sizeof(*run)) : NULL;

	if (!out)
		return api_misuse(error, "the pointer to the new run is NULL");
	if (!run)
		return api_failed(error, HD_LACKING, "out of memory");
	struct api_opening mine = *what;

	mine.out = &run->opened;
	int code = api_opened_init(&mine, error);

	if (code == HD_DONE)
		*out = run;
	else
		free(run);
	return code;
}

int hd_run_open(const char *file, const struct hd_run_options *options, struct hd_run **out,
		struct hd_error *error)
{
	const struct api_opening what = { .file = file, .options = options };

	return run_make(&what, out, error);
}

int hd_run_load(const char *text, size_t len, const char *name,
		const struct hd_run_options *options, struct hd_run **out, struct hd_error *error)
{
	const struct api_opening what = {
		.file = name, .text = text, .len = len, .options = options
	};

	if (!text)
		return api_misuse(error, "the text is NULL");
	return run_make(&what, out, error);
}

static enum hd_status go(void *context, struct diag *d)
{
	struct hd_run *run = context;
	struct run *s = run->opened.simulation;
	enum hd_status status = run_to_end(s, d);

	/* Results before a failed allocation are valid, too. */
	if (!run->opened.is_closed && (status == HD_OK || run_state(s) == SIM_FULL)) {
		run->results = run_results(s, run->opened.options.all, &run->met);
		run->checksum = run_sum(s);
	}
	return status;
}

int hd_run_go(struct hd_run *run, struct hd_error *error)
{
	if (!run)
		return api_misuse(error, "the run is NULL");
	if (run->has_run)
		return api_misuse(error, "the run is over: open it again");
	run->has_run = run->is_going = true;
	int code = api_guarded(go, run, &run->opened.is_broken, error);

	run->is_going = false;
	if (code == HD_DONE && run_is_stopped(run->opened.simulation))
		code = api_failed(error, HD_STOPPED, "stopped");
	if (run->opened.is_closed)
		hd_run_close(run);
	return code;
}

int hd_run_met(const struct hd_run *run)
{
	return run && run->results && run->met;
}

uint64_t hd_run_checksum(const struct hd_run *run)
{
	return run ? run->checksum : 0;
}

void hd_run_close(struct hd_run *run)
{
	if (!run)
		return;
	if (run->is_going) {
		run->opened.is_closed = true;
		return;
	}
	if (run->results)
		results_free(run->results);
	api_opened_fini(&run->opened);
	free(run);
}

/* ---- tables -------------------------------------------------------------- */

/* A struct hd_table is a struct table that callers do not see into. */
static const struct table *inside(const struct hd_table *t)
{
	return (const struct table *)(const void *)t;
}

static const struct hd_table *outside(const struct table *t)
{
	return (const struct hd_table *)(const void *)t;
}

size_t hd_run_n_tables(const struct hd_run *run)
{
	return run && run->results ? run->results->n_tables : 0;
}

const struct hd_table *hd_run_table_at(const struct hd_run *run, size_t number)
{
	return number < hd_run_n_tables(run) ? outside(run->results->tables[number]) : NULL;
}

const struct hd_table *hd_run_table(const struct hd_run *run, const char *name)
{
	return run && run->results && name ? outside(results_find(run->results, name)) : NULL;
}

const char *hd_table_name(const struct hd_table *t)
{
	return t ? inside(t)->name : NULL;
}

const char *hd_table_title(const struct hd_table *t)
{
	return t ? inside(t)->title : NULL;
}

size_t hd_table_rows(const struct hd_table *t)
{
	return t ? table_rows(inside(t)) : 0;
}

size_t hd_table_columns(const struct hd_table *t)
{
	return t ? inside(t)->n_columns : 0;
}

static const struct column *column_at(const struct hd_table *t, size_t column)
{
	return column < hd_table_columns(t) ? &inside(t)->columns[column] : NULL;
}

const char *hd_column_name(const struct hd_table *t, size_t column)
{
	const struct column *c = column_at(t, column);

	return c ? c->name : NULL;
}

const char *hd_column_unit(const struct hd_table *t, size_t column)
{
	const struct column *c = column_at(t, column);

	return c ? c->unit ? c->unit : "" : NULL;
}

static enum hd_kind kind_of(enum value_kind kind)
{
	static const enum hd_kind kinds[N_VALUE_KINDS] = {
		[VALUE_NONE] = HD_NONE, [VALUE_TEXT] = HD_TEXT, [VALUE_UINT] = HD_UINT,
		[VALUE_INT] = HD_INT,   [VALUE_REAL] = HD_REAL, [VALUE_BOOL] = HD_BOOL,
	};

	return kinds[kind];
}

enum hd_kind hd_column_kind(const struct hd_table *t, size_t column)
{
	const struct column *c = column_at(t, column);

	return c ? kind_of(c->kind) : HD_NONE;
}

size_t hd_column_find(const struct hd_table *t, const char *name)
{
	size_t i = 0;

	while (i < hd_table_columns(t) && (!name || strcmp(hd_column_name(t, i), name) != 0))
		i++;
	return i;
}

/* A setting without a value removes the field. */
static const struct value *cell_at(const struct hd_table *t, size_t row, size_t column)
{
	static const struct value none = { .kind = VALUE_NONE };

	return column_at(t, column) && row < hd_table_rows(t) ? table_cell(inside(t), row, column)
							      : &none;
}

enum hd_kind hd_cell_kind(const struct hd_table *t, size_t row, size_t column)
{
	return kind_of(cell_at(t, row, column)->kind);
}

const char *hd_cell_text(const struct hd_table *t, size_t row, size_t column)
{
	const struct value *v = cell_at(t, row, column);

	return v->kind == VALUE_TEXT ? v->text : NULL;
}

double hd_cell_real(const struct hd_table *t, size_t row, size_t column)
{
	const struct value *v = cell_at(t, row, column);

	return v->kind == VALUE_BOOL ? v->yes : value_real(v);
}

uint64_t hd_cell_uint(const struct hd_table *t, size_t row, size_t column)
{
	const struct value *v = cell_at(t, row, column);

	return v->kind == VALUE_UINT ? v->u : 0;
}

int64_t hd_cell_int(const struct hd_table *t, size_t row, size_t column)
{
	const struct value *v = cell_at(t, row, column);

	return v->kind == VALUE_INT ? v->i : 0;
}
