/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_SEARCH_H
#define HD_STUDY_SEARCH_H

/* Which points the outcomes so far call for. */

#include "study/sweep.h"

struct wanted {
	size_t *points;
	size_t n, cap;
};

/* Adds the next points of the shard; none when all is done. */
void search_round(const struct sweep *w, const struct chain *chains, size_t n, struct wanted *out);

#endif
