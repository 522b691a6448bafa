/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queue pairs and the adapters that they are in: Q1 to Q7. Sequence numbers
 * are whole here: no case is long enough for 24 bits.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "state.h"

#define STAGING      65536u /* bytes of payload per VL (Q2) */
#define LEAST_STAGED 64
#define MESSAGES     128 /* under way per queue pair (Q3) */
#define ACK_EVERY    16  /* packets (Q4) */
#define RETRIES      7
#define SEND_BYTES   26 /* LRH, BTH, CRCs */
#define IMM_BYTES    4
#define DETH_BYTES   8
#define TIMER_UNIT   UINT64_C(4096000) /* ps */

static const struct oracle_pair *drawn(const struct oracle *o, uint32_t i)
{
	return &o->pairs->list[i];
}

static bool is_rc(const struct oracle *o, uint32_t i)
{
	return drawn(o, i)->transport == ORACLE_RC;
}

/* Packets of a message. */
static uint64_t packets_of(const struct oracle *o, uint32_t i)
{
	uint32_t length = drawn(o, i)->length, mtu = o->pairs->mtu;

	return length > mtu ? (length + mtu - 1) / mtu : 1;
}

static bool is_last(const struct oracle *o, uint32_t i, uint64_t psn)
{
	return (psn + 1) % packets_of(o, i) == 0;
}

static uint32_t node_of_end(const struct oracle *o, uint32_t i, bool source)
{
	return source ? drawn(o, i)->from : drawn(o, i)->to;
}

/* ---- congestion control (Q7) ---- */

static struct pace *pace_of(const struct oracle *o, uint32_t i)
{
	const struct oracle_pair *p = drawn(o, i);

	if (o->pairs->per_sl && o->mutation != MUT_PACE_OF_EACH)
		return &o->adapters[p->from].paces[p->sl];
	return &o->queue_pairs[i].pace;
}

static void pace_hear(struct oracle *o, uint32_t i, bool marked)
{
	if (!o->pairs->algorithm)
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
			   o->pairs->mtu + SEND_BYTES);
}

/* From when on the pair's next request may be taken (Q7). */
static hd_time pace_from(const struct oracle *o, uint32_t i)
{
	const struct pace *p = pace_of(o, i);
	hd_time gap;

	if (!o->pairs->algorithm)
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

static bool is_held(const struct oracle *o, uint32_t i, bool source)
{
	return source && pace_from(o, i) > o->now;
}

/* ---- what an end has to send ---- */

static bool has_request(const struct oracle *o, uint32_t i)
{
	const struct queue_pair *q = &o->queue_pairs[i];

	return !q->broken && q->next < q->posted * packets_of(o, i);
}

static bool has_packet(const struct oracle *o, uint32_t i, bool source)
{
	return source ? has_request(o, i) : o->queue_pairs[i].n_answers > 0;
}

static uint32_t request_bytes(const struct oracle *o, uint32_t i, uint64_t psn,
			      uint32_t *payload)
{
	const struct oracle_pair *p = drawn(o, i);
	uint32_t mtu = o->pairs->mtu, bytes = SEND_BYTES;

	*payload = mtu;
	if (is_last(o, i, psn))
		*payload = p->length - (uint32_t)(packets_of(o, i) - 1) * mtu;
	if (p->transport == ORACLE_UD)
		bytes += DETH_BYTES;
	if (p->transport != ORACLE_RC && is_last(o, i, psn))
		bytes += IMM_BYTES;
	return bytes + (*payload + 3) / 4 * 4;
}

static struct packet *packet_make(struct oracle *o, uint32_t i, bool source,
				  enum sim_packet_kind kind, uint32_t bytes)
{
	const struct oracle_pair *p = drawn(o, i);
	const struct sim_setup *s = o->setup;
	uint32_t from = node_of_end(o, i, source);
	uint32_t back = port_of_end(o, p->from);
	struct packet made = {
		.as = { .time = o->now,
			.source = from,
			.dlid = source ? p->dlid
				       : s->subnet->lid_of_port
						 [s->ports[back].origin],
			.pkey = source ? p->pkey : p->pkey | PKEY_FULL,
			.bytes = bytes,
			.sl = p->sl,
			.sender = o->adapters[from].sender },
		.kind = kind,
		.is_pairs = true,
		.pair = i,
	};

	made.as.flow = oracle_pair_flow(from, made.as.dlid);
	made.as.sequence = bytes;
	return packet_new(o, &made);
}

static void timer_start(struct oracle *o, uint32_t i)
{
	o->queue_pairs[i].timer = o->now + (TIMER_UNIT << drawn(o, i)->timeout);
}

static struct packet *request_take(struct oracle *o, uint32_t i)
{
	struct queue_pair *q = &o->queue_pairs[i];
	uint32_t payload, bytes = request_bytes(o, i, q->next, &payload);
	struct packet *p = packet_make(o, i, true, SIM_DATA, bytes);

	p->psn = q->next++;
	p->payload = payload;
	q->since_asked++;
	p->asks = is_rc(o, i) && (is_last(o, i, p->psn) ||
				  (q->since_asked >= ACK_EVERY &&
				   o->mutation != MUT_ASKS_AT_THE_END_ONLY));
	if (o->mutation == MUT_TIMER_FROM_FIRST_PACKET && is_rc(o, i) &&
	    q->timer == NEVER)
		timer_start(o, i);
	if (p->asks) {
		q->since_asked = 0;
		if (q->asked < p->psn + 1)
			q->asked = p->psn + 1;
		if (q->timer == NEVER)
			timer_start(o, i);
	}
	if (q->top < q->next)
		q->top = q->next;
	pace_of(o, i)->waiting++;
	pace_of(o, i)->d =
		duration_on(o, port_of_end(o, drawn(o, i)->from), bytes);
	if (o->mutation == MUT_PACE_FROM_TAKING)
		pace_of(o, i)->last = o->now;
	return p;
}

/* Q6: as in C5. */
static uint32_t cnp_bytes(const struct oracle *o)
{
	return SIM_CNP_BYTES + (o->mutation == MUT_PAIR_CNP_LONG ? 16 : 0);
}

static struct packet *answer_take(struct oracle *o, uint32_t i)
{
	struct queue_pair *q = &o->queue_pairs[i];
	struct answer a = q->answers[0];
	struct packet *p = packet_make(
		o, i, false, a.kind == ANSWER_CNP ? SIM_CNP : SIM_ACK,
		a.kind == ANSWER_CNP ? cnp_bytes(o) : SIM_ACK_BYTES);

	q->n_answers--;
	memmove(q->answers, q->answers + 1, q->n_answers * sizeof(a));
	p->answers = a.kind;
	p->psn = a.psn;
	p->becn = a.kind == ANSWER_CNP || q->becn_due;
	if (a.kind != ANSWER_CNP && o->mutation != MUT_BECN_STAYS)
		q->becn_due = false;
	o->stats->answers++;
	return p;
}

/* ---- the adapter (Q2) ---- */

static void line_join(struct oracle *o, uint32_t i, bool source)
{
	struct queue_pair *q = &o->queue_pairs[i];
	struct adapter *a = &o->adapters[node_of_end(o, i, source)];
	struct line *l;
	int vl;

	if (q->in_line[source] || !has_packet(o, i, source) ||
	    is_held(o, i, source))
		return;
	vl = sl2vl_of(o->setup->subnet,
		      o->setup->ports[port_of_end(o, node_of_end(o, i, source))]
			      .origin)
		     ->vl[drawn(o, i)->sl];
	l = &a->lines[vl];
	l->items = hd_grow(l->items, &l->cap, l->n + 1, sizeof(*l->items));
	l->items[l->n++] = 2 * i + source;
	q->in_line[source] = true;
}

static void packet_give(struct oracle *o, uint32_t node, struct packet *p,
			hd_time when)
{
	p->as.time = when;
	if (when == o->now) {
		end_enter(o, port_of_end(o, node), p);
		return;
	}
	o->coming = hd_grow(o->coming, &o->coming_cap, o->n_coming + 1,
			    sizeof(struct packet *));
	o->coming[o->n_coming++] = p;
}

void pairs_enter(struct oracle *o)
{
	size_t kept = 0;

	for (size_t i = 0; i < o->n_coming; i++) {
		struct packet *p = o->coming[i];

		if (p->as.time == o->now)
			end_enter(o, port_of_end(o, p->as.source), p);
		else
			o->coming[kept++] = p;
	}
	o->n_coming = kept;
}

/* The last one becomes the first. */
static void line_first(struct line *l)
{
	uint32_t last = l->items[l->n - 1];

	memmove(l->items + 1, l->items, (l->n - 1) * sizeof(*l->items));
	l->items[0] = last;
}

static void line_send(struct oracle *o, uint32_t node, unsigned vl,
		      hd_time when)
{
	struct adapter *a = &o->adapters[node];
	struct line *l = &a->lines[vl];

	while (l->n > 0 && (a->staged[vl] + o->pairs->mtu <= STAGING ||
			    o->mutation == MUT_STAGING_ENDLESS)) {
		uint32_t i = l->items[0] / 2;
		bool source = l->items[0] % 2;
		struct packet *p;

		l->n--;
		memmove(l->items, l->items + 1, l->n * sizeof(*l->items));
		o->queue_pairs[i].in_line[source] = false;
		if (!has_packet(o, i, source) || is_held(o, i, source))
			continue;
		p = source ? request_take(o, i) : answer_take(o, i);
		line_join(o, i, source);
		if (o->mutation == MUT_LINE_NOT_IN_TURN &&
		    o->queue_pairs[i].in_line[source])
			line_first(l);
		if (p->payload < LEAST_STAGED)
			p->payload = LEAST_STAGED;
		a->staged[vl] += p->payload;
		p->staged_on = (uint8_t)vl;
		packet_give(o, node, p, when);
	}
}

/* What is given now enters the sender's queue at `when`. */
static void adapter_send(struct oracle *o, uint32_t node, hd_time when)
{
	for (unsigned vl = 0; vl < ALL_VLS; vl++)
		line_send(o, node, vl, when);
}

/* ---- requester (Q4) ---- */

static void messages_post(struct oracle *o, uint32_t i)
{
	struct queue_pair *q = &o->queue_pairs[i];

	while (q->posted < q->made &&
	       q->posted - q->done <
		       MESSAGES + (o->mutation == MUT_ONE_MESSAGE_MORE))
		q->posted++;
	line_join(o, i, true);
}

/* The timer runs while an answer is due (Q4). */
static void timer_restart(struct oracle *o, uint32_t i)
{
	struct queue_pair *q = &o->queue_pairs[i];

	if (o->mutation == MUT_TIMER_NOT_RESTARTED && q->timer != NEVER &&
	    q->asked > q->acked)
		return;
	q->timer = NEVER;
	if (q->asked > q->acked)
		timer_start(o, i);
}

static void go_back(struct oracle *o, uint32_t i)
{
	struct queue_pair *q = &o->queue_pairs[i];

	if (q->retries_left == 0) {
		q->broken = true;
		q->timer = NEVER;
		return;
	}
	q->retries_left--;
	o->stats->retries++;
	q->next = q->acked;
	q->asked = q->acked;
	if (o->mutation == MUT_ASKS_COUNTED_ANEW)
		q->since_asked = 0;
	q->timer = NEVER; /* until one of those that are repeated asks */
	if (o->mutation == MUT_TIMER_RUNS_ON_BACK)
		timer_start(o, i);
	line_join(o, i, true);
}

static uint32_t retries_of(const struct oracle *o)
{
	return RETRIES + (o->mutation == MUT_ONE_RETRY_MORE);
}

/* Everything before `psn` is acknowledged. */
static void acknowledge(struct oracle *o, uint32_t i, uint64_t psn)
{
	struct queue_pair *q = &o->queue_pairs[i];

	if (psn <= q->acked)
		return;
	q->acked = psn;
	if (q->next < psn)
		q->next = psn;
	q->retries_left = retries_of(o);
	timer_restart(o, i);
	q->done = q->acked / packets_of(o, i);
	messages_post(o, i);
}

static void answer_heard(struct oracle *o, const struct packet *p)
{
	uint32_t i = p->pair;
	struct queue_pair *q = &o->queue_pairs[i];

	if (o->mutation != MUT_PACE_BY_PROGRESS || p->becn ||
	    p->psn >= q->acked)
		pace_hear(o, i, p->becn);
	if (q->broken)
		return;
	line_join(o, i, true); /* its rate may let it */
	if (p->answers == ANSWER_CNP || p->psn >= q->top || p->psn < q->acked)
		return;
	acknowledge(o, i, p->answers == ANSWER_NAK ? p->psn : p->psn + 1);
	if (p->answers == ANSWER_NAK &&
	    o->mutation != MUT_NAK_ONLY_ACKNOWLEDGES)
		go_back(o, i);
}

/* ---- responder (Q5) ---- */

static void answer_add(struct oracle *o, uint32_t i, enum pair_answer kind,
		       uint64_t psn)
{
	struct queue_pair *q = &o->queue_pairs[i];
	struct answer *last =
		q->n_answers > 0 ? &q->answers[q->n_answers - 1] : NULL;

	if (last && kind == ANSWER_ACK && last->kind == ANSWER_ACK) {
		o->stats->merged += last->psn != psn;
		if (o->mutation != MUT_ACK_KEEPS_NUMBER)
			last->psn = psn;
		return;
	}
	q->answers = hd_grow(q->answers, &q->answers_cap, q->n_answers + 1,
			     sizeof(*q->answers));
	q->answers[q->n_answers++] = (struct answer){ kind, psn };
	line_join(o, i, false);
}

static void rc_receive(struct oracle *o, const struct packet *p)
{
	uint32_t i = p->pair;
	struct queue_pair *q = &o->queue_pairs[i];

	q->becn_due |= p->marked && (p->psn == q->expected ||
				     o->mutation != MUT_BECN_OF_TAKEN_ONLY);
	if (p->marked && o->mutation == MUT_CNP_FOR_RC)
		answer_add(o, i, ANSWER_CNP, 0);
	if (p->psn > q->expected) {
		if (!q->nak_sent || o->mutation == MUT_NAK_FOR_EACH)
			answer_add(o, i, ANSWER_NAK, q->expected);
		q->nak_sent = true;
		return;
	}
	if (p->psn == q->expected) {
		q->expected++;
		q->nak_sent = false;
	} else if (o->mutation == MUT_DUPLICATES_UNANSWERED) {
		return;
	}
	if (p->asks || (o->mutation == MUT_DUPLICATES_ALL_ANSWERED &&
			p->psn + 1 < q->expected))
		answer_add(o, i, ANSWER_ACK, q->expected - 1);
}

static void request_receive(struct oracle *o, const struct packet *p)
{
	if (is_rc(o, p->pair))
		rc_receive(o, p);
	else if (p->marked)
		answer_add(o, p->pair, ANSWER_CNP, 0);
}

/* ---- called by others ---- */

void pair_delivered(struct oracle *o, uint32_t port, const struct packet *p)
{
	uint32_t node = o->setup->ports[port].node;
	bool source = p->kind != SIM_DATA; /* an answer is for the source */

	if (node != node_of_end(o, p->pair, source) &&
	    o->mutation != MUT_WRONG_HOST_TAKES)
		return;
	if (source)
		answer_heard(o, p);
	else
		request_receive(o, p);
	adapter_send(o, node_of_end(o, p->pair, source), o->now);
}

void pair_post(struct oracle *o, uint32_t i)
{
	o->queue_pairs[i].made++;
	messages_post(o, i);
	adapter_send(o, drawn(o, i)->from, o->now);
}

static void unstage(struct oracle *o, const struct packet *p)
{
	o->adapters[p->as.source].staged[p->staged_on] -= p->payload;
}

/* UC and UD: a message is done when its last packet has left. */
static void leave_at(struct oracle *o, const struct packet *p, hd_time when)
{
	struct queue_pair *q = &o->queue_pairs[p->pair];

	if (p->kind != SIM_DATA || is_rc(o, p->pair) ||
	    !is_last(o, p->pair, p->psn))
		return;
	q->leaves = hd_grow(q->leaves, &q->leaves_cap, q->n_leaves + 1,
			    sizeof(*q->leaves));
	q->leaves[q->n_leaves++] = when;
}

static void pace_leave(struct oracle *o, const struct packet *p)
{
	struct pace *pace = pace_of(o, p->pair);

	pace->waiting--;
	pace->granted = true;
	if (o->mutation != MUT_PACE_FROM_TAKING)
		pace->last = o->now;
}

void pair_granted(struct oracle *o, uint32_t port, const struct packet *p)
{
	hd_time d = duration_on(o, port, p->as.bytes);

	unstage(o, p);
	leave_at(o, p, o->now + d);
	if (p->kind == SIM_DATA) {
		pace_leave(o, p);
		line_join(o, p->pair, true);
	}
	/* Grants of this instant are made. */
	adapter_send(o, p->as.source, o->now + 1);
}

void pair_lost_unsent(struct oracle *o, const struct packet *p)
{
	o->dropped = hd_grow(o->dropped, &o->dropped_cap, o->n_dropped + 1,
			     sizeof(const struct packet *));
	o->dropped[o->n_dropped++] = p;
	o->stats->dropped++;
}

/* Q2: seen 1 ps later. */
static void drops_come(struct oracle *o)
{
	size_t kept = 0;

	for (size_t i = 0; i < o->n_dropped; i++) {
		const struct packet *p = o->dropped[i];

		if (p->as.time == o->now) {
			o->dropped[kept++] = p;
			continue;
		}
		unstage(o, p);
		leave_at(o, p, o->now);
		if (p->kind == SIM_DATA &&
		    o->mutation != MUT_PACE_WAITS_FOR_DROPPED)
			pace_leave(o, p);
	}
	o->n_dropped = kept;
}

/* ---- timers (phase 2) ---- */

static void leaves_come(struct oracle *o, uint32_t i)
{
	struct queue_pair *q = &o->queue_pairs[i];

	while (q->n_leaves > 0 && q->leaves[0] <= o->now) {
		q->n_leaves--;
		memmove(q->leaves, q->leaves + 1,
			q->n_leaves * sizeof(*q->leaves));
		q->done++;
	}
	messages_post(o, i);
	adapter_send(o, drawn(o, i)->from, o->now);
}

static void pace_timer(struct oracle *o, struct pace *p)
{
	if (!o->pairs->algorithm || p->state.due > o->now)
		return;
	o->stats->rate_timers++;
	cc_on_timer(o->pairs->algorithm, &o->pairs->config, &p->state, o->now);
}

void pairs_listen(struct oracle *o)
{
	if (!o->pairs)
		return;
	drops_come(o);
	for (uint32_t n = 0; n < o->setup->n_nodes; n++)
		for (unsigned sl = 0; o->pairs->per_sl && sl < N_SLS; sl++)
			pace_timer(o, &o->adapters[n].paces[sl]);
	for (uint32_t i = 0; i < o->pairs->n; i++) {
		pace_timer(o, &o->queue_pairs[i].pace);
		if (o->queue_pairs[i].timer <= o->now) {
			o->stats->ack_timers++;
			go_back(o, i);
		}
		line_join(o, i, true);
	}
	for (uint32_t n = 0; n < o->setup->n_nodes; n++)
		adapter_send(o, n, o->now);
	for (uint32_t i = 0; i < o->pairs->n; i++)
		leaves_come(o, i);
}

hd_time pairs_next_due(const struct oracle *o)
{
	hd_time next = o->n_dropped > 0 ? o->now + 1 : NEVER;

	for (size_t i = 0; i < o->n_coming; i++)
		if (o->coming[i]->as.time < next)
			next = o->coming[i]->as.time;
	for (uint32_t i = 0; o->pairs && i < o->pairs->n; i++) {
		/* Another's grant has set it free. */
		if (has_request(o, i) && !o->queue_pairs[i].in_line[1] &&
		    !is_held(o, i, true))
			return o->now + 1;
		const struct queue_pair *q = &o->queue_pairs[i];
		hd_time times[4] = { q->timer, pace_of(o, i)->state.due,
				     pace_from(o, i),
				     q->n_leaves > 0 ? q->leaves[0] : NEVER };

		for (int k = 0; k < 4; k++)
			if (times[k] > o->now && times[k] < next)
				next = times[k];
	}
	return next;
}

static void pace_init(const struct oracle *o, struct pace *p)
{
	p->state.due = NEVER;
	if (o->pairs->algorithm)
		cc_init(o->pairs->algorithm, &o->pairs->config, &p->state);
}

void queue_pairs_init(struct oracle *o)
{
	if (!o->pairs)
		return;
	o->queue_pairs =
		hd_alloc(o->pairs->n + (size_t)1, sizeof(*o->queue_pairs));
	o->adapters = hd_alloc(o->setup->n_nodes, sizeof(*o->adapters));
	for (uint32_t i = 0; i < o->pairs->n; i++) {
		o->queue_pairs[i].timer = NEVER;
		o->queue_pairs[i].retries_left = retries_of(o);
		pace_init(o, &o->queue_pairs[i].pace);
	}
	for (uint32_t n = 0; n < o->setup->n_nodes; n++)
		for (unsigned sl = 0; sl < N_SLS; sl++)
			pace_init(o, &o->adapters[n].paces[sl]);
}

void queue_pairs_fini(struct oracle *o)
{
	for (uint32_t i = 0; o->pairs && i < o->pairs->n; i++) {
		free(o->queue_pairs[i].answers);
		free(o->queue_pairs[i].leaves);
	}
	for (uint32_t n = 0; o->pairs && n < o->setup->n_nodes; n++)
		for (unsigned vl = 0; vl < ALL_VLS; vl++)
			free(o->adapters[n].lines[vl].items);
	free(o->queue_pairs);
	free(o->adapters);
	free(o->coming);
	free(o->dropped);
}

uint32_t pair_of_flow(const struct oracle *o, uint32_t flow)
{
	for (uint32_t i = 0; o->pairs && i < o->pairs->n; i++)
		if (drawn(o, i)->flow == flow)
			return i;
	return SIM_NONE;
}
