/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_CHECK_H
#define HD_SUBNET_ROUTING_CHECK_H

/*
 * Do the forwarding tables deliver? From every end port and every switch to
 * every LID the tables are followed; a path either arrives or is at fault.
 *
 * Hops are the cables between switches on a path: 0 between hosts of one
 * switch. A path is minimal if no other has fewer hops. Counts are of ordered
 * pairs (source end port, LID of another end port), since that is what traffic
 * can meet. What goes to the switches themselves is management and is counted
 * apart; what starts at a switch counts only in `n_faulty_entries`, and tables
 * may well leave it out: between two tops of a tree there is no way up and
 * down.
 */

#include "base/strbuf.h"
#include "subnet/subnet.h"

#define CHECK_MAX_HOPS 63 /* of the histogram: longer ones count there, too */

enum path_fault {
	FAULT_NONE,
	FAULT_NO_ENTRY, /* a switch on the way has no port for the LID */
	FAULT_ASTRAY,   /* it leaves the fabric at the wrong place */
	FAULT_LOOP,     /* it comes back to a switch it has passed */
};

/* A path: from a switch to a LID of its subnet. */
struct path_place {
	switch_id from;
	uint16_t subnet;
	lid_t lid;
};

struct route_check {
	uint64_t n_pairs;
	uint64_t n_unreachable; /* pairs at fault, loops included */
	uint64_t n_loops;
	uint64_t n_not_minimal;
	uint64_t n_by_hops[CHECK_MAX_HOPS + 1];
	uint64_t hops;         /* summed over the pairs that arrive */
	uint64_t minimal_hops; /* what they would be on shortest paths */
	unsigned max_hops;
	/* Pairs (source end port, LID of a switch without an end port). */
	uint64_t n_switch_pairs;
	uint64_t n_switch_unreachable;
	/* Of (switch, LID) entries, whether or not a host sends that way. */
	uint64_t n_entries;
	uint64_t n_faulty_entries;

	/* For the report, the first of each; set where its count is not 0. */
	enum path_fault fault;
	struct path_place fault_at;        /* of a pair */
	struct path_place switch_fault_at; /* of a pair with a switch */
	struct path_place detour_at;
};

void route_check(const struct subnet *s, struct route_check *out);

/* True if every end port reaches every other. */
static inline bool route_check_is_clean(const struct route_check *c)
{
	return c->n_unreachable == 0;
}

/*
 * Do tables that miss entries look like what dump_fts makes of whole ones? It
 * leaves out a top LID that is a multiple of 64, and entries for ports from
 * 128 on. Says so in a line, or returns false.
 */
bool route_suspect_dump(const struct subnet *s, struct strbuf *out);

/*
 * The path from a switch to a LID, port by port, in one line: "'a' port 3 ->
 * 'b' port 1 -> ...", and how it ends.
 */
void route_print_path(const struct subnet *s, const struct path_place *path, struct strbuf *out);

#endif
