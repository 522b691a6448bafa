/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Changes by an outside subnet manager during a run (T11c, T11r, T11l, C9, F3).
 */
#include <string.h>

#include "base/alloc.h"
#include "fabric/control.h"
#include "fabric/fabric_internal.h"

static uint32_t node_of_switch(const struct fabric *fabric, switch_id sw)
{
	port_id own = topo_port_of(&fabric->topo, fabric->subnet.node_of_switch[sw], 0);

	return fabric->setup.ports[fabric->port_of_origin[own]].node;
}

static void add_route(struct sim_setup *s, const struct sim_route_change *c)
{
	s->routes = hd_realloc(s->routes, s->n_routes + 1u, sizeof(*s->routes));
	s->routes[s->n_routes++] = *c;
}

static void change_routes(struct fabric *fabric, const struct fabric_tables *was,
			  const struct fabric_tables *is, hd_time at)
{
	for (switch_id sw = 0; sw < is->subnet->n_switches; sw++)
		for (uint32_t lid = 0; lid < is->subnet->lft_stride; lid++) {
			uint8_t port = lft_get(is->subnet, sw, (lid_t)lid);

			if (port == lft_get(was->subnet, sw, (lid_t)lid))
				continue;
			add_route(&fabric->setup,
				  &(struct sim_route_change){ .time = at,
							      .node = node_of_switch(fabric, sw),
							      .lid = (lid_t)lid,
							      .port = port });
		}
}

/* The set of a switch for a group; empty if it has none. */
static const uint64_t *set_of(const struct subnet *s, switch_id sw, const struct mcast_group *g)
{
	static const uint64_t none[TOPO_MAX_PORTS / 64 + 1];
	const uint64_t *set = mft_get(&s->mft[g->subnet], sw, s->n_switches, g->mlid);

	return set ? set : none;
}

static void change_groups(struct fabric *fabric, const struct fabric_tables *was,
			  const struct fabric_tables *is, hd_time at)
{
	for (uint32_t i = 0; i < fabric->subnet.n_groups; i++) {
		const struct mcast_group *g = &fabric->subnet.groups[i];
		size_t size = fabric->subnet.mft[g->subnet].words * sizeof(uint64_t);

		for (switch_id sw = 0; sw < is->subnet->n_switches; sw++) {
			const uint64_t *set = set_of(is->subnet, sw, g);

			if (subnet_of_switch(is->subnet, sw) != g->subnet ||
			    memcmp(set, set_of(was->subnet, sw, g), size) == 0)
				continue;
			add_route(&fabric->setup,
				  &(struct sim_route_change){ .time = at,
							      .node = node_of_switch(fabric, sw),
							      .lid = g->mlid,
							      .ports = set });
		}
	}
}

static void change_port(struct fabric *fabric, const struct fabric_tables *was,
			const struct fabric_tables *is, port_id p, hd_time at)
{
	const struct vlarb *table = vlarb_of(is->subnet, p);
	port_id peer = fabric->topo.ports[p].peer;
	uint32_t port = fabric->port_of_origin[p];

	if (port == SIM_NONE || peer == TOPO_NONE)
		return;
	if (memcmp(table, vlarb_of(was->subnet, p), sizeof(*table)) != 0)
		fabric_change_table(fabric, at, port, table);
	if (p < peer && is->down[p] != was->down[p])
		fabric_add_fault(fabric, (struct sim_fault){ .time = at,
							     .kind = is->down[p] ? SIM_LINK_DOWN
										 : SIM_LINK_UP,
							     .port = port });
}

/* ---- VLs and partitions */

static bool keys_differ(const struct pkey_table *a, const struct pkey_table *b)
{
	return a->n != b->n || a->enforce_in != b->enforce_in || a->enforce_out != b->enforce_out ||
	       (a->n && memcmp(a->keys, b->keys, a->n * sizeof(*a->keys)) != 0);
}

static bool port_differs(const struct subnet *a, const struct subnet *b, port_id p)
{
	return a->vls_of_port[p] != b->vls_of_port[p] || keys_differ(&a->pkeys[p], &b->pkeys[p]) ||
	       (topo_is_end_port(a->topo, p) &&
		memcmp(sl2vl_of(a, p), sl2vl_of(b, p), sizeof(struct sl2vl)) != 0);
}

static bool switch_differs(const struct subnet *a, const struct subnet *b, switch_id sw)
{
	unsigned n = switch_node(a, sw)->n_ports;

	for (unsigned in = 0; in <= n; in++)
		for (unsigned out = 0; out <= n; out++)
			if (memcmp(sl2vl_at(a, sw, in, out), sl2vl_at(b, sw, in, out),
				   sizeof(struct sl2vl)) != 0)
				return true;
	return false;
}

static bool vls_differ(const struct subnet *a, const struct subnet *b)
{
	for (port_id p = 0; p < a->topo->n_ports; p++)
		if (port_differs(a, b, p))
			return true;
	for (switch_id sw = 0; sw < a->n_switches; sw++)
		if (switch_differs(a, b, sw))
			return true;
	return false;
}

/* Path SLs, VLs and partitions are those of the new subnet. */
static void change_vls(struct sim_setup *s, const struct subnet *was, const struct subnet *is,
		       hd_time at)
{
	if (!is->sl_of_path && !was->sl_of_path && !vls_differ(was, is))
		return;
	s->paths = hd_realloc(s->paths, s->n_paths + 1u, sizeof(*s->paths));
	s->paths[s->n_paths++] = (struct sim_path_change){ at, is, true };
}

/* ---- congestion control */

static enum hd_status read_settings(const struct fabric *fabric, const struct fabric_programmer *by,
				    struct cc_config *configs, struct diag *d)
{
	const struct sim_setup *u = &fabric->setup;
	const struct sim_control *c = u->control;
	enum hd_status status = HD_OK;

	for (uint32_t i = 0; i < c->n_throttles; i++)
		configs[i] = c->throttles[i].config;
	for (uint32_t i = 0; i < c->n_flows && status == HD_OK; i++) {
		const struct sim_flow *f = &fabric->flows[i];
		uint32_t k = c->throttle_of_flow[i];

		if (k == SIM_NONE)
			continue;
		by->throttle(by->context, u->ports[u->nodes[f->source].first_port + 1].origin,
			     f->sl & 15, &configs[k]);
		status = cc_check(c->throttles[k].algorithm, &configs[k], d);
	}
	return status;
}

static enum hd_status change_control(struct fabric *fabric, const struct fabric_programmer *by,
				     hd_time at, struct diag *d)
{
	struct sim_setup *s = &fabric->setup;
	struct scn_congestion c = fabric->scenario->congestion;

	if (!by || !s->control)
		return HD_OK;
	enum hd_status status = by->control(by->context, &c, d);

	if (status != HD_OK)
		return status;
	if (c.per != fabric->scenario->congestion.per)
		return diag_fail(
			d, HD_ERR_UNFIT,
			"sources began with one index per %s, and cannot change that while they send",
			c.per == SCN_PER_SL ? "queue pair" : "SL");
	struct cc_config *configs = fabric_keep(fabric, s->control->n_throttles, sizeof(*configs));

	s->settings = hd_realloc(s->settings, s->n_settings + 1u, sizeof(*s->settings));
	s->settings[s->n_settings++] =
		(struct sim_control_change){ at, fabric_marking(&c), configs,
					     fabric_ask_responses(fabric, by) };
	return read_settings(fabric, by, configs, d);
}

enum hd_status fabric_reprogram(struct fabric *fabric, const struct fabric_tables *was,
				const struct fabric_tables *is, hd_time at, struct diag *d)
{
	for (port_id p = 0; p < fabric->topo.n_ports; p++)
		if (was->subnet->lid_of_port[p] != is->subnet->lid_of_port[p])
			return diag_fail(d, HD_ERR_UNFIT,
					 "'%s' got another LID, which no sender knows",
					 topo_node_of(&fabric->topo, p)->name);
	change_routes(fabric, was, is, at);
	change_groups(fabric, was, is, at);
	for (port_id p = 0; p < fabric->topo.n_ports; p++)
		change_port(fabric, was, is, p, at);
	change_vls(&fabric->setup, was->subnet, is->subnet, at);
	return change_control(fabric, is->by, at, d);
}
