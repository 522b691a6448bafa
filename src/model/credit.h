/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MODEL_CREDIT_H
#define HD_MODEL_CREDIT_H

/*
 * Two nodes joined by a link with credit-based flow control, as a Markov chain.
 *
 *	lambda --> [ i <= upstream ] -- mu1 --> [ j <= downstream ] -- mu2 -->
 *	              node 1         <- credits -      node 2
 *
 * Node 1 holds the packet that it transmits. A transmission needs a credit, that
 * is, a place reserved at node 2. Packets that arrive when node 1 is full are
 * lost; none is lost between the nodes. A credit returns when its packet leaves
 * node 2: immediately or, with delay > 0, after a time with that mean, the sum of
 * `phases` exponential times (1: exponential; many: nearly constant). During that
 * time neither node has the credit. The chain is finite, so every load is valid.
 */

#include <stddef.h>

#include "base/diag.h"

#define CREDIT_MAX_PHASES 64

struct credit_link {
	double lambda;
	double mu1;
	double mu2;
	size_t upstream;   /* places at node 1 */
	size_t downstream; /* places at node 2 = credits */
	double delay;      /* mean time a credit takes to return */
	unsigned phases;   /* at least 1; irrelevant while delay is 0 */
};

struct credit_result {
	double mean_upstream;   /* L1 */
	double mean_downstream; /* L2 */
	double mean;            /* L */
	double response;        /* R, of accepted packets */
	double throughput;      /* T */
	double loss;
	double in_flight; /* mean number of returning credits */
	/*
	 * Accuracy of the solution: distance from balance (see
	 * sparse_residual), and the largest relative difference among the flows
	 * into node 1, over the link, and out of node 2.
	 */
	double residual;
	double flow_error;
	size_t states;
	const char *method; /* "GTH" or "sparse LU" */
};

/* HD_ERR_RANGE with the rule that the link violates; or HD_OK. */
HD_MUST_CHECK enum hd_status credit_check(const struct credit_link *link, struct diag *d);

/*
 * Solves a link that passed the check. If p is not NULL it gets the
 * probabilities of (i, j) at p[i * (downstream + 1) + j].
 */
HD_MUST_CHECK enum hd_status credit_solve(const struct credit_link *link, struct diag *d, double *p,
					  struct credit_result *out);

/* credit_solve uses the dense method up to this number of states. */
#define CREDIT_DENSE_STATES 400

#endif
