/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_COLLECTIVE_H
#define HD_STUDY_COLLECTIVE_H

/*
 * One collective operation: every source sends one message to every member of a
 * group, all at time 0, either by hardware multicast or by unicast with one
 * copy per member, through the same fabric. A source that is a member does not
 * receive its own message.
 *
 * Every packet of every message is tracked to every member. The outcome has the
 * received and missing packets and the completion time of each member. The
 * operation is complete when the last member has received the last message
 * completely.
 *
 * With `per_packet`, a source distributes its packets over the SLs sl .. sl +
 * vls - 1 in round-robin order. Packets of one message may then overtake each
 * other, and members reassemble them by number. Otherwise a message keeps one
 * SL.
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
	uint32_t mtu;      /* payload bytes of a packet */
	uint32_t overhead; /* bytes of headers per packet */
	uint32_t grh;      /* additional bytes of multicast packets (GRH) */
	uint8_t sl, vls;   /* first SL, and number of SLs to use */
	bool per_packet;
	enum mcast_method tree;
	hd_time horizon; /* 0: no time limit */
	/* Reports the share of packets delivered; false pauses the operation. May be NULL. */
	bool (*progress)(void *context, double share);
	void *context;
};

struct collective_pair {
	uint32_t source, member; /* positions in the operation's lists */
};

struct collective_result {
	enum sim_state state; /* SIM_IDLE unless interrupted, deadlocked or paused */
	/* HD_TIME_NEVER if a member lacks packets. */
	hd_time completion;
	double mean;            /* mean completion time in ps over complete members */
	hd_time *member_done;   /* HD_TIME_NEVER: the member lacks packets */
	uint32_t *member_lacks; /* missing packets per member */
	struct collective_pair *lacking;
	size_t n_lacking, lacking_cap;

	uint64_t messages;        /* (source, member) pairs */
	uint64_t packets;         /* expected at members */
	uint64_t delivered;       /* expected packets that arrived, each counted once */
	uint64_t duplicates;      /* copies beyond the first */
	uint64_t strays;          /* copies delivered to ports that are not members */
	uint64_t reordered;       /* packets that arrived before a packet with a lower number */
	uint64_t out_of_order;    /* within one VL: must be 0 */
	uint64_t lost[SIM_FATES]; /* copies, by enum sim_fate */
	uint64_t hops;
	uint32_t n_mlids;
};

/*
 * Runs the operation. The multicast groups of the fabric's subnet are replaced
 * by those of the operation. HD_ERR_FULL if there are too few MLIDs,
 * HD_ERR_UNFIT if the trees cannot be built, HD_ERR_ENV if packets exhaust the
 * memory. Call the free function after HD_OK.
 */
HD_MUST_CHECK enum hd_status collective_run(struct fabric *fabric, const struct collective_op *op,
					    enum collective_scheme scheme, struct diag *d,
					    struct collective_result *out);
void collective_result_fini(struct collective_result *r);

/*
 * Programs the operation's trees. collective_run calls it; other callers use it
 * to inspect the tables only. Shared trees need one tree in total, other
 * methods one or more per source.
 */
HD_MUST_CHECK enum hd_status collective_plant(struct subnet *subnet, const struct collective_op *op,
					      struct diag *d);

/*
 * Groups that carry the messages of source i, after collective_plant: returns
 * the number of groups, starting at *first.
 */
uint32_t collective_groups(const struct subnet *subnet, const struct collective_op *op, uint32_t i,
			   uint32_t *first);

/*
 * Lower bound on the completion time. The busiest injection, ejection and cable
 * must each carry their bytes, and each member is at its distance. The bound is
 * tight only if all links have one rate and one propagation delay.
 * COLLECTIVE_MULTICAST requires programmed trees. HD_TIME_NEVER if a member is
 * unreachable.
 */
hd_time collective_bound(const struct sim_setup *setup, const struct subnet *subnet,
			 const struct collective_op *op, enum collective_scheme scheme);

/* Number of packets of a message, and their total bytes on the wire. */
uint32_t collective_packets(const struct collective_op *op);
uint64_t collective_wire_bytes(const struct collective_op *op, enum collective_scheme scheme);

#endif
