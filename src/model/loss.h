/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MODEL_LOSS_H
#define HD_MODEL_LOSS_H

/*
 * Loss systems: a customer that finds no room is lost. Arrivals are Poisson.
 * The result depends on the holding times only through their mean, for any
 * distribution.
 */

#include <stdint.h>

/* A class of customers, each of which occupies `size` places or is lost. */
struct loss_class {
	uint32_t size; /* at least 1 */
	double load;   /* erlangs: arrivals per mean holding time */
};

/*
 * Recursion of Kaufman and Roberts: lost[i] is the fraction of class i that is
 * lost if all classes share `places`.
 */
void loss_shared(uint32_t places, const struct loss_class *classes, uint32_t n_classes,
		 double *lost);

#endif
