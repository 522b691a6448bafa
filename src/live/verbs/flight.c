/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "live/verbs/backend.h"
#include "live/verbs/timed.h"

/*
 * Sends of UC and UD with the simulated clock. They complete when their last packet has left; the
 * program may reuse their memory from then on. A copy of their data is kept here until the engine
 * reports that they have arrived.
 */

static void flight_free(struct send_in_flight *f)
{
	free(f->send);
	free(f);
}

void timed_flight_drop(struct soft_qp *q)
{
	while (q->flights) {
		struct send_in_flight *f = q->flights;

		q->flights = f->next;
		flight_free(f);
	}
	atomic_store(&q->n_flights, 0);
}

/* Copies the send and its data; returns a status. */
static enum ibv_wc_status take_off(struct soft_qp *q, uint64_t number)
{
	struct send_wqe *kept;
	enum ibv_wc_status status = verbs_buffer_send(q, send_at(q, number), &kept);
	struct send_in_flight *f = kept ? calloc(1, sizeof(*f)) : NULL;

	if (!f) {
		free(kept);
		return kept ? IBV_WC_GENERAL_ERR : status;
	}
	*f = (struct send_in_flight){ .number = number, .send = kept };
	if (!q->flights)
		q->last_flight = &q->flights;
	*q->last_flight = f;
	q->last_flight = &f->next;
	atomic_fetch_add(&q->n_flights, 1);
	return status;
}

/*
 * True for a multicast send that has arrived at one member: further members may receive it until
 * it is reported as lost.
 */
static bool is_spread(const struct send_wqe *s, const struct live_note *n)
{
	return n->kind == LIVE_ARRIVED && s->dlid >= LID_FIRST_MCAST;
}

static enum ibv_wc_status land(struct soft_qp *q, struct send_wqe *s, bool is_lost)
{
	struct result r = { .status = IBV_WC_SUCCESS };

	if (is_lost)
		verbs_count_lost(q, s);
	else
		(void)!verbs_execute_send(q, s, &r);
	return r.status;
}

/* A message has arrived or is lost; its send has completed, or is still in the ring. */
static void on_fate(struct soft_qp *q, const struct live_note *n)
{
	struct send_in_flight **at = &q->flights, *f;
	bool is_lost = n->kind == LIVE_LOST;

	if (n->number >= q->head && n->number < q->given) {
		struct send_wqe *s = send_at(q, n->number);

		if (is_spread(s, n)) {
			verbs_deliver_copy(q, s, n->to);
			return;
		}
		s->status = (uint32_t)land(q, s, is_lost);
		s->is_over = 1;
		return;
	}
	while (*at && (*at)->number != n->number)
		at = &(*at)->next;
	f = *at;
	if (!f)
		return;
	if (is_spread(f->send, n)) {
		verbs_deliver_copy(q, f->send, n->to);
		return;
	}
	*at = f->next;
	if (!f->next)
		q->last_flight = at;
	(void)!land(q, f->send, is_lost);
	flight_free(f);
	atomic_fetch_sub(&q->n_flights, 1);
}

/* All sends up to `number` have left the adapter. */
static void on_left(struct soft_qp *q, uint64_t number, enum ibv_wc_status status)
{
	bool was_draining = q->head < q->drain;

	while (q->head <= number && q->head < q->given) {
		const struct send_wqe *s = send_at(q, q->head);
		bool has_failed = q->head == number && status != IBV_WC_SUCCESS;

		if (has_failed)
			post_finish(q, status);
		else if (s->is_over)
			post_finish(q, (enum ibv_wc_status)s->status);
		else
			post_finish(q, take_off(q, q->head));
	}
	if (was_draining && q->head >= q->drain)
		verbs_qp_notify_drained(q);
}

void timed_flight_event(struct soft_qp *q, const struct live_note *n)
{
	if (n->kind == LIVE_DONE)
		on_left(q, n->number, (enum ibv_wc_status)n->status);
	else
		on_fate(q, n);
}
