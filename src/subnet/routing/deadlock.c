/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/routing/deadlock.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "subnet/multicast/mcast.h"
#include "subnet/routing/adaptive.h"
#include "subnet/routing/router.h"
#include "subnet/tables/paths.h"

#define ALL_SLS UINT16_MAX

/* Input ports of a switch for packets from end ports. */
struct entrances {
	uint8_t *ports; /* of switch sw: ports[first[sw]] .. first[sw + 1] */
	uint32_t *first;
	bool *alike; /* VLs do not depend on which entrance it was */
};

/* A channel that a packet may be on. */
struct hop {
	edge_id edge;
	uint8_t sl, vl;
};

/* State of one thread; members from `next` on are its own. */
struct tracer {
	const struct subnet *s;
	const struct sw_graph *g;
	struct depgraph *deps;
	struct entrances doors;
	uint16_t sls; /* SLs to follow if the path does not determine them */
	bool one_vl, with_switches;
	bool chooses_all; /* every packet for an end port does */
	/* The VL of all packets; VL_MANAGEMENT: the tables decide. */
	uint8_t only_vl;
	edge_id *next;  /* for the destination at hand */
	uint16_t *seen; /* [switch][sl]: VLs already followed from there */
	/* Choices of switches: [edge][sl], in the order of discovery. */
	uint16_t *chosen;
	struct hop *hops;
	size_t n_hops, hops_cap;
	switch_id chosen_for; /* the target that was followed last */
	/* Router ports: VLs that they receive and send on, by port_id. */
	uint16_t *vls_in, *vls_out;
	struct path_dest dest;
	uint32_t dest_number;
	switch_id target;
	uint64_t n_dropped;
	port_id dropped_at;
	uint32_t dropped_dest;
	uint8_t dropped_sl;
};

static bool joins_subnets(const struct tracer *t, port_id p)
{
	return t->s->n_subnets > 1 && topo_node_of(t->s->topo, p)->kind == NODE_ROUTER;
}

static port_id port_at(const struct tracer *t, switch_id sw, unsigned number)
{
	return topo_port_of(t->s->topo, t->s->node_of_switch[sw], number);
}

/* The VL on which a packet leaves; VL_MANAGEMENT if it is dropped. */
static unsigned vl_toward(struct tracer *t, switch_id sw, unsigned in, unsigned out, unsigned sl)
{
	if (t->only_vl != VL_MANAGEMENT)
		return t->only_vl;
	unsigned vl = sl2vl_at(t->s, sw, in, out)->vl[sl];
	port_id p = port_at(t, sw, out);

	if (vl < t->s->vls_of_port[p])
		return vl;
	if (t->n_dropped++ == 0) {
		t->dropped_at = p;
		t->dropped_dest = t->dest_number;
		t->dropped_sl = (uint8_t)sl;
	}
	return VL_MANAGEMENT;
}

/* The output of switch `sw` toward the destination; false without one. */
static bool out_of(const struct tracer *t, switch_id sw, unsigned *out)
{
	if (sw == t->target && t->next[sw] == PATH_ARRIVED)
		*out = t->dest.port;
	else if (path_goes_on(t->next[sw]))
		*out = t->g->edges[t->next[sw]].out;
	else
		return false;
	return true;
}

/*
 * Follows a packet with `sl` that leaves `sw` on `vl`, adding what it waits
 * for, until it arrives or joins what was followed before.
 */
static void follow(struct tracer *t, switch_id sw, unsigned sl, unsigned vl)
{
	bool to_router = joins_subnets(t, t->dest.owner);

	while (t->next[sw] != PATH_ARRIVED && vl != VL_MANAGEMENT) {
		uint16_t *seen = &t->seen[(size_t)sw * N_SLS + sl];

		if (*seen >> vl & 1)
			return;
		*seen |= (uint16_t)(1u << vl);
		const struct sw_edge *e = &t->g->edges[t->next[sw]];

		sw = e->to;
		unsigned out;

		/* An adapter consumes arriving packets: they do not wait further. */
		if ((t->next[sw] == PATH_ARRIVED && !to_router) || !out_of(t, sw, &out))
			return;
		unsigned next_vl = vl_toward(t, sw, e->in, out, sl);

		if (next_vl != VL_MANAGEMENT)
			depgraph_add(t->deps, port_at(t, sw, e->in), vl, out, next_vl);
		vl = next_vl;
	}
	if (to_router && vl != VL_MANAGEMENT)
		t->vls_in[t->dest.owner] |= (uint16_t)(1u << vl);
}

/* ---- where switches choose ---- */

static bool chooses(const struct tracer *t, unsigned sl)
{
	return t->s->adaptive && !t->one_vl && t->s->adaptive->sls >> sl & 1 &&
	       topo_is_end_port(t->s->topo, t->dest.owner);
}

/* All permitted outputs of switch `sw` for packets from input `in`. */
static struct port_set outs_of(const struct tracer *t, switch_id sw, unsigned in, unsigned sl)
{
	struct port_set one = { { 0 } };
	unsigned out;

	if (chooses(t, sl)) {
		struct port_set all =
			adaptive_ports(t->s->adaptive, sw, t->target, port_at(t, sw, in));

		if (port_set_size(&all) > 0)
			return all;
	}
	if (out_of(t, sw, &out))
		one.bits[out / 64] |= UINT64_C(1) << out % 64;
	return one;
}

/*
 * A packet with `sl` at switch `sw`, which it entered by `in` on `vl_in`: waits
 * for every port that may be chosen. VL_MANAGEMENT: no packet waits for it.
 */
static void choose(struct tracer *t, switch_id sw, unsigned in, unsigned vl_in, unsigned sl)
{
	struct port_set outs = outs_of(t, sw, in, sl);
	unsigned out = 0;

	while (port_set_next(&outs, &out)) {
		unsigned vl = vl_toward(t, sw, in, out, sl);
		edge_id e = edge_of(t->g, sw, out);

		if (vl == VL_MANAGEMENT)
			continue;
		if (vl_in != VL_MANAGEMENT)
			depgraph_add(t->deps, port_at(t, sw, in), vl_in, out, vl);
		if (sw == t->target && joins_subnets(t, t->dest.owner))
			t->vls_in[t->dest.owner] |= (uint16_t)(1u << vl);
		if (e == TOPO_NONE)
			continue;
		uint16_t *seen = &t->chosen[(size_t)e * N_SLS + sl];

		if (*seen >> vl & 1)
			continue;
		*seen |= (uint16_t)(1u << vl);
		t->hops = hd_grow(t->hops, &t->hops_cap, t->n_hops + 1, sizeof(*t->hops));
		t->hops[t->n_hops++] = (struct hop){ e, (uint8_t)sl, (uint8_t)vl };
	}
}

/* Follows what entered to all that it may wait for. */
static void follow_choices(struct tracer *t)
{
	for (size_t i = 0; i < t->n_hops; i++) {
		struct hop hop = t->hops[i];
		const struct sw_edge *e = &t->g->edges[hop.edge];

		/* An adapter consumes arriving packets: they do not wait further. */
		if (e->to != t->target || joins_subnets(t, t->dest.owner))
			choose(t, e->to, e->in, hop.vl, hop.sl);
	}
	for (size_t i = 0; i < t->n_hops; i++)
		t->chosen[(size_t)t->hops[i].edge * N_SLS + t->hops[i].sl] = 0;
	t->n_hops = 0;
}

/*
 * Groups depend only on the switch of a destination, so one destination per
 * switch suffices, except for routers and paths with SLs of their own.
 */
static bool has_been_followed(struct tracer *t)
{
	bool same = t->chooses_all && t->chosen_for == t->target && !t->s->sl_of_path &&
		    !joins_subnets(t, t->dest.owner);

	t->chosen_for = t->target;
	return same;
}

/* The SLs that packets for the destination may have, from a source port. */
static uint16_t sls_of(const struct tracer *t, port_id source)
{
	if (!t->s->sl_of_path || t->one_vl)
		return t->sls;
	return path_sls(t->s, source, t->dest.lid);
}

/* VL15 in the sender's SL2VL table: the port does not send that SL. */
static bool sends(const struct tracer *t, switch_id sw, unsigned in, unsigned out, port_id source,
		  unsigned sl)
{
	const struct sl2vl *own =
		source == TOPO_NONE ? sl2vl_at(t->s, sw, in, out) : sl2vl_of(t->s, source);

	return own->vl[sl] != VL_MANAGEMENT || t->one_vl;
}

/* Follows packets of one SL from a host, or from a router whose channel they occupy. */
static void enter_with(struct tracer *t, switch_id sw, unsigned in, unsigned out, port_id router,
		       unsigned sl)
{
	unsigned first = VL_MANAGEMENT;

	if (router != TOPO_NONE)
		first = t->one_vl ? 0 : sl2vl_of(t->s, router)->vl[sl];
	if (chooses(t, sl)) {
		choose(t, sw, in, first, sl);
		if (router != TOPO_NONE)
			t->vls_out[router] |= (uint16_t)(1u << first);
		return;
	}
	unsigned vl = vl_toward(t, sw, in, out, sl);

	if (router != TOPO_NONE && vl != VL_MANAGEMENT) {
		t->vls_out[router] |= (uint16_t)(1u << first);
		depgraph_add(t->deps, port_at(t, sw, in), first, out, vl);
	}
	follow(t, sw, sl, vl);
}

static void enter(struct tracer *t, switch_id sw, unsigned in)
{
	unsigned out;
	port_id source = t->s->topo->ports[port_at(t, sw, in)].peer;
	bool from_router = source != TOPO_NONE && joins_subnets(t, source);
	uint16_t sls = sls_of(t, source == TOPO_NONE ? port_at(t, sw, in) : source);

	if (!out_of(t, sw, &out) || (from_router && joins_subnets(t, t->dest.owner) &&
				     !subnet_router_passes(t->s, source, t->dest.owner)))
		return;
	for (unsigned sl = 0; sl < N_SLS; sl++) {
		if (sls >> sl & 1 && sends(t, sw, in, out, source, sl))
			enter_with(t, sw, in, out, from_router ? source : TOPO_NONE, sl);
	}
}

static void trace_dest(void *context, unsigned member, const struct path_view *v)
{
	struct tracer *t = (struct tracer *)context + member;
	const struct subnet *s = t->s;

	if (!t->with_switches && !topo_is_end_port(s->topo, v->dest->owner))
		return;
	t->dest = *v->dest;
	t->dest_number = v->number;
	t->target = v->target;
	if (has_been_followed(t))
		return;
	path_column(s, t->g, v, t->next);
	memset(t->seen, 0, (size_t)t->g->n * N_SLS * sizeof(*t->seen));
	for (switch_id sw = 0; sw < t->g->n; sw++) {
		uint32_t i = t->doors.first[sw], end = t->doors.first[sw + 1];

		if (i == end || (s->n_subnets > 1 && subnet_of_switch(s, sw) != t->dest.subnet))
			continue;
		for (; i < end; i++) {
			enter(t, sw, t->doors.ports[i]);
			if (t->doors.alike[sw])
				break;
		}
	}
	follow_choices(t);
}

static bool is_entrance(const struct subnet *s, port_id p, bool with_switches)
{
	const struct topo_port *port = &s->topo->ports[p];

	if (port->number == 0)
		return with_switches || topo_is_end_port(s->topo, p);
	return port->peer != TOPO_NONE && topo_is_end_port(s->topo, port->peer);
}

/*
 * Whether the adapters at two entrances send on the same VLs; inside a switch there is no adapter.
 */
static bool same_vls_sent(const struct tracer *t, port_id a, port_id b)
{
	port_id x = t->s->topo->ports[a].peer, y = t->s->topo->ports[b].peer;

	if (x == TOPO_NONE || y == TOPO_NONE)
		return x == y;
	if (t->s->sl_row && t->s->sl_row[x] != t->s->sl_row[y])
		return false;
	return t->s->sl2vl_of_port[x] == t->s->sl2vl_of_port[y];
}

/* True if all entrances of a switch have the same VLs to every port. */
static bool entrances_alike(const struct tracer *t, switch_id sw)
{
	const struct entrances *d = &t->doors;
	unsigned n = switch_node(t->s, sw)->n_ports + 1u;
	const uint16_t *pairs = t->s->sl2vl_of_pair[sw];
	const uint8_t *ports = &d->ports[d->first[sw]];

	for (uint32_t i = 0; i < d->first[sw + 1] - d->first[sw]; i++) {
		port_id p = port_at(t, sw, ports[i]);
		port_id peer = t->s->topo->ports[p].peer;

		if (peer != TOPO_NONE && joins_subnets(t, peer))
			return false;
		if (i > 0 && !same_vls_sent(t, p, port_at(t, sw, ports[0])))
			return false;
		if (memcmp(&pairs[ports[i] * n], &pairs[ports[0] * n], n * sizeof(*pairs)) != 0)
			return false;
	}
	return true;
}

static void entrances_init(struct tracer *t)
{
	struct entrances *d = &t->doors;
	uint32_t n = 0;

	d->first = hd_alloc(t->g->n + 1u, sizeof(*d->first));
	d->ports = hd_alloc(t->g->port_base[t->g->n], 1);
	d->alike = hd_alloc(t->g->n, sizeof(*d->alike));
	for (switch_id sw = 0; sw < t->g->n; sw++) {
		unsigned last = switch_node(t->s, sw)->n_ports;

		for (unsigned k = 0; k <= last; k++) {
			if (is_entrance(t->s, port_at(t, sw, k), t->with_switches))
				d->ports[n++] = (uint8_t)k;
		}
		d->first[sw + 1] = n;
		d->alike[sw] = entrances_alike(t, sw);
	}
}

static void entrances_fini(struct entrances *d)
{
	free(d->first);
	free(d->ports);
	free(d->alike);
}

/* Tables of ways through a switch to a cable, from another or from within. */
static bool *tables_in_use(const struct subnet *s)
{
	bool *used = hd_alloc(s->n_sl2vl_tables, sizeof(*used));

	for (switch_id sw = 0; sw < s->n_switches; sw++) {
		const struct topo_node *v = switch_node(s, sw);
		const struct topo_port *port = &s->topo->ports[v->first_port];
		size_t n = v->n_ports + 1u;

		for (size_t i = 0; i < n * n; i++) {
			size_t in = i / n, out = i % n;

			if (port[out].peer != TOPO_NONE && (in == 0 || port[in].peer != TOPO_NONE))
				used[s->sl2vl_of_pair[sw][i]] = true;
		}
	}
	return used;
}

/* True if the tables in use send both SLs on the same VLs. */
static bool sls_alike(const struct subnet *s, const bool *used, unsigned a, unsigned b)
{
	for (uint32_t i = 0; i < s->n_sl2vl_tables; i++) {
		const uint8_t *vl = s->sl2vl_tables[i].vl;

		if (used[i] && vl[a] != vl[b])
			return false;
	}
	return !s->adaptive || (s->adaptive->sls >> a & 1) == (s->adaptive->sls >> b & 1);
}

/* The map of the fabric if each SL has one VL all through it, or NULL. */
static const struct sl2vl *fixed_vls(const struct subnet *s, const bool *used)
{
	const struct sl2vl *first = NULL;

	for (uint32_t i = 0; i < s->n_sl2vl_tables; i++) {
		if (!used[i])
			continue;
		if (first && memcmp(first, &s->sl2vl_tables[i], sizeof(*first)) != 0)
			return NULL;
		first = &s->sl2vl_tables[i];
	}
	return first;
}

static bool all_route_alike(const struct subnet *s)
{
	return !s->adaptive || s->adaptive->sls == ALL_SLS || s->adaptive->sls == 0;
}

/* One SL of each set of SLs with the same VLs everywhere. */
static uint16_t distinct_sls(const struct subnet *s)
{
	bool *used = tables_in_use(s);
	uint16_t sls = 0;

	for (unsigned sl = 0; sl < N_SLS; sl++) {
		unsigned k = 0;

		while (k < sl && !sls_alike(s, used, k, sl))
			k++;
		if (k == sl)
			sls |= (uint16_t)(1u << sl);
	}
	/* VLs that are copies of each other lock up alike. */
	if (fixed_vls(s, used) && all_route_alike(s))
		sls = 1;
	free(used);
	return sls;
}

/* The VL of SL 0 if it is the same everywhere, or VL_MANAGEMENT. */
static uint8_t vl_everywhere(const struct subnet *s)
{
	bool *used = tables_in_use(s);
	const struct sl2vl *fixed = fixed_vls(s, used);
	uint8_t vl = fixed ? fixed->vl[0] : VL_MANAGEMENT;

	for (port_id p = 0; p < s->topo->n_ports; p++) {
		if (vl >= s->vls_of_port[p] && topo_is_switch(s->topo, s->topo->ports[p].node))
			vl = VL_MANAGEMENT;
	}
	free(used);
	return vl;
}

static void add_vls(struct depgraph *deps, port_id in, uint16_t vls_in, unsigned out,
		    uint16_t vls_out)
{
	for (unsigned i = 0; i < 16 * 16; i++) {
		if (vls_in >> i % 16 & 1 && vls_out >> i / 16 & 1)
			depgraph_add(deps, in, i % 16, out, i / 16);
	}
}

/* A router passes on what it receives: that is a dependency too. */
static void trace_routers(const struct tracer *t)
{
	const struct topo *topo = t->s->topo;

	for (port_id in = 0; in < topo->n_ports; in++) {
		const struct topo_node *v = topo_node_of(topo, in);

		for (unsigned k = 1; t->vls_in[in] && k <= v->n_ports; k++) {
			port_id out = v->first_port + k;

			if (t->vls_out[out] && subnet_router_turns(t->s, in, out))
				add_vls(t->deps, in, t->vls_in[in], k, t->vls_out[out]);
		}
	}
}

/* State of one of several threads, with the shared members. */
static struct tracer tracer_of(const struct tracer *shared)
{
	struct tracer t = *shared;
	size_t n_ports = t.s->topo->n_ports;

	t.next = hd_alloc(t.g->n, sizeof(*t.next));
	t.seen = hd_alloc((size_t)t.g->n * N_SLS, sizeof(*t.seen));
	t.chosen_for = TOPO_NONE;
	if (t.s->adaptive)
		t.chosen = hd_alloc((size_t)t.g->n_edges * N_SLS, sizeof(*t.chosen));
	t.vls_in = hd_alloc(n_ports, sizeof(*t.vls_in));
	t.vls_out = hd_alloc(n_ports, sizeof(*t.vls_out));
	t.dropped_dest = UINT32_MAX;
	return t;
}

static void tracer_free(struct tracer *t)
{
	free(t->next);
	free(t->seen);
	free(t->chosen);
	free(t->hops);
	free(t->vls_in);
	free(t->vls_out);
}

/* Adds what one thread has found to what the first one has. */
static void tracer_merge(struct tracer *to, const struct tracer *from)
{
	for (port_id p = 0; p < to->s->topo->n_ports; p++) {
		to->vls_in[p] |= from->vls_in[p];
		to->vls_out[p] |= from->vls_out[p];
	}
	to->n_dropped += from->n_dropped;
	if (from->dropped_dest < to->dropped_dest) {
		to->dropped_dest = from->dropped_dest;
		to->dropped_at = from->dropped_at;
		to->dropped_sl = from->dropped_sl;
	}
}

static void trace_unicast(const struct tracer *shared, struct deadlock_check *out)
{
	struct path_dests dests;

	path_dests_init(&dests, shared->s, shared->g);
	struct parallel_pool *pool = path_pool(shared->g, &dests);
	struct tracer *t = hd_alloc(parallel_pool_size(pool), sizeof(*t));

	for (unsigned i = 0; i < parallel_pool_size(pool); i++)
		t[i] = tracer_of(shared);
	path_visit(shared->s, shared->g, &dests, pool, trace_dest, t);
	for (unsigned i = 1; i < parallel_pool_size(pool); i++)
		tracer_merge(&t[0], &t[i]);
	trace_routers(&t[0]);
	out->n_dropped = t[0].n_dropped;
	out->dropped_at = t[0].dropped_at;
	out->dropped_sl = t[0].dropped_sl;
	for (unsigned i = 0; i < parallel_pool_size(pool); i++)
		tracer_free(&t[i]);
	free(t);
	parallel_pool_free(pool);
	path_dests_fini(&dests);
}

void route_check_deadlock(const struct subnet *s, unsigned flags, struct deadlock_check *out)
{
	bool one_vl = flags & DEADLOCK_ONE_VL;
	struct sw_graph g;
	struct depgraph deps;

	*out = (struct deadlock_check){ .cycle = NULL };
	graph_init(&g, s);
	depgraph_init(&deps, s->topo);
	struct tracer t = {
		.s = s,
		.g = &g,
		.deps = &deps,
		.sls = one_vl ? 1 : distinct_sls(s),
		.one_vl = one_vl,
		.with_switches = flags & DEADLOCK_WITH_SWITCHES,
		.chooses_all = s->adaptive && s->adaptive->sls == ALL_SLS && !one_vl &&
			       !(flags & DEADLOCK_WITH_SWITCHES),
		.only_vl = VL_MANAGEMENT,
	};

	if (one_vl)
		t.only_vl = 0;
	else if (t.sls == 1 && !s->sl_of_path)
		t.only_vl = vl_everywhere(s);
	entrances_init(&t);
	trace_unicast(&t, out);
	entrances_fini(&t.doors);
	if (!one_vl && !(flags & DEADLOCK_UNICAST))
		mcast_dependencies(s, &deps);
	depgraph_measure(&deps, &out->size);
	out->n_cycle = depgraph_find_cycle(&deps, &out->cycle);
	depgraph_fini(&deps);
	graph_fini(&g);
}

void route_deadlock_fini(struct deadlock_check *c)
{
	free(c->cycle);
	c->cycle = NULL;
}

void route_print_cycle(const struct subnet *s, const struct deadlock_check *c, struct strbuf *out)
{
	const struct topo *t = s->topo;

	for (uint32_t i = 0; i < c->n_cycle; i++) {
		const struct topo_port *from = &t->ports[c->cycle[i].from];
		const struct topo_port *to = &t->ports[from->peer];

		strbuf_printf(out, "'%s' port %u -> '%s' port %u, VL %u\n",
			      t->nodes[from->node].name, from->number, t->nodes[to->node].name,
			      to->number, c->cycle[i].vl);
	}
}
