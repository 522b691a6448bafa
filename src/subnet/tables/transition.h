/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_TABLES_TRANSITION_H
#define HD_SUBNET_TABLES_TRANSITION_H

/*
 * Checks the transition from old to new tables. A manager writes tables block
 * by block, so that meanwhile some are old and some are new. Both sets can be
 * correct while their mixture is not.
 *
 * Pairs are those of check.h, among the end ports that the manager reaches:
 * the mixture is followed over the cables that are there now, once before the
 * first write and once after each; what is worst counts. The last state is
 * that of the new tables, where all pairs should communicate.
 *
 * Packets on their way were routed by any of these tables. Whether they can
 * lock up is decided for all of them at once: with the old and the new entry
 * of each switch together no cycle of dependencies (deadlock.h) may arise,
 * except that no packet comes by a new entry to one that is no longer old. That
 * is sufficient; a cycle says that a deadlock cannot be ruled out. Only unicast
 * is looked at, each subnet for itself.
 */

#include "subnet/routing/depgraph.h"
#include "subnet/routing/replan.h"

struct table_transition {
	uint64_t unreachable;       /* pairs at once, loops included, at worst */
	uint64_t loops;             /* pairs at once whose packets go in circles */
	uint64_t unreachable_after; /* once all is written */
	struct channel *cycle;      /* NULL: free of cycles */
	uint32_t n_cycle;
};

/*
 * `before` has the tables in the switches and the path SLs in use, on VLs of
 * `vls` (SL2VL and VLs per port, which do not change). All are over the same
 * nodes, ports and LIDs.
 */
void transition_check(const struct subnet *before, const struct replan *next,
		      const struct subnet *vls, struct table_transition *out);
void transition_fini(struct table_transition *t);

#endif
