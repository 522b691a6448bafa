/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_ROUTING_ROUTES_H
#define HD_SIM_ROUTING_ROUTES_H

/*
 * T11r: forwarding tables, SL2VL tables and partitions that change during a
 * run. Internal to src/sim.
 */

#include "sim/core/sim_internal.h"

/* Call after switch_nodes_init(): nodes whose tables change lose their fast path. */
void switch_tables_init(struct sim *s);
void switch_tables_fini(struct sim *s);
/* The output port of p at switch n; the head of p may not have arrived yet. */
unsigned switch_tables_output(struct sim *s, const struct node *n, const struct packet_record *p);
/* A multicast group at an instant. */
struct group_at {
	lid_t mlid;
	hd_time when;
};
/* The output ports of a switch for the group; `first` is the set at the start of the run. */
const uint64_t *switch_tables_set(const struct sim *s, const struct node *n,
				  const struct group_at *at, const uint64_t *first);
static inline const uint64_t *group_set(const struct sim *s, const struct node *n,
					const struct group_at *at)
{
	const struct subnet *sub = s->setup->subnet;
	const uint64_t *first =
		mft_get(&sub->mft[n->subnet], n->switch_id, sub->n_switches, at->mlid);

	return s->routes ? switch_tables_set(s, n, at, first) : first;
}
/* The subnet whose path SLs are in force now. */
const struct subnet *switch_tables_paths_now(const struct sim *s);
/* T11l: the subnet whose SL2VL tables, VLs and partitions are in force at `when`. */
const struct subnet *switch_tables_vls_at(const struct sim *s, hd_time when);
static inline const struct subnet *vls_at(const struct sim *s, hd_time when)
{
	return likely(!s->mode.vls_change) ? s->setup->subnet : switch_tables_vls_at(s, when);
}
/* Number of data VLs of a port at `when`; switch_tables_max_vls(): the maximum over the run. */
static inline unsigned vls_of(const struct sim *s, uint32_t port, hd_time when)
{
	const struct sim_port *p = &s->setup->ports[port];

	return likely(!s->mode.vls_change) ? p->vls
					   : switch_tables_vls_at(s, when)->vls_of_port[p->origin];
}
unsigned switch_tables_max_vls(const struct sim *s, uint32_t port);
/* True if the port refuses packets by P_Key at any time of the run. */
bool switch_tables_refuse_keys(const struct sim *s, uint32_t port);

#endif
