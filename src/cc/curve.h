/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CC_CURVE_H
#define HD_CC_CURVE_H

/* Curves of an algorithm: its effect on a rate, and the recovery time. */

#include "cc/response.h"
#include "measure/results.h"

/*
 * Adds a record of the algorithm and a series of `points` rates, at least 2,
 * from rmin to rmax, evenly spaced by their logarithm.
 */
void cc_curve_show(const struct cc_algorithm *a, const struct cc_config *c, uint64_t points,
		   struct results *r);

#endif
