/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/routing/balance.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/compare.h"
#include "base/parallel_for.h"
#include "subnet/routing/adaptive.h"
#include "subnet/routing/share.h"

#define MAX_LMC         7
#define MOST_VIEWS      64 /* targets that are looked at in turn */
#define SWITCHES        8  /* of a piece of work */
/* The same if all targets are visited: more targets than the cache holds. */
#define SWITCHES_FOLDED 32

/* Destinations that hang on one switch: [first, end). */
struct group {
	const struct dest *first, *end;
	const void *view;
};

struct balancer {
	struct subnet *s;
	const struct sw_graph *g;
	uint32_t *load;   /* destinations per switch port, at g->port_base */
	uint32_t *system; /* number of the system that a switch belongs to */
	const struct route_rule *rule;
	char *views;
	switch_id **queues; /* per thread */
	/* At hand: */
	struct group *groups;
	uint32_t n_groups;
	unsigned from, to;    /* offsets of LIDs beyond a port's first */
	switch_id first, end; /* range of switches, cut into pieces of */
	uint32_t piece;
	uint8_t *rows; /* of these switches */
};

/* The permitted ports of one switch toward one target. */
struct port_choice {
	switch_id at;
	unsigned offset; /* of the LIDs beyond a port's first */
	unsigned n;
	uint8_t ports[TOPO_MAX_PORTS + 1];
	/* Set of the ports with the least load; empty: unknown. */
	uint64_t least[4];
	/* Next switches of the ports; used for the second and further LIDs only. */
	switch_id to[TOPO_MAX_PORTS + 1];
	uint32_t system[TOPO_MAX_PORTS + 1];
};

static uint8_t lowest(const uint64_t *set)
{
	unsigned i = 0;

	while (i < 3 && !set[i])
		i++;
	return (uint8_t)(i * 64 + (unsigned)__builtin_ctzll(set[i]));
}

/* The lowest of the least loaded ports; all of these are found at once. */
static uint8_t least_loaded(const struct balancer *b, struct port_choice *c)
{
	const uint32_t *load = &b->load[b->g->port_base[c->at]];
	uint32_t least = UINT32_MAX;

	if (c->least[0] | c->least[1] | c->least[2] | c->least[3])
		return lowest(c->least);
	for (unsigned i = 0; i < c->n; i++) {
		unsigned port = c->ports[i];

		if (load[port] > least)
			continue;
		if (load[port] < least)
			memset(c->least, 0, sizeof(c->least));
		least = load[port];
		c->least[port / 64] |= UINT64_C(1) << port % 64;
	}
	return lowest(c->least);
}

static void add_load(struct balancer *b, struct port_choice *c, unsigned port)
{
	b->load[b->g->port_base[c->at] + port]++;
	c->least[port / 64] &= ~(UINT64_C(1) << port % 64);
}

static uint64_t system_of(const struct topo_node *v)
{
	return v->system_guid ? v->system_guid : v->guid;
}

/* Numbers the systems that switches belong to: the rank of their GUID. */
static void number_systems(struct balancer *b)
{
	uint32_t n = b->g->n;
	uint64_t *guids = hd_alloc(n, sizeof(*guids));

	b->system = hd_alloc(n, sizeof(*b->system));
	for (switch_id sw = 0; sw < n; sw++)
		guids[sw] = system_of(switch_node(b->s, sw));
	qsort(guids, n, sizeof(*guids), compare_u64);
	for (switch_id sw = 0; sw < n; sw++) {
		uint64_t key = system_of(switch_node(b->s, sw));
		const uint64_t *at = bsearch(&key, guids, n, sizeof(*guids), compare_u64);

		while (at > guids && at[-1] == key)
			at--;
		b->system[sw] = (uint32_t)(at - guids);
	}
	free(guids);
}

static switch_id neighbour(const struct balancer *b, switch_id at, uint8_t port)
{
	return b->g->edges[edge_of(b->g, at, port)].to;
}

/* Whether earlier LIDs of the same destination use the port's system or node. */
struct reuse {
	bool system, node;
	unsigned times;
};

/* Next hops of a destination's earlier LIDs at one switch. */
struct earlier {
	unsigned n;
	switch_id ways[1u << MAX_LMC];
	uint32_t systems[1u << MAX_LMC];
};

static struct reuse reuse_of(const struct earlier *e, switch_id to, uint32_t system)
{
	struct reuse r = { false, false, 0 };

	for (unsigned i = 0; i < e->n; i++) {
		r.system |= e->systems[i] == system;
		r.times += e->ways[i] == to;
	}
	r.node = r.times > 0;
	return r;
}

/* The best port so far of three kinds; 0 = none yet. */
struct best_ports {
	uint8_t other_system, other_node, any;
	unsigned any_times;
};

static void rank(struct best_ports *r, const uint32_t *load, uint8_t port, const struct reuse *used)
{
	if (!used->system && (!r->other_system || load[port] < load[r->other_system])) {
		r->other_system = port;
		r->any_times = 0;
	}
	if (used->system && !used->node && (!r->other_node || load[port] < load[r->other_node])) {
		r->other_node = port;
		r->any_times = 0;
	}
	if (!r->any || load[port] < load[r->any] ||
	    (used->node && load[port] == load[r->any] && used->times < r->any_times)) {
		r->any = port;
		if (used->node && used->times < r->any_times)
			r->any_times = used->times;
	}
}

static uint8_t *row_of(const struct balancer *b, switch_id at)
{
	return b->rows + (size_t)(at - b->first) * b->s->lft_stride;
}

/*
 * For the second and further LIDs of a port: the next port, after that of the previous LID, to a
 * system (or else a switch) that the earlier LIDs do not use.
 */
static uint8_t another_way(const struct balancer *b, const struct port_choice *c, lid_t base,
			   unsigned earlier)
{
	const uint32_t *load = &b->load[b->g->port_base[c->at]];
	const uint8_t *row = row_of(b, c->at);
	struct best_ports best = { .any_times = UINT32_MAX };
	struct earlier ways = { .n = earlier };
	unsigned start = 0;

	for (unsigned i = 0; i < earlier; i++) {
		ways.ways[i] = neighbour(b, c->at, row[base + i]);
		ways.systems[i] = b->system[ways.ways[i]];
	}

	while (start < c->n && c->ports[start] <= row[base + earlier - 1])
		start++;
	for (unsigned i = 0; i < c->n; i++) {
		unsigned k = start + i < c->n ? start + i : start + i - c->n;
		struct reuse used = reuse_of(&ways, c->to[k], c->system[k]);

		rank(&best, load, c->ports[k], &used);
	}
	if (best.other_system)
		return best.other_system;
	return best.other_node ? best.other_node : best.any;
}

/* The present port of a LID if it is still permitted, else LFT_NO_PORT. */
static uint8_t kept_port(const struct balancer *b, const struct port_choice *c, lid_t lid)
{
	const struct subnet *keep = b->rule->keep;
	uint8_t port = keep ? lft_get(keep, c->at, lid) : LFT_NO_PORT;

	if (port == LFT_NO_PORT || !memchr(c->ports, port, c->n))
		return LFT_NO_PORT;
	return port;
}

static void route_dest(struct balancer *b, struct port_choice *c, const struct dest *d)
{
	unsigned offset = c->offset;
	lid_t base = b->s->lid_of_port[d->owner];
	uint8_t port = kept_port(b, c, (lid_t)(base + offset));

	if (c->at == d->sw)
		port = d->port;
	else if (c->n == 0)
		return;
	else if (port != LFT_NO_PORT)
		; /* as it is */
	else if (offset == 0)
		port = least_loaded(b, c);
	else
		port = another_way(b, c, base, offset);
	row_of(b, c->at)[base + offset] = port;
	if (d->counts)
		add_load(b, c, port);
}

/* LIDs base + offset of the destinations of a group, at one switch. */
static void route_group(struct balancer *b, switch_id at, const struct group *to, unsigned offset)
{
	const struct route_rule *rule = b->rule;
	struct port_choice c;

	c.at = at;
	c.offset = offset;
	c.n = 0;
	memset(c.least, 0, sizeof(c.least));
	if (at != to->first->sw)
		c.n = rule->ports(rule->state, to->view, at, c.ports);
	if (c.n == 0 && at != to->first->sw)
		return;
	for (unsigned i = 0; offset > 0 && i < c.n; i++) {
		c.to[i] = neighbour(b, at, c.ports[i]);
		c.system[i] = b->system[c.to[i]];
	}
	for (const struct dest *d = to->first; d < to->end; d++) {
		if (offset < 1u << b->s->lmc_of_port[d->owner] &&
		    !(d->counts && rule->switches_only))
			route_dest(b, &c, d);
	}
}

/* Routes the switches of a piece, in batches of groups whose views are loaded. */
static void route_piece(struct balancer *b, switch_id from, switch_id end, unsigned offset)
{
	for (uint32_t first = 0; first < b->n_groups; first += MOST_VIEWS) {
		uint32_t last = first + MOST_VIEWS;

		last = last < b->n_groups ? last : b->n_groups;
		for (switch_id at = from; at < end; at++) {
			for (uint32_t i = first; i < last; i++)
				route_group(b, at, &b->groups[i], offset);
		}
	}
}

static void route_at_switches(void *context, unsigned member, size_t piece)
{
	struct balancer *b = context;
	switch_id from = b->first + (switch_id)piece * b->piece;
	switch_id end = from + b->piece;

	(void)member;
	end = end < b->end ? end : b->end;
	for (unsigned offset = b->from; offset < b->to; offset++)
		route_piece(b, from, end, offset);
}

static void route_switches(struct balancer *b, struct parallel_pool *pool)
{
	parallel_for(pool, (b->end - b->first + b->piece - 1) / b->piece, route_at_switches, b);
}

/* Takes the next groups from destination `i` on; returns their end. */
static uint32_t take_groups(struct balancer *b, const struct dest_order *o, uint32_t i,
			    uint32_t most)
{
	for (b->n_groups = 0; i < o->n && b->n_groups < most; b->n_groups++) {
		struct group *group = &b->groups[b->n_groups];

		group->first = &o->dests[i];
		do
			i++;
		while (i < o->n && o->dests[i].sw == group->first->sw);
		group->end = &o->dests[i];
	}
	return i;
}

/* ---- into rows of all switches: some targets after the others ----------- */

static void aim_at_group(void *context, unsigned member, size_t i)
{
	struct balancer *b = context;
	const struct route_rule *rule = b->rule;
	void *view = b->views + i * rule->view_size;

	rule->aim(rule->state, b->groups[i].first->sw, view, b->queues[member]);
	b->groups[i].view = view;
}

static void route_into_rows(struct balancer *b, const struct dest_order *o,
			    struct parallel_pool *pool)
{
	b->views = hd_alloc(MOST_VIEWS, b->rule->view_size);
	b->groups = hd_alloc(MOST_VIEWS, sizeof(*b->groups));
	b->rows = b->s->lft;
	b->end = b->g->n;
	b->piece = SWITCHES;
	for (b->from = 0; b->from < 1u << o->max_lmc; b->from++) {
		b->to = b->from + 1;
		for (uint32_t i = 0; i < o->n;) {
			i = take_groups(b, o, i, MOST_VIEWS);
			parallel_for(pool, b->n_groups, aim_at_group, b);
			route_switches(b, pool);
		}
	}
}

/* ---- shared: all targets, some switches after the others ---------------- */

static void aim_at_switch(void *context, unsigned member, size_t i)
{
	struct balancer *b = context;
	const struct route_rule *rule = b->rule;

	rule->aim(rule->state, (switch_id)i, b->views + i * rule->view_size, b->queues[member]);
}

/*
 * Whether the views of all targets and the rows of some switches need much less memory than the
 * rows of all.
 */
static bool is_worth_folding(const struct balancer *b)
{
	return b->s->lft_at && 3 * b->rule->view_size <= b->s->lft_stride;
}

static void route_and_share(struct balancer *b, const struct dest_order *o,
			    struct parallel_pool *pool)
{
	const switch_id batch = 2 * SWITCHES_FOLDED * parallel_pool_size(pool);
	const size_t stride = b->s->lft_stride;
	struct lft_fold fold;

	b->views = hd_alloc(b->g->n, b->rule->view_size);
	b->groups = hd_alloc(o->n, sizeof(*b->groups));
	b->rows = hd_alloc(batch < b->g->n ? batch : b->g->n, stride);
	b->piece = SWITCHES_FOLDED;
	b->to = 1u << o->max_lmc;
	parallel_for(pool, b->g->n, aim_at_switch, b);
	take_groups(b, o, 0, o->n);
	for (uint32_t i = 0; i < b->n_groups; i++)
		b->groups[i].view = b->views + b->groups[i].first->sw * b->rule->view_size;
	lft_fold_begin(&fold, b->g->n, (uint32_t)stride);
	for (b->first = 0; b->first < b->g->n; b->first = b->end) {
		b->end = b->first + batch < b->g->n ? b->first + batch : b->g->n;
		memset(b->rows, LFT_NO_PORT, (b->end - b->first) * stride);
		route_switches(b, pool);
		for (switch_id sw = b->first; sw < b->end; sw++)
			lft_fold_row(&fold, sw, row_of(b, sw));
	}
	lft_fold_into(&fold, b->s);
	free(b->rows);
}

void balance_routes(struct subnet *s, const struct sw_graph *g, const struct route_rule *rule)
{
	struct balancer b = { .s = s, .g = g, .rule = rule };
	struct dest_order o;

	order_dests_init(&o, s, g);
	struct parallel_pool *pool =
		parallel_pool_new((uint64_t)o.n * g->n * 4 + (uint64_t)g->n * g->n_edges);

	number_systems(&b);
	b.load = hd_alloc(g->port_base[g->n], sizeof(*b.load));
	b.queues = hd_alloc(parallel_pool_size(pool), sizeof(*b.queues));
	for (unsigned i = 0; i < parallel_pool_size(pool); i++)
		b.queues[i] = hd_alloc(g->n, sizeof(**b.queues));
	if (is_worth_folding(&b)) {
		route_and_share(&b, &o, pool);
	} else {
		subnet_own(s);
		route_into_rows(&b, &o, pool);
	}
	for (unsigned i = 0; i < parallel_pool_size(pool); i++)
		free(b.queues[i]);
	free(b.queues);
	free(b.groups);
	free(b.views);
	free(b.load);
	free(b.system);
	parallel_pool_free(pool);
	order_dests_fini(&o);
	if (rule->adaptive)
		adaptive_gather(s, g, rule, rule->adaptive);
}
