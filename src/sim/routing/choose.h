/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_ROUTING_CHOOSE_H
#define HD_SIM_ROUTING_CHOOSE_H

/*
 * Adaptive choices of switches (docs/timing-rules.md, D1 to D7). Internal to src/sim.
 *
 * Without choices, a grant determines the time at which a packet may leave the next switch, without
 * an event in between. A choice depends on the queues at that time, so in runs with choices the
 * routing of every copy is an event.
 */

#include "base/map.h"
#include "sim/core/sim_internal.h"
#include "sim/routing/notice.h"
#include "subnet/routing/adaptive.h"

/* State of a flow at a switch: packets of one SLID, DLID and SL. */
struct group_choice {
	hd_time last; /* when its latest packet was routed */
	uint64_t flow;
	uint32_t port; /* that it took, by number */
};

struct group_choices {
	struct map index; /* by flow */
	struct group_choice *ways;
	uint32_t n;
	size_t cap;
};

/* State of a port as an output of a switch. */
struct choice_port {
	hd_time down;    /* since when its link is down, or NEVER */
	uint64_t taken;  /* choices for it, while measuring; */
	uint64_t away;   /* of those that the forwarding table has elsewhere */
	uint64_t around; /* of those that lead to a third group (D7) */
	uint32_t load;   /* blocks */
	bool busy;       /* D4 */
};

struct choices {
	const struct sim_adaptive *rules;
	const struct adaptive *groups;
	switch_id **target; /* [subnet][LID]: that it hangs on, or TOPO_NONE */
	struct choice_port *ports;
	/* The port of the latest choice of a group: [switch][group]. */
	uint8_t **turns;
	struct rng *rngs;           /* per node; choice `random` only */
	struct group_choices *kept; /* per node; by flow or flowlet only */
	struct notices *notices;    /* NULL: no switch is notified (D6) */
	uint8_t **sizes;            /* ports of a group: [switch][group] */
	bool all_outputs;           /* every port of a group is an output, in all runs */
	bool has_faults;            /* ports may go down */
};

struct pack;

void choice_init(struct sim *s);
void choice_fini(struct sim *s);
/* Resets the counters at the end of the warm-up. */
void choice_restart(struct sim *s);
/* Results of one domain. */
void choice_pack(struct pack *k, struct sim *part);
/* Which port at h + r: D2 to D5; then it continues as any other copy. */
void choice_make(struct sim *s, struct packet_record *p);
/* D1: at h. False if the forwarding table determines the output. */
bool choice_defer(struct sim *s, const struct node *n, struct packet_record *p);

static inline void choice_leaves(struct sim *s, uint32_t port, const struct packet_record *p)
{
	s->choices->ports[port].load -= blocks_of(p->bytes);
}

#endif
