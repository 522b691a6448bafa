/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/checkpoint/checkpoint_state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/memory.h"
#include "base/mpi/world.h"
#include "base/pack.h"
#include "base/strbuf.h"
#include "sim/core/sim_internal.h"
#include "sim/domains/domains.h"
#include "sim/domains/remote.h"
#include "sim/injection/control.h"
#include "sim/metrics/flow_tally.h"
#include "sim/metrics/tally.h"
#include "sim/sim.h"
#include "subnet/subnet.h"
#include "topo/topo.h"

/* ---- packets: which, and in which order ---------------------------------- */

static const struct packet_record *packet_of(const struct checkpoint_state_packet *x)
{
	return &x->owner->pool.all[x->id];
}

static const struct packet_extra *extra_of(const struct checkpoint_state_packet *x)
{
	static const struct packet_extra none;
	const struct packet_extra *all = x->owner->pool.extras;

	return all ? &all[x->id] : &none;
}

/* Orders packets by content and position, so that the order does not depend on ids of a domain. */
static int packet_order(const void *x, const void *y)
{
	const struct packet_record *a = packet_of(x), *b = packet_of(y);
	const struct packet_extra *c = extra_of(x), *d = extra_of(y);
	const uint64_t keys[][2] = {
		{ a->born, b->born },
		{ a->flow, b->flow },
		{ c->source, d->source },
		{ c->endpoint, d->endpoint },
		{ a->sequence, b->sequence },
		{ c->kind, d->kind },
		{ a->up, b->up },
		{ a->flags, b->flags },
		/* A packet shared by copies has no output of its own. */
		{ a->flags & P_SHARED ? 0 : a->out, b->flags & P_SHARED ? 0 : b->out },
		{ a->head, b->head },
		{ a->dlid, b->dlid },
		/* Cookies of endpoints are numbers of a domain. */
		{ c->endpoint ? 0 : c->cookie, d->endpoint ? 0 : d->cookie },
	};
	int order = 0;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys) && !order; i++)
		order = checkpoint_state_compare(keys[i][0], keys[i][1]);
	return order;
}

/* Adds the packets in use of one domain. */
static void packets_find(struct checkpoint_state *v, struct sim *part)
{
	bool *is_free = hd_alloc(part->pool.n, sizeof(*is_free));

	for (uint32_t i = part->pool.free; i != NONE; i = part->pool.all[i].next)
		is_free[i] = true;
	for (size_t i = 0; i < part->pool.n; i++) {
		if (!is_free[i])
			v->packets[v->n_packets++] =
				(struct checkpoint_state_packet){ .owner = part,
								  .id = (uint32_t)i };
	}
	free(is_free);
}

/* Packets of this process's domains. Each process saves its own packets, in its section. */
static uint64_t alive_here(const struct sim *s)
{
	uint64_t alive = 0;

	for (uint32_t i = 0; i < sim_n_parts(s); i++) {
		const struct sim *part = sim_part(s, i);

		alive += part->mail.is_elsewhere ? 0 : part->pool.alive;
	}
	return alive;
}

static void packets_number(struct checkpoint_state *v)
{
	v->packets = hd_alloc(alive_here(v->s), sizeof(*v->packets));
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
	v->numbers = hd_alloc(sim_n_parts(v->s), sizeof(*v->numbers));
	for (uint32_t i = 0; i < sim_n_parts(v->s); i++) {
		struct sim *part = checkpoint_state_domain(v, i);

		packets_find(v, part);
		v->numbers[i] = hd_alloc(part->pool.n, sizeof(**v->numbers));
	}
	assert(v->n_packets == alive_here(v->s));
	if (v->n_packets)
		qsort(v->packets, v->n_packets, sizeof(*v->packets), packet_order);
	for (uint32_t i = 0; i < v->n_packets; i++) {
		const struct checkpoint_state_packet *x = &v->packets[i];

		v->numbers[checkpoint_state_domain_number(x->owner)][x->id] = i;
	}
}

/* ---- references --------------------------------------------------------- */

/* Packs the number of a packet. Reading returns its entry, or NULL if it is rejected. */
static struct checkpoint_state_packet *pack_number(struct checkpoint_state *v, struct sim *owner,
						   uint32_t id)
{
	uint32_t number = v->numbers ? v->numbers[checkpoint_state_domain_number(owner)][id] : 0;

	pack_u32(v->p, &number);
	if (!pack_check(v->p, number < v->n_packets && v->packets[number].owner == owner))
		return NULL;
	return &v->packets[number];
}

void checkpoint_state_ref(struct checkpoint_state *v, struct sim *owner, uint32_t *id)
{
	bool is_one = *id != NONE;

	pack_bool(v->p, &is_one);
	const struct checkpoint_state_packet *x = is_one ? pack_number(v, owner, *id) : NULL;

	*id = x ? x->id : NONE;
}

static void list_append(struct checkpoint_state *v, struct packet_queue *q,
			struct checkpoint_state_packet *x)
{
	if (!x || !pack_check(v->p, !x->is_linked))
		return;
	x->is_linked = true;
	x->owner->pool.all[x->id].next = NONE;
	if (q->first == NONE)
		q->first = x->id;
	else
		x->owner->pool.all[q->last].next = x->id;
	q->last = x->id;
}

void checkpoint_state_list(struct checkpoint_state *v, struct sim *owner, struct packet_queue *q)
{
	size_t n = 0;
	uint32_t id = v->p->reads ? NONE : q->first;

	for (uint32_t i = id; i != NONE; i = owner->pool.all[i].next)
		n++;
	n = pack_count(v->p, n);
	if (v->p->reads)
		*q = (struct packet_queue){ NONE, NONE };
	for (size_t i = 0; i < n; i++) {
		struct checkpoint_state_packet *x = pack_number(v, owner, id);

		if (v->p->reads)
			list_append(v, q, x);
		else
			id = owner->pool.all[id].next;
	}
}

/* ---- packets: what they are --------------------------------------------- */

static const struct pack_member packet_members[] = {
	PACK_TIME(packet_record, born),    PACK_TIME(packet_record, ready),
	PACK_TIME(packet_record, head),    PACK(packet_record, flow),
	PACK_SUM(packet_record, sequence), PACK(packet_record, up),
	PACK(packet_record, dlid),         PACK(packet_record, pkey),
	PACK(packet_record, in),           PACK(packet_record, vl),
	PACK(packet_record, out_vl),       PACK(packet_record, sl),
};

static const struct pack_member extra_members[] = {
	PACK(packet_extra, source),        PACK(packet_extra, target),
	PACK(packet_extra, tclass),        PACK(packet_extra, hop_limit),
	PACK(packet_extra, slid),          PACK_TIME(packet_extra, first),
	PACK(packet_extra, nth),           PACK(packet_extra, kind),
	PACK(packet_extra, endpoint),      PACK(packet_extra, waits.held),
	PACK(packet_extra, waits.longest), PACK(packet_extra, turn),
};

static bool port_is_plugged(const struct sim *s, uint32_t port)
{
	return port < s->setup->n_ports && s->links[port].peer != NONE;
}

PACK_KNOWS(packet_extra, 48);

/* Whether the packet has a valid flow, if it needs one. */
static bool flow_is_sound(const struct sim *s, const struct packet_record *p,
			  const struct packet_extra *x)
{
	if ((p->flags & P_TOLD) && x && x->endpoint == 0)
		return s->control && p->flow < s->control->rules->n_flows;
	return p->flow < s->n_flows || !(p->flags & (P_SOURCE | P_LAST));
}

/*
 * Whether the packet is possible in this setup. A packet shared by copies has no output of its own,
 * and has an input unless it is a result (S5).
 */
static bool packet_is_sound(const struct sim *s, const struct packet_record *p)
{
	bool goes = p->flags & P_SHARED
			    ? p->up != NONE || s->reductions
			    : port_is_plugged(s, p->out) && checkpoint_state_has_vl(s, p->out_vl);

	return goes && (p->up == NONE || port_is_plugged(s, p->up)) && p->bytes <= s->max_bytes &&
	       checkpoint_state_has_vl(s, p->vl) && p->sl < N_SLS;
}

static bool extra_is_sound(const struct sim *s, const struct packet_extra *x)
{
	return x->source < s->setup->n_nodes && x->endpoint <= s->ends.n &&
	       (x->target == TOPO_NONE || x->target < s->setup->subnet->topo->n_ports);
}

/* Endpoints translate their cookies. */
static void pack_extra(struct checkpoint_state *v, struct packet_extra *x)
{
	const struct sim *s = v->s;

	PACK_STRUCT(v->p, extra_members, x);
	if (!pack_check(v->p, extra_is_sound(s, x)))
		return;
	if (x->endpoint) {
		const struct sim_endpoint *e = &s->ends.all[x->endpoint - 1];

		e->pack_cookie(e->context, v->p, &x->cookie);
	} else {
		pack_u32(v->p, &x->cookie);
	}
}

/* Packs the contents of a packet; `left` belongs to packets shared by copies. */
static void pack_packet(struct checkpoint_state *v, struct packet_record *p, struct packet_extra *x)
{
	uint32_t bytes = p->bytes, left = p->left;
	uint8_t flags = p->flags;

	PACK_STRUCT(v->p, packet_members, p);
	pack_u32(v->p, &bytes);
	pack_u8(v->p, &flags);
	pack_check(v->p, bytes <= PACKET_BYTES);
	p->bytes = bytes & PACKET_BYTES;
	p->flags = flags;
	if (flags & P_SHARED)
		pack_u32(v->p, &left);
	else
		pack_u32(v->p, &p->out);
	if (v->p->reads && (flags & P_SHARED)) {
		p->left = left;
		p->out = NONE;
	}
	if (!pack_check(v->p, packet_is_sound(v->s, p)))
		return;
	if (x)
		pack_extra(v, x);
	pack_check(v->p, flow_is_sound(v->s, p, x));
}

/* The owner is the domain that the head travels to, or the domain of the source. */
static struct sim *owner_of(struct sim *s, const struct packet_record *p,
			    const struct packet_extra *x)
{
	if (p->up != NONE)
		return sim_of_port(s, s->links[p->up].peer);
	return sim_of_port(s, p->flags & P_SHARED ? s->nodes[x->source].first_port : p->out);
}

static void read_packet(struct checkpoint_state *v, struct checkpoint_state_packet *out)
{
	struct packet_record p = { .next = NONE, .slot = NONE };
	struct packet_extra x = { 0 };

	pack_packet(v, &p, v->s->pool.extras ? &x : NULL);
	if (v->p->refused)
		return;
	out->owner = owner_of(v->s, &p, &x);
	out->id = packet_new(out->owner);
	out->owner->pool.all[out->id] = p;
	if (out->owner->pool.extras)
		out->owner->pool.extras[out->id] = x;
}

static void write_packet(struct checkpoint_state *v, const struct checkpoint_state_packet *from)
{
	struct packet_record p = *packet_of(from);
	struct packet_extra x = { 0 };

	if (v->s->pool.extras)
		x = from->owner->pool.extras[from->id];
	pack_packet(v, &p, v->s->pool.extras ? &x : NULL);
}

static void read_packets(struct checkpoint_state *v)
{
	v->n_packets = (uint32_t)pack_count(v->p, 0);
	v->packets = hd_alloc(v->n_packets, sizeof(*v->packets));
	for (uint32_t i = 0; i < v->n_packets && !v->p->refused; i++)
		read_packet(v, &v->packets[i]);
	if (v->p->refused)
		v->n_packets = 0;
}

static void write_packets(struct checkpoint_state *v)
{
	packets_number(v);
	pack_count(v->p, v->n_packets);
	for (uint32_t i = 0; i < v->n_packets; i++)
		write_packet(v, &v->packets[i]);
}

static void saved_packets(struct checkpoint_state *v)
{
	if (v->p->reads)
		read_packets(v);
	else
		write_packets(v);
	for (uint32_t i = 0; i < v->n_packets; i++) {
		const struct checkpoint_state_packet *x = &v->packets[i];

		checkpoint_state_ref(v, x->owner, &x->owner->pool.all[x->id].slot);
	}
}

/* ---- the whole ---------------------------------------------------------- */

static const struct pack_member clock_members[] = {
	PACK_TIME(sim, now),
	PACK(sim, horizon),
	PACK(sim, from),
	PACK(sim, arb.next_change),
	PACK_TIME(sim, outcome.latest),
	PACK_SUM(sim, outcome.hops),
	PACK(sim, outcome.hops_before),
	PACK_AS(sim, outcome.hops_checked, ROLE_ANY),
	PACK_AS(sim, outcome.events, ROLE_ANY),
	PACK_SUM(sim, outcome.delivered_all),
};

/* Properties of the setup that the resuming run must share. */
static void pack_shape(struct checkpoint_state *v)
{
	const struct sim *s = v->s;

	pack_same(v->p, s->setup->n_nodes);
	pack_same(v->p, s->setup->n_ports);
	pack_same(v->p, s->setup->seed);
	pack_same(v->p, s->n_flows);
	pack_same(v->p, s->n_vls);
	pack_same(v->p, s->n_sls);
	pack_same(v->p, s->max_bytes);
	pack_same(v->p, s->ends.n);
	pack_same(v->p, s->pull.n_senders);
	pack_same(v->p, s->pool.extras != NULL);
	pack_same(v->p, s->tell.delivered);
	pack_same(v->p, s->tell.ended);
	pack_same(v->p, s->tell.granted);
	pack_same(v->p, s->tell.updated);
}

/* The first domain holds the sums; the sums of all other domains are 0. */
static void clocks_share(struct checkpoint_state *v)
{
	struct sim *s = v->s;

	for (uint32_t i = 0; s->parts && i < s->parts->cut.n; i++) {
		struct sim *part = s->parts->part[i];

		part->now = s->now;
		part->horizon = s->horizon;
		part->from = s->from;
		part->outcome.latest = s->outcome.latest;
	}
	if (!s->parts)
		return;
	s->parts->begin = s->parts->end = s->now;
	checkpoint_state_first(v)->outcome.hops = s->outcome.hops;
	checkpoint_state_first(v)->outcome.hops_before = s->outcome.hops_before;
	checkpoint_state_first(v)->outcome.events = s->outcome.events;
	checkpoint_state_first(v)->outcome.delivered_all = s->outcome.delivered_all;
}

static void pack_clocks(struct checkpoint_state *v)
{
	struct sim *s = v->s;

	PACK_STRUCT(v->p, clock_members, s);
	pack_check(v->p, s->now < NEVER && s->arb.next_change <= s->setup->n_changes);
	if (v->p->reads)
		clocks_share(v);
}

/* Packs the state of endpoints in one section. */
static void pack_endpoints(struct checkpoint_state *v)
{
	const struct sim *s = v->s;

	for (uint32_t i = 0; i < s->ends.n && !v->p->refused; i++)
		s->ends.all[i].pack(s->ends.all[i].context, v->p, &v->section);
}

static void pack_section(struct checkpoint_state *v)
{
	pack_shape(v);
	if (checkpoint_state_has_sums(v))
		pack_clocks(v);
	saved_packets(v);
	if (v->p->refused)
		return;
	checkpoint_state_ports(v);
	checkpoint_state_sources(v);
	checkpoint_state_senders(v);
	checkpoint_state_control(v);
	checkpoint_state_marks(v);
	checkpoint_state_choices(v);
	checkpoint_state_probes(v);
	checkpoint_state_vl_sharing(v);
	checkpoint_state_reductions(v);
	checkpoint_state_tally(v);
	checkpoint_state_observers(v);
	checkpoint_state_events(v);
}

static void saved_fini(struct checkpoint_state *v)
{
	for (uint32_t i = 0; v->numbers && i < sim_n_parts(v->s); i++)
		free(v->numbers[i]);
	free(v->numbers);
	free(v->packets);
	v->numbers = NULL;
	v->packets = NULL;
	v->n_packets = 0;
}

const char *sim_not_saved(const struct sim *s)
{
	for (uint32_t i = 0; i < s->ends.n; i++) {
		if (!s->ends.all[i].pack)
			return "programs run on its adapters";
	}
	return NULL;
}

/* ---- sections ----------------------------------------------------------- */

/* Section number per node; NULL: one section. The caller frees it. */
static uint16_t *sections_find(const struct sim *s)
{
	if (!sim_is_remote(s))
		return NULL;
	uint16_t *of = hd_alloc(s->setup->n_nodes, sizeof(*of));

	for (uint32_t i = 0; i < s->setup->n_nodes; i++)
		of[i] = s->parts->distant->rank_of_part[s->parts->cut.part_of_node[i]];
	return of;
}

/* Packs the number of sections, and `of` if there are several; 0: rejected. */
static uint32_t pack_sections(struct pack *p, const struct sim *s, uint32_t n, uint16_t **of)
{
	pack_u32(p, &n);
	if (!pack_check(p, n > 0 && n <= DOMAINS_MOST) || p->refused)
		return 0;
	if (n == 1)
		return 1;
	if (p->reads)
		*of = hd_alloc(s->setup->n_nodes, sizeof(**of));
	for (uint32_t i = 0; *of && i < s->setup->n_nodes; i++) {
		pack_u16(p, &(*of)[i]);
		pack_check(p, (*of)[i] < n);
	}
	return p->refused ? 0 : n;
}

/*
 * Gathers the bytes of all processes in rank order in the first process, whose own bytes are
 * already there. Takes ownership of `mine`.
 */
static void sections_gather(struct sim *s, const struct strbuf *mine, struct strbuf *out)
{
	struct remote_domains *d = s->parts->distant;
	const unsigned me = d->world->rank;

	for (unsigned i = 0; i < d->world->n; i++)
		strbuf_clear(&d->to[i]);
	strbuf_fini(&d->to[0]);
	d->to[0] = *mine;
	world_exchange(d->world, d->to, d->from);
	strbuf_fini(&d->to[0]);
	for (unsigned i = 1; me == 0 && i < d->world->n; i++)
		strbuf_add(out, d->from[i].bytes, d->from[i].len);
}

/* Cookies of the section that is written, or of all sections that are read. */
static void list_cookies(struct sim *s, struct pack *p, void *context)
{
	(void)context;
	for (uint32_t i = 0; i < s->ends.n; i++)
		s->ends.all[i].list_cookies(s->ends.all[i].context, p);
}

static void cookies_share(struct sim *s)
{
	struct strbuf mine = STRBUF_INIT;
	struct pack p;

	pack_to(&p, &mine);
	list_cookies(s, &p, NULL);
	remote_gather(s, &mine, list_cookies, NULL);
	strbuf_fini(&mine);
}

/*
 * Appends what `part` writes in this process to `out`. With several processes, the first one gets
 * the bytes of all.
 */
static void save_part(struct checkpoint_state *v, void (*part)(struct checkpoint_state *v),
		      struct strbuf *out)
{
	struct strbuf mine = STRBUF_INIT;

	pack_to(v->p, is_first_rank(v->s) ? out : &mine);
	part(v);
	if (sim_is_remote(v->s))
		sections_gather(v->s, &mine, out);
}

void sim_save(struct sim *s, struct strbuf *out)
{
	const char *before = memory_for("a checkpoint");
	const struct world *world = sim_is_remote(s) ? s->rules.world : NULL;
	uint16_t *section_of_node = sections_find(s);
	struct pack p;
	struct checkpoint_state v = { .p = &p,
				      .s = s,
				      .section = { .number = world ? world->rank : 0,
						   .of_node = section_of_node } };

	assert(s->run.has_begun && !sim_not_saved(s));
	if (s->parts)
		metrics_collect(s);
	flow_tallies_flush(&s->outcome.tally->flows);
	pack_to(&p, out);
	if (checkpoint_state_has_sums(&v))
		pack_sections(&p, s, world ? world->n : 1, &section_of_node);
	if (world)
		cookies_share(s);
	save_part(&v, pack_endpoints, out);
	save_part(&v, pack_section, out);
	saved_fini(&v);
	free(section_of_node);
	memory_for(before);
}

/* Forgets state that belongs to other processes. */
static void elsewhere_forget(struct sim *s)
{
	for (uint32_t i = 0; sim_is_remote(s) && i < s->parts->cut.n; i++) {
		struct sim *part = s->parts->part[i];

		if (!part->mail.is_elsewhere)
			continue;
		free(part->pool.all);
		free(part->pool.extras);
		part->pool.all = NULL;
		part->pool.extras = s->pool.extras ? hd_alloc(1, sizeof(*part->pool.extras)) : NULL;
		part->pool.n = 0;
		part->pool.cap = 0;
		part->pool.free = NONE;
	}
	if (!is_first_rank(s))
		remote_forget_moved(s);
}

static bool state_read(struct sim *s, struct pack *p)
{
	uint16_t *section_of_node = NULL;
	struct checkpoint_state v = { .p = p, .s = s };
	uint32_t n = pack_sections(p, s, 0, &section_of_node);

	v.section.of_node = section_of_node;
	for (; v.section.number < n && !p->refused; v.section.number++)
		pack_endpoints(&v);
	for (v.section.number = 0; v.section.number < n && !p->refused; v.section.number++) {
		pack_section(&v);
		saved_fini(&v);
	}
	free(section_of_node);
	checkpoint_state_events_begin(&v);
	for (uint32_t i = 0; s->parts && i < s->parts->cut.n; i++)
		s->parts->part[i]->arb.tables = s->arb.tables;
	elsewhere_forget(s);
	control_resume(s);
	return pack_is_done(p);
}

bool checkpoint_state_read(struct sim *s, const void *bytes, size_t len)
{
	struct pack p;

	pack_from(&p, bytes, len);
	return state_read(s, &p);
}

bool sim_load(struct sim *s, const void *bytes, size_t len)
{
	assert(!s->run.has_begun);
	s->run.is_loaded = true;
	domains_begin(s);
	return checkpoint_state_read(s, bytes, len);
}

/* ---- lists -------------------------------------------------------------- */

void sim_list(struct sim *s, struct state_list *out)
{
	uint16_t *section_of_node = NULL;
	struct pack p;
	struct checkpoint_state v = { .p = &p, .s = s };

	assert(s->run.has_begun && !sim_not_saved(s) && !sim_is_remote(s));
	if (s->parts)
		metrics_collect(s);
	flow_tallies_flush(&s->outcome.tally->flows);
	pack_to_list(&p, out);
	pack_sections(&p, s, 1, &section_of_node);
	pack_endpoints(&v);
	pack_section(&v);
	saved_fini(&v);
}

bool sim_load_list(struct sim *s, const struct state_list *l)
{
	struct pack p;

	assert(!s->run.has_begun);
	s->run.is_loaded = true;
	domains_begin(s);
	pack_from_list(&p, l);
	return state_read(s, &p);
}
