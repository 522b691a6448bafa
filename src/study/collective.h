/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_COLLECTIVE_H
#define HD_STUDY_COLLECTIVE_H

/*
 * One operation: every source sends one message to every member of a group,
 * all at time 0, by hardware multicast or as its unicast counterpart, one copy per
 * member through the same fabric. A source that is a member does not hear
 * itself.
 *
 * Every packet of every message is followed to every member, so the outcome
 * says who has what, who lacks what and when each member was served. The
 * operation is complete when the last member has the last message whole.
 *
 * With `per_packet` a source spreads its packets over the SLs 0 .. VLs - 1
 * in turn; packets of one message may then overtake each other and members
 * put them together by number. Otherwise a message keeps one SL.
 */

#include "fabric/fabric.h"
#include "sim/sim.h"
#include "subnet/multicast/mcast.h"

enum collective_scheme { COLLECTIVE_UNICAST, COLLECTIVE_MULTICAST, N_COLLECTIVE_SCHEMES };

struct collective_op {
	const port_id *sources;
	uint32_t n_sources;
	const port_id *members;
	uint32_t n_members;
	uint64_t bytes;    /* of a message */
	uint32_t mtu;      /* payload of a packet */
	uint32_t overhead; /* of every packet */
	uint32_t grh;      /* of multicast packets besides */
	uint8_t vls;       /* SLs to use, from 0 */
	bool per_packet;
	enum mcast_method tree;
	hd_time horizon; /* 0: as long as it takes */
	/* Which share of its packets is there; false pauses it. NULL: none. */
	bool (*progress)(void *context, double share);
	void *context;
};

struct collective_pair {
	uint32_t source, member; /* positions in the operation's lists */
};

struct collective_result {
	enum sim_state state; /* SIM_IDLE unless cut off, locked or paused */
	/* HD_TIME_NEVER if a member lacks something. */
	hd_time completion;
	double mean;            /* over members that have all: when, in ps */
	hd_time *member_done;   /* HD_TIME_NEVER: lacks something */
	uint32_t *member_lacks; /* packets */
	struct collective_pair *lacking;
	size_t n_lacking, lacking_cap;

	uint64_t messages;        /* (source, member) pairs */
	uint64_t packets;         /* expected at members */
	uint64_t delivered;       /* of these, each counted once */
	uint64_t duplicates;      /* copies beyond the first */
	uint64_t strays;          /* copies at ports that are no members */
	uint64_t reordered;       /* packets that came before an earlier one */
	uint64_t out_of_order;    /* within one VL: must be 0 */
	uint64_t lost[SIM_FATES]; /* copies, by enum sim_fate */
	uint64_t hops;
	uint32_t n_mlids;
};

/*
 * Runs the operation. Multicast groups of the fabric's subnet are replaced by
 * those of the operation. HD_ERR_FULL if it needs more MLIDs than there are,
 * HD_ERR_UNFIT if the trees cannot be had, HD_ERR_ENV if packets fill the
 * memory. Free after HD_OK.
 */
HD_MUST_CHECK enum hd_status collective_run(struct fabric *fabric, const struct collective_op *op,
					    enum collective_scheme scheme, struct diag *d,
					    struct collective_result *out);
void collective_result_fini(struct collective_result *r);

/*
 * Programs the operation's trees, in collective_run and for those who look at the
 * tables only: one for all with a shared tree, else one or more per source.
 */
HD_MUST_CHECK enum hd_status collective_plant(struct subnet *subnet, const struct collective_op *op,
					      struct diag *d);

/*
 * The groups that carry the messages of source i, once they are planted: how
 * many, from *first on.
 */
uint32_t collective_groups(const struct subnet *subnet, const struct collective_op *op, uint32_t i,
			   uint32_t *first);

/*
 * A time that no run can beat: the busiest injection, ejection and cable each
 * must carry their bytes, and each member is as far as it is. Tight only if
 * all links have one rate and propagation. For COLLECTIVE_MULTICAST the
 * trees must have been planted. HD_TIME_NEVER if a member is out of reach.
 */
hd_time collective_bound(const struct sim_setup *setup, const struct subnet *subnet,
			 const struct collective_op *op, enum collective_scheme scheme);

/* Packets of a message, and bytes of all of them on the wire. */
uint32_t collective_packets(const struct collective_op *op);
uint64_t collective_wire_bytes(const struct collective_op *op, enum collective_scheme scheme);

#endif
