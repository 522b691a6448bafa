/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_VERBS_GUESTS_PARTS_H
#define HD_VERBS_GUESTS_PARTS_H

/* What guests are made of; private to guests*.c. */

#include "verbs/device.h"
#include "verbs/guests.h"

/* One of a guest's completion queues. */
struct end {
	struct guest *of;
	struct v_cq *cq;
	bool is_waiting;
	struct end *next; /* that has completions */
};

/* A message that may still arrive. */
struct flight {
	uint64_t number;
	uint32_t psn, packets; /* the first one's */
	enum wr_kind kind;
	bool is_over;
	/* To a group: it is on no link any more, and has arrived where nobody
	 * was told of yet. */
	bool has_ended;
	uint32_t untold;
};

/* Whose message an entry of the receives tells of; NULL: nobody's any more. */
struct landing {
	struct guest *from;
	uint64_t number;
};

struct guest {
	struct guests *all;
	void *owner;
	struct v_qp *qp;
	struct guest *peer;
	struct guest_queue *queue;
	struct end sends, receives;
	struct flight *flights; /* ring; `head` and `tail` count */
	uint32_t head, tail, places;
	struct landing *landings; /* ring: one per entry of the receives */
	uint32_t first, last, size;
	uint32_t psn; /* of the next packet */
	bool leaves;
	struct guest *next, **link;
};

struct guest_queue {
	struct guests *all;
	struct v_srq *srq;
	const struct v_mr *mr;
	uint32_t users;
	bool leaves;
	struct guest_queue *next, **link;
};

/* What a host has for all of them. */
struct host {
	struct v_pd *pd;
	struct v_mr *mr;
};

struct guests {
	struct lab *lab;
	struct sim *sim;
	struct host *hosts;
	uint8_t *nothing;
	struct guest *first;
	struct guest_queue *queues;
	struct end *waiting;
	struct landing *lost; /* ring, as of landings */
	uint32_t head, tail, places;
	void (*seen)(void *context, const struct guest_passage *p);
	void *context;
	bool is_observed;
};

/* A packet of a message, and how many came before it; NULL: of none. */
struct flight *flight_with(const struct guest *g, uint32_t psn, uint32_t *before);

#endif
