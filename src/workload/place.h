/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WORKLOAD_PLACE_H
#define HD_WORKLOAD_PLACE_H

/* Which host each rank of a job gets. */

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"

enum placement {
	PLACE_LINEAR, /* in the order of the hosts */
	PLACE_RANDOM, /* any */
	PLACE_LEAF,   /* all hosts of a switch, then those of the next */
	PLACE_ROUND,  /* a host of each switch in turn */
};

/*
 * hosts[r] becomes the place of rank r among n hosts, leaf[h] being the switch
 * of host h; ranks <= n. Draws only for PLACE_RANDOM.
 */
void place_ranks(enum placement how, const uint32_t *leaf, uint32_t n, struct rng *rng,
		 uint32_t ranks, uint32_t *hosts);

#endif
