/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_PAPER_JUDGE_H
#define HD_PAPER_JUDGE_H

/*
 * Compares measured with published values: looks up a check's value in the
 * results of its command and judges it. With `each`, the check is judged case
 * by case: it holds, holds for most cases ("reproduced for"), or does not hold.
 */

#include "measure/results.h"
#include "paper/paper.h"

struct judgement {
	enum paper_verdict verdict; /* VERDICT_NONE: the value is missing */
	double ours;                /* measured value, of the worst case; NaN if not a number */
	double deviation;           /* relative to the published value; NaN if none */
	char *text;                 /* measured value if it is not a number; or NULL */
	char *unit;                 /* of the column; "" if it has none */
	char *missing;              /* reason why the value is missing; NULL otherwise */
	size_t cases, holds;        /* 1 of 1 without `each` */
	size_t unclear;             /* exceptions that are not significant */
	char *at;                   /* the worst case; NULL if there is one */
};

void judge(const struct paper_check *c, const struct results *r, struct judgement *out);
void judgement_fini(struct judgement *j);
/* Judgement of a check whose value is missing, with the reason. */
void judgement_missing(struct judgement *j, const char *why);

/* Writes the measured value for the reader: "0.9987 us", "372 of 378 cases,
 * worst 0.97 at vls=2". */
void judgement_print(const struct judgement *j, struct strbuf *out);

/* Verdict of an experiment from the judgements of its checks. */
enum paper_verdict judge_all(const struct judgement *j, size_t n);

#endif
