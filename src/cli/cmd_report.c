/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/record.h"
#include "report/runs.h"

struct report_options {
	struct common_options common;
	const char *from; /* the database to read; replaces the common --db, which is written */
	const char *html; /* a page of the runs; replaces the common --html */
	struct compare_options how;
};

#define FIELD(name) offsetof(struct report_options, name)

static const struct option options[] = {
	{ "db", 0, OPT_INPUT, FIELD(from), "FILE", DATABASE_DEFAULT,
	  "the database to report from" },
	{ "html", 0, OPT_OUTPUT, FIELD(html), "FILE", NULL,
	  "write one page with plots of the runs (all, if none is named) to FILE, and print nothing" },
	{ "table", 0, OPT_TEXT, FIELD(how.table), "NAME", NULL,
	  "show or compare only this table, however long it is" },
	{ "all", 'a', OPT_FLAG, FIELD(how.all), NULL, NULL,
	  "show all tables, however long they are; compare all values, also those that are equal" },
	{ .name = NULL },
};

static const struct example examples[] = {
	{ "heddle sim examples/quickstart.yaml --db runs.db", "a run to report on" },
	{ "heddle report --db runs.db", "which runs there are" },
	{ "heddle report --db runs.db 1", "what run 1 found" },
	{ "heddle report --db runs.db 1 2", "what differs between two runs, and by how much" },
	{ "heddle report --db runs.db 1 2 --table flows --csv",
	  "the same of one long table, for a spreadsheet" },
	{ "heddle report --db runs.db --html runs.html",
	  "all of them as one page, for any browser" },
	{ NULL, NULL },
};

/* Writes the differences between the runs first, then the runs that were named. */
static int write_page(const struct recorded_runs *s, const struct report_options *o, bool named,
		      struct diag *d)
{
	struct results *r = results_new("report");
	struct page_run *parts = NULL;
	bool several = named && s->n > 1;
	size_t n;
	int status;

	if (several) {
		compare_runs(s->runs, s->n, &o->how, r);
		results_set_version(r, HD_VERSION);
	}
	if (recorded_runs_parts(s, several ? r : NULL, d, &parts, &n) == HD_OK)
		status = record_page(o->html, parts, n);
	else
		status = command_refuse(d);
	results_free(r);
	free(parts);
	return status;
}

static int show_run(struct recorded_runs *s, const struct report_options *o, struct diag *d)
{
	struct common_options common = o->common;
	struct results *r;

	if (recorded_runs_take(s, &o->how, d, &r) != HD_OK)
		return command_refuse(d);
	common.seed = r->seed;
	return output_results(&common, r, true);
}

static int show(struct recorded_runs *s, const struct report_options *o, bool named)
{
	struct diag d = { .status = HD_OK, .file = o->from };

	if (o->html)
		return write_page(s, o, named, &d);
	if (s->n == 1)
		return show_run(s, o, &d);
	struct results *r = results_new("report");

	if (s->n == 0) {
		recorded_runs_list(s, r);
	} else if (recorded_runs_compare(s, &o->how, r, &d) != HD_OK) {
		results_free(r);
		return command_refuse(&d);
	}
	return output_results(&o->common, r, true);
}

static int run(const struct command *self, void *values, int n, char **args)
{
	struct report_options *o = values;
	struct recorded_runs s;
	struct diag d = { .status = HD_OK };

	if (n > COMPARE_MOST_RUNS)
		return command_usage(self, "too many runs: at most %d can be shown together",
				     COMPARE_MOST_RUNS);
	/* On a terminal the output is brief, unless an option requests more. */
	o->how.brief = !o->how.all && !o->how.table && !o->html && output_is_text(&o->common);
	/* A page shows all runs, unless some are named. */
	int status = recorded_runs_read(&s, o->from, o->html != NULL, n, args, &d) == HD_OK
			     ? show(&s, o, n > 0)
			     : command_refuse(&d);

	recorded_runs_fini(&s);
	return status;
}

const struct command command_report = {
	.name = "report",
	.summary = "list, show and compare recorded runs",
	.arguments = "[RUN...]",
	.description =
		"Reports on the runs of a database, which any command adds to "
		"with --db FILE: without RUN all of them in a list, one RUN as "
		"it was, several side by side with what differs. On a screen "
		"that is what has room: of one run its shorter tables, of "
		"several what they were told, the runs as a whole and the "
		"largest of all other changes; --table, --all, --csv and "
		"--json have the rest. --html makes one page of them, with plots and the "
		"fabric as a picture.\n\n"
		"A run that was killed, or found the disk full, is listed as lost; the others are not touched by that.",
	.options = options,
	.examples = examples,
	COMMAND_CALL(run, struct report_options, 0, ANY_NUMBER),
};
