/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_CHECK_H
#define HD_SUBNET_ROUTING_CHECK_H

/*
 * Checks that the forwarding tables deliver. The tables are followed from every
 * end port and every switch to every LID; a path either arrives or is faulty.
 *
 * Hops are the cables between switches on a path: 0 between hosts of one
 * switch. A path is minimal if no other path has fewer hops. Counts are of
 * ordered pairs (source end port, LID of another end port), which is the
 * traffic of applications. Traffic to switches is management and is counted
 * separately. Paths that start at a switch count in `n_faulty_entries` only,
 * and tables may omit them: two top switches of a tree have no up*-down* path
 * between them.
 */

#include "base/strbuf.h"
#include "subnet/subnet.h"

#define CHECK_MAX_HOPS 63 /* size of the histogram; longer paths count in the last bin */

enum path_fault {
	FAULT_NONE,
	FAULT_NO_ENTRY, /* a switch on the path has no port for the LID */
	FAULT_ASTRAY,   /* the path leaves the fabric at the wrong place */
	FAULT_LOOP,     /* the path returns to a switch */
};

/* A path from a switch to a LID of its subnet. */
struct path_place {
	switch_id from;
	uint16_t subnet;
	lid_t lid;
};

struct route_check {
	uint64_t n_pairs;
	uint64_t n_unreachable; /* faulty pairs, including loops */
	uint64_t n_loops;
	uint64_t n_not_minimal;
	uint64_t n_by_hops[CHECK_MAX_HOPS + 1];
	uint64_t hops;         /* sum over the pairs that arrive */
	uint64_t minimal_hops; /* sum for shortest paths between these pairs */
	unsigned max_hops;
	/* Pairs (source end port, LID of a switch without an end port). */
	uint64_t n_switch_pairs;
	uint64_t n_switch_unreachable;
	/* (switch, LID) entries, whether or not a host uses them. */
	uint64_t n_entries;
	uint64_t n_faulty_entries;

	/* The first fault of each kind; set if its count is not 0. */
	enum path_fault fault;
	struct path_place fault_at;        /* of a pair of end ports */
	struct path_place switch_fault_at; /* of a pair with a switch */
	struct path_place detour_at;
};

void route_check(const struct subnet *s, struct route_check *out);

/* Whether every end port reaches every other. */
static inline bool route_check_is_clean(const struct route_check *c)
{
	return c->n_unreachable == 0;
}

/*
 * Whether missing entries match the known omissions of dump_fts: a top LID that
 * is a multiple of 64, and entries for ports from 128. Writes a line that
 * explains it, or returns false.
 */
bool route_suspect_dump(const struct subnet *s, struct strbuf *out);

/*
 * Writes the path from a switch to a LID in one line: "'a' port 3 -> 'b' port 1
 * -> ...", and how it ends.
 */
void route_print_path(const struct subnet *s, const struct path_place *path, struct strbuf *out);

#endif
