/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queue pairs and the adapters that they are in: Q1 to Q4. Sequence numbers
 * are whole here: no case is long enough for 24 bits.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "pair.h"

#define STAGING      65536u /* bytes of payload per VL (Q2) */
#define LEAST_STAGED 64
#define MESSAGES     128 /* under way per queue pair (Q3) */
#define ACK_EVERY    16  /* packets (Q4) */
#define RETRIES      7
#define IMM_BYTES    4
#define DETH_BYTES   8
#define TIMER_UNIT   UINT64_C(4096000) /* ps */

static const struct oracle_pair *drawn(const struct oracle *o, uint32_t i)
{
	return &o->queue_pairs[i].is;
}

bool is_rc(const struct oracle *o, uint32_t i)
{
	return drawn(o, i)->transport == ORACLE_RC;
}

/* The SEND that a packet is of. */
const struct send *send_of(const struct oracle *o, uint32_t i, uint64_t psn)
{
	const struct queue_pair *q = &o->queue_pairs[i];
	size_t from = 0, to = q->made;

	while (to - from > 1) {
		size_t middle = from + (to - from) / 2;

		if (q->sends[middle].first <= psn)
			from = middle;
		else
			to = middle;
	}
	return &q->sends[from];
}

bool is_last(const struct oracle *o, uint32_t i, uint64_t psn)
{
	const struct send *s = send_of(o, i, psn);

	return psn + 1 == s->first + s->n;
}

/* The number of packets of the first `sends` SENDs. */
static uint64_t packets_of(const struct queue_pair *q, uint64_t sends)
{
	return sends == 0 ? 0 : q->sends[sends - 1].first + q->sends[sends - 1].n;
}

static uint32_t node_of_end(const struct oracle *o, uint32_t i, bool source)
{
	return source ? drawn(o, i)->from : drawn(o, i)->to;
}

struct adapter *adapter_of(const struct oracle *o, uint32_t i, bool source)
{
	uint32_t node = node_of_end(o, i, source);

	return &o->adapters[node + (o->queue_pairs[i].of_job ? o->setup->n_nodes : 0)];
}

/* ---- what an end has to send ---- */

bool has_request(const struct oracle *o, uint32_t i)
{
	const struct queue_pair *q = &o->queue_pairs[i];

	return !q->broken && q->next < packets_of(q, q->posted);
}

static bool has_packet(const struct oracle *o, uint32_t i, bool source)
{
	return source ? has_request(o, i) : o->queue_pairs[i].n_answers > 0;
}

static uint32_t request_bytes(const struct oracle *o, uint32_t i, uint64_t psn, uint32_t *payload)
{
	const struct oracle_pair *p = drawn(o, i);
	const struct send *s = send_of(o, i, psn);
	uint32_t mtu = o->pair_mtu, bytes = SEND_BYTES;

	*payload = mtu;
	if (is_last(o, i, psn))
		*payload = s->length - (uint32_t)(s->n - 1) * mtu;
	if (p->transport == ORACLE_UD)
		bytes += DETH_BYTES;
	if ((p->transport != ORACLE_RC ||
	     (s->message && o->mutation != MUT_SENDS_WITHOUT_IMMEDIATE)) &&
	    is_last(o, i, psn))
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
			.dlid = source ? p->dlid : s->subnet->lid_of_port[s->ports[back].origin],
			.pkey = p->pkey,
			.bytes = bytes,
			.sl = p->sl,
			.sender = adapter_of(o, i, source)->sender },
		.kind = kind,
		.is_pairs = true,
		.pair = i,
	};

	if (!source && o->mutation != MUT_PAIRS_KEEP_KEY)
		made.as.pkey |= PKEY_FULL;
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
	p->asks = is_rc(o, i) &&
		  (is_last(o, i, p->psn) ||
		   (q->since_asked >= ACK_EVERY && o->mutation != MUT_ASKS_AT_THE_END_ONLY));
	if (o->mutation == MUT_TIMER_FROM_FIRST_PACKET && is_rc(o, i) && q->timer == NEVER)
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
	pace_let_go(o, i);
	pace_of(o, i)->waiting++;
	pace_of(o, i)->d = duration_on(o, port_of_end(o, drawn(o, i)->from), bytes);
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
	struct packet *p = packet_make(o, i, false, a.kind == ANSWER_CNP ? SIM_CNP : SIM_ACK,
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

void pair_line_up(struct oracle *o, uint32_t i, bool source)
{
	struct queue_pair *q = &o->queue_pairs[i];
	struct adapter *a = adapter_of(o, i, source);
	struct line *l;
	int vl;

	if (q->in_line[source] || !has_packet(o, i, source))
		return;
	if (is_held(o, i, source)) {
		pace_hold(o, i);
		return;
	}
	vl = sl2vl_of(vl_tables_at(o, o->now),
		      o->setup->ports[port_of_end(o, node_of_end(o, i, source))].origin)
		     ->vl[drawn(o, i)->sl];
	l = &a->lines[vl];
	l->items = hd_grow(l->items, &l->cap, l->n + 1, sizeof(*l->items));
	l->items[l->n++] = 2 * i + source;
	a->standing++;
	q->in_line[source] = true;
}

static void packet_give(struct oracle *o, uint32_t node, struct packet *p, hd_time when)
{
	p->as.time = when;
	if (when == o->now) {
		end_enter(o, port_of_end(o, node), p);
		return;
	}
	o->coming = hd_grow(o->coming, &o->coming_cap, o->n_coming + 1, sizeof(struct packet *));
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

static void line_send(struct oracle *o, struct adapter *a, unsigned vl, hd_time when)
{
	struct line *l = &a->lines[vl];

	while (l->n > 0 &&
	       (a->staged[vl] + o->pair_mtu <= STAGING || o->mutation == MUT_STAGING_ENDLESS)) {
		uint32_t i = l->items[0] / 2;
		bool source = l->items[0] % 2;
		struct packet *p;

		l->n--;
		a->standing--;
		memmove(l->items, l->items + 1, l->n * sizeof(*l->items));
		o->queue_pairs[i].in_line[source] = false;
		if (!has_packet(o, i, source))
			continue;
		if (is_held(o, i, source)) {
			pace_hold(o, i);
			continue;
		}
		p = source ? request_take(o, i) : answer_take(o, i);
		pair_line_up(o, i, source);
		if (o->mutation == MUT_LINE_NOT_IN_TURN && o->queue_pairs[i].in_line[source])
			line_first(l);
		if (p->payload < LEAST_STAGED)
			p->payload = LEAST_STAGED;
		a->staged[vl] += p->payload;
		p->staged_on = (uint8_t)vl;
		packet_give(o, p->as.source, p, when);
	}
}

/* What is given now enters the sender's queue at `when`. */
void adapter_send(struct oracle *o, struct adapter *a, hd_time when)
{
	for (unsigned vl = 0; a->standing > 0 && vl < ALL_VLS; vl++)
		line_send(o, a, vl, when);
}

/* ---- requester (Q4) ---- */

void messages_post(struct oracle *o, uint32_t i)
{
	struct queue_pair *q = &o->queue_pairs[i];

	while (q->posted < q->made &&
	       q->posted - q->done < MESSAGES + (o->mutation == MUT_ONE_MESSAGE_MORE))
		q->posted++;
	pair_line_up(o, i, true);
}

/* The timer runs while an answer is due (Q4). */
static void timer_restart(struct oracle *o, uint32_t i)
{
	struct queue_pair *q = &o->queue_pairs[i];

	if (o->mutation == MUT_TIMER_NOT_RESTARTED && q->timer != NEVER && q->asked > q->acked)
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
		pace_let_go(o, i);
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
	pair_line_up(o, i, true);
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
	while (q->done < q->posted && packets_of(q, q->done + 1) <= q->acked)
		q->done++;
	if (!has_request(o, i))
		pace_let_go(o, i);
	messages_post(o, i);
}

static void answer_heard(struct oracle *o, const struct packet *p)
{
	uint32_t i = p->pair;
	struct queue_pair *q = &o->queue_pairs[i];

	if (o->mutation != MUT_PACE_BY_PROGRESS || p->becn || p->psn >= q->acked)
		pace_hear(o, i, p->becn);
	if (q->broken)
		return;
	pair_line_up(o, i, true); /* its rate may let it */
	if (p->answers == ANSWER_CNP || p->psn >= q->top || p->psn < q->acked)
		return;
	acknowledge(o, i, p->answers == ANSWER_NAK ? p->psn : p->psn + 1);
	if (p->answers == ANSWER_NAK && o->mutation != MUT_NAK_ONLY_ACKNOWLEDGES)
		go_back(o, i);
}

/* ---- called by others ---- */

void pair_delivered(struct oracle *o, uint32_t port, const struct packet *p)
{
	uint32_t node = o->setup->ports[port].node;
	struct queue_pair *q = &o->queue_pairs[p->pair];
	bool source = p->kind != SIM_DATA; /* an answer is for the source */
	uint64_t done = q->done, taken = q->expected;

	if (node != node_of_end(o, p->pair, source) && o->mutation != MUT_WRONG_HOST_TAKES)
		return;
	if (source)
		answer_heard(o, p);
	else
		request_receive(o, p);
	adapter_send(o, adapter_of(o, p->pair, source), o->now);
	for (; q->of_job && taken < q->expected; taken++)
		if (is_last(o, p->pair, taken))
			job_send_came(o, send_of(o, p->pair, taken)->message);
	for (; q->of_job && done < q->done; done++)
		job_send_done(o, q->sends[done].message);
}

void send_add(struct oracle *o, uint32_t i, uint32_t length, struct job_message *message)
{
	struct queue_pair *q = &o->queue_pairs[i];
	uint32_t mtu = o->pair_mtu;
	struct send made = { .first = packets_of(q, q->made),
			     .n = length > mtu ? (length + mtu - 1) / mtu : 1,
			     .length = length,
			     .message = message };

	q->sends = hd_grow(q->sends, &q->sends_cap, q->made + 1, sizeof(*q->sends));
	q->sends[q->made++] = made;
}

void pair_post(struct oracle *o, uint32_t i)
{
	send_add(o, i, drawn(o, i)->length, NULL);
	messages_post(o, i);
	adapter_send(o, adapter_of(o, i, true), o->now);
}

static void unstage(struct oracle *o, const struct packet *p)
{
	adapter_of(o, p->pair, p->kind == SIM_DATA)->staged[p->staged_on] -= p->payload;
}

/* UC and UD: a message is done when its last packet has left. */
static void leave_at(struct oracle *o, const struct packet *p, hd_time when)
{
	struct queue_pair *q = &o->queue_pairs[p->pair];

	if (p->kind != SIM_DATA || is_rc(o, p->pair) || !is_last(o, p->pair, p->psn))
		return;
	q->leaves = hd_grow(q->leaves, &q->leaves_cap, q->n_leaves + 1, sizeof(*q->leaves));
	q->leaves[q->n_leaves++] = when;
}

void pair_granted(struct oracle *o, uint32_t port, const struct packet *p)
{
	hd_time d = duration_on(o, port, p->as.bytes);

	unstage(o, p);
	leave_at(o, p, o->now + d);
	if (p->kind == SIM_DATA) {
		pace_leave(o, p);
		pair_line_up(o, p->pair, true);
	}
	/* Grants of this instant are made. */
	adapter_send(o, adapter_of(o, p->pair, p->kind == SIM_DATA), o->now + 1);
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
		if (p->kind == SIM_DATA && o->mutation != MUT_PACE_WAITS_FOR_DROPPED)
			pace_leave(o, p);
	}
	o->n_dropped = kept;
}

/* ---- timers (phase 2) ---- */

static void leaves_come(struct oracle *o, uint32_t i)
{
	struct queue_pair *q = &o->queue_pairs[i];

	if (q->n_leaves == 0 || q->leaves[0] > o->now)
		return;
	while (q->n_leaves > 0 && q->leaves[0] <= o->now) {
		q->n_leaves--;
		memmove(q->leaves, q->leaves + 1, q->n_leaves * sizeof(*q->leaves));
		q->done++;
	}
	messages_post(o, i);
	adapter_send(o, adapter_of(o, i, true), o->now);
}

/* Of rows, or of jobs, which have queue pairs [first, end). */
static void adapters_listen(struct oracle *o, uint32_t first, uint32_t end,
			    struct adapter *adapters)
{
	for (uint32_t i = first; i < end; i++) {
		pace_strike(o, &o->queue_pairs[i].pace);
		if (o->queue_pairs[i].timer <= o->now) {
			o->stats->ack_timers++;
			go_back(o, i);
		}
		pair_line_up(o, i, true);
	}
	/* Q7: the first of a line for a rate may have left it. */
	for (uint32_t i = first; i < end; i++)
		pair_line_up(o, i, true);
	for (uint32_t n = 0; n < o->setup->n_nodes; n++)
		adapter_send(o, &adapters[n], o->now);
	for (uint32_t i = first; i < end; i++)
		leaves_come(o, i);
}

void pairs_listen(struct oracle *o)
{
	if (!o->pairs)
		return;
	drops_come(o);
	for (uint32_t n = 0; n < 2 * o->setup->n_nodes; n++)
		for (unsigned sl = 0; o->pairs->per_sl && sl < N_SLS; sl++)
			pace_strike(o, &o->adapters[n].paces[sl]);
	adapters_listen(o, 0, o->pairs->n, o->adapters);
	adapters_listen(o, o->pairs->n, o->n_queue_pairs, o->adapters + o->setup->n_nodes);
}

hd_time pairs_next_due(const struct oracle *o)
{
	hd_time next = o->n_dropped > 0 ? o->now + 1 : NEVER;

	for (size_t i = 0; i < o->n_coming; i++)
		if (o->coming[i]->as.time < next)
			next = o->coming[i]->as.time;
	for (uint32_t i = 0; i < o->n_queue_pairs; i++) {
		/* Another's grant has set it free. */
		if (has_request(o, i) && !o->queue_pairs[i].in_line[1] && !is_held(o, i, true))
			return o->now + 1;
		const struct queue_pair *q = &o->queue_pairs[i];
		hd_time times[4] = { q->timer, pace_of(o, i)->state.due, pace_from(o, i),
				     q->n_leaves > 0 ? q->leaves[0] : NEVER };

		for (int k = 0; k < 4; k++)
			if (times[k] > o->now && times[k] < next)
				next = times[k];
	}
	return next;
}

void queue_pair_add(struct oracle *o, const struct queue_pair *model)
{
	struct queue_pair *q = &o->queue_pairs[o->n_queue_pairs++];

	*q = *model;
	q->timer = NEVER;
	q->retries_left = retries_of(o);
	pace_begin(o, &q->pace);
}

void queue_pairs_init(struct oracle *o)
{
	size_t n;

	if (!o->pairs)
		return;
	o->pair_mtu = has_job_pairs(o) ? o->jobs->mtu : o->pairs->mtu;
	n = o->pairs->n + connections_count(o);
	o->queue_pairs = hd_alloc(n + 1, sizeof(*o->queue_pairs));
	o->adapters = hd_alloc(2 * (size_t)o->setup->n_nodes, sizeof(*o->adapters));
	for (uint32_t i = 0; i < o->pairs->n; i++)
		queue_pair_add(o, &(struct queue_pair){ .is = o->pairs->list[i] });
	connections_init(o);
	for (uint32_t i = 0; i < 2 * o->setup->n_nodes; i++)
		for (unsigned sl = 0; sl < N_SLS; sl++)
			pace_begin(o, &o->adapters[i].paces[sl]);
}

void queue_pairs_fini(struct oracle *o)
{
	for (uint32_t i = 0; i < o->n_queue_pairs; i++) {
		free(o->queue_pairs[i].answers);
		free(o->queue_pairs[i].kept);
		free(o->queue_pairs[i].leaves);
		free(o->queue_pairs[i].sends);
		pace_end(&o->queue_pairs[i].pace);
	}
	for (uint32_t n = 0; o->pairs && n < 2 * o->setup->n_nodes; n++) {
		for (unsigned vl = 0; vl < ALL_VLS; vl++)
			free(o->adapters[n].lines[vl].items);
		for (unsigned sl = 0; sl < N_SLS; sl++)
			pace_end(&o->adapters[n].paces[sl]);
	}
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
