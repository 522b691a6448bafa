/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mgmt/sm/sa.h"
#include "subnet/multicast/mcast.h"
#include "subnet/routing/order.h"
#include "wire/cursor.h"

/*
 * Multicast groups: whoever joins one that is not there makes it, if he says
 * what it is to be like; it goes with its last member. The one that IPoIB
 * needs is there from the beginning, as OpenSM has it.
 */

/* Components of a mask, and where things stand in a record. */
enum { BY_MGID, BY_PORT, BY_QKEY, BY_TCLASS = 6, BY_PKEY, BY_SL = 12, BY_JOIN = 16 };
enum { PORT_GID = 16, QKEY = 32, MLID = 36, MTU = 38, PKEY = 40, RATE = 42, LIFE = 43, SCOPE = 48 };
enum {
	RECORD = 52,
	EXACTLY = 2 << 6,
	MOST_GROUPS = 4096,
	MOST_HELD = 1 << 16, /* answers: beyond them nobody is made to wait */
};

static struct group *find(const struct manager *m, const uint8_t *mgid)
{
	for (uint32_t i = 0; i < m->n_groups; i++)
		if (memcmp(m->groups[i].record, mgid, 16) == 0)
			return &m->groups[i];
	return NULL;
}

static struct member *member_of(const struct group *g, uint64_t guid)
{
	for (uint32_t i = 0; i < g->n_members; i++)
		if (g->members[i].guid == guid)
			return &g->members[i];
	return NULL;
}

static bool is_used(const struct manager *m, uint32_t mlid)
{
	for (uint32_t i = 0; i < m->n_groups; i++)
		if (m->groups[i].mlid == mlid)
			return true;
	return false;
}

static struct group *add(struct manager *m, const uint8_t *record)
{
	uint32_t mlid = LID_FIRST_MCAST;

	while (is_used(m, mlid))
		mlid++;
	if (mlid >= LID_FIRST_MCAST + MOST_GROUPS)
		return NULL;
	m->groups = hd_grow(m->groups, &m->groups_cap, m->n_groups + 1U, sizeof(*m->groups));
	struct group *g = &m->groups[m->n_groups++];

	*g = (struct group){ .mlid = (uint16_t)mlid };
	memcpy(g->record, record, RECORD);
	memset(g->record + PORT_GID, 0, 16);
	store_be16(g->record + MLID, g->mlid);
	g->record[SCOPE] &= 0xF0;
	if (mlid - LID_FIRST_MCAST > m->top_mlid)
		m->top_mlid = mlid - LID_FIRST_MCAST;
	return g;
}

void groups_init(struct manager *m)
{
	enum { MTU_2048 = 4, RATE_10 = 3 };
	static const uint8_t broadcast[16] = { 0xFF, 0x12, 0x40, 0x1B, 0xFF, 0xFF, 0,    0,
					       0,    0,    0,    0,    0xFF, 0xFF, 0xFF, 0xFF };
	uint8_t record[RECORD] = { 0 };

	memcpy(record, broadcast, sizeof(broadcast));
	store_be32(record + QKEY, 0x0B1B);
	record[MTU] = EXACTLY | MTU_2048;
	store_be16(record + PKEY, PKEY_DEFAULT);
	record[RATE] = EXACTLY | RATE_10;
	record[LIFE] = EXACTLY | SA_LIFE_TIME;
	record[SCOPE] = 0x20;
	add(m, record)->stays = true;
}

void groups_fini(struct manager *m)
{
	for (uint32_t i = 0; i < m->n_groups; i++)
		free(m->groups[i].members);
	free(m->groups);
	free(m->held);
}

/* ---- their trees */

static port_id port_of(const struct manager *m, uint64_t guid)
{
	const struct subnet *s = planned_now(m);

	for (port_id p = 0; p < s->topo->n_ports; p++)
		if (s->lid_of_port[p] && port_guid(s->topo, p) == guid)
			return p;
	return TOPO_NONE;
}

static void plan_group(struct manager *m, struct subnet *s, struct group *g)
{
	port_id *members = hd_alloc(g->n_members + 1U, sizeof(*members));
	struct mcast_group want = { .method = MCAST_SHARED,
				    .source = TOPO_NONE,
				    .members = members };
	struct diag d = { .status = HD_OK };

	for (uint32_t i = 0; i < g->n_members; i++) {
		port_id p = port_of(m, g->members[i].guid);

		if (p != TOPO_NONE && topo_is_end_port(s->topo, p))
			members[want.n_members++] = p;
	}
	g->planned = 0;
	if (want.n_members > 0) {
		want.subnet = s->topo->ports[members[0]].subnet;
		if (mcast_add(s, &want, &d) == HD_OK)
			g->planned = s->groups[s->n_groups - 1].mlid;
		else
			manager_say(m, "group 0x%04x: %s", g->mlid, d.message);
	}
	free(members);
}

void groups_plan(struct manager *m)
{
	struct subnet *s = planned_tables(m);

	mcast_clear(s);
	for (uint32_t i = 0; i < m->n_groups; i++)
		plan_group(m, s, &m->groups[i]);
	m->n_planned = m->n_held;
}

void groups_programmed(struct manager *m)
{
	/* If nobody came or went since that plan, it has all who wait. */
	uint32_t n = m->regroup ? m->n_planned : m->n_held;

	for (uint32_t i = 0; i < n; i++)
		m->events.send(m->events.context, &m->held[i].to, m->held[i].mad, MAD_SIZE, false);
	m->n_held -= n;
	m->n_planned = 0;
	if (m->n_held > 0)
		memmove(m->held, m->held + n, m->n_held * sizeof(*m->held));
}

void groups_hold(struct manager *m, const struct mad_address *to, const uint8_t *mad)
{
	m->held = hd_grow(m->held, &m->held_cap, m->n_held + 1U, sizeof(*m->held));
	struct held *h = &m->held[m->n_held++];

	h->to = *to;
	memcpy(h->mad, mad, MAD_SIZE);
}

bool groups_block(const struct manager *m, node_id node, uint32_t block, unsigned position,
		  uint8_t *out)
{
	const struct subnet *s = planned_now(m);
	switch_id sw = s->switch_of_node[node];
	const struct mft *tables = &s->mft[subnet_of_switch(s, sw)];
	bool any = false;

	memset(out, 0, BLOCK);
	for (uint32_t i = 0; i < m->n_groups; i++) {
		const struct group *g = &m->groups[i];
		uint32_t at = (uint32_t)g->mlid - LID_FIRST_MCAST;
		const uint64_t *ports;

		if (!g->planned || at / MLIDS_PER_BLOCK != block)
			continue;
		ports = mft_get(tables, sw, s->n_switches, g->planned);
		if (!ports || position / 4 >= tables->words)
			continue;
		uint16_t bits = (uint16_t)(ports[position / 4] >> 16 * (position % 4));

		store_be16(out + (size_t)2 * (at % MLIDS_PER_BLOCK), bits);
		any |= bits != 0;
	}
	return any;
}

/* ---- records */

static void put_member(struct query *q, const struct group *g, const struct member *member)
{
	uint8_t r[SA_MOST] = { 0 };

	memcpy(r, g->record, RECORD);
	if (member) {
		store_be64(r + PORT_GID, GID_LINK_LOCAL);
		store_be64(r + PORT_GID + 8, member->guid);
		r[SCOPE] |= member->state;
	}
	query_put(q, r);
}

/*
 * A record per member; a group that has none has one itself, and so it has for
 * those who are not to know its members, unless they name one.
 */
void groups_each(struct query *q)
{
	const struct manager *m = q->manager;

	for (uint32_t i = 0; i < m->n_groups; i++) {
		const struct group *g = &m->groups[i];

		bool shown = q->is_trusted || query_has(q, BY_PORT);

		for (uint32_t k = 0; k < g->n_members && shown; k++)
			put_member(q, g, &g->members[k]);
		if (g->n_members == 0 || !shown)
			put_member(q, g, NULL);
	}
}

static uint16_t leave(struct query *q, struct group *g, struct member *member, uint8_t state)
{
	struct manager *m = q->manager;
	uint8_t r[SA_MOST] = { 0 };

	if (!g || !member || !(member->state & state))
		return SA_INVALID;
	memcpy(r, g->record, RECORD);
	memcpy(r + PORT_GID, q->data + PORT_GID, 16);
	member->state &= (uint8_t)~state;
	r[SCOPE] |= member->state;
	query_put_anyway(q, r);
	m->regroup = true;
	if (member->state)
		return 0;
	*member = g->members[--g->n_members];
	if (g->n_members == 0 && !g->stays) {
		free(g->members);
		*g = m->groups[--m->n_groups];
	}
	return 0;
}

static bool says_enough(const struct query *q)
{
	static const unsigned needed[] = { BY_QKEY, BY_TCLASS, BY_PKEY, BY_SL };

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!query_has(q, needed[i]))
			return false;
	return true;
}

static uint16_t join(struct query *q, struct group *g, uint64_t guid, uint8_t state)
{
	struct manager *m = q->manager;
	struct member *member;

	if (state == 0 || port_of(m, guid) == TOPO_NONE)
		return SA_INVALID;
	if (!g) {
		if (!says_enough(q) || !(state & 1))
			return SA_INSUFFICIENT;
		g = add(m, q->data);
		if (!g)
			return SA_INVALID;
	}
	member = member_of(g, guid);
	if (!member) {
		g->members = hd_grow(g->members, &g->members_cap, g->n_members + 1U,
				     sizeof(*g->members));
		member = &g->members[g->n_members++];
		*member = (struct member){ .guid = guid };
	}
	m->regroup |= (member->state | state) != member->state;
	member->state |= state;
	/* Somebody who says it again waits as long as he did before. */
	q->waits = (m->regroup || m->n_held > 0) && m->n_held < MOST_HELD;
	uint8_t r[SA_MOST] = { 0 };

	memcpy(r, g->record, RECORD);
	memcpy(r + PORT_GID, q->data + PORT_GID, 16);
	r[SCOPE] |= member->state;
	query_put_anyway(q, r);
	return 0;
}

uint16_t groups_change(struct query *q)
{
	struct group *g = find(q->manager, q->data);
	uint64_t guid = load_be64(q->data + PORT_GID + 8);
	uint8_t state = q->data[SCOPE] & 15;

	if (!query_has(q, BY_MGID) || !query_has(q, BY_PORT) || !query_has(q, BY_JOIN))
		return SA_INSUFFICIENT;
	if (q->mad[MAD_METHOD] == MAD_DELETE)
		return leave(q, g, g ? member_of(g, guid) : NULL, state);
	return join(q, g, guid, state);
}
