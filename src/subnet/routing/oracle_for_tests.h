/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_ORACLE_FOR_TESTS_H
#define HD_SUBNET_ROUTING_ORACLE_FOR_TESTS_H

/*
 * Reference implementations of the checks without common code: packets are
 * traced one by one, distances use Floyd and Warshall's algorithm, and cycles
 * are what remains after repeatedly removing channels without dependencies.
 */

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "subnet/subnet.h"

struct oracle {
	uint64_t n_pairs, n_unreachable, n_not_minimal, hops;
	uint64_t n_switch_pairs, n_switch_unreachable; /* to LIDs of switches */
	unsigned max_hops;
	bool cyclic;
};

static inline void oracle_relax(unsigned *dist, unsigned n, unsigned k)
{
	for (unsigned i = 0; i < n * n; i++) {
		unsigned d = dist[i / n * n + k] + dist[k * n + i % n];

		if (d < dist[i])
			dist[i] = d;
	}
}

/* dist[a * n + b]: cables between nodes a and b. */
static inline unsigned *oracle_distances(const struct topo *t)
{
	unsigned n = t->n_nodes;
	unsigned *dist = calloc((size_t)n * n, sizeof(*dist));

	for (unsigned i = 0; i < n * n; i++)
		dist[i] = i / n == i % n ? 0 : 1000000;
	for (port_id p = 0; p < t->n_ports; p++) {
		if (t->ports[p].peer != TOPO_NONE)
			dist[t->ports[p].node * n + t->ports[t->ports[p].peer].node] = 1;
	}
	for (unsigned k = 0; k < n; k++) {
		if (topo_is_switch(t, k)) /* other nodes do not forward */
			oracle_relax(dist, n, k);
	}
	return dist;
}

struct oracle_deps {
	uint32_t n; /* channels: port * 16 + vl */
	uint32_t (*pairs)[2];
	size_t n_pairs, cap;
};

static inline void oracle_wait(struct oracle_deps *d, uint32_t a, uint32_t b)
{
	if (d->n_pairs == d->cap) {
		d->cap = d->cap ? d->cap * 2 : 1024;
		d->pairs = realloc(d->pairs, d->cap * sizeof(*d->pairs));
	}
	d->pairs[d->n_pairs][0] = a;
	d->pairs[d->n_pairs++][1] = b;
}

/*
 * Traces one packet; returns the number of cables, or -1. The channel of a hop
 * depends on that of the next hop.
 */
static inline int oracle_walk(const struct subnet *s, port_id from, lid_t lid, unsigned sl,
			      struct oracle_deps *deps)
{
	const struct topo *t = s->topo;
	port_id target = s->port_of_lid[t->ports[from].subnet][lid];
	port_id at = from;
	uint32_t channel = UINT32_MAX;
	int cables = 0;

	if (t->ports[from].number > 0) { /* an adapter's port: the first cable */
		at = t->ports[from].peer;
		channel = from * 16 + sl2vl_of(s, from)->vl[sl];
		cables = 1;
	}
	for (;;) {
		const struct topo_port *in = &t->ports[at];

		if (at == target)
			return cables;
		if (!topo_is_switch(t, in->node) || cables > 2000)
			return -1;
		switch_id sw = s->switch_of_node[in->node];
		unsigned out = lft_get(s, sw, lid);

		if (out > t->nodes[in->node].n_ports)
			return -1;
		port_id next = t->nodes[in->node].first_port + out;

		if (out == 0) {
			at = next;
			return at == target ? cables : -1;
		}
		if (t->ports[next].peer == TOPO_NONE)
			return -1;
		uint32_t vl = sl2vl_at(s, sw, in->number, out)->vl[sl];

		if (deps && channel != UINT32_MAX)
			oracle_wait(deps, channel, next * 16 + vl);
		channel = next * 16 + vl;
		at = t->ports[next].peer;
		cables++;
	}
}

/* One pass that removes channels without dependencies. */
static inline bool oracle_peel(const struct oracle_deps *d, uint32_t *waits, bool *gone, bool *dead)
{
	bool changed = false;

	for (uint32_t c = 0; c < d->n; c++) {
		if (!gone[c] && waits[c] == 0)
			gone[c] = changed = true;
	}
	for (size_t i = 0; i < d->n_pairs; i++) {
		if (!dead[i] && gone[d->pairs[i][1]]) {
			dead[i] = true;
			waits[d->pairs[i][0]]--;
		}
	}
	return changed;
}

/* Channels that cannot be removed form cycles. */
static inline bool oracle_is_cyclic(const struct oracle_deps *d)
{
	uint32_t *waits = calloc(d->n, sizeof(*waits));
	bool *gone = calloc(d->n, sizeof(*gone));
	bool *dead = calloc(d->n_pairs + 1, sizeof(*dead));
	bool cyclic = false;

	for (size_t i = 0; i < d->n_pairs; i++)
		waits[d->pairs[i][0]]++;
	while (oracle_peel(d, waits, gone, dead))
		;
	for (uint32_t c = 0; c < d->n; c++)
		cyclic |= !gone[c];
	free(waits);
	free(gone);
	free(dead);
	return cyclic;
}

static inline void oracle_pair(const struct subnet *s, port_id a, port_id b, const unsigned *dist,
			       struct oracle *o, struct oracle_deps *deps)
{
	const struct topo *t = s->topo;
	unsigned shortest = dist[t->ports[a].node * t->n_nodes + t->ports[b].node];

	for (unsigned i = 0; i < 1u << s->lmc_of_port[b]; i++) {
		lid_t lid = (lid_t)(s->lid_of_port[b] + i);
		int cables = oracle_walk(s, a, lid, 0, NULL);
		unsigned ends =
			(t->ports[a].number > 0 ? 1u : 0u) + (t->ports[b].number > 0 ? 1u : 0u);

		if (!topo_is_end_port(t, b)) {
			o->n_switch_pairs++;
			o->n_switch_unreachable += cables < 0;
			continue;
		}
		o->n_pairs++;
		if (cables < 0) {
			o->n_unreachable++;
			continue;
		}
		o->n_not_minimal += (unsigned)cables != shortest;
		/* Two directly cabled adapters have no switch between them. */
		unsigned hops = (unsigned)cables < ends ? 0 : (unsigned)cables - ends;

		o->hops += hops;
		o->max_hops = hops > o->max_hops ? hops : o->max_hops;
		for (unsigned sl = 0; sl < 16; sl++) {
			if (!s->sl_of_path || path_sl(s, a, lid, 0) == sl)
				(void)oracle_walk(s, a, lid, sl, deps);
		}
	}
}

/* For a single subnet only. */
static inline void oracle_run(const struct subnet *s, struct oracle *o)
{
	const struct topo *t = s->topo;
	struct oracle_deps deps = { .n = t->n_ports * 16 };
	unsigned *dist = oracle_distances(t);

	memset(o, 0, sizeof(*o));
	for (port_id a = 0; a < t->n_ports; a++) {
		for (port_id b = 0; b < t->n_ports; b++) {
			if (topo_is_end_port(t, a) && s->lid_of_port[b] && a != b)
				oracle_pair(s, a, b, dist, o, &deps);
		}
	}
	o->cyclic = oracle_is_cyclic(&deps);
	free(deps.pairs);
	free(dist);
}

#endif
