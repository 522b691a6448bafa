/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_OUTPUT_H
#define HD_CLI_OUTPUT_H

/*
 * Output of results, for all commands: in the format selected by --format, --json, --csv or the
 * extension of -o, to standard output or to a file. A file is written under a temporary name and
 * renamed, so that a failure leaves the old file. With --db the results are also appended as one
 * run to a database (report/database.h).
 *
 *	return output_results(&options.common, results, goals_met);
 */

#include "base/file.h"
#include "cli/command.h"
#include "measure/results.h"

/*
 * Adds version and seed to `r`, writes it and frees it. Returns the exit status: EXIT_DONE,
 * EXIT_GOAL_MISSED if not `goals_met`, or EXIT_ENVIRONMENT if the output could not be written.
 */
int output_results(const struct common_options *common, struct results *r, bool goals_met);

/*
 * Writes `shown` to the output, and records `kept`, which may be the same results with more
 * detail, with --db and --html. Frees both.
 */
int output_shown_and_recorded(const struct common_options *common, struct results *shown,
			      struct results *kept, bool goals_met);
/* True if --db or --html is given. */
bool output_is_recorded(const struct common_options *common);

/*
 * Writes output in a format of the command's own (a topology, a capture): `len` bytes to -o or
 * standard output.
 */
int output_bytes(const struct common_options *common, const void *bytes, size_t len,
		 bool goals_met);

/* The same for a text, which is freed. */
int output_text(const struct common_options *common, struct strbuf *text, bool goals_met);

/*
 * The same for output that is too long for memory: the caller prints to `text`, which is flushed
 * to the file. If output_open returns EXIT_DONE, output_close must follow and returns the exit
 * status.
 */
struct output_stream {
	struct strbuf text;
	struct file_writer file;
};
int output_open(const struct common_options *common, struct output_stream *o);
int output_close(struct output_stream *o, bool goals_met);
/* As output_close; unless `whole`, an existing file is left unchanged. */
int output_end(struct output_stream *o, bool whole);

/* Writes a text in a shape of the command's own; `r` is recorded with --db and --html and freed. */
int output_own_text(const struct common_options *common, struct results *r,
		    const struct strbuf *text, bool goals_met);

/*
 * Options that select an output format of the command's own; a NULL option ends the list. Two of
 * them, or one of them and an option of results, are a usage error, which is detected before
 * anything is computed. Returns EXIT_DONE otherwise.
 */
struct output_own_format {
	const char *option;
	bool given;
};
int output_check_own_formats(const struct command *self, const struct common_options *common,
			     const struct output_own_format *formats);
/* The same, but --db and --html are allowed and record results. */
int output_check_format(const struct command *self, const struct common_options *common,
			const char *option);

/* Name of the selected format, e.g. "text". */
const char *output_format(const struct common_options *common);
/* True if the output is text for people. */
bool output_is_text(const struct common_options *common);

#endif
