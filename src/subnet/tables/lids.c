/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/memory.h"
#include "subnet/multicast/mcast.h"
#include "subnet/routing/graph.h"
#include "subnet/routing/grid.h"
#include "subnet/routing/order.h"
#include "subnet/routing/router.h"
#include "subnet/routing/share.h"

struct assignment {
	struct subnet *s;
	const struct lid_options *o;
	struct diag *d;
};

static const char *name_of(const struct subnet *s, port_id p)
{
	return topo_node_of(s->topo, p)->name;
}

/* Number of LIDs of a port, as a power of two. */
static unsigned lmc_for(const struct assignment *a, port_id p)
{
	if (!topo_is_end_port(a->s->topo, p))
		return 0;
	/* OpenSM gives switches one LID unless lmc_esp0 is set. */
	if (topo_is_switch(a->s->topo, a->s->topo->ports[p].node) && a->o->order == LIDS_OPENSM)
		return 0;
	return a->o->lmc;
}

static enum hd_status give(const struct assignment *a, port_id p, uint32_t lid, unsigned lmc)
{
	struct subnet *s = a->s;
	const struct topo_port *port = &s->topo->ports[p];
	port_id *owner = s->port_of_lid[port->subnet];
	uint32_t last = lid + (1u << lmc) - 1;

	if (last > LID_MAX_UNICAST)
		return diag_fail(a->d, HD_ERR_FULL,
				 "the unicast LIDs (1 to %u) do not suffice for '%s' port %u",
				 LID_MAX_UNICAST, name_of(s, p), port->number);
	for (uint32_t i = lid; i <= last; i++) {
		if (owner[i] != TOPO_NONE)
			return diag_fail_at(a->d, HD_ERR_INPUT, port->line, 0,
					    "LID %u of '%s' port %u is also that of '%s'", i,
					    name_of(s, p), port->number, name_of(s, owner[i]));
		owner[i] = p;
	}
	s->lid_of_port[p] = (lid_t)lid;
	s->lmc_of_port[p] = (uint8_t)lmc;
	if (last > s->top_lid[port->subnet])
		s->top_lid[port->subnet] = (lid_t)last;
	return HD_OK;
}

/* Gives the ports of `list` the next free LIDs, each aligned to its LMC. */
static enum hd_status give_in_turn(const struct assignment *a, const port_id *list, uint32_t n)
{
	uint32_t *next = hd_alloc(a->s->n_subnets, sizeof(*next));
	enum hd_status status = HD_OK;

	for (uint32_t i = 0; i < n && status == HD_OK; i++) {
		unsigned lmc = lmc_for(a, list[i]);
		uint32_t *free_lid = &next[a->s->topo->ports[list[i]].subnet];
		uint32_t step = 1u << lmc;
		uint32_t lid = *free_lid ? *free_lid : 1;

		lid = (lid + step - 1) & ~(step - 1);
		status = give(a, list[i], lid, lmc);
		*free_lid = lid + step;
	}
	free(next);
	return status;
}

port_id subnet_manager_port(const struct topo *t, unsigned subnet)
{
	port_id least = TOPO_NONE;

	for (port_id p = 0; p < t->n_ports; p++) {
		if (t->ports[p].subnet == subnet && topo_is_end_port(t, p) &&
		    (least == TOPO_NONE || t->ports[p].guid < t->ports[least].guid))
			least = p;
	}
	return least;
}

/* The first port of each subnet, which would host its subnet manager. */
static void managers_first(const struct assignment *a, port_id *list, uint32_t n)
{
	const struct topo *t = a->s->topo;
	uint32_t n_first = 0;

	for (unsigned sub = 0; sub < a->s->n_subnets; sub++) {
		port_id sm = a->o->sm_port;

		if (sm == TOPO_NONE || t->ports[sm].subnet != sub)
			sm = subnet_manager_port(t, sub);
		for (uint32_t i = n_first; i < n; i++) {
			if (list[i] != sm)
				continue;
			memmove(&list[n_first + 1], &list[n_first], (i - n_first) * sizeof(*list));
			list[n_first++] = sm;
			break;
		}
	}
}

static enum hd_status assign_kept(const struct assignment *a, const port_id *list, uint32_t n)
{
	const struct topo *t = a->s->topo;

	for (uint32_t i = 0; i < n; i++) {
		const struct topo_port *p = &t->ports[list[i]];

		if (p->lid == 0 || p->lid > LID_MAX_UNICAST)
			return diag_fail_at(a->d, HD_ERR_INPUT, p->line, 0,
					    "'%s' port %u has no unicast LID",
					    name_of(a->s, list[i]), p->number);
		if (p->lmc > 7 || (p->lid & ((1u << p->lmc) - 1)))
			return diag_fail_at(a->d, HD_ERR_INPUT, p->line, 0,
					    "LID %u of '%s' port %u is not aligned to its LMC %u",
					    p->lid, name_of(a->s, list[i]), p->number, p->lmc);
		if (give(a, list[i], p->lid, p->lmc) != HD_OK)
			return a->d->status;
	}
	return HD_OK;
}

/* lid = x * rows + y + 1 for hosts; where a switch has several, in blocks. */
static enum hd_status assign_paper(const struct assignment *a)
{
	struct subnet *s = a->s;
	struct sw_graph g;
	struct grid grid;
	port_id *list = hd_alloc(s->topo->n_ports, sizeof(*list));

	graph_init(&g, s);
	enum hd_status status = grid_init(&grid, s, &g, a->d);

	if (status == HD_OK && grid.n_dims != 2)
		status = diag_fail(
			a->d, HD_ERR_UNFIT,
			"the column order of LIDs needs a mesh of 2 dimensions, this one has %u",
			grid.n_dims);
	if (status == HD_OK) {
		uint32_t n = grid_column_order(&grid, s, list);

		status = give_in_turn(a, list, n);
	}
	grid_fini(&grid);
	graph_fini(&g);
	free(list);
	return status;
}

static enum hd_status assign(const struct assignment *a)
{
	port_id *list = hd_alloc(a->s->topo->n_ports, sizeof(*list));
	enum hd_status status;
	uint32_t n;

	switch (a->o->order) {
	case LIDS_OPENSM:
		n = order_ports_by_guid(a->s, list);
		managers_first(a, list, n);
		status = give_in_turn(a, list, n);
		break;
	case LIDS_PAPER:
		status = assign_paper(a);
		break;
	case LIDS_KEEP:
		n = order_ports_by_node(a->s, list);
		status = assign_kept(a, list, n);
		break;
	case LIDS_NODES:
	default:
		n = order_ports_by_node(a->s, list);
		status = give_in_turn(a, list, n);
		break;
	}
	free(list);
	return status;
}

static void forget_lids(struct subnet *s)
{
	memset(s->lid_of_port, 0, s->topo->n_ports * sizeof(*s->lid_of_port));
	memset(s->lmc_of_port, 0, s->topo->n_ports * sizeof(*s->lmc_of_port));
	for (unsigned i = 0; i < s->n_subnets; i++) {
		memset(s->port_of_lid[i], 0xFF, (LID_MAX_UNICAST + 1) * sizeof(port_id));
		s->top_lid[i] = 0;
	}
	mcast_clear(s);
	subnet_forget_sls(s);
	s->engine = NULL;
	free(s->lft);
	free(s->lft_at);
	s->lft = NULL;
	s->lft_at = NULL;
	s->lft_stride = 0;
}

enum hd_status subnet_assign_lids(struct subnet *s, const struct lid_options *o, struct diag *d)
{
	struct assignment a = { s, o, d };
	uint32_t top = 0;

	memory_for("forwarding tables");
	forget_lids(s);
	enum hd_status status = assign(&a);

	if (status != HD_OK) {
		forget_lids(s);
		return status;
	}
	for (unsigned i = 0; i < s->n_subnets; i++)
		top = s->top_lid[i] > top ? s->top_lid[i] : top;
	s->lft_stride = (top / LFT_BLOCK_LIDS + 1) * LFT_BLOCK_LIDS;
	lft_clear(s);
	if (!o->shares)
		subnet_own(s);
	subnet_router_tables_init(s);
	return HD_OK;
}

/* The host on which the file was probably created. */
static port_id discovered_from(const struct topo *t)
{
	for (port_id p = 0; t->source.from_port && p < t->n_ports; p++) {
		if (topo_is_end_port(t, p) && t->ports[p].guid == t->source.from_port)
			return p;
	}
	return TOPO_NONE;
}

/* True if the file gave every port that needs one a LID. */
static bool has_lids(const struct topo *t)
{
	for (port_id p = 0; p < t->n_ports; p++) {
		bool wants = topo_is_end_port(t, p) ||
			     (t->ports[p].number == 0 && topo_is_switch(t, t->ports[p].node));

		if (wants && t->ports[p].lid == 0)
			return false;
	}
	return true;
}

struct lid_options lid_options_for(const struct topo *t, unsigned lmc)
{
	return (struct lid_options){
		.order = has_lids(t) && lmc == 0 ? LIDS_KEEP : LIDS_OPENSM,
		.lmc = lmc,
		.sm_port = discovered_from(t),
	};
}
