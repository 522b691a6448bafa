/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_TABLES_TRANSITION_H
#define HD_SUBNET_TABLES_TRANSITION_H

/*
 * Checks the transition from old to new tables. A manager writes tables block
 * by block, so that some tables are old and some are new meanwhile. Both sets
 * can be correct while their mixture is not.
 *
 * Pairs are those of check.h, among the end ports that the manager reaches. The
 * mixture is followed over the present cables, once before the first write and
 * once after each write; the worst value counts. The last state is that of the
 * new tables, in which all pairs should communicate.
 *
 * Packets in flight were routed by any of these tables. One check decides for
 * all of them whether they can deadlock: the union of old and new entries of
 * each switch must have no cycle of dependencies (deadlock.h), except that no
 * packet goes from a new entry to an entry that is no longer old. The condition
 * is sufficient; a cycle means that a deadlock cannot be excluded. Only unicast
 * is checked, each subnet separately.
 */

#include "subnet/routing/depgraph.h"
#include "subnet/routing/replan.h"

struct table_transition {
	uint64_t unreachable; /* maximum number of simultaneous faulty pairs, loops included */
	uint64_t loops;       /* maximum number of simultaneous pairs with a loop */
	uint64_t unreachable_after; /* after the last write */
	struct channel *cycle;      /* NULL: no cycle */
	uint32_t n_cycle;
};

/*
 * `before` has the tables in the switches and the path SLs in use, with the
 * SL2VL tables and VLs per port of `vls`, which do not change. All arguments
 * have the same nodes, ports and LIDs.
 */
void transition_check(const struct subnet *before, const struct replan *next,
		      const struct subnet *vls, struct table_transition *out);
void transition_fini(struct table_transition *t);

#endif
