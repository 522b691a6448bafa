/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/routing/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "subnet/tables/paths.h"

/* dump_fts reads LFT_BLOCK_LIDS at once; the ports that a signed byte holds: */
#define DUMP_FTS_PORTS 128

/* State and results of one thread. */
struct checker {
	const struct subnet *s;
	const struct sw_graph *g;
	struct route_check found;
	/* Numbers of the destinations of what was found first. */
	uint32_t fault_dest, switch_fault_dest, detour_dest;
	edge_id *next;
	uint16_t *hops; /* to the destination at hand */
	uint16_t *dist; /* to its switch, by shortest paths */
	switch_id dist_to;
	switch_id *stack;
};

static enum path_fault fault_of(uint16_t hops)
{
	switch (hops) {
	case PATH_HOPS_NO_ENTRY:
		return FAULT_NO_ENTRY;
	case PATH_HOPS_LOOP:
		return FAULT_LOOP;
	default:
		return FAULT_ASTRAY;
	}
}

/* The pairs that begin at one switch and end at one destination. */
struct bundle {
	struct path_place place;
	uint32_t dest; /* its number */
	uint64_t n;    /* source end ports there */
	bool to_switch;
};

static void count_fault(struct checker *c, const struct bundle *b)
{
	struct route_check *o = &c->found;
	uint16_t hops = c->hops[b->place.from];

	o->n_faulty_entries++;
	if (b->n == 0)
		return;
	if (b->to_switch) {
		if (o->n_switch_unreachable == 0) {
			o->switch_fault_at = b->place;
			c->switch_fault_dest = b->dest;
		}
		o->n_switch_unreachable += b->n;
		return;
	}
	if (o->n_unreachable == 0) {
		o->fault = fault_of(hops);
		o->fault_at = b->place;
		c->fault_dest = b->dest;
	}
	o->n_unreachable += b->n;
	if (hops == PATH_HOPS_LOOP)
		o->n_loops += b->n;
}

static void count_arrival(struct checker *c, const struct bundle *b)
{
	struct route_check *o = &c->found;
	switch_id sw = b->place.from;
	unsigned hops = c->hops[sw];

	if (b->n == 0 || b->to_switch)
		return;
	o->n_by_hops[hops < CHECK_MAX_HOPS ? hops : CHECK_MAX_HOPS] += b->n;
	o->hops += hops * b->n;
	o->minimal_hops += c->dist[sw] * b->n;
	if (hops > o->max_hops)
		o->max_hops = hops;
	if (hops == c->dist[sw])
		return;
	if (o->n_not_minimal == 0) {
		o->detour_at = b->place;
		c->detour_dest = b->dest;
	}
	o->n_not_minimal += b->n;
}

static void check_dest(void *context, unsigned member, const struct path_view *v)
{
	struct checker *c = (struct checker *)context + member;
	struct route_check *o = &c->found;
	const struct path_dest *d = v->dest;
	bool is_end = topo_is_end_port(c->s->topo, d->owner);

	if (c->dist_to != v->target)
		graph_distances(c->g, v->target, c->dist, c->stack);
	c->dist_to = v->target;
	path_column(c->s, c->g, v, c->next);
	path_hops(c->g, c->next, c->hops, c->stack);
	for (switch_id sw = 0; sw < c->g->n; sw++) {
		struct bundle b = {
			.place = { sw, d->subnet, d->lid },
			.dest = v->number,
			/* A port does not send to itself. */
			.n = c->g->n_ends[sw] - (is_end && sw == v->target),
			.to_switch = !is_end,
		};

		if (c->s->n_subnets > 1 && subnet_of_switch(c->s, sw) != d->subnet)
			continue;
		o->n_entries++;
		*(is_end ? &o->n_pairs : &o->n_switch_pairs) += b.n;
		if (c->hops[sw] >= PATH_NOT_ARRIVED)
			count_fault(c, &b);
		else
			count_arrival(c, &b);
	}
}

/* Ports cabled to each other directly need no table to be reached. */
static void check_direct(const struct subnet *s, struct route_check *out)
{
	const struct topo *t = s->topo;

	for (port_id p = 0; p < t->n_ports; p++) {
		port_id peer = t->ports[p].peer;

		if (peer == TOPO_NONE || !topo_is_end_port(t, p) || !topo_is_end_port(t, peer))
			continue;
		uint64_t n_lids = UINT64_C(1) << s->lmc_of_port[peer];

		out->n_pairs += n_lids;
		out->n_by_hops[0] += n_lids;
	}
}

static void checker_init(struct checker *c, const struct subnet *s, const struct sw_graph *g)
{
	*c = (struct checker){
		.s = s,
		.g = g,
		.fault_dest = UINT32_MAX,
		.switch_fault_dest = UINT32_MAX,
		.detour_dest = UINT32_MAX,
		.next = hd_alloc(g->n, sizeof(*c->next)),
		.hops = hd_alloc(g->n, sizeof(*c->hops)),
		.dist = hd_alloc(g->n, sizeof(*c->dist)),
		.dist_to = TOPO_NONE,
		.stack = hd_alloc(g->n, sizeof(*c->stack)),
	};
}

static void checker_fini(struct checker *c)
{
	free(c->next);
	free(c->hops);
	free(c->dist);
	free(c->stack);
}

static void add_counts(struct route_check *to, const struct route_check *from)
{
	to->n_pairs += from->n_pairs;
	to->n_unreachable += from->n_unreachable;
	to->n_loops += from->n_loops;
	to->n_not_minimal += from->n_not_minimal;
	for (unsigned i = 0; i <= CHECK_MAX_HOPS; i++)
		to->n_by_hops[i] += from->n_by_hops[i];
	to->hops += from->hops;
	to->minimal_hops += from->minimal_hops;
	if (from->max_hops > to->max_hops)
		to->max_hops = from->max_hops;
	to->n_switch_pairs += from->n_switch_pairs;
	to->n_switch_unreachable += from->n_switch_unreachable;
	to->n_entries += from->n_entries;
	to->n_faulty_entries += from->n_faulty_entries;
}

/* Adds what one thread has found to what the first one has. */
static void merge(struct checker *to, const struct checker *from)
{
	const struct route_check *found = &from->found;

	if (from->fault_dest < to->fault_dest) {
		to->fault_dest = from->fault_dest;
		to->found.fault = found->fault;
		to->found.fault_at = found->fault_at;
	}
	if (from->switch_fault_dest < to->switch_fault_dest) {
		to->switch_fault_dest = from->switch_fault_dest;
		to->found.switch_fault_at = found->switch_fault_at;
	}
	if (from->detour_dest < to->detour_dest) {
		to->detour_dest = from->detour_dest;
		to->found.detour_at = found->detour_at;
	}
	add_counts(&to->found, found);
}

void route_check(const struct subnet *s, struct route_check *out)
{
	struct sw_graph g;
	struct path_dests dests;

	graph_init(&g, s);
	path_dests_init(&dests, s, &g);
	struct parallel_pool *pool = path_pool(&g, &dests);
	struct checker *c = hd_alloc(parallel_pool_size(pool), sizeof(*c));

	for (unsigned i = 0; i < parallel_pool_size(pool); i++)
		checker_init(&c[i], s, &g);
	path_visit(s, &g, &dests, pool, check_dest, c);
	for (unsigned i = 1; i < parallel_pool_size(pool); i++)
		merge(&c[0], &c[i]);
	*out = c[0].found;
	check_direct(s, out);
	for (unsigned i = 0; i < parallel_pool_size(pool); i++)
		checker_fini(&c[i]);
	free(c);
	parallel_pool_free(pool);
	path_dests_fini(&dests);
	graph_fini(&g);
}

/* True if no switch of the subnet has an entry for the LID. */
static bool nobody_has(const struct subnet *s, unsigned subnet, lid_t lid)
{
	for (switch_id sw = 0; sw < s->n_switches; sw++) {
		if (subnet_of_switch(s, sw) == subnet && lft_get(s, sw, lid) != LFT_NO_PORT)
			return false;
	}
	return true;
}

/* A switch that misses entries and has none for the ports that need a byte. */
static switch_id without_high_ports(const struct subnet *s)
{
	for (switch_id sw = 0; sw < s->n_switches; sw++) {
		unsigned sub = subnet_of_switch(s, sw);
		unsigned n_missing = 0, n_high = 0;

		if (switch_node(s, sw)->n_ports < DUMP_FTS_PORTS)
			continue;
		for (uint32_t lid = 1; lid <= s->top_lid[sub]; lid++) {
			uint8_t port = lft_get(s, sw, (lid_t)lid);

			n_missing += port == LFT_NO_PORT && s->port_of_lid[sub][lid] != TOPO_NONE;
			n_high += port != LFT_NO_PORT && port >= DUMP_FTS_PORTS;
		}
		if (n_missing > 0 && n_high == 0)
			return sw;
	}
	return TOPO_NONE;
}

bool route_suspect_dump(const struct subnet *s, struct strbuf *out)
{
	for (unsigned sub = 0; sub < s->n_subnets; sub++) {
		lid_t top = s->top_lid[sub];

		if (top == 0 || top % LFT_BLOCK_LIDS != 0 || !nobody_has(s, sub, top))
			continue;
		strbuf_printf(
			out,
			"no table has the top LID, %u: dump_fts leaves it out where it is a multiple of %u; opensm-lfts.dump has it",
			top, LFT_BLOCK_LIDS);
		return true;
	}
	switch_id sw = without_high_ports(s);

	if (sw == TOPO_NONE)
		return false;
	strbuf_printf(
		out,
		"the table of '%s' names no port from %u on: dump_fts leaves these out; opensm-lfts.dump has them",
		switch_node(s, sw)->name, DUMP_FTS_PORTS);
	return true;
}

static void print_end(const struct subnet *s, switch_id sw, unsigned port, bool arrived,
		      struct strbuf *out)
{
	const struct topo *t = s->topo;
	const struct topo_node *v = switch_node(s, sw);
	port_id peer = TOPO_NONE;

	if (port == LFT_NO_PORT) {
		strbuf_puts(out, ": no entry for the LID");
		return;
	}
	strbuf_printf(out, " port %u", port);
	if (port > 0 && port <= v->n_ports)
		peer = t->ports[v->first_port + port].peer;
	if (arrived)
		strbuf_puts(out, ": arrived");
	else if (port > v->n_ports)
		strbuf_puts(out, ": it has no such port");
	else if (port == 0)
		strbuf_puts(out, ": it keeps what is not its own");
	else if (peer == TOPO_NONE)
		strbuf_puts(out, ": nothing is plugged in");
	else
		strbuf_printf(out, " -> '%s': the wrong one", topo_node_of(t, peer)->name);
}

void route_print_path(const struct subnet *s, const struct path_place *path, struct strbuf *out)
{
	struct sw_graph g;
	switch_id target = TOPO_NONE, sw = path->from;
	lid_t lid = path->lid;
	uint8_t last = LFT_NO_PORT;
	bool is_first = true;

	graph_init(&g, s);
	bool *passed = hd_alloc(g.n, sizeof(*passed));
	bool known = subnet_target(s, path->subnet, lid, &target, &last);

	for (;;) {
		uint8_t port = lft_get(s, sw, lid);
		edge_id e = edge_of(&g, sw, port);
		bool arrived = known && sw == target && port == last;

		strbuf_printf(out, "%s'%s'", is_first ? "" : " -> ", switch_node(s, sw)->name);
		is_first = false;
		if (passed[sw]) {
			strbuf_puts(out, ": a loop");
			break;
		}
		passed[sw] = true;
		if (arrived || e == TOPO_NONE) {
			print_end(s, sw, port, arrived, out);
			break;
		}
		strbuf_printf(out, " port %u", port);
		sw = g.edges[e].to;
	}
	free(passed);
	graph_fini(&g);
}
