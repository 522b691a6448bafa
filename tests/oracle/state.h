/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TESTS_ORACLE_STATE_H
#define HD_TESTS_ORACLE_STATE_H

/*
 * The oracle's picture of a fabric at one instant, shared by its files and by
 * nobody else. Lists are plain arrays, searched from the front.
 */

#include "base/rng.h"
#include "oracle.h"

#define NEVER      HD_TIME_NEVER
#define ALL_VLS    16 /* 15 for data, and VL15 */
#define MAX_COPIES 32
#define NO_VL      (-1)

/* A packet of an input buffer, on its way to one output of the switch. */
struct copy {
	const struct sim_arrival *packet; /* as it leaves (R5) */
	uint32_t out;                     /* sim port */
	uint8_t vl;                       /* on the output */
	hd_time d_out;
	bool taken;    /* granted or discarded: waits no longer */
	bool granted;  /* taken by a grant */
	hd_time first; /* voq: since when first of its queue, or NEVER */
	hd_time left;  /* its tail leaves the buffer, or NEVER */
};

/* A packet that occupies an input buffer. */
struct slot {
	const struct sim_arrival *packet;
	uint8_t vl;    /* on the input */
	hd_time head;  /* h */
	hd_time d_in;  /* so the tail arrives at head + d_in */
	hd_time first; /* fifo: since when first of its buffer, or NEVER */
	bool dropped;  /* at its arrival (A3): stands in no queue */
	bool released; /* held by a sink that is free now (F7) */
	bool freed;    /* its space is free already (mutations only) */
	uint32_t n_copies;
	struct copy copies[MAX_COPIES];
};

/* A packet in an output queue (T9) or an injection queue (T13). */
struct outgoing {
	const struct sim_arrival *packet;
	hd_time ready;
	hd_time x1;    /* end of the crossbar transfer; injection: 0 */
	hd_time first; /* since when first of its queue, or NEVER */
};

struct queue {
	struct outgoing *items;
	size_t n, cap;
};

/* Position and what is left of the weight there (T10). */
struct table_state {
	unsigned position;
	int64_t left;
};

struct vlarb_state {
	struct table_state high, low;
	uint64_t hi; /* T11 */
};

struct port {
	bool up;
	hd_time d_update, d_timer; /* of 6 and of 65,536 bytes (T5) */
	/* As a sender. */
	hd_time busy_until;
	uint64_t sent[ALL_VLS];  /* blocks; FCTBS is this modulo 4096 */
	uint64_t limit[ALL_VLS]; /* FCCL, or in delay mode its whole */
	struct vlarb_state vlarb;
	const struct vlarb *table;    /* in force (T11c) */
	struct queue queues[ALL_VLS]; /* end ports, and cioq outputs */
	struct rng errors, losses;    /* F1, F2 */
	/* As a receiver. */
	struct slot **slots; /* by arrival */
	size_t n_slots, slots_cap;
	uint32_t occupied[ALL_VLS]; /* blocks */
	uint64_t received[ALL_VLS]; /* ABR; its whole in delay mode */
	bool freed[ALL_VLS];        /* delay mode with losses: send one now */
	bool pending[ALL_VLS];      /* exact mode */
	int last_update;            /* VL, or NO_VL */
	bool stuck;                 /* F7 */
	/* As an output of a switch. */
	int last_input[ALL_VLS]; /* port number granted last, or -1 */
	bool granted_before;     /* T8: link, or crossbar if cioq */
	hd_time last_grant;
	/* As an output of a crossbar. */
	hd_time crossbar_busy_until;
	int last_crossbar_vl; /* or NO_VL */
	uint32_t out_occupied[ALL_VLS];
};

/* A packet granted on a link, whose head has not arrived. */
struct flight {
	const struct sim_arrival *packet;
	uint32_t to;
	uint8_t vl;
	bool corrupted;
	hd_time head;
};

/* Flow control on its way; it acts on what port `to` sends and receives. */
struct message {
	uint32_t to;
	uint8_t vl;
	hd_time time;
	bool relative;  /* a credit (delay mode): add to the limit */
	uint64_t limit; /* FCCL, or the blocks to add */
	uint64_t fctbs; /* exact mode */
};

/* Output buffer space (T9) that comes free. */
struct release {
	uint32_t port;
	uint8_t vl;
	uint32_t blocks;
	hd_time time;
};

struct oracle {
	const struct sim_setup *setup;
	const struct sim_arrival *arrivals;
	size_t n_arrivals, next_arrival;
	uint32_t next_fault, next_change;
	hd_time now, tick, horizon;
	enum oracle_mutation mutation;
	struct port *ports;
	struct flight *flights;
	size_t n_flights, flights_cap;
	struct message *messages;
	size_t n_messages, messages_cap;
	struct release *releases;
	size_t n_releases, releases_cap;
	struct sim_arrival **rewritten; /* packets behind routers */
	size_t n_rewritten, rewritten_cap;
	struct sim_record *out;
	struct oracle_stats *stats;
};

/* oracle.c */
uint32_t blocks_of(const struct sim_arrival *packet);
hd_time duration_on(const struct oracle *o, uint32_t port, uint64_t bytes);
void record_end(struct oracle *o, const struct sim_arrival *packet,
		uint32_t where, enum sim_fate fate);
static inline hd_time later(hd_time a, hd_time b)
{
	return a > b ? a : b;
}

/* link.c */
hd_time link_next_timer(const struct oracle *o, uint32_t port);
void links_init(struct oracle *o);
void link_go_down(struct oracle *o, uint32_t port);
void link_come_up(struct oracle *o, uint32_t port);
bool link_fits(const struct oracle *o, uint32_t port, uint8_t vl,
	       const struct sim_arrival *packet);
void link_send(struct oracle *o, uint32_t port, uint8_t vl,
	       const struct sim_arrival *packet);
int link_next_update(const struct oracle *o, uint32_t port);
void link_send_update(struct oracle *o, uint32_t port, uint8_t vl);
void link_space_freed(struct oracle *o, uint32_t port, uint8_t vl,
		      uint32_t blocks);
void messages_arrive(struct oracle *o);
void timers_strike(struct oracle *o);
void freed_updates_leave(struct oracle *o);

/* vlarb.c: blocks[vl] of each VL's candidate, 0 for none; the VL or NO_VL. */
void vlarb_init(struct oracle *o, uint32_t port);
void vlarb_change(struct oracle *o, uint32_t port, const struct vlarb *table);
int vlarb_take(struct oracle *o, uint32_t port, const uint32_t *blocks);

/* oracle.c */
uint32_t port_of_end(const struct oracle *o, uint32_t node);

/* switch.c */
void queue_push(struct oracle *o, struct queue *q, struct outgoing item);
void heads_arrive(struct oracle *o);
void space_comes_free(struct oracle *o);
bool discards(struct oracle *o);
void sink_release(struct oracle *o, uint32_t port);
void deliveries(struct oracle *o);
void crossbar_grants(struct oracle *o);
void link_grants(struct oracle *o);
void waits_count(struct oracle *o);

/* route.c: the copies of a packet that has just arrived at a switch. */
void route_packet(struct oracle *o, uint32_t in, struct slot *slot);
/* router.c: the same at a router. */
void router_packet(struct oracle *o, uint32_t in, struct slot *slot);

#endif
