/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/output.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/colour.h"
#include "cli/record.h"
#include "report/formats.h"
#include "report/writer.h"

int output_bytes(const struct common_options *common, const void *bytes, size_t len, bool goals_met)
{
	struct diag d = { .status = HD_OK };

	/* main() checks that standard output was written completely. */
	if (!common->output)
		fwrite(bytes, 1, len, stdout);
	else if (file_write(common->output, bytes, len, &d) != HD_OK)
		return command_refuse(&d);
	return goals_met ? EXIT_DONE : EXIT_GOAL_MISSED;
}

int output_text(const struct common_options *common, struct strbuf *text, bool goals_met)
{
	int status = output_bytes(common, text->text, text->len, goals_met);

	strbuf_fini(text);
	return status;
}

int output_open(const struct common_options *common, struct output_stream *o)
{
	struct diag d = { .status = HD_OK };

	/* cppcheck-suppress unknownEvaluationOrder; nothing is evaluated */
	*o = (struct output_stream){ .text = STRBUF_INIT };
	if (common->output && file_create(&o->file, common->output, &d) != HD_OK)
		return command_refuse(&d);
	o->text.drain = common->output ? o->file.stream : stdout;
	return EXIT_DONE;
}

int output_end(struct output_stream *o, bool whole)
{
	struct diag d = { .status = HD_OK };
	bool to_file = o->text.drain != stdout;

	strbuf_flush(&o->text);
	strbuf_fini(&o->text);
	if (to_file && !whole)
		file_abandon(&o->file);
	else if (to_file && file_commit(&o->file, &d) != HD_OK)
		return command_refuse(&d);
	return EXIT_DONE;
}

int output_close(struct output_stream *o, bool goals_met)
{
	int status = output_end(o, true);

	return status == EXIT_DONE && !goals_met ? EXIT_GOAL_MISSED : status;
}

int output_check_format(const struct command *self, const struct common_options *common,
			const char *option)
{
	const char *other = common->json     ? "--json"
			    : common->csv    ? "--csv"
			    : common->format ? "--format"
					     : NULL;

	return other ? command_usage(self,
				     "%s cannot be used with %s: its output has a fixed format",
				     option, other)
		     : EXIT_DONE;
}

int output_check_own_formats(const struct command *self, const struct common_options *common,
			     const struct output_own_format *formats)
{
	const char *other = common->db      ? "--db"
			    : common->html  ? "--html"
			    : common->table ? "--table"
					    : NULL;
	const char *own = NULL;

	for (; formats->option; formats++) {
		if (own && formats->given)
			return command_usage(self, "%s and %s exclude each other", own,
					     formats->option);
		if (formats->given)
			own = formats->option;
	}
	if (own && other)
		return command_usage(self, "%s cannot be used with %s: it writes no results", own,
				     other);
	return own ? output_check_format(self, common, own) : command_check_ending(self, common);
}

static const struct writer *choose(const struct common_options *common)
{
	if (common->json)
		return writer_find("json");
	if (common->csv)
		return writer_find("csv");
	if (common->format)
		return &writers[common->format - 1];
	const struct writer *by_name = common->output ? writer_of_path(common->output) : NULL;

	return by_name ? by_name : &writers[0];
}

const char *output_format(const struct common_options *common)
{
	return choose(common)->name;
}

bool output_is_text(const struct common_options *common)
{
	return choose(common) == writer_find("text");
}

int output_own_text(const struct common_options *common, struct results *r,
		    const struct strbuf *text, bool goals_met)
{
	/*
	 * Recorded first: SIGPIPE may end the program if the reader of standard output closes it.
	 */
	int recorded = record_results(common, r);
	int status = output_bytes(common, text->text, text->len, goals_met);

	results_free(r);
	return recorded == EXIT_DONE ? status : recorded;
}

/* Writes one table of `r`; EXIT_USAGE with the names of the tables if it has no such table. */
static int write_table(const struct common_options *common, const struct results *r,
		       struct strbuf *out)
{
	const struct writer *w = choose(common);
	struct results one = *r;

	for (size_t i = 0; i < r->n_tables; i++) {
		if (strcmp(r->tables[i]->name, common->table) != 0)
			continue;
		one.tables = &r->tables[i];
		one.n_tables = 1;
		if (strcmp(w->name, "csv") == 0)
			writer_csv_table(r->tables[i], out);
		else
			w->write(&one, out);
		return EXIT_DONE;
	}
	strbuf_printf(out, "option --table: unknown table '%s' (expected one of:", common->table);
	for (size_t i = 0; i < r->n_tables; i++)
		strbuf_printf(out, "%s %s", i ? "," : "", r->tables[i]->name);
	strbuf_puts(out, ")");
	cli_print_error("heddle", out->text);
	return EXIT_USAGE;
}

int output_shown_and_recorded(const struct common_options *common, struct results *shown,
			      struct results *kept, bool goals_met)
{
	struct strbuf out = STRBUF_INIT;
	int status = EXIT_DONE;

	results_set_version(shown, HD_VERSION);
	shown->seed = common->seed;
	if (common->table)
		status = write_table(common, shown, &out);
	else if (output_is_text(common) && !common->output && colour_on(STDOUT_FILENO))
		writer_coloured(shown, &out);
	else
		choose(common)->write(shown, &out);
	if (status == EXIT_DONE)
		status = output_own_text(common, kept, &out, goals_met);
	else
		results_free(kept);

	if (kept != shown)
		results_free(shown);
	strbuf_fini(&out);
	return status;
}

int output_results(const struct common_options *common, struct results *r, bool goals_met)
{
	return output_shown_and_recorded(common, r, r, goals_met);
}

bool output_is_recorded(const struct common_options *common)
{
	return common->db || common->html;
}
