/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MODEL_GTH_H
#define HD_MODEL_GTH_H

/*
 * Stationary distribution of a small Markov chain by the elimination of
 * Grassmann, Taksar and Heyman: Gaussian elimination in which the diagonal is
 * not stored but recomputed as a sum of rates. There are no subtractions, so
 * every probability, however small, has full relative precision.
 *
 * The cost is n^3 / 3 multiplications; use it for up to about a thousand
 * states.
 */

#include <stddef.h>

#include "base/status.h"

/*
 * rate[s * n + t] is the rate from state s to t; the diagonal is ignored and
 * the matrix is overwritten. p receives the n probabilities. HD_ERR_INPUT if
 * some state has no transition towards the lower-numbered ones, that is, if the
 * chain is not irreducible.
 */
HD_MUST_CHECK enum hd_status gth_solve(double *rate, size_t n, double *p);

#endif
