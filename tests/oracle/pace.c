/* SPDX-License-Identifier: BSD-2-Clause */
/* The rates of queue pairs: Q7. */
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
	return o->pairs->algorithm &&
	       (!is_free(o, i) || o->mutation == MUT_FREE_SLS_PACED);
}

struct pace *pace_of(const struct oracle *o, uint32_t i)
{
	const struct oracle_pair *p = drawn(o, i);

	if (o->pairs->per_sl && o->mutation != MUT_PACE_OF_EACH)
		return &o->adapters[p->from].paces[p->sl];
	return &o->queue_pairs[i].pace;
}

void pace_hear(struct oracle *o, uint32_t i, bool marked)
{
	if (!is_paced(o, i))
		return;
	o->stats->echoes += marked;
	cc_on_ack(o->pairs->algorithm, &o->pairs->config, &pace_of(o, i)->state,
		  marked, o->now);
}

/* What gaps are multiples of: the time of the request taken last. */
static hd_time gap_unit(const struct oracle *o, uint32_t i,
			const struct pace *p)
{
	if (o->mutation != MUT_PACE_OF_FULL_PACKETS || p->d == 0)
		return p->d;
	return duration_on(o, port_of_end(o, drawn(o, i)->from),
			   o->pair_mtu + SEND_BYTES);
}

/* From when on the pair's next request may be taken (Q7). */
hd_time pace_from(const struct oracle *o, uint32_t i)
{
	const struct pace *p = pace_of(o, i);
	hd_time gap;

	if (!is_paced(o, i))
		return 0;
	gap = cc_gap_of_share(o->pairs->algorithm, &o->pairs->config, &p->state,
			      gap_unit(o, i, p));
	if (gap <= p->d && /* the link alone holds it back */
	    o->mutation != MUT_PACE_HOLDS_AT_FULL_RATE)
		return 0;
	if (!p->granted && o->mutation == MUT_PACE_FIRST_FREE)
		return 0;
	return p->waiting ? NEVER : p->last + gap;
}

bool is_held(const struct oracle *o, uint32_t i, bool source)
{
	return source && pace_from(o, i) > o->now;
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
