/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/record.h"
#include "report/compare.h"
#include "report/database.h"

#define MOST_RUNS 32 /* side by side */

struct report_options {
	struct common_options common;
	const char *from; /* instead of the common --db, which is written */
	const char *html; /* instead of the common --html: of the runs */
	const char *table;
	bool all;
};

static const struct option options[] = {
	{ .name = "db",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct report_options, from),
	  .value = "FILE",
	  .initial = DATABASE_DEFAULT,
	  .help = "the database to report from" },
	{ .name = "html",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct report_options, html),
	  .value = "FILE",
	  .help = "write one page with plots of the runs (all, if none is "
		  "named) to FILE, and print nothing" },
	{ .name = "table",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct report_options, table),
	  .value = "NAME",
	  .help = "show or compare only this table, however long it is" },
	{ .name = "all",
	  .letter = 'a',
	  .kind = OPT_FLAG,
	  .offset = offsetof(struct report_options, all),
	  .help = "compare values that are equal too" },
	{ .name = NULL },
};

static const struct example examples[] = {
	{ "heddle sim examples/quickstart.yaml --db runs.db",
	  "a run to report on" },
	{ "heddle report --db runs.db", "which runs there are" },
	{ "heddle report --db runs.db 1", "what run 1 found" },
	{ "heddle report --db runs.db 1 2",
	  "what differs between two runs, and by how much" },
	{ "heddle report --db runs.db 1 2 --table flows --csv",
	  "the same of one long table, for a spreadsheet" },
	{ "heddle report --db runs.db --html runs.html",
	  "all of them as one page, for any browser" },
	{ NULL, NULL },
};

/* The runs of a file and those that were asked for. */
struct selection {
	struct run_info *infos;
	size_t n_infos;
	struct compared *runs;
	struct results **results; /* what `runs` points to, to be freed */
	size_t n;
};

static void selection_fini(struct selection *s)
{
	for (size_t i = 0; i < s->n; i++)
		results_free(s->results[i]);
	free(s->results);
	free(s->runs);
	run_infos_free(s->infos, s->n_infos);
}

static const struct column run_columns[] = {
	{ "run", NULL, VALUE_INT },        { "state", NULL, VALUE_TEXT },
	{ "begun", "UTC", VALUE_TEXT },    { "command", NULL, VALUE_TEXT },
	{ "arguments", NULL, VALUE_TEXT }, { "seed", NULL, VALUE_TEXT },
	{ "version", NULL, VALUE_TEXT },   { "tables", NULL, VALUE_UINT },
	{ "values", NULL, VALUE_UINT },    { NULL },
};

static struct results *list_runs(const struct selection *s)
{
	struct results *r = results_new("report");
	struct table *t = results_table(r, "runs", "what the database holds",
					run_columns);

	for (size_t i = 0; i < s->n_infos; i++) {
		const struct run_info *info = &s->infos[i];

		table_put_int(t, info->id);
		table_put_text(t, run_state_name(info->state));
		table_put_text(t, info->created);
		table_put_text(t, info->command);
		table_put_text(t, info->arguments);
		table_put_text(t, info->seed);
		table_put_text(t, info->version);
		table_put_uint(t, info->tables);
		table_put_uint(t, info->values);
		if (info->state == RUN_LOST)
			results_remark(r,
				       "run %lld was interrupted: all results "
				       "of 'heddle %s %s' are lost",
				       (long long)info->id, info->command,
				       info->arguments);
	}
	return r;
}

/* A copy of what was read, or of one table of it. */
static enum hd_status keep_table(struct results *r, const char *name,
				 struct diag *d)
{
	if (!results_find(r, name))
		return diag_fail(d, HD_ERR_NOT_FOUND,
				 "the run has no table '%s'", name);
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

static enum hd_status read_run(struct selection *s, const char *db, int64_t id,
			       struct diag *d)
{
	enum hd_status status = database_read(db, id, d, &s->results[s->n]);

	if (status != HD_OK)
		return status;
	s->runs[s->n].id = id;
	s->runs[s->n].results = s->results[s->n];
	s->n++;
	return HD_OK;
}

static enum hd_status read_named(struct selection *s, const char *db,
				 const char *word, struct diag *d)
{
	struct diag inner = { .status = HD_OK };
	uint64_t id;

	if (hd_uint_parse(word, &inner, &id) != HD_OK || id > INT64_MAX) {
		d->file = NULL;
		return diag_fail(d, HD_ERR_INPUT,
				 "'%s' is not the number of a run", word);
	}
	return read_run(s, db, (int64_t)id, d);
}

static enum hd_status select_runs(struct selection *s,
				  const struct report_options *o, int n_args,
				  char **args, struct diag *d)
{
	enum hd_status status =
		database_list(o->from, d, &s->infos, &s->n_infos);
	size_t most = (size_t)n_args + s->n_infos + 1;

	s->runs = hd_alloc(most, sizeof(*s->runs));
	s->results = hd_alloc(most, sizeof(void *));
	for (int i = 0; i < n_args && status == HD_OK; i++)
		status = read_named(s, o->from, args[i], d);
	/* A page is of all runs unless some are named. */
	for (size_t i = 0; o->html && !n_args && i < s->n_infos; i++) {
		if (s->infos[i].state == RUN_DONE && status == HD_OK)
			status = read_run(s, o->from, s->infos[i].id, d);
	}
	return status;
}

static const char *created_of(const struct selection *s, int64_t id)
{
	for (size_t i = 0; i < s->n_infos; i++) {
		if (s->infos[i].id == id)
			return s->infos[i].created;
	}
	return NULL;
}

/* Runs that are named come after what differs between them. */
static int write_page(const struct selection *s, const struct report_options *o,
		      bool named)
{
	struct page_run *runs = hd_alloc(s->n + 1, sizeof(*runs));
	struct compare_options how = { .table = o->table, .all = o->all };
	struct results *r = results_new("report");
	size_t n = 0;

	if (named && s->n > 1) {
		compare_runs(s->runs, s->n, &how, r);
		results_set_version(r, HD_VERSION);
		runs[n++].results = r;
	}
	for (size_t i = 0; i < s->n; i++)
		runs[n++] = (struct page_run){
			.id = s->runs[i].id,
			.created = created_of(s, s->runs[i].id),
			.results = s->results[i],
		};
	int status;

	if (s->n == 0) {
		struct diag d = { .status = HD_OK, .file = o->from };

		diag_fail(&d, HD_ERR_INPUT, "holds no finished run");
		status = command_refuse(&d);
	} else {
		status = record_page(o->html, runs, n);
	}
	results_free(r);
	free(runs);
	return status;
}

static int show_run(struct selection *s, const struct report_options *o)
{
	struct common_options common = o->common;
	struct diag d = { .status = HD_OK, .file = o->from };

	if (o->table && keep_table(s->results[0], o->table, &d) != HD_OK)
		return command_refuse(&d);
	common.seed = s->results[0]->seed;
	struct results *r = s->results[0];

	s->n = 0;
	return output_results(&common, r, true);
}

static bool any_has_table(const struct selection *s, const char *name)
{
	bool found = false;

	for (size_t i = 0; i < s->n; i++)
		found |= results_find(s->results[i], name) != NULL;
	return found;
}

static int show(struct selection *s, const struct report_options *o, bool named)
{
	struct compare_options how = { .table = o->table, .all = o->all };
	struct results *r;

	if (o->html)
		return write_page(s, o, named);
	if (s->n == 1)
		return show_run(s, o);
	if (s->n == 0)
		return output_results(&o->common, list_runs(s), true);
	if (o->table && !any_has_table(s, o->table)) {
		struct diag d = { .status = HD_OK, .file = o->from };

		diag_fail(&d, HD_ERR_NOT_FOUND,
			  "none of the runs has a "
			  "table '%s'",
			  o->table);
		return command_refuse(&d);
	}
	r = results_new("report");
	compare_runs(s->runs, s->n, &how, r);
	return output_results(&o->common, r, true);
}

static int run_report(const struct command *self, int argc, char **argv)
{
	struct report_options o = { 0 };
	struct selection s = { 0 };
	struct diag d = { .status = HD_OK };
	int n_args, status;

	if (!command_parse(self, &o, argc, argv, &n_args, &status))
		return status;
	if (n_args > MOST_RUNS)
		return command_usage(self, "at most %d runs at a time",
				     MOST_RUNS);
	status = select_runs(&s, &o, n_args, argv, &d) == HD_OK
			 ? show(&s, &o, n_args > 0)
			 : command_refuse(&d);
	selection_fini(&s);
	return status;
}

const struct command command_report = {
	.name = "report",
	.summary = "list, show and compare recorded runs",
	.arguments = "[RUN...]",
	.description =
		"Reports on the runs of a database, which any command adds to "
		"with --db FILE: without RUN all of them in a list, one RUN as "
		"it was, several side by side with what differs. --html "
		"makes one page of them, with plots and the fabric as a "
		"picture.\n\n"
		"A run that was killed, or found the disk full, is listed as "
		"lost; the others are not touched by that.",
	.options = options,
	.examples = examples,
	.run = run_report,
};
