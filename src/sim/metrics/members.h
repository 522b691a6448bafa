/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_METRICS_MEMBERS_H
#define HD_SIM_METRICS_MEMBERS_H

/* Group members that copies go to (docs/timing-rules.md, M5). Private to src/sim. */

#include "sim/core/sim_internal.h"

/* No effect unless a flow sends to a group. */
void metrics_members_init(struct sim *s);
void metrics_members_domain_init(struct sim *part, const struct sim *whole);
void metrics_members_fini(struct sim *s);

/*
 * Number of members that a packet lost at port `where` was sent to; 1 without a group. Some flow of
 * the run sends to a group.
 */
uint32_t metrics_members_of(struct sim *s, const struct packet_record *p, uint32_t where);

/* Whether a copy carries the number (packet_extra.nth). */
static inline bool members_are_carried(const struct sim *s, const struct packet_record *p)
{
	return unlikely(s->mode.shares) && p->dlid >= LID_FIRST_MCAST && p->flow < s->n_flows;
}
/*
 * A switch copies p to an output: gives p as many of the `left` members as are
 * behind it, and returns how many.
 */
uint32_t metrics_members_take(struct sim *s, const struct packet_record *p, uint32_t port,
			      uint32_t left);
/* Counts n members of p that no copy will reach. */
void metrics_members_missed(struct sim *s, const struct packet_record *p, uint32_t n, hd_time when);
/* Whether a delivered copy counts: members served by other copies do not. */
bool metrics_members_served(struct sim *s, const struct packet_record *p, hd_time when);

#endif
