/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_SEARCH_H
#define HD_STUDY_SEARCH_H

/* Which points the outcomes so far call for. */

#include "study/sweep.h"

struct point_list {
	size_t *points;
	size_t n, cap;
};

/* Adds the next points of the shard; none when all is done. */
void search_round(const struct study_sweep *w, const struct sweep_chain *chains, size_t n,
		  struct point_list *out);

#endif
