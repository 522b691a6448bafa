/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_SEARCH_H
#define HD_STUDY_SEARCH_H

/* Selects the points that a search needs next, given the outcomes so far. */

#include "study/sweep.h"

struct point_list {
	size_t *points;
	size_t n, cap;
};

/* Adds the next points of the shard; adds none when the search is complete. */
void search_round(const struct study_sweep *w, const struct sweep_chain *chains, size_t n,
		  struct point_list *out);

#endif
