/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/adaptive.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/team.h"
#include "subnet/intern.h"

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

	w->rule->aim(w->rule->state, w->targets[i],
		     w->views + i * w->rule->view_size, w->queues[member]);
}

static void gather_group(struct gatherer *w, switch_id at, unsigned i)
{
	struct adaptive *a = w->out;
	uint8_t ports[TOPO_MAX_PORTS + 1];
	struct port_set set = { { 0 } };
	unsigned n = at == w->targets[i]
			     ? 0
			     : w->rule->ports(w->rule->state,
					      w->views + i * w->rule->view_size,
					      at, ports);

	if (n == 0)
		return;
	for (unsigned k = 0; k < n; k++)
		set.bits[ports[k] / 64] |= UINT64_C(1) << ports[k] % 64;
	void *groups = a->groups[at];

	a->number[(size_t)at * a->n + w->targets[i]] = (uint16_t)intern(
		&w->index[at], &groups, &a->n_groups[at], &set, sizeof(set));
	a->groups[at] = groups;
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

static void gather_all(struct gatherer *w, struct team *team)
{
	for (switch_id sw = 0; sw < w->g->n;) {
		for (w->n_targets = 0; sw < w->g->n; sw++) {
			if (w->n_targets == MOST_VIEWS)
				break;
			if (w->g->n_ends[sw] > 0)
				w->targets[w->n_targets++] = sw;
		}
		team_each(team, w->n_targets, aim, w);
		team_each(team, (w->g->n + SWITCHES - 1) / SWITCHES,
			  gather_at_switches, w);
	}
}

static struct adaptive *adaptive_new(uint32_t n)
{
	struct adaptive *a = hd_alloc(1, sizeof(*a));

	*a = (struct adaptive){
		.n = n,
		.number = hd_alloc((size_t)n * n, sizeof(*a->number)),
		.groups = hd_alloc(n, sizeof(struct port_set *)),
		.n_groups = hd_alloc(n, sizeof(*a->n_groups)),
	};
	memset(a->number, 0xFF, (size_t)n * n * sizeof(*a->number));
	return a;
}

void adaptive_gather(struct subnet *s, const struct sw_graph *g,
		     const struct route_rule *rule, uint16_t sls)
{
	adaptive_forget(s);
	s->adaptive = adaptive_new(g->n);
	struct team *team = team_new((uint64_t)g->n * g->n_edges * 2);
	struct gatherer w = {
		.g = g,
		.rule = rule,
		.out = s->adaptive,
		.index = hd_alloc(g->n, sizeof(*w.index)),
		.views = hd_alloc(MOST_VIEWS, rule->view_size),
		.queues = hd_alloc(team_size(team), sizeof(switch_id *)),
	};

	s->adaptive->sls = sls;
	for (unsigned i = 0; i < team_size(team); i++)
		w.queues[i] = hd_alloc(g->n, sizeof(**w.queues));
	gather_all(&w, team);
	for (unsigned i = 0; i < team_size(team); i++)
		free(w.queues[i]);
	for (switch_id sw = 0; sw < g->n; sw++)
		free(w.index[sw].slots);
	free(w.queues);
	free(w.views);
	free(w.index);
	team_free(team);
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
	free(a);
	s->adaptive = NULL;
}

/* ---- how much choice --------------------------------------------------- */

#define UNKNOWN UINT16_MAX

/* Where a walk through the choices of a switch stands. */
struct spot {
	switch_id sw;
	unsigned port;
	uint16_t hops; /* the longest so far */
};

/*
 * The longest way from every switch to the target, by what is chosen. A stack
 * instead of recursion: ways may be as long as there are switches. Groups that
 * lead in a circle were refused.
 */
static void longest_ways(const struct subnet *s, const struct sw_graph *g,
			 switch_id from, switch_id target, uint16_t *hops,
			 struct spot *stack)
{
	uint32_t depth = 1;

	stack[0] = (struct spot){ .sw = from };
	while (depth > 0) {
		struct spot *top = &stack[depth - 1];
		const struct port_set *group =
			adaptive_group(s->adaptive, top->sw, target);

		if (!group || !port_set_next(group, &top->port)) {
			hops[top->sw] = top->hops;
			depth--;
			continue;
		}
		switch_id to = g->edges[edge_of(g, top->sw, top->port)].to;

		if (hops[to] == UNKNOWN) {
			top->port--; /* once more, when it is known */
			stack[depth++] = (struct spot){ .sw = to };
		} else if (hops[to] + 1u > top->hops) {
			top->hops = (uint16_t)(hops[to] + 1u);
		}
	}
}

static void measure_pair(const struct adaptive *a, switch_id at,
			 switch_id target, struct adaptive_size *out)
{
	const struct port_set *group = adaptive_group(a, at, target);
	unsigned n = group ? port_set_size(group) : 0;

	out->n_pairs += n > 0;
	out->n_choices += n > 1;
	out->n_ports += n;
	out->most_ports = n > out->most_ports ? n : out->most_ports;
}

void adaptive_measure(const struct subnet *s, struct adaptive_size *out)
{
	const struct adaptive *a = s->adaptive;
	uint16_t *hops = hd_alloc(a->n, sizeof(*hops));
	struct spot *stack = hd_alloc(a->n + 1u, sizeof(*stack));
	struct sw_graph g;

	*out = (struct adaptive_size){ .n_pairs = 0 };
	graph_init(&g, s);
	for (switch_id target = 0; target < a->n; target++) {
		memset(hops, 0xFF, a->n * sizeof(*hops));
		for (switch_id at = 0; at < a->n; at++) {
			measure_pair(a, at, target, out);
			if (hops[at] == UNKNOWN)
				longest_ways(s, &g, at, target, hops, stack);
			if (hops[at] > out->most_hops)
				out->most_hops = hops[at];
		}
	}
	for (switch_id at = 0; at < a->n; at++) {
		if (a->n_groups[at] > out->most_groups)
			out->most_groups = a->n_groups[at];
	}
	graph_fini(&g);
	free(stack);
	free(hops);
}
