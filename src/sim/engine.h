/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_ENGINE_H
#define HD_SIM_ENGINE_H

/*
 * What the engine's files ask of each other. engine.c has the path of every
 * packet; the others what some runs, or a few packets, need beside it.
 */

#include "sim/ring.h"
#include "sim/state.h"
#include "sim/voq.h"

/* ---- engine.c ---------------------------------------------------------- */

/*
 * Goes through all instants up to and including `until`, and not beyond the
 * horizon. True if it stopped before that, because sim.events has reached
 * sim.events_checked.
 */
bool engine_run(struct sim *s, hd_time until);

/* An event of phase 0, which concerns the whole. */
void event_global(struct sim *s, uint64_t key);

/* A copy leaves its input buffer at `when` >= now. */
void copy_leave(struct sim *s, struct packet *p, hd_time when);
/* T9: space of the output buffer (port, vl) is free at `when` >= now. */
void output_leave(struct sim *s, uint32_t port, unsigned vl, uint32_t blk, hd_time when);
/* The buffer that p stands in has its space back at `when` >= now. */
void space_return(struct sim *s, const struct packet *p, hd_time when);
/* A packet whose head reaches (or will reach) the far end of links[port]. */
void packet_arrive(struct sim *s, uint32_t port, struct packet *p);
/* Queues a copy whose output, lane and slot are known. */
void copy_place(struct sim *s, struct packet *p);
/* The same at h, where switches may have to choose first (D2). */
void copy_route(struct sim *s, struct packet *p);
/* A1, A2 for one output: where its table leads, on which lane, and may it? */
unsigned switch_output(struct sim *s, const struct node *n, const struct packet *p);
uint8_t switch_lane(const struct sim *s, const struct node *n, const struct packet *p,
		    unsigned out);
bool switch_permits(const struct sim *s, const struct node *n, const struct packet *p,
		    unsigned out);

HOT void link_wake(struct sim *s, uint32_t port, hd_time when)
{
	s->links[port].wake_at = when;
	eventq_push(&s->q, when, event_key(EV_WAKE, port, 0, 0));
}

/* The link of `port` may have something to send: now, or when it is free. */
static inline void link_request(struct sim *s, uint32_t port)
{
	struct output *l = &s->links[port];

	if (unlikely(!(l->flags & L_UP))) {
		if (!(l->flags & (L_TOUCHED | L_END))) {
			l->flags |= L_TOUCHED;
			port_list_add(&s->instant.downed, port);
		}
	} else if (l->busy_until > s->now) {
		if (l->wake_at > l->busy_until)
			link_wake(s, port, l->busy_until);
	} else if (!(l->flags & L_TOUCHED)) {
		l->flags |= L_TOUCHED;
		port_list_add(&s->instant.touched, port);
	}
}

/* The same for an output of a crossbar. */
static inline void cross_request(struct sim *s, uint32_t port)
{
	struct output *v = &s->outlets[port];

	if (v->busy_until > s->now) {
		if (v->wake_at > v->busy_until) {
			v->wake_at = v->busy_until;
			eventq_push(&s->q, v->wake_at, event_key(EV_CROSS, port, 0, 0));
		}
	} else if (!(v->flags & L_TOUCHED)) {
		v->flags |= L_TOUCHED;
		port_list_add(&s->instant.crossed, port);
	}
}

static inline void outlet_request(struct sim *s, uint32_t port, unsigned vl)
{
	struct output *v = &s->outlets[port];

	if (!v->requests)
		v->since = s->now;
	v->requests |= (uint16_t)(1u << vl);
	if (unlikely(s->mode.cioq))
		cross_request(s, port);
	else
		link_request(s, port);
}

/* T14: the time in which something waited for an idle link, until now. */
static inline void link_waited(struct sim *s, struct output *l)
{
	hd_time start = l->busy_until > l->since ? l->busy_until : l->since;

	if (l->requests && start < s->now && (l->flags & L_UP))
		l->waited += s->now - start;
}

/* Takes a VL's request back; the wait until now has been counted. */
static inline void outlet_unrequest(struct sim *s, struct output *v, unsigned vl)
{
	link_waited(s, v);
	v->requests &= (uint16_t) ~(1u << vl);
	/* What waits on is counted from here. */
	v->since = s->now;
}

/* T7's choice in a lane of `port`: an input number, or NONE. */
uint32_t lane_pick(struct sim *s, uint32_t port, const struct lane *lane);

/* ---- switch.c ---------------------------------------------------------- */

/* Arrivals that a forwarding table and one SL2VL row do not settle. */
void switch_arrive(struct sim *s, uint32_t port, struct packet *p);
/* A2: does its P_Key pass an output of a switch or router? */
bool key_leaves(const struct sim *s, const struct node *n, const struct packet *p, uint32_t port);
/* A2: does this end port refuse it? Then it is dropped. */
bool end_refuses(struct sim *s, struct packet *p, uint32_t in_port);
/* A packet that the switch has made: by these ports, or (NULL) as its DLID
 * says. */
struct port_set;
void switch_gives(struct sim *s, const struct node *n, uint32_t id, const struct port_set *to);
void fifo_arrive(struct sim *s, struct packet *p);
/* The first packet of an input buffer has left it at `when`. */
void fifo_leave(struct sim *s, uint32_t up, unsigned vl, hd_time when);
void fifo_first(struct sim *s, struct packet *p);
void fifo_ready(struct sim *s, struct lane *lane, struct packet *p);
void slot_leave(struct sim *s, struct packet *p, hd_time when);
/* Tells of a loss at the head's arrival. */
void head_lost(struct sim *s, const struct packet *p, enum sim_fate fate, uint32_t where,
	       uint64_t *counter);
/* The same for want of a route at `in_port`, and drops it. */
void head_unrouted(struct sim *s, struct packet *p, uint32_t in_port);
/* A3: dropped at its head's arrival; its loss has been told. */
void packet_drop(struct sim *s, struct packet *p);
void packet_corrupt(struct sim *s, struct packet *p, uint32_t where);

/* ---- routes.c (T11r) --------------------------------------------------- */

/* After the nodes: those whose tables change are no longer plain. */
void routes_init(struct sim *s);
void routes_fini(struct sim *s);
/* Where a switch sends p, whose head may be still on its way. */
unsigned routes_output(struct sim *s, const struct node *n, const struct packet *p);
/* A group at a time. */
struct group_at {
	lid_t mlid;
	hd_time when;
};
/* The ports of a switch for it; `first` is what held at the beginning. */
const uint64_t *routes_set(const struct sim *s, const struct node *n, const struct group_at *at,
			   const uint64_t *first);
static inline const uint64_t *group_set(const struct sim *s, const struct node *n,
					const struct group_at *at)
{
	const struct subnet *sub = s->setup->subnet;
	const uint64_t *first =
		mft_get(&sub->mft[n->subnet], n->switch_id, sub->n_switches, at->mlid);

	return s->routes ? routes_set(s, n, at, first) : first;
}
/* The subnet whose path SLs hold now. */
const struct subnet *paths_now(const struct sim *s);
/* The one whose SL2VL, lanes and partitions hold at that time (T11l). */
const struct subnet *lanes_later(const struct sim *s, hd_time when);
static inline const struct subnet *lanes_at(const struct sim *s, hd_time when)
{
	return likely(!s->mode.relaned) ? s->setup->subnet : lanes_later(s, when);
}
/* How many data lanes a port has at that time, and at most in the run. */
static inline unsigned lanes_of(const struct sim *s, uint32_t port, hd_time when)
{
	const struct sim_port *p = &s->setup->ports[port];

	return likely(!s->mode.relaned) ? p->vls : lanes_later(s, when)->vls_of_port[p->origin];
}
unsigned lanes_ever(const struct sim *s, uint32_t port);
/* Whether it ever refuses packets for their P_Keys. */
bool keys_ever(const struct sim *s, uint32_t port);

/* ---- router.c ---------------------------------------------------------- */

/* R3, R4: a sound packet reaches a router. */
void router_arrive(struct sim *s, const struct node *n, struct packet *p, uint32_t in_port);

/* ---- crossbar.c -------------------------------------------------------- */

void cross_arbitrate(struct sim *s, uint32_t port);
void cross_output_ready(struct sim *s, struct packet *p);
/* T8: sorts ports by switch, last grant and number. */
void ports_by_last_grant(struct sim *s, struct port_list *l);
bool reader_free(struct sim *s, uint32_t in_port, uint32_t slot);
void reader_take(struct sim *s, uint32_t in_port, uint32_t slot, hd_time until);
void reader_released(struct sim *s, uint32_t in_port);

/* ---- fault.c ----------------------------------------------------------- */

void faults_init(struct sim *s);
void fault_strike(struct sim *s, uint32_t id);
/* Can something befall packets of the link from `port`, or its far end refuse
 * or hold them (L_CARE)? Of one that is plugged in. */
bool link_cares(const struct sim *s, uint32_t port);
/* At a grant: false if the packet is lost on the link (it is freed then). */
bool link_fate(struct sim *s, uint32_t port, struct packet *p);
void downed_discard(struct sim *s, uint32_t port);
/* F5: the copy became first and ready now. */
void hoq_start(struct sim *s, struct packet *p);
void hoq_expire(struct sim *s, uint32_t port, uint32_t id);
/* When a packet whose tail arrives at `tail` is delivered (F7). */
hd_time sink_delivery(const struct sim *s, uint32_t port, hd_time tail);

/* ---- update.c ---------------------------------------------------------- */

void updates_init(struct sim *s);
/* From the moment at which `from` can send an update to its arrival. */
hd_time update_takes(const struct sim_port *from);
void update_arrive(struct sim *s, uint32_t port, unsigned vl, uint32_t content);
/* Sends the next pending update of an exact link that is free. */
void update_send(struct sim *s, uint32_t port);
/* Delay mode with losses: all of this instant's updates of a port. */
void updates_flush(struct sim *s, uint32_t port);
void update_refresh(struct sim *s, uint32_t port);
void space_freed(struct sim *s, uint32_t in_port, unsigned vl, uint32_t blk);
void head_arrived(struct sim *s, uint32_t port, struct packet *p);
/* Credits that the counters allow on a lane. */
void credits_from_counters(struct sim *s, uint32_t port, uint32_t lane);

/* ---- source.c ---------------------------------------------------------- */

void sources_init(struct sim *s);
/* A flow begins, at `start` or later. */
void source_begin(struct sim *s, uint32_t flow, hd_time start);
void source_fire(struct sim *s, uint32_t flow);
/* A packet of a saturating flow was granted. */
void source_granted(struct sim *s, uint32_t flow);
void arrivals_fire(struct sim *s);
void packet_enter(struct sim *s, uint32_t id);
/* A1: looks its VL up; false if there is none, and then it is lost. */
bool packet_lane(struct sim *s, struct packet *p);

/* ---- pull.c ------------------------------------------------------------- */

/* Also after a change of who there is, before anything is sent. */
void senders_init(struct sim *s);
void senders_fini(struct sim *s);
/* Has this port senders beside 0? */
bool port_pulls(const struct sim *s, uint32_t port);
/* T13p's choice in a lane of an end port that pulls: a sender, or NONE. The
 * lane's own queue is sender 0's. */
uint32_t pull_pick(struct sim *s, uint32_t port, const struct lane *zero);
struct packet *pull_take(struct sim *s, uint32_t port, struct lane *zero, unsigned vl);
/* After the grant of what was taken. */
void pull_granted(struct sim *s, uint32_t port);
/* Tells the endpoint that it is of, if there is one that asks. */
void packet_passes(struct sim *s, uint32_t port, const struct packet *p);
/* Sender `number` has a packet for this VL; it has none any more. */
void sender_offer(struct sim *s, uint32_t port, uint32_t number, unsigned vl);
void sender_withdraw(struct sim *s, uint32_t port, uint32_t number, unsigned vl);
/* A packet that is eligible joins the queue of a plain sender. */
void sender_enter(struct sim *s, uint32_t number, uint32_t id);
/* The same at the packet's time, for an endpoint's. */
void sender_expect(struct sim *s, uint32_t endpoint, uint32_t id);
void sender_arrives(struct sim *s, uint32_t port, uint32_t number);

/* ---- mark.c: C3, C4 ------------------------------------------------------ */

/* choose.c; restart: the warm-up is over. */
void choices_init(struct sim *s);
void choices_fini(struct sim *s);
void choices_restart(struct sim *s);
void choices_pack(struct pack *k, struct sim *part);

void marks_init(struct sim *s);
void marks_fini(struct sim *s);
/* A part has the counters of the whole, by port, and what it marked. */
void marks_part_init(struct sim *part, const struct sim *whole);
void marks_part_fini(struct sim *part);
uint64_t marks_made(const struct sim *s);
/* A copy that stands at its output is discarded. */
void mark_discard(struct sim *s, uint32_t port, const struct packet *p);
/* With sim.fills: what takes and leaves an input buffer, */
void mark_sent(struct sim *s, const struct output *l, const struct packet *p);
void mark_freed(struct sim *s, const struct packet *p, hd_time when);
void mark_left_buffer(struct sim *s, const struct packet *p, hd_time when);
/* and when it does. */
void mark_fills(struct sim *s, uint32_t port, unsigned vl, uint32_t blk);
void mark_frees(struct sim *s, uint32_t port, unsigned vl, uint32_t blk);
void mark_comes(struct sim *s, uint32_t port, unsigned vl, uint32_t id);
void mark_leaves(struct sim *s, uint32_t port, unsigned vl, uint32_t id);

/* ---- probe.c: C8 --------------------------------------------------------- */

void probes_init(struct sim *s);
void probes_fini(struct sim *s);
bool flow_reserves(const struct sim *s, uint32_t flow);
void probe_ask(struct sim *s, uint32_t flow);
/* A datagram of admission has come to a device of the flow's way. */
void probe_delivered(struct sim *s, uint32_t flow, enum sim_packet_kind kind, unsigned device);
/* The flow's last packet starts on this link. */
void probe_pass(struct sim *s, uint32_t flow, uint32_t port);

/* ---- answer.c: C5 -------------------------------------------------------- */

/* What must be known of a packet of congestion control that has arrived. */
struct arrived {
	uint32_t flow, sequence, nth;
	uint32_t source; /* node */
	uint32_t device; /* C8 */
	uint16_t pkey;
	uint8_t sl;
	uint8_t kind; /* enum sim_packet_kind */
	bool marked;
};
void answer_delivered(struct sim *s, uint32_t port, const struct arrived *p);

/* ---- borrow.c ---------------------------------------------------------- */

/* Only with sim.borrow do the others do, or may be asked, anything. */
void borrow_init(struct sim *s);
void borrow_fini(struct sim *s);
/* Forgets what was counted: the warm-up is over. */
void borrow_restart(struct sim *s);
/*
 * B2: is there room for a packet of its VL? If so it is counted and must enter
 * its injection queue; if not, it is lost and freed.
 */
bool borrow_admit(struct sim *s, struct packet *p);
/* Before the link grants of this instant's touched ports. */
void borrow_prepare(struct sim *s);

/* ---- metrics.c --------------------------------------------------------- */

void metrics_init(struct sim *s);
void metrics_fini(struct sim *s);
/* EV_MEASURE. */
void metrics_start(struct sim *s);
/* What is over in its warm-up has measured nothing, and what becomes idle with
 * its last packet on the way, only from the warm-up's end on. Where processes
 * compute it, each has to forget what it counted before the first collects
 * that. */
void metrics_end(struct sim *s, enum sim_state state);
/* EV_LOOK. */
void metrics_look(struct sim *s);
void metrics_made(struct sim *s, uint32_t flow, uint32_t bytes);
/* The same for a flow with a plan, whose sequence tells the rest. */
void metrics_made_planned(struct sim *s, uint32_t bytes);
/* Before that: this one goes to another subnet. */
void metrics_made_global(struct sim *s, uint32_t flow);
/* A packet of a posted flow's message, as its endpoint says, has arrived. */
struct late;
void metrics_arrived(struct sim *s, const struct late *l, unsigned sl);
/* So many of them never will. */
void metrics_missed(struct sim *s, uint32_t flow, uint32_t packets);
/* Delivered at `when` by port `where`; may lie in the future. */
void packet_delivered(struct sim *s, const struct packet *p, uint32_t where, hd_time when);
/* How a copy ends. */
struct ending {
	enum sim_fate fate;
	uint32_t where;
	hd_time time;
};
/* Also adds 1 to *counter, unless it happens after the run. */
void packet_lost(struct sim *s, const struct packet *p, struct ending e, uint64_t *counter);
/*
 * Its delivery at `when` (NEVER: not at all) must be told at that instant;
 * its tail arrives at `tail`.
 */
void delivery_schedule(struct sim *s, uint32_t port, struct packet *p, hd_time tail, hd_time when);
/* EV_DELIVER. */
void packet_hand_over(struct sim *s, uint32_t port, unsigned vl, uint32_t id);
/* A counter that several parts may count in. */
/* NOLINTNEXTLINE(readability-non-const-parameter): it is written */
static inline void count_add(uint64_t *counter, uint64_t n)
{
	__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

static inline void count_one(uint64_t *counter)
{
	count_add(counter, 1);
}

/* The far end of links[port] does not receive it within the run. */
void packet_missed(struct sim *s, uint32_t port, const struct packet *p);
void port_counters(const struct sim *s, uint32_t port, struct sim_counters *out);
/* Entries of sim.sums.missed per port. */
static inline size_t missed_row(const struct sim *s)
{
	return s->n_lanes + s->n_sls;
}
void packet_describe(struct sim *s, const struct packet *p, struct sim_packet *out);

/* ---- run.c ------------------------------------------------------------- */

/* M3: the first look, and EV_STUCK. */
void stuck_expect(struct sim *s);
void stuck_look(struct sim *s);

/* ---- with distant parts (distant.h) ------------------------------------ */

struct pack;
/* What a part has of it, for results. */
void control_pack(struct pack *k, struct sim *part);
void borrow_pack(struct pack *k, struct sim *part);
void promises_pack(struct pack *k, struct sim *part);
/* What all parts may have changed: all of it. */
void probes_pack(struct pack *k, struct sim *s);
/* All processes together, before sim_deadlock and sim_crowd. */
void deadlock_note(struct sim *s);
void crowd_note(struct sim *s);

/* ---- arbiters.c -------------------------------------------------------- */

void arbiters_init(struct sim *s);
/* The table that the link of `port` begins with. */
void arbiter_begin(struct sim *s, uint32_t port);
void nodes_init(struct sim *s); /* nodes.c */
void nodes_fini(struct sim *s);
void arbiters_fini(struct sim *s);
/* T11c: the changes of this instant. */
void tables_change(struct sim *s);

/* ---- state.c ----------------------------------------------------------- */

struct sim *state_new(const struct sim_setup *setup, const struct sim_flow *flows, uint32_t n_flows,
		      const struct sim_rules *rules);

/* ---- deadlock.c -------------------------------------------------------- */

/* Is there a set of packets that can never move again? */
bool deadlock_exists(struct sim *s);

#endif
