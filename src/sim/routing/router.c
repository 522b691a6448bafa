/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/routing/router.h"
#include "sim/core/engine.h"
#include "sim/core/switch.h"
#include "sim/routing/router.h"
#include "sim/routing/routes.h"

/* R4: the SL in the subnet that router port `out` (topology) leads to. */
static unsigned new_sl(const struct sim *s, const struct packet_extra *x, port_id out, lid_t dlid)
{
	const struct subnet *subnet = s->setup->subnet;
	unsigned sl = x->tclass % N_SLS;

	if (s->setup->sl_of_tclass)
		sl = s->setup->sl_of_tclass[subnet->topo->ports[out].subnet][x->tclass];
	if (switch_tables_paths_now(s)->sl_of_path)
		sl = path_sl(switch_tables_paths_now(s), out, dlid, (uint8_t)sl);
	return sl & 15u;
}

/* Number of the subnet of a port of the setup. */
static uint32_t subnet_of(const struct sim *s, uint32_t port)
{
	const struct topo *t = s->setup->subnet->topo;

	return t->ports[s->setup->ports[port].origin].subnet;
}

/* R4m: the first router marks unmarked packets by their SL. */
static void mark(const struct sim *s, const struct packet_record *p, struct packet_extra *x,
		 uint32_t in_port)
{
	if (!s->setup->tclass_of_sl || x->tclass != 0)
		return;
	uint32_t here = subnet_of(s, in_port);

	if (here == subnet_of(s, s->nodes[x->source].first_port + 1))
		x->tclass = s->setup->tclass_of_sl[here][p->sl];
}

/* R3: the port of the topology to which p is forwarded; false: none. */
static bool find_output(const struct sim *s, const struct node *n, const struct packet_record *p,
			port_id *origin, lid_t *dlid)
{
	const struct subnet *subnet = s->setup->subnet;
	node_id router = s->setup->nodes[s->setup->ports[n->first_port].node].node;
	port_id target = s->pool.extras[packet_id(s, p)].target;

	if (p->vl == VL_MANAGEMENT || p->dlid >= LID_FIRST_MCAST || target == TOPO_NONE ||
	    !subnet_router_forward(subnet, router, target, origin, dlid))
		return false;
	unsigned number = subnet->topo->ports[*origin].number;

	return s->links[n->first_port + number].peer != NONE;
}

void router_arrive(struct sim *s, const struct node *n, struct packet_record *p, uint32_t in_port)
{
	const struct subnet *subnet = s->setup->subnet;
	struct packet_extra *x = &s->pool.extras[packet_id(s, p)];
	port_id origin = TOPO_NONE;
	lid_t dlid = 0;

	if (!find_output(s, n, p, &origin, &dlid)) {
		switch_head_unrouted(s, p, in_port);
		return;
	}
	if (x->hop_limit <= 1) {
		switch_head_lost(s, p, SIM_LOST_HOPS, in_port,
				 &s->sums.rare[in_port].hop_limit_exceeded);
		switch_drop(s, p);
		return;
	}
	uint32_t out = n->first_port + subnet->topo->ports[origin].number;

	mark(s, p, x, in_port);
	unsigned sl = new_sl(s, x, origin, dlid);
	unsigned vl = sl2vl_of(vls_at(s, p->head), origin)->vl[sl];

	x->hop_limit--;
	if (!switch_permits_key(s, n, p, out)) {
		switch_head_lost(s, p, SIM_LOST_PARTITION, out,
				 &s->sums.rare[out].xmit_constraint_errors);
		switch_drop(s, p);
		return;
	}
	if (vl >= vls_of(s, out, p->head)) {
		switch_head_lost(s, p, SIM_LOST_DISCARD, out, &s->sums.rare[out].xmit_discards);
		switch_drop(s, p);
		return;
	}
	x->slid = subnet->lid_of_port[origin];
	p->dlid = dlid;
	p->sl = sl & 15u;
	p->out = out;
	p->out_vl = (uint8_t)vl;
	hop_route_copy(s, p);
}
