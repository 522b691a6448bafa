/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_PAPER_OUTCOMES_H
#define HD_PAPER_OUTCOMES_H

/*
 * What a review found, kept as a file (papers/record.yaml) so that it can be
 * told without running it again: of every experiment the check that decided
 * its verdict, and our value, at the printed size and, where that is smaller,
 * of a quick run. The verdicts themselves stand in the papers' own files.
 */

#include "paper/review.h"

struct paper_outcome {
	char *id;       /* "000/table2" */
	uint64_t check; /* which, counted from 1 */
	char *setting;  /* of what is left open; NULL if nothing is */
	char *ours;
	bool quick; /* by a shorter run than the printed one */
};

struct paper_outcomes {
	struct paper_outcome *rows;
	size_t n;
};

/* Of all that was judged. */
void outcomes_take(const struct paper_review *s, struct paper_outcomes *out);
/* The one that is built in; refused only if it is bad. Free even then. */
HD_MUST_CHECK enum hd_status outcomes_read(struct diag *d, struct paper_outcomes *out);
/* What was found now, and of all else what was found before, as the papers have
 * their experiments. */
void outcomes_join(const struct paper_catalogue *c, const struct paper_outcomes *found,
		   const struct paper_outcomes *before, struct paper_outcomes *out);
void outcomes_fini(struct paper_outcomes *r);
/* The file. */
void outcomes_print(const struct paper_outcomes *r, struct strbuf *out);

/* At the printed size rather than of a quick run; NULL without one. */
const struct paper_outcome *outcomes_find(const struct paper_outcomes *r, const struct paper *p,
					  const struct paper_experiment *e);

/*
 * docs/papers.md: what every experiment came to, the rule that judged it, what is wrong
 * in the papers and in the copies of their texts, all from the papers' files
 * and the record.
 */
void paper_document(const struct paper_catalogue *c, const struct paper_outcomes *r,
		    struct strbuf *out);

#endif
