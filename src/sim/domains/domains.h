/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_DOMAINS_DOMAINS_H
#define HD_SIM_DOMAINS_DOMAINS_H

/*
 * One fabric in several domains, each with its own events, packets and tallies, so that threads
 * compute them concurrently. Internal to src/sim.
 *
 *	partition.c	the domain of each node, and the lookahead between domains
 *	domains_make.c	whether the fabric can be partitioned; creates the domains
 *	port_state.c	state of ports, created when their owners are known
 *	mailbox.c	messages between domains
 *	domains.c	advances the time of all domains
 *	tempo.c		with all threads or with one
 *
 * Every domain is a struct sim. Arrays by port, node and flow are shared: a row belongs to the
 * domain of its port, node or source, and only this domain accesses it; end ports are in the domain
 * of their switch. Ports of other processes have no rows (port_state.c). Changes of a row in
 * another domain are sent by mail: packets, credits, flow-control updates, delayed ACKs, and
 * deliveries, which the domain of the flow's source counts.
 *
 * Time advances in windows. An event at time t affects other domains at t + lookahead at the
 * earliest, so all domains compute a shorter window concurrently, and mail is read at the start of
 * the next one. Events that concern all domains (faults, changed tables, the end of the warm-up,
 * checks of the rules) are in the queue of the whole and are executed between windows.
 *
 * Results do not depend on the number of domains or threads: events have an order of their own
 * (T2), sums are of whole numbers, and rules define the order of deliveries where it matters (M1).
 */

#include "base/barrier_pool.h"
#include "sim/core/engine.h"
#include "sim/domains/tempo.h"
#include "sim/injection/control.h"
#include "sim/metrics/flow_tally.h"

#define DOMAINS_MOST 1024

struct partition_credit {
	hd_time when;
	uint64_t area; /* blocks x ps of the packet in the buffer */
	uint32_t up;   /* sim port that receives the credit */
	uint16_t what; /* credit_ring_what */
};

/* Mail from one domain to another in one window. */
struct mailbox {
	struct packet_record *packets;
	struct packet_extra *extras; /* one per packet; NULL in runs without pool.extras */
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

/* State that all domains share. */
struct domain_partition {
	uint32_t n;
	uint16_t *part_of_node, *part_of_port;
	uint32_t first, last; /* parts of this process: up to last - 1 */
	/*
	 * Initial state of the links between domains. Constant members of a link may be read here
	 * while its own domain modifies it.
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
 * Partitions into n domains of similar work with few links between them; fewer if there are fewer
 * switches. Returns their number.
 */
uint32_t partition(const struct sim *s, uint32_t n, uint16_t *part_of_node);
/* From a window's start to the first thing that it can do elsewhere. */
hd_time partition_lookahead(struct sim *s, const uint16_t *part_of_node);

/* ---- port_state.c ------------------------------------------------------------- */

/* An array with a row, or n_vls, or so, for each port. */
void *domain_alloc_ports(const struct sim *s, size_t n, size_t size);
void domain_new_ports(struct sim *s);
/* Call last: fills the rows; in a partitioned run those of this process. */
void domain_init_ports(struct sim *s, const struct domain_partition *cut);

static inline bool cut_has(const struct domain_partition *c, uint32_t part)
{
	return part >= c->first && part < c->last;
}

/* Whether the port is in this process, or at the far end of a link to a port in it. */
static inline bool cut_has_row(const struct domain_partition *c, const struct sim_setup *setup,
			       uint32_t port)
{
	uint32_t peer = setup->ports[port].peer;

	return cut_has(c, c->part_of_port[port]) ||
	       (peer != SIM_NONE && cut_has(c, c->part_of_port[peer]));
}

/* In a run with rows: whether this port has one that is used. */
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
/* Reads the mail of all domains of the previous window; `from` is its boxes. */
void mail_read(struct sim *s, struct mailbox *from);
void mailbox_fini(struct mailbox *m);

/* ---- domains_make.c ------------------------------------------------------------- */

/* Cuts a run that has not begun, if it is worth it and can be done. */
void domains_begin(struct sim *s);
/* The same with given domains, whatever their number. */
void domains_make(struct sim *s, const uint16_t *part_of_node, uint32_t n, unsigned threads);
void domains_free(struct sim *s);
/* Owner of an event; events that concern all domains belong to the whole. */
struct sim *event_owner(struct sim *s, uint64_t key);

/* ---- domains.c ----------------------------------------------------------- */

/* Task of the thread pool: the window of some domains. */
void domain_window(void *context, unsigned share);
enum sim_state domains_run(struct sim *s, hd_time until, sim_progress_fn *progress, void *context);

/* Who has the events and packets of a port. */
static inline struct sim *sim_of_port(struct sim *s, uint32_t port)
{
	return s->parts ? s->parts->part[s->parts->cut.part_of_port[port]] : s;
}

/* Number of domains; 1 if the run is not partitioned. */
static inline uint32_t sim_n_parts(const struct sim *s)
{
	return s->parts ? s->parts->cut.n : 1;
}

static inline const struct sim *sim_part(const struct sim *s, uint32_t i)
{
	return s->parts ? s->parts->part[i] : s;
}

/* Whether the mailbox has anything that keeps the run active. */
static inline bool mailbox_is_live(const struct mailbox *m)
{
	return m->n_packets || m->n_events || m->n_answers;
}

/* Whether the domain has only timers left. */
static inline bool domain_is_dry(const struct sim *part)
{
	return part->pool.alive == 0 && eventq_count(&part->q) <= part->background;
}

/* link_request in a global instant: the port's domain must execute this instant too. */
static inline void port_stir(struct sim *owner, uint32_t port)
{
	if (owner->mail.is_elsewhere)
		return; /* and stirs it there */
	link_request(owner, port);
	if (owner->cut)
		eventq_push(&owner->q, owner->now, event_key(EV_WAKE, port, 0, 0));
}

/* Packets in the fabric, events, and events that keep the run active. */
uint64_t sim_alive(const struct sim *s);
size_t sim_events(const struct sim *s);
size_t sim_pending(const struct sim *s);

/* ---- metrics.c --------------------------------------------------------- */

/* The tally of a part. */
void metrics_part_init(struct sim *part, const struct sim *whole);
void metrics_part_fini(struct sim *part, const struct sim *whole);
/* After a window: evaluates the rules at its end, `now`. */
void metrics_window(struct sim *whole);
/* Adds the window's n deliveries with this sum; `all` has them in order. */
void metrics_mean(struct sim *whole, uint64_t n, uint64_t sum, const struct late *all);
/* Whether metrics_mean() needs the sum only, without the order. */
bool metrics_mean_sums(const struct sim *whole, uint64_t n);
/* Length of the cells of M2 with which windows must end; 0: none. */
hd_time metrics_cell(const struct sim *whole);
/* A delivery of a flow that is at home in this part. */
void metrics_late(struct sim *part, const struct late *l);
/* Whether the rows of groups are those of single flows, so that each has one domain. */
bool metrics_groups_are_shared(const struct sim *whole);
/* Adds the counters of all domains to the whole. */
void metrics_collect(struct sim *whole);

/* Domain that counts the packets of a flow. */
static inline uint32_t flow_home(const struct sim *s, uint32_t flow)
{
	return s->cut->part_of_node[s->flows[flow].source];
}

#endif
