/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of a job as bytes, for a checkpoint. The remaining operations of a rank follow
 * from the job and the rank's progress, so numbers are sufficient. Messages keep their ids and
 * receives the ids of their rank, so that references in packets, queue pairs and waiting
 * operations stay valid.
 *
 * A message has two halves: the source writes its fields and its sending progress, the
 * destination its arrival. Each process writes the halves that it has; a restart combines
 * them, in whatever processes source and destination are then.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/jobs/jobs_internal.h"

static struct job_domain *share_of(const struct placed_job *p, uint32_t actor)
{
	return &p->shares[job_domain_of(p, actor)];
}

static bool is_here(const struct placed_job *p, uint32_t actor)
{
	return !share_of(p, actor)->is_elsewhere;
}

static bool has_actor(const struct placed_job *p, const struct sim_section *section, uint32_t actor)
{
	return section_has(section, p->actors[actor].node);
}

/* ---- selection of messages ---------------------------------------------- */

struct ids {
	uint32_t *items;
	size_t n, cap;
};

static void ids_add(struct ids *l, uint32_t id)
{
	l->items = hd_grow(l->items, &l->cap, l->n + 1, sizeof(*l->items));
	l->items[l->n++] = id;
}

struct message_name {
	uint32_t source, number, id;
};

static int by_number(const void *a, const void *b)
{
	const struct message_name *x = a, *y = b;

	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* In a listed state, ids are derived from sources and message numbers. */
static void names_make(struct placed_job *p, struct ids *l)
{
	uint32_t most = l->n ? l->items[l->n - 1] : 0;
	struct message_name *all = hd_alloc(l->n, sizeof(*all));

	for (size_t i = 0; i < l->n; i++) {
		const struct job_message *m = message_at(p, l->items[i]);

		all[i] = (struct message_name){ m->source, m->number, l->items[i] };
	}
	if (l->n)
		qsort(all, l->n, sizeof(*all), by_number);
	p->names = hd_realloc(p->names, (size_t)most + 1, sizeof(*p->names));
	for (uint32_t i = 0; i < l->n; i++) {
		l->items[i] = all[i].id;
		p->names[all[i].id] = i;
	}
	free(all);
}

/* Messages whose sources are in this section. */
static void messages_find(struct placed_job *p, const struct sim_section *section, bool has_names,
			  struct ids *l)
{
	for (uint32_t id = message_next(p, 0, true); id != RANK_GROUP_NONE;
	     id = message_next(p, id + 1, true)) {
		if (has_actor(p, section, message_at(p, id)->source))
			ids_add(l, id);
	}
	if (has_names)
		names_make(p, l);
}

static void pack_message(const struct placed_job *p, struct pack *k, uint32_t *id)
{
	uint32_t name = k->list && !k->reads ? p->names[*id] : *id;

	pack_u32(k, &name);
	if (k->reads)
		*id = name;
}

/* ---- source half of messages ---------------------------------------------- */

static const struct pack_member sent_members[] = {
	PACK_TIME(job_message, posted),
	PACK(job_message, size),
	PACK_CRITICAL_PATH(job_message, path),
	PACK(job_message, source),
	PACK(job_message, target),
	PACK(job_message, sender),
	PACK(job_message, tag),
	PACK(job_message, ref),
	PACK(job_message, n_packets),
	PACK(job_message, sent),
	PACK_SUM(job_message, number),
	PACK(job_message, held),
	PACK(job_message, lost),
	PACK(job_message, copies),
	PACK(job_message, kind),
	PACK(job_message, dlid),
	PACK(job_message, here.is_over),
};

PACK_KNOWS(job_recv_slot, 32);
PACK_KNOWS(job_message, 192);

/* Whether it goes to several destinations by a multicast tree. */
static bool is_multicast(const struct job_message *m)
{
	return m->dlid && m->kind != MSG_REDUCE;
}

/* Where it was posted; stuck.c uses these fields as indices. */
static bool place_is_sound(const struct placed_job *p, const struct job_message *m)
{
	if (p->job.graph)
		return m->ref < p->graph.n_ops;
	return m->kind == MSG_REDUCE || m->tag >> 8 < p->job.n_steps;
}

static bool sent_is_sound(const struct placed_job *p, const struct job_message *m)
{
	if (m->kind > MSG_REDUCE || m->source >= p->n_actors || m->sender >= p->n_actors ||
	    m->number == 0 || m->copies == 0 || m->sent > m->n_packets || m->n_packets == 0 ||
	    m->size > OP_MOST_SIZE)
		return false;
	if (!m->dlid && m->target >= p->n_actors)
		return false;
	if (m->dlid && (p->job.graph || m->source >= p->job.n_ranks))
		return false;
	return chain_cause_is_valid(p, &m->path.last) && place_is_sound(p, m);
}

/* Whether this process needs a message that was read. */
static bool is_wanted(const struct placed_job *p, const struct job_message *m)
{
	if (is_here(p, m->source) || is_multicast(m))
		return true;
	return !m->dlid && !m->here.is_over && is_here(p, m->target);
}

/* Stores a message that was read; the arrival state that is already there is kept. */
static void message_restore(struct placed_job *p, struct pack *k, uint32_t id,
			    const struct job_message *read, uint32_t receive)
{
	struct job_message *m = message_mirror(p, id);

	if (!pack_check(k, !m->copies && (!m->number || (m->number == read->number &&
							 m->source == read->source))) ||
	    !pack_check(k, !m->landings || is_multicast(read)))
		return;
	struct job_recv_slot here = m->here;
	struct job_recv_slot *landings = m->landings;

	*m = *read;
	m->landings = landings;
	m->here = here;
	m->here.is_over = read->here.is_over;
	if (receive != RANK_GROUP_NONE)
		m->here.receive = receive;
	m->next = RANK_GROUP_NONE;
	if (!is_here(p, m->source))
		m->copies = 0;
	if (is_multicast(m) && !landings)
		message_receives_make(p, m);
}

static void pack_sent(struct placed_job *p, struct pack *k, uint32_t id)
{
	struct job_message one = { .here.receive = RANK_GROUP_NONE };
	uint32_t receive = RANK_GROUP_NONE;

	if (!k->reads) {
		one = *message_at(p, id);
		receive = one.here.receive;
	}
	pack_message(p, k, &id);
	PACK_STRUCT(k, sent_members, &one);
	/* The receive, if the source knows it; for MSG_REDUCE the received packets. */
	pack_u32(k, &receive);
	if (one.kind == MSG_REDUCE)
		pack_u32(k, &one.here.arrived);
	if (!k->reads || !pack_check(k, id != RANK_GROUP_NONE && sent_is_sound(p, &one)) ||
	    k->refused)
		return;
	message_blocks_skip(p, id);
	if (!is_wanted(p, &one))
		return;
	uint32_t arrived = one.here.arrived;

	message_restore(p, k, id, &one, receive);
	if (one.kind == MSG_REDUCE && !k->refused)
		message_at(p, id)->here.arrived = arrived;
}

static void pack_all_sent(struct placed_job *p, struct pack *k, const struct sim_section *section)
{
	struct ids l = { NULL };

	if (!k->reads)
		messages_find(p, section, k->list != NULL, &l);
	size_t n = pack_count(k, l.n);

	for (size_t i = 0; i < n && !k->refused; i++)
		pack_sent(p, k, l.items ? l.items[i] : 0);
	free(l.items);
}

/* ---- destination half of messages ---------------------------------------- */

static const struct pack_member landing_members[] = {
	PACK(job_recv_slot, arrived),
	PACK(job_recv_slot, receive),
	PACK(job_recv_slot, waits.held),
	PACK(job_recv_slot, waits.longest),
};

/* Whether the slot has received packets or has a matched receive. */
static bool is_landing(const struct job_recv_slot *l)
{
	return !l->is_over && (l->arrived || l->receive != RANK_GROUP_NONE);
}

/* Identity of a message that a destination knows before the source half is read. */
struct job_recv_slot_name {
	uint32_t id, source, number, actor;
	uint8_t kind;
	bool is_multicast;
};

static const struct pack_member name_members[] = {
	PACK(job_recv_slot_name, source),       PACK_SUM(job_recv_slot_name, number),
	PACK(job_recv_slot_name, actor),        PACK(job_recv_slot_name, kind),
	PACK(job_recv_slot_name, is_multicast),
};

static bool landing_is_sound(const struct placed_job *p, const struct job_recv_slot_name *x,
			     const struct job_recv_slot *l)
{
	uint32_t actors = x->is_multicast || x->kind == MSG_DATA ? p->job.n_ranks : p->n_actors;

	if (x->id == RANK_GROUP_NONE || x->number == 0 || x->actor >= actors ||
	    x->source >= p->n_actors)
		return false;
	/* The ranks of this section have been read before. */
	return x->kind != MSG_DATA || l->receive == RANK_GROUP_NONE ||
	       (l->receive < p->ranks[x->actor].n_receives &&
		p->ranks[x->actor].receives[l->receive].is_used);
}

static void landing_restore(struct placed_job *p, struct pack *k,
			    const struct job_recv_slot_name *x, const struct job_recv_slot *read)
{
	if (!pack_check(k, landing_is_sound(p, x, read)) ||
	    (!is_here(p, x->source) && !is_here(p, x->actor)))
		return;
	struct job_message *m = message_mirror(p, x->id);

	if (!pack_check(k, !m->number || (m->number == x->number && m->source == x->source)) ||
	    !pack_check(k, !m->copies || is_multicast(m) == x->is_multicast))
		return;
	m->number = x->number;
	m->source = x->source;
	if (x->is_multicast && !m->landings)
		message_receives_make(p, m);
	*message_recv_slot(m, x->actor) = *read;
}

static void pack_landing(struct placed_job *p, struct pack *k, struct job_recv_slot_name x)
{
	struct job_recv_slot one = { .receive = RANK_GROUP_NONE };

	if (!k->reads) {
		struct job_message *m = message_at(p, x.id);

		x.source = m->source;
		x.number = m->number;
		x.kind = m->kind;
		x.is_multicast = is_multicast(m);
		one = *message_recv_slot(m, x.actor);
	}
	pack_message(p, k, &x.id);
	PACK_STRUCT(k, name_members, &x);
	PACK_STRUCT(k, landing_members, &one);
	if (k->reads && !k->refused)
		landing_restore(p, k, &x, &one);
}

struct job_recv_slot_list {
	struct job_recv_slot_name *items;
	size_t n, cap;
};

static void landings_add(struct job_recv_slot_list *l, uint32_t id, uint32_t actor)
{
	l->items = hd_grow(l->items, &l->cap, l->n + 1, sizeof(*l->items));
	l->items[l->n++] = (struct job_recv_slot_name){ .id = id, .actor = actor };
}

/* Receive slots in use in this section. */
static void landings_find(const struct placed_job *p, const struct sim_section *section,
			  uint32_t id, struct job_recv_slot_list *l)
{
	struct job_message *m = message_at(p, id);

	if (m->kind == MSG_REDUCE)
		return;
	if (!is_multicast(m)) {
		if (has_actor(p, section, m->target) && is_landing(&m->here))
			landings_add(l, id, m->target);
		return;
	}
	for (uint32_t i = 0; m->landings && i < p->job.n_ranks; i++) {
		if (has_actor(p, section, i) && is_landing(&m->landings[i]))
			landings_add(l, id, i);
	}
}

static void pack_landings(struct placed_job *p, struct pack *k, const struct sim_section *section)
{
	struct job_recv_slot_list l = { NULL };
	struct ids sent = { NULL };

	if (k->list && !k->reads)
		messages_find(p, section, true, &sent);
	for (size_t i = 0; i < sent.n; i++)
		landings_find(p, section, sent.items[i], &l);
	free(sent.items);
	for (uint32_t id = k->reads || k->list ? RANK_GROUP_NONE : message_next(p, 0, false);
	     id != RANK_GROUP_NONE; id = message_next(p, id + 1, false))
		landings_find(p, section, id, &l);
	size_t n = pack_count(k, l.n);

	for (size_t i = 0; i < n && !k->refused; i++) {
		struct job_recv_slot_name name = { 0 };

		if (l.items)
			name = l.items[i];
		pack_landing(p, k, name);
	}
	free(l.items);
}

/* ---- message queues ----------------------------------------------------- */

/* The queue from `first` on; ignored for an actor of another process. */
static void pack_line(struct placed_job *p, struct pack *k, uint32_t actor, uint32_t *first,
		      uint32_t *last)
{
	size_t n = 0;
	uint32_t id = *first;

	for (uint32_t i = id; !k->reads && i != RANK_GROUP_NONE; i = message_at(p, i)->next)
		n++;
	n = pack_count(k, n);
	for (; n > 0 && !k->refused; n--) {
		pack_message(p, k, &id);
		if (!k->reads) {
			id = message_at(p, id)->next;
			continue;
		}
		if (!is_here(p, actor))
			continue;
		if (!pack_check(k, message_is_ours(p, id) &&
					   message_at(p, id)->next == RANK_GROUP_NONE &&
					   id != *last))
			return;
		if (*first == RANK_GROUP_NONE)
			*first = id;
		else
			message_at(p, *last)->next = id;
		*last = id;
	}
}

static const struct pack_member actor_members[] = {
	PACK_TIME(actor, next_at), PACK_TIME(actor, left_at),    PACK(actor, under_way),
	PACK(actor, reduces),      PACK_TIME(actor, inner_free), PACK_TIME(actor, inner_left),
};

PACK_KNOWS(actor, 104);

/* Number of messages inside the host that have left; finds the first that has not. */
static void pack_left(struct placed_job *p, struct pack *k, struct actor *a)
{
	uint32_t n = 0, id = a->inner_first;

	for (; !k->reads && id != a->inner_leaves; id = message_at(p, id)->next)
		n++;
	pack_u32(k, &n);
	for (; k->reads && n > 0 && id != RANK_GROUP_NONE; n--)
		id = message_at(p, id)->next;
	if (k->reads)
		a->inner_leaves = id;
}

static void pack_actor(struct placed_job *p, struct pack *k, uint32_t actor)
{
	struct actor *a = &p->actors[actor];

	if (k->reads)
		a->last = a->inner_last = RANK_GROUP_NONE;
	PACK_STRUCT(k, actor_members, a);
	pack_check(k, a->reduces == RANK_GROUP_NONE || !is_here(p, actor) ||
			      message_is_ours(p, a->reduces));
	pack_line(p, k, actor, &a->first, &a->last);
	pack_line(p, k, actor, &a->inner_first, &a->inner_last);
	pack_left(p, k, a);
	chain_pack(p, k, actor);
}

/* ---- waiting operations ------------------------------------------------- */

static struct match_line *line_of(struct rank_group *t, bool posted)
{
	return posted ? &t->posted : &t->waiting;
}

/* Waiting operations of all shares, grouped by rank; the caller frees them. */
static struct match_item *waiting_find(const struct placed_job *p,
				       const struct sim_section *section, bool posted, size_t *n)
{
	struct match_item *all = NULL;
	size_t cap = 0, kept = 0, total = 0;

	for (uint32_t i = 0; i < p->n_shares; i++) {
		struct match_line *l = line_of(&p->shares[i].rank_group, posted);

		all = hd_grow(all, &cap, total + match_count(l), sizeof(*all));
		if (match_count(l))
			match_list(l, all + total);
		total += match_count(l);
	}
	for (size_t i = 0; i < total; i++) {
		if (has_actor(p, section, all[i].key.rank))
			all[kept++] = all[i];
	}
	*n = kept;
	return all;
}

static int by_rank(const void *a, const void *b)
{
	const struct match_item *x = a, *y = b;

	if (x->key.rank != y->key.rank)
		return x->key.rank < y->key.rank ? -1 : 1;
	return x->next < y->next ? -1 : x->next > y->next;
}

static const struct pack_member item_members[] = {
	PACK(match_item, key.rank),
	PACK(match_item, key.source),
	PACK(match_item, key.tag),
};

static bool item_is_sound(const struct placed_job *p, const struct match_item *x, bool posted)
{
	if (x->key.rank >= p->job.n_ranks)
		return false;
	if (!is_here(p, x->key.rank))
		return true;
	const struct rank *r = &p->ranks[x->key.rank];

	return posted ? x->value < r->n_receives && r->receives[x->value].is_used
		      : message_is_known(p, x->value);
}

static void pack_waiting(struct placed_job *p, struct pack *k, const struct sim_section *section,
			 bool posted)
{
	size_t n = 0;
	struct match_item *all = k->reads ? NULL : waiting_find(p, section, posted, &n);

	/* The order within a rank is that of its share's list. */
	for (size_t i = 0; i < n; i++)
		all[i].next = (uint32_t)i;
	if (n)
		qsort(all, n, sizeof(*all), by_rank);
	n = pack_count(k, n);
	for (size_t i = 0; i < n && !k->refused; i++) {
		struct match_item one = { .next = 0 };

		if (!k->reads)
			one = all[i];
		PACK_STRUCT(k, item_members, &one);
		if (posted)
			pack_u32(k, &one.value);
		else
			pack_message(p, k, &one.value);
		if (k->reads && pack_check(k, item_is_sound(p, &one, posted)) &&
		    is_here(p, one.key.rank))
			match_put(line_of(&share_of(p, one.key.rank)->rank_group, posted), one.key,
				  one.value);
	}
	free(all);
}

/* ---- state common to all shares ------------------------------------------ */

static const struct pack_member misfit_members[] = {
	PACK(oversized_message, at),      PACK(oversized_message, rank),
	PACK(oversized_message, source),  PACK(oversized_message, op.size),
	PACK(oversized_message, op.peer), PACK(oversized_message, op.tag),
	PACK(oversized_message, op.line), PACK(oversized_message, size),
};

static void pack_misfits(struct placed_job *p, struct pack *k)
{
	struct rank_group *first = &p->shares[0].rank_group;
	size_t n = 0;

	for (uint32_t i = 0; i < p->n_shares; i++)
		n += p->shares[i].rank_group.n_misfits;
	n = pack_count(k, n);
	if (k->reads) {
		first->misfits =
			hd_grow(first->misfits, &first->misfits_cap, n, sizeof(*first->misfits));
		first->n_misfits = n;
	}
	for (uint32_t i = 0; i < (k->reads ? 1 : p->n_shares); i++) {
		const struct rank_group *t = &p->shares[i].rank_group;

		for (size_t j = 0; j < t->n_misfits; j++) {
			PACK_STRUCT(k, misfit_members, &t->misfits[j]);
			pack_check(k, t->misfits[j].rank < p->job.n_ranks &&
					      (p->job.graph ||
					       t->misfits[j].op.tag >> 8 < p->job.n_steps));
		}
	}
}

static const struct pack_member last_members[] = {
	PACK_TIME(rank_group, last),
	PACK(rank_group, last_rank),
	PACK_CRITICAL_PATH(rank_group, last_path),
};

/* The rank that ended last so far, which its rank group knows. */
static void pack_last(struct placed_job *p, struct pack *k)
{
	struct rank_group one = { .last_rank = RANK_GROUP_NONE };
	const struct rank_group *last = job_last_domain(p);

	if (!k->reads && last)
		one = *last;
	PACK_STRUCT(k, last_members, &one);
	if (!k->reads || one.last_rank == RANK_GROUP_NONE ||
	    !pack_check(k, one.last_rank < p->job.n_ranks &&
				   chain_cause_is_valid(p, &one.last_path.last)))
		return;
	struct rank_group *t = &share_of(p, one.last_rank)->rank_group;

	t->last = one.last;
	t->last_rank = one.last_rank;
	t->last_path = one.last_path;
}

/* Sums over all shares; after a restart the first share has them. */
static void pack_sums(struct placed_job *p, struct pack *k)
{
	struct job_domain *first = &p->shares[0];
	uint64_t messages = 0, bytes = 0;

	for (uint32_t i = 0; i < p->n_shares; i++) {
		messages += p->shares[i].n_messages;
		bytes += p->shares[i].bytes;
	}
	pack_sum(k, &messages);
	pack_sum(k, &bytes);
	if (k->reads) {
		first->n_messages = messages;
		first->bytes = bytes;
	}
	for (size_t i = 0; !k->list && i < (size_t)p->job.repeat * p->job.n_steps; i++) {
		struct step_span l = job_step_times(p, i);

		pack_u64(k, &l.begin);
		pack_u64(k, &l.end);
		if (k->reads)
			first->rank_group.steps[i] = l;
	}
	pack_misfits(p, k);
	pack_last(p, k);
	pairs_pack(p, k);
}

/* ---- complete jobs ------------------------------------------------------- */

static void pack_rank(struct placed_job *p, struct pack *k, uint32_t rank)
{
	struct rank_group *t = &share_of(p, rank)->rank_group;

	rank_group_pack_rank(t, k, rank);
	timeline_pack(p, k, rank);
	for (uint32_t i = 0; p->begun && i < p->job.n_steps; i++) {
		if (p->begun[i])
			pack_u32(k, &p->begun[i][rank]);
	}
	if (k->reads)
		t->n_done += p->ranks[rank].ended != HD_TIME_NEVER;
}

static void pack_links(struct placed_job *p, struct pack *k, const struct sim_section *section)
{
	const struct sim_setup *setup = &p->fabric->setup;

	for (uint32_t i = 0; i < setup->n_ports; i++) {
		if (section_has(section, setup->ports[i].node))
			pack_sum(k, &p->link_bytes[i]);
	}
}

void job_pack(void *context, struct pack *k, const struct sim_section *section)
{
	struct placed_job *p = ((struct job_domain *)context)->of;

	for (uint32_t i = 0; i < p->job.n_ranks && !k->refused; i++) {
		if (has_actor(p, section, i))
			pack_rank(p, k, i);
	}
	pack_all_sent(p, k, section);
	pack_landings(p, k, section);
	for (uint32_t i = 0; i < p->n_actors && !k->refused; i++) {
		if (has_actor(p, section, i))
			pack_actor(p, k, i);
	}
	if (k->refused)
		return;
	pack_waiting(p, k, section, true);
	pack_waiting(p, k, section, false);
	pack_links(p, k, section);
	if (section->number == 0)
		pack_sums(p, k);
}

void job_list_cookies(void *context, struct pack *k)
{
	(void)context;
	(void)k;
}

void job_pack_cookie(void *context, struct pack *k, uint32_t *cookie)
{
	pack_message(((struct job_domain *)context)->of, k, cookie);
}
