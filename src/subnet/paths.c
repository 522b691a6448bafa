/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/paths.h"

#include <stdlib.h>

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
