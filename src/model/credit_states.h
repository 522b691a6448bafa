/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MODEL_CREDIT_STATES_H
#define HD_MODEL_CREDIT_STATES_H

/*
 * Enumeration of the states of the chain in credit.h, and the chain itself.
 *
 * A state is i, and a vector of integers whose sum is at most `downstream`: j
 * and, if credits have a delay, the number of credits in each phase of their
 * return. Vectors are numbered in lexicographic order; state = i * n_vectors +
 * vector, so without delay it is i * (downstream + 1) + j.
 */

#include <stdbool.h>

#include "model/credit.h"
#include "model/sparse.h"

#define CREDIT_MAX_DIMENSIONS (1 + CREDIT_MAX_PHASES)

struct credit_states {
	size_t dimensions; /* of a vector: 1 + phases, or 1 without delay */
	size_t n_vectors;
	size_t n; /* number of states */
};

/* n is 0 if there are more than `limit` states. */
struct credit_states credit_states_of(const struct credit_link *link, size_t limit);

size_t credit_vector_rank(const struct credit_link *link, const unsigned *v, size_t dimensions);
/* The first vector is all zeros; false after the last. */
bool credit_vector_next(const struct credit_link *link, unsigned *v, size_t dimensions);

void credit_chain_init(struct sparse_chain *c, const struct credit_link *link,
		       const struct credit_states *states);

/* A state with a probability that is not small. */
size_t credit_common_state(const struct credit_link *link, const struct credit_states *states);

/*
 * Nested dissection of the grid of (i, j), for links without delay: place[s] is
 * the position of state s in the order of elimination. A line of the grid
 * separates its two sides, so no search for separators is needed.
 */
void credit_dissect(const struct credit_link *link, int *place);

#endif
