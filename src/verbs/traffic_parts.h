/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_VERBS_TRAFFIC_PARTS_H
#define HD_VERBS_TRAFFIC_PARTS_H

/*
 * What traffic.c and traffic_pairs.c know of the rows of a scenario that go
 * over queue pairs. Internal to these.
 *
 * The simulator says when a message is made, completion queues say when one
 * has arrived or is done. The latter come while an adapter is at work: such
 * flows wait in a list until it is done (traffic_settle).
 *
 * A run may be computed in parts (sim.h), so the two ends of a flow have
 * nothing in common but when messages were made: the source writes that down,
 * and the destination reads it when the message has come.
 */

#include "measure/histogram.h"
#include "verbs/device.h"

#define SEND_DEPTH 128 /* requests under way per queue pair */
#define RECV_DEPTH 64  /* restocked after every event */
#define QKEY       0x11111111u

#define NOTES 62

/* When messages were made, one after the other. */
struct notes {
	struct notes *next;
	hd_time born[NOTES];
};

struct posting;

/* One of the two ends. */
struct side {
	struct posting *of;
	struct v_cq *cq;
	bool is_waiting;
	struct side *next; /* that waits to be looked at */
};

/* Messages are numbered from 0, in the order in which they are made. */
struct posting {
	uint32_t flow, row;
	enum qp_kind kind;
	uint32_t length;
	/* The source's. */
	struct v_qp *from;
	struct side sends;
	uint64_t made, sent, done;
	hd_time *born; /* ring, of those not yet done */
	size_t born_size;
	bool is_broken; /* what comes now fails */
	struct notes *last_noted;
	/* The destination's. */
	struct v_qp *to;
	struct side receives;
	uint64_t received;
	struct notes *first_noted;
};

/* While measuring, but for retries. */
struct posting_row {
	uint64_t pairs, posted, done, failed, received;
	uint64_t retries; /* as it was collected; see row_retries */
	struct histogram times;
};

/* What a host has for all of its queue pairs. */
struct posting_host {
	struct v_pd *pd;
	struct v_mr *mr;
};

/* What the adapters of one lab have in common (lab.number). */
struct share {
	struct posting_row *rows;
	uint8_t *memory; /* what is in it matters to nobody */
	struct side *first;
};

struct traffic {
	struct lab *lab;
	struct posting *postings;
	uint32_t n_postings;
	uint32_t *of_flow; /* its posting */
	struct posting_host *hosts;
	uint64_t memory_len;
	struct share *shares;
	uint32_t n_shares;
};

static inline struct share *share_of(const struct v_device *dev)
{
	return &dev->lab->traffic->shares[dev->lab->number];
}

static const enum qp_kind kind_of_transport[] = {
	[SCN_RC] = QP_RC,
	[SCN_UC] = QP_UC,
	[SCN_UD] = QP_UD,
};

/* ---- traffic.c ----------------------------------------------------------- */

/* The rows of all shares; the caller frees them. */
struct posting_row *rows_sum(const struct traffic *t);
void rows_free(struct posting_row *rows, size_t n);

/* ---- traffic_pairs.c ----------------------------------------------------- */

/* The next posting: the queue pairs of this flow, connected and stocked. */
HD_MUST_CHECK enum hd_status posting_open(struct traffic *t, uint32_t flow,
					  struct diag *d);
void posting_fini(struct posting *p);
/* Gives the destination's queue pair all the requests that it takes. */
void posting_stock(struct posting *p);
/* It has a completion that is to be looked at. */
void side_wait(struct side *side);

#endif
