/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_PAPER_TABLES_H
#define HD_PAPER_TABLES_H

/* Tables of a review. */

#include "paper/review.h"

/*
 * Lists the experiments without running them: as a table, as one record per
 * experiment, and as a table with fewer columns for a screen.
 */
void review_list(const struct paper_review *s, struct results *r);
void review_records(const struct paper_review *s, struct results *r);
void review_brief(const struct paper_review *s, struct results *r);
/*
 * Adds measured and published values of completed experiments; returns whether
 * every verdict equals the recorded one.
 */
bool review_tables(const struct paper_review *s, struct results *r);
/*
 * Adds for each setting of the open parameters the number of checks that hold
 * and the deviation from the published values. False if nothing is open.
 */
bool review_fit(const struct paper_review *s, struct results *r);
/*
 * Completes a job's results for the record: under the names of its experiments,
 * with the comparison added if there is only one.
 */
void review_annotate(const struct paper_review *s, size_t job);
/* Whether a table was added by review_annotate, after those of the run. */
bool review_is_note(const char *table);

#endif
