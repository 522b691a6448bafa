/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/routing/replan.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "subnet/routing/order.h"
#include "subnet/routing/router.h"

const char *const replan_mode_names[] = {
	[REPLAN_AS_OPENSM] = "opensm",
	[REPLAN_FRESH] = "fresh",
	[REPLAN_KEEP] = "keep",
	NULL,
};

struct planner {
	const struct subnet *whole, *present;
	const struct replan_options *o;
	struct replan *out;
	bool *seen; /* nodes that a manager reaches */
	node_id *queue;
};

const char *replan_engine(const struct subnet *s)
{
	return strcmp(s->engine, "file") == 0 ? "minhop" : s->engine;
}

/* Takes away the cables that are down. */
static void unplug(struct planner *p, const bool *down)
{
	struct topo *t = &p->out->topo;

	for (port_id a = 0; a < t->n_ports; a++) {
		if (down[a])
			topo_unlink(t, a);
	}
}

/* Origin of discovery in a subnet; TOPO_NONE: impossible. */
static port_id manager_of(const struct planner *p, unsigned subnet)
{
	const struct topo *t = &p->out->topo;
	port_id chosen = p->o->manager;

	if (chosen != TOPO_NONE && t->ports[chosen].subnet == subnet)
		return topo_is_end_port(t, chosen) ? chosen : TOPO_NONE;
	return subnet_manager_port(t, subnet);
}

/* Marks the nodes of a subnet that its manager reaches. */
static void discover(struct planner *p, unsigned subnet)
{
	const struct topo *t = &p->out->topo;
	port_id start = manager_of(p, subnet);
	uint32_t head = 0, tail = 0;

	if (start == TOPO_NONE)
		return;
	p->seen[t->ports[start].node] = true;
	p->queue[tail++] = t->ports[start].node;
	while (head < tail) {
		const struct topo_node *v = &t->nodes[p->queue[head++]];
		/* Adapters and routers pass no discovery on. */
		bool passes = v->kind == NODE_SWITCH;

		for (unsigned k = 0; k <= v->n_ports; k++) {
			port_id a = v->first_port + k, b = t->ports[a].peer;

			if (b == TOPO_NONE || (!passes && a != start) || p->seen[t->ports[b].node])
				continue;
			p->seen[t->ports[b].node] = true;
			p->queue[tail++] = t->ports[b].node;
		}
	}
}

/* Nodes that cannot be reached are treated as removed. */
static void drop_unseen(struct planner *p)
{
	struct topo *t = &p->out->topo;

	for (port_id a = 0; a < t->n_ports; a++) {
		if (!p->seen[t->ports[a].node])
			topo_unlink(t, a);
	}
	/* Port 0 of an unreachable switch is unreachable too. */
	for (node_id v = 0; v < t->n_nodes; v++)
		t->nodes[v].enhanced_port0 &= p->seen[v];
}

static void count_new_cables(struct planner *p)
{
	const struct topo *t = &p->out->topo, *was = p->present->topo;

	for (port_id a = 0; a < t->n_ports; a++) {
		port_id b = t->ports[a].peer;

		if (b != TOPO_NONE && a < b && was->ports[a].peer != b)
			p->out->n_new_cables++;
	}
}

static bool is_lost(const struct planner *p, port_id a)
{
	const struct topo *t = &p->out->topo;

	return !p->seen[t->ports[a].node] ||
	       (!topo_is_switch(t, t->ports[a].node) && t->ports[a].peer == TOPO_NONE);
}

/* Keeps VLs and their weights. The engine maps SLs again if it did so before. */
static void keep_vls(struct planner *p)
{
	struct subnet *s = &p->out->subnet;
	const struct subnet *whole = p->whole;
	uint32_t *id = hd_alloc(whole->n_vlarb_tables, sizeof(*whole->vlarb_of_port));

	memcpy(s->vls_of_port, whole->vls_of_port, s->topo->n_ports);
	if (whole->vls_by_engine || whole->split.n_classes)
		subnet_reset_vls(s);
	else
		subnet_take_vls(s, whole);
	for (uint32_t i = 0; i < whole->n_vlarb_tables; i++)
		id[i] = subnet_keep_vlarb(s, &whole->vlarb_tables[i]);
	for (port_id a = 0; a < s->topo->n_ports; a++)
		s->vlarb_of_port[a] = id[whole->vlarb_of_port[a]];
	free(id);
}

/* Keeps the LIDs of remaining ports, and the size of tables. */
static void address(struct planner *p)
{
	struct subnet *s = &p->out->subnet;
	const struct subnet *whole = p->whole;
	size_t size = (size_t)whole->n_switches * whole->lft_stride;

	for (port_id a = 0; a < s->topo->n_ports; a++) {
		if (whole->lid_of_port[a] == 0)
			continue;
		if (is_lost(p, a)) {
			p->out->n_lost_ports++;
			continue;
		}
		unsigned subnet = s->topo->ports[a].subnet;

		s->lid_of_port[a] = whole->lid_of_port[a];
		s->lmc_of_port[a] = whole->lmc_of_port[a];
		for (unsigned k = 0; k < 1u << s->lmc_of_port[a]; k++)
			s->port_of_lid[subnet][s->lid_of_port[a] + k] = a;
	}
	memcpy(s->top_lid, whole->top_lid, s->n_subnets * sizeof(*s->top_lid));
	s->lft_stride = whole->lft_stride;
	s->lft = hd_alloc_dense(size, 1);
	memset(s->lft, LFT_NO_PORT, size);
	subnet_router_tables_init(s);
}

static enum hd_status route(struct planner *p, struct diag *d)
{
	struct route_options o = { .n_roots = 0 };
	bool keep = p->o->mode == REPLAN_KEEP ||
		    (p->o->mode == REPLAN_AS_OPENSM && p->out->n_new_cables == 0);

	if (p->o->route)
		o = *p->o->route;
	o.keep = keep ? p->present : NULL;
	p->out->kept = keep;
	return subnet_route(&p->out->subnet, p->o->engine, &o, d);
}

/* Classes keep their blocks, which must hold the new routes. */
static enum hd_status split_as_before(const struct subnet *whole, struct subnet *plan,
				      struct diag *d)
{
	const struct vl_split *split = &whole->split;

	if (split->n_classes == 0)
		return HD_OK;
	struct vl_split needed = subnet_split_for(plan, split->class_of_sl, split->n_classes);

	if (needed.vls > split->vls || needed.sls > split->sls)
		return diag_fail(
			d, HD_ERR_UNFIT,
			"%s needs %u SL%s and %u VL%s for each class, which have %u and %u",
			plan->engine, needed.sls, needed.sls == 1 ? "" : "s", needed.vls,
			needed.vls == 1 ? "" : "s", split->sls, split->vls);
	return subnet_split_vls(plan, split, d);
}

/* Whether the manager knows the content of the switch's table. */
static bool is_known(const struct planner *p, switch_id sw)
{
	const struct subnet *was = p->present;

	return was->lid_of_port[switch_node(was, sw)->first_port] != 0;
}

/* The tables of a switch that reports a changed port are written completely. */
static bool is_touched(const struct planner *p, switch_id sw)
{
	const struct topo *t = &p->out->topo, *was = p->present->topo;
	const struct topo_node *v = &t->nodes[p->whole->node_of_switch[sw]];

	for (unsigned k = 1; k <= v->n_ports; k++) {
		port_id a = v->first_port + k;

		if (t->ports[a].peer != was->ports[a].peer)
			return true;
	}
	return false;
}

struct plan_capacity {
	size_t writes_cap, changes_cap;
};

/* Adds a write if the block is to be sent. */
static void plan_block(struct planner *p, struct plan_capacity *l, switch_id sw, unsigned block)
{
	struct replan *r = p->out;
	bool known = is_known(p, sw);
	struct lft_write w = { .sw = sw, .block = (uint16_t)block, .first = r->n_changes };

	for (uint32_t i = 0; i < LFT_BLOCK_LIDS; i++) {
		lid_t lid = (lid_t)(block * LFT_BLOCK_LIDS + i);
		struct lft_change c = {
			.lid = lid,
			.before = known ? lft_get(p->present, sw, lid) : LFT_NO_PORT,
			.after = lft_get(&r->subnet, sw, lid),
		};

		if (c.before == c.after)
			continue;
		r->changes = hd_grow(r->changes, &l->changes_cap, r->n_changes + 1u,
				     sizeof(*r->changes));
		r->changes[r->n_changes++] = c;
		w.n++;
	}
	if (w.n == 0 && known && !is_touched(p, sw))
		return;
	r->writes = hd_grow(r->writes, &l->writes_cap, r->n_writes + 1u, sizeof(*r->writes));
	r->writes[r->n_writes++] = w;
}

static void plan_writes(struct planner *p)
{
	const struct subnet *s = &p->out->subnet;
	port_id *ports = hd_alloc(s->topo->n_ports, sizeof(*ports));
	uint32_t n = order_ports_by_guid(s, ports);
	struct plan_capacity l = { 0, 0 };

	for (unsigned block = 0; block < s->lft_stride / LFT_BLOCK_LIDS; block++) {
		for (uint32_t i = 0; i < n; i++) {
			const struct topo_port *q = &s->topo->ports[ports[i]];
			switch_id sw = s->switch_of_node[q->node];

			if (sw != TOPO_NONE && p->seen[q->node] &&
			    block * LFT_BLOCK_LIDS <= s->top_lid[q->subnet])
				plan_block(p, &l, sw, block);
		}
	}
	free(ports);
}

enum hd_status replan(const struct subnet *whole, const struct subnet *present, const bool *down,
		      const struct replan_options *o, struct diag *d, struct replan *out)
{
	const struct topo *t = whole->topo;
	struct planner p = {
		.whole = whole,
		.present = present,
		.o = o,
		.out = out,
		.seen = hd_alloc(t->n_nodes, sizeof(*p.seen)),
		.queue = hd_alloc(t->n_nodes, sizeof(*p.queue)),
	};

	*out = (struct replan){ .n_writes = 0 };
	topo_copy(t, &out->topo);
	unplug(&p, down);
	for (unsigned subnet = 0; subnet < whole->n_subnets; subnet++)
		discover(&p, subnet);
	drop_unseen(&p);
	count_new_cables(&p);
	subnet_init(&out->subnet, &out->topo);
	keep_vls(&p);
	address(&p);
	enum hd_status status = route(&p, d);

	if (status == HD_OK)
		status = split_as_before(whole, &out->subnet, d);
	if (status == HD_OK)
		plan_writes(&p);
	else
		replan_fini(out);
	free(p.seen);
	free(p.queue);
	return status;
}

void replan_fini(struct replan *r)
{
	free(r->writes);
	free(r->changes);
	subnet_fini(&r->subnet);
	topo_fini(&r->topo);
	*r = (struct replan){ .n_writes = 0 };
}
