/* SPDX-License-Identifier: BSD-2-Clause */
#include "mgmt/sm/sm_internal.h"

#include <string.h>

#include "wire/cursor.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- matching */

static bool is_equal(const struct sa_component *c, const uint8_t *a, const uint8_t *b)
{
	struct field f = { .name = "", .offset = c->offset, .width = c->width };

	if (c->width > 64)
		return memcmp(a + c->offset / 8, b + c->offset / 8, c->width / 8U) == 0;
	return c->width == 0 || field_get(&f, a) == field_get(&f, b);
}

/*
 * PortInfoRecord with the top bit of the modifier: CapabilityMask matches if all requested bits are
 * set.
 */
static bool has_capabilities(const struct sa_query *q, unsigned component, const uint8_t *record)
{
	enum { CAP_MASK_COMPONENT = 7, CAP_MASK = 24 };
	uint32_t requested = load_be32(q->data + CAP_MASK);

	return q->kind->attribute == ATTR_PORT_INFO_RECORD && component == CAP_MASK_COMPONENT &&
	       load_be32(q->mad + MAD_MODIFIER) >> 31 &&
	       (load_be32(record + CAP_MASK) & requested) == requested;
}

void sa_query_add_unchecked(struct sa_query *q, const uint8_t *record)
{
	static const char zeros[8];
	size_t size = q->kind->size;

	strbuf_add(&q->out, (const char *)record, size);
	strbuf_add(&q->out, zeros, -size % 8);
	q->n++;
}

bool sa_query_matches(const struct sa_query *q, const uint8_t *record)
{
	for (unsigned i = 0; i < q->kind->n_components; i++)
		if (sa_query_has(q, i) && !is_equal(&q->kind->components[i], record, q->data) &&
		    !has_capabilities(q, i, record))
			return false;
	return true;
}

void sa_query_add(struct sa_query *q, const uint8_t *record)
{
	if (sa_query_matches(q, record))
		sa_query_add_unchecked(q, record);
}

/* An adapter's record matches whatever port the request names, as in OpenSM. */
static void add_ignoring(struct sa_query *q, const struct found_node *n, uint64_t ports,
			 const uint8_t *record)
{
	uint64_t mask = q->mask;

	if (!n->is_switch)
		q->mask &= ~ports;
	sa_query_add(q, record);
	q->mask = mask;
}

/* ---- records of nodes and ports */

/* All ports with a LID; with `all`, also the external ports of switches. */
static void each_port(struct sa_query *q, bool all,
		      void (*put)(struct sa_query *q, const struct found_node *n, unsigned port,
				  lid_t lid))
{
	const struct sm_discovery *s = &q->manager->found;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct found_node *n = &s->nodes[i];

		for (unsigned p = n->is_switch ? 0 : 1; p <= n->n_ports; p++) {
			lid_t lid = sm_lid_of(q->manager, n, p);

			if (lid && n->ports[p].answered && (all || !n->is_switch || p == 0))
				put(q, n, p, lid);
		}
	}
}

static void put_node(struct sa_query *q, const struct found_node *n, unsigned port, lid_t lid)
{
	uint8_t r[SA_RECORD_MAX] = { 0 };

	store_be16(r, lid);
	memcpy(r + 4, n->info, NODE_INFO_SIZE);
	if (!n->is_switch)
		store_be64(r + 4 + 20, n->ports[port].guid);
	r[4 + 36] = (uint8_t)port;
	memcpy(r + 44, n->name, BLOCK);
	sa_query_add(q, r);
}

static void nodes_each(struct sa_query *q)
{
	each_port(q, false, put_node);
}

static void put_port(struct sa_query *q, const struct found_node *n, unsigned port, lid_t lid)
{
	uint8_t r[SA_RECORD_MAX] = { 0 };

	store_be16(r, lid);
	r[2] = (uint8_t)port;
	memcpy(r + 4, n->ports[port].info, BLOCK);
	if (!sa_query_matches(q, r))
		return;
	if (!q->is_trusted)
		memset(r + 4, 0, 8); /* M_Key */
	sa_query_add_unchecked(q, r);
}

static void ports_each(struct sa_query *q)
{
	each_port(q, true, put_port);
}

static void put_guids(struct sa_query *q, const struct found_node *n, unsigned port, lid_t lid)
{
	uint8_t r[SA_RECORD_MAX] = { 0 };

	store_be16(r, lid);
	store_be64(r + 8, n->is_switch ? n->guid : n->ports[port].guid);
	sa_query_add(q, r);
}

static void guids_each(struct sa_query *q)
{
	each_port(q, false, put_guids);
}

static void put_switch(struct sa_query *q, const struct found_node *n, unsigned port, lid_t lid)
{
	uint8_t r[SA_RECORD_MAX] = { 0 };

	(void)port;
	store_be16(r, lid);
	memcpy(r + 4, n->switch_info, SWITCH_INFO_SIZE);
	if (n->is_switch)
		sa_query_add(q, r);
}

static void switches_each(struct sa_query *q)
{
	each_port(q, false, put_switch);
}

/* ---- records of tables */

static void put_lft(struct sa_query *q, const struct found_node *n, unsigned port, lid_t lid)
{
	const struct subnet *s = sm_plan(q->manager);
	uint8_t r[SA_RECORD_MAX] = { 0 };

	(void)port;
	if (!n->is_switch)
		return;
	switch_id sw = s->switch_of_node[sm_plan_node(q->manager, n)];

	store_be16(r, lid);
	for (uint32_t b = 0; b <= s->top_lid[subnet_of_switch(s, sw)] / BLOCK; b++) {
		store_be16(r + 2, (uint16_t)b);
		for (unsigned i = 0; i < BLOCK; i++)
			r[8 + i] = lft_get(s, sw, (lid_t)(b * BLOCK + i));
		sa_query_add(q, r);
	}
}

static void lfts_each(struct sa_query *q)
{
	each_port(q, false, put_lft);
}

static void put_mft(struct sa_query *q, const struct found_node *n, unsigned port, lid_t lid)
{
	struct sm *m = q->manager;

	(void)port;
	if (!n->is_switch)
		return;
	for (uint32_t b = 0; b <= m->top_mlid / MLIDS_PER_BLOCK; b++)
		for (unsigned at = 0; at <= n->n_ports / 16U; at++) {
			uint8_t r[SA_RECORD_MAX] = { 0 };

			store_be16(r, lid);
			store_be16(r + 2, (uint16_t)(at << 12 | b));
			if (sa_groups_mft_block(m, sm_plan_node(m, n), b, at, r + 8))
				sa_query_add(q, r);
		}
}

static void mfts_each(struct sa_query *q)
{
	each_port(q, false, put_mft);
}

static void put_sl2vl(struct sa_query *q, const struct found_node *n, unsigned port, lid_t lid)
{
	const struct subnet *s = sm_plan(q->manager);
	node_id v = sm_plan_node(q->manager, n);

	for (unsigned in = 0; in <= (n->is_switch ? n->n_ports : 0U); in++) {
		const struct sl2vl *t = n->is_switch ? sl2vl_at(s, s->switch_of_node[v], in, port)
						     : sl2vl_of(s, topo_port_of(s->topo, v, port));
		uint8_t r[SA_RECORD_MAX] = { 0 };

		store_be16(r, lid);
		r[2] = (uint8_t)in;
		r[3] = (uint8_t)(n->is_switch ? port : 0);
		for (unsigned sl = 0; sl < N_SLS; sl++)
			r[8 + sl / 2] |= (uint8_t)(t->vl[sl] << (sl % 2 ? 0 : 4));
		add_ignoring(q, n, 1 << 1 | 1 << 2, r);
	}
}

static void sl2vls_each(struct sa_query *q)
{
	each_port(q, true, put_sl2vl);
}

static void put_vlarb(struct sa_query *q, const struct found_node *n, unsigned port, lid_t lid)
{
	const struct subnet *s = sm_plan(q->manager);
	const struct vlarb *t =
		vlarb_of(s, topo_port_of(s->topo, sm_plan_node(q->manager, n), port));

	for (unsigned block = 1; block <= 4; block++) {
		const struct vlarb_entry *e = block <= 2 ? t->low : t->high;
		unsigned used = block <= 2 ? t->n_low : t->n_high;
		unsigned first = block % 2 ? 0 : 32;
		uint8_t r[SA_RECORD_MAX] = { 0 };

		store_be16(r, lid);
		r[2] = (uint8_t)port;
		r[3] = (uint8_t)block;
		for (unsigned i = 0; i < 32 && first + i < used; i++) {
			r[8 + 2 * i] = e[first + i].vl;
			r[9 + 2 * i] = e[first + i].weight;
		}
		add_ignoring(q, n, 1 << 1, r);
	}
}

static void vlarbs_each(struct sa_query *q)
{
	each_port(q, true, put_vlarb);
}

static void put_pkeys(struct sa_query *q, const struct found_node *n, unsigned port, lid_t lid)
{
	for (unsigned b = 0; b < sm_pkey_blocks(n, port); b++) {
		uint8_t r[SA_RECORD_MAX] = { 0 };

		store_be16(r, lid);
		store_be16(r + 2, (uint16_t)b);
		r[4] = (uint8_t)port;
		sm_pkey_block(b, r + 8);
		add_ignoring(q, n, 1 << 2, r);
	}
}

static void pkeys_each(struct sa_query *q)
{
	each_port(q, true, put_pkeys);
}

/* ---- links and managers */

static void put_link(struct sa_query *q, const struct found_node *n, unsigned port, lid_t lid)
{
	const struct found_port *p = &n->ports[port];
	uint8_t r[SA_RECORD_MAX] = { 0 };

	if (p->peer == NO_NODE)
		return;
	store_be16(r, lid);
	r[2] = (uint8_t)port;
	r[3] = p->number;
	store_be16(r + 4, sm_lid_of(q->manager, &q->manager->found.nodes[p->peer], p->number));
	sa_query_add(q, r);
}

static void links_each(struct sa_query *q)
{
	each_port(q, true, put_link);
}

static void put_manager(struct sa_query *q, lid_t lid, uint64_t guid, uint32_t act_count,
			unsigned state)
{
	uint8_t r[SA_RECORD_MAX] = { 0 };

	store_be16(r, lid);
	store_be64(r + 4, guid);
	store_be32(r + 20, act_count);
	r[24] = (uint8_t)state;
	sa_query_add(q, r);
}

static void managers_each(struct sa_query *q)
{
	const struct sm *m = q->manager;

	put_manager(q, m->lid, m->guid, m->act_count, (unsigned)m->options.priority << 4 | m->role);
	for (uint32_t i = 0; i < m->n_peers; i++) {
		const struct peer_sm *r = &m->peers[i];

		if (r->node < m->found.n)
			put_manager(q, sm_lid_of(m, &m->found.nodes[r->node], r->port), r->guid, 0,
				    (unsigned)r->priority << 4 | r->role);
	}
}

/* ---- ClassPortInfo */

static void class_each(struct sa_query *q)
{
	/* Optional records; UD multicast; MultiPathRecord; PortInfo by capability mask;
	 * MulticastFDBTop. */
	enum {
		CAP_MASK_BITS = 1 << 1 | 1 << 9 | 1 << 10 | 1 << 13,
		CAP_MASK2_BITS = 1 << 3,
		RESPONSE_TIME = 18
	};
	uint8_t r[SA_RECORD_MAX] = { 1, 2 };

	store_be16(r + 2, CAP_MASK_BITS);
	store_be32(r + 4, CAP_MASK2_BITS << 5 | RESPONSE_TIME);
	sa_query_add_unchecked(q, r);
}

/* ---- components, in the order of the mask bits */

static const struct sa_component node_components[] = {
	{ 0, 16 },   { 0, 0 },    { 32, 8 },   { 40, 8 },   { 48, 8 },
	{ 56, 8 },   { 64, 64 },  { 128, 64 }, { 192, 64 }, { 256, 16 },
	{ 272, 16 }, { 288, 32 }, { 320, 8 },  { 328, 24 }, { 352, 512 },
};

static const struct sa_component port_components[] = {
	{ 0, 16 },   { 16, 8 },   { 0, 0 },    { 32, 64 }, { 96, 64 }, { 160, 16 }, { 176, 16 },
	{ 192, 32 }, { 224, 16 }, { 240, 16 }, { 256, 8 }, { 264, 8 }, { 272, 8 },  { 280, 8 },
	{ 288, 4 },  { 292, 4 },  { 296, 4 },  { 300, 4 }, { 304, 2 }, { 0, 0 },    { 309, 3 },
	{ 312, 4 },  { 316, 4 },  { 320, 4 },  { 324, 4 }, { 328, 4 }, { 332, 4 },  { 336, 8 },
};

static const struct sa_component lid_components[] = { { 0, 16 } };
static const struct sa_component lid_block_components[] = { { 0, 16 }, { 16, 16 } };
static const struct sa_component guid_components[] = { { 0, 16 }, { 16, 8 } };
static const struct sa_component mft_components[] = { { 0, 16 }, { 16, 4 }, { 0, 0 }, { 23, 9 } };
static const struct sa_component lid_byte_byte_components[] = { { 0, 16 }, { 16, 8 }, { 24, 8 } };
static const struct sa_component pkey_components[] = { { 0, 16 }, { 16, 16 }, { 32, 8 } };
static const struct sa_component link_components[] = {
	{ 0, 16 }, { 16, 8 }, { 24, 8 }, { 32, 16 }
};
static const struct sa_component manager_components[] = {
	{ 0, 16 }, { 0, 0 }, { 32, 64 }, { 0, 0 }, { 0, 0 }, { 192, 4 }, { 196, 4 },
};
static const struct sa_component member_components[] = {
	{ 0, 128 }, { 128, 128 }, { 256, 32 }, { 288, 16 }, { 0, 0 }, { 306, 6 },
	{ 312, 8 }, { 320, 16 },  { 0, 0 },    { 338, 6 },  { 0, 0 }, { 346, 6 },
	{ 352, 4 }, { 356, 20 },  { 376, 8 },  { 384, 4 },
};
static const struct sa_component service_components[] = {
	{ 0, 64 }, { 64, 128 }, { 192, 16 }, { 0, 0 }, { 224, 32 }, { 256, 128 }, { 384, 512 },
};

#define COMPONENTS(components) COUNT(components), (components)

static const struct sa_kind kinds[] = {
	{ ATTR_CLASS_PORT_INFO, 72, 0, NULL, class_each, NULL },
	{ ATTR_INFORM_INFO, 36, 0, NULL, NULL, sa_subscriptions_change },
	{ ATTR_NODE_RECORD, 108, COMPONENTS(node_components), nodes_each, NULL },
	{ ATTR_PORT_INFO_RECORD, 68, COMPONENTS(port_components), ports_each, NULL },
	{ ATTR_SL_TO_VL_RECORD, 16, COMPONENTS(lid_byte_byte_components), sl2vls_each, NULL },
	{ ATTR_SWITCH_INFO_RECORD, 24, COMPONENTS(lid_components), switches_each, NULL },
	{ ATTR_LFT_RECORD, 72, COMPONENTS(lid_block_components), lfts_each, NULL },
	{ ATTR_MFT_RECORD, 72, COMPONENTS(mft_components), mfts_each, NULL },
	{ ATTR_SM_INFO_RECORD, 32, COMPONENTS(manager_components), managers_each, NULL },
	{ ATTR_LINK_RECORD, 8, COMPONENTS(link_components), links_each, NULL },
	{ ATTR_GUID_INFO_RECORD, 72, COMPONENTS(guid_components), guids_each, NULL },
	{ ATTR_SERVICE_RECORD, 176, COMPONENTS(service_components), sa_services_each,
	  sa_services_change },
	{ ATTR_PKEY_TABLE_RECORD, 72, COMPONENTS(pkey_components), pkeys_each, NULL },
	{ ATTR_PATH_RECORD, 64, 0, NULL, sa_paths_each, NULL },
	{ ATTR_MULTI_PATH_RECORD, 64, 0, NULL, NULL, NULL },
	{ ATTR_VL_ARBITRATION_RECORD, 72, COMPONENTS(lid_byte_byte_components), vlarbs_each, NULL },
	{ ATTR_MC_MEMBER_RECORD, 52, COMPONENTS(member_components), sa_groups_each,
	  sa_groups_change },
	{ ATTR_INFORM_INFO_RECORD, 60, 0, NULL, sa_subscriptions_each, NULL },
};

static const struct sa_kind *kind_of(uint16_t attribute)
{
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (kinds[i].attribute == attribute)
			return &kinds[i];
	return NULL;
}

/* ---- response */

static void respond(const struct sa_query *q, uint16_t status)
{
	bool is_table = q->mad[MAD_METHOD] == MAD_GET_TABLE || q->mad[MAD_METHOD] == MAD_GET_MULTI;
	struct strbuf all = STRBUF_INIT;
	uint8_t head[SA_DATA];

	memcpy(head, q->mad, SA_DATA);
	/* The response to a Set is GetResp with the record. */
	head[MAD_METHOD] = q->mad[MAD_METHOD] == MAD_SET
				   ? MAD_GET_RESP
				   : (uint8_t)(q->mad[MAD_METHOD] | MAD_RESPONSE);
	store_be16(head + MAD_STATUS, status);
	memset(head + RMPP_VERSION, 0, RMPP_HEADER_END - RMPP_VERSION);
	memset(head + SA_KEY, 0, 8); /* SM_Key is for requests only */
	if (q->kind)
		store_be16(head + SA_OFFSET, (uint16_t)((q->kind->size + 7) / 8));
	if (is_table)
		head[RMPP_FLAGS] = RMPP_ACTIVE;
	if (q->mad[MAD_METHOD] == MAD_GET_MULTI && status == 0)
		store_be16(head + MAD_ATTRIBUTE, ATTR_PATH_RECORD);
	strbuf_add(&all, (const char *)head, SA_DATA);
	if (status == 0)
		strbuf_add(&all, q->out.text, q->out.len);
	if (!is_table || status != 0) {
		static const char zeros[MAD_SIZE];
		size_t used = all.len < MAD_SIZE ? all.len : MAD_SIZE;

		strbuf_add(&all, zeros, MAD_SIZE - used);
		all.len = MAD_SIZE;
	}
	if (status == 0 && q->is_delayed)
		sa_groups_delay_response(q->manager, q->from, (const uint8_t *)all.text);
	else
		q->manager->events.send(q->manager->events.context, q->from,
					(const uint8_t *)all.text, all.len, false);
	strbuf_fini(&all);
}

static uint16_t process(struct sa_query *q)
{
	uint8_t method = q->mad[MAD_METHOD];

	if (!q->kind)
		return MAD_UNSUPPORTED;
	if (method == MAD_SET || method == MAD_DELETE)
		return q->kind->change ? q->kind->change(q) : MAD_UNSUPPORTED;
	if (method == MAD_GET_MULTI && q->kind->attribute == ATTR_MULTI_PATH_RECORD)
		return sa_paths_multi(q);
	if (!q->kind->each || (method != MAD_GET && method != MAD_GET_TABLE))
		return MAD_UNSUPPORTED;
	if (q->kind->attribute == ATTR_PKEY_TABLE_RECORD && !q->is_trusted)
		return SA_INVALID;
	q->kind->each(q);
	if (method == MAD_GET_TABLE || q->n == 1)
		return 0;
	return q->n == 0 ? SA_NO_RECORDS : SA_TOO_MANY;
}

void sa_handle(struct sm *m, const struct mad_address *from, const uint8_t *mad)
{
	uint64_t key = load_be64(mad + SA_KEY);
	struct sa_query q = {
		.manager = m,
		.from = from,
		.mad = mad,
		.is_trusted = key != 0,
		.data = mad + SA_DATA,
		.mask = load_be64(mad + SA_MASK),
		.kind = kind_of(load_be16(mad + MAD_ATTRIBUTE)),
		.out = STRBUF_INIT,
	};

	if (key == 0 || key == m->options.key)
		respond(&q, process(&q));
	strbuf_fini(&q.out);
}
