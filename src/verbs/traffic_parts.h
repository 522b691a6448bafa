/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_VERBS_TRAFFIC_PARTS_H
#define HD_VERBS_TRAFFIC_PARTS_H

/*
 * What traffic.c and traffic_saved.c know of the rows of a scenario that go
 * over queue pairs. Internal to these.
 *
 * The simulator says when a message is made, completion queues say when one
 * has arrived or is done (pairs.h).
 *
 * A run may be computed in parts (sim.h), so the two ends of a flow have
 * nothing in common but when messages were made: the source writes that down,
 * and the destination reads it when the message has come.
 */

#include "measure/histogram.h"
#include "verbs/pairs.h"

#define SEND_DEPTH 128 /* requests under way per queue pair */
#define RECV_DEPTH 64  /* restocked after every event */

#define NOTES 62

/* When messages were made, one after the other. */
struct notes {
	struct notes *next;
	hd_time born[NOTES];
};

/* Messages are numbered from 0, in the order in which they are made. */
struct posting {
	struct connection link; /* the first, so that a side knows us */
	uint32_t flow, row;
	/* The source's. */
	uint64_t made, sent, done;
	hd_time *born; /* ring, of those not yet done */
	size_t born_size;
	bool is_broken; /* what comes now fails */
	struct notes *last_noted;
	/* The destination's. */
	uint64_t received;
	struct notes *first_noted;
};

/* While measuring, but for retries. */
struct posting_row {
	uint64_t pairs, posted, done, failed, received;
	uint64_t retries; /* as they were collected; see row_counts */
	uint64_t early;
	struct histogram times;
};

/* What the adapters of one lab have in common (lab.number). */
struct share {
	struct posting_row *rows;
};

struct traffic {
	struct lab *lab;
	struct posting *postings;
	uint32_t n_postings;
	uint32_t *of_flow; /* its posting */
	struct share *shares;
	uint32_t n_shares;
};

static inline struct posting *posting_of(struct side *side)
{
	return (struct posting *)side->of;
}

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

#endif
