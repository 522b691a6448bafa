/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/routing/load.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "subnet/routing/order.h"
#include "subnet/tables/paths.h"

struct loads {
	const struct subnet *s;
	struct sw_graph g;
	uint64_t *flows; /* per port: flows it sends */
	uint64_t *most;  /* per port: the most of any pattern; or NULL */
	double *rate;    /* per port: of its link */
	port_id *hosts;
	uint32_t n_hosts;
};

/* Whether the host's cable leads to another host. */
static bool is_back_to_back(const struct topo *t, port_id p)
{
	return topo_is_end_port(t, p) && t->ports[p].number > 0 && t->ports[p].peer != TOPO_NONE &&
	       topo_is_end_port(t, t->ports[p].peer);
}

static void loads_init(struct loads *l, const struct subnet *s)
{
	const struct topo *t = s->topo;

	*l = (struct loads){ .s = s };
	graph_init(&l->g, s);
	l->flows = hd_alloc(t->n_ports, sizeof(*l->flows));
	l->rate = hd_alloc(t->n_ports, sizeof(*l->rate));
	l->hosts = hd_alloc(t->n_ports, sizeof(*l->hosts));
	l->n_hosts = order_hosts(s, &l->g, l->hosts);
	for (port_id p = 0; p < t->n_ports; p++) {
		if (is_back_to_back(t, p))
			l->hosts[l->n_hosts++] = p;
		if (s->rate_of_port[p].num)
			l->rate[p] = hd_rate_bps(s->rate_of_port[p]);
	}
}

static void loads_fini(struct loads *l)
{
	graph_fini(&l->g);
	free(l->flows);
	free(l->rate);
	free(l->hosts);
}

static port_id sender_of(const struct loads *l, edge_id e)
{
	return topo_port_of(l->s->topo, l->s->node_of_switch[edge_from(&l->g, e)],
			    l->g.edges[e].out);
}

static void measure(const struct loads *l, struct load_spread *out)
{
	out->n_channels = l->g.n_edges;
	out->max_at = TOPO_NONE;
	for (edge_id e = 0; e < l->g.n_edges; e++) {
		port_id p = sender_of(l, e);

		out->total += l->flows[p];
		out->n_idle += l->flows[p] == 0;
		if (l->flows[p] <= out->max)
			continue;
		out->max = l->flows[p];
		out->max_at = p;
	}
}

/* Work space of one thread, for one destination at a time. */
struct funnel {
	const struct loads *l;
	const uint64_t *n_hosts; /* per subnet */
	uint64_t *flows;         /* per channel */
	uint64_t n_flows, n_lost;
	edge_id *next;
	uint32_t *n_from; /* switches that send here and are not done */
	uint64_t *count;
	switch_id *ready;
};

/* Processes switches from the farthest to the target; switches in a loop never become ready. */
static uint64_t pour(struct funnel *f, const struct path_view *v)
{
	const struct loads *l = f->l;
	const struct sw_graph *g = &l->g;
	switch_id target = v->target;
	uint32_t n_ready = 0;

	path_column(l->s, g, v, f->next);
	memset(f->n_from, 0, g->n * sizeof(*f->n_from));
	for (switch_id sw = 0; sw < g->n; sw++) {
		f->count[sw] = g->n_ends[sw];
		if (l->s->n_subnets > 1 && subnet_of_switch(l->s, sw) != v->dest->subnet)
			f->count[sw] = 0;
		if (path_goes_on(f->next[sw]))
			f->n_from[g->edges[f->next[sw]].to]++;
	}
	f->count[target]--; /* not to itself */
	for (switch_id sw = 0; sw < g->n; sw++) {
		if (f->n_from[sw] == 0)
			f->ready[n_ready++] = sw;
	}
	for (uint32_t i = 0; i < n_ready; i++) {
		switch_id sw = f->ready[i];

		if (!path_goes_on(f->next[sw]))
			continue;
		switch_id to = g->edges[f->next[sw]].to;

		f->flows[f->next[sw]] += f->count[sw];
		f->count[to] += f->count[sw];
		if (--f->n_from[to] == 0)
			f->ready[n_ready++] = to;
	}
	return f->next[target] == PATH_ARRIVED && f->n_from[target] == 0 ? f->count[target] : 0;
}

/* Number of end ports per subnet. */
static uint64_t *hosts_by_subnet(const struct loads *l)
{
	uint64_t *n = hd_alloc(l->s->n_subnets, sizeof(*n));

	for (uint32_t i = 0; i < l->n_hosts; i++)
		n[l->s->topo->ports[l->hosts[i]].subnet]++;
	return n;
}

static void pour_dest(void *context, unsigned member, const struct path_view *v)
{
	struct funnel *f = (struct funnel *)context + member;
	const struct subnet *s = f->l->s;
	const struct path_dest *d = v->dest;

	if (!topo_is_end_port(s->topo, d->owner) || s->lid_of_port[d->owner] != d->lid)
		return;
	uint64_t n_flows = f->n_hosts[d->subnet] - 1;

	f->n_flows += n_flows;
	f->n_lost += n_flows - pour(f, v);
}

/* Adds flows whose only link is a direct cable, which is no channel. */
static void pour_cables(const struct loads *l, const uint64_t *n_hosts, struct load_spread *out)
{
	for (uint32_t i = 0; i < l->n_hosts; i++) {
		if (!is_back_to_back(l->s->topo, l->hosts[i]))
			continue;
		uint64_t n = n_hosts[l->s->topo->ports[l->hosts[i]].subnet] - 1;

		out->n_flows += n;
		out->n_lost += n - 1;
	}
}

static void funnel_init(struct funnel *f, const struct loads *l, const uint64_t *n_hosts)
{
	*f = (struct funnel){
		.l = l,
		.n_hosts = n_hosts,
		.flows = hd_alloc(l->g.n_edges, sizeof(*f->flows)),
		.next = hd_alloc(l->g.n, sizeof(*f->next)),
		.n_from = hd_alloc(l->g.n, sizeof(*f->n_from)),
		.count = hd_alloc(l->g.n, sizeof(*f->count)),
		.ready = hd_alloc(l->g.n, sizeof(*f->ready)),
	};
}

/* Adds up what a thread has found, and frees its space. */
static void funnel_end(struct funnel *f, struct loads *l, struct load_spread *out)
{
	out->n_flows += f->n_flows;
	out->n_lost += f->n_lost;
	for (edge_id e = 0; e < l->g.n_edges; e++)
		l->flows[sender_of(l, e)] += f->flows[e];
	free(f->flows);
	free(f->next);
	free(f->n_from);
	free(f->count);
	free(f->ready);
}

static void pour_all(struct loads *l, struct load_spread *out)
{
	struct path_dests dests;

	*out = (struct load_spread){ .n_flows = 0 };
	path_dests_init(&dests, l->s, &l->g);
	uint64_t *n_hosts = hosts_by_subnet(l);
	struct parallel_pool *pool = path_pool(&l->g, &dests);
	struct funnel *f = hd_alloc(parallel_pool_size(pool), sizeof(*f));

	for (unsigned i = 0; i < parallel_pool_size(pool); i++)
		funnel_init(&f[i], l, n_hosts);
	path_visit(l->s, &l->g, &dests, pool, pour_dest, f);
	for (unsigned i = 0; i < parallel_pool_size(pool); i++)
		funnel_end(&f[i], l, out);
	pour_cables(l, n_hosts, out);
	free(f);
	parallel_pool_free(pool);
	free(n_hosts);
	path_dests_fini(&dests);
}

void load_all_to_all(const struct subnet *s, struct load_spread *out)
{
	struct loads l;

	loads_init(&l, s);
	pour_all(&l, out);
	measure(&l, out);
	loads_fini(&l);
}

/* The ports that send on a path, one path after the other. */
struct path_trace {
	port_id *ports;
	size_t n, cap;
};

static void trace_add(struct path_trace *t, port_id p)
{
	t->ports = hd_grow(t->ports, &t->cap, t->n + 1, sizeof(*t->ports));
	t->ports[t->n++] = p;
}

/* Adds the path to the trace; false: it does not arrive, and nothing is added. */
static bool trace_path(const struct loads *l, port_id from, port_id to, struct path_trace *trace)
{
	const struct topo *t = l->s->topo;
	size_t before = trace->n;
	lid_t lid = l->s->lid_of_port[to];
	bool inside = t->ports[from].number == 0;
	switch_id sw =
		inside ? l->s->switch_of_node[t->ports[from].node] : subnet_switch_at(l->s, from);
	port_id at = from;

	if (!inside) {
		trace_add(trace, from);
		at = t->ports[from].peer;
	}
	for (uint32_t steps = 0; at != to && sw != TOPO_NONE; steps++) {
		unsigned out = lft_get(l->s, sw, lid);
		node_id node = l->s->node_of_switch[sw];
		port_id p = topo_port_of(t, node, out);

		if (steps > l->g.n || out > t->nodes[node].n_ports)
			break;
		at = out == 0 ? p : t->ports[p].peer;
		if (at == TOPO_NONE || (out == 0 && at != to))
			break;
		if (out == 0)
			continue;
		trace_add(trace, p);
		sw = l->s->switch_of_node[t->ports[at].node];
	}
	if (at != to || t->ports[from].subnet != t->ports[to].subnet)
		trace->n = before;
	return trace->n != before || (at == to && inside);
}

/* One traffic pattern: sources and destinations. */
struct pattern {
	struct load_flow *flows;
	size_t n;
	uint32_t *order; /* space for shuffling */
	size_t *start;   /* of flow i in the trace; start[n] is its end */
	struct path_trace trace;
};

/*
 * Relative to the first cable of the path: the source's own cable, or the first one after the
 * switch if the host is inside it.
 */
static double share_of(const struct loads *l, const struct pattern *p, size_t i)
{
	size_t first = p->start[i], end = p->start[i + 1];
	double least = INFINITY;

	for (size_t k = first; k < end; k++) {
		port_id port = p->trace.ports[k];
		double part = l->rate[port] / (double)l->flows[port];

		least = part < least ? part : least;
	}
	return first < end ? least / l->rate[p->trace.ports[first]] : 1;
}

/* Counts the flows of a pattern; the most on one channel. */
static uint64_t lay_paths(struct loads *l, struct pattern *p, struct load_shares *out)
{
	uint64_t most = 0;

	p->trace.n = 0;
	memset(l->flows, 0, l->s->topo->n_ports * sizeof(*l->flows));
	for (size_t i = 0; i < p->n; i++) {
		struct load_flow *f = &p->flows[i];

		p->start[i] = p->trace.n;
		out->n_flows++;
		if (trace_path(l, f->from, f->to, &p->trace))
			continue;
		f->to = TOPO_NONE; /* no destination */
		out->n_lost++;
		out->least_share = 0;
	}
	p->start[p->n] = p->trace.n;
	for (size_t k = 0; k < p->trace.n; k++) {
		uint64_t flows = ++l->flows[p->trace.ports[k]];

		most = flows > most ? flows : most;
	}
	for (size_t k = 0; l->most && k < p->trace.n; k++) {
		port_id port = p->trace.ports[k];

		if (l->flows[port] > l->most[port])
			l->most[port] = l->flows[port];
	}
	return most;
}

/* Mean share of the flows of a pattern. */
static double count_pattern(struct loads *l, struct pattern *p, struct load_shares *out)
{
	uint64_t most = lay_paths(l, p, out);
	double sum = 0;

	for (size_t i = 0; i < p->n; i++) {
		if (p->flows[i].to == TOPO_NONE)
			continue;
		double share = share_of(l, p, i);

		sum += share;
		if (share < out->least_share)
			out->least_share = share;
	}
	out->worst = most > out->worst ? most : out->worst;
	out->mean_max += (double)most;
	return p->n ? sum / (double)p->n : 1;
}

static void send(struct pattern *p, const struct loads *l, uint32_t from, uint32_t to)
{
	p->flows[p->n++] = (struct load_flow){ l->hosts[from], l->hosts[to] };
}

static void draw_permutation(struct pattern *p, const struct loads *l)
{
	for (uint32_t i = 0; i < l->n_hosts; i++) {
		if (p->order[i] != i)
			send(p, l, i, p->order[i]);
	}
}

/* Flows ordered by source, as in all patterns. */
static void draw_bisection(struct pattern *p, const struct loads *l)
{
	const uint32_t half = l->n_hosts / 2;
	uint32_t *to = hd_alloc(l->n_hosts, sizeof(*to));

	for (uint32_t i = 0; i < half; i++)
		to[p->order[i]] = p->order[half + i] + 1;
	for (uint32_t i = 0; i < l->n_hosts; i++) {
		if (to[i])
			send(p, l, i, to[i] - 1);
	}
	free(to);
}

static void draw(struct pattern *p, enum load_pattern kind, const struct loads *l,
		 uint32_t distance, struct rng *r)
{
	const uint32_t n = l->n_hosts;

	p->n = 0;
	for (uint32_t i = 0; i < n; i++)
		p->order[i] = i;
	if (kind != LOAD_SHIFT)
		rng_shuffle(r, p->order, n);
	switch (kind) {
	case LOAD_PERMUTATION:
		draw_permutation(p, l);
		break;
	case LOAD_BISECTION:
		draw_bisection(p, l);
		break;
	case LOAD_SHIFT:
	default:
		for (uint32_t i = 0; i < n; i++)
			send(p, l, i, (uint32_t)(((uint64_t)i + distance) % n));
		break;
	}
}

static void run_patterns(struct loads *l, struct pattern *p, enum load_pattern kind, uint64_t seed,
			 struct load_shares *out)
{
	unsigned n = out->n_patterns;
	double sum = 0, squares = 0;

	for (unsigned i = 0; i < n; i++) {
		uint32_t distance = 1 + (uint32_t)((uint64_t)i * (l->n_hosts - 1) / n);
		struct rng r;

		rng_init(&r, seed, i);
		draw(p, kind, l, distance, &r);
		double mean = count_pattern(l, p, out);

		sum += mean;
		squares += mean * mean;
		out->worst_mean = mean < out->worst_mean ? mean : out->worst_mean;
	}
	out->mean_share = sum / n;
	out->mean_max /= n;
	double variance = squares / n - out->mean_share * out->mean_share;

	/* Patterns are many, so the normal quantile will do. */
	if (n > 1 && variance > 0)
		out->half_width = 1.96 * sqrt(variance / (n - 1));
}

static void pattern_fini(struct pattern *p)
{
	free(p->flows);
	free(p->order);
	free(p->start);
	free(p->trace.ports);
}

static void try_patterns(struct loads *l, enum load_pattern pattern, unsigned n, uint64_t seed,
			 struct load_shares *out)
{
	*out = (struct load_shares){ .n_patterns = n, .least_share = 1, .worst_mean = 1 };
	if (pattern == LOAD_SHIFT && n > l->n_hosts - 1)
		out->n_patterns = l->n_hosts - 1;
	struct pattern p = {
		.flows = hd_alloc(l->n_hosts, sizeof(*p.flows)),
		.order = hd_alloc(l->n_hosts, sizeof(*p.order)),
		.start = hd_alloc(l->n_hosts + 1u, sizeof(*p.start)),
	};

	if (l->n_hosts < 2)
		out->n_patterns = 0;
	if (out->n_patterns > 0)
		run_patterns(l, &p, pattern, seed, out);
	pattern_fini(&p);
}

void load_patterns(const struct subnet *s, enum load_pattern pattern, unsigned n, uint64_t seed,
		   struct load_shares *out)
{
	struct loads l;

	loads_init(&l, s);
	try_patterns(&l, pattern, n, seed, out);
	loads_fini(&l);
}

static void try_traffic(struct loads *l, const struct load_traffic *traffic,
			struct load_shares *out)
{
	struct pattern p = {
		.flows = hd_alloc(traffic->n, sizeof(*p.flows)),
		.n = traffic->n,
		.start = hd_alloc(traffic->n + 1, sizeof(*p.start)),
	};

	if (p.n)
		memcpy(p.flows, traffic->list, p.n * sizeof(*p.flows));
	*out = (struct load_shares){ .n_patterns = 1, .least_share = 1 };
	out->mean_share = out->worst_mean = count_pattern(l, &p, out);
	pattern_fini(&p);
}

/* ---- port by port -------------------------------------------------------- */

/* Adds flows on cables of hosts, which are no channels. */
static void pour_ends(struct loads *l)
{
	const struct topo *t = l->s->topo;
	uint64_t *n_hosts = hosts_by_subnet(l);

	for (uint32_t i = 0; i < l->n_hosts; i++) {
		const struct topo_port *port = &t->ports[l->hosts[i]];

		if (port->number == 0 || port->peer == TOPO_NONE)
			continue;
		l->flows[l->hosts[i]] = n_hosts[port->subnet] - 1;
		l->flows[port->peer] = n_hosts[port->subnet] - 1;
	}
	free(n_hosts);
}

void load_map_init(struct load_map *m, const struct subnet *s, unsigned n,
		   const struct load_traffic *traffic)
{
	const uint32_t n_ports = s->topo->n_ports;
	struct load_spread ignored;
	struct loads l;

	*m = (struct load_map){
		.all_pairs = hd_alloc(n_ports, sizeof(uint64_t)),
		.shifts = hd_alloc(n_ports, sizeof(uint64_t)),
	};
	loads_init(&l, s);
	pour_all(&l, &ignored);
	pour_ends(&l);
	memcpy(m->all_pairs, l.flows, n_ports * sizeof(uint64_t));
	l.most = m->shifts;
	try_patterns(&l, LOAD_SHIFT, n, 0, &m->of_shifts);
	if (traffic->list) {
		l.most = m->traffic = hd_alloc(n_ports, sizeof(uint64_t));
		try_traffic(&l, traffic, &m->of_traffic);
	}
	loads_fini(&l);
}

void load_map_fini(struct load_map *m)
{
	free(m->all_pairs);
	free(m->shifts);
	free(m->traffic);
}

/* A channel, and what it is ranked by. */
struct ranked_channel {
	port_id port;
	uint64_t flows[2];
};

static int by_flows(const void *a, const void *b)
{
	const struct ranked_channel *x = a, *y = b;

	for (unsigned i = 0; i < 2; i++) {
		if (x->flows[i] != y->flows[i])
			return x->flows[i] > y->flows[i] ? -1 : 1;
	}
	return x->port < y->port ? -1 : x->port > y->port;
}

port_id *load_order(const struct load_map *m, const struct subnet *s, uint32_t *n)
{
	struct sw_graph g;

	graph_init(&g, s);
	*n = g.n_edges;
	struct ranked_channel *list = hd_alloc(*n, sizeof(*list));
	port_id *ports = hd_alloc(*n, sizeof(*ports));

	for (edge_id e = 0; e < *n; e++) {
		port_id port =
			topo_port_of(s->topo, s->node_of_switch[edge_from(&g, e)], g.edges[e].out);

		list[e] = (struct ranked_channel){
			port,
			{ m->traffic ? m->traffic[port] : 0, m->all_pairs[port] },
		};
	}
	if (*n)
		qsort(list, *n, sizeof(*list), by_flows);
	for (uint32_t i = 0; i < *n; i++)
		ports[i] = list[i].port;
	free(list);
	graph_fini(&g);
	return ports;
}
