/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mgmt/sm/sm_internal.h"
#include "wire/cursor.h"

/*
 * Which of several managers is master: that of the highest priority, among
 * equals that of the lowest GUID. One that finds a better one, or a master,
 * stands by and looks now and then whether that is still there; a master that
 * finds a better one standing by hands the subnet over to it.
 */

/* What SMInfo has, and what a Set of it means. */
enum { SM_GUID = 0, SM_KEY = 8, SM_ACTS = 16, SM_STATE = 20 };
enum { HANDOVER = 1, ACKNOWLEDGE, DISABLE, STAND_BY, DISCOVER };
enum { POLLS = 4 };
static const hd_time POLL = 500 * HD_MS;

static bool is_better(const struct manager *m, const struct rival *r)
{
	if (r->priority != m->options.priority)
		return r->priority > m->options.priority;
	return r->guid < m->guid;
}

static struct rival rival_of(const uint8_t *info, uint32_t node, unsigned port)
{
	return (struct rival){
		.node = node,
		.port = (uint8_t)port,
		.guid = load_be64(info + SM_GUID),
		.priority = info[SM_STATE] >> 4,
		.role = (enum manager_role)(info[SM_STATE] & 15),
	};
}

static void fill(const struct manager *m, uint8_t *info)
{
	store_be64(info + SM_GUID, m->guid);
	store_be64(info + SM_KEY, m->options.key);
	store_be32(info + SM_ACTS, m->acts);
	info[SM_STATE] = (uint8_t)((unsigned)m->options.priority << 4 | m->role);
}

static void got_rival(struct manager *m, const struct smp *smp, const uint8_t *mad)
{
	if (!mad)
		return;
	m->rivals = hd_grow(m->rivals, &m->rivals_cap, m->n_rivals + 1U, sizeof(*m->rivals));
	m->rivals[m->n_rivals++] =
		rival_of(mad + mad_class(MAD_SMP_DIRECT)->data, smp->node, smp->port);
}

static void ask(struct manager *m, uint32_t node, unsigned port, uint8_t method, uint32_t modifier,
		smp_done done)
{
	struct smp smp = {
		.done = done,
		.path = path_to(&m->seen.nodes[node], port),
		.node = node,
		.port = (uint8_t)port,
		.method = method,
		.attribute = ATTR_SM_INFO,
		.modifier = modifier,
		.written = NO_NODE,
	};

	fill(m, smp.data);
	exchange_ask(m, &smp);
}

/* ---- standing by */

static void got_poll(struct manager *m, const struct smp *smp, const uint8_t *mad)
{
	struct rival r = { .role = MANAGER_NOT_ACTIVE };

	if (mad)
		r = rival_of(mad + mad_class(MAD_SMP_DIRECT)->data, smp->node, smp->port);
	m->polls_lost = mad && r.role == MANAGER_MASTER ? 0 : m->polls_lost + 1;
}

static void polled(struct manager *m)
{
	if (m->polls_lost >= POLLS || m->master.node >= m->seen.n) {
		manager_say(m, "the master is gone");
		manager_sweep(m);
	}
}

void election_poll(struct manager *m)
{
	m->next_poll = m->now + POLL;
	if (m->master.node < m->seen.n)
		ask(m, m->master.node, m->master.port, MAD_GET, 0, got_poll);
	exchange_when_done(m, polled);
}

/* Of several, the master; else the best. */
static const struct rival *leader(const struct manager *m)
{
	const struct rival *best = NULL;

	for (uint32_t i = 0; i < m->n_rivals; i++) {
		const struct rival *r = &m->rivals[i];

		if (r->role == MANAGER_NOT_ACTIVE || r->guid == m->guid)
			continue;
		if (!best || r->role == MANAGER_MASTER)
			best = r;
	}
	return best;
}

static void stand_by_for(struct manager *m, const struct rival *r)
{
	manager_say(m, "standing by for the manager of priority %u at 0x%016llx", r->priority,
		    (unsigned long long)r->guid);
	m->master = *r;
	m->polls_lost = 0;
	m->next_poll = m->now + POLL;
	manager_stand_by(m);
}

static void handed_over(struct manager *m)
{
	stand_by_for(m, &m->master);
}

static void got_nothing(struct manager *m, const struct smp *smp, const uint8_t *mad)
{
	(void)m;
	(void)smp;
	(void)mad;
}

static void decide(struct manager *m)
{
	const struct rival *r = leader(m);

	bool yields = r && (is_better(m, r) || (r->role == MANAGER_MASTER && !m->took_over));

	/* A master yields to a better one only by handing over. */
	if (yields &&
	    (m->role != MANAGER_MASTER || (r->role == MANAGER_MASTER && is_better(m, r)))) {
		stand_by_for(m, r);
		return;
	}
	for (uint32_t i = 0; m->role == MANAGER_MASTER && i < m->n_rivals; i++) {
		r = &m->rivals[i];
		if (r->role != MANAGER_STANDBY || !is_better(m, r))
			continue;
		manager_say(m, "handing over to priority %u", r->priority);
		m->master = *r;
		ask(m, r->node, r->port, MAD_SET, HANDOVER, got_nothing);
		exchange_when_done(m, handed_over);
		return;
	}
	manager_master(m);
}

void election_hold(struct manager *m)
{
	m->n_rivals = 0;
	for (uint32_t i = 0; i < m->seen.n; i++) {
		const struct found_node *n = &m->seen.nodes[i];

		for (unsigned p = 0; p <= n->n_ports; p++) {
			bool ours = i == 0 && p == m->seen.own_port;
			bool owns = n->is_switch ? p == 0 : n->ports[p].path != NULL;

			if (!ours && owns && n->ports[p].answered &&
			    info_get(m, n->ports[p].info, PORT_CAP_MASK) & CAP_IS_SM)
				ask(m, i, p, MAD_GET, 0, got_rival);
		}
	}
	exchange_when_done(m, decide);
}

/* ---- what others say */

/* What is asked of us by a Set; whether we do it. */
static void obey(struct manager *m, uint32_t what)
{
	switch (what) {
	case HANDOVER:
	case DISCOVER:
		if (m->role == MANAGER_STANDBY) {
			manager_say(m, "the master hands over");
			m->role = MANAGER_DISCOVERING;
			m->took_over = true;
			manager_sweep(m);
		}
		break;
	case DISABLE:
		if (m->role == MANAGER_STANDBY)
			m->role = MANAGER_NOT_ACTIVE;
		break;
	case STAND_BY:
		if (m->role == MANAGER_NOT_ACTIVE)
			m->role = MANAGER_STANDBY;
		break;
	default:
		break; /* an acknowledgement */
	}
}

void election_take(struct manager *m, const struct mad_address *from, const uint8_t *mad)
{
	uint8_t answer[MAD_SIZE];
	bool direct = mad[MAD_CLASS] == MAD_SMP_DIRECT;

	memcpy(answer, mad, MAD_SIZE);
	answer[MAD_METHOD] = MAD_GET_RESP;
	store_be16(answer + MAD_STATUS, direct ? MAD_DIRECTION : MAD_OK);
	if (mad[MAD_METHOD] == MAD_SET)
		obey(m, load_be32(mad + MAD_MODIFIER));
	fill(m, answer + mad_class(mad[MAD_CLASS])->data);
	m->events.send(m->events.context, from, answer, MAD_SIZE, false);
}
