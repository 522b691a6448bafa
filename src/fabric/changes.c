/* SPDX-License-Identifier: BSD-2-Clause */
/* Arbitration tables that change during a run (T11c). */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "fabric/fabric_internal.h"

void fabric_copy_entries(const struct scn_vlarb *from, struct vlarb_entry *entries, uint8_t *n)
{
	memcpy(entries, from->entries, from->n * sizeof(*entries));
	*n = from->n;
}

/* Initial tables of the ports, before the first change. */
static void begin(struct fabric *fabric)
{
	struct fabric_changes *c = &fabric->changes;

	c->now = hd_alloc(fabric->setup.n_ports, sizeof(*c->now));
	for (uint32_t i = 0; i < fabric->setup.n_ports; i++) {
		const struct sim_port *p = &fabric->setup.ports[i];

		if (p->peer != SIM_NONE)
			c->now[i] = fabric->subnet.vlarb_of_port[p->origin];
	}
}

/* The table of a sim port after all changes so far. */
static const struct vlarb *table_by_now(struct fabric *fabric, uint32_t port)
{
	if (!fabric->changes.now)
		begin(fabric);
	return &fabric->subnet.vlarb_tables[fabric->changes.now[port]];
}

void fabric_change_table(struct fabric *fabric, hd_time time, uint32_t port, const struct vlarb *to)
{
	struct sim_setup *s = &fabric->setup;
	struct fabric_changes *c = &fabric->changes;

	if (!c->now)
		begin(fabric);
	uint32_t table = subnet_keep_vlarb(&fabric->subnet, to);

	if (table == c->now[port])
		return;
	c->now[port] = table;
	s->changes = hd_grow(s->changes, &c->cap, s->n_changes + 1u, sizeof(*s->changes));
	s->changes[s->n_changes++] = (struct sim_table_change){ time, port, table };
}

void fabric_free_changes(struct fabric *fabric)
{
	free(fabric->setup.changes);
	free(fabric->changes.now);
}

/* Applies a row of qos.changes to the tables of a port. */
static void add_change(struct fabric *fabric, const struct scn_qos_change *from, uint32_t port)
{
	struct vlarb t = *table_by_now(fabric, port);

	if (from->high.given)
		fabric_copy_entries(&from->high, t.high, &t.n_high);
	if (from->low.given)
		fabric_copy_entries(&from->low, t.low, &t.n_low);
	if (from->high_limit != UINT64_MAX)
		t.high_limit = (uint8_t)from->high_limit;
	fabric_change_table(fabric, from->at, port, &t);
}

/* The change that follows `after` (NULL: the first); NULL after the last. */
static const struct scn_qos_change *next_change(const struct scn_qos *q,
						const struct scn_qos_change *after)
{
	const struct scn_qos_change *next = NULL;

	for (size_t i = 0; i < q->n_changes; i++) {
		const struct scn_qos_change *c = &q->changes[i];
		bool later = !after || c->at > after->at || (c->at == after->at && c > after);

		if (later && (!next || c->at < next->at))
			next = c;
	}
	return next;
}

static void add_all(struct fabric *fabric, const struct scn_qos_change *c,
		    const struct selection *ports)
{
	for (uint32_t i = 0; i < ports->n; i++) {
		uint32_t port = fabric->port_of_origin[ports->ports[i]];

		if (port != SIM_NONE && fabric->setup.ports[port].peer != SIM_NONE)
			add_change(fabric, c, port);
	}
}

enum hd_status fabric_build_changes(struct fabric *fabric, struct diag *d)
{
	const struct scn_qos *q = &fabric->scenario->qos;
	const struct scn_qos_change *c = NULL;

	/* Ordered by time, then by position in the file. */
	while ((c = next_change(q, c)) != NULL) {
		struct selection ports;
		struct diag inner = { .status = HD_OK };

		if (select_ports(fabric->selector, c->ports, &inner, &ports) != HD_OK)
			return fabric_refuse(fabric, d, &c->ports, "qos.changes[].ports", &inner);
		add_all(fabric, c, &ports);
		selection_fini(&ports);
	}
	return HD_OK;
}
