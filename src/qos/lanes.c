/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/lanes.h"

#include <string.h>

#define ONE_PACKET 65 /* blocks of a 4 KiB packet with its headers */

struct sl2vl lanes_map(const struct lane_plan *p)
{
	struct sl2vl map = p->map ? *p->map : sl2vl_default(p->lanes);

	for (size_t i = 0; i < p->n_classes; i++) {
		if (p->classes[i].lane != LANE_ANY)
			map.vl[p->classes[i].sl] = (uint8_t)p->classes[i].lane;
	}
	return map;
}

/* The same on a link with fewer lanes: they are used over again. */
static struct sl2vl folded_map(const struct sl2vl *map, unsigned lanes)
{
	struct sl2vl folded = *map;

	for (unsigned sl = 0; sl < N_SLS; sl++) {
		if (folded.vl[sl] != VL_MANAGEMENT)
			folded.vl[sl] = (uint8_t)(folded.vl[sl] % lanes);
	}
	return folded;
}

/* Appends `weight` for a VL, in as many entries as it needs; false if full. */
static bool add_weight(struct vlarb_entry *entries, uint8_t *n, unsigned vl,
		       uint64_t weight)
{
	while (weight) {
		unsigned part = weight > 255 ? 255 : (unsigned)weight;

		if (*n == VLARB_MAX)
			return false;
		entries[(*n)++] =
			(struct vlarb_entry){ (uint8_t)vl, (uint8_t)part };
		weight -= part;
	}
	return true;
}

/* One table: the one that is given, or what the classes make of it. */
static bool fill_table(const struct lane_plan *p,
		       const struct lane_entries *given, bool high,
		       struct vlarb_entry *entries, uint8_t *n)
{
	struct sl2vl map = lanes_map(p);

	if (given->entries) {
		memcpy(entries, given->entries, given->n * sizeof(*entries));
		*n = given->n;
		return true;
	}
	unsigned block = p->block ? p->block : 1;

	for (size_t i = 0; i < p->n_classes * block; i++) {
		const struct lane_class *c = &p->classes[i / block];
		unsigned vl = map.vl[c->sl];

		if (c->high == high && vl != VL_MANAGEMENT &&
		    !add_weight(entries, n, vl + (unsigned)(i % block),
				c->weight))
			return false;
	}
	return true;
}

static bool has_vl(const struct vlarb_entry *entries, unsigned n, unsigned vl)
{
	for (unsigned i = 0; i < n; i++) {
		if (entries[i].vl == vl)
			return true;
	}
	return false;
}

bool lanes_tables(const struct lane_plan *p, struct vlarb *out)
{
	struct vlarb t = { .high_limit = p->high_limit };
	bool fits = fill_table(p, &p->high, true, t.high, &t.n_high) &&
		    fill_table(p, &p->low, false, t.low, &t.n_low);

	for (unsigned vl = 0; vl < p->lanes && !p->low.entries && fits; vl++) {
		if (!has_vl(t.high, t.n_high, vl) &&
		    !has_vl(t.low, t.n_low, vl))
			fits = add_weight(t.low, &t.n_low, vl, ONE_PACKET);
	}
	if (fits)
		*out = t;
	return fits;
}

void lanes_program_each(struct subnet *s,
			const struct sl2vl map[N_DATA_VLS + 1])
{
	const struct topo *t = s->topo;

	for (port_id p = 0; p < t->n_ports; p++) {
		if (topo_is_end_port(t, p) && s->vls_of_port[p])
			subnet_set_port_sl2vl(s, p, &map[s->vls_of_port[p]]);
	}
	for (switch_id sw = 0; sw < s->n_switches; sw++) {
		node_id v = s->node_of_switch[sw];
		unsigned n = t->nodes[v].n_ports;

		for (unsigned out = 0; out <= n; out++) {
			unsigned lanes =
				s->vls_of_port[topo_port_of(t, v, out)];

			for (unsigned in = 0; lanes && in <= n; in++)
				subnet_set_sl2vl(s, sw, in, out, &map[lanes]);
		}
	}
}

void lanes_program(struct subnet *s, const struct sl2vl *map)
{
	struct sl2vl folded[N_DATA_VLS + 1] = { 0 };

	for (unsigned lanes = 1; lanes <= N_DATA_VLS; lanes++)
		folded[lanes] = folded_map(map, lanes);
	lanes_program_each(s, folded);
}
