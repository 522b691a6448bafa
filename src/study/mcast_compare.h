/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_MCAST_COMPARE_H
#define HD_STUDY_MCAST_COMPARE_H

/*
 * Compares the ways to send one operation (collective.h) on a fabric: one
 * unicast copy per member, and multicast trees of each kind. The tables have
 * the resources, the run times, and the members that lack packets at the end.
 */

#include "base/option.h"
#include "measure/results.h"
#include "scenario/override.h"
#include "study/collective.h"

#define MCAST_COMPARE_MAX_SEEDS 64
#define MCAST_COMPARE_TREES     (MCAST_DOUBLE + 1) /* kinds of trees that can be built */

struct mcast_compare_options {
	const char *file;     /* scenario, whose traffic is not run; NULL: use `topology` */
	const char *topology; /* as after "topology:" in a scenario */
	const struct overrides *overrides;
	const char *routing; /* routing algorithm among the overrides; may be NULL */
	/* Hosts in scenario notation, or "one": one host chosen by the seed. */
	const char *sources, *members;
	uint64_t size;    /* of a message */
	uint64_t buffer;  /* packets of it per input buffer; 0: the fabric's buffer size */
	uint64_t sl, vls; /* first SL, and number of SLs to use */
	bool per_packet, headers;
	/* Names of mcast_method_names; empty: all that the fabric supports. */
	struct option_list trees;
	uint64_t seed, seeds;
	/* Reports the number of completed runs; false ends the comparison. May be NULL. */
	bool (*progress)(void *context, double runs);
	void *context;
};

/* Appends the names of trees, each followed by a space. */
void mcast_compare_tree_words(struct strbuf *out);

/* Number of runs that the options request, if the fabric supports all trees. */
unsigned mcast_compare_count(const struct mcast_compare_options *o);

/*
 * Adds the tables of completed runs to `r`, and a remark on the remaining runs
 * if progress ended the comparison. *all_well: every member received
 * everything.
 */
HD_MUST_CHECK enum hd_status mcast_compare_run(const struct mcast_compare_options *o,
					       struct results *r, struct diag *d, bool *all_well);

#endif
