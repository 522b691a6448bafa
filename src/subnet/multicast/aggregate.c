/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/multicast/aggregate.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"

/* ---- the sets of a group ------------------------------------------------- */

static const uint64_t *set_of(const struct subnet *s, const struct mcast_group *m, switch_id sw)
{
	return mft_get(&s->mft[m->subnet], sw, s->n_switches, m->mlid);
}

/* The next port of the switch's set after *out; false at the end. */
static bool next_port(const struct subnet *s, const struct mcast_group *m, switch_id sw, int *out)
{
	const uint64_t *set = set_of(s, m, sw);

	while (set && ++*out <= switch_node(s, sw)->n_ports) {
		if (mcast_has_port(set, (unsigned)*out))
			return true;
	}
	return false;
}

/* The switch behind a port, and its port of that cable; or TOPO_NONE. */
static switch_id behind(const struct subnet *s, switch_id sw, unsigned out, unsigned *in)
{
	const struct topo *t = s->topo;
	port_id peer = t->ports[switch_node(s, sw)->first_port + out].peer;

	if (out == 0 || peer == TOPO_NONE)
		return TOPO_NONE;
	*in = t->ports[peer].number;
	return s->switch_of_node[t->ports[peer].node];
}

/* The switch of an end port, and its port of that cable; or TOPO_NONE. */
static switch_id home_of(const struct subnet *s, port_id end, unsigned *in)
{
	const struct topo *t = s->topo;
	const struct topo_port *p = &t->ports[end];

	*in = 0;
	if (topo_is_switch(t, p->node))
		return s->switch_of_node[p->node];
	if (p->peer == TOPO_NONE)
		return TOPO_NONE;
	*in = t->ports[p->peer].number;
	return s->switch_of_node[t->ports[p->peer].node];
}

/* ---- making one ---------------------------------------------------------- */

/* All switches from one on, by distance. */
struct switch_search {
	const struct subnet *s;
	const struct mcast_group *group;
	switch_id *order;
	uint32_t n;
	uint32_t *distance; /* per switch, + 1; 0: not reached */
	uint8_t *up;        /* the port that leads back */
	bool closes;        /* in a circle */
};

static void walk_init(struct switch_search *w, const struct subnet *s, const struct mcast_group *m)
{
	*w = (struct switch_search){
		.s = s,
		.group = m,
		.order = hd_alloc(s->n_switches, sizeof(*w->order)),
		.distance = hd_alloc(s->n_switches, sizeof(*w->distance)),
		.up = hd_alloc(s->n_switches, sizeof(*w->up)),
	};
}

static void walk_fini(struct switch_search *w)
{
	free(w->order);
	free(w->distance);
	free(w->up);
}

static void walk_on(struct switch_search *w, switch_id sw)
{
	int out = -1;

	while (next_port(w->s, w->group, sw, &out)) {
		unsigned in;
		switch_id next = behind(w->s, sw, (unsigned)out, &in);

		if (next == TOPO_NONE || (w->distance[sw] > 1 && out == w->up[sw]))
			continue;
		if (w->distance[next]) {
			w->closes = true;
			continue;
		}
		w->distance[next] = w->distance[sw] + 1;
		w->up[next] = (uint8_t)in;
		w->order[w->n++] = next;
	}
}

static void walk_from(struct switch_search *w, switch_id start)
{
	for (uint32_t i = 0; i < w->n; i++)
		w->distance[w->order[i]] = 0;
	w->order[0] = start;
	w->n = 1;
	w->distance[start] = 1;
	w->up[start] = 0;
	for (uint32_t i = 0; i < w->n && !w->closes; i++)
		walk_on(w, w->order[i]);
}

/* Finds the middle of a longest path; `w` then holds the search from it. */
static switch_id walk_from_centre(struct switch_search *w, switch_id start)
{
	unsigned in;

	walk_from(w, start);
	walk_from(w, w->order[w->n - 1]);
	switch_id at = w->order[w->n - 1];
	uint32_t longest = w->closes ? 0 : w->distance[at] - 1;

	for (uint32_t i = 0; i < longest / 2; i++)
		at = behind(w->s, at, w->up[at], &in);
	if (longest % 2) {
		switch_id other = behind(w->s, at, w->up[at], &in);

		at = other < at ? other : at;
	}
	walk_from(w, at);
	return at;
}

static int by_switch(const void *a, const void *b)
{
	const struct aggregator *x = a, *y = b;

	return x->sw < y->sw ? -1 : x->sw > y->sw;
}

static void nodes_of_walk(const struct switch_search *w, struct aggregation *a)
{
	a->nodes = hd_alloc(w->n, sizeof(*a->nodes));
	a->n = w->n;
	for (uint32_t i = 0; i < w->n; i++) {
		switch_id sw = w->order[i];
		struct aggregator *x = &a->nodes[i];
		int out = -1;

		*x = (struct aggregator){ .sw = sw, .parent = w->up[sw] };
		while (next_port(w->s, w->group, sw, &out)) {
			if (sw == a->root || out != x->parent)
				x->n_children++;
		}
	}
	qsort(a->nodes, a->n, sizeof(*a->nodes), by_switch);
}

static enum hd_status refuse_full(const struct subnet *s, const struct aggregation *a,
				  struct aggregation_limit limit, struct diag *d)
{
	uint32_t *trees = hd_alloc(s->n_switches, sizeof(*trees));
	enum hd_status status = HD_OK;

	for (uint32_t i = limit.from; i < s->n_aggregations; i++) {
		const struct aggregation *b = &s->aggregations[i];

		for (uint32_t k = 0; k < b->n; k++)
			trees[b->nodes[k].sw]++;
	}
	for (uint32_t k = 0; k < a->n && status == HD_OK; k++) {
		if (trees[a->nodes[k].sw] >= limit.most)
			status = diag_fail(
				d, HD_ERR_FULL,
				"switch '%s' has %u aggregation trees already, as many as it can have",
				switch_node(s, a->nodes[k].sw)->name, limit.most);
	}
	free(trees);
	return status;
}

enum hd_status aggregation_add(struct subnet *s, uint32_t group, struct aggregation_limit limit,
			       struct diag *d)
{
	const struct mcast_group *m = &s->groups[group];
	struct aggregation a = { .group = group, .mlid = m->mlid, .subnet = m->subnet };
	unsigned in;
	switch_id start = home_of(s, m->members[0], &in);
	struct switch_search w;

	if (m->source != TOPO_NONE || start == TOPO_NONE)
		return diag_fail(d, HD_ERR_UNFIT,
				 "no aggregation tree without a tree that any member may send to");
	walk_init(&w, s, m);
	a.root = walk_from_centre(&w, start);
	a.levels = w.distance[w.order[w.n - 1]];
	nodes_of_walk(&w, &a);
	enum hd_status status =
		w.closes ? diag_fail(d, HD_ERR_UNFIT, "the sets of the group close a circle")
			 : aggregation_check(s, &a, d);

	if (status == HD_OK)
		status = refuse_full(s, &a, limit, d);
	walk_fini(&w);
	if (status != HD_OK) {
		free(a.nodes);
		return status;
	}
	s->aggregations = hd_grow(s->aggregations, &s->aggregations_cap,
				  (size_t)s->n_aggregations + 1, sizeof(a));
	s->aggregations[s->n_aggregations++] = a;
	return HD_OK;
}

void aggregation_drop(struct subnet *s, uint32_t n)
{
	while (s->n_aggregations > n)
		free(s->aggregations[--s->n_aggregations].nodes);
}

/* ---- checking one ------------------------------------------------------- */

struct trial {
	const struct subnet *s;
	const struct aggregation *a;
	const struct mcast_group *group;
	bool *heard;    /* [port]: a child that has contributed */
	uint8_t *given; /* [port]: number of results received by an end port */
	uint32_t steps;
};

static const struct aggregator *node_at(const struct aggregation *a, switch_id sw)
{
	const struct aggregator key = { .sw = sw };

	return bsearch(&key, a->nodes, a->n, sizeof(key), by_switch);
}

static enum hd_status fault(const struct trial *t, struct diag *d, const char *what, switch_id sw)
{
	return diag_fail(d, HD_ERR_UNFIT, "aggregation tree of MLID 0x%04x: %s '%s'", t->a->mlid,
			 what, switch_node(t->s, sw)->name);
}

/* Traces a member's contribution up to the root. */
static enum hd_status climb(struct trial *t, port_id member, struct diag *d)
{
	unsigned in;
	switch_id sw = home_of(t->s, member, &in);

	for (uint32_t steps = 0; steps <= t->a->n && sw != TOPO_NONE; steps++) {
		const struct aggregator *x = node_at(t->a, sw);
		const uint64_t *set = set_of(t->s, t->group, sw);

		if (!x)
			return fault(t, d, "no aggregator at switch", sw);
		if (!set || !mcast_has_port(set, in) || (sw != t->a->root && in == x->parent))
			return fault(t, d, "a contribution by a wrong port of", sw);
		t->heard[switch_node(t->s, sw)->first_port + in] = true;
		if (sw == t->a->root)
			return HD_OK;
		sw = behind(t->s, sw, x->parent, &in);
	}
	return diag_fail(
		d, HD_ERR_UNFIT,
		"aggregation tree of MLID 0x%04x: a member's way up does not end at the root",
		t->a->mlid);
}

/* Each aggregator waits for the children that send to it. */
static enum hd_status listen(const struct trial *t, struct diag *d)
{
	for (uint32_t i = 0; i < t->a->n; i++) {
		const struct aggregator *x = &t->a->nodes[i];
		const struct topo_node *node = switch_node(t->s, x->sw);
		uint32_t n = 0;

		for (unsigned in = 0; in <= node->n_ports; in++)
			n += t->heard[node->first_port + in];
		if (n != x->n_children)
			return fault(t, d, "wrong number of children at switch", x->sw);
	}
	return HD_OK;
}

/* Sends copies of the result from a switch on; a limit detects cycles. */
static void descend(struct trial *t, switch_id sw, int from)
{
	int out = -1;

	if (++t->steps > t->a->n)
		return;
	while (next_port(t->s, t->group, sw, &out)) {
		unsigned in;
		switch_id next = behind(t->s, sw, (unsigned)out, &in);
		port_id p = switch_node(t->s, sw)->first_port + (unsigned)out;

		if (out == from)
			continue;
		if (next != TOPO_NONE)
			descend(t, next, (int)in);
		else if (out == 0)
			t->given[p] = 1;
		else if (t->s->topo->ports[p].peer != TOPO_NONE)
			t->given[t->s->topo->ports[p].peer]++;
	}
}

static enum hd_status trial_run(struct trial *t, struct diag *d)
{
	const struct mcast_group *m = t->group;

	for (uint32_t i = 0; i < m->n_members; i++) {
		if (climb(t, m->members[i], d) != HD_OK)
			return d->status;
	}
	if (listen(t, d) != HD_OK)
		return d->status;
	descend(t, t->a->root, -1);
	if (t->steps > t->a->n)
		return fault(t, d, "results in a circle from", t->a->root);
	for (uint32_t i = 0; i < m->n_members; i++) {
		if (t->given[m->members[i]] != 1)
			return fault(t, d, "a member gets no result from", t->a->root);
	}
	return HD_OK;
}

enum hd_status aggregation_check(const struct subnet *s, const struct aggregation *a,
				 struct diag *d)
{
	struct trial t = {
		.s = s,
		.a = a,
		.group = &s->groups[a->group],
		.heard = hd_alloc(s->topo->n_ports, sizeof(*t.heard)),
		.given = hd_alloc(s->topo->n_ports, sizeof(*t.given)),
	};
	enum hd_status status = trial_run(&t, d);

	free(t.heard);
	free(t.given);
	return status;
}
