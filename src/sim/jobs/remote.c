/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Jobs computed by several processes. A message is known to the process of its source and to
 * those of its destinations, which have a copy under the same id, so that the cookie of a packet
 * means the same in all processes. A process that is done with a copy notifies the source, as
 * does the domain that loses a packet.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/jobs/jobs_internal.h"

enum {
	REMOTE_MESSAGE,  /* a message for this process */
	REMOTE_RELEASED, /* a destination has returned the message */
	REMOTE_ARRIVED,  /* the message has arrived before its receive */
	REMOTE_LOST,     /* a packet of the message is lost */
};

void job_domains_init_remote(struct placed_job *p, const struct sim_cut *how)
{
	for (uint32_t i = 0; i < p->job.n_ranks; i++)
		p->shares[how->part_of_node[p->actors[i].node]].has_ranks = true;
	for (uint32_t i = 0; i < how->n; i++) {
		struct job_domain *s = &p->shares[i];

		s->is_elsewhere = !part_is_here(how, i);
		if (!s->is_elsewhere && how->last - how->first < how->n)
			s->outgoing = hd_alloc(how->n, sizeof(*s->outgoing));
	}
}

void job_domain_fini_remote(struct job_domain *s)
{
	for (uint32_t i = 0; s->outgoing && i < s->of->n_shares; i++)
		remote_messages_fini(&s->outgoing[i]);
	free(s->outgoing);
	free(s->seen);
}

/* ---- writing ------------------------------------------------------------- */

static void tell(struct job_domain *s, uint32_t part, uint8_t what, uint32_t id)
{
	if (s->outgoing && s->of->shares[part].is_elsewhere)
		remote_messages_add(&s->outgoing[part], what, id, 0);
}

void message_announce(struct job_domain *s, uint32_t id)
{
	const struct placed_job *p = s->of;
	const struct job_message *m = message_at(p, id);

	if (!s->outgoing || m->kind == MSG_REDUCE)
		return; /* destinations receive only its result */
	if (!m->dlid) {
		tell(s, job_domain_of(p, m->target), REMOTE_MESSAGE, id);
		return;
	}
	for (uint32_t i = 0; i < p->n_shares; i++) {
		if (p->shares[i].has_ranks)
			tell(s, i, REMOTE_MESSAGE, id);
	}
}

bool message_is_elsewhere(const struct placed_job *p, uint32_t id)
{
	return p->shares[message_part(p, id)].is_elsewhere;
}

void message_return(struct job_domain *s, uint32_t id)
{
	struct job_message *m = message_at(s->of, id);

	if (!m->dlid)
		m->target = RANK_GROUP_NONE; /* a stray packet must not match it */
	tell(s, message_part(s->of, id), REMOTE_RELEASED, id);
}

void message_tell_arrived(struct job_domain *s, uint32_t id)
{
	tell(s, message_part(s->of, id), REMOTE_ARRIVED, id);
}

void message_tell_lost(struct job_domain *s, uint32_t id)
{
	for (uint32_t i = 0; i < s->of->n_shares; i++)
		tell(s, i, REMOTE_LOST, id);
}

/* ---- message encoding --------------------------------------------------- */

static const struct pack_member message_members[] = {
	PACK(job_message, posted),
	PACK(job_message, size),
	PACK_CRITICAL_PATH(job_message, path),
	PACK(job_message, source),
	PACK(job_message, target),
	PACK(job_message, tag),
	PACK(job_message, ref),
	PACK(job_message, n_packets),
	PACK(job_message, kind),
	PACK(job_message, dlid),
	PACK(job_message, here.receive),
	PACK(job_message, number),
};

static bool ref_is_sound(const struct placed_job *p, const struct job_message *m)
{
	if (m->kind != MSG_ANSWER)
		return true;
	if (p->job.graph)
		return m->ref < p->graph.n_ops;
	return m->target < p->job.n_ranks &&
	       m->ref < step_sequences(&p->steps[p->ranks[m->target].step]);
}

static bool receive_is_sound(const struct placed_job *p, const struct job_message *m)
{
	uint32_t receive = m->here.receive;

	if (m->kind != MSG_DATA || receive == RANK_GROUP_NONE)
		return true;
	return m->target < p->job.n_ranks && receive < p->ranks[m->target].n_receives &&
	       p->ranks[m->target].receives[receive].is_used;
}

/* Whether the message can have this domain as a destination. */
static bool message_is_sound(const struct job_domain *s, const struct job_message *m, uint32_t from)
{
	const struct placed_job *p = s->of;

	if (m->kind > MSG_ANSWER || m->n_packets == 0 || m->source >= p->n_actors ||
	    job_domain_of(p, m->source) != from || !chain_cause_is_valid(p, &m->path.last))
		return false;
	if (!m->dlid && (m->target >= p->n_actors || job_domain_of(p, m->target) != s->number))
		return false;
	return receive_is_sound(p, m) && ref_is_sound(p, m);
}

/* Receives a message for this share. */
static void pack_message(struct job_domain *s, struct pack *k, uint32_t id, uint32_t from)
{
	struct job_message read = { 0 }, *m = &read;

	if (!k->reads)
		m = message_at(s->of, id);
	PACK_STRUCT(k, message_members, m);
	if (!k->reads || !pack_check(k, message_is_sound(s, m, from)))
		return;
	m = message_mirror(s->of, id);
	/* Several domains of this process may have received the message. */
	if (read.dlid && m->landings && m->posted == read.posted && m->source == read.source)
		return;
	free(m->landings);
	*m = read;
	if (m->dlid)
		message_receives_make(s->of, m);
}

struct job_message_reader {
	struct placed_job *of;
	uint32_t from, to;
};

/* Applies a notification about a message of this share. */
static void read_note(struct job_domain *s, const struct remote_message *x)
{
	struct job_message *m = message_at(s->of, x->id);

	if (x->what == REMOTE_ARRIVED) {
		m->here.arrived = m->n_packets;
		return;
	}
	m->here.is_over = !m->dlid;
	message_release(s, x->id);
}

static void pack_outgoing(void *context, struct pack *k, const struct remote_message *x)
{
	const struct job_message_reader *r = context;
	struct placed_job *p = r->of;
	bool comes = x->what == REMOTE_MESSAGE;

	if (k->reads && !pack_check(k, x->what <= REMOTE_LOST && x->id != RANK_GROUP_NONE))
		return;
	if (comes) {
		pack_message(&p->shares[r->to], k, x->id, r->from);
		return;
	}
	if (!k->reads)
		return;
	bool ours = message_is_ours(p, x->id) && message_part(p, x->id) == r->to;

	/* A domain that loses a packet does not know the owner of its message. */
	if (x->what == REMOTE_LOST && ours)
		message_at(p, x->id)->lost++;
	else if (x->what != REMOTE_LOST && pack_check(k, ours))
		read_note(&p->shares[r->to], x);
}

void job_mail(void *context, struct pack *k, uint32_t from, uint32_t to)
{
	struct placed_job *p = ((struct job_domain *)context)->of;
	struct job_message_reader r = { p, from, to };

	remote_messages_pack(k->reads ? NULL : &p->shares[from].outgoing[to], k, pack_outgoing, &r);
}

/* ---- results collected by the first process ------------------------------- */

static const struct pack_member rank_group_members[] = {
	PACK(rank_group, n_done),
	PACK(rank_group, last),
	PACK(rank_group, last_rank),
	PACK_CRITICAL_PATH(rank_group, last_path),
};

static const struct pack_member rank_members[] = {
	PACK(rank, began),     PACK(rank, ended), PACK(rank, busy),
	PACK(rank, iteration), PACK(rank, step),
};

static const struct pack_member misfit_members[] = {
	PACK(oversized_message, at),      PACK(oversized_message, rank),
	PACK(oversized_message, source),  PACK(oversized_message, op.size),
	PACK(oversized_message, op.peer), PACK(oversized_message, op.tag),
	PACK(oversized_message, op.line), PACK(oversized_message, size),
};

static const struct pack_member receive_members[] = {
	PACK(receive, op.size), PACK(receive, op.peer),    PACK(receive, op.tag),
	PACK(receive, op.line), PACK(receive, is_matched), PACK(receive, is_used),
};

static const struct pack_member share_members[] = {
	PACK(job_domain, n_messages),
	PACK(job_domain, bytes),
};

static const struct pack_member fate_members[] = {
	PACK(job_message, sent),
	PACK(job_message, lost),
	PACK(job_message, here.arrived),
	PACK(job_message, copies),
};

/* stuck.c uses these fields as indices. */
static bool op_is_sound(const struct placed_job *p, const struct op *op)
{
	return p->job.graph || op->tag >> 8 < p->job.n_steps;
}

static void pack_rank_group(struct pack *k, const struct placed_job *p, struct rank_group *t)
{
	PACK_STRUCT(k, rank_group_members, t);
	pack_check(k, chain_cause_is_valid(p, &t->last_path.last));
	pack_check(k, t->n_done <= p->job.n_ranks &&
			      (t->last_rank < p->job.n_ranks || t->last_rank == RANK_GROUP_NONE));
	for (size_t i = 0; i < (size_t)p->job.repeat * p->job.n_steps; i++) {
		pack_u64(k, &t->steps[i].begin);
		pack_u64(k, &t->steps[i].end);
	}
	t->n_misfits = pack_count(k, t->n_misfits);
	if (k->reads)
		t->misfits =
			hd_grow(t->misfits, &t->misfits_cap, t->n_misfits, sizeof(*t->misfits));
	for (size_t i = 0; i < t->n_misfits; i++) {
		PACK_STRUCT(k, misfit_members, &t->misfits[i]);
		pack_check(k, t->misfits[i].rank < p->job.n_ranks &&
				      op_is_sound(p, &t->misfits[i].op));
	}
}

static void pack_receives(struct pack *k, const struct placed_job *p, struct rank *r)
{
	r->n_receives = (uint32_t)pack_count(k, r->n_receives);
	if (k->reads)
		r->receives =
			hd_grow(r->receives, &r->receives_cap, r->n_receives, sizeof(*r->receives));
	for (uint32_t i = 0; i < r->n_receives; i++) {
		PACK_STRUCT(k, receive_members, &r->receives[i]);
		pack_check(k, op_is_sound(p, &r->receives[i].op));
	}
}

static void pack_rank(struct pack *k, struct placed_job *p, uint32_t rank)
{
	PACK_STRUCT(k, rank_members, &p->ranks[rank]);
	pack_check(k, p->ranks[rank].step < p->job.n_steps);
	pack_receives(k, p, &p->ranks[rank]);
	timeline_collect(p, k, rank);
	for (uint32_t i = 0; p->begun && i < p->job.n_steps; i++) {
		if (p->begun[i])
			pack_u32(k, &p->begun[i][rank]);
	}
}

static void pack_actors(struct pack *k, struct placed_job *p, uint32_t part)
{
	for (uint32_t i = 0; i < p->n_actors && !k->refused; i++) {
		if (p->part_of_node[p->actors[i].node] != part)
			continue;
		if (i < p->job.n_ranks)
			pack_rank(k, p, i);
		chain_collect(p, k, i);
	}
}

static void pack_links(struct pack *k, struct placed_job *p, uint32_t part)
{
	const struct sim_setup *setup = &p->fabric->setup;

	for (uint32_t i = 0; i < setup->n_ports; i++) {
		if (p->part_of_node[setup->ports[i].node] == part)
			pack_u64(k, &p->link_bytes[i]);
	}
}

/* stuck.c uses these fields as indices. */
static bool place_is_sound(const struct placed_job *p, const struct job_message *m)
{
	if (!p->job.graph)
		return m->kind == MSG_REDUCE || m->tag >> 8 < p->job.n_steps;
	return m->kind == MSG_GO ? m->source < p->job.n_ranks &&
					   m->here.receive < p->ranks[m->source].n_receives
				 : m->ref < p->graph.n_ops;
}

/* The next message of a share from `id` on that has not been returned. */
static uint32_t next_of(const struct job_domain *s, uint32_t id)
{
	id = message_next(s->of, id, true);
	while (id != RANK_GROUP_NONE && message_part(s->of, id) != s->number)
		id = message_next(s->of, id + 1, true);
	return id;
}

static void pack_one_seen(struct pack *k, const struct job_domain *s, struct job_message *m)
{
	PACK_STRUCT(k, message_members, m);
	PACK_STRUCT(k, fate_members, m);
	pack_check(k, m->kind <= MSG_REDUCE && m->source < s->of->n_actors &&
			      place_is_sound(s->of, m));
}

static void write_seen(struct pack *k, const struct job_domain *s)
{
	size_t n = 0;

	for (uint32_t id = next_of(s, 0); id != RANK_GROUP_NONE; id = next_of(s, id + 1))
		n++;
	pack_count(k, n);
	for (uint32_t id = next_of(s, 0); id != RANK_GROUP_NONE; id = next_of(s, id + 1))
		pack_one_seen(k, s, message_at(s->of, id));
}

static void read_seen(struct pack *k, struct job_domain *s)
{
	s->n_seen = pack_count(k, 0);
	s->seen = hd_realloc(s->seen, s->n_seen, sizeof(*s->seen));
	for (size_t i = 0; i < s->n_seen && !k->refused; i++) {
		s->seen[i] = (struct job_message){ 0 };
		pack_one_seen(k, s, &s->seen[i]);
	}
	if (k->refused)
		s->n_seen = 0;
}

void job_collect(void *context, struct pack *k, uint32_t part)
{
	struct placed_job *p = ((struct job_domain *)context)->of;
	struct job_domain *s = &p->shares[part];

	PACK_STRUCT(k, share_members, s);
	pack_rank_group(k, p, &s->rank_group);
	pack_actors(k, p, part);
	pack_links(k, p, part);
	pairs_collect(s, k);
	if (k->reads)
		read_seen(k, s);
	else
		write_seen(k, s);
}
