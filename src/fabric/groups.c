/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "base/alloc.h"
#include "fabric/fabric_internal.h"
#include "subnet/multicast/mcast.h"
#include "subnet/routing/deadlock.h"

/* A group as one row of traffic uses it. */
struct sending {
	struct fabric *fabric;
	const struct scn_traffic *t;
	const struct scn_group *g;
	uint32_t row;
	struct selection members;
	bool *is_member; /* per topology port */
	struct diag *d;
};

static const char *name_of(const struct sending *s, port_id p)
{
	return topo_node_of(&s->fabric->topo, p)->name;
}

static bool has_members(const struct sending *s, const struct mcast_group *m)
{
	for (uint32_t i = 0; i < m->n_members; i++)
		if (!s->is_member[m->members[i]])
			return false;
	return m->n_members == s->members.n;
}

/* The tree of an external manager: the first one whose ports are the group's members. */
static enum hd_status programmed_tree(const struct sending *s, port_id source, lid_t *mlid)
{
	const struct subnet *subnet = &s->fabric->subnet;

	for (uint32_t i = 0; i < subnet->n_groups; i++) {
		const struct mcast_group *m = &subnet->groups[i];

		if (m->subnet == s->fabric->topo.ports[source].subnet && has_members(s, m)) {
			*mlid = m->mlid;
			return HD_OK;
		}
	}
	return scenario_refuse(
		s->fabric->scenario, s->d, &s->g->members,
		"group '%s': its members have not joined a group of their own on this fabric",
		s->g->name);
}

/* The tree of packets of `source`: its own, or the shared one. */
static enum hd_status tree_for(struct sending *s, port_id source, lid_t *mlid)
{
	struct subnet *subnet = &s->fabric->subnet;
	bool shared = s->g->tree == MCAST_SHARED;
	lid_t *known = &s->fabric->shared_mlid[s->g - s->fabric->scenario->fabric.groups];
	struct diag inner = { .status = HD_OK };
	const struct mcast_group want = {
		.method = s->g->tree,
		.sl = path_sl(subnet, source, LID_FIRST_MCAST,
			      (uint8_t)scenario_sl(s->fabric->scenario, s->t)),
		.subnet = s->fabric->topo.ports[source].subnet,
		.source = shared ? TOPO_NONE : source,
		.members = s->members.ports,
		.n_members = s->members.n,
	};

	if (!shared || !*known) {
		if (mcast_add(subnet, &want, &inner) != HD_OK)
			return fabric_refuse(s->fabric, s->d, &s->g->tree, "fabric.groups[].tree",
					     &inner);
		*mlid = subnet->groups[subnet->n_groups - 1].mlid;
	}
	if (!shared)
		return HD_OK;
	if (!*known)
		*known = *mlid;
	*mlid = *known;
	/* Who is no member may still send to the group. */
	uint32_t group = 0;

	while (subnet->groups[group].mlid != *mlid || subnet->groups[group].subnet != want.subnet)
		group++;
	if (mcast_admit_sender(subnet, group, source, &inner) != HD_OK)
		return fabric_refuse(s->fabric, s->d, &s->t->source, "traffic[].source", &inner);
	return HD_OK;
}

static enum hd_status add_sender(struct sending *s, port_id source)
{
	struct sim_address *address = fabric_keep(s->fabric, 1, sizeof(*address));
	uint32_t others = s->members.n - s->is_member[source];

	if (others == 0)
		return scenario_refuse(s->fabric->scenario, s->d, &s->t->group,
				       "traffic '%s': group '%s' has no member but '%s' itself",
				       s->t->name, s->g->name, name_of(s, source));
	enum hd_status status = s->fabric->by ? programmed_tree(s, source, &address->dlid)
					      : tree_for(s, source, &address->dlid);

	if (status != HD_OK)
		return status;
	address->target = TOPO_NONE;
	struct sim_flow *f = fabric_add_flow(s->fabric, s->row, source, TOPO_NONE);

	f->to.choice = SIM_TO_FIXED;
	f->to.list = address;
	f->to.n = 1;
	f->copies = others;
	return HD_OK;
}

enum hd_status fabric_build_group(struct fabric *fabric, uint32_t row,
				  const struct selection *sources, struct diag *d)
{
	const struct scenario *scenario = fabric->scenario;
	struct sending s = { .fabric = fabric, .t = &scenario->traffic[row], .row = row, .d = d };
	struct diag inner = { .status = HD_OK };
	struct rng rng;
	enum hd_status status = HD_OK;

	s.g = scenario_group(scenario, s.t->group);
	rng_init(&rng, scenario->run.seed, fabric_stream(STREAM_GROUPS, s.g->name));
	if (select_hosts(fabric->selector, s.g->members, &rng, &inner, &s.members) != HD_OK)
		return fabric_refuse(fabric, d, &s.g->members, "fabric.groups[].members", &inner);
	s.is_member = hd_alloc(fabric->topo.n_ports, sizeof(*s.is_member));
	for (uint32_t i = 0; i < s.members.n; i++)
		s.is_member[s.members.ports[i]] = true;
	for (uint32_t i = 0; i < sources->n && status == HD_OK; i++)
		status = add_sender(&s, sources->ports[i]);
	free(s.is_member);
	selection_fini(&s.members);
	return status;
}

/* ---- may they lock up? --------------------------------------------------- */

/* The group of a flow's destination, or NULL; most groups are in the order of flows. */
static struct mcast_group *group_of(struct subnet *s, uint16_t subnet, lid_t mlid, uint32_t *at)
{
	for (uint32_t i = 0; i < s->n_groups; i++) {
		struct mcast_group *m = &s->groups[*at];

		if (m->mlid == mlid && m->subnet == subnet)
			return m;
		*at = (*at + 1) % s->n_groups;
	}
	return NULL;
}

/* Records the SLs used to send to each group; true: any group has some. */
static bool note_sls(struct fabric *fabric)
{
	uint32_t at = 0;
	bool any = false;

	for (uint32_t i = 0; i < fabric->n_flows && fabric->subnet.n_groups; i++) {
		const struct sim_flow *f = &fabric->flows[i];
		uint32_t port = fabric->setup.nodes[f->source].first_port + 1;
		port_id from = fabric->setup.ports[port].origin;

		if (f->to.n == 0 || f->to.list[0].dlid < LID_FIRST_MCAST)
			continue;
		lid_t mlid = f->to.list[0].dlid;
		struct mcast_group *m =
			group_of(&fabric->subnet, fabric->topo.ports[from].subnet, mlid, &at);

		any |= m != NULL;
		if (m)
			m->more_sls |=
				(uint16_t)(1u << path_sl(&fabric->subnet, from, mlid, f->sl));
	}
	return any;
}

static bool locks_up(const struct subnet *s, enum deadlock_flags flags, struct strbuf *circle)
{
	struct deadlock_check c;

	route_check_deadlock(s, flags, &c);
	for (uint32_t i = 0; i < c.n_cycle; i++) {
		const struct topo_port *p = &s->topo->ports[c.cycle[i].from];

		strbuf_printf(circle, "%s%s port %u, VL %u", i ? "; " : "",
			      s->topo->nodes[p->node].name, p->number, c.cycle[i].vl);
	}
	bool found = c.n_cycle > 0;

	route_deadlock_fini(&c);
	return found;
}

void fabric_check_groups(struct fabric *fabric)
{
	struct strbuf circle = STRBUF_INIT, alone = STRBUF_INIT;

	if (note_sls(fabric) && locks_up(&fabric->subnet, DEADLOCK_PLAIN, &circle) &&
	    !locks_up(&fabric->subnet, DEADLOCK_UNICAST, &alone))
		fabric->circle = strbuf_detach(&circle);
	strbuf_fini(&alone);
	strbuf_fini(&circle);
}
