/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MODEL_SPARSE_H
#define HD_MODEL_SPARSE_H

/*
 * Stationary distribution of a large sparse Markov chain: sparse LU (SuperLU)
 * of the balance equations with one state's probability fixed, unknowns
 * ordered by nested dissection.
 *
 * The equations form an M-matrix whose columns are diagonally dominant, so
 * elimination in any order is stable without pivoting and the fill depends
 * on the ordering alone.
 */

#include <stddef.h>

#include "base/diag.h"

/* Beyond this the indices of the factors may not fit SuperLU's integers. */
#define SPARSE_MAX_STATES 4194304

/* Rates by source state: entries start[s] .. start[s+1] leave state s. */
struct sparse_chain {
	size_t n;
	size_t *start; /* n + 1 */
	int *target;   /* never the state itself, at most once per source */
	double *rate;  /* above 0 */
};

void sparse_chain_fini(struct sparse_chain *c);

/*
 * p receives c->n probabilities. `pivot` is the state whose probability is
 * fixed during the solution; its probability must not be small. `order` is each
 * state's position in the elimination; with NULL, METIS computes one.
 * HD_ERR_UNFIT if the equations are singular to working precision.
 */
HD_MUST_CHECK enum hd_status sparse_solve(const struct sparse_chain *c, size_t pivot,
					  const int *order, struct diag *d, double *p);

/*
 * The distance of p from balance: the sum over states of |flow in - flow out|,
 * divided by the largest total rate out of a state.
 */
double sparse_residual(const struct sparse_chain *c, const double *p);

#endif
