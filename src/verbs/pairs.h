/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_VERBS_PAIRS_H
#define HD_VERBS_PAIRS_H

/*
 * Connections of two queue pairs that nobody's program uses, but the lab
 * itself: for rows of traffic (traffic.h), and for messages of jobs
 * (couriers.h). Internal to the room.
 *
 * Completions come while an adapter is at work: sides that have some wait in a
 * list until it is done (pairs_settle). A run may be computed in parts (sim.h):
 * each has such a list, and memory, which all that is sent is read from and all
 * that comes is written to; what is in it matters to nobody.
 */

#include "verbs/device.h"

#define QKEY 0x11111111u

struct connection;

/* One of the two ends. */
struct side {
	struct connection *of;
	struct v_cq *cq;
	bool is_waiting;
	struct side *next; /* that waits to be looked at */
};

/* An element of an array: those with the lower address are looked at first. */
struct connection {
	enum qp_kind kind;
	uint32_t length; /* of a message, at most */
	struct v_qp *from, *to;
	struct side sends, receives;
};

/* Requests that queue pairs have room for. */
struct depths {
	uint32_t send, recv;
};

/* How to connect; the MTU is what there is room for on the way and back. */
struct connecting {
	struct depths from, to;
	uint16_t pkey;
	uint8_t sl;
	hd_time ack_timeout;
};

/* What a host has for all of its queue pairs. */
struct pairs_host {
	struct v_pd *pd;
	struct v_mr *mr;
};

/* What the adapters of one lab have in common (lab.number). */
struct pairs_share {
	uint8_t *memory;
	struct side *first;
};

struct pairs {
	struct lab *lab;
	/* It has completions that are to be taken. */
	void (*settle)(struct side *side);
	struct pairs_host *hosts;
	uint64_t memory_len;
	struct pairs_share *shares;
	uint32_t n_shares;
};

/* Of a lab that has none; `longest`: of all messages. */
void pairs_open(struct lab *lab, void (*settle)(struct side *side), uint64_t longest);
/* Its connections are finished. */
void pairs_close(struct pairs *pairs);
/* The lab is cut into so many. */
void pairs_cut(struct pairs *pairs, uint32_t n);
/* Looks at what adapters of this lab have completed. */
void pairs_settle(struct lab *lab);

/*
 * Makes the queue pairs of these two, connected and stocked; c->kind and
 * c->length say what they are for. HD_ERR_UNFIT if no packet fits on the way
 * and back. Finish it in any case.
 */
HD_MUST_CHECK enum hd_status connection_open(struct connection *c, struct v_device *from,
					     struct v_device *to, const struct connecting *how);
void connection_fini(struct connection *c);
/* Gives the destination's queue pair all the requests that it takes. */
void connection_stock(const struct connection *c);
/* Posts a SEND of the source's, of length bytes; the adapter is not told. */
void connection_post(const struct connection *c, struct send_wr *wr, uint32_t length);
/* Requests were posted: the adapter goes to work. */
void connection_go(const struct connection *c);

/* An array of structs that begin with a connection. */
struct connections {
	void *first;
	size_t size; /* of one */
	uint32_t n;
};
/* Who has such completions, as bytes and back. */
void pairs_pack_waiting(struct pairs *pairs, struct pack *k, const struct connections *of);

#endif
