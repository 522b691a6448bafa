/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/notice.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "subnet/adaptive.h"

/* ---- times --------------------------------------------------------------- */

struct span {
	hd_time from, until;
};

/* Spans that do not touch, by time. */
struct spans {
	struct span *items;
	size_t n, cap;
};

static void spans_add(struct spans *s, hd_time from, hd_time until)
{
	if (from >= until)
		return;
	if (s->n && s->items[s->n - 1].until >= from) {
		struct span *last = &s->items[s->n - 1];

		last->until = until > last->until ? until : last->until;
		return;
	}
	s->items = hd_grow(s->items, &s->cap, s->n + 1, sizeof(*s->items));
	s->items[s->n++] = (struct span){ from, until };
}

static hd_time later(hd_time t, hd_time by)
{
	return t > NEVER - by ? NEVER : t + by;
}

/* Of a or of b. */
static struct spans spans_either(const struct spans *a, const struct spans *b)
{
	struct spans out = { 0 };
	size_t i = 0, k = 0;

	while (i < a->n || k < b->n) {
		const struct span *next =
			k == b->n || (i < a->n &&
				      a->items[i].from <= b->items[k].from)
				? &a->items[i++]
				: &b->items[k++];

		spans_add(&out, next->from, next->until);
	}
	return out;
}

static struct spans spans_both(const struct spans *a, const struct spans *b)
{
	struct spans out = { 0 };
	size_t i = 0, k = 0;

	while (i < a->n && k < b->n) {
		const struct span *x = &a->items[i], *y = &b->items[k];

		spans_add(&out, x->from > y->from ? x->from : y->from,
			  x->until < y->until ? x->until : y->until);
		if (x->until <= y->until)
			i++;
		else
			k++;
	}
	return out;
}

static struct spans spans_later(const struct spans *a, hd_time from,
				hd_time until)
{
	struct spans out = { 0 };

	for (size_t i = 0; i < a->n; i++)
		spans_add(&out, later(a->items[i].from, from),
			  later(a->items[i].until, until));
	return out;
}

/* ---- who is told what ---------------------------------------------------- */

struct notices {
	struct map index; /* of (switch, target, port) in lists */
	struct spans *lists;
	uint32_t n;
	size_t cap;
};

struct teller {
	const struct sim_setup *setup;
	const struct sim_adaptive *rules;
	const struct adaptive *groups;
	struct notices *out;
	struct spans *down;    /* per sim port: when its link is */
	uint32_t *node_of;     /* per switch: sim node */
	switch_id target;      /* at the moment, */
	struct spans *wayless; /* when a switch has no way to it, */
	bool *known;           /* if that is known yet */
};

static uint64_t key_of(switch_id sw, switch_id target, unsigned port)
{
	return (uint64_t)sw << 36 | (uint64_t)target << 8 | port;
}

static void note(struct notices *n, uint64_t key, const struct spans *when)
{
	map_put(&n->index, key, n->n);
	n->lists = hd_grow(n->lists, &n->cap, n->n + 1u, sizeof(*n->lists));
	n->lists[n->n++] = *when;
}

static void find_wayless(struct teller *t, switch_id sw);

/* When a switch does not take a port toward the target. */
static struct spans avoided(struct teller *t, switch_id sw, unsigned port)
{
	const struct sim_port *p =
		&t->setup->ports[t->setup->nodes[t->node_of[sw]].first_port +
				 port];
	struct spans own = { 0 };

	if (p->peer == SIM_NONE) {
		spans_add(&own, 0, NEVER);
		return own;
	}
	own = spans_later(&t->down[p - t->setup->ports], t->rules->heal, 0);
	const struct sim_node *far =
		&t->setup->nodes[t->setup->ports[p->peer].node];

	if (far->kind != SIM_SWITCH)
		return own;
	find_wayless(t, far->sw);
	if (!t->wayless[far->sw].n)
		return own;
	struct spans told = spans_later(&t->wayless[far->sw], t->rules->notify,
					t->rules->notify);
	struct spans all = spans_either(&own, &told);

	note(t->out, key_of(sw, t->target, port), &told);
	free(own.items);
	return all;
}

/* Groups lead nearer to the target, so that this comes to an end. */
static void find_wayless(struct teller *t, switch_id sw)
{
	const struct port_set *group;
	struct spans all = { 0 };
	unsigned port = 0;
	bool first = true;

	if (t->known[sw])
		return;
	t->known[sw] = true;
	group = sw == t->target ? NULL
				: adaptive_group(t->groups, sw, t->target);
	while (group && port_set_next(group, &port)) {
		struct spans here = avoided(t, sw, port);

		if (first) {
			all = here;
		} else {
			struct spans both = spans_both(&all, &here);

			free(all.items);
			free(here.items);
			all = both;
		}
		first = false;
	}
	t->wayless[sw] = all;
}

/* Ways around (D7) make nobody wayless, but lead past who is. */
static void tell_around(struct teller *t, switch_id sw)
{
	const struct adaptive *a = t->groups;
	size_t pair = (size_t)sw * a->n + t->target;
	struct port_set ports = { { 0 } };
	unsigned port = 0;

	for (unsigned from = FROM_END; from <= FROM_GROUP; from++) {
		uint16_t group = a->detours->around[from][pair];

		for (unsigned i = 0; group != ADAPTIVE_NO_GROUP && i < 4; i++)
			ports.bits[i] |= a->groups[sw][group].bits[i];
	}
	while (port_set_next(&ports, &port)) {
		struct spans here = avoided(t, sw, port);

		free(here.items);
	}
}

static void tell_of(struct teller *t, switch_id target)
{
	uint32_t n = t->groups->n;

	t->target = target;
	memset(t->known, 0, n * sizeof(*t->known));
	for (switch_id sw = 0; sw < n; sw++)
		find_wayless(t, sw);
	for (switch_id sw = 0; t->groups->detours && sw < n; sw++)
		tell_around(t, sw);
	for (switch_id sw = 0; sw < n; sw++)
		free(t->wayless[sw].items);
	memset(t->wayless, 0, n * sizeof(*t->wayless));
}

/* One end of a link that goes down or up; `since` is when it went down. */
static void note_fault(struct teller *t, const struct sim_fault *f,
		       uint32_t port, hd_time *since)
{
	if (f->kind == SIM_LINK_DOWN && *since == NEVER) {
		*since = f->time;
	} else if (f->kind == SIM_LINK_UP && *since != NEVER) {
		spans_add(&t->down[port], *since, f->time);
		*since = NEVER;
	}
}

/* F3: both ends of a link are down from a fault on until it is up again. */
static void find_downs(struct teller *t)
{
	const struct sim_setup *setup = t->setup;
	hd_time *since = hd_alloc(setup->n_ports, sizeof(*since));

	for (uint32_t i = 0; i < setup->n_ports; i++)
		since[i] = NEVER;
	for (uint32_t i = 0; i < setup->n_faults; i++) {
		const struct sim_fault *f = &setup->faults[i];
		uint32_t peer = setup->ports[f->port].peer;

		note_fault(t, f, f->port, &since[f->port]);
		if (peer != SIM_NONE)
			note_fault(t, f, peer, &since[peer]);
	}
	for (uint32_t i = 0; i < setup->n_ports; i++) {
		if (since[i] != NEVER)
			spans_add(&t->down[i], since[i], NEVER);
	}
	free(since);
}

void notices_free(struct notices *n)
{
	if (!n)
		return;
	for (uint32_t i = 0; i < n->n; i++)
		free(n->lists[i].items);
	map_fini(&n->index);
	free(n->lists);
	free(n);
}

struct notices *notices_new(const struct sim_setup *setup)
{
	if (!setup->adaptive->notify)
		return NULL;
	const struct adaptive *groups = setup->subnet->adaptive;
	struct teller t = {
		.setup = setup,
		.rules = setup->adaptive,
		.groups = groups,
		.out = hd_alloc(1, sizeof(*t.out)),
		.down = hd_alloc(setup->n_ports, sizeof(*t.down)),
		.node_of = hd_alloc(groups->n, sizeof(*t.node_of)),
		.wayless = hd_alloc(groups->n, sizeof(*t.wayless)),
		.known = hd_alloc(groups->n, sizeof(*t.known)),
	};

	for (uint32_t v = 0; v < setup->n_nodes; v++) {
		if (setup->nodes[v].kind == SIM_SWITCH)
			t.node_of[setup->nodes[v].sw] = v;
	}
	find_downs(&t);
	for (switch_id target = 0; target < groups->n; target++)
		tell_of(&t, target);
	for (uint32_t i = 0; i < setup->n_ports; i++)
		free(t.down[i].items);
	free(t.down);
	free(t.node_of);
	free(t.wayless);
	free(t.known);
	if (t.out->n > 0)
		return t.out;
	notices_free(t.out);
	return NULL;
}

bool notice_holds(const struct notices *n, switch_id sw, switch_id target,
		  unsigned port, hd_time now)
{
	uint32_t i = map_get(&n->index, key_of(sw, target, port));

	for (size_t k = 0; i != MAP_NONE && k < n->lists[i].n; k++) {
		const struct span *s = &n->lists[i].items[k];

		if (s->from <= now && now < s->until)
			return true;
	}
	return false;
}
