/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_RECORD_H
#define HD_CLI_RECORD_H

/*
 * What --db and --html keep of a run, besides what is printed. A run is noted
 * in the database when its work begins, so that one that is killed is known to
 * be lost, and no sooner, so that one that is refused leaves nothing behind;
 * main() ends it.
 */

#include "cli/command.h"
#include "measure/results.h"
#include "report/page.h"

/* The words after "heddle", for the record; borrowed. */
void record_arguments(int argc, char **argv);

/* EXIT_DONE if the run can be recorded or no option requests it. */
int record_begin(const struct command *self, const struct common_options *common);

/* What will be run, however it was said, for the note; copied. */
void record_content(const char *text);

/* What the command was told is accepted, and its work begins: noted once. */
void record_work(void);

/*
 * Writes `r`, with version, seed and arguments, to the database and the page
 * that were asked for. EXIT_DONE, or what went wrong (and was printed).
 */
int record_results(const struct common_options *common, struct results *r);

/*
 * What a page shows below the results themselves: the runs that they were made
 * of. Borrowed until then.
 */
void record_parts(const struct page_run *runs, size_t n);

/* A page of these runs; EXIT_DONE, or what went wrong (and was printed). */
int record_page(const char *path, const struct page_run *runs, size_t n);

/*
 * The program ends with `status`. A run that was begun and left no results is
 * forgotten, or stays noted as lost if the host is to blame.
 */
void record_end(int status);

#endif
