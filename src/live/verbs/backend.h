/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_VERBS_BACKEND_H
#define HD_LIVE_VERBS_BACKEND_H

/*
 * What a queue pair's sends are given to. The queue pair has checked what can
 * be checked without a fabric; the back-end carries one out, and says how it
 * went. Errors of ours are statuses of the completion, and the queue pair
 * goes where verbs say.
 */

#include "live/verbs/verbs_internal.h"

enum outcome {
	DONE,       /* complete it with `status` */
	NO_RECEIVE, /* the peer has no receive: again after its RNR timer */
	NO_ANSWER,  /* no responder: again until the timeout */
};

struct result {
	enum ibv_wc_status status;
	uint32_t byte_len;
	uint8_t rnr_timer; /* of NO_RECEIVE */
};

/* With the queue pair's `send`. */
typedef enum outcome backend_send(struct soft_qp *q, struct send_wqe *s, struct result *out);

/* At once, by the thread that posted: no model in between. */
backend_send verbs_execute_send;
/* Notes where the pieces of a send are; false if one may not be used. */
bool verbs_locate_sges(struct soft_qp *q, struct send_wqe *s);
/*
 * A copy of the send with all that it carries, inline, to be carried out later;
 * NULL if its own memory or length is wrong, as the status says. free() it.
 */
enum ibv_wc_status verbs_buffer_send(struct soft_qp *q, struct send_wqe *s, struct send_wqe **out);
/* One to a group arrives at one of its members; it is not counted. */
void verbs_deliver_copy(struct soft_qp *q, struct send_wqe *s, uint32_t to);
/* One of UC or UD that arrives nowhere: it is counted on its way. */
void verbs_count_lost(struct soft_qp *q, const struct send_wqe *s);

#endif
