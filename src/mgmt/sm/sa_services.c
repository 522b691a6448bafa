/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "base/alloc.h"
#include "mgmt/sm/sa.h"
#include "wire/cursor.h"

/* Services that programs offer, and notices that they want to hear of. */

/* SERVICE_KEY: all that it is known by; SECRET: its ServiceKey. */
enum { SERVICE = 176, SERVICE_KEY = 26, LEASE = 28, SECRET = 32 };
enum { INFORM = 36, IS_GENERIC = 22, SUBSCRIBE = 23, TRAP = 26, QPN = 28 };
static const uint32_t FOR_EVER = UINT32_MAX;

static struct kept *keep(struct kept_list *l)
{
	l->rows = hd_grow(l->rows, &l->cap, l->n + 1U, sizeof(*l->rows));
	l->rows[l->n] = (struct kept){ 0 };
	return &l->rows[l->n++];
}

/* ---- services: known by ID, GID and P_Key */

static struct kept *find_service(struct kept_list *l, const uint8_t *record)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (memcmp(l->rows[i].record, record, SERVICE_KEY) == 0)
			return &l->rows[i];
	return NULL;
}

static void forget_expired(struct manager *m)
{
	struct kept_list *l = &m->services;

	for (uint32_t i = l->n; i-- > 0;)
		if (l->rows[i].until <= m->now)
			l->rows[i] = l->rows[--l->n];
}

void services_each(struct query *q)
{
	forget_expired(q->manager);
	for (uint32_t i = 0; i < q->manager->services.n; i++) {
		uint8_t r[SERVICE];

		memcpy(r, q->manager->services.rows[i].record, sizeof(r));
		if (!query_fits(q, r))
			continue;
		if (!q->is_trusted)
			memset(r + SECRET, 0, 16);
		query_put_anyway(q, r);
	}
}

uint16_t services_change(struct query *q)
{
	struct manager *m = q->manager;
	struct kept *k = find_service(&m->services, q->data);
	uint32_t lease = load_be32(q->data + LEASE);

	if (q->mad[MAD_METHOD] == MAD_DELETE) {
		if (!k)
			return SA_NO_RECORDS;
		query_put_anyway(q, k->record);
		*k = m->services.rows[--m->services.n];
		return 0;
	}
	if (!k)
		k = keep(&m->services);
	memcpy(k->record, q->data, SERVICE);
	k->until = lease == FOR_EVER ? HD_TIME_NEVER : m->now + lease * HD_S;
	query_put_anyway(q, k->record);
	return 0;
}

/* ---- subscriptions: known by who asked for what */

static struct kept *find_inform(struct kept_list *l, const uint8_t *record,
				const struct mad_address *who)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (l->rows[i].who.lid == who->lid &&
		    memcmp(l->rows[i].record + TRAP, record + TRAP, 2) == 0)
			return &l->rows[i];
	return NULL;
}

uint16_t informs_change(struct query *q)
{
	struct kept_list *l = &q->manager->informs;
	struct kept *k = find_inform(l, q->data, q->from);

	if (q->mad[MAD_METHOD] != MAD_SET)
		return MAD_UNSUPPORTED;
	if (q->data[SUBSCRIBE]) {
		if (!k)
			k = keep(l);
		memcpy(k->record, q->data, INFORM);
		k->who = *q->from;
	} else if (k) {
		*k = l->rows[--l->n];
	} else {
		return SA_INVALID;
	}
	query_put_anyway(q, q->data);
	return 0;
}

void informs_each(struct query *q)
{
	const struct manager *m = q->manager;

	for (uint32_t i = 0; i < m->informs.n; i++) {
		uint8_t r[SA_MOST] = { 0 };

		store_be64(r, GID_LINK_LOCAL);
		store_be16(r + 16, (uint16_t)i);
		memcpy(r + 24, m->informs.rows[i].record, INFORM);
		if (!q->is_trusted)
			memset(r + 24 + QPN, 0, 3);
		query_put_anyway(q, r);
	}
}

void sa_report(struct manager *m, const uint8_t *notice)
{
	static const uint16_t ALL = 0xFFFF;
	struct mad_header h = {
		.mgmt_class = MAD_SA,
		.method = MAD_REPORT,
		.attribute = ATTR_NOTICE,
	};
	uint8_t mad[MAD_SIZE];

	for (uint32_t i = 0; i < m->informs.n; i++) {
		const struct kept *k = &m->informs.rows[i];
		uint16_t trap = load_be16(k->record + TRAP);

		if (trap != ALL && trap != load_be16(notice + 4))
			continue;
		h.tid = ++m->reports;
		mad_write(&h, mad);
		memcpy(mad + SA_DATA, notice, BLOCK);
		m->events.send(m->events.context, &k->who, mad, MAD_SIZE, true);
	}
}
