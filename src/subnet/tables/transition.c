/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/tables/transition.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "subnet/tables/paths.h"

/* ---- states, one write after the other ---------------------------------- */

struct states {
	struct subnet mixed; /* the planned one, with the tables of a moment */
	struct sw_graph g;
	struct path_dests dests;
	switch_id *target_of; /* per destination: its last switch */
	uint32_t **dest_of;   /* [subnet][lid]: destination, or TOPO_NONE */
	struct fault_count {
		uint64_t unreachable, loops;
	} * counts, now; /* per destination, and all together */
	edge_id *next;
	uint16_t *hops;
	switch_id *stack;
	struct table_transition *out;
};

static bool is_counted(const struct states *s, uint32_t dest)
{
	return topo_is_end_port(s->mixed.topo, s->dests.dests[dest].owner);
}

static void states_init(struct states *s, const struct subnet *before, const struct replan *next)
{
	const struct subnet *n = &next->subnet;

	s->mixed = *n;
	s->mixed.lft = lft_rows(before);
	s->mixed.lft_at = NULL;
	graph_init(&s->g, n);
	path_dests_init(&s->dests, n, &s->g);
	s->target_of = hd_alloc(s->dests.n, sizeof(*s->target_of));
	s->counts = hd_alloc(s->dests.n, sizeof(*s->counts));
	s->next = hd_alloc(s->g.n, sizeof(*s->next));
	s->hops = hd_alloc(s->g.n, sizeof(*s->hops));
	s->stack = hd_alloc(s->g.n, sizeof(*s->stack));
	s->dest_of = hd_alloc(n->n_subnets, sizeof(*s->dest_of));
	for (unsigned i = 0; i < n->n_subnets; i++) {
		s->dest_of[i] = hd_alloc(n->lft_stride, sizeof(**s->dest_of));
		memset(s->dest_of[i], 0xff, n->lft_stride * sizeof(**s->dest_of));
	}
	for (switch_id sw = 0; sw < s->g.n; sw++) {
		for (uint32_t i = s->dests.first[sw]; i < s->dests.first[sw + 1]; i++) {
			const struct path_dest *d = &s->dests.dests[i];

			s->target_of[i] = sw;
			s->dest_of[d->subnet][d->lid] = i;
		}
	}
}

static void states_fini(struct states *s)
{
	for (unsigned i = 0; i < s->mixed.n_subnets; i++)
		free(s->dest_of[i]);
	free(s->dest_of);
	free(s->mixed.lft);
	free(s->target_of);
	free(s->counts);
	free(s->next);
	free(s->hops);
	free(s->stack);
	path_dests_fini(&s->dests);
	graph_fini(&s->g);
}

/* Recounts one destination. */
static void count_dest(struct states *s, uint32_t dest)
{
	const struct path_dest *d = &s->dests.dests[dest];
	struct fault_count *c = &s->counts[dest];

	s->now.unreachable -= c->unreachable;
	s->now.loops -= c->loops;
	*c = (struct fault_count){ 0 };
	path_column_of(&s->mixed, &s->g, s->target_of[dest], d, s->next);
	path_hops(&s->g, s->next, s->hops, s->stack);
	for (switch_id sw = 0; sw < s->g.n; sw++) {
		uint64_t n = s->g.n_ends[sw] - (sw == s->target_of[dest]);

		if (s->hops[sw] < PATH_NOT_ARRIVED ||
		    (s->mixed.n_subnets > 1 && subnet_of_switch(&s->mixed, sw) != d->subnet))
			continue;
		c->unreachable += n;
		if (s->hops[sw] == PATH_HOPS_LOOP)
			c->loops += n;
	}
	s->now.unreachable += c->unreachable;
	s->now.loops += c->loops;
}

enum path_end { ENDS_WELL, ENDS_BADLY, ENDS_NEVER };

/* End of the path from one switch. */
static enum path_end end_of(const struct states *s, uint32_t dest, switch_id sw)
{
	const struct path_dest *d = &s->dests.dests[dest];

	for (uint32_t steps = 0; steps <= s->g.n; steps++) {
		uint8_t port = lft_get(&s->mixed, sw, d->lid);

		if (sw == s->target_of[dest] && port == d->port)
			return ENDS_WELL;
		edge_id e = edge_of(&s->g, sw, port);

		if (port == LFT_NO_PORT || e == TOPO_NONE)
			return ENDS_BADLY;
		sw = s->g.edges[e].to;
	}
	return ENDS_NEVER;
}

/* A path through a switch ends like the switch's own path. */
static void write_entry(struct states *s, switch_id sw, lid_t lid, uint8_t port)
{
	uint8_t *at = &s->mixed.lft[(size_t)sw * s->mixed.lft_stride + lid];
	uint32_t dest = s->dest_of[subnet_of_switch(&s->mixed, sw)][lid];

	if (*at == port)
		return;
	if (dest == TOPO_NONE || !is_counted(s, dest)) {
		*at = port;
		return;
	}
	enum path_end before = end_of(s, dest, sw);

	*at = port;
	if (end_of(s, dest, sw) != before)
		count_dest(s, dest);
}

static void note_worst(struct states *s)
{
	struct table_transition *o = s->out;

	if (s->now.unreachable > o->unreachable)
		o->unreachable = s->now.unreachable;
	if (s->now.loops > o->loops)
		o->loops = s->now.loops;
}

static void check_states(const struct subnet *before, const struct replan *next,
			 struct table_transition *out)
{
	struct states s = { .out = out };

	states_init(&s, before, next);
	for (uint32_t i = 0; i < s.dests.n; i++) {
		if (is_counted(&s, i))
			count_dest(&s, i);
	}
	note_worst(&s);
	for (uint32_t i = 0; i < next->n_writes; i++) {
		const struct lft_write *w = &next->writes[i];

		for (uint32_t k = 0; k < LFT_BLOCK_LIDS; k++) {
			lid_t lid = (lid_t)(w->block * LFT_BLOCK_LIDS + k);

			write_entry(&s, w->sw, lid, lft_get(&next->subnet, w->sw, lid));
		}
		note_worst(&s);
	}
	out->unreachable_after = s.now.unreachable;
	states_fini(&s);
}

/* ---- all of them together: dependencies --------------------------------- */

/* A channel that a packet with `sl` may hold. */
struct held {
	edge_id edge;
	uint8_t sl, vl;
};

struct united {
	const struct subnet *tables[2]; /* the old and the new ones */
	const struct subnet *vls;
	struct sw_graph g;
	struct depgraph deps;
	bool one_vl; /* one VL for all packets */
	edge_id *next[2];
	/* [block][switch]: when it is written, in writes; UINT32_MAX: never */
	uint32_t *written;
	uint16_t *seen; /* [edge][sl]: VLs already followed from there */
	struct held *stack;
	size_t depth, cap;
	const struct path_dest *dest;
};

static uint8_t vl_of(const struct united *u, switch_id sw, unsigned in, unsigned out, unsigned sl)
{
	if (u->one_vl)
		return 0;
	port_id p = topo_port_of(u->vls->topo, u->vls->node_of_switch[sw], out);
	uint8_t vl = sl2vl_at(u->vls, sw, in, out)->vl[sl];

	return vl < u->vls->vls_of_port[p] ? vl : VL_MANAGEMENT;
}

/*
 * A packet that the previous switch sent by its new entry does not meet the old
 * entry of this switch if this switch was written first.
 */
static bool is_too_late(const struct united *u, const struct held *h, switch_id sw, unsigned k)
{
	switch_id before = edge_from(&u->g, h->edge);
	const uint32_t *written = &u->written[(size_t)(u->dest->lid / LFT_BLOCK_LIDS) * u->g.n];

	return k == 0 && u->next[1][sw] != u->next[0][sw] && u->next[0][before] != h->edge &&
	       written[sw] < written[before];
}

/* Forwards a packet of `sl` from input `in` of a switch by either table. */
static void forward_packet(struct united *u, switch_id sw, unsigned in, unsigned sl,
			   const struct held *holds)
{
	for (unsigned k = 0; k < 2; k++) {
		edge_id e = u->next[k][sw];

		if (!path_goes_on(e) || (k == 1 && e == u->next[0][sw]) ||
		    (holds && is_too_late(u, holds, sw, k)))
			continue;
		unsigned out = u->g.edges[e].out;
		uint8_t vl = vl_of(u, sw, in, out, sl);

		if (vl == VL_MANAGEMENT)
			continue;
		if (holds)
			depgraph_add(&u->deps,
				     topo_port_of(u->vls->topo, u->vls->node_of_switch[sw], in),
				     holds->vl, out, vl);
		uint16_t *seen = &u->seen[(size_t)e * N_SLS + sl];

		if (*seen >> vl & 1)
			continue;
		*seen |= (uint16_t)(1u << vl);
		u->stack = hd_grow(u->stack, &u->cap, u->depth + 1, sizeof(*u->stack));
		u->stack[u->depth++] = (struct held){ e, (uint8_t)sl, (uint8_t)vl };
	}
}

static uint16_t sls_from(const struct united *u, port_id source)
{
	uint16_t sls = 0;

	if (u->one_vl)
		return 1;
	for (unsigned k = 0; k < 2; k++) {
		const struct subnet *s = u->tables[k];

		if (!s->sl_of_path)
			return UINT16_MAX;
		sls |= path_sls(s, source, u->dest->lid);
	}
	return sls;
}

/* Adds the packets of a switch's end ports to the destination. */
static void enter(struct united *u, switch_id sw)
{
	const struct topo *t = u->tables[1]->topo;
	const struct topo_node *v = &t->nodes[u->vls->node_of_switch[sw]];

	for (unsigned k = 0; k <= v->n_ports; k++) {
		port_id p = v->first_port + k;
		port_id source = k > 0 ? t->ports[p].peer : p;

		if (source == TOPO_NONE || !topo_is_end_port(t, source))
			continue;
		uint16_t sls = sls_from(u, source);

		for (unsigned sl = 0; sl < N_SLS; sl++) {
			if (sls >> sl & 1)
				forward_packet(u, sw, k, sl, NULL);
		}
		if (u->one_vl)
			return;
	}
}

static void follow_dest(struct united *u, switch_id target)
{
	for (unsigned k = 0; k < 2; k++)
		path_column_of(u->tables[k], &u->g, target, u->dest, u->next[k]);
	memset(u->seen, 0, (size_t)u->g.n_edges * N_SLS * sizeof(*u->seen));
	for (switch_id sw = 0; sw < u->g.n; sw++) {
		if (u->g.n_ends[sw])
			enter(u, sw);
	}
	while (u->depth > 0) {
		struct held h = u->stack[--u->depth];
		const struct sw_edge *e = &u->g.edges[h.edge];

		forward_packet(u, e->to, e->in, h.sl, &h);
	}
}

static uint32_t *order_of_writes(const struct replan *next)
{
	size_t n = next->subnet.n_switches;
	size_t size = (next->subnet.lft_stride / LFT_BLOCK_LIDS + 1) * n;
	uint32_t *written = hd_alloc_dense(size, sizeof(*written));

	memset(written, 0xff, size * sizeof(*written));
	for (uint32_t i = 0; i < next->n_writes; i++)
		written[next->writes[i].block * n + next->writes[i].sw] = i;
	return written;
}

static void check_cycle(const struct subnet *before, const struct replan *next,
			const struct subnet *vls, struct table_transition *out)
{
	struct united u = {
		.tables = { before, &next->subnet },
		.vls = vls,
		.one_vl = !vls->vls_by_engine && !vls->sl_of_path,
		.written = order_of_writes(next),
	};
	struct path_dests dests;

	graph_init(&u.g, &next->subnet);
	depgraph_init(&u.deps, &next->topo);
	path_dests_init(&dests, &next->subnet, &u.g);
	for (unsigned k = 0; k < 2; k++)
		u.next[k] = hd_alloc(u.g.n, sizeof(*u.next[k]));
	u.seen = hd_alloc((size_t)u.g.n_edges * N_SLS, sizeof(*u.seen));
	for (switch_id sw = 0; sw < u.g.n; sw++) {
		for (uint32_t i = dests.first[sw]; i < dests.first[sw + 1]; i++) {
			u.dest = &dests.dests[i];
			if (topo_is_end_port(&next->topo, u.dest->owner))
				follow_dest(&u, sw);
		}
	}
	out->n_cycle = depgraph_find_cycle(&u.deps, &out->cycle);
	free(u.next[0]);
	free(u.next[1]);
	free(u.written);
	free(u.seen);
	free(u.stack);
	path_dests_fini(&dests);
	depgraph_fini(&u.deps);
	graph_fini(&u.g);
}

void transition_check(const struct subnet *before, const struct replan *next,
		      const struct subnet *vls, struct table_transition *out)
{
	*out = (struct table_transition){ .cycle = NULL };
	check_states(before, next, out);
	check_cycle(before, next, vls, out);
}

void transition_fini(struct table_transition *t)
{
	free(t->cycle);
	t->cycle = NULL;
}
