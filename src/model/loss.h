/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MODEL_LOSS_H
#define HD_MODEL_LOSS_H

/*
 * Loss systems: a customer that finds no room is lost. Arrivals
 * are Poisson; of the times that those stay who are let in only the mean
 * counts, whatever their law.
 */

#include <stdint.h>

/* One kind of customer, each of which takes `size` of the places, or none. */
struct loss_class {
	uint32_t size; /* at least 1 */
	double load;   /* erlangs: arrivals in the mean time that one stays */
};

/*
 * Kaufman's and Roberts' recursion: lost[i] is the share of class i that is
 * lost where all classes share `places`.
 */
void loss_shared(uint32_t places, const struct loss_class *classes, uint32_t n_classes,
		 double *lost);

#endif
