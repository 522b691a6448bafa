/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_MULTICAST_MCAST_H
#define HD_SUBNET_MULTICAST_MCAST_H

/*
 * Multicast groups and their trees.
 *
 * A switch sends a packet for an MLID from every port of its set except the
 * one the packet came in by. Since a table knows only the MLID, a tree either
 * serves one source (its union of paths is right for that source only) or is a
 * spanning tree of the group, which serves any sender on it. So a method with
 * a source needs one of the 16,383 MLIDs per (source, group), a shared tree
 * one per group.
 */

#include "subnet/routing/depgraph.h"
#include "subnet/subnet.h"

enum mcast_method {
	MCAST_XY,       /* union of the XY paths from one source */
	MCAST_UNION,    /* the same of any engine's paths, if it is a tree */
	MCAST_SHORTEST, /* shortest-path tree from one source, any topology */
	MCAST_SHARED,   /* one spanning tree per group, as OpenSM builds it */
	/* In several groups, an MLID each (mcast_add_parts), on meshes: */
	MCAST_DUAL,   /* two paths, up and down a Hamiltonian path */
	MCAST_MULTI,  /* up to four such paths */
	MCAST_DOUBLE, /* XY trees of four quadrants, on two VLs */
	MCAST_PATHS,  /* as MCAST_UNION, tree or not: for who will check it */
	MCAST_FILE,   /* read from a file; not for mcast_add */
	N_MCAST_METHODS
};
/* The first ones bring a packet to each member once, by one MLID. */
enum { N_MCAST_TREES = MCAST_SHARED + 1 };

/* Upper half of a group's MGID (link-local scope); the MLID is the lower. */
#define MCAST_MGID_PREFIX UINT64_C(0xff12401bffff0000)

extern const char *const mcast_method_names[N_MCAST_METHODS + 1];
extern const char *const mcast_tree_names[N_MCAST_TREES + 1];

struct mcast_group {
	enum mcast_method method;
	lid_t mlid;
	uint16_t subnet;
	uint8_t sl;
	uint16_t more_sls; /* set of further SLs of senders, without `sl` */
	port_id source;    /* TOPO_NONE: any member may send */
	port_id *members;  /* end ports, none twice */
	uint32_t n_members;
	/* Of a shared tree: who sends and does not receive. */
	port_id *senders;
	uint32_t n_senders;
	size_t senders_cap;
	switch_id root; /* of a shared tree; TOPO_NONE otherwise */
};

/*
 * Builds the tree of a group and gives it the next MLID, in group->mlid of
 * s->groups[s->n_groups - 1]. `want` says method, sl, source and members,
 * which are copied; a source that is also a member does not hear itself.
 * Refuses with HD_ERR_FULL when no MLID is left, HD_ERR_UNFIT when the method
 * does not apply or a member cannot be reached.
 */
HD_MUST_CHECK enum hd_status mcast_add(struct subnet *s, const struct mcast_group *want,
				       struct diag *d);

/*
 * The same for methods that part the members: one group more for every part
 * that has any, 1 to 4 of them, with the SL of its VL. Others have one.
 */
HD_MUST_CHECK enum hd_status mcast_add_parts(struct subnet *s, const struct mcast_group *want,
					     struct diag *d);
static inline bool mcast_has_parts(enum mcast_method m)
{
	return m >= MCAST_DUAL && m <= MCAST_DOUBLE;
}

/*
 * Lets an end port that is no member send to a shared tree (SendOnlyNonMember):
 * from its switch to the nearest one on the tree, switches learn the way there
 * and nothing else, so that no copy comes by it. A member, or one that may
 * already, changes nothing.
 */
HD_MUST_CHECK enum hd_status mcast_admit_sender(struct subnet *s, uint32_t group, port_id sender,
						struct diag *d);

/*
 * Builds the groups of `whole`, from number `first` on, once more over `s`,
 * which has the same nodes and LIDs but for ports that are lost: these take
 * part no longer. MLIDs stay, and so do those of groups without members left,
 * without tables.
 */
HD_MUST_CHECK enum hd_status mcast_replan(const struct subnet *whole, uint32_t first,
					  struct subnet *s, struct diag *d);
/* The group of an MLID; NULL: it has none. */
const struct mcast_group *mcast_group_of(const struct subnet *s, uint16_t subnet, lid_t mlid);

/* Forgets all groups and their tables. */
void mcast_clear(struct subnet *s);
/* Forgets all but the first `n_groups`; those after them had MLIDs of their
 * own, in order, and these are free again. */
void mcast_drop(struct subnet *s, uint32_t n_groups);

/* Sees to it that there are tables for at least `n_mlids` MLIDs. */
void mcast_make_room(struct subnet *s, unsigned subnet, uint32_t n_mlids);
/*
 * For tables that came from a file: makes each MLID with ports a group whose
 * members are the end ports in its sets; all of them may send.
 */
void mcast_groups_from_tables(struct subnet *s);

/* MLIDs that are still free. */
uint32_t mcast_mlids_left(const struct subnet *s, unsigned subnet);
/* Entries of the switches' tables that have a port. */
uint64_t mcast_entries(const struct subnet *s, unsigned subnet);

static inline bool mcast_has_port(const uint64_t *ports, unsigned port)
{
	return ports[port / 64] >> port % 64 & 1;
}

static inline void mcast_set_port(uint64_t *ports, unsigned port)
{
	ports[port / 64] |= UINT64_C(1) << port % 64;
}

struct mcast_check {
	uint64_t n_expected;   /* deliveries, over all senders and members */
	uint64_t n_missing;    /* members that a packet does not reach */
	uint64_t n_duplicates; /* copies beyond the first */
	uint64_t n_strays;     /* copies for ports that are no members */
	uint64_t n_loops;      /* senders whose packets never end */
	uint64_t n_cables;     /* copies on cables, hosts' cables included */
	unsigned max_hops;     /* cables between switches to a member */
	/* The first fault: which group, sender and receiver (TOPO_NONE if it
	 * is a loop), and how many copies the receiver gets. */
	uint32_t fault_group;
	port_id fault_sender;
	port_id fault_receiver;
	uint64_t fault_copies;
};

/* Sends one packet per sender of every group through the tables. */
void mcast_check(const struct subnet *s, struct mcast_check *out);

static inline bool mcast_check_is_clean(const struct mcast_check *c)
{
	return c->n_missing == 0 && c->n_duplicates == 0 && c->n_strays == 0 && c->n_loops == 0;
}

/* What the packets of all groups wait for, added to `deps`. */
void mcast_dependencies(const struct subnet *s, struct depgraph *deps);

#endif
