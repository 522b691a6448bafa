/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "subnet/routing/adaptive.h"
#include "subnet/subnet.h"

struct vl_split subnet_split_for(const struct subnet *s, const uint8_t classes[N_SLS],
				 unsigned n_classes)
{
	struct vl_split split = {
		.n_classes = (uint8_t)n_classes,
		.vls = (uint8_t)s->vls_used,
		.adaptive_sls = UINT16_MAX,
	};
	size_t n = s->sl_of_path ? (size_t)s->n_sl_rows * s->lft_stride : 0;

	memcpy(split.class_of_sl, classes, N_SLS);
	for (size_t i = 0; i < n; i++) {
		if (s->sl_of_path[i] >= split.sls)
			split.sls = (uint8_t)(s->sl_of_path[i] + 1);
	}
	return split;
}

/* Describes the parts of a split that do not fit; false if all do. */
static bool lacks(const struct subnet *s, const struct vl_split *split, struct diag *d)
{
	const struct topo *t = s->topo;
	unsigned sls = (unsigned)split->n_classes * split->sls;
	unsigned vls = (unsigned)split->n_classes * split->vls;

	if (sls > N_SLS) {
		diag_fail(d, HD_ERR_UNFIT,
			  "%s needs %u SL%s for itself; %u classes need %u, and there are %u",
			  s->engine, split->sls, split->sls == 1 ? "" : "s", split->n_classes, sls,
			  N_SLS);
		return true;
	}
	for (port_id p = 0; p < t->n_ports; p++) {
		if (t->ports[p].peer == TOPO_NONE || s->vls_of_port[p] >= vls)
			continue;
		diag_fail(
			d, HD_ERR_UNFIT,
			"%s needs %u VL%s for itself; %u classes need %u, and port %u of '%s' has %u",
			s->engine, split->vls, split->vls == 1 ? "" : "s", split->n_classes, vls,
			t->ports[p].number, topo_node_of(t, p)->name, s->vls_of_port[p]);
		return true;
	}
	return false;
}

/*
 * Repeats the VLs in every block and drops those beyond the blocks. On the first link, packets may
 * use any VL of their block.
 */
static struct sl2vl split_map(const struct sl2vl *old, const struct vl_split *split)
{
	struct sl2vl map;

	for (unsigned sl = 0; sl < N_SLS; sl++) {
		unsigned class = split->sls ? sl / split->sls : split->class_of_sl[sl];
		unsigned vl = old->vl[split->sls ? sl % split->sls : 0];

		map.vl[sl] = class < split->n_classes
				     ? (uint8_t)(class * split->vls + vl % split->vls)
				     : VL_MANAGEMENT;
	}
	return map;
}

static void split_switch(struct subnet *s, const struct vl_split *split, switch_id sw)
{
	unsigned n = switch_node(s, sw)->n_ports + 1u;

	for (unsigned i = 0; i < n * n; i++) {
		struct sl2vl map = split_map(sl2vl_at(s, sw, i / n, i % n), split);

		subnet_set_sl2vl(s, sw, i / n, i % n, &map);
	}
}

enum hd_status subnet_split_vls(struct subnet *s, const struct vl_split *split, struct diag *d)
{
	if (lacks(s, split, d))
		return d->status;
	for (switch_id sw = 0; sw < s->n_switches; sw++)
		split_switch(s, split, sw);
	for (port_id p = 0; p < s->topo->n_ports; p++) {
		if (!topo_is_end_port(s->topo, p))
			continue;
		struct sl2vl map = split_map(sl2vl_of(s, p), split);

		subnet_set_port_sl2vl(s, p, &map);
	}
	s->split = *split;
	if (s->adaptive && split->sls)
		s->adaptive->sls = split->adaptive_sls;
	return HD_OK;
}
