/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WORKLOAD_PLACE_H
#define HD_WORKLOAD_PLACE_H

/* Placement of the ranks of a job on hosts. */

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"

enum placement {
	PLACE_LINEAR, /* in the order of the hosts */
	PLACE_RANDOM, /* random order */
	PLACE_LEAF,   /* all hosts of a switch, then those of the next switch */
	PLACE_ROUND,  /* one host of each switch in round-robin order */
};

/*
 * Sets hosts[r] to the host of rank r, of n hosts; leaf[h] is the switch of
 * host h; ranks <= n. Only PLACE_RANDOM draws random numbers.
 */
void place_ranks(enum placement how, const uint32_t *leaf, uint32_t n, struct rng *rng,
		 uint32_t ranks, uint32_t *hosts);

#endif
