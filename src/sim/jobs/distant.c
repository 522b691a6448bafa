/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Jobs that several processes compute. A message is known to its source, and
 * to the process that it goes to: that one has a copy at the same place of its
 * own, so that the number in a packet says the same everywhere. Who is done
 * with a copy says so to the source, as does whoever loses a packet.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/jobs/parts.h"

enum {
	LETTER_MESSAGE,  /* comes to you */
	LETTER_RELEASED, /* the destination, or one of them, is done with it */
	LETTER_ARRIVED,  /* it is there, and nobody has asked for it yet */
	LETTER_LOST,     /* a packet of it */
};

void shares_init_distant(struct placed *p, const struct sim_cut *how)
{
	for (uint32_t i = 0; i < p->job.n_ranks; i++)
		p->shares[how->part_of_node[p->actors[i].node]].has_ranks =
			true;
	for (uint32_t i = 0; i < how->n; i++) {
		struct share *s = &p->shares[i];

		s->is_elsewhere = !part_is_here(how, i);
		if (!s->is_elsewhere && how->last - how->first < how->n)
			s->letters = hd_alloc(how->n, sizeof(*s->letters));
	}
}

void share_fini_distant(struct share *s)
{
	for (uint32_t i = 0; s->letters && i < s->of->n_shares; i++)
		letters_fini(&s->letters[i]);
	free(s->letters);
	free(s->seen);
}

/* ---- writing ------------------------------------------------------------- */

static void tell(struct share *s, uint32_t part, uint8_t what, uint32_t id)
{
	if (s->letters && s->of->shares[part].is_elsewhere)
		letters_add(&s->letters[part], what, id, 0);
}

void message_announce(struct share *s, uint32_t id)
{
	const struct placed *p = s->of;
	const struct message *m = message_at(p, id);

	if (!s->letters || m->kind == MSG_REDUCE)
		return; /* nobody gets it as it is */
	if (!m->dlid) {
		uint32_t node = p->actors[m->target].node;

		tell(s, p->part_of_node[node], LETTER_MESSAGE, id);
		return;
	}
	for (uint32_t i = 0; i < p->n_shares; i++) {
		if (p->shares[i].has_ranks)
			tell(s, i, LETTER_MESSAGE, id);
	}
}

bool message_is_elsewhere(const struct placed *p, uint32_t id)
{
	uint32_t part = message_part(p, id);

	return part < p->n_shares && p->shares[part].is_elsewhere;
}

void message_return(struct share *s, uint32_t id)
{
	struct message *m = message_at(s->of, id);

	if (!m->dlid)
		m->target = GANG_NONE; /* of any packet that strays here */
	tell(s, message_part(s->of, id), LETTER_RELEASED, id);
}

void message_tell_arrived(struct share *s, uint32_t id)
{
	tell(s, message_part(s->of, id), LETTER_ARRIVED, id);
}

void message_tell_lost(struct share *s, uint32_t id)
{
	tell(s, message_part(s->of, id), LETTER_LOST, id);
}

/* ---- messages as bytes ------------------------------------------------------
 */

/* NOLINTBEGIN(bugprone-macro-parentheses): names of members */
#define PACK_PATH(type, member)                                              \
	PACK(type, member.compute), PACK(type, member.messages),             \
		PACK(type, member.sending), PACK(type, member.n_messages),   \
		PACK(type, member.last.until), PACK(type, member.last.held), \
		PACK(type, member.last.wait), PACK(type, member.last.from),  \
		PACK(type, member.last.number),                              \
		PACK(type, member.last.has_left)
/* NOLINTEND(bugprone-macro-parentheses) */

static const struct pack_member message_members[] = {
	PACK(message, posted),       PACK(message, size),
	PACK_PATH(message, path),    PACK(message, source),
	PACK(message, target),       PACK(message, tag),
	PACK(message, ref),          PACK(message, n_packets),
	PACK(message, kind),         PACK(message, dlid),
	PACK(message, here.receive), PACK(message, number),
};

static bool ref_is_sound(const struct placed *p, const struct message *m)
{
	if (m->kind != MSG_ANSWER)
		return true;
	if (p->job.graph)
		return m->ref < p->graph.n_ops;
	return m->target < p->job.n_ranks &&
	       m->ref < step_strands(&p->steps[p->ranks[m->target].step]);
}

/* Can such a message come to this share? */
static bool message_is_sound(const struct share *s, const struct message *m)
{
	const struct placed *p = s->of;
	const struct gang *t = &s->gang;
	uint32_t receive = m->here.receive;

	if (m->kind > MSG_ANSWER || m->n_packets == 0 ||
	    m->source >= p->n_actors || !cause_is_sound(p, &m->path.last))
		return false;
	if (!m->dlid &&
	    (m->target >= p->n_actors ||
	     p->part_of_node[p->actors[m->target].node] != s->number))
		return false;
	if (m->kind == MSG_DATA && receive != GANG_NONE &&
	    (receive >= t->n_receives || !t->receives[receive].is_used))
		return false;
	return ref_is_sound(p, m);
}

/* A message comes to this share. */
static void pack_message(struct share *s, struct pack *k, uint32_t id)
{
	struct message read = { 0 }, *m = &read;

	if (!k->reads)
		m = message_at(s->of, id);
	PACK_STRUCT(k, message_members, m);
	if (!k->reads || !pack_check(k, message_is_sound(s, m)))
		return;
	m = message_mirror(s->of, id);
	/* Several parts of this process may have been told of it. */
	if (read.dlid && m->landings && m->posted == read.posted &&
	    m->source == read.source)
		return;
	free(m->landings);
	*m = read;
	if (m->dlid)
		landings_make(s->of, m);
}

struct reading {
	struct placed *of;
	uint32_t from, to;
};

static void pack_letter(void *context, struct pack *k, const struct letter *x)
{
	const struct reading *r = context;
	struct placed *p = r->of;
	bool comes = x->what == LETTER_MESSAGE;

	if (k->reads &&
	    !pack_check(k, x->what <= LETTER_LOST &&
				   message_part(p, x->id) ==
					   (comes ? r->from : r->to) &&
				   message_may_be(p, x->id, comes)))
		return;
	if (comes) {
		pack_message(&p->shares[r->to], k, x->id);
		return;
	}
	if (!k->reads)
		return;
	struct message *m = message_at(p, x->id);

	if (x->what == LETTER_ARRIVED)
		m->here.arrived = m->n_packets;
	else if (x->what == LETTER_LOST)
		m->lost++;
	else if (pack_check(k, m->copies > 0))
		message_release(&p->shares[r->to], x->id);
}

void placed_mail(void *context, struct pack *k, uint32_t from, uint32_t to)
{
	struct placed *p = ((struct share *)context)->of;
	struct reading r = { p, from, to };

	letters_pack(k->reads ? NULL : &p->shares[from].letters[to], k,
		     pack_letter, &r);
}

/* ---- what the first process shows ------------------------------------------
 */

static const struct pack_member gang_members[] = {
	PACK(gang, n_done),
	PACK(gang, last),
	PACK(gang, last_rank),
	PACK_PATH(gang, last_path),
};

static const struct pack_member rank_members[] = {
	PACK(rank, began),     PACK(rank, ended), PACK(rank, busy),
	PACK(rank, iteration), PACK(rank, step),
};

static const struct pack_member misfit_members[] = {
	PACK(misfit, at),      PACK(misfit, rank),    PACK(misfit, source),
	PACK(misfit, op.size), PACK(misfit, op.peer), PACK(misfit, op.tag),
	PACK(misfit, op.line), PACK(misfit, size),
};

static const struct pack_member receive_members[] = {
	PACK(receive, op.size),    PACK(receive, op.peer),
	PACK(receive, op.tag),     PACK(receive, op.line),
	PACK(receive, rank),       PACK(receive, is_used),
	PACK(receive, is_matched),
};

static const struct pack_member share_members[] = {
	PACK(share, n_messages),
	PACK(share, bytes),
};

static const struct pack_member fate_members[] = {
	PACK(message, sent),
	PACK(message, lost),
	PACK(message, here.arrived),
	PACK(message, copies),
};

/* stuck.c says where it stands. */
static bool op_is_sound(const struct placed *p, const struct op *op)
{
	return p->job.graph || op->tag >> 8 < p->job.n_steps;
}

static void pack_gang(struct pack *k, const struct placed *p, struct gang *t)
{
	PACK_STRUCT(k, gang_members, t);
	pack_check(k, cause_is_sound(p, &t->last_path.last));
	pack_check(k, t->n_done <= p->job.n_ranks &&
			      (t->last_rank < p->job.n_ranks ||
			       (t->last_rank == GANG_NONE && !t->n_done)));
	for (size_t i = 0; i < (size_t)p->job.repeat * p->job.n_steps; i++) {
		pack_u64(k, &t->steps[i].begin);
		pack_u64(k, &t->steps[i].end);
	}
	t->n_misfits = pack_count(k, t->n_misfits);
	if (k->reads)
		t->misfits = hd_grow(t->misfits, &t->misfits_cap, t->n_misfits,
				     sizeof(*t->misfits));
	for (size_t i = 0; i < t->n_misfits; i++) {
		PACK_STRUCT(k, misfit_members, &t->misfits[i]);
		pack_check(k, t->misfits[i].rank < p->job.n_ranks &&
				      op_is_sound(p, &t->misfits[i].op));
	}
	t->n_receives = (uint32_t)pack_count(k, t->n_receives);
	if (k->reads)
		t->receives = hd_grow(t->receives, &t->receives_cap,
				      t->n_receives, sizeof(*t->receives));
	for (uint32_t i = 0; i < t->n_receives; i++) {
		PACK_STRUCT(k, receive_members, &t->receives[i]);
		pack_check(k, t->receives[i].rank < p->job.n_ranks &&
				      op_is_sound(p, &t->receives[i].op));
	}
}

static void pack_rank(struct pack *k, struct placed *p, uint32_t rank)
{
	PACK_STRUCT(k, rank_members, &p->ranks[rank]);
	pack_check(k, p->ranks[rank].step < p->job.n_steps);
	timeline_collect(p, k, rank);
	for (uint32_t i = 0; p->begun && i < p->job.n_steps; i++) {
		if (p->begun[i])
			pack_u32(k, &p->begun[i][rank]);
	}
}

static void pack_actors(struct pack *k, struct placed *p, uint32_t part)
{
	for (uint32_t i = 0; i < p->n_actors && !k->refused; i++) {
		if (p->part_of_node[p->actors[i].node] != part)
			continue;
		if (i < p->job.n_ranks)
			pack_rank(k, p, i);
		chain_collect(p, k, i);
	}
}

static void pack_links(struct pack *k, struct placed *p, uint32_t part)
{
	const struct sim_setup *setup = &p->fabric->setup;

	for (uint32_t i = 0; i < setup->n_ports; i++) {
		if (p->part_of_node[setup->ports[i].node] == part)
			pack_u64(k, &p->link_bytes[i]);
	}
}

/* stuck.c says where it was posted. */
static bool place_is_sound(const struct share *s, const struct message *m)
{
	const struct placed *p = s->of;

	if (!p->job.graph)
		return m->kind == MSG_REDUCE || m->tag >> 8 < p->job.n_steps;
	return m->kind == MSG_GO ? m->here.receive < s->gang.n_receives
				 : m->ref < p->graph.n_ops;
}

/* Those that are not done with. */
static void pack_seen(struct pack *k, struct share *s)
{
	size_t n = 0;

	for (uint32_t i = 0; !k->reads && i < s->pool.n; i++)
		n += message_nth(s, i)->copies > 0;
	n = pack_count(k, n);
	if (k->reads) {
		s->seen = hd_realloc(s->seen, n, sizeof(*s->seen));
		s->n_seen = n;
	}
	for (uint32_t i = 0, at = 0; at < n && !k->refused; i++) {
		struct message *m = k->reads ? &s->seen[i] : message_nth(s, i);

		if (!k->reads && !m->copies)
			continue;
		if (k->reads)
			*m = (struct message){ 0 };
		PACK_STRUCT(k, message_members, m);
		PACK_STRUCT(k, fate_members, m);
		pack_check(k, m->kind <= MSG_REDUCE &&
				      m->source < s->of->n_actors &&
				      place_is_sound(s, m));
		at++;
	}
	if (k->refused && k->reads)
		s->n_seen = 0;
}

void placed_collect(void *context, struct pack *k, uint32_t part)
{
	struct placed *p = ((struct share *)context)->of;
	struct share *s = &p->shares[part];

	PACK_STRUCT(k, share_members, s);
	pack_gang(k, p, &s->gang);
	pack_actors(k, p, part);
	pack_links(k, p, part);
	pairs_collect(s, k);
	pack_seen(k, s);
}
