/* SPDX-License-Identifier: BSD-2-Clause */
/* What a manager outside changes while a run goes on (T11c, T11r, F3). */
#include <string.h>

#include "base/alloc.h"
#include "fabric/parts.h"

static uint32_t node_of_switch(const struct fabric *b, switch_id sw)
{
	port_id own = topo_port_of(&b->topo, b->subnet.node_of_switch[sw], 0);

	return b->setup.ports[b->port_of_origin[own]].node;
}

static void add_route(struct sim_setup *s, const struct sim_route_change *c)
{
	s->routes = hd_realloc(s->routes, s->n_routes + 1u, sizeof(*s->routes));
	s->routes[s->n_routes++] = *c;
}

static void change_routes(struct fabric *b, const struct fabric_tables *was,
			  const struct fabric_tables *is, hd_time at)
{
	for (switch_id sw = 0; sw < is->subnet->n_switches; sw++)
		for (uint32_t lid = 0; lid < is->subnet->lft_stride; lid++) {
			uint8_t port = lft_get(is->subnet, sw, (lid_t)lid);

			if (port == lft_get(was->subnet, sw, (lid_t)lid))
				continue;
			add_route(&b->setup,
				  &(struct sim_route_change){
					  .time = at,
					  .node = node_of_switch(b, sw),
					  .lid = (lid_t)lid,
					  .port = port });
		}
}

/* The set of a switch for a group; empty if it has none. */
static const uint64_t *set_of(const struct subnet *s, switch_id sw,
			      const struct mcast_group *g)
{
	static const uint64_t none[TOPO_MAX_PORTS / 64 + 1];
	const uint64_t *set =
		mft_get(&s->mft[g->subnet], sw, s->n_switches, g->mlid);

	return set ? set : none;
}

static void change_groups(struct fabric *b, const struct fabric_tables *was,
			  const struct fabric_tables *is, hd_time at)
{
	for (uint32_t i = 0; i < b->subnet.n_groups; i++) {
		const struct mcast_group *g = &b->subnet.groups[i];
		size_t size = b->subnet.mft[g->subnet].words * sizeof(uint64_t);

		for (switch_id sw = 0; sw < is->subnet->n_switches; sw++) {
			const uint64_t *set = set_of(is->subnet, sw, g);

			if (subnet_of_switch(is->subnet, sw) != g->subnet ||
			    memcmp(set, set_of(was->subnet, sw, g), size) == 0)
				continue;
			add_route(&b->setup,
				  &(struct sim_route_change){
					  .time = at,
					  .node = node_of_switch(b, sw),
					  .lid = g->mlid,
					  .ports = set });
		}
	}
}

static void change_port(struct fabric *b, const struct fabric_tables *was,
			const struct fabric_tables *is, port_id p, hd_time at)
{
	const struct vlarb *table = vlarb_of(is->subnet, p);
	port_id peer = b->topo.ports[p].peer;
	uint32_t port = b->port_of_origin[p];

	if (port == SIM_NONE || peer == TOPO_NONE)
		return;
	if (memcmp(table, vlarb_of(was->subnet, p), sizeof(*table)) != 0)
		fabric_change_table(b, at, port, table);
	if (p < peer && is->down[p] != was->down[p])
		fabric_add_fault(b, (struct sim_fault){
					    .time = at,
					    .kind = is->down[p] ? SIM_LINK_DOWN
								: SIM_LINK_UP,
					    .port = port });
}

enum hd_status fabric_reprogram(struct fabric *b,
				const struct fabric_tables *was,
				const struct fabric_tables *is, hd_time at,
				struct diag *d)
{
	struct sim_setup *s = &b->setup;

	for (port_id p = 0; p < b->topo.n_ports; p++)
		if (was->subnet->lid_of_port[p] != is->subnet->lid_of_port[p])
			return diag_fail(d, HD_ERR_UNFIT,
					 "'%s' got another LID, which no "
					 "sender knows",
					 topo_node_of(&b->topo, p)->name);
	change_routes(b, was, is, at);
	change_groups(b, was, is, at);
	for (port_id p = 0; p < b->topo.n_ports; p++)
		change_port(b, was, is, p, at);
	if (is->subnet->sl_of_path) {
		s->paths = hd_realloc(s->paths, s->n_paths + 1u,
				      sizeof(*s->paths));
		s->paths[s->n_paths++] =
			(struct sim_path_change){ at, is->subnet };
	}
	return HD_OK;
}
