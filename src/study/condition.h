/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_CONDITION_H
#define HD_STUDY_CONDITION_H

/*
 * What a study asks of its points, in the words of its fields and measures:
 *
 *	fabric.routing = updn and traffic.0.load > 80%
 *	p99 < 5us
 *	delivered < 95% of offered
 *
 * Who looks it up knows what the names and values stand for.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

enum relation {
	RELATION_LESS,
	RELATION_NOT_MORE,
	RELATION_MORE,
	RELATION_NOT_LESS,
	RELATION_SAME,
	RELATION_OTHER,
};

struct term {
	char *left; /* a name */
	enum relation relation;
	char *right;  /* a value or a name */
	double share; /* of `right`, a name then; 0: of nothing */
};

struct condition {
	struct term *terms; /* all must hold */
	size_t n, cap;
};

/* Free even after a refusal. */
HD_MUST_CHECK enum hd_status condition_parse(const char *text, struct diag *d,
					     struct condition *out);
void condition_fini(struct condition *c);

/* No relation holds for what is no number (NAN). */
bool condition_relation_holds(enum relation relation, double left, double right);

#endif
