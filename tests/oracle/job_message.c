/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages of jobs: J4 to J6, J9. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "work.h"

#define OVERHEAD 26
#define GRH      40
#define PKEY     0xffff

static const struct oracle_job *drawn(const struct oracle *o, uint32_t job)
{
	return &o->jobs->list[job];
}

/* ---- lines (J5) ---- */

/* J14: those to many go as they would without queue pairs. */
static bool goes_by_pair(const struct oracle *o, const struct job_message *m)
{
	return drawn(o, m->job)->rc && !m->mlid;
}

static uint32_t payload_of(const struct oracle *o, const struct job_message *m)
{
	return m->kind == MESSAGE_GIVES ? o->jobs->payload : o->jobs->mtu;
}

/* Packets, or SENDs. */
static uint64_t packets_of(const struct oracle *o, const struct job_message *m)
{
	uint64_t mtu = goes_by_pair(o, m) ? MOST_SENT : payload_of(o, m);

	return m->size > mtu ? (m->size + mtu - 1) / mtu : 1;
}

/* From when on the first message of a line may enter. */
static hd_time line_free_from(const struct oracle *o, uint32_t job, const struct job_line *l)
{
	if (!l->any || o->mutation == MUT_NO_GAP)
		return 0;
	return l->entered + drawn(o, job)->gap;
}

static lid_t address_of(const struct oracle *o, const struct job_message *m)
{
	const struct sim_setup *s = o->setup;

	return m->mlid ? m->mlid : s->subnet->lid_of_port[s->ports[port_of_end(o, m->to)].origin];
}

static uint32_t headers_of(const struct oracle *o, const struct job_message *m)
{
	return OVERHEAD + (m->mlid && o->mutation != MUT_SPREAD_WITHOUT_GRH ? GRH : 0);
}

static void packet_give(struct oracle *o, struct job_line *l, struct job_message *m)
{
	uint32_t mtu = payload_of(o, m);
	uint64_t rest = m->size - m->given * mtu;
	bool gives = m->kind == MESSAGE_GIVES;
	struct packet made = {
		.as = { .time = o->now,
			.source = l->node,
			.dlid = address_of(o, m),
			.pkey = PKEY,
			.bytes = headers_of(o, m) + (uint32_t)(rest < mtu ? rest : mtu),
			.sl = drawn(o, m->job)->sl,
			.sender = o->work->jobs[m->job].senders[l->node],
			.number = m->first_transaction + (uint32_t)m->given },
		.kind = gives ? SIM_CONTRIBUTION : SIM_DATA,
		.message = m,
	};

	made.as.flow = oracle_pair_flow(l->node, made.as.dlid);
	made.as.sequence = made.as.bytes;
	if (m->given == 0 || o->mutation == MUT_GAP_OF_PACKETS) {
		l->any = true;
		l->entered = o->now;
	}
	m->given++;
	l->holds = true;
	l->leaves = NEVER;
	end_enter(o, port_of_end(o, l->node), packet_new(o, &made));
}

static void line_pop(struct job_line *l)
{
	l->n--;
	memmove(l->messages, l->messages + 1, l->n * sizeof(struct job_message *));
}

/* J14: the first of the line, which is then no longer in it. */
static void job_message_give(struct oracle *o, struct job_line *l, struct job_message *m)
{
	struct work *w = o->work;
	const struct oracle_job *j = drawn(o, m->job);
	uint32_t n_ranks = j->n_ranks, to = m->target, from = m->line;

	l->any = true;
	l->entered = o->now;
	line_pop(l);
	if (m->kind == MESSAGE_ASKS)
		to += n_ranks;
	if (m->kind == MESSAGE_CLEARS || m->kind == MESSAGE_ANSWERS)
		to = m->source;
	o->stats->sends++;
	if (m->from != m->to) {
		pair_send_message(o, from, to, m);
		return;
	}
	pair_hand_over(o, from, to, m);
	/* At one port: at once, but one thing after the other. */
	notify_begin(o);
	w->handed =
		hd_grow(w->handed, &w->handed_cap, w->n_handed + 1, sizeof(struct job_message *));
	w->handed[w->n_handed++] = m;
	notify_finish(o);
}

void notify_begin(struct oracle *o)
{
	o->work->notifying++;
}

void notify_finish(struct oracle *o)
{
	struct work *w = o->work;

	if (--w->notifying > 0)
		return;
	while (w->n_handed > 0) {
		struct job_message *m = w->handed[0];

		w->n_handed--;
		memmove(w->handed, w->handed + 1, w->n_handed * sizeof(struct job_message *));
		m->delivered = m->n_packets - 1;
		job_send_came(o, m);
	}
}

static void line_give(struct oracle *o, uint32_t job, struct job_line *l)
{
	struct job_message *m;

	if (l->holds || l->n == 0)
		return;
	m = l->messages[0];
	if (goes_by_pair(o, m) && line_free_from(o, job, l) <= o->now) {
		job_message_give(o, l, m);
		line_give(o, job, l);
		return;
	}
	if ((m->given == 0 || o->mutation == MUT_GAP_OF_PACKETS) &&
	    line_free_from(o, job, l) > o->now) {
		o->stats->gaps++;
		return;
	}
	packet_give(o, l, m);
}

/* Mutations only: of messages without a queue. */
static bool goes_first(const struct oracle *o, const struct job_message *m)
{
	return (o->mutation == MUT_BODY_FIRST && m->kind == MESSAGE_BODY) ||
	       (o->mutation == MUT_CLEARS_FIRST && m->kind == MESSAGE_CLEARS);
}

static struct job_message *job_message_new(struct oracle *o, const struct job_message *model,
					   uint32_t line)
{
	struct work *w = o->work;
	struct job_message *made = hd_alloc(1, sizeof(*made));

	*made = *model;
	made->n_packets = packets_of(o, made);
	made->line = line;
	w->messages = hd_grow(w->messages, &w->messages_cap, w->n_messages + 1,
			      sizeof(struct job_message *));
	w->messages[w->n_messages++] = made;
	return made;
}

/* J8: of a multicast each receiver has its own, to be matched alone. */
static void parts_make(struct oracle *o, struct job_message *m)
{
	const struct oracle_job *j = drawn(o, m->job);
	const struct oracle_step *s = &j->steps[o->work->jobs[m->job].ranks[m->source].step];

	o->stats->spreads++;
	m->parts = hd_alloc(j->n_ranks, sizeof(struct job_message *));
	for (uint32_t i = 0; i < j->n_ranks; i++) {
		struct job_message part = *m;

		if (i == m->source || group_of_rank(j, s, i) != group_of_rank(j, s, m->source))
			continue;
		part.kind = MESSAGE_SPREAD;
		part.parts = NULL;
		part.target = i;
		part.to = j->nodes[i];
		m->parts[m->n_parts++] = job_message_new(o, &part, m->line);
	}
}

static void job_message_post(struct oracle *o, struct job_message model, uint32_t line)
{
	struct job_line *l = &o->work->jobs[model.job].lines[line];
	struct job_message *made = job_message_new(o, &model, line);

	if (made->kind == MESSAGE_SPREADS)
		parts_make(o, made);
	l->messages = hd_grow(l->messages, &l->cap, l->n + 1, sizeof(struct job_message *));
	l->messages[l->n++] = made;
	o->stats->messages++;
	line_give(o, model.job, l); /* at once, if nothing is before it */
	if (!goes_first(o, made) || l->n < 3)
		return;
	/* Behind the one that is under way. */
	memmove(l->messages + 2, l->messages + 1, (l->n - 2) * sizeof(struct job_message *));
	l->messages[1] = made;
}

bool lines_give(struct oracle *o)
{
	bool left = false;

	for (uint32_t j = 0; j < o->jobs->n; j++)
		for (uint32_t i = 0; i < o->work->jobs[j].n_lines; i++) {
			struct job_line *l = &o->work->jobs[j].lines[i];

			line_give(o, j, l);
			left |= l->leaves == o->now;
		}
	return left;
}

void job_granted(struct oracle *o, uint32_t port, const struct packet *p)
{
	struct job_message *m = p->message;
	struct job_line *l = &o->work->jobs[m->job].lines[m->line];

	l->leaves = o->now + duration_on(o, port, p->as.bytes);
	if (o->mutation == MUT_LEFT_AT_GRANT)
		l->leaves = o->now + 1;
}

/* The rest of the message goes nowhere either: it has left at once. */
void job_lost_unsent(struct oracle *o, const struct packet *p)
{
	struct job_message *m = p->message;

	m->given = m->n_packets;
	o->work->jobs[m->job].lines[m->line].leaves = o->now;
	o->stats->dropped++;
}

/* The op of a send whose last byte has left is done; a request's is not. */
static void job_message_left(struct oracle *o, const struct job_message *m)
{
	enum job_message_kind last =
		o->mutation == MUT_DONE_WHEN_ANNOUNCED ? MESSAGE_ANNOUNCES : MESSAGE_BODY;

	if (m->kind == MESSAGE_PLAIN || m->kind == MESSAGE_SPREADS || m->kind == last)
		op_done(o, m->job, m->source, m->op);
}

void line_leaves(struct oracle *o, uint32_t job, uint32_t line)
{
	struct job_line *l = &o->work->jobs[job].lines[line];
	struct job_message *m;

	if (!l->holds || l->leaves > o->now)
		return;
	m = l->messages[0];
	l->holds = false;
	l->leaves = NEVER;
	if (m->given < m->n_packets)
		return;
	line_pop(l);
	job_message_left(o, m);
}

/* ---- posting ---- */

/* The line of a server; or, told wrong, that of a rank at its port. */
static uint32_t server_line(const struct oracle *o, const struct job_message *m)
{
	const struct oracle_job *j = drawn(o, m->job);
	uint32_t server = m->target;

	for (uint32_t i = 0; o->mutation == MUT_SERVER_HAS_NO_LINE && i < j->n_ranks; i++)
		if (j->nodes[i] == j->servers[server])
			return i;
	return j->n_ranks + server;
}

/* S2: how many this rank has given along that tree. */
static uint32_t transactions_before(const struct oracle *o, const struct job_message *m)
{
	uint64_t n = 0;

	for (size_t i = 0; i < o->work->n_messages && o->mutation != MUT_TRANSACTIONS_FROM_0; i++) {
		const struct job_message *other = o->work->messages[i];

		if (other->kind == MESSAGE_GIVES && other->job == m->job &&
		    other->source == m->source && other->mlid == m->mlid)
			n += other->n_packets;
	}
	return (uint32_t)n;
}

void job_messages_post(struct oracle *o, uint32_t job, uint32_t rank, uint32_t op)
{
	const struct oracle_job *j = drawn(o, job);
	const struct oracle_op *is = &o->work->jobs[job].ranks[rank].does->ops[op];
	bool gives = is->kind == ORACLE_GIVE;
	bool asks = is->kind != ORACLE_SEND && !gives;
	bool announces =
		!asks && !is->mlid &&
		(is->size > j->eager || (o->mutation == MUT_EAGER_BELOW && is->size == j->eager));
	struct job_message m = {
		.kind = asks        ? MESSAGE_ASKS
			: gives     ? MESSAGE_GIVES
			: is->mlid  ? MESSAGE_SPREADS
			: announces ? MESSAGE_ANNOUNCES
				    : MESSAGE_PLAIN,
		.job = job,
		.source = rank,
		.target = is->peer,
		.from = j->nodes[rank],
		.to = asks    ? j->servers[is->peer]
		      : gives ? j->nodes[rank]
			      : j->nodes[is->peer],
		.op = op,
		.tag = is->tag,
		.channel = is->channel,
		.size = announces || is->kind == ORACLE_READ ? 0 : is->size,
		.means = is->size,
		.reads = is->kind == ORACLE_READ,
		.mlid = is->mlid,
	};

	if (gives)
		m.first_transaction = transactions_before(o, &m);
	job_message_post(o, m, rank);
}

/* J6: what was announced is matched, so the target lets it come. */
static void clear(struct oracle *o, const struct job_message *m)
{
	struct job_message answer = *m;

	o->stats->cleared++;
	answer.kind = MESSAGE_CLEARS;
	answer.from = m->to;
	answer.to = m->from;
	answer.size = 0;
	answer.given = answer.delivered = answer.acknowledged = 0;
	job_message_post(o, answer, m->target);
}

static void body_post(struct oracle *o, const struct job_message *cleared)
{
	struct job_message m = *cleared;

	m.kind = MESSAGE_BODY;
	m.from = cleared->to;
	m.to = cleared->from;
	m.size = m.means;
	m.given = m.delivered = m.acknowledged = 0;
	job_message_post(o, m, m.source);
}

static void request_answer(struct oracle *o, const struct job_message *request)
{
	struct job_message m = *request;

	m.kind = MESSAGE_ANSWERS;
	m.from = request->to;
	m.to = request->from;
	m.size = request->reads ? request->means : 0;
	m.given = m.delivered = m.acknowledged = 0;
	job_message_post(o, m, server_line(o, &m));
}

/* ---- matching (J4) ---- */

static bool fits(const struct oracle *o, const struct job_message *m, const struct oracle_op *r)
{
	if (o->mutation == MUT_LARGER_DOES_NOT_FIT && m->means > r->size)
		return false;
	if (m->channel != r->channel && o->mutation != MUT_CHANNELS_MIX)
		return false;
	if (o->mutation == MUT_ANY_IS_NONE && (r->peer == ORACLE_ANY || r->tag == ORACLE_ANY))
		return m->source == r->peer && m->tag == r->tag;
	return (r->peer == ORACLE_ANY || r->peer == m->source) &&
	       (r->tag == ORACLE_ANY || r->tag == m->tag || o->mutation == MUT_TAGS_IGNORED);
}

static bool is_whole(const struct job_message *m)
{
	return m->delivered == m->n_packets;
}

static void match(struct oracle *o, struct job_message *m, uint32_t receive)
{
	m->matched = true;
	m->receive = receive;
	if (m->kind == MESSAGE_ANNOUNCES)
		clear(o, m);
	else if (is_whole(m))
		rank_arrived(o, m->job, m->target, receive, m->size);
}

static void *removed(void *list, size_t *n, size_t i, size_t size)
{
	(*n)--;
	memmove((char *)list + i * size, (char *)list + (i + 1) * size, (*n - i) * size);
	return list;
}

/* A message has come to its target for the first time. */
static void announce(struct oracle *o, struct job_message *m)
{
	struct rank *r = &o->work->jobs[m->job].ranks[m->target];

	m->announced = true;
	for (size_t k = 0; k < r->n_receives; k++) {
		size_t i = o->mutation == MUT_LAST_RECEIVE_FIRST ? r->n_receives - 1 - k : k;
		uint32_t op = r->receives[i];

		if (!fits(o, m, &r->does->ops[op]))
			continue;
		removed(r->receives, &r->n_receives, i, sizeof(*r->receives));
		match(o, m, op);
		return;
	}
	o->stats->unexpected++;
	r->waiting = hd_grow(r->waiting, &r->waiting_cap, r->n_waiting + 1,
			     sizeof(struct job_message *));
	r->waiting[r->n_waiting++] = m;
}

void job_messages_receive(struct oracle *o, uint32_t job, uint32_t rank, uint32_t op)
{
	struct rank *r = &o->work->jobs[job].ranks[rank];

	for (size_t k = 0; k < r->n_waiting; k++) {
		size_t i = o->mutation == MUT_LAST_MESSAGE_FIRST ? r->n_waiting - 1 - k : k;
		struct job_message *m = r->waiting[i];

		if (!fits(o, m, &r->does->ops[op]))
			continue;
		removed(r->waiting, &r->n_waiting, i, sizeof(struct job_message *));
		match(o, m, op);
		return;
	}
	r->receives =
		hd_grow(r->receives, &r->receives_cap, r->n_receives + 1, sizeof(*r->receives));
	r->receives[r->n_receives++] = op;
}

/* ---- deliveries ---- */

static void message_delivered(struct oracle *o, struct job_message *m)
{
	if (o->mutation == MUT_ANNOUNCED_WHEN_WHOLE && !is_whole(m))
		return;
	if (!m->announced)
		announce(o, m);
	else if (m->matched && is_whole(m))
		rank_arrived(o, m->job, m->target, m->receive, m->size);
}

static void job_message_delivered(struct oracle *o, struct job_message *m)
{
	switch (m->kind) {
	case MESSAGE_PLAIN:
	case MESSAGE_SPREAD:
	case MESSAGE_ANNOUNCES:
		message_delivered(o, m);
		rank_told(o, m->job, m->target);
		break;
	case MESSAGE_CLEARS:
		body_post(o, m);
		break;
	case MESSAGE_BODY:
		if (is_whole(m)) {
			rank_arrived(o, m->job, m->target, m->receive, m->size);
			rank_told(o, m->job, m->target);
		}
		break;
	case MESSAGE_ASKS:
		if (o->mutation == MUT_ANSWERED_AT_ONCE ? m->delivered == 1 : is_whole(m))
			request_answer(o, m);
		break;
	case MESSAGE_ANSWERS:
		if (is_whole(m)) {
			op_done(o, m->job, m->source, m->op);
			rank_told(o, m->job, m->source);
		}
		break;
	case MESSAGE_SPREADS: /* only its parts come */
	case MESSAGE_GIVES:   /* only results do */
		break;
	}
}

/* The part of a multicast that is for a node, or NULL. */
static struct job_message *part_for(const struct job_message *m, uint32_t node)
{
	for (uint32_t i = 0; i < m->n_parts; i++)
		if (m->parts[i]->to == node)
			return m->parts[i];
	return NULL;
}

void job_send_came(struct oracle *o, struct job_message *m)
{
	m->delivered++;
	job_message_delivered(o, m);
}

void job_send_done(struct oracle *o, struct job_message *m)
{
	bool is_rank = m->line < drawn(o, m->job)->n_ranks;

	if (++m->acknowledged < m->n_packets)
		return;
	notify_begin(o);
	if (is_rank)
		cpus_end(o, m->job, m->line);
	job_message_left(o, m);
	if (is_rank)
		rank_told(o, m->job, m->line);
	notify_finish(o);
}

void job_delivered(struct oracle *o, uint32_t port, const struct packet *p)
{
	struct job_message *m = p->message;

	if (m->kind == MESSAGE_SPREADS)
		m = part_for(m, o->setup->ports[port].node);
	if (!m)
		return;
	if (o->setup->ports[port].node != m->to && o->mutation != MUT_ANY_HOST_TAKES)
		return;
	m->delivered++;
	job_message_delivered(o, m);
}
