/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_PAPER_JUDGE_H
#define HD_PAPER_JUDGE_H

/*
 * Compares ours with the published: looks a check's value up in the results of its command
 * and judges it by what was published. With `each`, the check is judged case
 * by case: it holds, holds for most cases ("reproduced for"), or does not.
 */

#include "measure/results.h"
#include "paper/paper.h"

struct judgement {
	enum paper_verdict verdict; /* VERDICT_NONE: the value is not there */
	double ours;                /* NaN if it is no number; worst case's */
	double deviation;           /* relative to the published; NaN if none */
	char *text;                 /* ours, if it is no number; or NULL */
	char *unit;                 /* of the column; "" if it has none */
	char *missing;              /* why it is not there; NULL if it is */
	size_t cases, holds;        /* 1 of 1 without `each` */
	size_t unclear;             /* exceptions that chance may have made */
	char *at;                   /* the worst case; NULL if there is one */
};

void judge(const struct paper_check *c, const struct results *r, struct judgement *out);
void judgement_fini(struct judgement *j);
/* Of a check whose value is not there, for this reason. */
void judgement_missing(struct judgement *j, const char *why);

/* "0.9987 us", "372 of 378 cases, worst 0.97 at vls=2": ours, to be read. */
void judgement_print(const struct judgement *j, struct strbuf *out);

/* Of an experiment whose checks were judged so. */
enum paper_verdict judge_all(const struct judgement *j, size_t n);

#endif
