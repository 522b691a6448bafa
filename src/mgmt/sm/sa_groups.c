/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mgmt/sm/sm_internal.h"
#include "subnet/multicast/mcast.h"
#include "subnet/routing/order.h"
#include "wire/cursor.h"

/*
 * Multicast groups. A join of a group that does not exist creates it if the request has all
 * required components; the group is deleted with its last member. The IPoIB broadcast group always
 * exists, as in OpenSM.
 */

/* Components of the mask, and offsets in the record. */
enum {
	HAS_MGID,
	HAS_PORT,
	HAS_QKEY,
	HAS_MTU = 4, /* MTU selector; the MTU is the next component */
	HAS_TCLASS = 6,
	HAS_PKEY,
	HAS_RATE,
	HAS_SL = 12,
	HAS_FLOW,
	HAS_JOIN = 16,
};
enum { PORT_GID = 16, QKEY = 32, MLID = 36, MTU = 38, PKEY = 40, RATE = 42, LIFE = 43, SCOPE = 48 };
enum {
	RECORD = 52,
	EXACTLY = 2 << 6,
	MAX_GROUPS = 4096,
	MAX_DELAYED = 1 << 16, /* responses; further joins are answered at once */
};

static struct sa_group *find(const struct sm *m, const uint8_t *mgid)
{
	for (uint32_t i = 0; i < m->n_groups; i++)
		if (memcmp(m->groups[i].record, mgid, 16) == 0)
			return &m->groups[i];
	return NULL;
}

static struct sa_member *find_member(const struct sa_group *g, uint64_t guid)
{
	for (uint32_t i = 0; i < g->n_members; i++)
		if (g->members[i].guid == guid)
			return &g->members[i];
	return NULL;
}

static bool is_mlid_used(const struct sm *m, uint32_t mlid)
{
	for (uint32_t i = 0; i < m->n_groups; i++)
		if (m->groups[i].mlid == mlid)
			return true;
	return false;
}

static struct sa_group *add(struct sm *m, const uint8_t *record)
{
	uint32_t mlid = LID_FIRST_MCAST;

	while (is_mlid_used(m, mlid))
		mlid++;
	if (mlid >= LID_FIRST_MCAST + MAX_GROUPS)
		return NULL;
	m->groups = hd_grow(m->groups, &m->groups_cap, m->n_groups + 1U, sizeof(*m->groups));
	struct sa_group *g = &m->groups[m->n_groups++];

	*g = (struct sa_group){ .mlid = (uint16_t)mlid };
	memcpy(g->record, record, RECORD);
	memset(g->record + PORT_GID, 0, 16);
	g->record[LIFE] = (uint8_t)(EXACTLY | (g->record[LIFE] & 63));
	store_be16(g->record + MLID, g->mlid);
	g->record[SCOPE] &= 0xF0;
	if (mlid - LID_FIRST_MCAST > m->top_mlid)
		m->top_mlid = mlid - LID_FIRST_MCAST;
	return g;
}

void sa_groups_init(struct sm *m)
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
	add(m, record)->permanent = true;
}

void sa_groups_fini(struct sm *m)
{
	for (uint32_t i = 0; i < m->n_groups; i++)
		free(m->groups[i].members);
	free(m->groups);
	free(m->delayed);
}

/* ---- trees */

static port_id port_of(const struct sm *m, uint64_t guid)
{
	const struct subnet *s = sm_plan(m);

	for (port_id p = 0; p < s->topo->n_ports; p++)
		if (s->lid_of_port[p] && order_port_guid(s->topo, p) == guid)
			return p;
	return TOPO_NONE;
}

static void plan_group(struct sm *m, struct subnet *s, struct sa_group *g)
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
	g->tree_mlid = 0;
	if (want.n_members > 0) {
		want.subnet = s->topo->ports[members[0]].subnet;
		if (mcast_add(s, &want, &d) == HD_OK)
			g->tree_mlid = s->groups[s->n_groups - 1].mlid;
		else
			sm_log(m, "group 0x%04x: %s", g->mlid, d.message);
	}
	free(members);
}

void sa_groups_plan(struct sm *m)
{
	struct subnet *s = sm_plan_mutable(m);

	mcast_clear(s);
	for (uint32_t i = 0; i < m->n_groups; i++)
		plan_group(m, s, &m->groups[i]);
	m->n_planned = m->n_delayed;
}

void sa_groups_programmed(struct sm *m)
{
	/* Without a change since the plan, all waiting members are in its trees. */
	uint32_t n = m->groups_changed ? m->n_planned : m->n_delayed;

	for (uint32_t i = 0; i < n; i++)
		m->events.send(m->events.context, &m->delayed[i].to, m->delayed[i].mad, MAD_SIZE,
			       false);
	m->n_delayed -= n;
	m->n_planned = 0;
	if (m->n_delayed > 0)
		memmove(m->delayed, m->delayed + n, m->n_delayed * sizeof(*m->delayed));
}

void sa_groups_delay_response(struct sm *m, const struct mad_address *to, const uint8_t *mad)
{
	m->delayed = hd_grow(m->delayed, &m->delayed_cap, m->n_delayed + 1U, sizeof(*m->delayed));
	struct delayed_response *h = &m->delayed[m->n_delayed++];

	h->to = *to;
	memcpy(h->mad, mad, MAD_SIZE);
}

bool sa_groups_mft_block(const struct sm *m, node_id node, uint32_t block, unsigned position,
			 uint8_t *out)
{
	const struct subnet *s = sm_plan(m);
	switch_id sw = s->switch_of_node[node];
	const struct mft *tables = &s->mft[subnet_of_switch(s, sw)];
	bool any = false;

	memset(out, 0, BLOCK);
	for (uint32_t i = 0; i < m->n_groups; i++) {
		const struct sa_group *g = &m->groups[i];
		uint32_t at = (uint32_t)g->mlid - LID_FIRST_MCAST;
		const uint64_t *ports;

		if (!g->tree_mlid || at / MLIDS_PER_BLOCK != block)
			continue;
		ports = mft_get(tables, sw, s->n_switches, g->tree_mlid);
		if (!ports || position / 4 >= tables->words)
			continue;
		uint16_t bits = (uint16_t)(ports[position / 4] >> 16 * (position % 4));

		store_be16(out + (size_t)2 * (at % MLIDS_PER_BLOCK), bits);
		any |= bits != 0;
	}
	return any;
}

/* ---- records */

static void put_member(struct sa_query *q, const struct sa_group *g, const struct sa_member *member)
{
	uint8_t r[SA_RECORD_MAX] = { 0 };

	memcpy(r, g->record, RECORD);
	if (member) {
		store_be64(r + PORT_GID, GID_LINK_LOCAL);
		store_be64(r + PORT_GID + 8, member->guid);
		r[SCOPE] |= member->state;
	}
	sa_query_add(q, r);
}

/*
 * One record per member. A group without members, or an untrusted request without PortGID, gets one
 * record of the group.
 */
void sa_groups_each(struct sa_query *q)
{
	const struct sm *m = q->manager;

	for (uint32_t i = 0; i < m->n_groups; i++) {
		const struct sa_group *g = &m->groups[i];

		bool show_members = q->is_trusted || sa_query_has(q, HAS_PORT);

		for (uint32_t k = 0; k < g->n_members && show_members; k++)
			put_member(q, g, &g->members[k]);
		if (g->n_members == 0 || !show_members)
			put_member(q, g, NULL);
	}
}

static uint16_t leave(struct sa_query *q, struct sa_group *g, struct sa_member *member,
		      uint8_t state)
{
	struct sm *m = q->manager;
	uint8_t r[SA_RECORD_MAX] = { 0 };

	/* All states that are left must be held (o15-0.1.14). */
	if (!g || !member || state == 0 || (member->state & state) != state)
		return SA_INVALID;
	memcpy(r, g->record, RECORD);
	memcpy(r + PORT_GID, q->data + PORT_GID, 16);
	member->state &= (uint8_t)~state;
	r[SCOPE] |= member->state;
	sa_query_add_unchecked(q, r);
	m->groups_changed = true;
	if (member->state)
		return 0;
	*member = g->members[--g->n_members];
	if (g->n_members == 0 && !g->permanent) {
		free(g->members);
		*g = m->groups[--m->n_groups];
	}
	return 0;
}

static bool can_create(const struct sa_query *q)
{
	static const unsigned needed[] = { HAS_QKEY, HAS_TCLASS, HAS_PKEY, HAS_SL, HAS_FLOW };

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!sa_query_has(q, needed[i]))
			return false;
	return true;
}

/* Of the port with that GUID, or NULL. */
static const uint8_t *port_info_of(const struct sm *m, uint64_t guid)
{
	for (uint32_t i = 0; i < m->found.n; i++) {
		const struct found_node *n = &m->found.nodes[i];

		for (unsigned p = n->is_switch ? 0 : 1; p <= (n->is_switch ? 0U : n->n_ports); p++)
			if ((n->is_switch ? n->guid : n->ports[p].guid) == guid &&
			    n->ports[p].answered)
				return n->ports[p].info;
	}
	return NULL;
}

/* An MGID that a request may name (o15-0.1.5). IPoIB has its own. */
static bool is_valid_mgid(const uint8_t *mgid)
{
	enum { IPOIB_4 = 0x401B, IPOIB_6 = 0x601B, OF_SA = 0xA01B, LINK_LOCAL = 2 };
	unsigned signature = load_be16(mgid + 2);

	if (mgid[0] != 0xFF)
		return false;
	if (signature == IPOIB_4 || signature == IPOIB_6)
		return true;
	return !(mgid[1] & 0xE0) && !(signature == OF_SA && (mgid[1] & 15) == LINK_LOCAL);
}

/* An MGID of no group, for a request without one. */
static void assign_mgid(struct sm *m, uint8_t *mgid)
{
	static const uint8_t head[] = { 0xFF, 0x12, 0xA0, 0x1B };

	do {
		memset(mgid, 0, 16);
		memcpy(mgid, head, sizeof(head));
		store_be32(mgid + 12, m->n_assigned_mgids++);
	} while (find(m, mgid));
}

/* The MTU or rate of a new group; false if the port cannot have what is requested. */
static bool choose(const struct sa_query *q, enum sa_quantity quantity, unsigned component,
		   uint8_t port_code, uint8_t *field)
{
	unsigned how = *field >> 6, code = *field & 63;

	if (!sa_query_has(q, component) || !sa_query_has(q, component + 1) || how == SA_LARGEST)
		code = port_code;
	else if (sa_rank(quantity, code) == 0)
		return false;
	else if (how == SA_GREATER)
		code = sa_rank(quantity, code) < sa_rank(quantity, port_code) ? port_code : 0;
	else if (how == SA_LESS)
		code = sa_rank(quantity, code) > sa_rank(quantity, port_code)
			       ? port_code
			       : sa_code_below(quantity, code);
	*field = (uint8_t)(EXACTLY | code);
	return sa_rank(quantity, code) != 0;
}

/* Whether a group has the MTU or rate that a request selects, and the port can have it. */
static bool agrees(const struct sa_query *q, enum sa_quantity quantity, unsigned component,
		   unsigned at, const struct sa_group *g, uint8_t port_code)
{
	unsigned has = sa_rank(quantity, g->record[at] & 63);
	unsigned wants = sa_rank(quantity, q->data[at] & 63);

	/* The broadcast group, whose values are defaults, takes slower ports, too. */
	if (sa_rank(quantity, port_code) < has && !g->permanent)
		return false;
	if (!sa_query_has(q, component))
		return true;
	switch (q->data[at] >> 6) {
	case SA_GREATER:
		return has > wants;
	case SA_LESS:
		return has < wants;
	case SA_EXACTLY:
		return has == wants;
	default:
		return true;
	}
}

static uint16_t create(struct sa_query *q, const uint8_t *info, struct sa_group **out)
{
	static const uint8_t none[16];
	struct sm *m = q->manager;
	uint8_t record[RECORD];

	if (!(q->data[SCOPE] & 1))
		return SA_INVALID;
	if (!can_create(q))
		return SA_INSUFFICIENT;
	memcpy(record, q->data, RECORD);
	if (memcmp(record, none, sizeof(none)) == 0)
		assign_mgid(m, record);
	else if (!is_valid_mgid(record))
		return SA_INVALID;
	if (!choose(q, SA_MTU, HAS_MTU, sa_port_code(m, info, SA_MTU), &record[MTU]) ||
	    !choose(q, SA_RATE, HAS_RATE, sa_port_code(m, info, SA_RATE), &record[RATE]))
		return SA_INVALID;
	*out = add(m, record);
	return *out ? 0 : SA_INVALID;
}

static uint16_t join(struct sa_query *q, struct sa_group *g, uint64_t guid, uint8_t state)
{
	struct sm *m = q->manager;
	struct sa_member *member;
	const uint8_t *info = port_info_of(m, guid);
	uint16_t status = 0;

	if (state == 0 || port_of(m, guid) == TOPO_NONE || !info)
		return SA_INVALID;
	if (!g)
		status = create(q, info, &g);
	else if (!agrees(q, SA_MTU, HAS_MTU, MTU, g, sa_port_code(m, info, SA_MTU)) ||
		 !agrees(q, SA_RATE, HAS_RATE, RATE, g, sa_port_code(m, info, SA_RATE)))
		status = SA_INVALID;
	if (status)
		return status;
	member = find_member(g, guid);
	if (!member) {
		g->members = hd_grow(g->members, &g->members_cap, g->n_members + 1U,
				     sizeof(*g->members));
		member = &g->members[g->n_members++];
		*member = (struct sa_member){ .guid = guid };
	}
	m->groups_changed |= (member->state | state) != member->state;
	member->state |= state;
	/* A repeated join waits as the first one does. */
	q->is_delayed = (m->groups_changed || m->n_delayed > 0) && m->n_delayed < MAX_DELAYED;
	uint8_t r[SA_RECORD_MAX] = { 0 };

	memcpy(r, g->record, RECORD);
	memcpy(r + PORT_GID, q->data + PORT_GID, 16);
	r[SCOPE] |= member->state;
	sa_query_add_unchecked(q, r);
	return 0;
}

uint16_t sa_groups_change(struct sa_query *q)
{
	struct sa_group *g = find(q->manager, q->data);
	uint64_t guid = load_be64(q->data + PORT_GID + 8);
	uint8_t state = q->data[SCOPE] & 15;

	if (!sa_query_has(q, HAS_MGID) || !sa_query_has(q, HAS_PORT) || !sa_query_has(q, HAS_JOIN))
		return SA_INSUFFICIENT;
	if (q->mad[MAD_METHOD] == MAD_DELETE)
		return leave(q, g, g ? find_member(g, guid) : NULL, state);
	return join(q, g, guid, state);
}
