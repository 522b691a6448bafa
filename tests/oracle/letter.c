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
static bool goes_by_pair(const struct oracle *o, const struct letter *m)
{
	return drawn(o, m->job)->rc && !m->mlid;
}

static uint32_t payload_of(const struct oracle *o, const struct letter *m)
{
	return m->kind == LETTER_GIVES ? o->jobs->payload : o->jobs->mtu;
}

/* Packets, or SENDs. */
static uint64_t packets_of(const struct oracle *o, const struct letter *m)
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

static lid_t address_of(const struct oracle *o, const struct letter *m)
{
	const struct sim_setup *s = o->setup;

	return m->mlid ? m->mlid : s->subnet->lid_of_port[s->ports[port_of_end(o, m->to)].origin];
}

static uint32_t headers_of(const struct oracle *o, const struct letter *m)
{
	return OVERHEAD + (m->mlid && o->mutation != MUT_SPREAD_WITHOUT_GRH ? GRH : 0);
}

static void packet_give(struct oracle *o, struct job_line *l, struct letter *m)
{
	uint32_t mtu = payload_of(o, m);
	uint64_t rest = m->size - m->given * mtu;
	bool gives = m->kind == LETTER_GIVES;
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
		.letter = m,
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
	memmove(l->letters, l->letters + 1, l->n * sizeof(struct letter *));
}

/* J14: the first of the line, which is then no longer in it. */
static void letter_give(struct oracle *o, struct job_line *l, struct letter *m)
{
	struct work *w = o->work;
	const struct oracle_job *j = drawn(o, m->job);
	uint32_t n_ranks = j->n_ranks, to = m->target, from = m->line;

	l->any = true;
	l->entered = o->now;
	line_pop(l);
	if (m->kind == LETTER_ASKS)
		to += n_ranks;
	if (m->kind == LETTER_CLEARS || m->kind == LETTER_ANSWERS)
		to = m->source;
	o->stats->sends++;
	if (m->from != m->to) {
		pair_send_letter(o, from, to, m);
		return;
	}
	pair_hand_over(o, from, to, m);
	/* At one port: at once, but one thing after the other. */
	telling_begins(o);
	w->handed = hd_grow(w->handed, &w->handed_cap, w->n_handed + 1, sizeof(struct letter *));
	w->handed[w->n_handed++] = m;
	telling_ends(o);
}

void telling_begins(struct oracle *o)
{
	o->work->tellings++;
}

void telling_ends(struct oracle *o)
{
	struct work *w = o->work;

	if (--w->tellings > 0)
		return;
	while (w->n_handed > 0) {
		struct letter *m = w->handed[0];

		w->n_handed--;
		memmove(w->handed, w->handed + 1, w->n_handed * sizeof(struct letter *));
		m->delivered = m->n_packets - 1;
		job_send_came(o, m);
	}
}

static void line_give(struct oracle *o, uint32_t job, struct job_line *l)
{
	struct letter *m;

	if (l->holds || l->n == 0)
		return;
	m = l->letters[0];
	if (goes_by_pair(o, m) && line_free_from(o, job, l) <= o->now) {
		letter_give(o, l, m);
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
static bool goes_first(const struct oracle *o, const struct letter *m)
{
	return (o->mutation == MUT_BODY_FIRST && m->kind == LETTER_BODY) ||
	       (o->mutation == MUT_CLEARS_FIRST && m->kind == LETTER_CLEARS);
}

static struct letter *letter_new(struct oracle *o, const struct letter *model, uint32_t line)
{
	struct work *w = o->work;
	struct letter *made = hd_alloc(1, sizeof(*made));

	*made = *model;
	made->n_packets = packets_of(o, made);
	made->line = line;
	w->letters =
		hd_grow(w->letters, &w->letters_cap, w->n_letters + 1, sizeof(struct letter *));
	w->letters[w->n_letters++] = made;
	return made;
}

/* J8: of a multicast each receiver has its own, to be matched alone. */
static void parts_make(struct oracle *o, struct letter *m)
{
	const struct oracle_job *j = drawn(o, m->job);
	const struct oracle_step *s = &j->steps[o->work->jobs[m->job].ranks[m->source].step];

	o->stats->spreads++;
	m->parts = hd_alloc(j->n_ranks, sizeof(struct letter *));
	for (uint32_t i = 0; i < j->n_ranks; i++) {
		struct letter part = *m;

		if (i == m->source || group_of_rank(j, s, i) != group_of_rank(j, s, m->source))
			continue;
		part.kind = LETTER_SPREAD;
		part.parts = NULL;
		part.target = i;
		part.to = j->nodes[i];
		m->parts[m->n_parts++] = letter_new(o, &part, m->line);
	}
}

static void letter_post(struct oracle *o, struct letter model, uint32_t line)
{
	struct job_line *l = &o->work->jobs[model.job].lines[line];
	struct letter *made = letter_new(o, &model, line);

	if (made->kind == LETTER_SPREADS)
		parts_make(o, made);
	l->letters = hd_grow(l->letters, &l->cap, l->n + 1, sizeof(struct letter *));
	l->letters[l->n++] = made;
	o->stats->letters++;
	line_give(o, model.job, l); /* at once, if nothing is before it */
	if (!goes_first(o, made) || l->n < 3)
		return;
	/* Behind the one that is under way. */
	memmove(l->letters + 2, l->letters + 1, (l->n - 2) * sizeof(struct letter *));
	l->letters[1] = made;
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
	struct letter *m = p->letter;
	struct job_line *l = &o->work->jobs[m->job].lines[m->line];

	l->leaves = o->now + duration_on(o, port, p->as.bytes);
	if (o->mutation == MUT_LEFT_AT_GRANT)
		l->leaves = o->now + 1;
}

/* The rest of the message goes nowhere either: it has left at once. */
void job_lost_unsent(struct oracle *o, const struct packet *p)
{
	struct letter *m = p->letter;

	m->given = m->n_packets;
	o->work->jobs[m->job].lines[m->line].leaves = o->now;
	o->stats->dropped++;
}

/* The op of a send whose last byte has left is done; a request's is not. */
static void letter_left(struct oracle *o, const struct letter *m)
{
	enum letter_kind last =
		o->mutation == MUT_DONE_WHEN_ANNOUNCED ? LETTER_ANNOUNCES : LETTER_BODY;

	if (m->kind == LETTER_PLAIN || m->kind == LETTER_SPREADS || m->kind == last)
		op_done(o, m->job, m->source, m->op);
}

void line_leaves(struct oracle *o, uint32_t job, uint32_t line)
{
	struct job_line *l = &o->work->jobs[job].lines[line];
	struct letter *m;

	if (!l->holds || l->leaves > o->now)
		return;
	m = l->letters[0];
	l->holds = false;
	l->leaves = NEVER;
	if (m->given < m->n_packets)
		return;
	line_pop(l);
	letter_left(o, m);
}

/* ---- posting ---- */

/* The line of a server; or, told wrong, that of a rank at its port. */
static uint32_t server_line(const struct oracle *o, const struct letter *m)
{
	const struct oracle_job *j = drawn(o, m->job);
	uint32_t server = m->target;

	for (uint32_t i = 0; o->mutation == MUT_SERVER_HAS_NO_LINE && i < j->n_ranks; i++)
		if (j->nodes[i] == j->servers[server])
			return i;
	return j->n_ranks + server;
}

/* S2: how many this rank has given along that tree. */
static uint32_t transactions_before(const struct oracle *o, const struct letter *m)
{
	uint64_t n = 0;

	for (size_t i = 0; i < o->work->n_letters && o->mutation != MUT_TRANSACTIONS_FROM_0; i++) {
		const struct letter *other = o->work->letters[i];

		if (other->kind == LETTER_GIVES && other->job == m->job &&
		    other->source == m->source && other->mlid == m->mlid)
			n += other->n_packets;
	}
	return (uint32_t)n;
}

void letters_post(struct oracle *o, uint32_t job, uint32_t rank, uint32_t op)
{
	const struct oracle_job *j = drawn(o, job);
	const struct oracle_op *is = &o->work->jobs[job].ranks[rank].does->ops[op];
	bool gives = is->kind == ORACLE_GIVE;
	bool asks = is->kind != ORACLE_SEND && !gives;
	bool announces =
		!asks && !is->mlid &&
		(is->size > j->eager || (o->mutation == MUT_EAGER_BELOW && is->size == j->eager));
	struct letter m = {
		.kind = asks        ? LETTER_ASKS
			: gives     ? LETTER_GIVES
			: is->mlid  ? LETTER_SPREADS
			: announces ? LETTER_ANNOUNCES
				    : LETTER_PLAIN,
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
	letter_post(o, m, rank);
}

/* J6: what was announced is matched, so the target lets it come. */
static void clear(struct oracle *o, const struct letter *m)
{
	struct letter answer = *m;

	o->stats->cleared++;
	answer.kind = LETTER_CLEARS;
	answer.from = m->to;
	answer.to = m->from;
	answer.size = 0;
	answer.given = answer.delivered = answer.acknowledged = 0;
	letter_post(o, answer, m->target);
}

static void body_post(struct oracle *o, const struct letter *cleared)
{
	struct letter m = *cleared;

	m.kind = LETTER_BODY;
	m.from = cleared->to;
	m.to = cleared->from;
	m.size = m.means;
	m.given = m.delivered = m.acknowledged = 0;
	letter_post(o, m, m.source);
}

static void request_answer(struct oracle *o, const struct letter *request)
{
	struct letter m = *request;

	m.kind = LETTER_ANSWERS;
	m.from = request->to;
	m.to = request->from;
	m.size = request->reads ? request->means : 0;
	m.given = m.delivered = m.acknowledged = 0;
	letter_post(o, m, server_line(o, &m));
}

/* ---- matching (J4) ---- */

static bool fits(const struct oracle *o, const struct letter *m, const struct oracle_op *r)
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

static bool is_whole(const struct letter *m)
{
	return m->delivered == m->n_packets;
}

static void match(struct oracle *o, struct letter *m, uint32_t receive)
{
	m->matched = true;
	m->receive = receive;
	if (m->kind == LETTER_ANNOUNCES)
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
static void announce(struct oracle *o, struct letter *m)
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
	r->waiting =
		hd_grow(r->waiting, &r->waiting_cap, r->n_waiting + 1, sizeof(struct letter *));
	r->waiting[r->n_waiting++] = m;
}

void letters_receive(struct oracle *o, uint32_t job, uint32_t rank, uint32_t op)
{
	struct rank *r = &o->work->jobs[job].ranks[rank];

	for (size_t k = 0; k < r->n_waiting; k++) {
		size_t i = o->mutation == MUT_LAST_MESSAGE_FIRST ? r->n_waiting - 1 - k : k;
		struct letter *m = r->waiting[i];

		if (!fits(o, m, &r->does->ops[op]))
			continue;
		removed(r->waiting, &r->n_waiting, i, sizeof(struct letter *));
		match(o, m, op);
		return;
	}
	r->receives =
		hd_grow(r->receives, &r->receives_cap, r->n_receives + 1, sizeof(*r->receives));
	r->receives[r->n_receives++] = op;
}

/* ---- deliveries ---- */

static void message_delivered(struct oracle *o, struct letter *m)
{
	if (o->mutation == MUT_ANNOUNCED_WHEN_WHOLE && !is_whole(m))
		return;
	if (!m->announced)
		announce(o, m);
	else if (m->matched && is_whole(m))
		rank_arrived(o, m->job, m->target, m->receive, m->size);
}

static void letter_delivered(struct oracle *o, struct letter *m)
{
	switch (m->kind) {
	case LETTER_PLAIN:
	case LETTER_SPREAD:
	case LETTER_ANNOUNCES:
		message_delivered(o, m);
		rank_told(o, m->job, m->target);
		break;
	case LETTER_CLEARS:
		body_post(o, m);
		break;
	case LETTER_BODY:
		if (is_whole(m)) {
			rank_arrived(o, m->job, m->target, m->receive, m->size);
			rank_told(o, m->job, m->target);
		}
		break;
	case LETTER_ASKS:
		if (o->mutation == MUT_ANSWERED_AT_ONCE ? m->delivered == 1 : is_whole(m))
			request_answer(o, m);
		break;
	case LETTER_ANSWERS:
		if (is_whole(m)) {
			op_done(o, m->job, m->source, m->op);
			rank_told(o, m->job, m->source);
		}
		break;
	case LETTER_SPREADS: /* only its parts come */
	case LETTER_GIVES:   /* only results do */
		break;
	}
}

/* The part of a multicast that is for a node, or NULL. */
static struct letter *part_for(const struct letter *m, uint32_t node)
{
	for (uint32_t i = 0; i < m->n_parts; i++)
		if (m->parts[i]->to == node)
			return m->parts[i];
	return NULL;
}

void job_send_came(struct oracle *o, struct letter *m)
{
	m->delivered++;
	letter_delivered(o, m);
}

void job_send_done(struct oracle *o, struct letter *m)
{
	bool is_rank = m->line < drawn(o, m->job)->n_ranks;

	if (++m->acknowledged < m->n_packets)
		return;
	telling_begins(o);
	if (is_rank)
		cpus_end(o, m->job, m->line);
	letter_left(o, m);
	if (is_rank)
		rank_told(o, m->job, m->line);
	telling_ends(o);
}

void job_delivered(struct oracle *o, uint32_t port, const struct packet *p)
{
	struct letter *m = p->letter;

	if (m->kind == LETTER_SPREADS)
		m = part_for(m, o->setup->ports[port].node);
	if (!m)
		return;
	if (o->setup->ports[port].node != m->to && o->mutation != MUT_ANY_HOST_TAKES)
		return;
	m->delivered++;
	letter_delivered(o, m);
}
