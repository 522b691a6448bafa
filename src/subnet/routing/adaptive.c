/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/routing/adaptive.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel_for.h"
#include "subnet/tables/intern.h"

#define MOST_VIEWS 64 /* targets that are prepared for at once */
#define SWITCHES   8  /* of a piece of work */

struct gatherer {
	const struct sw_graph *g;
	const struct route_rule *rule;
	struct adaptive *out;
	struct table_index *index; /* per switch */
	/* At hand: */
	switch_id targets[MOST_VIEWS];
	unsigned n_targets;
	char *views;
	switch_id **queues; /* per thread */
};

static void aim(void *context, unsigned member, size_t i)
{
	struct gatherer *w = context;

	w->rule->aim(w->rule->state, w->targets[i], w->views + i * w->rule->view_size,
		     w->queues[member]);
}

/* The number of a switch's group of n ports. */
static uint16_t group_number(struct gatherer *w, switch_id at, const uint8_t *ports, unsigned n)
{
	struct adaptive *a = w->out;
	struct port_set set = { { 0 } };
	void *groups = a->groups[at];

	if (n == 0)
		return ADAPTIVE_NO_GROUP;
	for (unsigned k = 0; k < n; k++)
		set.bits[ports[k] / 64] |= UINT64_C(1) << ports[k] % 64;
	uint16_t number = (uint16_t)tables_intern(&w->index[at], &groups, &a->n_groups[at], &set,
						  sizeof(set));

	a->groups[at] = groups;
	return number;
}

static void gather_detours(struct gatherer *w, switch_id at, unsigned i)
{
	const struct route_rule *r = w->rule;
	const struct detours *d = w->out->detours;
	const void *view = w->views + i * r->view_size;
	size_t pair = (size_t)at * w->out->n + w->targets[i];
	uint8_t ports[TOPO_MAX_PORTS + 1];
	unsigned n = r->detours(r->state, view, at, FROM_GROUP, false, ports);

	d->straight[pair] = group_number(w, at, ports, n);
	for (unsigned from = FROM_END; from <= FROM_GROUP; from++) {
		n = r->detours(r->state, view, at, (enum way_in)from, true, ports);
		d->around[from][pair] = group_number(w, at, ports, n);
	}
}

static void gather_group(struct gatherer *w, switch_id at, unsigned i)
{
	const struct route_rule *r = w->rule;
	struct adaptive *a = w->out;
	uint8_t ports[TOPO_MAX_PORTS + 1];

	if (at == w->targets[i])
		return;
	unsigned n = r->ports(r->state, w->views + i * r->view_size, at, ports);

	a->number[(size_t)at * a->n + w->targets[i]] = group_number(w, at, ports, n);
	if (a->detours)
		gather_detours(w, at, i);
}

static void gather_at_switches(void *context, unsigned member, size_t piece)
{
	struct gatherer *w = context;
	switch_id end = (switch_id)(piece + 1) * SWITCHES;

	(void)member;
	end = end < w->g->n ? end : w->g->n;
	for (switch_id at = (switch_id)piece * SWITCHES; at < end; at++) {
		for (unsigned i = 0; i < w->n_targets; i++)
			gather_group(w, at, i);
	}
}

static void gather_all(struct gatherer *w, struct parallel_pool *pool)
{
	for (switch_id sw = 0; sw < w->g->n;) {
		for (w->n_targets = 0; sw < w->g->n; sw++) {
			if (w->n_targets == MOST_VIEWS)
				break;
			if (w->g->n_ends[sw] > 0)
				w->targets[w->n_targets++] = sw;
		}
		parallel_for(pool, w->n_targets, aim, w);
		parallel_for(pool, (w->g->n + SWITCHES - 1) / SWITCHES, gather_at_switches, w);
	}
}

/* [switch][target], ADAPTIVE_NO_GROUP everywhere */
static uint16_t *numbers_new(uint32_t n)
{
	uint16_t *number = hd_alloc((size_t)n * n, sizeof(*number));

	memset(number, 0xFF, (size_t)n * n * sizeof(*number));
	return number;
}

static struct detours *detours_new(const struct subnet *s, uint32_t n,
				   const struct route_rule *rule)
{
	struct detours *d = hd_alloc(1, sizeof(*d));

	*d = (struct detours){
		.way_in = hd_alloc(s->topo->n_ports, 1),
		.around = { numbers_new(n), numbers_new(n) },
		.straight = numbers_new(n),
	};
	for (switch_id sw = 0; sw < n; sw++) {
		const struct topo_node *v = switch_node(s, sw);

		for (unsigned k = 0; k <= v->n_ports; k++)
			d->way_in[v->first_port + k] = (uint8_t)rule->way_in(rule->state, sw, k);
	}
	return d;
}

static void detours_free(struct detours *d)
{
	if (!d)
		return;
	free(d->way_in);
	free(d->around[FROM_END]);
	free(d->around[FROM_GROUP]);
	free(d->straight);
	free(d);
}

static struct adaptive *adaptive_new(const struct subnet *s, uint32_t n,
				     const struct route_rule *rule)
{
	struct adaptive *a = hd_alloc(1, sizeof(*a));

	*a = (struct adaptive){
		.n = n,
		.number = numbers_new(n),
		.groups = hd_alloc(n, sizeof(struct port_set *)),
		.n_groups = hd_alloc(n, sizeof(*a->n_groups)),
		.detours = rule->detours ? detours_new(s, n, rule) : NULL,
	};
	return a;
}

void adaptive_gather(struct subnet *s, const struct sw_graph *g, const struct route_rule *rule,
		     uint16_t sls)
{
	adaptive_forget(s);
	s->adaptive = adaptive_new(s, g->n, rule);
	struct parallel_pool *pool = parallel_pool_new((uint64_t)g->n * g->n_edges * 2);
	struct gatherer w = {
		.g = g,
		.rule = rule,
		.out = s->adaptive,
		.index = hd_alloc(g->n, sizeof(*w.index)),
		.views = hd_alloc(MOST_VIEWS, rule->view_size),
		.queues = hd_alloc(parallel_pool_size(pool), sizeof(switch_id *)),
	};

	s->adaptive->sls = sls;
	for (unsigned i = 0; i < parallel_pool_size(pool); i++)
		w.queues[i] = hd_alloc(g->n, sizeof(**w.queues));
	gather_all(&w, pool);
	for (unsigned i = 0; i < parallel_pool_size(pool); i++)
		free(w.queues[i]);
	for (switch_id sw = 0; sw < g->n; sw++)
		free(w.index[sw].slots);
	free(w.queues);
	free(w.views);
	free(w.index);
	parallel_pool_free(pool);
}

void adaptive_forget(struct subnet *s)
{
	struct adaptive *a = s->adaptive;

	if (!a)
		return;
	for (switch_id sw = 0; sw < a->n; sw++)
		free(a->groups[sw]);
	free(a->groups);
	free(a->n_groups);
	free(a->number);
	detours_free(a->detours);
	free(a);
	s->adaptive = NULL;
}

bool adaptive_goes_around(const struct adaptive *a)
{
	for (size_t i = 0; a->detours && i < (size_t)a->n * a->n; i++) {
		if (a->detours->around[FROM_END][i] != ADAPTIVE_NO_GROUP)
			return true;
	}
	return false;
}

/* ---- how much choice --------------------------------------------------- */

#define UNKNOWN UINT16_MAX

/* State of a walk through the choices of a switch. */
struct adaptive_position {
	switch_id sw;
	port_id in; /* TOPO_NONE: here it begins */
	unsigned port;
	uint16_t hops; /* the longest so far */
};

struct adaptive_walk {
	const struct subnet *s;
	const struct sw_graph *g;
	switch_id target;
	uint16_t *hops; /* [switch][enum way_in], the latter if it matters */
	unsigned n_ways_in;
	struct adaptive_position *stack;
};

static uint16_t *hops_from(const struct adaptive_walk *w, switch_id sw, port_id in)
{
	const struct detours *d = w->s->adaptive->detours;

	return &w->hops[(size_t)sw * w->n_ways_in +
			(d && in != TOPO_NONE ? d->way_in[in] : FROM_END)];
}

/*
 * The longest path from a switch to the target over chosen ports. Uses a stack instead of
 * recursion, because a path may visit all switches. Groups with a cycle were rejected.
 */
static void longest_way(const struct adaptive_walk *w, switch_id from)
{
	const struct subnet *s = w->s;
	uint32_t depth = 1;

	w->stack[0] = (struct adaptive_position){ .sw = from, .in = TOPO_NONE };
	while (depth > 0) {
		struct adaptive_position *top = &w->stack[depth - 1];
		struct port_set ports = adaptive_ports(s->adaptive, top->sw, w->target, top->in);

		if (!port_set_next(&ports, &top->port)) {
			*hops_from(w, top->sw, top->in) = top->hops;
			depth--;
			continue;
		}
		const struct sw_edge *e = &w->g->edges[edge_of(w->g, top->sw, top->port)];
		port_id in = topo_port_of(s->topo, s->node_of_switch[e->to], e->in);
		uint16_t known = *hops_from(w, e->to, in);

		if (known == UNKNOWN) {
			top->port--; /* revisits the port when the length is known */
			w->stack[depth++] = (struct adaptive_position){ .sw = e->to, .in = in };
		} else if (known + 1u > top->hops) {
			top->hops = (uint16_t)(known + 1u);
		}
	}
}

static void measure_pair(const struct adaptive *a, switch_id at, switch_id target,
			 struct adaptive_size *out)
{
	const struct port_set *group = adaptive_group(a, at, target);
	uint16_t around = adaptive_ways(a, at, target, TOPO_NONE).around;
	unsigned n = group ? port_set_size(group) : 0;

	out->n_pairs += n > 0;
	out->n_choices += n > 1;
	out->n_ports += n;
	out->most_ports = n > out->most_ports ? n : out->most_ports;
	if (around == ADAPTIVE_NO_GROUP)
		return;
	out->n_around++;
	out->n_around_ports += port_set_size(&a->groups[at][around]);
}

static void measure_target(const struct adaptive_walk *w, struct adaptive_size *out)
{
	const struct adaptive *a = w->s->adaptive;

	memset(w->hops, 0xFF, (size_t)a->n * w->n_ways_in * sizeof(*w->hops));
	for (switch_id at = 0; at < a->n; at++) {
		const uint16_t *hops = hops_from(w, at, TOPO_NONE);

		measure_pair(a, at, w->target, out);
		if (*hops == UNKNOWN)
			longest_way(w, at);
		if (*hops > out->most_hops)
			out->most_hops = *hops;
	}
}

void adaptive_measure(const struct subnet *s, struct adaptive_size *out)
{
	const struct adaptive *a = s->adaptive;
	struct sw_graph g;
	struct adaptive_walk w = { .s = s, .g = &g, .n_ways_in = a->detours ? N_WAYS_IN : 1 };
	size_t n = (size_t)a->n * w.n_ways_in;

	w.hops = hd_alloc(n, sizeof(*w.hops));
	w.stack = hd_alloc(n + 1, sizeof(*w.stack));
	*out = (struct adaptive_size){ .n_pairs = 0 };
	graph_init(&g, s);
	for (w.target = 0; w.target < a->n; w.target++)
		measure_target(&w, out);
	for (switch_id at = 0; at < a->n; at++) {
		if (a->n_groups[at] > out->most_groups)
			out->most_groups = a->n_groups[at];
	}
	graph_fini(&g);
	free(w.stack);
	free(w.hops);
}
