/* SPDX-License-Identifier: BSD-2-Clause */
/* What the destination of a queue pair does with requests: Q5, Q6, Q8. */
#include "base/alloc.h"
#include "pair.h"

static void answer_add(struct oracle *o, uint32_t i, enum pair_answer kind, uint64_t psn)
{
	struct queue_pair *q = &o->queue_pairs[i];
	struct answer *last = q->n_answers > 0 ? &q->answers[q->n_answers - 1] : NULL;

	if (last && kind == ANSWER_ACK && last->kind == ANSWER_ACK) {
		o->stats->merged += last->psn != psn;
		if (o->mutation != MUT_ACK_KEEPS_NUMBER)
			last->psn = psn;
		return;
	}
	q->answers = hd_grow(q->answers, &q->answers_cap, q->n_answers + 1, sizeof(*q->answers));
	q->answers[q->n_answers++] = (struct answer){ kind, psn };
	pair_line_up(o, i, false);
}

/* ---- before their turn (Q8) ---- */

/* How far ahead a request may be that is kept. */
static uint64_t most_ahead(const struct oracle *o)
{
	if (o->mutation == MUT_KEEPS_NOTHING)
		return 0;
	return o->pairs->out_of_order +
	       (o->mutation == MUT_KEEPS_ONE_MORE && o->pairs->out_of_order);
}

/* The one of that number that is kept, or NULL. */
static struct early *early_find(struct queue_pair *q, uint64_t psn)
{
	for (size_t k = 0; k < q->n_kept; k++)
		if (q->kept[k].psn == psn)
			return &q->kept[k];
	return NULL;
}

static void early_keep(struct oracle *o, const struct packet *p)
{
	struct queue_pair *q = &o->queue_pairs[p->pair];
	struct early *had = early_find(q, p->psn);

	if (had) {
		had->asks |= p->asks && o->mutation != MUT_KEPT_ASKS_AS_FIRST;
		return;
	}
	q->kept = hd_grow(q->kept, &q->kept_cap, q->n_kept + 1, sizeof(*q->kept));
	q->kept[q->n_kept++] = (struct early){ p->psn, p->asks };
	o->stats->early++;
}

static void ahead(struct oracle *o, const struct packet *p)
{
	struct queue_pair *q = &o->queue_pairs[p->pair];
	bool near = p->psn - q->expected <= most_ahead(o);

	if (near)
		early_keep(o, p);
	if (near && o->mutation != MUT_KEPT_IS_REFUSED)
		return;
	if (!q->nak_sent || o->mutation == MUT_NAK_FOR_EACH)
		answer_add(o, p->pair, ANSWER_NAK, q->expected);
	q->nak_sent = true;
}

/* ---- in their turn (Q5) ---- */

/* The one that is expected. */
static void take(struct oracle *o, uint32_t i, bool asks)
{
	struct queue_pair *q = &o->queue_pairs[i];

	q->expected++;
	q->nak_sent = false;
	if (asks)
		answer_add(o, i, ANSWER_ACK, q->expected - 1);
}

/* Q8: those that follow without a gap. */
static void kept_take(struct oracle *o, uint32_t i)
{
	struct queue_pair *q = &o->queue_pairs[i];
	struct early *next;

	while ((next = early_find(q, q->expected))) {
		bool asks = next->asks && o->mutation != MUT_KEPT_NEVER_ASK;

		*next = q->kept[--q->n_kept];
		take(o, i, asks);
		if (o->mutation == MUT_ONE_KEPT_TAKEN)
			return;
	}
}

static void rc_receive(struct oracle *o, const struct packet *p, bool marked)
{
	uint32_t i = p->pair;
	struct queue_pair *q = &o->queue_pairs[i];

	q->becn_due |= marked && (p->psn == q->expected || o->mutation != MUT_BECN_OF_TAKEN_ONLY);
	if (marked && o->mutation == MUT_CNP_FOR_RC)
		answer_add(o, i, ANSWER_CNP, 0);
	if (p->psn > q->expected) {
		ahead(o, p);
		return;
	}
	if (p->psn == q->expected) {
		take(o, i, p->asks);
		kept_take(o, i);
		return;
	}
	if (o->mutation == MUT_DUPLICATES_UNANSWERED)
		return;
	if (p->asks || o->mutation == MUT_DUPLICATES_ALL_ANSWERED)
		answer_add(o, i, ANSWER_ACK, q->expected - 1);
}

void request_receive(struct oracle *o, const struct packet *p)
{
	bool marked = p->marked && is_echoed(o, p->pair);

	if (is_rc(o, p->pair))
		rc_receive(o, p, marked);
	else if (marked)
		answer_add(o, p->pair, ANSWER_CNP, 0);
}
