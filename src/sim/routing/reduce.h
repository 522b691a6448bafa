/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_ROUTING_REDUCE_H
#define HD_SIM_ROUTING_REDUCE_H

/*
 * Switches that reduce (docs/timing-rules.md, S1 to S6): contributions to a
 * transaction end at the aggregator of a switch, and when all are there, what
 * it makes of them comes out of it as of one more input. Internal to src/sim.
 *
 * All that an aggregator knows belongs to its switch, so that parts of a run
 * share the array and touch what is theirs.
 */

#include "sim/core/sim_internal.h"

static inline bool is_contribution(const struct sim *s, const struct packet_record *p)
{
	return (p->flags & P_OTHER) && s->pool.extras[packet_id(s, p)].kind == SIM_CONTRIBUTION;
}

void aggregator_init(struct sim *s);
void aggregator_fini(struct sim *s);
/* A contribution, sound and permitted, has come to a switch. */
void aggregator_receive(struct sim *s, const struct node *n, struct packet_record *p,
			uint32_t in_port);
/* EV_REDUCED: the result of an aggregator comes out. */
void aggregator_emit(struct sim *s, uint32_t id);
/* Aggregators there are: such an event names one. */
uint32_t aggregator_count(const struct sim *s);

#endif
