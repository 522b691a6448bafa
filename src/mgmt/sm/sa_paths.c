/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mgmt/sm/sm_internal.h"
#include "subnet/routing/order.h"
#include "wire/cursor.h"

/*
 * Path records: the path by the forwarding tables, with the minimum MTU and rate of its links and
 * the SL of the routing algorithm.
 */

/* Components of the mask. */
enum {
	HAS_DGID = 2,
	HAS_SGID,
	HAS_DLID,
	HAS_SLID,
	HAS_PKEY = 13,
	HAS_SL = 15,
	HAS_MTU = 16, /* MTU selector; the MTU is the next component */
	HAS_RATE = 18,
};

/* MTU and rate codes of a link. */
struct link_capacity {
	uint8_t mtu, rate;
	uint32_t mbps;
};

/* [speed][width: 1x, 4x, 8x, 12x, 2x]: rate codes, and physical lanes. */
static const uint8_t rate_codes[][5] = {
	{ 2, 3, 6, 4, 5 },      { 5, 6, 7, 8, 3 },      { 3, 7, 9, 10, 6 },
	{ 11, 12, 13, 14, 19 }, { 15, 16, 17, 18, 20 }, { 20, 17, 21, 22, 16 },
	{ 16, 21, 23, 24, 17 },
};
static const uint32_t lane_mbps[] = { 2500, 5000, 10000, 14062, 25781, 53125, 106250 };
static const uint8_t width_lanes[] = { 1, 4, 8, 12, 2 };

static unsigned highest(uint64_t bits)
{
	unsigned n = 0;

	while (bits >>= 1)
		n++;
	return n;
}

static struct link_capacity capacity_of(const struct sm *m, const uint8_t *info)
{
	uint64_t extended = info_get(m, info, PORT_EXT_SPEED);
	unsigned speed = extended ? 3 + highest(extended) : highest(info_get(m, info, PORT_SPEED));
	unsigned width = highest(info_get(m, info, PORT_WIDTH));

	speed = speed < 7 ? speed : 6;
	width = width < 5 ? width : 4;
	return (struct link_capacity){
		.mtu = (uint8_t)info_get(m, info, PORT_NEIGHBOR_MTU),
		.rate = rate_codes[speed][width],
		.mbps = lane_mbps[speed] * width_lanes[width],
	};
}

struct path_query {
	struct sa_query *query;
	const struct subnet *subnet;
	struct link_capacity *speeds; /* per port_id */
	port_id *ends;                /* ports with a LID */
	uint32_t n_ends;
};

static void reduce(struct link_capacity *s, const struct link_capacity *link)
{
	if (link->mtu < s->mtu)
		s->mtu = link->mtu;
	if (link->mbps < s->mbps) {
		s->mbps = link->mbps;
		s->rate = link->rate;
	}
}

/* Follows the forwarding tables from one port to another; false if the path is broken. */
static bool trace_path(const struct path_query *p, port_id from, port_id to,
		       struct link_capacity *out)
{
	const struct topo *t = p->subnet->topo;
	lid_t lid = p->subnet->lid_of_port[to];
	port_id at = from;
	const struct link_capacity most = { .mtu = 5, .rate = 24, .mbps = UINT32_MAX };

	*out = from == to ? p->speeds[from] : most;
	for (unsigned hops = 0; hops <= MAX_HOPS; hops++) {
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
		reduce(out, &p->speeds[at]);
		at = t->ports[at].peer;
		if (at == TOPO_NONE)
			return false;
	}
	return false;
}

static void put_gid(const struct subnet *s, port_id p, uint8_t *out)
{
	store_be64(out, subnet_gid_prefix(s, p));
	store_be64(out + 8, order_port_guid(s->topo, p));
}

/* Order of MTU and rate codes; 0: invalid. Rates in 0.1 Gb/s. */
static const uint16_t mtu_ranks[] = { 0, 1, 2, 3, 4, 5 };
static const uint16_t rate_ranks[] = {
	0,    0,    25,  100,  300,  50,   200, 400, 600,  800,  1200, 140,   560,
	1120, 1680, 250, 1000, 2000, 3000, 280, 500, 4000, 6000, 8000, 12000,
};

unsigned sa_rank(enum sa_quantity quantity, unsigned code)
{
	if (quantity == SA_MTU)
		return code < sizeof(mtu_ranks) / sizeof(mtu_ranks[0]) ? mtu_ranks[code] : 0;
	return code < sizeof(rate_ranks) / sizeof(rate_ranks[0]) ? rate_ranks[code] : 0;
}

uint8_t sa_code_below(enum sa_quantity quantity, unsigned code)
{
	unsigned best = 0;

	for (unsigned i = 0; i < 64; i++)
		if (sa_rank(quantity, i) < sa_rank(quantity, code) &&
		    sa_rank(quantity, i) > sa_rank(quantity, best))
			best = i;
	return (uint8_t)best;
}

uint8_t sa_port_code(const struct sm *m, const uint8_t *info, enum sa_quantity quantity)
{
	struct link_capacity c = capacity_of(m, info);

	return quantity == SA_MTU ? c.mtu : c.rate;
}

/*
 * True if the path satisfies a selector; lowers `value` if the request wants less. A smaller MTU
 * may be used, but the rate of a path is fixed.
 */
static bool satisfies(const struct sa_query *q, unsigned selector, uint8_t field,
		      enum sa_quantity quantity, uint8_t *value)
{
	unsigned requested = field & 63, how = field >> 6;
	unsigned can = sa_rank(quantity, *value), wants = sa_rank(quantity, requested);

	if (!sa_query_has(q, selector) || !sa_query_has(q, selector + 1) || how == SA_LARGEST)
		return true;
	if (wants == 0)
		return false;
	if (how == SA_GREATER)
		return can > wants;
	if (how == SA_LESS && can < wants)
		return true;
	if (how == SA_LESS)
		*value = sa_code_below(quantity, requested);
	else
		*value =
			(quantity == SA_MTU ? can >= wants : can == wants) ? (uint8_t)requested : 0;
	return *value != 0;
}

static bool matches(const struct sa_query *q, struct link_capacity *minimum)
{
	return (!sa_query_has(q, HAS_PKEY) ||
		(load_be16(q->data + 50) | PKEY_FULL) == PKEY_DEFAULT) &&
	       satisfies(q, HAS_MTU, q->data[54], SA_MTU, &minimum->mtu) &&
	       satisfies(q, HAS_RATE, q->data[55], SA_RATE, &minimum->rate);
}

static void put_path(const struct path_query *p, port_id from, port_id to)
{
	const struct subnet *s = p->subnet;
	uint8_t requested = sa_query_has(p->query, HAS_SL) ? p->query->data[53] & 15 : 0;
	struct link_capacity minimum;
	uint8_t r[SA_RECORD_MAX] = { 0 };

	if (!trace_path(p, from, to, &minimum) || !matches(p->query, &minimum))
		return;
	put_gid(s, to, r + 8);
	put_gid(s, from, r + 24);
	store_be16(r + 40, s->lid_of_port[to]);
	store_be16(r + 42, s->lid_of_port[from]);
	r[49] = 0x80; /* reversible */
	store_be16(r + 50, PKEY_DEFAULT);
	r[53] = path_sl(s, from, s->lid_of_port[to], requested);
	if (sa_query_has(p->query, HAS_SL) && r[53] != requested)
		return;
	r[54] = (uint8_t)(SA_EXACTLY << 6 | minimum.mtu);
	r[55] = (uint8_t)(SA_EXACTLY << 6 | minimum.rate);
	/* A loopback path has no life time (table 205 of the specification). */
	r[56] = (uint8_t)(SA_EXACTLY << 6 | (from == to ? 0 : SA_LIFE_TIME));
	sa_query_add_unchecked(p->query, r);
}

/* True if the port matches the LID and GID components of the request. */
static bool is_endpoint(const struct path_query *p, port_id port, unsigned by_gid, unsigned by_lid)
{
	const uint8_t *data = p->query->data;
	uint8_t gid[16];
	lid_t base = p->subnet->lid_of_port[port];
	unsigned lid = load_be16(data + (by_lid == HAS_DLID ? 40 : 42));

	put_gid(p->subnet, port, gid);
	if (sa_query_has(p->query, by_lid) &&
	    (lid < base || lid >= base + (1U << p->subnet->lmc_of_port[port])))
		return false;
	return !sa_query_has(p->query, by_gid) ||
	       memcmp(gid + 8, data + (by_gid == HAS_DGID ? 16 : 32), 8) == 0;
}

static void find_ends(struct path_query *p)
{
	const struct sm *m = p->query->manager;

	for (uint32_t i = 0; i < m->found.n; i++) {
		const struct found_node *n = &m->found.nodes[i];
		node_id v = sm_plan_node(m, n);

		for (unsigned k = 0; v != TOPO_NONE && k <= n->n_ports; k++) {
			port_id port = topo_port_of(p->subnet->topo, v, k);

			if (!n->ports[k].answered)
				continue;
			p->speeds[port] = capacity_of(m, n->ports[k].info);
			if (p->subnet->lid_of_port[port])
				p->ends[p->n_ends++] = port;
		}
	}
}

static void path_query_init(struct path_query *p, struct sa_query *q)
{
	const struct subnet *s = sm_plan(q->manager);
	uint32_t n = s->topo->n_ports;

	*p = (struct path_query){
		.query = q,
		.subnet = s,
		.speeds = hd_alloc(n, sizeof(*p->speeds)),
		.ends = hd_alloc(n, sizeof(*p->ends)),
	};
	find_ends(p);
}

static void path_query_fini(struct path_query *p)
{
	free(p->speeds);
	free(p->ends);
}

void sa_paths_each(struct sa_query *q)
{
	struct path_query p;

	path_query_init(&p, q);
	for (uint32_t i = 0; i < p.n_ends; i++) {
		if (!is_endpoint(&p, p.ends[i], HAS_SGID, HAS_SLID))
			continue;
		for (uint32_t k = 0; k < p.n_ends; k++)
			if (is_endpoint(&p, p.ends[k], HAS_DGID, HAS_DLID))
				put_path(&p, p.ends[i], p.ends[k]);
	}
	path_query_fini(&p);
}

/* ---- MultiPathRecord (InfiniBand Architecture Specification, 15.2.5.20) */

enum {
	MULTI_NUM_PATH = 5,
	MULTI_SGIDS = 15, /* their number, and that of DGIDs behind it */
	MULTI_GIDS = 24,
	MULTI_MAX_GIDS = 11,
	MULTI_MAX_PATHS = 127,
	HAS_NUM_PATH = 6,
	HAS_SGIDS = 19,
	HAS_DGIDS = 20,
};

/* Components of a PathRecord: where MultiPathRecord has them. */
static const struct {
	uint8_t has, multi_has, at, multi_at, size;
} multi_components[] = {
	{ HAS_PKEY, 7, 50, 6, 2 },    { HAS_SL, 9, 52, 8, 2 },     { HAS_MTU, 10, 54, 10, 1 },
	{ HAS_MTU + 1, 11, 0, 0, 0 }, { HAS_RATE, 12, 55, 11, 1 }, { HAS_RATE + 1, 13, 0, 0, 0 },
};

/* The end with that GID, or TOPO_NONE. */
static port_id end_of(const struct path_query *p, const uint8_t *gid)
{
	uint8_t own[16];

	for (uint32_t i = 0; i < p->n_ends; i++) {
		put_gid(p->subnet, p->ends[i], own);
		if (memcmp(own + 8, gid + 8, 8) == 0 &&
		    (memcmp(own, gid, 8) == 0 || load_be64(gid) == GID_LINK_LOCAL))
			return p->ends[i];
	}
	return TOPO_NONE;
}

static uint16_t each_pair(struct path_query *p, const uint8_t *multi, uint32_t max_paths)
{
	unsigned n_sources = multi[MULTI_SGIDS], n = n_sources + multi[MULTI_SGIDS + 1];
	port_id ends[MULTI_MAX_GIDS];

	for (unsigned i = 0; i < n; i++) {
		ends[i] = end_of(p, multi + MULTI_GIDS + (size_t)16 * i);
		if (ends[i] == TOPO_NONE)
			return SA_INVALID_GID;
	}
	for (unsigned i = 0; i < n_sources; i++)
		for (unsigned k = n_sources; k < n && p->query->n < max_paths; k++)
			put_path(p, ends[i], ends[k]);
	return 0;
}

uint16_t sa_paths_multi(struct sa_query *q)
{
	const uint8_t *multi = q->data;
	unsigned n = multi[MULTI_SGIDS] + multi[MULTI_SGIDS + 1];
	uint8_t wanted[SA_RECORD_MAX] = { 0 };
	uint64_t mask = 0;
	uint32_t max_paths = MULTI_MAX_PATHS;
	struct path_query p;

	if (!sa_query_has(q, HAS_SGIDS) || !sa_query_has(q, HAS_DGIDS))
		return SA_INSUFFICIENT;
	if (n > MULTI_MAX_GIDS || multi[MULTI_SGIDS] == 0 || multi[MULTI_SGIDS + 1] == 0)
		return SA_INVALID;
	if (sa_query_has(q, HAS_NUM_PATH))
		max_paths = multi[MULTI_NUM_PATH] & 0x7F;
	for (size_t i = 0; i < sizeof(multi_components) / sizeof(multi_components[0]); i++) {
		memcpy(wanted + multi_components[i].at, multi + multi_components[i].multi_at,
		       multi_components[i].size);
		mask |= (uint64_t)sa_query_has(q, multi_components[i].multi_has)
			<< multi_components[i].has;
	}
	q->data = wanted;
	q->mask = mask;
	path_query_init(&p, q);
	uint16_t status = each_pair(&p, multi, max_paths);

	path_query_fini(&p);
	q->data = multi;
	return status;
}
