/* SPDX-License-Identifier: BSD-2-Clause */
/* The multicast forwarding tables of a subnet, and the groups that own rows. */
#include "subnet/multicast/mcast_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

switch_id mcast_home(const struct subnet *s, port_id p)
{
	node_id node = s->topo->ports[p].node;

	return topo_is_switch(s->topo, node) ? s->switch_of_node[node] : subnet_switch_at(s, p);
}

void mcast_clear(struct subnet *s)
{
	for (uint32_t i = 0; i < s->n_groups; i++) {
		free(s->groups[i].members);
		free(s->groups[i].senders);
	}
	s->n_groups = 0;
	for (unsigned i = 0; i < s->n_subnets; i++) {
		free(s->mft[i].ports);
		s->mft[i] = (struct mft){ .ports = NULL };
	}
}

static uint32_t words_of(const struct topo *t)
{
	uint32_t most = 0;

	for (node_id v = 0; v < t->n_nodes; v++) {
		if (topo_is_switch(t, v) && t->nodes[v].n_ports > most)
			most = t->nodes[v].n_ports;
	}
	return most / 64 + 1;
}

void mcast_make_room(struct subnet *s, unsigned subnet, uint32_t n_mlids)
{
	struct mft *m = &s->mft[subnet];

	m->words = words_of(s->topo);
	size_t block = (size_t)s->n_switches * m->words;

	if (n_mlids <= m->n_mlids)
		return;
	m->ports = hd_grow(m->ports, &m->cap, n_mlids, block * sizeof(*m->ports));
	memset(&m->ports[m->n_mlids * block], 0,
	       (n_mlids - m->n_mlids) * block * sizeof(*m->ports));
	m->n_mlids = n_mlids;
}

void mcast_keep(struct subnet *s, const struct mcast_group *m)
{
	s->groups = hd_grow(s->groups, &s->groups_cap, s->n_groups + 1u, sizeof(*s->groups));
	s->groups[s->n_groups++] = *m;
}

/* The end port that port `number` of a switch leads to, or TOPO_NONE. */
static port_id end_behind(const struct subnet *s, switch_id sw, unsigned number)
{
	const struct topo *t = s->topo;
	port_id p = topo_port_of(t, s->node_of_switch[sw], number);

	if (number > 0)
		p = t->ports[p].peer;
	return p != TOPO_NONE && topo_is_end_port(t, p) ? p : TOPO_NONE;
}

static struct mcast_group group_of(const struct subnet *s, unsigned subnet, lid_t mlid)
{
	struct mcast_group m = {
		.method = MCAST_FILE,
		.mlid = mlid,
		.subnet = (uint16_t)subnet,
		.source = TOPO_NONE,
		.root = TOPO_NONE,
	};
	size_t cap = 0;

	for (switch_id sw = 0; sw < s->n_switches; sw++) {
		const uint64_t *row = mft_get(&s->mft[subnet], sw, s->n_switches, mlid);
		unsigned last = switch_node(s, sw)->n_ports;

		for (unsigned n = 0; n <= last; n++) {
			port_id p = mcast_has_port(row, n) ? end_behind(s, sw, n) : TOPO_NONE;

			if (p == TOPO_NONE)
				continue;
			m.members = hd_grow(m.members, &cap, m.n_members + 1u, sizeof(*m.members));
			m.members[m.n_members++] = p;
		}
	}
	return m;
}

void mcast_groups_from_tables(struct subnet *s)
{
	for (unsigned i = 0; i < s->n_subnets; i++) {
		for (uint32_t k = 0; k < s->mft[i].n_mlids; k++) {
			struct mcast_group m = group_of(s, i, (lid_t)(LID_FIRST_MCAST + k));

			if (m.n_members > 0)
				mcast_keep(s, &m);
		}
	}
}

void mcast_drop(struct subnet *s, uint32_t n_groups)
{
	while (s->n_groups > n_groups) {
		struct mcast_group *m = &s->groups[--s->n_groups];

		s->mft[m->subnet].n_mlids--;
		free(m->members);
		free(m->senders);
	}
}

uint32_t mcast_mlids_left(const struct subnet *s, unsigned subnet)
{
	return LID_LAST_MCAST - LID_FIRST_MCAST + 1u - s->mft[subnet].n_mlids;
}

uint64_t mcast_entries(const struct subnet *s, unsigned subnet)
{
	const struct mft *m = &s->mft[subnet];
	uint64_t n = 0;

	for (size_t i = 0; i < (size_t)m->n_mlids * s->n_switches; i++) {
		bool used = false;

		for (uint32_t w = 0; w < m->words; w++)
			used |= m->ports[i * m->words + w] != 0;
		n += used;
	}
	return n;
}

uint64_t *mcast_row(struct subnet *s, const struct mcast_group *m, switch_id sw)
{
	struct mft *t = &s->mft[m->subnet];
	size_t at = (size_t)(m->mlid - LID_FIRST_MCAST) * s->n_switches + sw;

	return &t->ports[at * t->words];
}
