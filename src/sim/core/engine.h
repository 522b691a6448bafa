/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CORE_ENGINE_H
#define HD_SIM_CORE_ENGINE_H

/*
 * The event loop and the path of every packet: arrival, routing, arbitration,
 * grant, departure. Internal to src/sim.
 */

#include "sim/core/ring.h"
#include "sim/core/sim_internal.h"
#include "sim/core/voq.h"

/*
 * Processes all instants up to and including `until`, but not beyond the
 * horizon. Returns true if it stopped earlier because sim.events reached
 * sim.events_checked.
 */
bool sim_run_instants(struct sim *s, hd_time until);

/* Processes an event of phase 0, which concerns the whole fabric. */
void event_global(struct sim *s, uint64_t key);

/* A copy leaves its input buffer at `when` >= now. */
void hop_leave_buffer(struct sim *s, struct packet_record *p, hd_time when);
/* T9: space of the output buffer (port, vl) becomes free at `when` >= now. */
void hop_leave_output(struct sim *s, uint32_t port, unsigned vl, uint32_t blk, hd_time when);
/* Frees the space of p in its current buffer at `when` >= now. */
void hop_return_space(struct sim *s, const struct packet_record *p, hd_time when);
/* The head of p reaches the far end of links[port], now or later. */
void hop_arrive_at(struct sim *s, uint32_t port, struct packet_record *p);
/* Queues a copy whose output, VL and slot are known. */
void hop_place_copy(struct sim *s, struct packet_record *p);
/* Queues a copy when its head arrives; an adaptive switch may choose first (D2). */
void hop_route_copy(struct sim *s, struct packet_record *p);
/* A1, A2 for one output: the port of the forwarding table, the VL, the partition check. */
unsigned switch_output(struct sim *s, const struct node *n, const struct packet_record *p);
uint8_t switch_vl(const struct sim *s, const struct node *n, const struct packet_record *p,
		  unsigned out);
bool switch_permits(const struct sim *s, const struct node *n, const struct packet_record *p,
		    unsigned out);

HOT void link_wake(struct sim *s, uint32_t port, hd_time when)
{
	s->links[port].wake_at = when;
	eventq_push(&s->q, when, event_key(EV_WAKE, port, 0, 0));
}

/* Schedules an arbitration of the link of `port`: now, or when the link becomes free. */
static inline void link_request(struct sim *s, uint32_t port)
{
	struct sim_output *l = &s->links[port];

	if (unlikely(!(l->flags & L_UP))) {
		if (!(l->flags & (L_PENDING | L_END))) {
			l->flags |= L_PENDING;
			port_list_add(&s->instant.downed, port);
		}
	} else if (l->busy_until > s->now) {
		if (l->wake_at > l->busy_until)
			link_wake(s, port, l->busy_until);
	} else if (!(l->flags & L_PENDING)) {
		l->flags |= L_PENDING;
		port_list_add(&s->instant.pending_links, port);
	}
}

/* Schedules an arbitration of a crossbar output. */
static inline void crossbar_request(struct sim *s, uint32_t port)
{
	struct sim_output *v = &s->outlets[port];

	if (v->busy_until > s->now) {
		if (v->wake_at > v->busy_until) {
			v->wake_at = v->busy_until;
			eventq_push(&s->q, v->wake_at, event_key(EV_CROSS, port, 0, 0));
		}
	} else if (!(v->flags & L_PENDING)) {
		v->flags |= L_PENDING;
		port_list_add(&s->instant.crossed, port);
	}
}

/* A packet of `vl` is ready for output `port`. */
static inline void outlet_request(struct sim *s, uint32_t port, unsigned vl)
{
	struct sim_output *v = &s->outlets[port];

	if (!v->requests)
		v->since = s->now;
	v->requests |= (uint16_t)(1u << vl);
	if (unlikely(s->mode.cioq))
		crossbar_request(s, port);
	else
		link_request(s, port);
}

/* T14: adds the time since which a packet has waited for an idle link. */
static inline void link_waited(struct sim *s, struct sim_output *l)
{
	hd_time start = l->busy_until > l->since ? l->busy_until : l->since;

	if (l->requests && start < s->now && (l->flags & L_UP))
		l->waited += s->now - start;
}

/* Removes the request of a VL after its waiting time has been counted. */
static inline void outlet_unrequest(struct sim *s, struct sim_output *v, unsigned vl)
{
	link_waited(s, v);
	v->requests &= (uint16_t) ~(1u << vl);
	/* The wait of the remaining requests is counted from here. */
	v->since = s->now;
}

/* T7: the input number that the VL `port_vl` of `port` serves next, or NONE. */
uint32_t hop_pick_input(struct sim *s, uint32_t port, const struct port_vl *port_vl,
			uint32_t credits);

#endif
