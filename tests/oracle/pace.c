/* SPDX-License-Identifier: BSD-2-Clause */
/* The rates of queue pairs: Q7. */
#include <stdlib.h>

#include "base/alloc.h"
#include "pair.h"

static const struct oracle_pair *drawn(const struct oracle *o, uint32_t i)
{
	return &o->queue_pairs[i].is;
}

static bool is_free(const struct oracle *o, uint32_t i)
{
	return o->pairs->free_sls >> drawn(o, i)->sl & 1;
}

bool is_echoed(const struct oracle *o, uint32_t i)
{
	return !is_free(o, i) || o->mutation == MUT_FREE_SLS_ECHO;
}

/* Q7: whether it has a rate. */
static bool is_paced(const struct oracle *o, uint32_t i)
{
	return o->pairs->algorithm && (!is_free(o, i) || o->mutation == MUT_FREE_SLS_PACED);
}

struct pace *pace_of(const struct oracle *o, uint32_t i)
{
	const struct oracle_pair *p = drawn(o, i);
	uint32_t at = p->from; /* rows and jobs have one together */

	if (!o->pairs->per_sl || o->mutation == MUT_PACE_OF_EACH)
		return &o->queue_pairs[i].pace;
	if (o->mutation == MUT_PACE_OF_ADAPTER && o->queue_pairs[i].of_job)
		at += o->setup->n_nodes;
	return &o->adapters[at].paces[p->sl];
}

void pace_hear(struct oracle *o, uint32_t i, bool marked)
{
	if (!is_paced(o, i))
		return;
	o->stats->echoes += marked;
	cc_on_ack(o->pairs->algorithm, &o->pairs->config, &pace_of(o, i)->state, marked, o->now);
}

/* What gaps are multiples of: the time of the request taken last. */
static hd_time gap_unit(const struct oracle *o, uint32_t i, const struct pace *p)
{
	if (o->mutation != MUT_PACE_OF_FULL_PACKETS || p->d == 0)
		return p->d;
	return duration_on(o, port_of_end(o, drawn(o, i)->from), o->pair_mtu + SEND_BYTES);
}

/* Whether another queue pair precedes it in the queue for their rate. */
static bool is_queued_behind(const struct oracle *o, uint32_t i)
{
	const struct line *l = &pace_of(o, i)->held;

	return l->n > 0 && l->items[0] != i && o->mutation != MUT_PACE_BY_NUMBER;
}

/*
 * From when on the pair's next request may be taken, if its turn comes; 0: its
 * rate holds nothing back (Q7).
 */
hd_time pace_from(const struct oracle *o, uint32_t i)
{
	const struct pace *p = pace_of(o, i);
	hd_time gap;

	if (!is_paced(o, i))
		return 0;
	gap = cc_gap_of_share(o->pairs->algorithm, &o->pairs->config, &p->state, gap_unit(o, i, p));
	if (gap <= p->d && /* the link alone holds it back */
	    o->mutation != MUT_PACE_HOLDS_AT_FULL_RATE)
		return 0;
	if (!p->granted && o->mutation == MUT_PACE_FIRST_FREE)
		return 0;
	return p->waiting ? NEVER : p->last + gap;
}

bool is_held(const struct oracle *o, uint32_t i, bool source)
{
	hd_time from = source ? pace_from(o, i) : 0;

	return from > o->now || (from > 0 && is_queued_behind(o, i));
}

void pace_let_go(struct oracle *o, uint32_t i)
{
	struct line *l = &pace_of(o, i)->held;
	size_t kept = 0;

	for (size_t k = 0; k < l->n; k++)
		if (l->items[k] != i)
			l->items[kept++] = l->items[k];
	l->n = kept;
}

void pace_hold(struct oracle *o, uint32_t i)
{
	struct line *l = &pace_of(o, i)->held;

	for (size_t k = 0; k < l->n; k++)
		if (l->items[k] == i && o->mutation != MUT_PACE_PLACE_LOST)
			return;
	pace_let_go(o, i);
	l->items = hd_grow(l->items, &l->cap, l->n + 1, sizeof(*l->items));
	l->items[l->n++] = i;
}

void pace_leave(struct oracle *o, const struct packet *p)
{
	struct pace *pace = pace_of(o, p->pair);

	pace->waiting--;
	pace->granted = true;
	if (o->mutation != MUT_PACE_FROM_TAKING)
		pace->last = o->now;
}

void pace_strike(struct oracle *o, struct pace *p)
{
	if (!o->pairs->algorithm || p->state.due > o->now)
		return;
	o->stats->rate_timers++;
	cc_on_timer(o->pairs->algorithm, &o->pairs->config, &p->state, o->now);
}

void pace_begin(const struct oracle *o, struct pace *p)
{
	p->state.due = NEVER;
	if (o->pairs->algorithm)
		cc_init(o->pairs->algorithm, &o->pairs->config, &p->state);
}

void pace_end(struct pace *p)
{
	free(p->held.items);
}
