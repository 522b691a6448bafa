/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/paths.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Calls for each LID that leaves the fabric at a switch: counts or stores. */
static void each_dest(struct path_dests *p, const struct subnet *s,
		      uint32_t *fill)
{
	for (unsigned sub = 0; sub < s->n_subnets; sub++) {
		for (uint32_t lid = 1; lid <= s->top_lid[sub]; lid++) {
			struct path_dest d = {
				.owner = s->port_of_lid[sub][lid],
				.lid = (lid_t)lid,
				.subnet = (uint16_t)sub,
			};
			switch_id sw;

			if (!subnet_target(s, sub, (lid_t)lid, &sw, &d.port))
				continue;
			if (fill)
				p->dests[fill[sw]++] = d;
			else
				p->first[sw + 1]++;
		}
	}
}

void path_dests_init(struct path_dests *p, const struct subnet *s,
		     const struct sw_graph *g)
{
	uint32_t *fill = hd_alloc(g->n, sizeof(*fill));

	*p = (struct path_dests){ .first = hd_alloc(g->n + 1u,
						    sizeof(*p->first)) };
	each_dest(p, s, NULL);
	for (switch_id sw = 0; sw < g->n; sw++) {
		fill[sw] = p->first[sw];
		p->first[sw + 1] += p->first[sw];
	}
	p->n = p->first[g->n];
	p->dests = hd_alloc(p->n, sizeof(*p->dests));
	each_dest(p, s, fill);
	free(fill);
}

void path_dests_fini(struct path_dests *p)
{
	free(p->first);
	free(p->dests);
	*p = (struct path_dests){ .n = 0 };
}

void path_column(const struct subnet *s, const struct sw_graph *g,
		 switch_id target, const struct path_dest *d, edge_id *next)
{
	const uint8_t *entry = s->lft + d->lid;

	for (switch_id sw = 0; sw < g->n; sw++, entry += s->lft_stride) {
		edge_id e = edge_of(g, sw, *entry);

		if (*entry == LFT_NO_PORT ||
		    (s->n_subnets > 1 && subnet_of_switch(s, sw) != d->subnet))
			e = PATH_NO_ENTRY;
		else if (sw == target && *entry == d->port)
			e = PATH_ARRIVED;
		else if (e == TOPO_NONE)
			e = PATH_ASTRAY;
		next[sw] = e;
	}
}

#define UNKNOWN UINT16_MAX
#define WALKING PATH_NOT_ARRIVED

static uint16_t hops_of_end(edge_id next)
{
	switch (next) {
	case PATH_ARRIVED:
		return 0;
	case PATH_NO_ENTRY:
		return PATH_HOPS_NO_ENTRY;
	default:
		return PATH_HOPS_ASTRAY;
	}
}

/* Follows the column from `sw`; all switches passed learn their hops. */
static void walk(const struct sw_graph *g, const edge_id *next, uint16_t *hops,
		 switch_id *stack, switch_id sw)
{
	uint32_t depth = 0;

	while (hops[sw] == UNKNOWN && path_goes_on(next[sw])) {
		hops[sw] = WALKING;
		stack[depth++] = sw;
		sw = g->edges[next[sw]].to;
	}
	if (hops[sw] == WALKING)
		hops[sw] = PATH_HOPS_LOOP;
	else if (hops[sw] == UNKNOWN)
		hops[sw] = hops_of_end(next[sw]);
	uint16_t here = hops[sw];

	while (depth > 0) {
		if (here < PATH_NOT_ARRIVED)
			here++;
		hops[stack[--depth]] = here;
	}
}

void path_hops(const struct sw_graph *g, const edge_id *next, uint16_t *hops,
	       switch_id *stack)
{
	memset(hops, 0xFF, g->n * sizeof(*hops));
	for (switch_id sw = 0; sw < g->n; sw++)
		walk(g, next, hops, stack, sw);
}
