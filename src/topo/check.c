/* SPDX-License-Identifier: BSD-2-Clause */
#include "topo/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "topo/shape.h"

static void check_isolated(const struct topo *t, struct topo_problems *out)
{
	struct shape g;

	shape_init(&g, t);
	uint32_t *part = hd_alloc(g.n, sizeof(*part));
	uint32_t n_parts = shape_parts(&g, part), largest = 0;
	uint32_t *size = hd_alloc(n_parts, sizeof(*size));
	node_id *first = hd_alloc(n_parts, sizeof(*first));

	for (node_id v = t->n_nodes; v-- > 0;) {
		uint32_t p = part[g.vertex_of[v]];

		size[p]++;
		first[p] = v;
	}
	for (uint32_t p = 0; p < n_parts; p++)
		largest = size[p] > size[largest] ? p : largest;
	for (uint32_t p = 0; p < n_parts; p++) {
		const struct topo_node *v = &t->nodes[first[p]];

		if (p == largest)
			continue;
		if (size[p] == 1)
			problems_add(out, PROBLEM_ISOLATED, v->line, 0,
				     "no cable joins '%.*s' to anything", PROBLEM_NAME, v->name);
		else
			problems_add(out, PROBLEM_ISOLATED, v->line, 0,
				     "nothing joins '%.*s' and %u other nodes to the rest",
				     PROBLEM_NAME, v->name, size[p] - 1);
	}
	free(part);
	free(size);
	free(first);
	shape_fini(&g);
}

static void put_end(const struct topo *t, port_id port, char *out, size_t size)
{
	const struct topo_node *v = topo_node_of(t, port);

	snprintf(out, size, "port %u of '%.*s'", t->ports[port].number, PROBLEM_NAME, v->name);
}

static void check_guids(const struct topo *t, struct topo_problems *out)
{
	struct map seen = { 0 };

	for (port_id i = 0; i < t->n_ports; i++) {
		const struct topo_port *p = &t->ports[i];
		bool of_switch = topo_is_switch(t, p->node);

		if (!p->guid || (of_switch ? p->number > 0 : p->number == 0))
			continue;
		uint32_t other = map_put(&seen, p->guid, i);

		if (other == MAP_NONE)
			continue;
		char a[120];

		put_end(t, other, a, sizeof(a));
		problems_add(out, PROBLEM_GUID_CLASH, p->line, t->ports[other].line,
			     "port GUID 0x%016" PRIx64 " is that of %s too", p->guid, a);
	}
	map_fini(&seen);
}

/* An end port with LMC m has 2^m LIDs from its base LID on. */
static void check_lids(const struct topo *t, struct topo_problems *out)
{
	struct map seen = { 0 };

	for (port_id i = 0; i < t->n_ports; i++) {
		const struct topo_port *p = &t->ports[i];

		for (uint32_t k = 0; p->lid && k < 1u << p->lmc; k++) {
			uint64_t key = (uint64_t)p->subnet << 32 | (p->lid + k);
			uint32_t other = map_put(&seen, key, i);
			char a[120];

			if (other == MAP_NONE || other == i)
				continue;
			put_end(t, other, a, sizeof(a));
			problems_add(out, PROBLEM_LID_CLASH, p->line, t->ports[other].line,
				     "LID %u is that of %s too", p->lid + k, a);
			break;
		}
	}
	map_fini(&seen);
}

void topo_check(const struct topo *t, struct topo_problems *out)
{
	check_isolated(t, out);
	check_guids(t, out);
	check_lids(t, out);
	problems_sort(out);
}
