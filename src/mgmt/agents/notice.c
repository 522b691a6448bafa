/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "base/alloc.h"
#include "mgmt/agents/agents_internal.h"
#include "wire/cursor.h"

/*
 * Notices of nodes to their subnet manager. A notice is repeated after the port's SubnetTimeout
 * until it is repressed. A node has at most one pending notice per trap number; a newer event
 * replaces its data.
 */

enum { NOTICE_GENERIC = 0x80, NOTICE_DETAILS = 10 };

/* The notice type of each trap. */
static const struct {
	uint16_t first, last;
	uint8_t type;
} types[] = {
	{ 128, 131, 1 }, /* urgent */
	{ 144, 145, 4 }, /* informational */
	{ 256, 259, 2 }, /* security */
};

static uint8_t type_of(uint16_t trap)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (trap >= types[i].first && trap <= types[i].last)
			return types[i].type;
	return 0;
}

/* 4.096 us * 2^SubnetTimeout. */
static hd_time timeout_of(const struct agents *a, port_id owner)
{
	unsigned power = (unsigned)info_get(a, a->ports[owner].info, PORT_SUBNET_TIMEOUT);

	return (hd_time)4096000 << power;
}

static struct notice *find(struct agents *a, port_id owner, uint16_t trap)
{
	for (size_t i = 0; i < a->n_notices; i++)
		if (a->notices[i].port == owner && a->notices[i].trap == trap)
			return &a->notices[i];
	return NULL;
}

static void send_notice(struct agents *a, const struct notice *n, hd_time now)
{
	const uint8_t *info = a->ports[n->port].info;
	struct mad_address to = {
		.lid = (uint16_t)info_get(a, info, PORT_SM_LID),
		.sl = (uint8_t)info_get(a, info, PORT_SM_SL),
	};
	struct mad_header h = {
		.mgmt_class = MAD_SMP,
		.method = MAD_TRAP,
		.attribute = ATTR_NOTICE,
		.tid = n->tid,
	};
	uint8_t mad[MAD_SIZE];

	if (to.lid == 0)
		return; /* no manager has set its LID yet */
	mad_write(&h, mad);
	memcpy(mad + mad_class(MAD_SMP)->data, n->data, BLOCK_SIZE);
	agents_mad_send(a, n->port, &to, mad, MAD_SIZE, now);
}

void agents_notice_raise(struct agents *a, port_id owner, uint16_t trap, const uint8_t *details,
			 size_t size, hd_time now)
{
	static const uint8_t producer[] = { [NODE_CA] = 1, [NODE_SWITCH] = 2, [NODE_ROUTER] = 3 };
	struct notice *n = find(a, owner, trap);

	if (!n) {
		a->notices =
			hd_grow(a->notices, &a->notices_cap, a->n_notices + 1, sizeof(*a->notices));
		n = &a->notices[a->n_notices++];
		*n = (struct notice){ .port = owner, .trap = trap };
	}
	n->tid = ++a->next_tid;
	n->due = now + timeout_of(a, owner);
	memset(n->data, 0, sizeof(n->data));
	n->data[0] = NOTICE_GENERIC | type_of(trap);
	n->data[3] = producer[topo_node_of(a->topo, owner)->kind];
	store_be16(n->data + 4, trap);
	store_be16(n->data + 6, (uint16_t)info_get(a, a->ports[owner].info, PORT_LID));
	memcpy(n->data + NOTICE_DETAILS, details, size);
	/* A copy: delivery may raise more notices and move the array. */
	struct notice copy = *n;

	send_notice(a, &copy, now);
}

void agents_notice_repress(struct agents *a, port_id owner, uint16_t trap, uint64_t tid)
{
	struct notice *n = find(a, owner, trap);

	/* Only the lower half of a TID belongs to the sender. */
	if (n && (uint32_t)n->tid == (uint32_t)tid)
		*n = a->notices[--a->n_notices];
}

void agents_error_add(struct agents *a, port_id port, unsigned counter, uint64_t more, hd_time now)
{
	/* Each of these counters counts events that passed a threshold of the port. */
	static const struct {
		unsigned first, n;
		uint16_t trap;
	} causes[] = {
		{ COUNT_LINK_INTEGRITY, 1, 129 },
		{ COUNT_BUFFER_OVERRUN, 1, 130 },
		{ COUNT_VL_FLOW_ERRORS, 16, 131 },
	};
	port_id owner = agents_owner(a, port);
	uint8_t details[5] = { 0 };

	agents_counter_add(a, port, counter, more);
	store_be16(details + 2, (uint16_t)info_get(a, a->ports[owner].info, PORT_LID));
	details[4] = a->topo->ports[port].number;
	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		if (more > 0 && counter >= causes[i].first &&
		    counter < causes[i].first + causes[i].n)
			agents_notice_raise(a, owner, causes[i].trap, details, sizeof(details),
					    now);
}

/* Traps 257 and 258, of an end port. */
static void report_at_end(struct agents *a, port_id port, const struct key_violation *v,
			  hd_time now)
{
	uint8_t details[18] = { 0 };

	store_be16(details + 2, v->slid);
	store_be16(details + 4, v->dlid);
	store_be32(details + 6, v->key);
	store_be32(details + 10, (uint32_t)v->sl << 28 | v->from_qp);
	store_be32(details + 14, v->to_qp);
	agents_notice_raise(a, port, v->is_qkey ? 258 : 257, details, sizeof(details), now);
}

/* Trap 259, of a switch; includes the port. */
static void report_at_switch(struct agents *a, port_id port, const struct key_violation *v,
			     hd_time now)
{
	enum { LIDS_KEY_SL = 0x0F, QUEUE_PAIRS = 0x30 }; /* DataValid bits */
	port_id owner = agents_owner(a, port);
	uint8_t details[51] = { 0 };

	store_be16(details, v->from_qp || v->to_qp ? LIDS_KEY_SL | QUEUE_PAIRS : LIDS_KEY_SL);
	store_be16(details + 2, v->slid);
	store_be16(details + 4, v->dlid);
	store_be16(details + 6, (uint16_t)v->key);
	store_be32(details + 8, (uint32_t)v->sl << 28 | v->from_qp);
	store_be32(details + 12, v->to_qp);
	store_be16(details + 48, (uint16_t)info_get(a, a->ports[owner].info, PORT_LID));
	details[50] = a->topo->ports[port].number;
	agents_notice_raise(a, owner, 259, details, sizeof(details), now);
}

void agents_violation_add(struct agents *a, port_id port, const struct key_violation *v, uint64_t n,
			  hd_time now)
{
	enum port_field counter = v->is_qkey ? PORT_QKEY_VIOLATIONS : PORT_PKEY_VIOLATIONS;
	uint8_t *info = a->ports[port].info;
	uint64_t before = info_get(a, info, counter);

	if (n == 0)
		return;
	if (agents_owner(a, port) != port) {
		report_at_switch(a, port, v, now);
		return;
	}
	/* An end port counts the violation itself. */
	info_set(a, info, counter, n < UINT16_MAX - before ? before + n : UINT16_MAX);
	report_at_end(a, port, v, now);
}

hd_time agents_notices_next(const struct agents *a)
{
	hd_time first = HD_TIME_NEVER;

	for (size_t i = 0; i < a->n_notices; i++)
		if (a->notices[i].due < first)
			first = a->notices[i].due;
	return first;
}

void agents_notices_run(struct agents *a, hd_time now)
{
	for (size_t i = 0; i < a->n_notices; i++) {
		if (a->notices[i].due > now)
			continue;
		a->notices[i].due = now + timeout_of(a, a->notices[i].port);
		struct notice copy = a->notices[i];

		send_notice(a, &copy, now);
	}
}
