/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "hca/hca_internal.h"

/* ---- where packets to a group end -------------------------------------- */

#define MOST_HOPS 64 /* bound for loops in forwarding tables */

static bool is_cut(const struct sim_setup *s, uint32_t port)
{
	for (uint32_t i = 0; i < s->n_faults; i++)
		if (s->faults[i].kind == SIM_LINK_DOWN &&
		    (s->faults[i].port == port || s->faults[i].port == s->ports[port].peer))
			return true;
	return false;
}

/* Number of places where packets leaving by this port arrive or are lost. */
static uint32_t ends_behind(const struct lab *lab, uint32_t port, lid_t mlid, unsigned hops)
{
	const struct sim_setup *s = &lab->fabric->setup;
	const struct subnet *sub = s->subnet;
	uint32_t in = s->ports[port].peer, n = 0;
	const struct sim_node *node = &s->nodes[s->ports[in].node];

	if (node->kind != SIM_SWITCH || is_cut(s, port) || hops > MOST_HOPS)
		return 1;
	const struct mft *mft = &sub->mft[subnet_of_switch(sub, node->sw)];
	const uint64_t *outs = mft_get(mft, node->sw, sub->n_switches, mlid);

	for (unsigned i = 0; outs && i <= node->n_ports && i < 64 * mft->words; i++) {
		uint32_t out = node->first_port + i;

		if ((outs[i / 64] >> (i % 64) & 1) && out != in && s->ports[out].peer != SIM_NONE)
			n += ends_behind(lab, out, mlid, hops + 1);
	}
	return n || hops == 0 ? n : 1;
}

uint32_t hca_group_ends(const struct v_device *dev, lid_t mlid)
{
	return ends_behind(dev->lab, dev->port, mlid, 0);
}

/* ---- membership --------------------------------------------------------- */

bool hca_group_has(const struct hca_member *m, const struct packet *p)
{
	return m->mlid == p->lrh.dlid && memcmp(m->mgid, p->grh.dgid, sizeof(m->mgid)) == 0;
}

bool hca_group_is_here(const struct v_device *dev, const struct packet *p)
{
	for (size_t i = 0; i < dev->n_members; i++)
		if (hca_group_has(&dev->members[i], p))
			return true;
	return false;
}
