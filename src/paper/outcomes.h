/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_PAPER_OUTCOMES_H
#define HD_PAPER_OUTCOMES_H

/*
 * Outcomes of a review, stored in a file (papers/record.yaml) so that they can
 * be reported without running it again. The file has for every experiment the
 * check that decided its verdict, and the measured value, at the printed size
 * and, where that is smaller, of a quick run. The verdicts themselves are in
 * the papers' files.
 */

#include "paper/review.h"

struct paper_outcome {
	char *id;       /* "000/table2" */
	uint64_t check; /* number of the check, from 1 */
	char *setting;  /* setting of the open parameters; NULL if nothing is open */
	char *ours;
	bool quick; /* of a shorter run than the printed one */
};

struct paper_outcomes {
	struct paper_outcome *rows;
	size_t n;
};

/* Outcomes of all judged experiments. */
void outcomes_take(const struct paper_review *s, struct paper_outcomes *out);
/* Reads the built-in file; fails only if it is malformed. Free even after an error. */
HD_MUST_CHECK enum hd_status outcomes_read(struct diag *d, struct paper_outcomes *out);
/* Merges new outcomes with earlier ones for all other experiments, in the order of the papers. */
void outcomes_join(const struct paper_catalogue *c, const struct paper_outcomes *found,
		   const struct paper_outcomes *before, struct paper_outcomes *out);
void outcomes_fini(struct paper_outcomes *r);
/* Writes the file. */
void outcomes_print(const struct paper_outcomes *r, struct strbuf *out);

/* The outcome at the printed size, or else of a quick run; NULL if none exists. */
const struct paper_outcome *outcomes_find(const struct paper_outcomes *r, const struct paper *p,
					  const struct paper_experiment *e);

/*
 * Writes docs/papers.md: the outcome of every experiment, the rule that judged
 * it, and the errors in the papers and in the copies of their texts, all from
 * the papers' files and the record.
 */
void paper_document(const struct paper_catalogue *c, const struct paper_outcomes *r,
		    struct strbuf *out);

#endif
