/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_PAPER_RECALL_H
#define HD_PAPER_RECALL_H

/*
 * Jobs that an earlier call has run are known by their content: the command,
 * what is in the files that it reads, and the rules of the simulator.
 */

#include "paper/review.h"

/* Of a job; a run that is kept has it as its parameter POINT_KEY. */
void review_key(const struct paper_review *s, size_t job, struct strbuf *out);
/* Takes what review_annotate left of it earlier: it need not be run. */
void review_recall(struct paper_review *s, size_t job, struct results *r);

#endif
