/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "base/alloc.h"
#include "mgmt/sm/sm_internal.h"
#include "wire/cursor.h"

/* Registered services and subscriptions to traps. */

/* SERVICE_KEY: length of ID, GID and P_Key; SECRET: offset of the ServiceKey. */
enum { SERVICE = 176, SERVICE_KEY = 26, LEASE = 28, SECRET = 32 };
enum { INFORM = 36, IS_GENERIC = 22, SUBSCRIBE = 23, TRAP = 26, QPN = 28 };
static const uint32_t NO_EXPIRY = UINT32_MAX;

static struct sa_registration *add_registration(struct sa_registrations *l)
{
	l->rows = hd_grow(l->rows, &l->cap, l->n + 1U, sizeof(*l->rows));
	l->rows[l->n] = (struct sa_registration){ 0 };
	return &l->rows[l->n++];
}

/* ---- services, identified by ID, GID and P_Key */

static struct sa_registration *find_service(struct sa_registrations *l, const uint8_t *record)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (memcmp(l->rows[i].record, record, SERVICE_KEY) == 0)
			return &l->rows[i];
	return NULL;
}

static void remove_expired(struct sm *m)
{
	struct sa_registrations *l = &m->services;

	for (uint32_t i = l->n; i-- > 0;)
		if (l->rows[i].expires <= m->now)
			l->rows[i] = l->rows[--l->n];
}

/* Only a trusted request gets the ServiceKey. */
static void put_service(struct sa_query *q, const uint8_t *record)
{
	uint8_t r[SERVICE];

	memcpy(r, record, sizeof(r));
	if (!q->is_trusted)
		memset(r + SECRET, 0, 16);
	sa_query_add_unchecked(q, r);
}

void sa_services_each(struct sa_query *q)
{
	remove_expired(q->manager);
	for (uint32_t i = 0; i < q->manager->services.n; i++) {
		const uint8_t *record = q->manager->services.rows[i].record;

		if (sa_query_matches(q, record))
			put_service(q, record);
	}
}

uint16_t sa_services_change(struct sa_query *q)
{
	struct sm *m = q->manager;
	struct sa_registration *k = find_service(&m->services, q->data);
	uint32_t lease = load_be32(q->data + LEASE);

	if (q->mad[MAD_METHOD] == MAD_DELETE) {
		if (!k)
			return SA_NO_RECORDS;
		put_service(q, k->record);
		*k = m->services.rows[--m->services.n];
		return 0;
	}
	if (!k)
		k = add_registration(&m->services);
	memcpy(k->record, q->data, SERVICE);
	k->expires = lease == NO_EXPIRY ? HD_TIME_NEVER : m->now + lease * HD_S;
	put_service(q, k->record);
	return 0;
}

/* ---- subscriptions, identified by the subscriber's LID and the trap number */

static struct sa_registration *find_inform(struct sa_registrations *l, const uint8_t *record,
					   const struct mad_address *subscriber)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (l->rows[i].subscriber.lid == subscriber->lid &&
		    memcmp(l->rows[i].record + TRAP, record + TRAP, 2) == 0)
			return &l->rows[i];
	return NULL;
}

uint16_t sa_subscriptions_change(struct sa_query *q)
{
	struct sa_registrations *l = &q->manager->subscriptions;
	struct sa_registration *k = find_inform(l, q->data, q->from);

	if (q->mad[MAD_METHOD] != MAD_SET)
		return MAD_UNSUPPORTED;
	if (q->data[SUBSCRIBE]) {
		if (!k)
			k = add_registration(l);
		memcpy(k->record, q->data, INFORM);
		k->subscriber = *q->from;
	} else if (k) {
		*k = l->rows[--l->n];
	} else {
		return SA_INVALID;
	}
	sa_query_add_unchecked(q, q->data);
	return 0;
}

void sa_subscriptions_each(struct sa_query *q)
{
	const struct sm *m = q->manager;

	for (uint32_t i = 0; i < m->subscriptions.n; i++) {
		uint8_t r[SA_RECORD_MAX] = { 0 };

		store_be64(r, GID_LINK_LOCAL);
		store_be16(r + 16, (uint16_t)i);
		memcpy(r + 24, m->subscriptions.rows[i].record, INFORM);
		if (!q->is_trusted)
			memset(r + 24 + QPN, 0, 3);
		sa_query_add_unchecked(q, r);
	}
}

void sa_report(struct sm *m, const uint8_t *notice)
{
	static const uint16_t ALL = 0xFFFF;
	struct mad_header h = {
		.mgmt_class = MAD_SA,
		.method = MAD_REPORT,
		.attribute = ATTR_NOTICE,
	};
	uint8_t mad[MAD_SIZE];

	for (uint32_t i = 0; i < m->subscriptions.n; i++) {
		const struct sa_registration *k = &m->subscriptions.rows[i];
		uint16_t trap = load_be16(k->record + TRAP);

		if (trap != ALL && trap != load_be16(notice + 4))
			continue;
		h.tid = ++m->n_reports;
		mad_write(&h, mad);
		memcpy(mad + SA_DATA, notice, BLOCK);
		m->events.send(m->events.context, &k->subscriber, mad, MAD_SIZE, true);
	}
}
