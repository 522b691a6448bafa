/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MODEL_LOSS_H
#define HD_MODEL_LOSS_H

/*
 * Loss systems: who finds no room when he comes goes away for good. Arrivals
 * are Poisson; of the times that those stay who are let in only the mean
 * counts, whatever their law.
 */

#include <stdint.h>

/*
 * Erlang's B: the share that is lost of `load` erlangs (arrivals in the mean
 * time that one stays) offered to `servers` places.
 */
double loss_erlang_b(uint32_t servers, double load);

/* One kind of customer, each of whom takes `size` of the places, or none. */
struct loss_class {
	uint32_t size; /* at least 1 */
	double load;   /* erlangs */
};

/*
 * Kaufman's and Roberts' recursion: lost[i] is the share of class i that is
 * lost where all classes share `places`.
 */
void loss_shared(uint32_t places, const struct loss_class *classes,
		 uint32_t n_classes, double *lost);

#endif
