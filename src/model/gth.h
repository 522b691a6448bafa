/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MODEL_GTH_H
#define HD_MODEL_GTH_H

/*
 * Stationary distribution of a small Markov chain by the elimination of
 * Grassmann, Taksar and Heyman: Gaussian elimination in which the diagonal is
 * never stored but always re-formed as a sum of rates. Nothing is subtracted,
 * so every probability, however small, has full relative precision.
 *
 * Cost n^3 / 3 multiplications: meant for up to about a thousand states.
 */

#include <stddef.h>

#include "base/status.h"

/*
 * rate[s * n + t] is the rate from state s to t; the diagonal is ignored and
 * the matrix is used up. p receives the n probabilities. HD_ERR_INPUT if some
 * state cannot be left towards the lower-numbered ones, which means that the
 * chain is not irreducible.
 */
HD_MUST_CHECK enum hd_status gth_solve(double *rate, size_t n, double *p);

#endif
