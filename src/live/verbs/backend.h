/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_VERBS_BACKEND_H
#define HD_LIVE_VERBS_BACKEND_H

/*
 * Back-ends that execute the sends of a queue pair. The queue pair has checked what can be checked
 * without a fabric; the back-end executes the send and returns the outcome. Local errors are
 * statuses of the completion; the queue pair then changes its state as the verbs specification
 * requires.
 */

#include "live/verbs/verbs_internal.h"

enum outcome {
	DONE,       /* complete it with `status` */
	NO_RECEIVE, /* the peer has no receive: retry after its RNR timer */
	NO_ANSWER,  /* no responder: retry until the timeout */
};

struct result {
	enum ibv_wc_status status;
	uint32_t byte_len;
	uint8_t rnr_timer; /* for NO_RECEIVE */
};

/* With the queue pair's `send`. */
typedef enum outcome backend_send(struct soft_qp *q, struct send_wqe *s, struct result *out);

/* Executes the send at once in the posting thread, without a model of the fabric. */
backend_send verbs_execute_send;
/* Resolves the addresses of a send's pieces; false if one may not be accessed. */
bool verbs_locate_sges(struct soft_qp *q, struct send_wqe *s);
/*
 * Copies a send and its data, which become inline, for later execution; returns an error status if
 * its memory or length is invalid. The caller frees the copy.
 */
enum ibv_wc_status verbs_buffer_send(struct soft_qp *q, struct send_wqe *s, struct send_wqe **out);
/* Delivers a multicast send to one member; does not count packets. */
void verbs_deliver_copy(struct soft_qp *q, struct send_wqe *s, uint32_t to);
/* Counts the packets of a UC or UD send that is lost in the fabric. */
void verbs_count_lost(struct soft_qp *q, const struct send_wqe *s);

#endif
