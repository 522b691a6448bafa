/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_METRICS_METRICS_H
#define HD_SIM_METRICS_METRICS_H

/*
 * Measurement: packets made, delivered and lost, counters of ports, start and
 * end of the measuring interval. Internal to src/sim.
 */

#include "sim/core/sim_internal.h"

void metrics_init(struct sim *s);
void metrics_fini(struct sim *s);
/* EV_MEASURE. */
void metrics_start(struct sim *s);
/*
 * Ends the measurement. A run that ends during its warm-up has no measurement. With several
 * processes, each resets its counters before rank 0 collects them.
 */
void metrics_end(struct sim *s, enum sim_state state);
/* EV_LOOK. */
void metrics_look(struct sim *s);
void metrics_made(struct sim *s, uint32_t flow, uint32_t bytes);
/* The same for a flow with a plan; its sequence implies the flow and the time. */
void metrics_made_planned(struct sim *s, uint32_t bytes);
/* Call before metrics_made() for a packet to another subnet. */
void metrics_made_global(struct sim *s, uint32_t flow);
struct late;
/* A packet of a message of a posted flow has arrived, according to its endpoint. */
void metrics_arrived(struct sim *s, const struct late *l, unsigned sl);
/* Number of packets of the flow that can no longer be delivered. */
void metrics_missed(struct sim *s, uint32_t flow, uint32_t packets);
/* The packet is delivered at `when`, now or later, by port `where`. */
void metrics_delivered(struct sim *s, const struct packet_record *p, uint32_t where, hd_time when);
/* How, where and when a copy ends. */
struct ending {
	enum sim_fate fate;
	uint32_t where;
	hd_time time;
};
/* Records a loss and adds 1 to *counter, unless it happens after the end of the run. */
void metrics_lost(struct sim *s, const struct packet_record *p, struct ending e, uint64_t *counter);
/*
 * Schedules the notification of the delivery at `when` (NEVER: not delivered);
 * the tail arrives at `tail`.
 */
void metrics_schedule_delivery(struct sim *s, uint32_t port, struct packet_record *p, hd_time tail,
			       hd_time when);
/* EV_DELIVER. */
void metrics_deliver(struct sim *s, uint32_t port, unsigned vl, uint32_t id);
/* Adds to a counter that several domains share. */
/* NOLINTNEXTLINE(readability-non-const-parameter): it is written */
static inline void count_add(uint64_t *counter, uint64_t n)
{
	__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

static inline void count_one(uint64_t *counter)
{
	count_add(counter, 1);
}

/* The far end of links[port] does not receive the packet within the run. */
void metrics_packet_missed(struct sim *s, uint32_t port, const struct packet_record *p);
void metrics_port_counters(const struct sim *s, uint32_t port, struct sim_counters *out);
/* Entries of sim.sums.missed per port. */
static inline size_t missed_row(const struct sim *s)
{
	return s->n_vls + s->n_sls;
}
void metrics_describe_packet(struct sim *s, const struct packet_record *p, struct sim_packet *out);

#endif
