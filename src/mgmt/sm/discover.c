/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mgmt/sm/sm_internal.h"
#include "wire/cursor.h"

/*
 * The heavy sweep: NodeInfo of the node at the end of each cable; for a new node its attributes,
 * and then the cables of its ports.
 */

/* Offsets in NodeInfo. */
enum { TYPE = 2, PORTS = 3, GUID = 12, PORT_GUID = 20, LOCAL_PORT = 36 };
enum { TYPE_SWITCH = 2 };

void sm_discovery_fini(struct sm_discovery *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		free(s->nodes[i].ports);
	for (size_t i = 0; i < s->n_paths; i++)
		free(s->paths[i]);
	free(s->paths);
	free(s->nodes);
	map_fini(&s->by_guid);
	*s = (struct sm_discovery){ 0 };
}

const uint8_t *sm_path_to(const struct found_node *n, unsigned port)
{
	return n->ports[port].path ? n->ports[port].path : n->path;
}

/* Allocates a path of `hops` hops, owned by the discovery. */
static uint8_t *new_path(struct sm_discovery *s, unsigned hops)
{
	uint8_t *path = hd_alloc(1U + hops, 1);

	s->paths = hd_grow(s->paths, &s->paths_cap, s->n_paths + 1, sizeof(*s->paths));
	s->paths[s->n_paths++] = path;
	path[0] = (uint8_t)hops;
	return path;
}

/* The path extended by one hop; NULL if a directed route cannot be longer. */
static uint8_t *longer_path(struct sm_discovery *s, const uint8_t *path, unsigned port)
{
	if (path[0] >= MAX_HOPS)
		return NULL;
	uint8_t *more = new_path(s, path[0] + 1U);

	memcpy(more + 1, path + 1, path[0]);
	more[more[0]] = (uint8_t)port;
	return more;
}

static void got_node(struct sm *m, const struct sm_smp *smp, const uint8_t *mad);

static void send_query(struct sm *m, uint32_t node, const uint8_t *path, uint16_t attribute,
		       unsigned port, smp_done done)
{
	struct sm_smp smp = {
		.done = done,
		.path = path,
		.node = node,
		.port = (uint8_t)port,
		.method = MAD_GET,
		.attribute = attribute,
		.modifier = attribute == ATTR_PORT_INFO ? port : 0,
		.written = NO_NODE,
	};

	sm_exchange_send(m, &smp);
}

static const uint8_t *data_of(const uint8_t *mad)
{
	return mad + mad_class(MAD_SMP_DIRECT)->data;
}

static void got_name(struct sm *m, const struct sm_smp *smp, const uint8_t *mad)
{
	if (mad)
		memcpy(m->sweep.nodes[smp->node].name, data_of(mad), BLOCK);
}

static void got_switch(struct sm *m, const struct sm_smp *smp, const uint8_t *mad)
{
	if (mad)
		memcpy(m->sweep.nodes[smp->node].switch_info, data_of(mad), SWITCH_INFO_SIZE);
}

/* Queries the node at the other end of the cable of a port. */
static void query_peer(struct sm *m, uint32_t node, unsigned port)
{
	const struct found_node *n = &m->sweep.nodes[node];
	uint8_t *path = longer_path(&m->sweep, sm_path_to(n, port), port);

	if (path)
		send_query(m, node, path, ATTR_NODE_INFO, port, got_node);
}

static void got_port(struct sm *m, const struct sm_smp *smp, const uint8_t *mad)
{
	struct found_node *n = &m->sweep.nodes[smp->node];
	struct found_port *p = &n->ports[smp->port];

	if (!mad)
		return;
	memcpy(p->info, data_of(mad), BLOCK);
	p->answered = true;
	bool is_up = info_get(m, p->info, PORT_STATE) >= LINK_INIT &&
		     info_get(m, p->info, PORT_PHYSICAL) == PHYSICAL_LINK_UP;

	/* The peer of the port through which the node was discovered is known. */
	if (is_up && p->peer == NO_NODE &&
	    (n->is_switch ? smp->port > 0 : smp->node == 0 && smp->port == m->sweep.own_port))
		query_peer(m, smp->node, smp->port);
}

static uint32_t add_node(struct sm *m, const uint8_t *info, const uint8_t *path)
{
	struct sm_discovery *s = &m->sweep;

	s->nodes = hd_grow(s->nodes, &s->cap, s->n + 1U, sizeof(*s->nodes));
	struct found_node *n = &s->nodes[s->n];

	*n = (struct found_node){
		.guid = load_be64(info + GUID),
		.is_switch = info[TYPE] == TYPE_SWITCH,
		.n_ports = info[PORTS],
		.path = path,
	};
	memcpy(n->info, info, NODE_INFO_SIZE);
	n->ports = hd_alloc(n->n_ports + 1U, sizeof(*n->ports));
	for (unsigned p = 0; p <= n->n_ports; p++)
		n->ports[p].peer = NO_NODE;
	map_put(&s->by_guid, n->guid, s->n);
	send_query(m, s->n, n->path, ATTR_NODE_DESCRIPTION, 0, got_name);
	if (n->is_switch) {
		send_query(m, s->n, n->path, ATTR_SWITCH_INFO, 0, got_switch);
		for (unsigned p = 0; p <= n->n_ports; p++)
			send_query(m, s->n, n->path, ATTR_PORT_INFO, p, got_port);
	}
	return s->n++;
}

/* Records an adapter's port that the sweep has reached. */
static void add_adapter_port(struct sm *m, uint32_t node, const uint8_t *info, const uint8_t *path)
{
	struct found_node *n = &m->sweep.nodes[node];
	unsigned port = info[LOCAL_PORT];

	if (n->is_switch || port > n->n_ports || n->ports[port].path)
		return;
	n->ports[port].path = path;
	n->ports[port].guid = load_be64(info + PORT_GUID);
	send_query(m, node, n->ports[port].path, ATTR_PORT_INFO, port, got_port);
}

static void got_node(struct sm *m, const struct sm_smp *smp, const uint8_t *mad)
{
	struct sm_discovery *s = &m->sweep;

	if (mad) {
		const uint8_t *info = data_of(mad);
		uint32_t node = map_get(&s->by_guid, load_be64(info + GUID));
		unsigned port = info[LOCAL_PORT];

		if (node == MAP_NONE)
			node = add_node(m, info, smp->path);
		if (smp->path[0] == 0 && port <= s->nodes[node].n_ports)
			s->own_port = (uint8_t)port;
		add_adapter_port(m, node, info, smp->path);
		if (smp->path[0] > 0 && port <= s->nodes[node].n_ports) {
			s->nodes[smp->node].ports[smp->port].peer = node;
			s->nodes[smp->node].ports[smp->port].number = (uint8_t)port;
			s->nodes[node].ports[port].peer = smp->node;
			s->nodes[node].ports[port].number = smp->port;
		}
	}
}

void sm_discover(struct sm *m, void (*on_idle)(struct sm *m))
{
	sm_discovery_fini(&m->sweep);
	m->incomplete = false;
	send_query(m, 0, new_path(&m->sweep, 0), ATTR_NODE_INFO, 0, got_node);
	sm_exchange_when_done(m, on_idle);
}
