/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_RECORD_H
#define HD_CLI_RECORD_H

/*
 * Recording of a run with --db and --html. The run is added to the database when its work begins:
 * a killed run is listed as lost, and a refused one leaves nothing. main() ends the record.
 */

#include "cli/command.h"
#include "measure/results.h"
#include "report/page.h"

/* Words after "heddle", for the record; borrowed. */
void record_arguments(int argc, char **argv);

/* EXIT_DONE if the run can be recorded or no option requests it. */
int record_begin(const struct command *self, const struct common_options *common);

/* Description of the run, independent of how the options were written; copied. */
void record_content(const char *text);

/* The command line has been accepted and the work begins: adds the run, once. */
void record_work(void);

/*
 * Writes `r`, with version, seed and arguments, to the database and the page of the options.
 * EXIT_DONE, or the exit status of an error that has been printed.
 */
int record_results(const struct common_options *common, struct results *r);

/*
 * Runs that the results are based on, shown on the page below the results. Borrowed until
 * record_results.
 */
void record_parts(const struct page_run *runs, size_t n);

/* Writes a page of these runs; EXIT_DONE, or the exit status of an error that has been printed. */
int record_page(const char *path, const struct page_run *runs, size_t n);

/*
 * Ends the record with the exit status. A run without results is removed, or stays in the database
 * as lost if the status is EXIT_ENVIRONMENT.
 */
void record_end(int status);

#endif
