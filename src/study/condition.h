/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_CONDITION_H
#define HD_STUDY_CONDITION_H

/*
 * Conditions of a study on its points, over names of fields and measures:
 *
 *	fabric.routing = updn and traffic.0.load > 80%
 *	p99 < 5us
 *	delivered < 95% of offered
 *
 * The caller resolves the names and values; this module only parses them.
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
	double share; /* factor for `right`, which is then a name; 0: `right` is not scaled */
};

struct condition {
	struct term *terms; /* all must hold */
	size_t n, cap;
};

/* Call the free function even after an error. */
HD_MUST_CHECK enum hd_status condition_parse(const char *text, struct diag *d,
					     struct condition *out);
void condition_fini(struct condition *c);

/* Returns false if either operand is NAN. */
bool condition_relation_holds(enum relation relation, double left, double right);

#endif
