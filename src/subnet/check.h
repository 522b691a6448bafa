/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_CHECK_H
#define HD_SUBNET_CHECK_H

/*
 * Do the forwarding tables deliver? From every end port and every switch to
 * every LID the tables are followed; a path either arrives or is at fault.
 *
 * Hops are the cables between switches on a path: 0 between hosts of one
 * switch. A path is minimal if no other has fewer hops. Counts are of ordered
 * pairs (source end port, destination LID), a port's own LIDs excepted; what
 * starts at a switch itself counts only in `n_faulty_entries`.
 */

#include "base/strbuf.h"
#include "subnet/subnet.h"

#define CHECK_MAX_HOPS                                        \
	63 /* of the histogram; longer paths fall in the last \
	    */

enum path_fault {
	FAULT_NONE,
	FAULT_NO_ENTRY, /* a switch on the way has no port for the LID */
	FAULT_ASTRAY,   /* it leaves the fabric at the wrong place */
	FAULT_LOOP,     /* it comes back to a switch it has passed */
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
	/* Of (switch, LID) entries, whether or not a host sends that way. */
	uint64_t n_entries;
	uint64_t n_faulty_entries;

	/* The first fault found and the first detour, for the report. */
	enum path_fault fault;
	switch_id fault_at;
	uint16_t fault_subnet;
	lid_t fault_lid;
	switch_id detour_at;
	uint16_t detour_subnet;
	lid_t detour_lid;
};

void check_routes(const struct subnet *s, struct route_check *out);

/* True if every pair arrives and every switch reaches every LID. */
static inline bool check_is_clean(const struct route_check *c)
{
	return c->n_unreachable == 0 && c->n_faulty_entries == 0;
}

/*
 * The path from a switch to a LID, port by port, in one line: "'a' port 3 ->
 * 'b' port 1 -> ...", and how it ends.
 */
void check_print_path(const struct subnet *s, switch_id from, unsigned subnet,
		      lid_t lid, struct strbuf *out);

#endif
