/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_ROUTING_REDUCE_H
#define HD_SIM_ROUTING_REDUCE_H

/*
 * Switches with reductions (docs/timing-rules.md, S1 to S6): contributions to a transaction end at
 * the aggregator of a switch, and its result enters the switch as from an additional input.
 * Internal to src/sim.
 *
 * The state of an aggregator belongs to its switch, so domains share the array and each uses its
 * own entries.
 */

#include "sim/core/sim_internal.h"

static inline bool is_contribution(const struct sim *s, const struct packet_record *p)
{
	return (p->flags & P_OTHER) && s->pool.extras[packet_id(s, p)].kind == SIM_CONTRIBUTION;
}

void aggregator_init(struct sim *s);
void aggregator_fini(struct sim *s);
/* A valid, permitted contribution has arrived at a switch. */
void aggregator_receive(struct sim *s, const struct node *n, struct packet_record *p,
			uint32_t in_port);
/* EV_REDUCED: the result of an aggregator enters the switch. */
void aggregator_emit(struct sim *s, uint32_t id);
/* Number of aggregators; EV_REDUCED has the number of one. */
uint32_t aggregator_count(const struct sim *s);

#endif
