/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel_for.h"
#include "subnet/routing/route.h"
#include "subnet/routing/updn.h"

/*
 * Fat-tree routing: each destination gets one way down from one top switch,
 * and everybody else goes up to meet it, so that in a full tree no two
 * destinations share a channel on the way down (shift patterns are free of
 * contention). From its leaf up, a destination takes the parent whose cable
 * down carries the fewest destinations; the other children of that parent send
 * up to it, and theirs below to them.
 *
 * What a destination's way costs the next ones is its channels down, and up,
 * which of several cables side by side was taken. So the ways down of some
 * destinations are chosen in order, who sends where to meet them is found by
 * threads for all of them at once, and which cable each takes, switch by
 * switch, again in order.
 */

#define LIDS_AT_ONCE 256
#define SWITCHES     16 /* of a piece of work */

/* One hop of a path: a switch and its downward output port. */
struct ftree_step {
	switch_id sw;
	uint8_t port;
};

struct target {
	port_id owner;
	switch_id leaf;
	lid_t lid;
	uint8_t port;        /* of the leaf */
	bool fails;          /* some host has no way to it */
	uint32_t first, end; /* of the steps above the leaf */
};

/* Space of one thread. */
struct space {
	bool *above; /* has the destination's leaf below it */
	switch_id above_what;
	switch_id *queue;
	switch_id *left; /* without a way yet */
	uint32_t n_left;
};

struct ftree {
	struct subnet *s;
	const struct sw_graph *g;
	uint16_t *rank; /* from the leaves, 0 */
	uint32_t *load; /* destinations per channel */
	/* Channels of each switch by port: those down, from mid[] those up. */
	edge_id *ways;
	uint32_t *mid;
	bool *doubled; /* has several cables up to one switch */

	struct target targets[LIDS_AT_ONCE];
	uint32_t n_targets;
	struct ftree_step *steps;
	uint32_t n_steps;
	size_t steps_cap;
	uint8_t *ports; /* [target][switch] */
	bool *sent;     /* [target][switch]: up, so that it counts as load */
	struct space *spaces;
};

static bool leads_up(const struct ftree *f, switch_id from, edge_id e)
{
	return f->rank[f->g->edges[e].to] > f->rank[from];
}

/* ---- the way down: in order -------------------------------------------- */

/* The channel used least from `sw` to its neighbour `to`. */
static edge_id lightest(const struct ftree *f, switch_id sw, switch_id to)
{
	const struct sw_graph *g = f->g;
	edge_id best = TOPO_NONE;

	for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
		if (g->edges[e].to == to && (best == TOPO_NONE || f->load[e] < f->load[best]))
			best = e;
	}
	return best;
}

/* The parent of `sw` whose cables down to it have the least load. */
static switch_id lightest_parent(const struct ftree *f, switch_id sw)
{
	const struct sw_graph *g = f->g;
	edge_id best = TOPO_NONE; /* downwards */

	for (uint32_t i = f->mid[sw]; i < g->first[sw + 1]; i++) {
		edge_id down = g->reverse[f->ways[i]];

		if (best == TOPO_NONE || f->load[down] < f->load[best])
			best = down;
	}
	return best == TOPO_NONE ? TOPO_NONE : edge_from(g, best);
}

static void choose_way(struct ftree *f, struct target *t)
{
	switch_id sw = t->leaf;

	t->first = f->n_steps;
	for (;;) {
		switch_id parent = lightest_parent(f, sw);

		if (parent == TOPO_NONE)
			break;
		edge_id down = lightest(f, parent, sw);

		f->load[down]++;
		f->steps = hd_grow(f->steps, &f->steps_cap, f->n_steps + 1u, sizeof(*f->steps));
		f->steps[f->n_steps++] = (struct ftree_step){ parent, f->g->edges[down].out };
		sw = parent;
	}
	t->end = f->n_steps;
}

/* ---- who meets it where: target by target ------------------------------ */

/* Marks the switches above `leaf`. */
static void mark_above(const struct ftree *f, switch_id leaf, struct space *w)
{
	const struct sw_graph *g = f->g;
	uint32_t head = 0, tail = 0;

	if (w->above_what == leaf)
		return;
	w->above_what = leaf;
	memset(w->above, 0, g->n * sizeof(*w->above));
	w->above[leaf] = true;
	w->queue[tail++] = leaf;
	while (head < tail) {
		switch_id sw = w->queue[head++];

		for (uint32_t i = f->mid[sw]; i < g->first[sw + 1]; i++) {
			switch_id to = g->edges[f->ways[i]].to;

			if (w->above[to])
				continue;
			w->above[to] = true;
			w->queue[tail++] = to;
		}
	}
}

/* All below `top` that have no way yet send up, level by level. */
static void gather_below(const struct ftree *f, switch_id top, struct space *w, uint8_t *ports,
			 bool *sent)
{
	const struct sw_graph *g = f->g;
	uint32_t head = 0, tail = 0;

	w->queue[tail++] = top;
	while (head < tail) {
		switch_id sw = w->queue[head++];

		for (uint32_t i = g->first[sw]; i < f->mid[sw]; i++) {
			edge_id e = f->ways[i];
			switch_id to = g->edges[e].to;

			if (w->above[to] || ports[to] != LFT_NO_PORT)
				continue;
			ports[to] = g->edges[e].in;
			sent[to] = true;
			w->queue[tail++] = to;
		}
	}
}

/* Finds a path for switches off the main path; false: none. */
static bool join_way(const struct ftree *f, switch_id sw, const bool *above, uint8_t *ports)
{
	const struct sw_graph *g = f->g;
	uint32_t i = above[sw] ? g->first[sw] : f->mid[sw];
	uint32_t end = above[sw] ? f->mid[sw] : g->first[sw + 1];

	for (; i < end; i++) {
		const struct sw_edge *e = &g->edges[f->ways[i]];

		if ((above[sw] && !above[e->to]) || ports[e->to] == LFT_NO_PORT)
			continue;
		ports[sw] = e->out;
		return true;
	}
	return false;
}

/*
 * Finds a path that goes up again after down, through any neighbour with a path. Paths of hosts
 * never use it, because they were found before. It carries packets of switches, such as responses
 * to a subnet manager.
 */
static bool join_any(const struct ftree *f, switch_id sw, const bool *above, uint8_t *ports)
{
	const struct sw_graph *g = f->g;

	(void)above;
	for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
		if (ports[g->edges[e].to] == LFT_NO_PORT)
			continue;
		ports[sw] = g->edges[e].out;
		return true;
	}
	return false;
}

typedef bool join_fn(const struct ftree *f, switch_id sw, const bool *above, uint8_t *ports);

/* Joins switches until no more can be joined; `join` returns whether it found a path. */
static void join_all(const struct ftree *f, struct space *w, uint8_t *ports, join_fn *join)
{
	uint32_t before;

	do {
		before = w->n_left;
		w->n_left = 0;
		for (uint32_t i = 0; i < before; i++) {
			if (!join(f, w->left[i], w->above, ports))
				w->left[w->n_left++] = w->left[i];
		}
	} while (w->n_left < before);
}

/* False if a switch with hosts is left without a way up and down. */
static bool join_rest(const struct ftree *f, struct space *w, unsigned subnet, uint8_t *ports)
{
	w->n_left = 0;
	for (switch_id sw = 0; sw < f->g->n; sw++) {
		if (ports[sw] == LFT_NO_PORT &&
		    (f->s->n_subnets == 1 || subnet_of_switch(f->s, sw) == subnet))
			w->left[w->n_left++] = sw;
	}
	join_all(f, w, ports, join_way);
	for (uint32_t i = 0; i < w->n_left; i++) {
		if (f->g->n_ends[w->left[i]])
			return false;
	}
	join_all(f, w, ports, join_any);
	return true;
}

static void meet(void *context, unsigned member, size_t i)
{
	struct ftree *f = context;
	struct target *t = &f->targets[i];
	struct space *w = &f->spaces[member];
	uint8_t *ports = f->ports + i * f->g->n;
	bool *sent = f->sent + i * f->g->n;

	memset(ports, LFT_NO_PORT, f->g->n);
	memset(sent, 0, f->g->n * sizeof(*sent));
	mark_above(f, t->leaf, w);
	ports[t->leaf] = t->port;
	for (uint32_t k = t->first; k < t->end; k++) {
		ports[f->steps[k].sw] = f->steps[k].port;
		gather_below(f, f->steps[k].sw, w, ports, sent);
	}
	t->fails = !join_rest(f, w, f->s->topo->ports[t->owner].subnet, ports);
}

/* ---- choice of cables, switch by switch ------------------------------- */

static void fill_row(struct ftree *f, switch_id sw)
{
	uint8_t *row = &f->s->lft[(size_t)sw * f->s->lft_stride];

	for (uint32_t i = 0; i < f->n_targets; i++) {
		size_t at = (size_t)i * f->g->n + sw;
		uint8_t port = f->ports[at];

		if (f->sent[at] && f->doubled[sw]) {
			switch_id to = f->g->edges[edge_of(f->g, sw, port)].to;
			edge_id e = lightest(f, sw, to);

			f->load[e]++;
			port = f->g->edges[e].out;
		}
		if (port != LFT_NO_PORT)
			row[f->targets[i].lid] = port;
	}
}

static void fill_rows(void *context, unsigned member, size_t piece)
{
	struct ftree *f = context;
	switch_id end = (switch_id)(piece + 1) * SWITCHES;

	(void)member;
	end = end < f->g->n ? end : f->g->n;
	for (switch_id sw = (switch_id)piece * SWITCHES; sw < end; sw++)
		fill_row(f, sw);
}

/* ---- all together ------------------------------------------------------ */

static enum hd_status refuse_level(const struct ftree *f, switch_id a, switch_id b, struct diag *d)
{
	return diag_fail(
		d, HD_ERR_UNFIT,
		"'%s' and '%s' are joined, but both are %u steps above the hosts: not a tree of levels",
		switch_node(f->s, a)->name, switch_node(f->s, b)->name, f->rank[a] + 1u);
}

/* Ranks from the leaves up; refuses what is not layered. */
static enum hd_status rank_switches(struct ftree *f, switch_id *queue, struct diag *d)
{
	const struct sw_graph *g = f->g;
	uint32_t head = 0, tail = 0;

	memset(f->rank, 0xFF, g->n * sizeof(*f->rank));
	for (switch_id sw = 0; sw < g->n; sw++) {
		if (g->n_ends[sw] == 0)
			continue;
		f->rank[sw] = 0;
		queue[tail++] = sw;
	}
	while (head < tail) {
		switch_id sw = queue[head++];

		for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
			switch_id to = g->edges[e].to;

			if (f->rank[to] == f->rank[sw])
				return refuse_level(f, sw, to, d);
			if (f->rank[to] != GRAPH_FAR)
				continue;
			f->rank[to] = (uint16_t)(f->rank[sw] + 1);
			queue[tail++] = to;
		}
	}
	return HD_OK;
}

/*
 * Routes to switches by up*-down* over the same levels, which are also the choices of switches with
 * `adaptive`.
 */
static void route_switches(struct ftree *f, uint16_t adaptive)
{
	uint16_t *level = hd_alloc(f->g->n, sizeof(*level));
	uint16_t top = 0;
	struct updn u;
	const struct route_rule rule = {
		.aim = updn_aim,
		.ports = updn_ports,
		.state = &u,
		.view_size = f->g->n * sizeof(struct updn_spot),
		.switches_only = true,
		.adaptive = adaptive,
	};

	for (switch_id sw = 0; sw < f->g->n; sw++) {
		/* Apart from all hosts: as good as on the top. */
		if (f->rank[sw] != GRAPH_FAR && f->rank[sw] > top)
			top = f->rank[sw];
	}
	for (switch_id sw = 0; sw < f->g->n; sw++)
		level[sw] = f->rank[sw] == GRAPH_FAR ? 0 : (uint16_t)(top - f->rank[sw]);
	updn_init(&u, f->g);
	updn_set_levels(&u, level);
	balance_routes(f->s, f->g, &rule);
	updn_fini(&u);
	free(level);
}

static enum hd_status route_targets(struct ftree *f, struct parallel_pool *pool, struct diag *d)
{
	parallel_for(pool, f->n_targets, meet, f);
	for (uint32_t i = 0; i < f->n_targets; i++) {
		if (f->targets[i].fails)
			return diag_fail(d, HD_ERR_UNFIT,
					 "some hosts have no way up and down to '%s'",
					 topo_node_of(f->s->topo, f->targets[i].owner)->name);
	}
	parallel_for(pool, (f->g->n + SWITCHES - 1) / SWITCHES, fill_rows, f);
	f->n_targets = 0;
	f->n_steps = 0;
	return HD_OK;
}

static enum hd_status route_host(struct ftree *f, struct parallel_pool *pool, port_id host,
				 struct diag *d)
{
	const struct subnet *s = f->s;
	struct target t = { .owner = host, .lid = s->lid_of_port[host] };
	unsigned n = 1u << s->lmc_of_port[host];

	if (!subnet_target(s, s->topo->ports[host].subnet, t.lid, &t.leaf, &t.port))
		return HD_OK;
	for (unsigned k = 0; k < n; k++, t.lid++) {
		choose_way(f, &t);
		f->targets[f->n_targets++] = t;
		if (f->n_targets == LIDS_AT_ONCE && route_targets(f, pool, d) != HD_OK)
			return d->status;
	}
	return HD_OK;
}

/*
 * In the order of the fabric, so that neighbours (which a shift pattern sends
 * to at the same time) have different ways.
 */
static enum hd_status route_hosts(struct ftree *f, struct parallel_pool *pool, struct diag *d)
{
	const struct topo *t = f->s->topo;
	port_id *hosts = hd_alloc(t->n_ports, sizeof(*hosts));
	uint32_t n = order_hosts(f->s, f->g, hosts);
	enum hd_status status = HD_OK;

	for (uint32_t i = 0; i < n && status == HD_OK; i++)
		status = route_host(f, pool, hosts[i], d);
	if (status == HD_OK)
		status = route_targets(f, pool, d);
	free(hosts);
	return status;
}

/* Sorts the channels of each switch into those down and those up. */
static void sort_ways(struct ftree *f)
{
	const struct sw_graph *g = f->g;

	for (switch_id sw = 0; sw < g->n; sw++) {
		uint32_t n = g->first[sw];

		for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
			if (!leads_up(f, sw, e))
				f->ways[n++] = e;
		}
		f->mid[sw] = n;
		for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
			for (uint32_t i = f->mid[sw]; i < n; i++)
				f->doubled[sw] |= leads_up(f, sw, e) &&
						  g->edges[f->ways[i]].to == g->edges[e].to;
			if (leads_up(f, sw, e))
				f->ways[n++] = e;
		}
	}
}

static void spaces_init(struct ftree *f, unsigned n)
{
	f->spaces = hd_alloc(n, sizeof(*f->spaces));
	for (unsigned i = 0; i < n; i++)
		f->spaces[i] = (struct space){
			.above = hd_alloc(f->g->n, sizeof(bool)),
			.above_what = TOPO_NONE,
			.queue = hd_alloc(f->g->n, sizeof(switch_id)),
			.left = hd_alloc(f->g->n, sizeof(switch_id)),
		};
}

static void spaces_fini(struct ftree *f, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		free(f->spaces[i].above);
		free(f->spaces[i].queue);
		free(f->spaces[i].left);
	}
	free(f->spaces);
}

static enum hd_status route_all(struct ftree *f, struct diag *d)
{
	size_t n = f->g->n;
	struct parallel_pool *pool = parallel_pool_new((uint64_t)f->s->topo->n_nodes * n * 4);

	sort_ways(f);
	spaces_init(f, parallel_pool_size(pool));
	f->ports = hd_alloc(LIDS_AT_ONCE * n, sizeof(*f->ports));
	f->sent = hd_alloc(LIDS_AT_ONCE * n, sizeof(*f->sent));
	enum hd_status status = route_hosts(f, pool, d);

	spaces_fini(f, parallel_pool_size(pool));
	free(f->ports);
	free(f->sent);
	free(f->steps);
	parallel_pool_free(pool);
	return status;
}

static enum hd_status route_ftree(struct subnet *s, const struct sw_graph *g,
				  const struct route_options *o, struct diag *d)
{
	switch_id *queue = hd_alloc(g->n, sizeof(*queue));
	struct ftree *f = hd_alloc(1, sizeof(*f));

	(void)o;
	*f = (struct ftree){
		.s = s,
		.g = g,
		.rank = hd_alloc(g->n, sizeof(*f->rank)),
		.load = hd_alloc(g->n_edges, sizeof(*f->load)),
		.ways = hd_alloc(g->n_edges, sizeof(*f->ways)),
		.mid = hd_alloc(g->n, sizeof(*f->mid)),
		.doubled = hd_alloc(g->n, sizeof(*f->doubled)),
	};
	enum hd_status status = rank_switches(f, queue, d);

	if (status == HD_OK) {
		subnet_own(s);
		route_switches(f, o->adaptive);
		status = route_all(f, d);
	}
	free(f->rank);
	free(f->load);
	free(f->ways);
	free(f->mid);
	free(f->doubled);
	free(f);
	free(queue);
	return status;
}

const struct route_engine engine_ftree = {
	.name = "ftree",
	.needs = "a tree of levels with all hosts at the bottom",
	.route = route_ftree,
};
