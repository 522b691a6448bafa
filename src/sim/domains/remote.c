/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/domains/remote.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/eventq.h"
#include "base/mpi/world.h"
#include "base/pack.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "fabric/flow.h"
#include "fabric/setup.h"
#include "scenario/model.h"
#include "sim/core/event.h"
#include "sim/core/ring.h"
#include "sim/core/sim_internal.h"
#include "sim/domains/domains.h"
#include "sim/injection/control.h"
#include "sim/metrics/flow_tally.h"
#include "sim/metrics/observers.h"
#include "sim/metrics/tally.h"
#include "sim/sim.h"
#include "subnet/subnet.h"

/* ---- whose parts are whose ---------------------------------------------- */

uint32_t remote_partition(const struct sim *s, uint32_t n, uint16_t *part_of_node)
{
	const struct world *world = s->rules.world;
	struct world_bytes *from = hd_alloc(world->n, sizeof(*from));
	const uint32_t nodes = s->setup->n_nodes;
	struct strbuf mine = STRBUF_INIT;
	struct pack k;

	pack_to(&k, &mine);
	pack_u32(&k, &n);
	for (uint32_t i = 0; i < nodes; i++)
		pack_u16(&k, &part_of_node[i]);
	world_share(world, &mine, from);
	pack_from(&k, from[0].bytes, from[0].len);
	pack_u32(&k, &n);
	pack_check(&k, n > 0 && n <= DOMAINS_MOST);
	for (uint32_t i = 0; i < nodes; i++) {
		pack_u16(&k, &part_of_node[i]);
		pack_check(&k, part_of_node[i] < n);
	}
	strbuf_fini(&mine);
	free(from);
	return pack_is_done(&k) ? n : 0;
}

void remote_init(struct domains *p)
{
	const struct world *world = p->whole->rules.world;
	struct remote_domains *d = hd_alloc(1, sizeof(*d));

	p->first = p->cut.n;
	p->last = 0;
	d->world = world;
	d->rank_of_part = hd_alloc(p->cut.n, sizeof(*d->rank_of_part));
	d->to = hd_alloc(world->n, sizeof(*d->to));
	d->from = hd_alloc(world->n, sizeof(*d->from));
	for (unsigned i = 0; i < world->n; i++)
		d->to[i] = (struct strbuf)STRBUF_INIT;
	for (uint32_t i = 0; i < p->cut.n; i++) {
		unsigned rank = (unsigned)((uint64_t)i * world->n / p->cut.n);

		d->rank_of_part[i] = (uint16_t)rank;
		if (rank != world->rank)
			continue;
		p->first = i < p->first ? i : p->first;
		p->last = i + 1;
	}
	p->cut.first = p->first;
	p->cut.last = p->last;
	p->distant = d;
}

void remote_fini(struct domains *p)
{
	struct remote_domains *d = p->distant;

	if (!d)
		return;
	for (unsigned i = 0; i < d->world->n; i++)
		strbuf_fini(&d->to[i]);
	free(d->to);
	free(d->from);
	free(d->rank_of_part);
	free(d);
}

void remote_refuse(struct domains *p, unsigned by)
{
	if (!p->distant->broken)
		p->distant->by = by;
	p->distant->broken = true;
}

/* ---- what all must know of all parts ------------------------------------ */

static const struct pack_member sim_members[] = {
	PACK(sim, pool.alive),         PACK(sim, background),      PACK(sim, mail.told),
	PACK(sim, mail.window_n),      PACK(sim, mail.window_sum), PACK(sim, outcome.events),
	PACK(sim, mail.events_before), PACK(sim, outcome.hops),    PACK(sim, outcome.hops_before),
	PACK(sim, run.full),           PACK(sim, outcome.latest),  PACK(sim, outcome.delivered_all),
	PACK(sim, mail.n_queued),      PACK(sim, mail.next_event), PACK(sim, mail.is_dry),
	PACK_EACH(sim, mail.mailed),
};

static const struct pack_member tally_members[] = {
	PACK(metrics_tally, warmed),
	PACK(metrics_tally, flows_done),
	PACK_EACH(metrics_tally, per_sl),
};

static const struct pack_member metrics_members[] = {
	PACK(sim_metrics, made),      PACK(sim_metrics, made_bytes),
	PACK(sim_metrics, delivered), PACK(sim_metrics, delivered_bytes),
	PACK(sim_metrics, checksum),  PACK_EACH(sim_metrics, lost),
};

static const struct pack_member checks_members[] = {
	PACK(sim_checks, out_of_order),
	PACK(sim_checks, duplicates),
};

static void pack_summary(struct pack *p, struct sim *part)
{
	PACK_STRUCT(p, sim_members, part);
	PACK_STRUCT(p, tally_members, part->outcome.tally);
	PACK_STRUCT(p, metrics_members, part->outcome.metrics);
	PACK_STRUCT(p, checks_members, &part->outcome.metrics->checks);
}

/* ---- mail --------------------------------------------------------------- */

/* Array of structs without pointers. All ranks run the same program, so the layout is the same. */
static void pack_array(struct pack *p, void **rows, size_t *n, size_t *cap, size_t size)
{
	*n = pack_count(p, *n);
	if (p->reads && *n) {
		if (!pack_check(p, *n <= p->left / size)) {
			*n = 0;
			return;
		}
		*rows = hd_grow(*rows, cap, *n, size);
	}
	if (*n)
		pack_bytes(p, *rows, *n * size);
}

#define PACK_ARRAY(p, m, what)                                                              \
	do {                                                                                \
		void *rows = (m)->what;                                                     \
                                                                                            \
		pack_array(p, &rows, &(m)->n_##what, &(m)->what##_cap, sizeof(*(m)->what)); \
		(m)->what = rows;                                                           \
	} while (0)

/* The packet_extra records of a mailbox, one per packet. */
static void pack_extras(struct pack *p, struct mailbox *m)
{
	void *rows = m->extras;
	size_t n = m->n_packets;

	pack_array(p, &rows, &n, &m->extras_cap, sizeof(*m->extras));
	m->extras = rows;
	pack_check(p, n == m->n_packets);
}

static void mailbox_empty(struct mailbox *m)
{
	m->n_packets = m->n_credits = 0;
	m->n_events = m->n_answers = m->n_deliveries = 0;
}

static bool port_is_of(const struct sim *s, uint32_t port, uint32_t part)
{
	return port < s->setup->n_ports && s->cut->part_of_port[port] == part;
}

static bool packet_is_sound(const struct sim *s, const struct packet_record *p, uint32_t from)
{
	if (!port_is_of(s, p->up, from) || !port_is_of(s, s->setup->ports[p->up].peer, s->part))
		return false;
	return p->bytes > 0 && p->bytes <= s->max_bytes && p->sl < N_SLS &&
	       s->sl_index[p->sl] < s->n_sls &&
	       (p->vl == VL_MANAGEMENT ? s->n_vls > s->vl15 : p->vl < s->vl15);
}

static bool extra_is_sound(const struct sim *s, const struct packet_extra *x)
{
	return (x->source < s->setup->n_nodes || x->source == SIM_NONE) &&
	       x->endpoint <= s->ends.n && x->kind <= SIM_RESULT &&
	       (x->kind != SIM_CONTRIBUTION || s->reductions);
}

static bool credit_is_sound(const struct sim *s, const struct partition_credit *c)
{
	unsigned vl = c->what >> RING_VL_SHIFT;

	return port_is_of(s, c->up, s->part) && (!(c->what & RING_BLOCKS) || vl < s->n_vls);
}

static bool event_is_sound(const struct sim *s, const struct event *e)
{
	return key_kind(e->key) == EV_UPDATE && port_is_of(s, key_port(e->key), s->part) &&
	       key_vl(e->key) < s->n_vls;
}

static bool answer_is_sound(const struct sim *s, const struct delayed *d)
{
	return s->control && d->flow < s->control->rules->n_flows &&
	       flow_home(s, d->flow) == s->part;
}

/* Whether this mail is possible from its sender. `s` is the domain that reads it. */
static bool mail_is_sound(const struct sim *s, const struct mailbox *m, uint32_t from)
{
	bool sound = true;

	for (size_t i = 0; i < m->n_packets && sound; i++)
		sound = packet_is_sound(s, &m->packets[i], from);
	for (size_t i = 0; i < m->n_packets && s->pool.extras && sound; i++)
		sound = extra_is_sound(s, &m->extras[i]);
	for (size_t i = 0; i < m->n_credits && sound; i++)
		sound = credit_is_sound(s, &m->credits[i]);
	for (size_t i = 0; i < m->n_events && sound; i++)
		sound = event_is_sound(s, &m->events[i]);
	for (size_t i = 0; i < m->n_answers && sound; i++)
		sound = answer_is_sound(s, &m->answers[i]);
	for (size_t i = 0; i < m->n_deliveries && sound; i++)
		sound = m->deliveries[i].flow < s->n_flows &&
			flow_home(s, m->deliveries[i].flow) == s->part &&
			port_is_of(s, m->deliveries[i].where, from);
	return sound;
}

void mailbox_pack(struct pack *p, const struct sim *reader, struct mailbox *m, uint32_t from)
{
	PACK_ARRAY(p, m, packets);
	if (reader->pool.extras)
		pack_extras(p, m);
	PACK_ARRAY(p, m, credits);
	PACK_ARRAY(p, m, events);
	PACK_ARRAY(p, m, answers);
	PACK_ARRAY(p, m, deliveries);
	if (p->reads && (p->refused || !mail_is_sound(reader, m, from))) {
		pack_check(p, false);
		mailbox_empty(m);
	}
}

/* M2: deliveries of another process count like deliveries of the flow's own domain. */
static void deliveries_count(struct sim *home, const struct mailbox *m)
{
	struct metrics_tally *t = home->outcome.tally;

	for (size_t i = 0; t->per_flow && i < m->n_deliveries; i++) {
		if (++t->per_flow[m->deliveries[i].flow] == home->rules.packets_per_flow)
			t->flows_done++;
	}
}

/* ---- notifications of observers -------------------------------------------- */

/* Moves notifications of a domain to rank 0's copy of the domain. */
static void pack_notifications(struct pack *p, struct sim *part)
{
	struct observer_event *t = part->tell.queue.heap;
	size_t n = pack_count(p, part->tell.queue.n);

	if (!p->reads) {
		pack_bytes(p, t, n * sizeof(*t));
		part->tell.queue.n = 0;
		return;
	}
	for (size_t i = 0; i < n && !p->refused; i++) {
		struct observer_event one;

		pack_bytes(p, &one, sizeof(one));
		if (pack_check(p, observers_event_is_valid(part, &one)) && !p->refused)
			observers_add(part, &one);
	}
}

/* ---- together ----------------------------------------------------------- */

/* Messages of endpoints from one domain to another. */
static void pack_endpoint_messages(struct domains *p, struct pack *k, uint32_t from, uint32_t to)
{
	const struct sim *whole = p->whole;

	for (uint32_t i = 0; i < whole->ends.n; i++)
		whole->ends.all[i].mail(whole->ends.all[i].context, k, from, to);
}

/* Messages between all domains of two processes, also those of global instants. */
static void pack_all_endpoint_messages(struct domains *p, struct pack *k, unsigned from,
				       unsigned to)
{
	const uint16_t *rank = p->distant->rank_of_part;

	for (uint32_t i = 0; i < p->cut.n; i++) {
		for (uint32_t j = 0; rank[i] == from && j < p->cut.n; j++) {
			if (rank[j] == to)
				pack_endpoint_messages(p, k, i, j);
		}
	}
}

/* Mailboxes of this window between all domains of two processes. */
static void pack_mail(struct domains *p, struct pack *k, unsigned from, unsigned to)
{
	const uint16_t *rank = p->distant->rank_of_part;
	struct mailbox *boxes = p->boxes[p->window & 1];

	for (uint32_t i = 0; i < p->cut.n; i++) {
		for (uint32_t j = 0; rank[i] == from && j < p->cut.n; j++) {
			struct mailbox *m = &boxes[(size_t)i * p->cut.n + j];

			if (rank[j] != to)
				continue;
			mailbox_pack(k, p->part[j], m, i);
			if (k->reads)
				deliveries_count(p->part[j], m);
		}
	}
}

static void pack_ours(struct domains *p, struct pack *k, unsigned from, unsigned to, bool mail)
{
	const uint16_t *rank = p->distant->rank_of_part;

	pack_same(k, mail);
	for (uint32_t i = 0; i < p->cut.n; i++) {
		if (rank[i] != from)
			continue;
		pack_summary(k, p->part[i]);
		if (to == 0 && p->whole->tell.n_observers)
			pack_notifications(k, p->part[i]);
	}
	if (mail)
		pack_mail(p, k, from, to);
	if (p->whole->ends.n)
		pack_all_endpoint_messages(p, k, from, to);
}

/* Whether the domain has only timers left, and no mail in flight. */
static bool is_dry_here(const struct domains *p, uint32_t i)
{
	const struct mailbox *boxes = &p->boxes[p->window & 1][(size_t)i * p->cut.n];

	if (!domain_is_dry(p->part[i]))
		return false;
	for (uint32_t to = 0; to < p->cut.n; to++) {
		if (mailbox_is_live(&boxes[to]))
			return false;
	}
	return true;
}

static void domains_summarize(struct domains *p)
{
	for (uint32_t i = p->first; i < p->last; i++) {
		struct sim *part = p->part[i];
		const struct event *e = eventq_first(&part->q);

		part->mail.n_queued = eventq_count(&part->q);
		part->mail.next_event = e ? e->when : NEVER;
		part->mail.is_dry = is_dry_here(p, i);
	}
}

static void exchange_once(struct domains *p, bool mail)
{
	struct remote_domains *d = p->distant;
	const unsigned me = d->world->rank;
	struct pack k;

	domains_summarize(p);
	for (unsigned i = 0; i < d->world->n; i++) {
		strbuf_clear(&d->to[i]);
		pack_to(&k, &d->to[i]);
		/* Notifications are sent once, to rank 0. */
		if (i != me)
			pack_ours(p, &k, me, i, mail);
	}
	world_exchange(d->world, d->to, d->from);
	for (unsigned i = 0; i < d->world->n; i++) {
		if (i == me)
			continue;
		pack_from(&k, d->from[i].bytes, d->from[i].len);
		pack_ours(p, &k, i, me, mail);
		if (!pack_is_done(&k))
			remote_refuse(p, i);
	}
}

void remote_exchange(struct domains *p, bool mail)
{
	if (!p->distant)
		return;
	exchange_once(p, mail);
	/* Only the flow's own process knows whether the flow has enough packets. */
	if (mail && p->whole->outcome.tally->per_flow)
		exchange_once(p, false);
}

void remote_mail_sent(struct domains *p)
{
	struct mailbox *boxes = p->boxes[p->window & 1];

	for (uint32_t i = p->first; p->distant && i < p->last; i++) {
		for (uint32_t j = 0; j < p->cut.n; j++) {
			if (p->part[j]->mail.is_elsewhere)
				mailbox_empty(&boxes[(size_t)i * p->cut.n + j]);
		}
	}
}

void remote_gather(struct sim *s, const struct strbuf *mine, remote_read_fn *found, void *context)
{
	struct domains *p = s->parts;
	struct remote_domains *d = p->distant;

	world_share(d->world, mine, d->from);
	for (unsigned i = 0; i < d->world->n; i++) {
		struct pack k;

		pack_from(&k, d->from[i].bytes, d->from[i].len);
		found(s, &k, context);
		if (!pack_is_done(&k))
			remote_refuse(p, i);
	}
}

static void read_deliveries(struct sim *s, struct pack *k, void *context)
{
	struct domains *p = s->parts;
	size_t n = pack_count(k, 0);

	(void)context;
	if (!pack_check(k, n <= k->left / sizeof(*p->all)))
		return;
	p->all = hd_grow(p->all, &p->all_cap, p->n_all + n, sizeof(*p->all));
	if (n)
		pack_bytes(k, p->all + p->n_all, n * sizeof(*p->all));
	p->n_all += n;
}

void remote_deliveries(struct domains *p)
{
	struct strbuf mine = STRBUF_INIT;
	struct pack k;

	if (!p->distant)
		return;
	pack_to(&k, &mine);
	pack_count(&k, p->n_all);
	pack_bytes(&k, p->all, p->n_all * sizeof(*p->all));
	p->n_all = 0;
	remote_gather(p->whole, &mine, read_deliveries, NULL);
	strbuf_fini(&mine);
}

static void read_answer(struct sim *s, struct pack *k, void *context)
{
	bool *answers = context, answer = false;

	(void)s;
	pack_bool(k, &answer);
	if (answers[0])
		return;
	answers[0] = true; /* rank 0 has its own answer */
	answers[1] = answer;
}

bool remote_ask(struct domains *p, bool answer)
{
	struct strbuf mine = STRBUF_INIT;
	bool answers[2] = { false, answer };
	struct pack k;

	if (!p->distant)
		return answer;
	pack_to(&k, &mine);
	pack_bool(&k, &answer);
	remote_gather(p->whole, &mine, read_answer, answers);
	strbuf_fini(&mine);
	return answers[1];
}

/* ---- links that go up --------------------------------------------------- */

/* Rows of both ends of all links that come up now, in setup order. */
static void pack_fault_rows(struct sim *s, struct pack *k, hd_time now, unsigned rank)
{
	const struct domains *p = s->parts;

	for (uint32_t i = 0; i < s->setup->n_faults; i++) {
		const struct sim_fault *f = &s->setup->faults[i];
		const uint32_t ends[2] = { f->port, s->setup->ports[f->port].peer };

		if (f->kind != SIM_LINK_UP || f->time != now || ends[1] == NONE)
			continue;
		for (unsigned e = 0; e < 2; e++) {
			uint32_t part = p->cut.part_of_port[ends[e]];

			if (p->distant->rank_of_part[part] == rank)
				pack_bytes(k, &s->fc[(size_t)ends[e] * s->n_vls],
					   s->n_vls * sizeof(*s->fc));
		}
	}
}

static bool comes_up(const struct sim_setup *setup, hd_time now)
{
	for (uint32_t i = 0; i < setup->n_faults; i++) {
		if (setup->faults[i].kind == SIM_LINK_UP && setup->faults[i].time == now)
			return true;
	}
	return false;
}

struct fault_reader {
	hd_time now;
	unsigned rank;
};

static void read_fault_rows(struct sim *s, struct pack *k, void *context)
{
	struct fault_reader *r = context;

	pack_fault_rows(s, k, r->now, r->rank++);
}

void remote_faults(struct sim *s, hd_time now)
{
	struct fault_reader reader = { .now = now };
	struct strbuf mine = STRBUF_INIT;
	struct pack k;

	if (!sim_is_remote(s) || !s->fc || !comes_up(s->setup, now))
		return;
	pack_to(&k, &mine);
	pack_fault_rows(s, &k, now, s->parts->distant->world->rank);
	remote_gather(s, &mine, read_fault_rows, &reader);
	strbuf_fini(&mine);
}
