/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/routing/notice.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "subnet/routing/adaptive.h"

/* ---- when ports are not taken -------------------------------------------- */

struct notice_span {
	hd_time from, until;
};

/* Disjoint time spans, in order. */
struct spans {
	struct notice_span *items;
	size_t n, cap;
};

static hd_time later(hd_time t, hd_time by)
{
	return t > NEVER - by ? NEVER : t + by;
}

/* A change of the known link state of a port: down, or up again. */
struct turn {
	hd_time time;
	uint32_t port;
	bool is_down;
};

struct turns {
	struct turn *items;
	size_t n, cap;
};

static void turns_add(struct turns *t, struct turn turn)
{
	t->items = hd_grow(t->items, &t->cap, t->n + 1, sizeof(*t->items));
	t->items[t->n++] = turn;
}

static int compare_turns(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->port > y->port) - (x->port < y->port);
}

/* F3: both ends of a link are down from a fault until it comes up. */
static void find_turns(const struct sim_setup *setup, hd_time *since, const struct sim_fault *f,
		       uint32_t port, struct turns *out)
{
	hd_time known = later(since[port], setup->adaptive->heal);

	if (f->kind == SIM_LINK_DOWN && since[port] == NEVER) {
		since[port] = f->time;
	} else if (f->kind == SIM_LINK_UP && since[port] != NEVER) {
		if (known < f->time) {
			turns_add(out, (struct turn){ known, port, true });
			turns_add(out, (struct turn){ f->time, port, false });
		}
		since[port] = NEVER;
	}
}

static struct turns turns_of(const struct sim_setup *setup)
{
	hd_time *since = hd_alloc(setup->n_ports, sizeof(*since));
	struct turns out = { 0 };

	for (uint32_t i = 0; i < setup->n_ports; i++)
		since[i] = NEVER;
	for (uint32_t i = 0; i < setup->n_faults; i++) {
		const struct sim_fault *f = &setup->faults[i];
		uint32_t peer = setup->ports[f->port].peer;

		find_turns(setup, since, f, f->port, &out);
		if (peer != SIM_NONE)
			find_turns(setup, since, f, peer, &out);
	}
	for (uint32_t i = 0; i < setup->n_ports; i++) {
		hd_time known = later(since[i], setup->adaptive->heal);

		if (known != NEVER)
			turns_add(&out, (struct turn){ known, i, true });
	}
	if (out.n)
		qsort(out.items, out.n, sizeof(*out.items), compare_turns);
	free(since);
	return out;
}

/*
 * By this time, groups nearer to their target have settled. Others may exchange notices for ever,
 * which ends here in runs without an end.
 */
static hd_time end_of(const struct sim_setup *setup, hd_time stop, const struct turns *turns)
{
	hd_time last = turns->n ? turns->items[turns->n - 1].time : 0;

	if (stop)
		return later(stop, 1);
	for (uint32_t i = 0; i <= setup->subnet->n_switches; i++)
		last = later(last, setup->adaptive->notify);
	return later(last, 1);
}

/* ---- notifications ---------------------------------------------------- */

struct notices {
	struct map index; /* of (switch, target, port) in `lists` */
	struct spans *lists;
	uint32_t n;
	size_t cap;
};

/* A notice that the neighbours of a switch receive at a given time. */
struct notice_message {
	hd_time time;
	switch_id from;
	bool wayless;
};

/* Processes all events toward one target in order. */
struct notice_sender {
	const struct sim_setup *setup;
	const struct adaptive *groups;
	struct notices *out;
	struct turns turns;
	hd_time stop;
	uint32_t *node_of; /* per switch: sim node */
	bool *down;        /* per sim port: known to be down */
	switch_id target;
	hd_time now;
	/* Per switch: its state, and the state that its neighbours know. */
	bool *wayless, *told;
	struct spans *spans;
	struct notice_message *messages; /* in flight, in order of time */
	size_t first, n_messages, cap;
};

static uint64_t key_of(switch_id sw, switch_id target, unsigned port)
{
	return (uint64_t)sw << 36 | (uint64_t)target << 8 | port;
}

/* The switch at the other end of a port, or SIM_NONE. */
static uint32_t switch_beyond(const struct notice_sender *t, uint32_t port)
{
	uint32_t peer = t->setup->ports[port].peer;
	const struct sim_node *far =
		peer == SIM_NONE ? NULL : &t->setup->nodes[t->setup->ports[peer].node];

	return far && far->kind == SIM_SWITCH ? far->sw : SIM_NONE;
}

static bool is_taken(const struct notice_sender *t, uint32_t port)
{
	uint32_t far = switch_beyond(t, port);

	return t->setup->ports[port].peer != SIM_NONE && !t->down[port] &&
	       (far == SIM_NONE || !t->told[far]);
}

static bool is_wayless(const struct notice_sender *t, switch_id sw)
{
	const struct port_set *group =
		sw == t->target ? NULL : adaptive_group(t->groups, sw, t->target);
	uint32_t first = t->setup->nodes[t->node_of[sw]].first_port;

	if (!group)
		return false;
	for (unsigned port = 0; port_set_next(group, &port);) {
		if (is_taken(t, first + port))
			return false;
	}
	return true;
}

/* Updates whether a switch has a path to the target; sends notices on a change. */
static void look(struct notice_sender *t, switch_id sw)
{
	bool wayless = is_wayless(t, sw);

	if (wayless == t->wayless[sw])
		return;
	t->wayless[sw] = wayless;
	t->messages = hd_grow(t->messages, &t->cap, t->n_messages + 1, sizeof(*t->messages));
	t->messages[t->n_messages++] =
		(struct notice_message){ later(t->now, t->setup->adaptive->notify), sw, wayless };
}

static void look_around(struct notice_sender *t, switch_id sw)
{
	const struct sim_node *n = &t->setup->nodes[t->node_of[sw]];

	for (uint32_t port = n->first_port; port <= n->first_port + n->n_ports; port++) {
		uint32_t far = switch_beyond(t, port);

		if (far != SIM_NONE)
			look(t, far);
	}
}

static void arrive(struct notice_sender *t, const struct notice_message *l)
{
	struct spans *s = &t->spans[l->from];

	t->told[l->from] = l->wayless;
	if (!l->wayless) {
		s->items[s->n - 1].until = t->now;
		return;
	}
	s->items = hd_grow(s->items, &s->cap, s->n + 1, sizeof(*s->items));
	s->items[s->n++] = (struct notice_span){ t->now, NEVER };
}

/* Processes all events of an instant before the state is evaluated. */
static void go_on(struct notice_sender *t, size_t *turn)
{
	size_t turns = *turn, messages = t->first;

	for (; turns < t->turns.n && t->turns.items[turns].time == t->now; turns++)
		t->down[t->turns.items[turns].port] = t->turns.items[turns].is_down;
	for (; messages < t->n_messages && t->messages[messages].time == t->now; messages++)
		arrive(t, &t->messages[messages]);
	for (; *turn < turns; ++*turn) {
		uint32_t port = t->turns.items[*turn].port;
		const struct sim_node *n = &t->setup->nodes[t->setup->ports[port].node];

		if (n->kind == SIM_SWITCH)
			look(t, n->sw);
	}
	for (; t->first < messages; t->first++)
		look_around(t, t->messages[t->first].from);
}

static hd_time next_time(const struct notice_sender *t, size_t turn)
{
	hd_time a = turn < t->turns.n ? t->turns.items[turn].time : NEVER;
	hd_time b = t->first < t->n_messages ? t->messages[t->first].time : NEVER;

	return a < b ? a : b;
}

/* Records what the neighbours of a switch knew, for each of their ports to it. */
static void keep(struct notice_sender *t, switch_id sw)
{
	const struct sim_node *n = &t->setup->nodes[t->node_of[sw]];
	struct notices *out = t->out;

	for (uint32_t port = n->first_port; port <= n->first_port + n->n_ports; port++) {
		uint32_t near = switch_beyond(t, port);
		uint32_t peer = t->setup->ports[port].peer;

		if (near == SIM_NONE)
			continue;
		uint32_t base = t->setup->nodes[t->node_of[near]].first_port;

		map_put(&out->index, key_of(near, t->target, peer - base), out->n);
	}
	out->lists = hd_grow(out->lists, &out->cap, out->n + 1u, sizeof(*out->lists));
	out->lists[out->n++] = t->spans[sw];
}

static void tell_of(struct notice_sender *t, switch_id target)
{
	uint32_t n = t->groups->n;
	size_t turn = 0;

	t->target = target;
	t->now = 0;
	t->first = t->n_messages = 0;
	memset(t->down, 0, t->setup->n_ports * sizeof(*t->down));
	memset(t->wayless, 0, n * sizeof(*t->wayless));
	memset(t->told, 0, n * sizeof(*t->told));
	memset(t->spans, 0, n * sizeof(*t->spans));
	for (switch_id sw = 0; sw < n; sw++)
		look(t, sw);
	for (hd_time next; (next = next_time(t, turn)) < t->stop;) {
		t->now = next;
		go_on(t, &turn);
	}
	for (switch_id sw = 0; sw < n; sw++) {
		if (t->spans[sw].n)
			keep(t, sw);
	}
}

void notice_table_free(struct notices *n)
{
	if (!n)
		return;
	for (uint32_t i = 0; i < n->n; i++)
		free(n->lists[i].items);
	map_fini(&n->index);
	free(n->lists);
	free(n);
}

struct notices *notice_table_new(const struct sim_setup *setup, hd_time stop)
{
	if (!setup->adaptive->notify)
		return NULL;
	const struct adaptive *groups = setup->subnet->adaptive;
	struct notice_sender t = {
		.setup = setup,
		.groups = groups,
		.out = hd_alloc(1, sizeof(*t.out)),
		.turns = turns_of(setup),
		.node_of = hd_alloc(groups->n, sizeof(*t.node_of)),
		.down = hd_alloc(setup->n_ports, sizeof(*t.down)),
		.wayless = hd_alloc(groups->n, sizeof(*t.wayless)),
		.told = hd_alloc(groups->n, sizeof(*t.told)),
		.spans = hd_alloc(groups->n, sizeof(*t.spans)),
	};

	t.stop = end_of(setup, stop, &t.turns);
	for (uint32_t v = 0; v < setup->n_nodes; v++) {
		if (setup->nodes[v].kind == SIM_SWITCH)
			t.node_of[setup->nodes[v].sw] = v;
	}
	for (switch_id target = 0; target < groups->n; target++)
		tell_of(&t, target);
	free(t.turns.items);
	free(t.node_of);
	free(t.down);
	free(t.wayless);
	free(t.told);
	free(t.spans);
	free(t.messages);
	if (t.out->n > 0)
		return t.out;
	notice_table_free(t.out);
	return NULL;
}

bool notice_holds(const struct notices *n, switch_id sw, switch_id target, unsigned port,
		  hd_time now)
{
	uint32_t i = map_get(&n->index, key_of(sw, target, port));

	for (size_t k = 0; i != MAP_NONE && k < n->lists[i].n; k++) {
		const struct notice_span *s = &n->lists[i].items[k];

		if (s->from <= now && now < s->until)
			return true;
	}
	return false;
}
