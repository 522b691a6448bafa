/* SPDX-License-Identifier: BSD-2-Clause */
/* The array of nodes: forwarding data of switches and routers, and their input buffers. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/core/nodes.h"
#include "sim/core/voq.h"
#include "sim/domains/domains.h"
#include "sim/routing/routes.h"

/*
 * Whether every LFT entry names a port with a cable, or LFT_NO_PORT. A switch's own LIDs lead to
 * its port 0, which need not have a cable.
 */
static bool lft_is_sound(const struct sim *s, const struct node *n)
{
	bool used[256] = { false };

	for (uint32_t lid = 0; lid < n->lft_len; lid++)
		used[*lft_entry(s, n, (lid_t)lid)] = true;
	for (unsigned out = n->low; out < LFT_NO_PORT; out++) {
		if (used[out] && (out >= n->n_in || !is_plugged(s, n->first_port + out)))
			return false;
	}
	return true;
}

/* The SL2VL row shared by all pairs of the node's ports, or NULL. */
static const uint8_t *common_sl2vl(const struct sim *s, const struct node *n)
{
	const struct sl2vl *common = NULL;

	for (unsigned in = 0; in < n->n_in; in++) {
		if (!is_plugged(s, n->first_port + in))
			continue;
		for (unsigned out = 0; out < n->n_in; out++) {
			if (!is_plugged(s, n->first_port + out))
				continue;
			const struct sl2vl *t = sl2vl_at(s->setup->subnet, n->switch_id, in, out);

			common = common ? common : t;
			if (memcmp(t, common, sizeof(*t)) != 0)
				return NULL;
		}
	}
	return common ? common->vl : NULL;
}

static void ports_survey(const struct sim *s, struct node *n)
{
	for (uint32_t i = 0; i < n->n_in; i++) {
		const struct sim_port *sp = &s->setup->ports[n->first_port + i];

		if (sp->peer == SIM_NONE)
			continue;
		n->enforces = n->enforces || switch_tables_refuse_keys(s, n->first_port + i);
		if (n->vls == 0)
			n->vls = sp->vls;
		else if (n->vls != sp->vls)
			n->vls = UINT8_MAX;
	}
	if (n->vls == UINT8_MAX)
		n->vls = 0;
}

static void forwarding_init(struct sim *s)
{
	const struct subnet *sub = s->setup->subnet;

	assert(sub->lft_stride % LFT_BLOCK_LIDS == 0);
	s->lft = sub->lft;
	if (sub->lft_at)
		return;
	lft_share(lft_rows(sub), sub->n_switches, sub->lft_stride, &s->blocks);
	s->lft = s->blocks.bytes;
}

static const int32_t *forwarding_at(const struct sim *s, switch_id sw)
{
	const struct subnet *sub = s->setup->subnet;

	return (sub->lft_at ? sub->lft_at : s->blocks.at) + (size_t)sw * LFT_BLOCKS;
}

static void node_init(struct sim *s, uint32_t id)
{
	const struct sim_node *sn = &s->setup->nodes[id];
	const struct subnet *sub = s->setup->subnet;
	struct node *n = &s->nodes[id];

	n->kind = (uint8_t)sn->kind;
	n->lft_at = forwarding_at(s, sn->kind == SIM_SWITCH ? sn->sw : 0);
	n->first_port = sn->first_port;
	n->n_in = sn->n_ports + 1;
	if (sn->kind == SIM_END) {
		const struct sim_port *sp = &s->setup->ports[sn->first_port + 1];

		n->vl_of_sl = sl2vl_of(sub, sp->origin)->vl;
		return;
	}
	n->low = !is_plugged(s, n->first_port);
	ports_survey(s, n);
	/* A switch that reduces has one more input, numbered after its ports (S4). */
	uint32_t inputs = n->n_in + (sub->n_aggregations > 0);

	/* A node of 64 ports has 64 inputs, unless port 0 is also an input. */
	s->mode.wide = s->mode.wide || inputs - !has_input_0(s, n->first_port) > 64;
	if (inputs > s->heads.row)
		s->heads.row = inputs;
	if (sn->kind == SIM_ROUTER) {
		return; /* no LFT: not plain */
	}
	n->switch_id = sn->sw;
	n->lft_len = sub->lft_stride;
	n->subnet = sub->topo->ports[sub->topo->nodes[sn->node].first_port].subnet;
	n->vl_of_sl = common_sl2vl(s, n);
	n->uniform = n->vl_of_sl && n->vls && !n->enforces && !s->mode.vls_change;
	n->plain = n->uniform && lft_is_sound(s, n);
}

/* Whether packets of two input VLs can meet on one output VL. */
static bool vls_merge(const struct sim *s)
{
	const uint8_t *common = NULL;

	if (s->mode.vls_change)
		return true;
	for (uint32_t i = 0; i < s->setup->n_nodes; i++) {
		const uint8_t *map = s->nodes[i].vl_of_sl;

		common = common ? common : map;
		if (!map || memcmp(map, common, N_SLS) != 0)
			return true;
	}
	return false;
}

/*
 * SLs need no counters of their own if every used SL has a VL to itself, the same one on all
 * links.
 */
static void sl_counters_init(struct sim *s)
{
	uint32_t taken = 0;
	bool apart = !s->mode.mixes && !s->setup->vl_sharing.on;

	for (unsigned sl = 0; apart && sl < N_SLS; sl++) {
		unsigned vl = s->nodes[0].vl_of_sl[sl];

		if (s->sl_index[sl] == 255)
			continue;
		apart = !(taken >> vl & 1) && vl != VL_MANAGEMENT;
		taken |= 1u << vl;
		s->vl_of_sl[sl] = (uint8_t)vl;
	}
	if (s->rules.port_metrics && (!apart || s->n_vls > s->vl15))
		s->sums.by_sl = domain_alloc_ports(s, (size_t)s->setup->n_ports * s->n_sls,
						   sizeof(*s->sums.by_sl));
}

void voq_grow(struct heads *h)
{
	uint32_t at = h->n;

	assert((size_t)h->n + h->row < NONE);
	h->slots = hd_grow_dense(h->slots, &h->cap, (size_t)at + h->row, sizeof(*h->slots));
	for (; (size_t)h->n + h->row <= h->cap; h->n += h->row) {
		bool is_last = (size_t)h->n + 2 * (size_t)h->row > h->cap;

		h->slots[h->n] = is_last ? h->free : h->n + h->row;
	}
	h->free = at;
}

void switch_nodes_init(struct sim *s)
{
	forwarding_init(s);
	s->nodes = hd_alloc_dense(s->setup->n_nodes, sizeof(*s->nodes));
	for (uint32_t id = 0; id < s->setup->n_nodes; id++)
		node_init(s, id);
	if (s->mode.wide)
		s->words = domain_alloc_ports(s, (size_t)s->setup->n_ports * s->n_vls,
					      4 * sizeof(*s->words));
	s->heads.mask = s->mode.wide ? UINT8_MAX : 63;
	s->heads.free = NONE;
	s->mode.mixes = vls_merge(s);
	/* A shared VL is used on one link only. */
	s->mode.merges = s->mode.fifo && (s->setup->vl_sharing.on || s->mode.mixes);
	sl_counters_init(s);
}

void switch_nodes_fini(struct sim *s)
{
	free(s->nodes);
	free(s->heads.slots);
	free(s->words);
	free(s->blocks.bytes);
	free(s->blocks.at);
}
