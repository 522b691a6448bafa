/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_OUTPUT_H
#define HD_CLI_OUTPUT_H

/*
 * The one way results leave a command: in the format that --format, --json,
 * --csv or the extension of -o asks for, to standard output or to a file. A
 * file is written under a temporary name and renamed, so a failure leaves the old one. With
 * --db the results also become one run of a database (report/database.h).
 *
 *	return output_results(&options.common, results, goals_met);
 */

#include "base/file.h"
#include "cli/command.h"
#include "measure/results.h"

/*
 * Writes and frees `r`, after noting version and seed in it. Returns the exit
 * status: EXIT_DONE, EXIT_GOAL_MISSED if not `goals_met`, or
 * EXIT_ENVIRONMENT if the output could not be written.
 */
int output_results(const struct common_options *common, struct results *r, bool goals_met);

/*
 * A record is for looking up anything, the screen is not: what is shown, and
 * what --db and --html keep (which may be the same). Frees both.
 */
int output_shown_and_recorded(const struct common_options *common, struct results *shown,
			      struct results *kept, bool goals_met);
/* Whether --db or --html keep anything. */
bool output_is_recorded(const struct common_options *common);

/*
 * The same for output in a format of the command's own (a topology, a
 * capture): `len` bytes to -o or standard output.
 */
int output_bytes(const struct common_options *common, const void *bytes, size_t len,
		 bool goals_met);

/* The same for a text, which is freed. */
int output_text(const struct common_options *common, struct strbuf *text, bool goals_met);

/*
 * The same for output that is too long to hold in memory: print to text, which
 * passes it on. EXIT_DONE if it was opened; output_close must follow then, and
 * gives the exit status.
 */
struct output_stream {
	struct strbuf text;
	struct file_writer file;
};
int output_open(const struct common_options *common, struct output_stream *o);
int output_close(struct output_stream *o, bool goals_met);
/* The same if it may not be `whole`: a file is left as it was, then. */
int output_end(struct output_stream *o, bool whole);

/*
 * Results that are shown in a shape of the command's own: `r`, which is freed,
 * goes to --db and --html only.
 */
int output_own_text(const struct common_options *common, struct results *r,
		    const struct strbuf *text, bool goals_met);

/*
 * Options that select an output format of the command's own; a NULL option ends
 * the list. Two of them, or one together with an option of results, are a usage
 * error before anything is computed. EXIT_DONE otherwise.
 */
struct output_own_format {
	const char *option;
	bool given;
};
int output_check_own_formats(const struct command *self, const struct common_options *common,
			     const struct output_own_format *formats);
/* The same, but --db and --html still record results. */
int output_check_format(const struct command *self, const struct common_options *common,
			const char *option);

/* The name of the format that the user asked for: "text". */
const char *output_format(const struct common_options *common);
/* Whether a person reads the results, and not a program. */
bool output_is_text(const struct common_options *common);

#endif
