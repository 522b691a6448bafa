/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_DOMAINS_DOMAINS_H
#define HD_SIM_DOMAINS_DOMAINS_H

/*
 * One fabric in several parts, each with events, packets and tallies of its
 * own, so that threads can compute them side by side. Internal to src/sim.
 *
 *	partition.c	which node is in which part, and how far apart parts are
 *	domains_make.c		whether it can be cut, and making the parts
 *	port_state.c		what ports have, made once it is known whose they are
 *	mailbox.c		what parts tell each other
 *	domains.c		going through time together
 *	tempo.c		with all threads or with one
 *
 * Every part is a struct sim. Arrays by port, node and flow are shared: a row
 * belongs to the part of its port, node or source, and only that part touches
 * it; end ports are in the part of their switch. Ports of other processes have
 * no rows (port_state.c). What a grant does to another part's rows goes there by
 * mail: packets, credits, flow-control updates, delayed answers, and
 * deliveries, which are counted in the part of the flow's source.
 *
 * Time advances in windows. What happens in one window at time t can matter in
 * other parts at t + lookahead at the earliest, so that a window shorter than
 * that can be computed by all parts at once, and mail is read at the start of
 * the next one. What concerns all parts in the same instant (faults, changed
 * tables, the end of the warm-up, looks at the rules) happens between windows,
 * while nothing else does; its events are in the queue of the whole.
 *
 * Nothing of a run's outcome depends on how many parts or threads there are:
 * events have an order of their own (T2), sums are of whole numbers, and what
 * depends on the order of deliveries has it by rule (M1).
 */

#include "base/barrier_pool.h"
#include "sim/core/engine.h"
#include "sim/domains/tempo.h"
#include "sim/injection/control.h"
#include "sim/metrics/flow_tally.h"

#define DOMAINS_MOST 1024

struct partition_credit {
	hd_time when;
	uint64_t area; /* blocks x ps that the packet stood there */
	uint32_t up;   /* sim port that gets it */
	uint16_t what; /* credit_ring_what */
};

/* From one part to another, of one window. */
struct mailbox {
	struct packet_record *packets;
	struct packet_extra *extras; /* of runs that have them */
	size_t n_packets, packets_cap, extras_cap;
	struct partition_credit *credits;
	size_t n_credits, credits_cap;
	struct event *events; /* flow-control updates */
	size_t n_events, events_cap;
	struct delayed *answers;
	size_t n_answers, answers_cap;
	struct late *deliveries; /* in order */
	size_t n_deliveries, deliveries_cap;
};

/* What all parts know. */
struct domain_partition {
	uint32_t n;
	uint16_t *part_of_node, *part_of_port;
	uint32_t first, last; /* parts of this process: up to last - 1 */
	/*
	 * The links from one part to another as they began. What never changes
	 * of a link may be read here while its own part is at work on it.
	 */
	struct sim_output *wires;
};

struct remote_domains;
struct wait_edge;

struct domains {
	struct sim *whole;
	struct sim **part;
	struct domain_partition cut;
	uint32_t first, last;           /* as in cut */
	struct remote_domains *distant; /* NULL: all parts are here */
	hd_time lookahead;
	struct mailbox *boxes[2]; /* [window modulo 2][from * n + to] */
	uint64_t window;
	hd_time begin, end; /* of this window, inclusive */
	bool stops_dry;     /* see window_turn */
	bool goes_on;       /* this turn, with parts that had stopped */
	struct barrier_pool *pool;
	struct tempo tempo;
	uint64_t looked;  /* events at the last look at progress */
	uint64_t busiest; /* events of the busiest part, over all windows */
	struct late *all; /* deliveries of a window, in order */
	size_t n_all, all_cap;
	/* With distant parts, as the run has ended: */
	struct wait_edge *waits;
	size_t n_waits, waits_cap;
	struct sim_backlog backlog;
};

/* ---- partition.c -------------------------------------------------------- */

/*
 * Into n parts of about the same work, with few links between them; fewer if
 * there are not as many switches. Returns how many there are.
 */
uint32_t partition(const struct sim *s, uint32_t n, uint16_t *part_of_node);
/* From a window's start to the first thing that it can do elsewhere. */
hd_time partition_lookahead(struct sim *s, const uint16_t *part_of_node);

/* ---- port_state.c ------------------------------------------------------------- */

/* An array with a row, or n_vls, or so, for each port. */
void *domain_alloc_ports(const struct sim *s, size_t n, size_t size);
void domain_new_ports(struct sim *s);
/* When all else is there: fills them, of a cut those of this process. */
void domain_init_ports(struct sim *s, const struct domain_partition *cut);

static inline bool cut_has(const struct domain_partition *c, uint32_t part)
{
	return part >= c->first && part < c->last;
}

/* Is it here, or at the other end of a link to here? */
static inline bool cut_has_row(const struct domain_partition *c, const struct sim_setup *setup,
			       uint32_t port)
{
	uint32_t peer = setup->ports[port].peer;

	return cut_has(c, c->part_of_port[port]) ||
	       (peer != SIM_NONE && cut_has(c, c->part_of_port[peer]));
}

/* Of a run that has rows: does this port have one that is used? */
static inline bool has_row(const struct sim *s, uint32_t port)
{
	return !s->parts || cut_has_row(&s->parts->cut, s->setup, port);
}

/* ---- mailbox.c -------------------------------------------------------------- */

static inline bool port_is_remote(const struct sim *s, uint32_t port)
{
	return s->cut && s->cut->part_of_port[port] != s->part;
}

static inline bool node_is_remote(const struct sim *s, uint32_t node)
{
	return s->cut && s->cut->part_of_node[node] != s->part;
}

/* A packet that has been granted on `port`; it is freed here. */
void mail_packet(struct sim *s, uint32_t port, struct packet_record *p);
void mail_credit(struct sim *s, const struct partition_credit *c);
void mail_event(struct sim *s, hd_time when, uint64_t key);
/* A delayed answer for the source at `port`. */
void mail_answer(struct sim *s, uint32_t port, const struct delayed *d);
/* To the home of its flow. */
void mail_delivery(struct sim *s, const struct late *l);
/* Reads what came from all parts in the window before; `from` is its boxes. */
void mail_read(struct sim *s, struct mailbox *from);
void mailbox_fini(struct mailbox *m);

/* ---- domains_make.c ------------------------------------------------------------- */

/* Cuts a run that has not begun, if it is worth it and can be done. */
void domains_begin(struct sim *s);
/* The same into these parts, however many there are. */
void domains_make(struct sim *s, const uint16_t *part_of_node, uint32_t n, unsigned threads);
void domains_free(struct sim *s);
/* Whose an event is: the whole's own are those that concern all parts. */
struct sim *event_owner(struct sim *s, uint64_t key);

/* ---- domains.c ----------------------------------------------------------- */

/* One share of the pool's work: the window of some parts. */
void domain_window(void *context, unsigned share);
enum sim_state domains_run(struct sim *s, hd_time until, sim_progress_fn *progress, void *context);

/* Who has the events and packets of a port. */
static inline struct sim *sim_of_port(struct sim *s, uint32_t port)
{
	return s->parts ? s->parts->part[s->parts->cut.part_of_port[port]] : s;
}

/* All parts, or the whole if it is not cut. */
static inline uint32_t sim_n_parts(const struct sim *s)
{
	return s->parts ? s->parts->cut.n : 1;
}

static inline const struct sim *sim_part(const struct sim *s, uint32_t i)
{
	return s->parts ? s->parts->part[i] : s;
}

/* Is anything on its way that keeps something going? */
static inline bool mailbox_is_live(const struct mailbox *m)
{
	return m->n_packets || m->n_events || m->n_answers;
}

/* Has it nothing to do, but for timers? */
static inline bool domain_is_dry(const struct sim *part)
{
	return part->pool.alive == 0 && eventq_count(&part->q) <= part->background;
}

/* link_request in an instant of the whole: its part must come to it too. */
static inline void port_stir(struct sim *owner, uint32_t port)
{
	if (owner->mail.is_elsewhere)
		return; /* and stirs it there */
	link_request(owner, port);
	if (owner->cut)
		eventq_push(&owner->q, owner->now, event_key(EV_WAKE, port, 0, 0));
}

/* Packets in the fabric, events, and those that keep something going. */
uint64_t sim_alive(const struct sim *s);
size_t sim_events(const struct sim *s);
size_t sim_pending(const struct sim *s);

/* ---- metrics.c --------------------------------------------------------- */

/* The tally of a part. */
void metrics_part_init(struct sim *part, const struct sim *whole);
void metrics_part_fini(struct sim *part, const struct sim *whole);
/* After a window: what the rules say at its end, which is `now`. */
void metrics_window(struct sim *whole);
/* Its deliveries, n of them with this sum; `all` has them in order. */
void metrics_mean(struct sim *whole, uint64_t n, uint64_t sum, const struct late *all);
/* Can that do without their order? */
bool metrics_mean_sums(const struct sim *whole, uint64_t n);
/* Must windows end with the cells of M2? How long those are, or 0. */
hd_time metrics_cell(const struct sim *whole);
/* A delivery of a flow that is at home in this part. */
void metrics_late(struct sim *part, const struct late *l);
/* Are rows by group those of single flows, and so of one part each? */
bool metrics_groups_are_shared(const struct sim *whole);
/* Sums of all parts, for the whole. */
void metrics_collect(struct sim *whole);

/* Where the packets of a flow are counted. */
static inline uint32_t flow_home(const struct sim *s, uint32_t flow)
{
	return s->cut->part_of_node[s->flows[flow].source];
}

#endif
