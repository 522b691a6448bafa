/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mgmt/sm/sm_internal.h"
#include "wire/cursor.h"

/*
 * Master election (IBA 14.4.1): the manager with the highest priority is master; among equals, the
 * one with the lowest GUID. A manager that finds a better one, or a master, enters standby and
 * polls it. A master that finds a better manager in standby hands over to it.
 */

/* Offsets in SMInfo, and attribute modifiers of a Set. */
enum { SM_GUID = 0, SM_KEY = 8, SM_ACTS = 16, SM_STATE = 20 };
enum { HANDOVER = 1, ACKNOWLEDGE, DISABLE, GO_STANDBY, DISCOVER };
enum { POLLS = 4 };
static const hd_time POLL = 500 * HD_MS;

static bool is_better(const struct sm *m, const struct peer_sm *r)
{
	if (r->priority != m->options.priority)
		return r->priority > m->options.priority;
	return r->guid < m->guid;
}

static struct peer_sm peer_of(const uint8_t *info, uint32_t node, unsigned port)
{
	return (struct peer_sm){
		.node = node,
		.port = (uint8_t)port,
		.guid = load_be64(info + SM_GUID),
		.priority = info[SM_STATE] >> 4,
		.role = (enum sm_state)(info[SM_STATE] & 15),
	};
}

static void write_sm_info(const struct sm *m, uint8_t *info)
{
	store_be64(info + SM_GUID, m->guid);
	store_be64(info + SM_KEY, m->options.key);
	store_be32(info + SM_ACTS, m->act_count);
	info[SM_STATE] = (uint8_t)((unsigned)m->options.priority << 4 | m->role);
}

static void got_sm_info(struct sm *m, const struct sm_smp *smp, const uint8_t *mad)
{
	if (!mad)
		return;
	m->peers = hd_grow(m->peers, &m->peers_cap, m->n_peers + 1U, sizeof(*m->peers));
	m->peers[m->n_peers++] =
		peer_of(mad + mad_class(MAD_SMP_DIRECT)->data, smp->node, smp->port);
}

static void send_query(struct sm *m, uint32_t node, unsigned port, uint8_t method,
		       uint32_t modifier, smp_done done)
{
	struct sm_smp smp = {
		.done = done,
		.path = sm_path_to(&m->found.nodes[node], port),
		.node = node,
		.port = (uint8_t)port,
		.method = method,
		.attribute = ATTR_SM_INFO,
		.modifier = modifier,
		.written = NO_NODE,
	};

	write_sm_info(m, smp.data);
	sm_exchange_send(m, &smp);
}

/* ---- standby */

static void got_poll(struct sm *m, const struct sm_smp *smp, const uint8_t *mad)
{
	struct peer_sm r = { .role = SM_NOT_ACTIVE };

	if (mad)
		r = peer_of(mad + mad_class(MAD_SMP_DIRECT)->data, smp->node, smp->port);
	m->polls_lost = mad && r.role == SM_MASTER ? 0 : m->polls_lost + 1;
}

static void polled(struct sm *m)
{
	if (m->polls_lost >= POLLS || m->master.node >= m->found.n) {
		sm_log(m, "the master SM does not respond");
		sm_sweep(m);
	}
}

void sm_election_poll(struct sm *m)
{
	m->next_poll = m->now + POLL;
	if (m->master.node < m->found.n)
		send_query(m, m->master.node, m->master.port, MAD_GET, 0, got_poll);
	sm_exchange_when_done(m, polled);
}

/* The master if there is one, else an arbitrary active manager. */
static const struct peer_sm *find_leader(const struct sm *m)
{
	const struct peer_sm *best = NULL;

	for (uint32_t i = 0; i < m->n_peers; i++) {
		const struct peer_sm *r = &m->peers[i];

		if (r->role == SM_NOT_ACTIVE || r->guid == m->guid)
			continue;
		if (!best || r->role == SM_MASTER)
			best = r;
	}
	return best;
}

static void enter_standby_for(struct sm *m, const struct peer_sm *r)
{
	sm_log(m, "entering standby: the SM of priority %u at GUID 0x%016llx is preferred",
	       r->priority, (unsigned long long)r->guid);
	m->master = *r;
	m->polls_lost = 0;
	m->next_poll = m->now + POLL;
	sm_enter_standby(m);
}

static void handed_over(struct sm *m)
{
	enter_standby_for(m, &m->master);
}

static void ignore_response(struct sm *m, const struct sm_smp *smp, const uint8_t *mad)
{
	(void)m;
	(void)smp;
	(void)mad;
}

static void elect(struct sm *m)
{
	const struct peer_sm *r = find_leader(m);

	bool yields = r && (is_better(m, r) || (r->role == SM_MASTER && !m->handed_over));

	/* A master enters standby without a handover only for a better master. */
	if (yields && (m->role != SM_MASTER || (r->role == SM_MASTER && is_better(m, r)))) {
		enter_standby_for(m, r);
		return;
	}
	for (uint32_t i = 0; m->role == SM_MASTER && i < m->n_peers; i++) {
		r = &m->peers[i];
		if (r->role != SM_STANDBY || !is_better(m, r))
			continue;
		sm_log(m, "handing over to the SM of priority %u", r->priority);
		m->master = *r;
		send_query(m, r->node, r->port, MAD_SET, HANDOVER, ignore_response);
		sm_exchange_when_done(m, handed_over);
		return;
	}
	sm_enter_master(m);
}

void sm_election_start(struct sm *m)
{
	m->n_peers = 0;
	for (uint32_t i = 0; i < m->found.n; i++) {
		const struct found_node *n = &m->found.nodes[i];

		for (unsigned p = 0; p <= n->n_ports; p++) {
			bool ours = i == 0 && p == m->found.own_port;
			bool owns = n->is_switch ? p == 0 : n->ports[p].path != NULL;

			if (!ours && owns && n->ports[p].answered &&
			    info_get(m, n->ports[p].info, PORT_CAP_MASK) & CAP_IS_SM)
				send_query(m, i, p, MAD_GET, 0, got_sm_info);
		}
	}
	sm_exchange_when_done(m, elect);
}

/* ---- requests of other managers */

/* Executes a Set of SMInfo, if the state permits it. */
static void handle_set(struct sm *m, uint32_t what)
{
	switch (what) {
	case HANDOVER:
	case DISCOVER:
		if (m->role == SM_STANDBY) {
			sm_log(m, "the master SM hands over");
			m->role = SM_DISCOVERING;
			m->handed_over = true;
			sm_sweep(m);
		}
		break;
	case DISABLE:
		if (m->role == SM_STANDBY)
			m->role = SM_NOT_ACTIVE;
		break;
	case GO_STANDBY:
		if (m->role == SM_NOT_ACTIVE)
			m->role = SM_STANDBY;
		break;
	default:
		break; /* ACKNOWLEDGE */
	}
}

void sm_election_handle(struct sm *m, const struct mad_address *from, const uint8_t *mad)
{
	uint8_t respond[MAD_SIZE];
	bool direct = mad[MAD_CLASS] == MAD_SMP_DIRECT;

	memcpy(respond, mad, MAD_SIZE);
	respond[MAD_METHOD] = MAD_GET_RESP;
	store_be16(respond + MAD_STATUS, direct ? MAD_DIRECTION : MAD_OK);
	if (mad[MAD_METHOD] == MAD_SET)
		handle_set(m, load_be32(mad + MAD_MODIFIER));
	write_sm_info(m, respond + mad_class(mad[MAD_CLASS])->data);
	m->events.send(m->events.context, from, respond, MAD_SIZE, false);
}
