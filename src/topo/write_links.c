/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A line for each cable, in an order that depends on GUIDs only, so that two
 * fabrics can be compared with diff.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "topo/write.h"

struct cable {
	uint64_t guid[2];
	unsigned number[2];
	port_id port;
};

static int by_guid(const void *a, const void *b)
{
	const struct cable *p = a, *q = b;

	for (unsigned i = 0; i < 2; i++) {
		if (p->guid[i] != q->guid[i])
			return p->guid[i] < q->guid[i] ? -1 : 1;
		if (p->number[i] != q->number[i])
			return p->number[i] < q->number[i] ? -1 : 1;
	}
	return 0;
}

/* Seen from the end with the lower GUID (or port, within one node). */
static bool is_first_end(const struct topo *t, port_id port)
{
	const struct topo_port *p = &t->ports[port], *q = &t->ports[p->peer];
	uint64_t a = t->nodes[p->node].guid, b = t->nodes[q->node].guid;

	return a < b || (a == b && p->number < q->number);
}

static void put_cable(const struct topo *t, const struct cable *c, struct strbuf *out)
{
	struct topo_link_state state;

	strbuf_printf(out, "0x%016" PRIx64 " %u 0x%016" PRIx64 " %u", c->guid[0], c->number[0],
		      c->guid[1], c->number[1]);
	if (topo_link_state(t, c->port, &state) == HD_OK)
		strbuf_printf(out, " %ux %s\n", state.lanes, hd_link_speed_name(state.speed));
	else
		strbuf_puts(out, " mismatch\n");
}

void topo_write_links(const struct topo *t, struct strbuf *out)
{
	struct cable *cables = hd_alloc(t->n_ports, sizeof(*cables));
	size_t n = 0;

	for (port_id i = 0; i < t->n_ports; i++) {
		const struct topo_port *p = &t->ports[i];

		if (p->peer == TOPO_NONE || !is_first_end(t, i))
			continue;
		const struct topo_port *q = &t->ports[p->peer];

		cables[n++] = (struct cable){
			.guid = { t->nodes[p->node].guid, t->nodes[q->node].guid },
			.number = { p->number, q->number },
			.port = i,
		};
	}
	qsort(cables, n, sizeof(*cables), by_guid);
	for (size_t i = 0; i < n; i++)
		put_cable(t, &cables[i], out);
	free(cables);
}
