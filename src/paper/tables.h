/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_PAPER_TABLES_H
#define HD_PAPER_TABLES_H

/* What a review found, as results. */

#include "paper/review.h"

/*
 * What there is, without running it: as a table, as a record of each, and as a
 * table for a screen that leaves out what has no place there.
 */
void review_list(const struct paper_review *s, struct results *r);
void review_records(const struct paper_review *s, struct results *r);
void review_brief(const struct paper_review *s, struct results *r);
/*
 * Ours next to the published values, of what is done; true if every verdict is the recorded
 * one.
 */
bool review_tables(const struct paper_review *s, struct results *r);
/*
 * What is left open, setting by setting: how many checks hold in each, and
 * how far ours are from what was published. False if nothing is left open.
 */
bool review_fit(const struct paper_review *s, struct results *r);
/*
 * A job's own results, as a run for the record: under the names of its
 * experiments, with the comparison added if it is the only one of them.
 */
void review_annotate(const struct paper_review *s, size_t job);
/* Whether a table is one that this adds, behind those of the run. */
bool review_is_note(const char *table);

#endif
