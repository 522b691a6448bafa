/* SPDX-License-Identifier: BSD-2-Clause */
#include "random.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "subnet/router.h"

#define MAX_SWITCHES    6
#define MAX_HOSTS       8
#define MAX_EDGES       12
#define MAX_DURATION    200 /* ticks */
#define ROUTED_PERCENT  12  /* of scenarios have routers */
#define CHANGES_PERCENT 20  /* of scenarios have tables that change */
#define BITS_PER_PS     UINT64_C(8000000000000) /* rate of one byte per ps */

/* Parts are drawn from streams of their own, so that one can change alone. */
enum stream {
	DRAW_SHAPE,
	DRAW_TIMING,
	DRAW_MODEL,
	DRAW_BUFFERS,
	DRAW_ROUTES,
	DRAW_LANES,
	DRAW_TABLES,
	DRAW_FLOWS,
	DRAW_FAULTS,
	DRAW_KEYS,
	DRAW_ROUTERS,
	DRAW_KIND,
	DRAW_CHANGES,
};

static uint32_t below(struct rng *r, uint32_t n)
{
	return (uint32_t)rng_below(r, n);
}

static bool chance(struct rng *r, unsigned percent)
{
	return below(r, 100) < percent;
}

/* ---- shape ---- */

enum shape_kind { LINE, TREE, STAR, RING, MESH, IRREGULAR, SHAPES };

struct shape {
	enum shape_kind kind;
	uint32_t n_switches, n_edges, n_hosts;
	uint32_t n_routers; /* the last of the switches */
	bool as_switches;   /* which they are all the same */
	uint32_t edges[MAX_EDGES][2];
	uint32_t host_at[MAX_HOSTS];
};

static void edge_add(struct shape *h, uint32_t a, uint32_t b)
{
	h->edges[h->n_edges][0] = a;
	h->edges[h->n_edges][1] = b;
	h->n_edges++;
}

static void shape_mesh(struct shape *h, struct rng *r)
{
	uint32_t columns = 2 + below(r, 2);

	h->n_switches = 2 * columns;
	for (uint32_t c = 0; c < columns; c++) {
		edge_add(h, c, columns + c);
		if (c + 1 < columns) {
			edge_add(h, c, c + 1);
			edge_add(h, columns + c, columns + c + 1);
		}
	}
}

static uint32_t parent_of(const struct shape *h, uint32_t child, struct rng *r)
{
	if (h->kind == LINE || h->kind == RING)
		return child - 1;
	if (h->kind == STAR)
		return 0;
	return below(r, child);
}

static void shape_draw(struct shape *h, struct rng *r)
{
	*h = (struct shape){ .kind = below(r, SHAPES) };
	h->n_switches = 1 + below(r, MAX_SWITCHES);
	if (h->kind == RING && h->n_switches < 3)
		h->n_switches = 3;
	if (h->kind == MESH) {
		shape_mesh(h, r);
	} else {
		for (uint32_t i = 1; i < h->n_switches; i++)
			edge_add(h, parent_of(h, i, r), i);
	}
	if (h->kind == RING)
		edge_add(h, h->n_switches - 1, 0);
	for (uint32_t i = 1 + below(r, 4);
	     i > 0 && h->kind == IRREGULAR && h->n_switches > 1; i--) {
		uint32_t a = below(r, h->n_switches);

		edge_add(h, a,
			 (a + 1 + below(r, h->n_switches - 1)) % h->n_switches);
	}
	h->n_hosts = 2 + below(r, MAX_HOSTS - 1);
	for (uint32_t i = 0; i < h->n_hosts; i++)
		h->host_at[i] = i < h->n_switches && chance(r, 60)
					? i
					: below(r, h->n_switches);
}

static uint32_t degree(const struct shape *h, uint32_t sw)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < h->n_edges; i++)
		n += (uint32_t)(h->edges[i][0] == sw) +
		     (uint32_t)(h->edges[i][1] == sw);
	for (uint32_t i = 0; i < h->n_hosts; i++)
		n += h->host_at[i] == sw;
	return n;
}

/* Switches are the nodes 0 .. n_switches - 1, hosts follow. */
static void fabric_draw(struct scenario *s, const struct shape *h,
			struct rng *r)
{
	struct fabric *f = &s->fabric;
	uint32_t next[MAX_SWITCHES];
	uint32_t order[MAX_EDGES + MAX_HOSTS];
	uint32_t n_cables = h->n_edges + h->n_hosts;

	fabric_init(f);
	for (uint32_t i = 0; i < h->n_switches; i++) {
		uint32_t spare = below(r, 2);

		if (i + h->n_routers < h->n_switches || h->as_switches)
			fabric_switch(f, degree(h, i) + spare);
		else
			fabric_router(f, degree(h, i) + spare);
		next[i] = 1 + below(r, spare + 1);
	}
	for (uint32_t i = 0; i < h->n_hosts; i++)
		fabric_host(f);
	for (uint32_t i = 0; i < n_cables; i++)
		order[i] = i;
	rng_shuffle(r, order, n_cables);
	for (uint32_t i = 0; i < n_cables; i++) {
		uint32_t c = order[i], host = c - h->n_edges;

		if (c < h->n_edges) {
			uint32_t a = h->edges[c][0], b = h->edges[c][1];

			fabric_cable(f, a, next[a]++, b, next[b]++);
		} else {
			uint32_t a = h->host_at[host];

			fabric_cable(f, a, next[a]++, h->n_switches + host, 1);
		}
	}
	for (uint32_t i = 0, own = chance(r, 20);
	     own && i + h->n_routers < h->n_switches; i++)
		f->own_host[i] = chance(r, 40);
	fabric_finish(f);
}

/* ---- timing ---- */

/* Calls for each cable once, with the lower port. */
static bool is_cable(const struct sim_setup *s, uint32_t port)
{
	return s->ports[port].peer != SIM_NONE && s->ports[port].peer > port;
}

static void cable_set(struct sim_setup *s, uint32_t port, struct hd_rate rate,
		      hd_time propagation)
{
	struct sim_port *a = &s->ports[port], *b = &s->ports[a->peer];

	a->rate = b->rate = rate;
	a->propagation = b->propagation = propagation;
}

/* A tick of 1 ps: rates are anything, since durations are whole ps anyway. */
static void sizes_draw_fine(struct scenario *s, struct rng *r)
{
	static const uint32_t top[3][2] = { { 30, 300 },
					    { 256, 1100 },
					    { 2000, 4200 } };
	uint32_t kind = s->lengthy ? 2 : below(r, 3);
	uint32_t reach = s->lengthy      ? 10
			 : chance(r, 30) ? 12
			 : chance(r, 60) ? 60
					 : MAX_DURATION;

	s->tick = 1;
	s->sizes[0] = top[kind][0] + below(r, top[kind][1] - top[kind][0]);
	if (chance(r, s->lengthy ? 70 : 15)) /* fills a high limit exactly */
		s->sizes[0] = 1024u << below(r, 3);
	s->n_sizes = s->lengthy ? 1 : 1 + below(r, 4);
	for (uint32_t i = 1; i < s->n_sizes; i++)
		s->sizes[i] = 26 + below(r, s->sizes[0] - 26);
	s->d_max = 1 + below(r, reach);
}

static struct hd_rate rate_draw_fine(const struct scenario *s, struct rng *r,
				     bool mixed)
{
	static const uint32_t faster[5][2] = {
		{ 1, 1 }, { 3, 2 }, { 2, 1 }, { 3, 1 }, { 4, 1 }
	};
	uint32_t i = mixed ? below(r, 5) : 0;

	return hd_rate_make(BITS_PER_PS * s->sizes[0] * faster[i][0],
			    s->d_max * faster[i][1]);
}

/* A longer tick: two bytes take one tick, or two on slow links. */
static void sizes_draw_coarse(struct scenario *s, struct rng *r)
{
	/* The last makes times that 32 bits do not hold. */
	static const hd_time ticks[4] = { 10, 250, 1000, 10000000 };

	s->tick = ticks[below(r, 4)];
	s->n_sizes = 1 + below(r, 4);
	s->sizes[0] = 12 * (6 + below(r, 11)); /* 72 .. 192 */
	for (uint32_t i = 1; i < s->n_sizes; i++)
		s->sizes[i] = 12 * (3 + below(r, s->sizes[0] / 12 - 2));
	s->d_max = s->sizes[0] * s->tick;
}

static struct hd_rate rate_draw_coarse(const struct scenario *s, struct rng *r,
				       bool mixed)
{
	return hd_rate_make(2 * BITS_PER_PS,
			    s->tick * (mixed && chance(r, 50) ? 1 : 2));
}

/* Of a switch, in ticks. */
static hd_time delay_draw(struct rng *r)
{
	if (chance(r, 30))
		return 0;
	return below(r, chance(r, 80) ? 10 : 100);
}

static void timing_draw(struct scenario *s, struct rng *r)
{
	bool coarse = !s->lengthy && chance(r, 15);
	bool mixed = chance(r, 60);
	struct sim_setup *t = &s->fabric.setup;

	if (coarse)
		sizes_draw_coarse(s, r);
	else
		sizes_draw_fine(s, r);
	for (uint32_t i = 0; i < t->n_ports; i++) {
		hd_time p = 1 + below(r, chance(r, 60) ? 10 : 60);

		if (!is_cable(t, i))
			continue;
		cable_set(t, i,
			  coarse ? rate_draw_coarse(s, r, mixed)
				 : rate_draw_fine(s, r, mixed),
			  p * s->tick);
	}
	t->sw.routing = delay_draw(r) * s->tick;
	t->sw.arbitration = delay_draw(r) * s->tick;
}

/* ---- model ---- */

static uint32_t readers_draw(enum sim_order order, struct rng *r)
{
	if (order == SIM_FIFO)
		return chance(r, 70) ? 1 : below(r, 3);
	return chance(r, 50) ? 0 : 1 + below(r, 2);
}

static void model_draw(struct scenario *s, struct rng *r)
{
	/* The last two only where any duration is whole ticks. */
	static const struct hd_ratio speedups[5] = {
		{ 1, 1 }, { 3, 2 }, { 2, 1 }, { 5, 4 }, { 4, 1 }
	};
	struct sim_setup *t = &s->fabric.setup;

	t->sw.queueing = chance(r, 60) ? SIM_INPUT_QUEUED : SIM_CIOQ;
	t->sw.order = chance(r, 50) ? SIM_VOQ : SIM_FIFO;
	t->sw.pick = chance(r, 70) ? SIM_ROUND_ROBIN : SIM_OLDEST;
	t->sw.readers = readers_draw(t->sw.order, r);
	t->sw.speedup = speedups[below(r, s->tick == 1 ? 5 : 3)];
	t->arbiter = chance(r, 12) ? SIM_STRICT : SIM_VLARB;
	t->credits = chance(r, 45) ? SIM_CREDITS_EXACT : SIM_CREDITS_DELAY;
	t->seed = rng_next(r);
}

/* ---- buffers and lanes in operation ---- */

static uint32_t buffer_draw(uint32_t packet, struct rng *r)
{
	static const uint32_t packets[4] = { 1, 2, 4, 8 };
	uint32_t blocks = packet * packets[below(r, chance(r, 60) ? 2 : 4)];

	if (chance(r, 40))
		blocks += below(r, packet + 2);
	if (chance(r, 3))
		blocks = 2048;
	return blocks < 2048 ? blocks : 2048;
}

static uint8_t vls_draw(struct rng *r)
{
	static const uint8_t vls[20] = { 1, 1, 2, 2, 2, 2, 2, 2, 4,  4,
					 4, 4, 4, 4, 8, 8, 8, 8, 15, 15 };

	return vls[below(r, 20)];
}

static void buffers_draw(struct scenario *s, struct rng *r)
{
	struct sim_setup *t = &s->fabric.setup;
	uint32_t packet = (s->sizes[0] + 63) / 64;
	uint8_t common = s->lengthy ? 2 : vls_draw(r);
	bool mixed = chance(r, 15);
	bool alike = chance(r, 50);
	uint32_t in = buffer_draw(packet, r), out = buffer_draw(packet, r);

	if (s->lengthy) { /* or credits, not arbiters, would decide */
		alike = true;
		in = packet * (16 + below(r, 12));
		out = in;
	}

	for (uint32_t i = 0; i < t->n_ports; i++) {
		struct sim_port *p = &t->ports[i];

		if (p->peer == SIM_NONE)
			continue;
		p->in_blocks = alike ? in : buffer_draw(packet, r);
		p->out_blocks = alike ? out : buffer_draw(packet, r);
		p->vl15_blocks = buffer_draw(packet, r);
		if (is_cable(t, i))
			p->vls = t->ports[p->peer].vls =
				mixed ? vls_draw(r) : common;
		s->fabric.subnet.vls_of_port[p->origin] = p->vls;
	}
}

/* ---- routes ---- */

/* The switch at the far end of a port, or TOPO_NONE. */
static uint32_t switch_beyond(const struct sim_setup *t, uint32_t port)
{
	uint32_t peer = t->ports[port].peer;

	if (peer == SIM_NONE ||
	    t->nodes[t->ports[peer].node].kind != SIM_SWITCH)
		return TOPO_NONE;
	return t->ports[peer].node;
}

/* Switches that have joined a tree, and how far from its root. */
struct tree {
	bool joined[MAX_SWITCHES];
	uint32_t depth[MAX_SWITCHES];
};

/*
 * A port by which some switch may join, any with the same probability; of
 * those that make the shortest way if `shortest`.
 */
static uint32_t joint_draw(const struct sim_setup *t, const struct tree *tree,
			   bool shortest, struct rng *r)
{
	uint32_t found = 0, best = UINT32_MAX, joint = SIM_NONE;

	for (uint32_t p = 0; p < t->n_ports; p++) {
		uint32_t near = t->ports[p].node, far = switch_beyond(t, p);
		uint32_t depth;

		if (near >= t->subnet->n_switches || far == TOPO_NONE ||
		    tree->joined[near] || !tree->joined[far])
			continue;
		depth = shortest ? tree->depth[far] : 0;
		if (depth > best)
			continue;
		if (depth < best)
			found = 0;
		best = depth;
		found++;
		if (below(r, found) == 0)
			joint = p;
	}
	return joint;
}

/*
 * A random tree of switches around `root`: up[v] is the port of v towards the
 * root (0 at the root, none in other subnets), order[] is how they joined.
 * Returns how many did.
 */
static uint32_t tree_draw(const struct sim_setup *t, uint32_t root,
			  bool shortest, struct rng *r, uint32_t *up,
			  uint32_t *order)
{
	struct tree tree = { 0 };

	for (uint32_t i = 0; i < t->subnet->n_switches; i++)
		up[i] = LFT_NO_PORT;
	tree.joined[root] = true;
	up[root] = 0;
	order[0] = root;
	for (uint32_t i = 1; i < t->subnet->n_switches; i++) {
		uint32_t joint = joint_draw(t, &tree, shortest, r);
		uint32_t v;

		if (joint == SIM_NONE)
			return i;
		v = t->ports[joint].node;
		tree.joined[v] = true;
		tree.depth[v] = tree.depth[switch_beyond(t, joint)] + 1;
		up[v] = joint - t->nodes[v].first_port;
		order[i] = v;
	}
	return t->subnet->n_switches;
}

/* All the way round a ring, which deadlocks if it is busy enough. */
static void ring_ports(const struct sim_setup *t, uint32_t *up)
{
	uint32_t n = t->subnet->n_switches;

	for (uint32_t p = 0; p < t->n_ports; p++) {
		uint32_t near = t->ports[p].node;

		if (near < n && switch_beyond(t, p) == (near + 1) % n)
			up[near] = p - t->nodes[near].first_port;
	}
}

/* The routes to a LID whose owner hangs at port `last`, if at a switch's. */
static void lid_route(struct scenario *s, lid_t lid, uint32_t last,
		      bool shortest, bool ring, struct rng *r)
{
	struct fabric *f = &s->fabric;
	const struct sim_setup *t = &f->setup;
	uint32_t home = t->ports[last].node;
	uint32_t up[MAX_SWITCHES], order[MAX_SWITCHES];

	if (home >= f->subnet.n_switches)
		return;
	tree_draw(t, home, shortest, r, up, order);
	if (ring)
		ring_ports(t, up);
	up[home] = last - t->nodes[home].first_port;
	for (uint32_t w = 0; w < f->subnet.n_switches; w++)
		fabric_route(f, w, lid, up[w]);
}

static void unicast_draw(struct scenario *s, const struct shape *h,
			 struct rng *r)
{
	struct fabric *f = &s->fabric;
	const struct sim_setup *t = &f->setup;
	bool shortest = chance(r, 60);
	bool ring = h->kind == RING && chance(r, 60) && h->n_routers == 0;

	for (uint32_t e = 0; e < f->n_ends; e++)
		lid_route(s, (lid_t)(e + 1),
			  t->ports[fabric_end_port(f, e)].peer, shortest, ring,
			  r);
	for (uint32_t p = 0; p < t->n_ports; p++) {
		if (t->nodes[t->ports[p].node].kind == SIM_ROUTER &&
		    t->ports[p].peer != SIM_NONE)
			lid_route(s, f->subnet.lid_of_port[t->ports[p].origin],
				  t->ports[p].peer, shortest, false, r);
	}
}

/*
 * A table that somebody got wrong: a hole, or any port at all, which may send
 * packets back, or round in circles.
 */
static void mistake_draw(struct scenario *s, struct rng *r)
{
	struct fabric *f = &s->fabric;
	uint32_t w = below(r, f->subnet.n_switches);
	uint32_t port = below(r, f->setup.nodes[w].n_ports + 1);
	lid_t lid = (lid_t)(1 + below(r, f->n_ends));

	if (chance(r, 5))
		fabric_route(f, w, lid, LFT_NO_PORT);
	if (chance(r, 5))
		fabric_route(f, w, lid, port);
	if (s->n_groups > 0 && chance(r, 5))
		fabric_group_add(f, LID_FIRST_MCAST, w, port);
}

/* One group: the tree's edges, and the hosts that are members. */
static void group_draw(struct scenario *s, lid_t mlid, struct rng *r)
{
	struct fabric *f = &s->fabric;
	const struct sim_setup *t = &f->setup;
	uint32_t up[MAX_SWITCHES], order[MAX_SWITCHES];
	bool needed[MAX_SWITCHES] = { false };
	bool pruned = chance(r, 85);

	uint32_t root = below(r, f->subnet.n_switches);
	uint32_t n = tree_draw(t, root, chance(r, 50), r, up, order);

	for (uint32_t e = 0; e < f->n_ends; e++) {
		uint32_t at = t->ports[fabric_end_port(f, e)].peer;

		if (!chance(r, 60) || t->ports[at].node >= f->subnet.n_switches)
			continue;
		needed[t->ports[at].node] = true;
		fabric_group_add(f, mlid, t->ports[at].node,
				 at - t->nodes[t->ports[at].node].first_port);
	}
	for (uint32_t i = n; i-- > 1;) {
		uint32_t v = order[i];
		uint32_t far = t->ports[fabric_port(f, v, up[v])].peer;
		uint32_t w = t->ports[far].node;

		if (pruned && !needed[v])
			continue;
		needed[w] = true;
		fabric_group_add(f, mlid, v, up[v]);
		fabric_group_add(f, mlid, w, far - t->nodes[w].first_port);
	}
}

static void routes_draw(struct scenario *s, const struct shape *h,
			struct rng *r)
{
	unicast_draw(s, h, r);
	if (chance(r, 50))
		s->n_groups = 1 + below(r, FABRIC_GROUPS - 1);
	for (uint32_t g = 0; g < s->n_groups; g++)
		group_draw(s, (lid_t)(LID_FIRST_MCAST + g), r);
	if (!s->plain)
		mistake_draw(s, r);
}

/* ---- lanes ---- */

static void sl2vl_fill(struct sl2vl *t, uint8_t vls, bool holes, struct rng *r)
{
	bool plain = chance(r, 40);

	for (unsigned sl = 0; sl < N_SLS; sl++) {
		t->vl[sl] = (uint8_t)(plain ? sl % vls : below(r, vls));
		if (holes && chance(r, 8))
			t->vl[sl] = chance(r, 50) ? VL_MANAGEMENT
						  : (uint8_t)below(r, 15);
	}
}

static void lanes_draw(struct scenario *s, struct rng *r)
{
	struct subnet *n = &s->fabric.subnet;
	const struct sim_setup *t = &s->fabric.setup;
	uint8_t fewest = 15;
	bool holes = chance(r, 8), by_pair = chance(r, 50);

	for (uint32_t i = 0; i < t->n_ports; i++)
		if (t->ports[i].peer != SIM_NONE && t->ports[i].vls < fewest)
			fewest = t->ports[i].vls;
	n->n_sl2vl_tables = 1 + below(r, 4);
	for (uint32_t i = 0; i < n->n_sl2vl_tables; i++)
		sl2vl_fill(&n->sl2vl_tables[i], fewest, holes, r);
	for (port_id p = 0; p < s->fabric.topo.n_ports; p++)
		n->sl2vl_of_port[p] = below(r, n->n_sl2vl_tables);
	for (switch_id w = 0; by_pair && w < n->n_switches; w++) {
		size_t side = t->nodes[n->node_of_switch[w]].n_ports + 1u;

		for (size_t i = 0; i < side * side; i++)
			n->sl2vl_of_pair[w][i] =
				(uint16_t)below(r, n->n_sl2vl_tables);
	}
}

/* ---- arbitration tables ---- */

static uint8_t weight_draw(struct rng *r)
{
	static const uint8_t weights[8] = { 0, 1, 1, 2, 3, 5, 10, 64 };

	return chance(r, 10) ? (uint8_t)below(r, 256) : weights[below(r, 8)];
}

static uint8_t entries_draw(struct vlarb_entry *e, uint8_t vls, struct rng *r)
{
	uint32_t n = chance(r, 5) ? VLARB_MAX : 1 + below(r, 8);

	for (uint32_t i = 0; i < n; i++)
		e[i] = (struct vlarb_entry){
			(uint8_t)below(r, chance(r, 5) ? 15 : vls),
			weight_draw(r)
		};
	return (uint8_t)n;
}

/* Lanes below the cut in the high table, the others in the low one. */
static void vlarb_split(struct vlarb *t, uint8_t vls, struct rng *r)
{
	uint8_t cut = (uint8_t)(1 + below(r, vls - 1u));

	for (uint8_t vl = 0; vl < vls; vl++) {
		struct vlarb_entry e = { vl, (uint8_t)(1 + below(r, 6)) };

		if (vl < cut)
			t->high[t->n_high++] = e;
		else
			t->low[t->n_low++] = e;
	}
}

static void vlarb_draw(struct vlarb *t, uint8_t vls, struct rng *r)
{
	static const uint8_t limits[6] = { 0, 0, 1, 2, 10, 255 };

	t->high_limit = limits[below(r, 6)];
	if (vls == 1 && chance(r, 60)) { /* no table, which must not matter */
		t->n_low = 1;
		return;
	}
	if (vls > 1 && chance(r, 35)) {
		vlarb_split(t, vls, r);
		return;
	}
	t->n_high = chance(r, 70) ? entries_draw(t->high, vls, r) : 0;
	t->n_low = entries_draw(t->low, vls, r);
	/* Mostly no lane is left out; VLs repeat all the same. */
	if (chance(r, 90) && t->n_low + vls <= VLARB_MAX)
		for (uint8_t vl = 0; vl < vls; vl++)
			t->low[t->n_low++] = (struct vlarb_entry){
				vl, (uint8_t)(1 + below(r, 4))
			};
}

static uint8_t most_vls(const struct scenario *s)
{
	const struct subnet *n = &s->fabric.subnet;
	uint8_t most = 1;

	for (port_id p = 0; p < s->fabric.topo.n_ports; p++)
		if (n->vls_of_port[p] > most)
			most = n->vls_of_port[p];
	return most;
}

static void table_draw(const struct scenario *s, struct vlarb *t, uint8_t vls,
		       struct rng *r)
{
	*t = (struct vlarb){ 0 };
	if (s->lengthy && chance(r, 70)) { /* limits that expire */
		vlarb_split(t, vls, r);
		t->high_limit = (uint8_t)(1 + below(r, 3));
	} else {
		vlarb_draw(t, vls, r);
	}
}

static void tables_draw(struct scenario *s, struct rng *r)
{
	struct subnet *n = &s->fabric.subnet;
	uint8_t most = most_vls(s);

	n->n_vlarb_tables = 1 + below(r, 4);
	for (uint32_t i = 0; i < n->n_vlarb_tables; i++)
		table_draw(s, &n->vlarb_tables[i], most, r);
	for (port_id p = 0; p < s->fabric.topo.n_ports; p++)
		n->vlarb_of_port[p] = below(r, n->n_vlarb_tables);
}

/* ---- partitions ---- */

static const uint16_t keys_known[4] = { 0x8001, 0x0001, 0x8002, 0xffff };

static void keys_draw(struct scenario *s, struct rng *r)
{
	bool enforced = chance(r, 15);

	for (port_id p = 0; p < s->fabric.topo.n_ports; p++) {
		struct pkey_table *t = &s->fabric.subnet.pkeys[p];

		t->n = (uint16_t)(1 + below(r, FABRIC_PKEYS));
		for (uint16_t i = 0; i < t->n; i++)
			t->keys[i] = keys_known[below(r, 4)];
		t->enforce_in = enforced && chance(r, 25);
		t->enforce_out = enforced && chance(r, 25);
	}
}

/* ---- flows ---- */

struct traffic {
	bool management, multicast;
	uint32_t hot; /* destination that many send to */
	uint32_t n_sls;
	uint32_t per_flow;
};

static hd_time gap_draw(const struct scenario *s, uint32_t bytes, struct rng *r)
{
	static const uint32_t quarters[6] = { 0, 1, 2, 3, 4, 8 };
	hd_time d = s->d_max * bytes / s->sizes[0] / s->tick;

	if (chance(r, s->lengthy ? 40 : 20)) /* one among many */
		return d * (8 + below(r, 30));
	return d * quarters[below(r, 6)] / 4;
}

static void flow_packets(struct scenario *s, struct sim_arrival a,
			 uint32_t count, struct rng *r)
{
	hd_time gap = gap_draw(s, a.bytes, r);
	bool periodic = chance(r, 50);
	bool sizes_vary = chance(r, 30);
	hd_time time = below(r, 60);

	for (uint32_t i = 0; i < count && time < 3000; i++) {
		a.time = time * s->tick;
		a.sequence = i;
		if (sizes_vary)
			a.bytes = s->sizes[below(r, s->n_sizes)];
		s->arrivals = hd_grow(s->arrivals, &s->arrivals_cap,
				      s->n_arrivals + 1, sizeof(a));
		s->arrivals[s->n_arrivals++] = a;
		time += periodic ? gap : below(r, 2 * (uint32_t)gap + 1);
	}
}

/* R1: to another subnet by way of a router, and now and then as it must not. */
static void address_draw(const struct scenario *s, uint32_t from, uint32_t to,
			 struct sim_arrival *a, struct rng *r)
{
	const struct fabric *f = &s->fabric;
	bool plain = s->plain;
	port_id source = f->setup.ports[fabric_end_port(f, from)].origin;
	port_id target = f->setup.ports[fabric_end_port(f, to)].origin;

	if (f->topo.ports[source].subnet == f->topo.ports[target].subnet &&
	    (plain || !chance(r, 2)))
		return;
	a->dlid = route_dlid(&f->subnet, source, target);
	a->global = plain || !chance(r, 3);
	a->target = target;
	if (plain) {
		a->tclass = a->sl;
		a->hop_limit = 64;
		return;
	}
	uint32_t tclass = below(r, 400);

	/* Unmarked (R4m) more often than by chance. */
	a->tclass = tclass < 256 ? (uint8_t)tclass : 0;
	a->hop_limit = chance(r, 70) ? 64 : (uint8_t)below(r, 4);
}

/* R4: what each subnet makes of a TClass; none of them, or all. */
static void tclasses_draw(struct scenario *s, struct rng *r)
{
	struct fabric *f = &s->fabric;
	uint32_t n = f->subnet.n_subnets;

	if (n < 2 || s->plain || chance(r, 30))
		return;
	f->sl_of_tclass = hd_alloc(n, sizeof(*f->sl_of_tclass));
	for (uint32_t i = 0; i < 256 * n; i++)
		f->sl_of_tclass[i / 256][i % 256] = (uint8_t)below(r, N_SLS);
	f->setup.sl_of_tclass = (const uint8_t(*)[256])f->sl_of_tclass;
}

/* R4m: what each subnet's first routers write for an SL; some write nothing. */
static void marks_draw(struct scenario *s, struct rng *r)
{
	struct fabric *f = &s->fabric;
	uint32_t n = f->subnet.n_subnets;

	if (n < 2 || s->plain || chance(r, 30))
		return;
	f->tclass_of_sl = hd_alloc(n, sizeof(*f->tclass_of_sl));
	for (uint32_t i = 0; i < n; i++) {
		/* In half of the subnets routers mark nothing. */
		uint32_t percent = chance(r, 50) ? 80 : 0;

		for (unsigned sl = 0; sl < N_SLS; sl++)
			f->tclass_of_sl[i][sl] =
				chance(r, percent) ? (uint8_t)below(r, 256) : 0;
	}
	f->setup.tclass_of_sl = (const uint8_t(*)[N_SLS])f->tclass_of_sl;
}

static void flow_draw(struct scenario *s, const struct traffic *t,
		      uint32_t flow, struct rng *r)
{
	const struct fabric *f = &s->fabric;
	uint32_t from = below(r, f->n_ends);
	uint32_t to = chance(r, 50) ? t->hot : below(r, f->n_ends);
	struct sim_arrival a = {
		.flow = flow,
		.source = f->ends[from],
		.pkey = keys_known[below(r, 4)],
		.bytes = s->sizes[below(r, s->n_sizes)],
		.sl = (uint8_t)below(r, t->n_sls),
		.management = t->management && chance(r, 20),
	};

	if (to == from)
		to = (from + 1) % f->n_ends;
	a.dlid = (lid_t)(to + 1);
	if (f->subnet.n_subnets > 1)
		address_draw(s, from, to, &a, r);
	if (chance(r, 1)) { /* nobody has it */
		a.dlid = (lid_t)(s->routed ? FABRIC_LIDS - 1 : f->n_ends + 1);
		a.global = false;
	}
	if (t->multicast && !a.management && chance(r, 35))
		a.dlid = (lid_t)(LID_FIRST_MCAST + below(r, s->n_groups));
	flow_packets(s, a, 1 + below(r, t->per_flow), r);
}

static int by_time_flow_sequence(const void *x, const void *y)
{
	const struct sim_arrival *a = x, *b = y;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->flow != b->flow)
		return a->flow < b->flow ? -1 : 1;
	return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

static void flows_draw(struct scenario *s, struct rng *r)
{
	uint32_t n_flows = (s->lengthy ? 6 : 2) + below(r, 11);
	struct traffic t = {
		.management = chance(r, 40) && !s->plain,
		.multicast = s->n_groups > 0,
		.hot = below(r, s->fabric.n_ends),
		.n_sls = s->lengthy ? N_SLS : 1 + below(r, N_SLS),
		.per_flow = s->lengthy ? 300 : 4 + below(r, 36),
	};

	for (uint32_t i = 0; i < n_flows; i++)
		flow_draw(s, &t, i, r);
	qsort(s->arrivals, s->n_arrivals, sizeof(*s->arrivals),
	      by_time_flow_sequence);
}

/* ---- faults ---- */

static void fault_add(struct scenario *s, hd_time ticks,
		      enum sim_fault_kind kind, uint32_t port)
{
	struct sim_setup *t = &s->fabric.setup;
	uint32_t at = t->n_faults++;

	t->faults = hd_realloc(t->faults, t->n_faults, sizeof(*t->faults));
	for (; at > 0 && t->faults[at - 1].time > ticks * s->tick; at--)
		t->faults[at] = t->faults[at - 1];
	t->faults[at] = (struct sim_fault){ ticks * s->tick, kind, port };
}

/* Any time, or one at which a packet may just reach its first switch. */
static hd_time outage_time(const struct scenario *s, struct rng *r)
{
	const struct sim_setup *t = &s->fabric.setup;
	const struct sim_arrival *a = &s->arrivals[below(
		r, (uint32_t)(s->n_arrivals < 60 ? s->n_arrivals : 60))];
	uint32_t port = t->nodes[a->source].first_port + 1;

	if (chance(r, 50))
		return below(r, 300);
	return (a->time + t->ports[port].propagation) / s->tick;
}

/* Some cable or sink fails, and mostly recovers, once or twice. */
static void outage_draw(struct scenario *s, uint32_t port,
			enum sim_fault_kind fails, enum sim_fault_kind recovers,
			struct rng *r)
{
	hd_time t = outage_time(s, r);

	for (uint32_t i = 1 + below(r, 3); i > 0; i--) {
		fault_add(s, t, fails, port);
		if (chance(r, 20))
			return;
		t += below(r, chance(r, 50) ? 20 : 300);
		fault_add(s, t, recovers, port);
		t += below(r, 200);
	}
}

static void outages_draw(struct scenario *s, struct rng *r)
{
	struct sim_setup *t = &s->fabric.setup;
	bool links = chance(r, 20), sinks = chance(r, 15);

	for (uint32_t i = 0; links && i < t->n_ports; i++)
		if (is_cable(t, i) && chance(r, 40))
			outage_draw(s, chance(r, 50) ? i : t->ports[i].peer,
				    SIM_LINK_DOWN, SIM_LINK_UP, r);
	for (uint32_t e = 0; sinks && e < s->fabric.n_ends; e++)
		if (chance(r, 40))
			outage_draw(s, fabric_end_port(&s->fabric, e),
				    SIM_SINK_STUCK, SIM_SINK_FREE, r);
}

static void port_faults_draw(struct scenario *s, struct rng *r)
{
	struct sim_setup *t = &s->fabric.setup;
	bool errors = chance(r, 15), losses = chance(r, 18);
	bool lives = chance(r, 20);
	uint32_t d = (uint32_t)(s->d_max / s->tick);
	hd_time life = (1 + below(r, 6 * d + 10)) * s->tick;

	for (uint32_t i = 0; i < t->n_ports; i++) {
		struct sim_port *p = &t->ports[i];

		if (p->peer == SIM_NONE)
			continue;
		if (errors && chance(r, 60))
			p->ber = (1 + below(r, 30)) / 100.0 /
				 (8.0 * s->sizes[0]);
		if (losses && chance(r, 60))
			p->update_loss =
				chance(r, 5) ? 1 : (1 + below(r, 60)) / 100.0;
		if (lives && chance(r, 70) && t->nodes[p->node].kind != SIM_END)
			p->hoq_life = life;
	}
}

/* ---- tables that change (T11c) ---- */

static void change_add(struct scenario *s, const struct sim_table_change *c)
{
	struct sim_setup *t = &s->fabric.setup;
	uint32_t at = t->n_changes++;

	t->changes = hd_realloc(t->changes, t->n_changes, sizeof(*t->changes));
	for (; at > 0 && t->changes[at - 1].time > c->time; at--)
		t->changes[at] = t->changes[at - 1];
	t->changes[at] = *c;
}

/*
 * Weights that a few packets do not use up, so that there is something left to
 * cut; some places fall off the end.
 */
static void weights_redraw(const struct scenario *s, struct vlarb *t,
			   struct rng *r)
{
	uint32_t most = 6 * ((s->sizes[0] + 63) / 64);

	if (most > 255)
		most = 255;
	for (uint8_t i = 0; i < t->n_high; i++)
		t->high[i].weight = (uint8_t)(1 + below(r, most));
	for (uint8_t i = 0; i < t->n_low; i++)
		t->low[i].weight = (uint8_t)(1 + below(r, most));
	if (t->n_high > 1 && chance(r, 30))
		t->n_high = (uint8_t)(1 + below(r, t->n_high - 1u));
	if (chance(r, 40))
		t->high_limit = (uint8_t)below(r, 4);
}

static void change_draw(const struct scenario *s, struct vlarb *t,
			struct rng *r)
{
	const struct subnet *n = &s->fabric.subnet;

	if (chance(r, 40)) {
		table_draw(s, t, most_vls(s), r);
		return;
	}
	*t = n->vlarb_tables[below(r, n->n_vlarb_tables)];
	weights_redraw(s, t, r);
}

/* Of one port, one or many; now and then two at one instant. */
static void port_changes_draw(struct scenario *s, uint32_t port, struct rng *r)
{
	struct sim_table_change c = { .port = port };
	hd_time ticks = outage_time(s, r);
	uint32_t gap = chance(r, 50) ? 30 : 200;

	for (uint32_t i = 1 + below(r, chance(r, 30) ? 3 : 20); i > 0; i--) {
		c.time = ticks * s->tick;
		change_draw(s, &c.table, r);
		change_add(s, &c);
		if (!chance(r, 10))
			ticks += below(r, gap);
	}
}

static void changes_draw(struct scenario *s, struct rng *r)
{
	const struct sim_setup *t = &s->fabric.setup;

	if (!chance(r, CHANGES_PERCENT) || s->plain)
		return;
	for (uint32_t i = 0; i < t->n_ports; i++)
		if (t->ports[i].peer != SIM_NONE && chance(r, 60))
			port_changes_draw(s, i, r);
}

/* ---- all of it ---- */

static void horizon_set(struct scenario *s)
{
	const struct sim_setup *t = &s->fabric.setup;
	hd_time last = s->arrivals[s->n_arrivals - 1].time / s->tick;
	hd_time work = s->n_arrivals * s->d_max / s->tick;
	uint32_t end = fabric_end_port(&s->fabric, 0);
	hd_time timer = hd_rate_duration(t->ports[end].rate, 65536) / s->tick;

	s->horizon = last + 200 + (work < 2500 ? work : 2500);
	/* Let the timer of T5 strike if it is not far. */
	if (timer < 3000 && s->horizon < 2 * timer + timer / 2)
		s->horizon = 2 * timer + timer / 2;
	s->horizon *= s->tick;
}

static struct rng *stream(struct rng *r, uint64_t seed, enum stream id)
{
	rng_init(r, seed, id);
	return r;
}

/* At least one switch stays. */
static uint32_t routers_draw(const struct shape *h, struct rng *r)
{
	if (h->n_switches < 2)
		return 0;
	return 1 + below(r, h->n_switches > 2 ? 2 : 1);
}

enum routers { NO_ROUTERS, ROUTERS, PLAIN_ROUTERS, ROUTERS_AS_SWITCHES };

static void draw(struct scenario *s, uint64_t seed, enum routers kind)
{
	struct shape shape;
	struct rng r, routers;

	*s = (struct scenario){ .seed = seed,
				.routed = kind != NO_ROUTERS,
				.plain = kind == PLAIN_ROUTERS ||
					 kind == ROUTERS_AS_SWITCHES };
	stream(&routers, seed, DRAW_ROUTERS);
	shape_draw(&shape, stream(&r, seed, DRAW_SHAPE));
	if (kind != NO_ROUTERS)
		shape.n_routers = routers_draw(&shape, &routers);
	shape.as_switches = kind == ROUTERS_AS_SWITCHES;
	fabric_draw(s, &shape, &r);
	stream(&r, seed, DRAW_TIMING);
	s->lengthy = chance(&r, 10);
	timing_draw(s, &r);
	model_draw(s, stream(&r, seed, DRAW_MODEL));
	buffers_draw(s, stream(&r, seed, DRAW_BUFFERS));
	routes_draw(s, &shape, stream(&r, seed, DRAW_ROUTES));
	lanes_draw(s, stream(&r, seed, DRAW_LANES));
	tables_draw(s, stream(&r, seed, DRAW_TABLES));
	keys_draw(s, stream(&r, seed, DRAW_KEYS));
	tclasses_draw(s, &routers);
	marks_draw(s, &routers);
	flows_draw(s, stream(&r, seed, DRAW_FLOWS));
	port_faults_draw(s, stream(&r, seed, DRAW_FAULTS));
	outages_draw(s, &r);
	changes_draw(s, stream(&r, seed, DRAW_CHANGES));
	horizon_set(s);
}

void scenario_draw(struct scenario *s, uint64_t seed)
{
	struct rng r;
	bool routed = chance(stream(&r, seed, DRAW_KIND), ROUTED_PERCENT);

	draw(s, seed, routed ? ROUTERS : NO_ROUTERS);
}

void scenario_draw_routed(struct scenario *s, uint64_t seed)
{
	draw(s, seed, ROUTERS);
}

/* The port by which a packet for end `e` leaves node v of `from`. */
static unsigned output_of(const struct fabric *from, uint32_t v, uint32_t e)
{
	const struct subnet *n = &from->subnet;
	const struct topo *t = &from->topo;
	port_id to = from->setup.ports[fabric_end_port(from, e)].origin;
	port_id out = TOPO_NONE;
	lid_t dlid = 0;

	if (v < n->n_switches)
		return lft_get(n, v, route_dlid(n, t->nodes[v].first_port, to));
	if (!router_forward(n, v, to, &out, &dlid))
		return LFT_NO_PORT;
	return t->ports[out].number;
}

/* R4: routers look at the output's table only. */
static void router_lanes(struct fabric *f, uint32_t v)
{
	struct subnet *n = &f->subnet;
	unsigned side = f->topo.nodes[v].n_ports + 1u;

	for (unsigned i = 0; i < side * side; i++)
		n->sl2vl_of_pair[v][i] =
			(uint16_t)n->sl2vl_of_port[f->topo.nodes[v].first_port +
						   i % side];
	for (unsigned i = 0; i < side; i++) {
		struct pkey_table *keys =
			&n->pkeys[f->topo.nodes[v].first_port + i];

		keys->enforce_in = keys->enforce_out = false;
	}
}

/* The tables of `routed` in `f`, which has switches for its routers. */
static void tables_translate(const struct fabric *routed, struct fabric *f)
{
	const struct subnet *from = &routed->subnet;
	struct subnet *to = &f->subnet;

	memset(to->mft->ports, 0,
	       (size_t)FABRIC_GROUPS * to->n_switches * sizeof(uint64_t));
	for (uint32_t v = 0; v < to->n_switches; v++) {
		for (uint32_t e = 0; e < f->n_ends; e++)
			fabric_route(f, v, (lid_t)(e + 1),
				     output_of(routed, v, e));
		if (v >= from->n_switches) {
			router_lanes(f, v);
			continue;
		}
		for (lid_t g = 0; g < FABRIC_GROUPS; g++)
			to->mft->ports[g * to->n_switches + v] =
				from->mft->ports[g * from->n_switches + v];
	}
}

void scenario_draw_twins(struct scenario *routed, struct scenario *switched,
			 uint64_t seed)
{
	draw(routed, seed, PLAIN_ROUTERS);
	draw(switched, seed, ROUTERS_AS_SWITCHES);
	const struct sim_setup *from = &routed->fabric.setup;
	struct sim_setup *to = &switched->fabric.setup;

	tables_translate(&routed->fabric, &switched->fabric);
	memcpy(to->ports, from->ports, from->n_ports * sizeof(*to->ports));
	to->n_faults = from->n_faults;
	to->faults = hd_realloc(to->faults, from->n_faults + 1u,
				sizeof(*to->faults));
	for (uint32_t i = 0; i < from->n_faults; i++)
		to->faults[i] = from->faults[i];
	switched->n_arrivals = routed->n_arrivals;
	switched->arrivals = hd_realloc(switched->arrivals, routed->n_arrivals,
					sizeof(*switched->arrivals));
	for (size_t i = 0; i < routed->n_arrivals; i++) {
		struct sim_arrival *a = &switched->arrivals[i];

		*a = routed->arrivals[i];
		if (a->global && a->dlid < LID_FIRST_MCAST)
			a->dlid = routed->fabric.subnet.lid_of_port[a->target];
		a->global = false;
	}
	switched->horizon = routed->horizon;
}

void scenario_fini(struct scenario *s)
{
	fabric_fini(&s->fabric);
	free(s->arrivals);
}

struct oracle_case scenario_case(const struct scenario *s)
{
	return (struct oracle_case){ &s->fabric.setup, s->arrivals,
				     s->n_arrivals, s->horizon, s->tick };
}
