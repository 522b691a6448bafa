/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_MULTICAST_MCAST_H
#define HD_SUBNET_MULTICAST_MCAST_H

/*
 * Multicast groups and their trees.
 *
 * A switch forwards a packet for an MLID to every port of its set except the
 * input port. The table is indexed by MLID only. A tree therefore either serves
 * one source (its union of paths is right for that source only) or is a
 * spanning tree of the group, which serves any sender on it. A method with a
 * source needs one of the 16,383 MLIDs per (source, group), a shared tree one
 * per group.
 */

#include "subnet/routing/depgraph.h"
#include "subnet/subnet.h"

enum mcast_method {
	MCAST_XY,       /* union of the XY paths from one source */
	MCAST_UNION,    /* union of the paths of any routing algorithm, if it is a tree */
	MCAST_SHORTEST, /* shortest-path tree from one source, any topology */
	MCAST_SHARED,   /* one spanning tree per group, as OpenSM builds it */
	/* Methods with several groups, one MLID each (mcast_add_parts), for meshes: */
	MCAST_DUAL,   /* two paths, up and down a Hamiltonian path */
	MCAST_MULTI,  /* up to four such paths */
	MCAST_DOUBLE, /* XY trees of four quadrants, on two VLs */
	MCAST_PATHS,  /* like MCAST_UNION, even if it is not a tree: for a caller that checks it */
	MCAST_FILE,   /* read from a file; not for mcast_add */
	N_MCAST_METHODS
};
/* These methods deliver a packet to each member once, with one MLID. */
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
	port_id *members;  /* end ports without duplicates */
	uint32_t n_members;
	/* Shared tree only: senders that do not receive. */
	port_id *senders;
	uint32_t n_senders;
	size_t senders_cap;
	switch_id root; /* of a shared tree; TOPO_NONE otherwise */
};

/*
 * Builds the tree of a group and assigns the next MLID, in group->mlid of
 * s->groups[s->n_groups - 1]. `want` has method, sl, source and members, which
 * are copied. A source that is also a member does not receive its own packets.
 * HD_ERR_FULL if no MLID is left, HD_ERR_UNFIT if the method does not apply or
 * a member is unreachable.
 */
HD_MUST_CHECK enum hd_status mcast_add(struct subnet *s, const struct mcast_group *want,
				       struct diag *d);

/*
 * Like mcast_add, for methods that partition the members: adds one group per
 * non-empty part, 1 to 4 in total, with the SL of its VL. Other methods add one
 * group.
 */
HD_MUST_CHECK enum hd_status mcast_add_parts(struct subnet *s, const struct mcast_group *want,
					     struct diag *d);
static inline bool mcast_has_parts(enum mcast_method m)
{
	return m >= MCAST_DUAL && m <= MCAST_DOUBLE;
}

/*
 * Allows an end port that is not a member to send to a shared tree
 * (SendOnlyNonMember). Switches between it and the nearest switch of the tree
 * get entries for that direction only, so that the sender receives no copies.
 * Has no effect for a member or a sender that was admitted before.
 */
HD_MUST_CHECK enum hd_status mcast_admit_sender(struct subnet *s, uint32_t group, port_id sender,
						struct diag *d);

/*
 * Rebuilds the groups of `whole`, from number `first`, on `s`, which has the
 * same nodes and LIDs except for lost ports. Lost ports are removed from the
 * groups. Groups keep their MLIDs; a group without remaining members keeps its
 * MLID and has no tables.
 */
HD_MUST_CHECK enum hd_status mcast_replan(const struct subnet *whole, uint32_t first,
					  struct subnet *s, struct diag *d);
/* The group of an MLID; NULL: none. */
const struct mcast_group *mcast_group_of(const struct subnet *s, uint16_t subnet, lid_t mlid);

/* Removes all groups and their tables. */
void mcast_clear(struct subnet *s);
/* Removes all groups but the first `n_groups`. The removed groups had MLIDs of
 * their own, in ascending order, which become free. */
void mcast_drop(struct subnet *s, uint32_t n_groups);

/* Ensures that there are tables for at least `n_mlids` MLIDs. */
void mcast_make_room(struct subnet *s, unsigned subnet, uint32_t n_mlids);
/*
 * For tables read from a file: creates one group per MLID with ports. Its
 * members are the end ports in the sets; all members may send.
 */
void mcast_groups_from_tables(struct subnet *s);

/* Number of free MLIDs. */
uint32_t mcast_mlids_left(const struct subnet *s, unsigned subnet);
/* Number of table entries with at least one port, over all switches. */
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
	uint64_t n_expected;   /* deliveries over all senders and members */
	uint64_t n_missing;    /* members that a packet does not reach */
	uint64_t n_duplicates; /* copies beyond the first */
	uint64_t n_strays;     /* copies for ports that are not members */
	uint64_t n_loops;      /* senders whose packets circulate forever */
	uint64_t n_cables;     /* copies on cables, including hosts' cables */
	unsigned max_hops;     /* maximum number of cables between switches to a member */
	/* The first fault: group, sender, receiver (TOPO_NONE for a loop), and
	 * the number of copies that the receiver gets. */
	uint32_t fault_group;
	port_id fault_sender;
	port_id fault_receiver;
	uint64_t fault_copies;
};

/* Traces one packet per sender of every group through the tables. */
void mcast_check(const struct subnet *s, struct mcast_check *out);

static inline bool mcast_check_is_clean(const struct mcast_check *c)
{
	return c->n_missing == 0 && c->n_duplicates == 0 && c->n_strays == 0 && c->n_loops == 0;
}

/* Adds the channel dependencies of the packets of all groups to `deps`. */
void mcast_dependencies(const struct subnet *s, struct depgraph *deps);

#endif
