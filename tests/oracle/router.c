/* SPDX-License-Identifier: BSD-2-Clause */
/* What becomes of a packet at its arrival at a router: R2, R3, R4, R4m, R5. */
#include <stdlib.h>

#include "base/alloc.h"
#include "state.h"
#include "subnet/routing/router.h"

#define TOO_FAR UINT32_MAX

/* One look at a router: what lies behind it is one router farther. */
static bool farther(const struct topo *t, node_id router, uint32_t *routers)
{
	const struct topo_node *n = &t->nodes[router];
	uint32_t nearest = TOO_FAR;
	bool any = false;

	for (unsigned i = 1; i <= n->n_ports; i++) {
		const struct topo_port *p = &t->ports[n->first_port + i];

		if (p->peer != TOPO_NONE && routers[p->subnet] < nearest)
			nearest = routers[p->subnet];
	}
	for (unsigned i = 1; nearest != TOO_FAR && i <= n->n_ports; i++) {
		const struct topo_port *p = &t->ports[n->first_port + i];

		if (p->peer == TOPO_NONE || routers[p->subnet] <= nearest + 1)
			continue;
		routers[p->subnet] = nearest + 1;
		any = true;
	}
	return any;
}

/* How many routers lie between each subnet and subnet `to`. */
static uint32_t *routers_to(const struct topo *t, uint32_t to)
{
	uint32_t *routers = hd_alloc(t->n_subnets, sizeof(*routers));
	bool any = true;

	for (uint32_t i = 0; i < t->n_subnets; i++)
		routers[i] = i == to ? 0 : TOO_FAR;
	while (any) {
		any = false;
		for (node_id v = 0; v < t->n_nodes; v++)
			if (t->nodes[v].kind == NODE_ROUTER)
				any |= farther(t, v, routers);
	}
	return routers;
}

/* R4: the port with the fewest routers, the lowest among equals; 0 = none. */
static uint32_t output_of(const struct oracle *o, const struct sim_node *n, port_id target)
{
	const struct topo *t = o->setup->subnet->topo;
	uint32_t *routers = routers_to(t, t->ports[target].subnet);
	uint32_t best = 0, fewest = TOO_FAR;

	for (uint32_t i = 1; i <= n->n_ports; i++) {
		const struct topo_port *p = &t->ports[o->setup->ports[n->first_port + i].origin];
		uint32_t here = p->peer == TOPO_NONE ? TOO_FAR : routers[p->subnet];
		bool last = o->mutation == MUT_ROUTER_LAST_OF_EQUALS && here == fewest &&
			    here != TOO_FAR;

		if (here < fewest || last) {
			fewest = here;
			best = i;
		}
	}
	free(routers);
	return best;
}

/* R4: the LID of the target, or of the router that comes next (R1). */
static lid_t next_dlid(const struct oracle *o, port_id out, port_id target)
{
	const struct subnet *s = o->setup->subnet;

	if (s->topo->ports[out].subnet == s->topo->ports[target].subnet)
		return s->lid_of_port[target];
	return route_dlid(s, out, target);
}

/* R4 */
static uint8_t next_sl(const struct oracle *o, const struct packet *packet, port_id out, lid_t dlid)
{
	const struct sim_setup *s = o->setup;
	uint8_t sl = packet->as.tclass % N_SLS;

	if (o->mutation == MUT_ROUTER_KEEPS_SL)
		return packet->as.sl;
	if (s->sl_of_tclass)
		sl = s->sl_of_tclass[s->subnet->topo->ports[out].subnet][packet->as.tclass];
	return path_sl(s->subnet, out, dlid, sl);
}

/* R4m: the subnet in which a port of the setup lies. */
static uint32_t subnet_of(const struct oracle *o, uint32_t port)
{
	const struct sim_setup *s = o->setup;

	return s->subnet->topo->ports[s->ports[port].origin].subnet;
}

/* R4m: the TClass with which a packet leaves a router that it entered here. */
static uint8_t marked(const struct oracle *o, const struct packet *packet, uint32_t in)
{
	const struct sim_setup *s = o->setup;
	uint32_t here = subnet_of(o, in);
	uint32_t home = subnet_of(o, port_of_end(o, packet->as.source));
	bool unmarked = packet->as.tclass == 0 || o->mutation == MUT_MARKS_WHAT_IS_MARKED;
	bool first = here == home || o->mutation == MUT_EVERY_ROUTER_MARKS;

	if (!s->tclass_of_sl || !unmarked || !first || s->tclass_of_sl[here][packet->as.sl] == 0)
		return packet->as.tclass;
	return s->tclass_of_sl[here][packet->as.sl];
}

/* R5: the packet with its new LRH and hop limit, which lives as long as o. */
static const struct packet *rewrite(struct oracle *o, const struct packet *packet, uint32_t in,
				    port_id out)
{
	struct packet *p = packet_new(o, packet);

	p->slid = o->setup->subnet->lid_of_port[out];
	p->as.dlid = next_dlid(o, out, packet->as.target);
	p->as.tclass = marked(o, packet, in);
	p->as.sl = next_sl(o, o->mutation == MUT_MARKED_TOO_LATE ? packet : p, out, p->as.dlid);
	if (o->mutation != MUT_HOPS_NOT_COUNTED)
		p->as.hop_limit--;
	return p;
}

/* R3: false, and why, if the packet goes no farther; its output otherwise. */
static bool is_let_through(struct oracle *o, uint32_t in, const struct slot *slot, uint32_t *out)
{
	const struct sim_setup *s = o->setup;
	const struct sim_node *n = &s->nodes[s->ports[in].node];
	const struct packet *packet = slot->packet;
	uint8_t least = o->mutation == MUT_HOPS_DOWN_TO_ZERO ? 1 : 2;
	uint32_t number = 0;

	if (slot->vl != VL_MANAGEMENT && packet->as.dlid < LID_FIRST_MCAST && packet->as.global)
		number = output_of(o, n, packet->as.target);
	*out = n->first_port + number;
	if (number == 0 || s->ports[*out].peer == SIM_NONE) {
		o->out->counters[in].rcv_relay_errors++;
		record_end(o, packet, in, SIM_LOST_NO_ROUTE);
		return false;
	}
	if (packet->as.hop_limit < least) {
		o->out->counters[in].hop_limit_exceeded++;
		record_end(o, packet, in, SIM_LOST_HOPS);
		return false;
	}
	return true;
}

/* R2: A2 at its input. */
static bool is_let_in(struct oracle *o, uint32_t in, const struct slot *slot)
{
	bool enters =
		o->mutation == MUT_ROUTER_TAKES_ANY_KEY || enters_partition(o, in, slot->packet);

	if (slot->vl == VL_MANAGEMENT || enters)
		return true;
	refuse_entry(o, slot->packet, in);
	return false;
}

/* R2: A2 at its output; VL15 comes to none. */
static bool is_let_out(struct oracle *o, uint32_t out, const struct packet *packet)
{
	if (o->mutation == MUT_ROUTER_GIVES_ANY_KEY || leaves_partition(o, out, packet))
		return true;
	refuse_exit(o, packet, out);
	return false;
}

/* R4 */
static bool has_vl(struct oracle *o, uint32_t out, const struct packet *packet, uint8_t *vl)
{
	*vl = sl2vl_of(vl_tables_at(o, o->now), o->setup->ports[out].origin)->vl[packet->as.sl];
	if (*vl < vls_at(o, out, o->now))
		return true;
	o->out->counters[out].xmit_discards++;
	record_end(o, packet, out, SIM_LOST_DISCARD);
	return false;
}

void router_packet(struct oracle *o, uint32_t in, struct slot *slot)
{
	bool hops_first = o->mutation == MUT_ROUTER_ASKS_HOPS_FIRST;
	const struct packet *next;
	uint32_t out;
	uint8_t vl;

	slot->dropped = true; /* unless a copy is made */
	if (!hops_first && !is_let_in(o, in, slot))
		return;
	if (!is_let_through(o, in, slot, &out))
		return;
	if (hops_first && !is_let_in(o, in, slot))
		return;
	next = rewrite(o, slot->packet, in, o->setup->ports[out].origin);
	if (!is_let_out(o, out, next) || !has_vl(o, out, next, &vl))
		return;
	slot->copies[slot->n_copies++] = (struct copy){
		.packet = next,
		.out = out,
		.vl = vl,
		.d_out = duration_on(o, out, next->as.bytes),
		.first = NEVER,
		.left = NEVER,
	};
	slot->dropped = false;
	o->stats->routed++;
}
