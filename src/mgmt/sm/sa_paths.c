/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mgmt/sm/sa.h"
#include "subnet/routing/order.h"
#include "wire/cursor.h"

/*
 * Path records: where a packet goes by the tables, and what the least of its
 * links allows. The SL is the one that the routing engine asks for.
 */

/* Components of a mask. */
enum {
	BY_DGID = 2,
	BY_SGID,
	BY_DLID,
	BY_SLID,
	BY_PKEY = 13,
	BY_SL = 15,
	BY_MTU = 16, /* its selector; the MTU itself is the next */
	BY_RATE = 18,
};

/* What selectors ask for, beside a value. */
enum { GREATER, LESS, EXACTLY, LARGEST };

/* What a link runs at, as records write it. */
struct speed {
	uint8_t mtu, rate;
	uint32_t mbps;
};

/* [speed][width: 1x, 4x, 8x, 12x, 2x]: codes of rates, and lanes. */
static const uint8_t codes[][5] = {
	{ 2, 3, 6, 4, 5 },      { 5, 6, 7, 8, 3 },      { 3, 7, 9, 10, 6 },
	{ 11, 12, 13, 14, 19 }, { 15, 16, 17, 18, 20 }, { 20, 17, 21, 22, 16 },
	{ 16, 21, 23, 24, 17 },
};
static const uint32_t lane_mbps[] = { 2500, 5000, 10000, 14062, 25781, 53125, 106250 };
static const uint8_t lanes[] = { 1, 4, 8, 12, 2 };

static unsigned highest(uint64_t bits)
{
	unsigned n = 0;

	while (bits >>= 1)
		n++;
	return n;
}

static struct speed speed_of(const struct manager *m, const uint8_t *info)
{
	uint64_t extended = info_get(m, info, PORT_EXT_SPEED);
	unsigned speed = extended ? 3 + highest(extended) : highest(info_get(m, info, PORT_SPEED));
	unsigned width = highest(info_get(m, info, PORT_WIDTH));

	speed = speed < 7 ? speed : 6;
	width = width < 5 ? width : 4;
	return (struct speed){
		.mtu = (uint8_t)info_get(m, info, PORT_NEIGHBOR_MTU),
		.rate = codes[speed][width],
		.mbps = lane_mbps[speed] * lanes[width],
	};
}

struct paths {
	struct query *query;
	const struct subnet *subnet;
	struct speed *speeds; /* per port_id */
	port_id *ends;        /* with LIDs */
	uint32_t n_ends;
};

static void narrow(struct speed *s, const struct speed *link)
{
	if (link->mtu < s->mtu)
		s->mtu = link->mtu;
	if (link->mbps < s->mbps) {
		s->mbps = link->mbps;
		s->rate = link->rate;
	}
}

/* From one port to another, by the tables; false if it does not arrive. */
static bool walk(const struct paths *p, port_id from, port_id to, struct speed *out)
{
	const struct topo *t = p->subnet->topo;
	lid_t lid = p->subnet->lid_of_port[to];
	port_id at = from;
	const struct speed most = { .mtu = 5, .rate = 24, .mbps = UINT32_MAX };

	*out = from == to ? p->speeds[from] : most;
	for (unsigned hops = 0; hops <= MOST_HOPS; hops++) {
		node_id v = t->ports[at].node;

		if (v == t->ports[to].node &&
		    (topo_is_switch(t, v) ? t->ports[to].number == 0 : at == to))
			return true;
		if (topo_is_switch(t, v)) {
			unsigned out_port = lft_get(p->subnet, p->subnet->switch_of_node[v], lid);

			if (out_port == 0 || out_port > t->nodes[v].n_ports)
				return false;
			at = topo_port_of(t, v, out_port);
		} else if (at != from) {
			return false;
		}
		narrow(out, &p->speeds[at]);
		at = t->ports[at].peer;
		if (at == TOPO_NONE)
			return false;
	}
	return false;
}

static void put_gid(const struct subnet *s, port_id p, uint8_t *out)
{
	store_be64(out, subnet_gid_prefix(s, p));
	store_be64(out + 8, port_guid(s->topo, p));
}

/* How codes of MTUs and rates compare; 0: it is none. Rates in 0.1 Gb/s. */
static const uint16_t mtu_ranks[] = { 0, 1, 2, 3, 4, 5 };
static const uint16_t rate_ranks[] = {
	0,    0,    25,  100,  300,  50,   200, 400, 600,  800,  1200, 140,   560,
	1120, 1680, 250, 1000, 2000, 3000, 280, 500, 4000, 6000, 8000, 12000,
};

/*
 * Whether what a way can do is what a selector asks for; `value` is lowered, if
 * less is wanted than it can do. Packets may be smaller than they could, but a
 * rate is what a way has.
 */
static bool suits(const struct query *q, unsigned selector, uint8_t asked, const uint16_t *ranks,
		  unsigned n, uint8_t *value)
{
	unsigned wanted = asked & 63, how = asked >> 6, best = 0;
	unsigned can = *value < n ? ranks[*value] : 0;

	if (!query_has(q, selector) || !query_has(q, selector + 1) || how == LARGEST)
		return true;
	if (wanted >= n || ranks[wanted] == 0)
		return false;
	if (how == GREATER)
		return can > ranks[wanted];
	if (how == LESS && can < ranks[wanted])
		return true;
	if (how == LESS) {
		for (unsigned i = 0; i < n; i++)
			if (ranks[i] < ranks[wanted] && ranks[i] > ranks[best])
				best = i;
	} else if (selector == BY_MTU ? can >= ranks[wanted] : can == ranks[wanted]) {
		best = wanted;
	}
	*value = (uint8_t)best;
	return best != 0;
}

static bool is_wanted(const struct query *q, struct speed *least)
{
	return (!query_has(q, BY_PKEY) || (load_be16(q->data + 50) | PKEY_FULL) == PKEY_DEFAULT) &&
	       suits(q, BY_MTU, q->data[54], mtu_ranks, sizeof(mtu_ranks) / sizeof(mtu_ranks[0]),
		     &least->mtu) &&
	       suits(q, BY_RATE, q->data[55], rate_ranks,
		     sizeof(rate_ranks) / sizeof(rate_ranks[0]), &least->rate);
}

static void put_path(const struct paths *p, port_id from, port_id to)
{
	const struct subnet *s = p->subnet;
	uint8_t wanted = query_has(p->query, BY_SL) ? p->query->data[53] & 15 : 0;
	struct speed least;
	uint8_t r[SA_MOST] = { 0 };

	if (!walk(p, from, to, &least) || !is_wanted(p->query, &least))
		return;
	put_gid(s, to, r + 8);
	put_gid(s, from, r + 24);
	store_be16(r + 40, s->lid_of_port[to]);
	store_be16(r + 42, s->lid_of_port[from]);
	r[49] = 0x80; /* reversible */
	store_be16(r + 50, PKEY_DEFAULT);
	r[53] = path_sl(s, from, s->lid_of_port[to], wanted);
	if (query_has(p->query, BY_SL) && r[53] != wanted)
		return;
	r[54] = (uint8_t)(EXACTLY << 6 | least.mtu);
	r[55] = (uint8_t)(EXACTLY << 6 | least.rate);
	r[56] = EXACTLY << 6 | SA_LIFE_TIME;
	query_put_anyway(p->query, r);
}

/* Whether the port is what a LID and a GID of the request say. */
static bool is_asked(const struct paths *p, port_id port, unsigned by_gid, unsigned by_lid)
{
	const uint8_t *data = p->query->data;
	uint8_t gid[16];
	lid_t base = p->subnet->lid_of_port[port];
	unsigned lid = load_be16(data + (by_lid == BY_DLID ? 40 : 42));

	put_gid(p->subnet, port, gid);
	if (query_has(p->query, by_lid) &&
	    (lid < base || lid >= base + (1U << p->subnet->lmc_of_port[port])))
		return false;
	return !query_has(p->query, by_gid) ||
	       memcmp(gid + 8, data + (by_gid == BY_DGID ? 16 : 32), 8) == 0;
}

static void find_ends(struct paths *p)
{
	const struct manager *m = p->query->manager;

	for (uint32_t i = 0; i < m->seen.n; i++) {
		const struct found_node *n = &m->seen.nodes[i];
		node_id v = planned_node(m, n);

		for (unsigned k = 0; v != TOPO_NONE && k <= n->n_ports; k++) {
			port_id port = topo_port_of(p->subnet->topo, v, k);

			if (!n->ports[k].answered)
				continue;
			p->speeds[port] = speed_of(m, n->ports[k].info);
			if (p->subnet->lid_of_port[port])
				p->ends[p->n_ends++] = port;
		}
	}
}

void paths_each(struct query *q)
{
	const struct subnet *s = planned_now(q->manager);
	uint32_t n = s->topo->n_ports;
	struct paths p = {
		.query = q,
		.subnet = s,
		.speeds = hd_alloc(n, sizeof(*p.speeds)),
		.ends = hd_alloc(n, sizeof(*p.ends)),
	};

	find_ends(&p);
	for (uint32_t i = 0; i < p.n_ends; i++) {
		if (!is_asked(&p, p.ends[i], BY_SGID, BY_SLID))
			continue;
		for (uint32_t k = 0; k < p.n_ends; k++)
			if (is_asked(&p, p.ends[k], BY_DGID, BY_DLID))
				put_path(&p, p.ends[i], p.ends[k]);
	}
	free(p.speeds);
	free(p.ends);
}
