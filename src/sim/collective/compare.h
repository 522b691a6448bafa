/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_COLLECTIVE_COMPARE_H
#define HD_SIM_COLLECTIVE_COMPARE_H

/*
 * One operation (collective.h) on a fabric, sent in every way there is: as one
 * copy per member, and along multicast trees of each kind; what the tables
 * need, what a run takes, and who lacks something in the end.
 */

#include "measure/results.h"
#include "scenario/override.h"
#include "sim/collective/collective.h"

#define COMPARE_MAX_SEEDS 64
#define COMPARE_TREES     (MCAST_DOUBLE + 1) /* kinds that can be built */

/* A scenario without a topology, for those who have but that. */
extern const char compare_fabric[];

struct compare_options {
	const char *text, *file; /* of a scenario; its traffic is not run */
	const struct overrides *overrides;
	/* Hosts as in a scenario, or "one", drawn by the seed. */
	const char *sources, *members;
	uint64_t size;  /* of a message */
	uint64_t lanes; /* SLs, from 0 */
	bool per_packet, dedicated, headers;
	bool trees[COMPARE_TREES];
	bool any_tree; /* all that the fabric allows */
	uint64_t seed, seeds;
};

/* Adds tables to `r`. *all_well: nobody lacks anything. */
HD_MUST_CHECK enum hd_status compare_run(const struct compare_options *o,
					 struct results *r, struct diag *d,
					 bool *all_well);

#endif
