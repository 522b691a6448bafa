/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mgmt/cm/cm_internal.h"
#include "wire/cursor.h"

/* Ids, their events, and the addresses of ports. */

#define FIRST_ADDRESS UINT32_C(0x7F400000) /* 127.64.0.0 */
#define UDP_QKEY      UINT32_C(0x01234567)

/* ---- addresses */

struct cm *cm_new(struct agents *a, const struct cm_events *e)
{
	struct cm *m = hd_alloc(1, sizeof(*m));
	const struct topo *t = agents_topo(a);

	*m = (struct cm){ .agents = a, .topo = t, .events = *e, .psn = 1 };
	m->ports = hd_alloc(t->n_ports, sizeof(*m->ports));
	for (port_id p = 0; p < t->n_ports; p++)
		if (t->ports[p].number > 0 && topo_node_of(t, p)->kind == NODE_CA)
			m->ports[m->n_ports++] = p;
	return m;
}

void cm_free(struct cm *m)
{
	if (!m)
		return;
	free(m->ports);
	free(m->ids);
	free(m->queue);
	free(m->outbox);
	free(m);
}

uint32_t cm_port_address(const struct cm *m, port_id p)
{
	uint32_t low = 0, high = m->n_ports;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (m->ports[middle] < p)
			low = middle + 1;
		else
			high = middle;
	}
	return FIRST_ADDRESS + low + 1;
}

port_id cm_first_port(const struct cm *m, node_id host)
{
	const struct topo_node *n = &m->topo->nodes[host];

	for (unsigned k = 1; k <= n->n_ports; k++)
		if (agents_port_get(m->agents, n->first_port + k, PORT_STATE) == LINK_ACTIVE)
			return n->first_port + k;
	return n->first_port + 1;
}

uint32_t cm_address(const struct cm *m, node_id host)
{
	const struct topo_node *n = &m->topo->nodes[host];

	if (n->kind != NODE_CA || n->n_ports == 0)
		return 0;
	return cm_port_address(m, n->first_port + 1);
}

port_id cm_port_of(const struct cm *m, node_id host, uint32_t address)
{
	uint32_t k = address - FIRST_ADDRESS;

	if (address == INADDR_LOOPBACK)
		return cm_first_port(m, host);
	return k >= 1 && k <= m->n_ports ? m->ports[k - 1] : TOPO_NONE;
}

void cm_port_gid(const struct cm *m, port_id p, uint8_t gid[16])
{
	uint64_t guid = m->topo->ports[p].guid;

	store_be64(gid, agents_port_get(m->agents, p, PORT_GID_PREFIX));
	store_be64(gid + 8, guid ? guid : topo_node_of(m->topo, p)->guid);
}

/* ---- ids */

struct cm_id *cm_id_find(struct cm *m, uint32_t number)
{
	uint32_t place = (number & 0xFFFF) - 1;

	if (place >= m->n_ids || !m->ids[place].used || m->ids[place].number != number)
		return NULL;
	return &m->ids[place];
}

struct cm_id *cm_id_new(struct cm *m, node_id host, uint32_t channel)
{
	uint32_t place = 0;

	while (place < m->n_ids && m->ids[place].used)
		place++;
	if (place == m->n_ids) {
		m->ids = hd_grow(m->ids, &m->ids_cap, m->n_ids + 1, sizeof(*m->ids));
		m->ids[m->n_ids++] = (struct cm_id){ 0 };
	}
	struct cm_id *i = &m->ids[place];
	uint16_t generation = (uint16_t)(i->generation + 1U);

	*i = (struct cm_id){
		.used = true,
		.generation = generation,
		.number = (uint32_t)generation << 16 | (place + 1),
		.host = host,
		.channel = channel,
		.qkey = UDP_QKEY,
		.local = { .port = TOPO_NONE, .psn = m->psn & 0xFFFFFF },
		.remote = { .port = TOPO_NONE },
		.due = HD_TIME_NEVER,
	};
	/* Successive connections between the same queue pairs have different PSNs. */
	m->psn += 4097;
	return i;
}

bool cm_id_is_datagram(const struct cm_id *i)
{
	return i->space == RDMA_PS_UDP || i->space == RDMA_PS_IPOIB;
}

void cm_id_event(struct cm *m, const struct cm_id *i, const struct cm_id *new_id,
		 const struct rdma_ucm_event_resp *e)
{
	/* A request that has not been accepted has no context to report to. */
	if (!i->has_context)
		return;
	m->queue = hd_grow(m->queue, &m->queue_cap, m->n_queued + 1, sizeof(*m->queue));
	struct cm_event *w = &m->queue[m->n_queued++];

	*w = (struct cm_event){ .channel = i->channel,
				.id = i->number,
				.new_id = new_id ? new_id->number : 0,
				.event = *e };
	w->event.uid = i->uid;
	w->event.id = new_id ? new_id->number : i->number;
	m->events.ready(m->events.context, i->channel);
}

void cm_drop_event(struct cm *m, size_t k)
{
	memmove(&m->queue[k], &m->queue[k + 1], (--m->n_queued - k) * sizeof(*m->queue));
}

/* Tells the peer, as far as the state of the connection requires it. */
static void notify_peer(struct cm *m, struct cm_id *i, hd_time now)
{
	switch (i->state) {
	case ID_REQ_SENT:
		cm_send_rej(m, i, REJ_TIMEOUT, NULL, 0);
		break;
	case ID_REQ_RECEIVED:
	case ID_REP_RECEIVED:
		cm_send_rej(m, i, REJ_CONSUMER, NULL, 0);
		break;
	case ID_SIDR_RECEIVED:
		cm_send_sidr_rep(m, i, NULL);
		break;
	case ID_REP_SENT:
	case ID_ESTABLISHED:
		if (!cm_id_is_datagram(i))
			cm_send_dreq(m, i, now);
		break;
	case ID_DREQ_RECEIVED:
		cm_send_drep(m, i);
		break;
	case ID_JOINING:
	case ID_JOINED:
		cm_group_leave(m, i);
		break;
	default:
		break;
	}
}

uint32_t cm_id_destroy(struct cm *m, struct cm_id *i, hd_time now)
{
	uint32_t number = i->number;
	uint32_t unread = i->member_of ? 0 : cm_groups_leave(m, number, now);
	struct cm_id *l = cm_id_find(m, i->listener);

	notify_peer(m, i, now);
	i->used = false;
	if (l)
		l->n_requests--;
	for (size_t k = 0; k < m->n_queued;) {
		const struct cm_event *w = &m->queue[k];

		if (w->id != number) {
			k++;
			continue;
		}
		/* Connection requests that the program never read are destroyed, too. */
		struct cm_id *new_id = cm_id_find(m, w->new_id);

		cm_drop_event(m, k);
		unread++;
		if (new_id) {
			notify_peer(m, new_id, now);
			new_id->used = false;
		}
	}
	return unread;
}

void cm_close_channel(struct cm *m, uint32_t channel, hd_time now)
{
	for (size_t k = 0; k < m->n_ids; k++)
		if (m->ids[k].used && m->ids[k].channel == channel)
			cm_id_destroy(m, &m->ids[k], now);
	for (size_t k = m->n_queued; k-- > 0;)
		if (m->queue[k].channel == channel)
			cm_drop_event(m, k);
}
