/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_PAPER_JUDGE_H
#define HD_PAPER_JUDGE_H

/*
 * Ours beside theirs: looks a check's value up in the results of its command
 * and judges it by what was published.
 */

#include "measure/results.h"
#include "paper/paper.h"

struct judgement {
	enum paper_verdict verdict; /* VERDICT_NONE: the value is not there */
	double ours;                /* NaN if it is no number */
	double deviation;           /* relative to the published; NaN if none */
	char *text;                 /* ours, if it is no number; or NULL */
	char *unit;                 /* of the column; "" if it has none */
	char *missing;              /* why it is not there; NULL if it is */
};

void judge(const struct paper_check *c, const struct results *r,
	   struct judgement *out);
void judgement_fini(struct judgement *j);

/* Of an experiment whose checks were judged so. */
enum paper_verdict judge_all(const struct judgement *j, size_t n);

#endif
