/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_MCAST_COMPARE_H
#define HD_STUDY_MCAST_COMPARE_H

/*
 * One operation (collective.h) on a fabric, sent in every way there is: as one
 * copy per member, and along multicast trees of each kind; what the tables
 * need, what a run takes, and who lacks something in the end.
 */

#include "base/option.h"
#include "measure/results.h"
#include "scenario/override.h"
#include "study/collective.h"

#define MCAST_COMPARE_MAX_SEEDS 64
#define MCAST_COMPARE_TREES     (MCAST_DOUBLE + 1) /* kinds that can be built */

struct mcast_compare_options {
	const char *file;     /* a scenario, whose traffic is not run; or NULL: */
	const char *topology; /* as after "topology:" in a scenario */
	const struct overrides *overrides;
	const char *routing; /* the engine among the overrides, or NULL */
	/* Hosts as in a scenario, or "one", drawn by the seed. */
	const char *sources, *members;
	uint64_t size;   /* of a message */
	uint64_t buffer; /* packets of it in an input buffer; 0: the fabric's */
	uint64_t vls;    /* SLs, from 0 */
	bool per_packet, dedicated, headers;
	/* Of mcast_method_names; none: all that the fabric allows. */
	struct option_list trees;
	uint64_t seed, seeds;
	/* How many runs are done; false ends it. NULL: not reported. */
	bool (*progress)(void *context, double runs);
	void *context;
};

/* Names of trees, a blank after each. */
void mcast_compare_tree_words(struct strbuf *out);

/* Runs that options ask for, if the fabric allows all trees. */
unsigned mcast_compare_count(const struct mcast_compare_options *o);

/*
 * Adds tables to `r`: of what was run to its end, and a remark on the rest if
 * progress ended it. *all_well: every member received everything.
 */
HD_MUST_CHECK enum hd_status mcast_compare_run(const struct mcast_compare_options *o,
					       struct results *r, struct diag *d, bool *all_well);

#endif
