/* SPDX-License-Identifier: BSD-2-Clause */
#include "random_parts.h"

/* ---- routes ---- */

uint32_t switch_beyond(const struct sim_setup *t, uint32_t port)
{
	uint32_t peer = t->ports[port].peer;

	if (peer == SIM_NONE || t->nodes[t->ports[peer].node].kind != SIM_SWITCH)
		return TOPO_NONE;
	return t->ports[peer].node;
}

/* Switches that have joined a tree, and how far from its root. */
struct tree {
	bool joined[MAX_SWITCHES];
	uint32_t depth[MAX_SWITCHES];
};

/*
 * A port to join a switch, all ports with the same probability; of
 * those that make the shortest way if `shortest`.
 */
static uint32_t joint_draw(const struct sim_setup *t, const struct tree *tree, bool shortest,
			   struct rng *r)
{
	uint32_t found = 0, best = UINT32_MAX, joint = SIM_NONE;

	for (uint32_t p = 0; p < t->n_ports; p++) {
		uint32_t near = t->ports[p].node, far = switch_beyond(t, p);
		uint32_t depth;

		if (near >= t->subnet->n_switches || far == TOPO_NONE || tree->joined[near] ||
		    !tree->joined[far])
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
static uint32_t tree_draw(const struct sim_setup *t, uint32_t root, bool shortest, struct rng *r,
			  uint32_t *up, uint32_t *order)
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
static void lid_route(struct scenario *s, lid_t lid, uint32_t last, bool shortest, bool ring,
		      struct rng *r)
{
	struct fabric *fabric = &s->fabric;
	const struct sim_setup *t = &fabric->setup;
	uint32_t home = t->ports[last].node;
	uint32_t up[MAX_SWITCHES], order[MAX_SWITCHES];

	if (home >= fabric->subnet.n_switches)
		return;
	tree_draw(t, home, shortest, r, up, order);
	if (ring)
		ring_ports(t, up);
	up[home] = last - t->nodes[home].first_port;
	for (uint32_t w = 0; w < fabric->subnet.n_switches; w++)
		fabric_route(fabric, w, lid, up[w]);
}

static void unicast_draw(struct scenario *s, const struct shape *h, struct rng *r)
{
	struct fabric *fabric = &s->fabric;
	const struct sim_setup *t = &fabric->setup;
	bool shortest = chance(r, 60);
	bool ring = h->kind == RING && chance(r, 60) && h->n_routers == 0;

	for (uint32_t e = 0; e < fabric->n_ends; e++)
		lid_route(s, (lid_t)(e + 1), t->ports[fabric_end_port(fabric, e)].peer, shortest,
			  ring, r);
	for (uint32_t p = 0; p < t->n_ports; p++) {
		if (t->nodes[t->ports[p].node].kind == SIM_ROUTER && t->ports[p].peer != SIM_NONE)
			lid_route(s, fabric->subnet.lid_of_port[t->ports[p].origin],
				  t->ports[p].peer, shortest, false, r);
	}
}

/*
 * A wrong table: a hole, or any port at all, which may send
 * packets back, or round in circles.
 */
static void mistake_draw(struct scenario *s, struct rng *r)
{
	struct fabric *fabric = &s->fabric;
	uint32_t w = below(r, fabric->subnet.n_switches);
	uint32_t port = below(r, fabric->setup.nodes[w].n_ports + 1);
	lid_t lid = (lid_t)(1 + below(r, fabric->n_ends));

	if (chance(r, 5))
		fabric_route(fabric, w, lid, LFT_NO_PORT);
	if (chance(r, s->controlled ? 20 : 5))
		fabric_route(fabric, w, lid, port);
	if (s->n_groups > 0 && chance(r, 5))
		fabric_group_add(fabric, LID_FIRST_MCAST, w, port);
}

/* One group: the tree's edges, and the hosts that are members. */
static void group_draw(struct scenario *s, lid_t mlid, struct rng *r)
{
	struct fabric *fabric = &s->fabric;
	const struct sim_setup *t = &fabric->setup;
	uint32_t up[MAX_SWITCHES], order[MAX_SWITCHES];
	bool needed[MAX_SWITCHES] = { false };
	bool pruned = chance(r, 85);

	uint32_t root = below(r, fabric->subnet.n_switches);
	uint32_t n = tree_draw(t, root, chance(r, 50), r, up, order);

	for (uint32_t e = 0; e < fabric->n_ends; e++) {
		uint32_t at = t->ports[fabric_end_port(fabric, e)].peer;

		if (!chance(r, 60) || t->ports[at].node >= fabric->subnet.n_switches)
			continue;
		needed[t->ports[at].node] = true;
		fabric_group_add(fabric, mlid, t->ports[at].node,
				 at - t->nodes[t->ports[at].node].first_port);
	}
	for (uint32_t i = n; i-- > 1;) {
		uint32_t v = order[i];
		uint32_t far = t->ports[fabric_port(fabric, v, up[v])].peer;
		uint32_t w = t->ports[far].node;

		if (pruned && !needed[v])
			continue;
		needed[w] = true;
		fabric_group_add(fabric, mlid, v, up[v]);
		fabric_group_add(fabric, mlid, w, far - t->nodes[w].first_port);
	}
}

void routes_draw(struct scenario *s, const struct shape *h, struct rng *r)
{
	unicast_draw(s, h, r);
	if (chance(r, 50))
		s->n_groups = 1 + below(r, FABRIC_GROUPS - 1);
	for (uint32_t g = 0; g < s->n_groups; g++)
		group_draw(s, (lid_t)(LID_FIRST_MCAST + g), r);
	if (!s->plain)
		mistake_draw(s, r);
}

/* ---- VLs ---- */

static void sl2vl_fill(struct sl2vl *t, uint8_t vls, bool holes, struct rng *r)
{
	bool plain = chance(r, 40);

	for (unsigned sl = 0; sl < N_SLS; sl++) {
		t->vl[sl] = (uint8_t)(plain ? sl % vls : below(r, vls));
		if (holes && chance(r, 8))
			t->vl[sl] = chance(r, 50) ? VL_MANAGEMENT : (uint8_t)below(r, 15);
	}
}

void vl_tables_draw(const struct scenario *s, struct subnet *n, struct rng *r)
{
	const struct sim_setup *t = &s->fabric.setup;
	uint8_t fewest = 15;
	bool holes = chance(r, 8), by_pair = chance(r, 50);

	for (uint32_t i = 0; i < t->n_ports; i++)
		if (t->ports[i].peer != SIM_NONE && n->vls_of_port[t->ports[i].origin] < fewest)
			fewest = n->vls_of_port[t->ports[i].origin];
	n->n_sl2vl_tables = 1 + below(r, 4);
	for (uint32_t i = 0; i < n->n_sl2vl_tables; i++)
		sl2vl_fill(&n->sl2vl_tables[i], fewest, holes, r);
	for (port_id p = 0; p < s->fabric.topo.n_ports; p++)
		n->sl2vl_of_port[p] = below(r, n->n_sl2vl_tables);
	for (switch_id w = 0; by_pair && w < n->n_switches; w++) {
		size_t side = t->nodes[n->node_of_switch[w]].n_ports + 1u;

		for (size_t i = 0; i < side * side; i++)
			n->sl2vl_of_pair[w][i] = (uint16_t)below(r, n->n_sl2vl_tables);
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
		e[i] = (struct vlarb_entry){ (uint8_t)below(r, chance(r, 5) ? 15 : vls),
					     weight_draw(r) };
	return (uint8_t)n;
}

/* VLs below the cut in the high table, the others in the low one. */
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
	/* Mostly no VL is left out; VLs repeat all the same. */
	if (chance(r, 90) && t->n_low + vls <= VLARB_MAX)
		for (uint8_t vl = 0; vl < vls; vl++)
			t->low[t->n_low++] = (struct vlarb_entry){ vl, (uint8_t)(1 + below(r, 4)) };
}

uint8_t most_vls(const struct scenario *s)
{
	const struct subnet *n = &s->fabric.subnet;
	uint8_t most = 1;

	for (port_id p = 0; p < s->fabric.topo.n_ports; p++)
		if (n->vls_of_port[p] > most)
			most = n->vls_of_port[p];
	return most;
}

void table_draw(const struct scenario *s, struct vlarb *t, uint8_t vls, struct rng *r)
{
	*t = (struct vlarb){ 0 };
	if (s->lengthy && chance(r, 70)) { /* limits that expire */
		vlarb_split(t, vls, r);
		t->high_limit = (uint8_t)(1 + below(r, 3));
	} else {
		vlarb_draw(t, vls, r);
	}
}

void tables_draw(struct scenario *s, struct rng *r)
{
	struct subnet *n = &s->fabric.subnet;
	uint8_t most = most_vls(s);

	n->n_vlarb_tables = 1 + below(r, 4);
	for (uint32_t i = 0; i < n->n_vlarb_tables; i++)
		table_draw(s, &n->vlarb_tables[i], most, r);
	for (port_id p = 0; p < s->fabric.topo.n_ports; p++)
		n->vlarb_of_port[p] = below(r, n->n_vlarb_tables);
}

/* ---- VL sharing at switches (B7) and end ports (B9) ---- */

/* Some end port has senders 1, 2, ... */
static bool has_senders(const struct scenario *s)
{
	bool any = s->pairs.n > 0 || s->jobs.n > 0 || (s->control && s->control->n_throttles > 0);

	for (size_t i = 0; i < s->n_arrivals && !any; i++)
		any = s->arrivals[i].sender > 0;
	return any;
}

/* ET, or AJT with VLs that are users, shareable or both. */
void sharing_draw(struct scenario *s, struct rng *r)
{
	struct sim_vl_sharing *b = &s->fabric.setup.vl_sharing;
	bool et = chance(r, 40);
	uint16_t shareable = (uint16_t)(rng_next(r) & 0x7fff);

	b->on = true;
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		uint32_t at = 1;

		b->n_thresholds[vl] = chance(r, 25) ? 0 : et ? 1 : 1 + below(r, 3);
		for (unsigned k = 0; k < b->n_thresholds[vl]; k++) {
			at += 1 + below(r, 2);
			b->thresholds[vl][k] = at;
		}
		b->shareable[vl] = (uint16_t)((et ? 0x7fffu : shareable) & ~(1u << vl));
	}
	b->hosts = chance(r, 60) && has_senders(s);
	b->switches = !b->hosts || chance(r, 60);
}

/* ---- partitions ---- */

const uint16_t keys_known[4] = { 0x8001, 0x0001, 0x8002, 0xffff };

/* End ports that refuse foreign partitions: none, some, all. */
void end_keys_draw(const struct scenario *s, struct subnet *n, struct rng *r)
{
	static const unsigned shares[8] = { 0, 0, 0, 0, 0, 40, 100, 100 };
	unsigned share = shares[below(r, 8)];

	for (uint32_t e = 0; e < s->fabric.n_ends; e++) {
		uint32_t port = fabric_end_port(&s->fabric, e);
		struct pkey_table *t = &n->pkeys[s->fabric.setup.ports[port].origin];

		t->enforce_in = chance(r, share);
		t->n = 0;
		for (int i = 0; i < 4; i++)
			if (chance(r, 75))
				t->keys[t->n++] = keys_known[i];
	}
}

void keys_draw(const struct scenario *s, struct subnet *n, struct rng *r)
{
	bool enforced = chance(r, s->routed ? 40 : 15);

	for (port_id p = 0; p < s->fabric.topo.n_ports; p++) {
		struct pkey_table *t = &n->pkeys[p];

		t->n = (uint16_t)(1 + below(r, FABRIC_PKEYS));
		for (uint16_t i = 0; i < t->n; i++)
			t->keys[i] = keys_known[below(r, 4)];
		t->enforce_in = enforced && chance(r, 25);
		t->enforce_out = enforced && chance(r, 25);
	}
}
