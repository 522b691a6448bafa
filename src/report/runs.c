/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/runs.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Points are what a sweep is made of, and many: its own run speaks for them. */
static bool is_point(const struct run_info *info)
{
	return strcmp(info->command, DATABASE_POINT) == 0;
}

static enum hd_status read_run(struct recorded_runs *s, int64_t id, struct diag *d)
{
	enum hd_status status = database_read(s->path, id, d, &s->results[s->n]);

	if (status != HD_OK)
		return status;
	s->runs[s->n].id = id;
	s->runs[s->n].results = s->results[s->n];
	s->n++;
	return HD_OK;
}

static enum hd_status read_named(struct recorded_runs *s, const char *word, struct diag *d)
{
	struct diag inner = { .status = HD_OK };
	uint64_t id;

	if (hd_uint_parse(word, &inner, &id) != HD_OK || id > INT64_MAX) {
		d->file = NULL;
		return diag_fail(d, HD_ERR_INPUT,
				 "invalid run '%s' (expected a number from 'heddle report FILE')",
				 word);
	}
	return read_run(s, (int64_t)id, d);
}

enum hd_status recorded_runs_read(struct recorded_runs *s, const char *path, bool all, int n_words,
				  char **words, struct diag *d)
{
	*s = (struct recorded_runs){ .path = path };
	enum hd_status status = database_list(path, d, &s->infos, &s->n_infos);
	size_t most = (size_t)n_words + s->n_infos + 1;

	s->runs = hd_alloc(most, sizeof(*s->runs));
	s->results = hd_alloc(most, sizeof(void *));
	for (int i = 0; i < n_words && status == HD_OK; i++)
		status = read_named(s, words[i], d);
	for (size_t i = 0; all && !n_words && i < s->n_infos; i++) {
		if (s->infos[i].state == RUN_DONE && status == HD_OK && !is_point(&s->infos[i]))
			status = read_run(s, s->infos[i].id, d);
	}
	return status;
}

void recorded_runs_fini(struct recorded_runs *s)
{
	for (size_t i = 0; i < s->n; i++)
		results_free(s->results[i]);
	free(s->results);
	free(s->runs);
	database_infos_free(s->infos, s->n_infos);
}

struct run_row {
	int64_t run;
	const char *state, *begun, *command, *arguments, *seed;
	const char *version;
	uint64_t tables, values;
};

static const struct column run_columns[] = {
	{ "run", NULL, CELL(run_row, run) },
	{ "state", NULL, CELL(run_row, state) },
	{ "begun", "UTC", CELL(run_row, begun) },
	{ "command", NULL, CELL(run_row, command) },
	{ "arguments", NULL, CELL(run_row, arguments) },
	{ "seed", NULL, CELL(run_row, seed) },
	{ "version", NULL, CELL(run_row, version) },
	{ "tables", NULL, CELL(run_row, tables) },
	{ "values", NULL, CELL(run_row, values) },
	{ NULL },
};

static void put_info(struct table *t, const struct run_info *info)
{
	const struct run_row row = {
		.run = info->id,
		.state = database_state_name(info->state),
		.begun = info->created,
		.command = info->command,
		.arguments = info->arguments,
		.seed = info->seed,
		.version = info->version,
		.tables = info->tables,
		.values = info->values,
	};

	table_put_row(t, &row);
}

void recorded_runs_list(const struct recorded_runs *s, struct results *r)
{
	struct table *t = results_table(r, "runs", "what the database holds", run_columns);
	size_t points = 0;

	for (size_t i = 0; i < s->n_infos; i++) {
		const struct run_info *info = &s->infos[i];

		points += is_point(info);
		if (is_point(info))
			continue;
		put_info(t, info);
		if (info->state == RUN_LOST)
			results_remark(
				r,
				"run %lld was interrupted: all results of 'heddle %s %s' are lost",
				(long long)info->id, info->command, info->arguments);
	}
	if (points)
		results_remark(r, "and %zu points of sweeps, each a run of its own", points);
}

enum hd_status recorded_runs_compare(const struct recorded_runs *s,
				     const struct compare_options *how, struct results *r,
				     struct diag *d)
{
	bool found = how->table == NULL;

	for (size_t i = 0; i < s->n && !found; i++)
		found = results_find(s->results[i], how->table) != NULL;
	if (!found)
		return diag_fail(d, HD_ERR_NOT_FOUND, "none of the runs has a table '%s'",
				 how->table);
	compare_runs(s->runs, s->n, how, r);
	return HD_OK;
}

static enum hd_status keep_table(struct results *r, const char *name, struct diag *d)
{
	if (!results_find(r, name))
		return diag_fail(d, HD_ERR_NOT_FOUND, "the run has no table '%s'", name);
	for (size_t i = 0; i < r->n_tables; i++) {
		if (strcmp(r->tables[i]->name, name) != 0)
			continue;
		struct table *kept = r->tables[i];

		r->tables[i] = r->tables[0];
		r->tables[0] = kept;
	}
	while (r->n_tables > 1)
		results_drop_last(r);
	return HD_OK;
}

/* Tables too large for a screen are listed by name; the first table is always shown. */
static void keep_short(struct results *r)
{
	struct strbuf left = STRBUF_INIT;
	size_t kept = 0;

	for (size_t i = 0; i < r->n_tables; i++) {
		struct table *t = r->tables[i];

		if (i && table_rows(t) > SHOWN_ROWS) {
			strbuf_printf(&left, "%s'%s' (%zu rows)", left.len ? ", " : "", t->name,
				      table_rows(t));
			continue;
		}
		r->tables[i] = r->tables[kept];
		r->tables[kept++] = t;
	}
	while (r->n_tables > kept)
		results_drop_last(r);
	if (left.len)
		results_remark(
			r,
			"left out for their length: %s; --table NAME shows one, --all all of them",
			left.text);
	strbuf_fini(&left);
}

enum hd_status recorded_runs_take(struct recorded_runs *s, const struct compare_options *how,
				  struct diag *d, struct results **out)
{
	if (how->table && keep_table(s->results[0], how->table, d) != HD_OK)
		return d->status;
	if (how->brief)
		keep_short(s->results[0]);
	*out = s->results[0];
	s->n = 0;
	return HD_OK;
}

static const char *created_of(const struct recorded_runs *s, int64_t id)
{
	for (size_t i = 0; i < s->n_infos; i++) {
		if (s->infos[i].id == id)
			return s->infos[i].created;
	}
	return NULL;
}

enum hd_status recorded_runs_parts(const struct recorded_runs *s, const struct results *first,
				   struct diag *d, struct page_run **out, size_t *n)
{
	if (s->n == 0)
		return diag_fail(d, HD_ERR_INPUT, "holds no finished run");
	struct page_run *parts = hd_alloc(s->n + 1, sizeof(*parts));
	size_t k = 0;

	if (first)
		parts[k++].results = first;
	for (size_t i = 0; i < s->n; i++)
		parts[k++] = (struct page_run){
			.id = s->runs[i].id,
			.created = created_of(s, s->runs[i].id),
			.results = s->results[i],
		};
	*out = parts;
	*n = k;
	return HD_OK;
}
