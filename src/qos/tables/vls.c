/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/tables/vls.h"

#include <string.h>

#include "subnet/routing/adaptive.h"

#define ONE_PACKET 65 /* blocks of a 4 KiB packet with its headers */

/* ---- the map of a link ------------------------------------------------- */

static bool has_kinds(const struct vl_plan *p)
{
	return p->n_classes > 0 && p->classes[0].kind != TC_COUNT;
}

/* The requested map, modulo the number of VLs. */
static struct sl2vl wanted_map(const struct vl_plan *p, unsigned vls)
{
	struct sl2vl map = p->map ? *p->map : sl2vl_default(N_DATA_VLS);

	for (size_t i = 0; i < p->n_classes; i++) {
		if (p->classes[i].vl != VL_ANY)
			map.vl[p->classes[i].sl] = (uint8_t)p->classes[i].vl;
	}
	for (unsigned sl = 0; sl < N_SLS; sl++) {
		if (map.vl[sl] != VL_MANAGEMENT)
			map.vl[sl] = (uint8_t)(map.vl[sl] % vls);
	}
	return map;
}

/* Classes that are not dropped: DBTS, DB, BE, PBE, CH, each by SL. */
struct class_order {
	const struct vl_class *class[N_SLS];
	unsigned n;
};

static struct class_order order_classes(const struct vl_plan *p, const struct sl2vl *map)
{
	static const unsigned kinds[] = { TC_DBTS, TC_DB, TC_BE, TC_PBE, TC_CH };
	struct class_order order = { .n = 0 };

	for (unsigned k = 0; k < TC_COUNT * N_SLS; k++) {
		for (size_t i = 0; i < p->n_classes; i++) {
			const struct vl_class *c = &p->classes[i];

			if (c->kind == kinds[k / N_SLS] && c->sl == k % N_SLS &&
			    map->vl[c->sl] != VL_MANAGEMENT)
				order.class[order.n++] = c;
		}
	}
	return order;
}

static bool keeps_kinds_apart(const struct class_order *o, const struct sl2vl *map)
{
	for (unsigned i = 0; i < o->n; i++) {
		for (unsigned k = 0; k < i; k++) {
			if (o->class[i] -> kind != o -> class[k] -> kind && map
			    -> vl[o->class[i] -> sl] == map -> vl[o->class[k] -> sl])
				return false;
		}
	}
	return true;
}

/* How early neighbours in the order are merged; BORDERS kinds. */
#define BORDERS 6
static unsigned border_between(unsigned before, unsigned kind)
{
	if (before == kind)
		return kind == TC_DBTS ? 2 : 1;
	if (before == TC_DBTS && kind == TC_DB)
		return 4;
	if (before <= TC_DB)
		return 5;
	return kind == TC_CH ? 3 : 0;
}

/* Removes `excess` of `n` borders of one kind, evenly. */
static void remove_borders(const struct class_order *o, unsigned border, unsigned n,
			   unsigned excess, bool ends[N_SLS])
{
	unsigned groups = n - excess + 1, seen = 0;

	for (unsigned i = 1; i < o->n; i++) {
		if (border_between(o->class[i - 1] -> kind, o -> class[i] -> kind) != border)
			continue;
		seen++;
		ends[i] = seen * groups / (n + 1) != (seen - 1) * groups / (n + 1);
	}
}

/* Assigns each class, in order, to one of at most `most` groups; returns their number. */
static unsigned group_classes(const struct class_order *o, unsigned most, unsigned group[N_SLS])
{
	unsigned n[BORDERS] = { 0 }, left = o->n;
	bool ends[N_SLS];

	for (unsigned i = 1; i < o->n; i++) {
		ends[i] = true;
		n[border_between(o->class[i - 1] -> kind, o -> class[i] -> kind)]++;
	}
	for (unsigned b = 0; b < BORDERS && left > most; b++) {
		unsigned excess = left - most < n[b] ? left - most : n[b];

		remove_borders(o, b, n[b], excess, ends);
		left -= excess;
	}
	group[0] = 0;
	for (unsigned i = 1; i < o->n; i++)
		group[i] = group[i - 1] + ends[i];
	return left;
}

#define NO_GROUP    N_SLS
#define MANY_GROUPS (N_SLS + 1)

/* Assigns a VL to each group that needs one; false: too few VLs. */
static bool place_groups(const struct vl_plan *p, const struct class_order *o,
			 const unsigned group[N_SLS], unsigned vls, struct sl2vl *map)
{
	unsigned owner[N_DATA_VLS];
	bool fixed = vls == p->vls;

	for (unsigned vl = 0; vl < N_DATA_VLS; vl++)
		owner[vl] = NO_GROUP;
	for (unsigned i = 0; i < o->n && fixed; i++) {
		unsigned *at = &owner[map->vl[o->class[i] -> sl]];

		if (p->map || o->class[i] -> vl != VL_ANY)
			*at = *at == NO_GROUP || *at == group[i] ? group[i] : MANY_GROUPS;
	}
	for (unsigned i = 0; i < o->n; i++) {
		unsigned vl = 0;

		if (fixed && (p->map || o->class[i] -> vl != VL_ANY))
			continue;
		while (vl < vls && owner[vl] != group[i])
			vl++;
		for (unsigned k = 0; vl == vls && k < vls; k++)
			vl = owner[k] == NO_GROUP ? k : vls;
		if (vl == vls)
			return false;
		owner[vl] = group[i];
		map->vl[o->class[i] -> sl] = (uint8_t)vl;
	}
	return true;
}

/* SLs that no class has travel with the first class of BE, PBE, CH. */
static void map_other_sls(const struct vl_plan *p, const struct class_order *o, unsigned vls,
			  struct sl2vl *map)
{
	uint16_t sls = 0, taken = 0;
	unsigned vl = vls;

	for (size_t i = 0; i < p->n_classes; i++)
		sls |= (uint16_t)(1u << p->classes[i].sl);
	for (unsigned i = o->n; i-- > 0;) {
		taken |= (uint16_t)(1u << map->vl[o->class[i] -> sl]);
		if (o->class[i] -> kind > TC_DB)
			vl = map->vl[o->class[i] -> sl];
	}
	for (unsigned k = vls; vl == vls && k-- > 0;)
		vl = taken >> k & 1 ? vls : k;
	for (unsigned sl = 0; sl < N_SLS; sl++) {
		if (!(sls >> sl & 1) && map->vl[sl] != VL_MANAGEMENT && vl < vls)
			map->vl[sl] = (uint8_t)vl;
	}
}

struct sl2vl qos_vls_map(const struct vl_plan *p, unsigned vls)
{
	const struct sl2vl wanted = wanted_map(p, vls);
	const struct class_order order = order_classes(p, &wanted);
	struct sl2vl map = wanted;

	if (!has_kinds(p))
		return map;
	if (!keeps_kinds_apart(&order, &wanted)) {
		unsigned group[N_SLS];
		unsigned n = group_classes(&order, vls, group);

		while (map = wanted, !place_groups(p, &order, group, vls, &map))
			n = group_classes(&order, n - 1, group);
	}
	if (!p->map || vls != p->vls)
		map_other_sls(p, &order, vls, &map);
	return map;
}

void qos_vls_sharing(const struct vl_plan *p, const struct sl2vl *map, struct strbuf *out)
{
	const struct class_order o = order_classes(p, map);
	static const char *const lost[BORDERS] = {
		"PBE shares a VL with BE",
		"DB classes share VLs (head-of-line blocking between slow and fast connections)",
		"DBTS classes share VLs (head-of-line blocking between slow and fast connections)",
		"CH shares a VL with BE and is not kept from it",
		"DBTS shares a VL with DB, so its latency bound counts DB's bursts too",
		"reserved classes share a VL with best effort: nothing is protected",
	};
	bool shared[BORDERS] = { false };
	const char *comma = "";

	for (unsigned i = 0; i < o.n && has_kinds(p); i++) {
		for (unsigned k = 0; k < i; k++) {
			if (map->vl[o.class[i] -> sl] == map->vl[o.class[k] -> sl])
				shared[border_between(o.class[k] -> kind, o.class[i] -> kind)] =
					true;
		}
	}
	for (unsigned b = 0; b < BORDERS; b++) {
		if (!shared[b] || (shared[BORDERS - 1] && b < BORDERS - 1))
			continue;
		strbuf_printf(out, "%s%s", comma, lost[b]);
		comma = "; ";
	}
}

/* ---- arbitration tables ------------------------------------------------ */

/* Appends `weight` for a VL, in as many entries as it needs; false if full. */
static bool add_weight(struct vlarb_entry *entries, uint8_t *n, unsigned vl, uint64_t weight)
{
	while (weight) {
		unsigned part = weight > 255 ? 255 : (unsigned)weight;

		if (*n == VLARB_MAX)
			return false;
		entries[(*n)++] = (struct vlarb_entry){ (uint8_t)vl, (uint8_t)part };
		weight -= part;
	}
	return true;
}

/* Fills one table from given entries, or from the classes. */
static bool fill_table(const struct vl_plan *p, const struct vl_entries *given, bool high,
		       struct vlarb_entry *entries, uint8_t *n)
{
	struct sl2vl map = qos_vls_map(p, p->vls);

	if (given->entries) {
		memcpy(entries, given->entries, given->n * sizeof(*entries));
		*n = given->n;
		return true;
	}
	unsigned block = p->block ? p->block : 1;

	for (size_t i = 0; i < p->n_classes * block; i++) {
		const struct vl_class *c = &p->classes[i / block];
		unsigned vl = map.vl[c->sl];

		if (c->high == high && vl != VL_MANAGEMENT &&
		    !add_weight(entries, n, vl + (unsigned)(i % block), c->weight))
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

bool qos_vls_tables(const struct vl_plan *p, struct vlarb *out)
{
	struct vlarb t = { .high_limit = p->high_limit };
	bool fits = fill_table(p, &p->high, true, t.high, &t.n_high) &&
		    fill_table(p, &p->low, false, t.low, &t.n_low);

	for (unsigned vl = 0; vl < p->vls && !p->low.entries && fits; vl++) {
		if (!has_vl(t.high, t.n_high, vl) && !has_vl(t.low, t.n_low, vl))
			fits = add_weight(t.low, &t.n_low, vl, ONE_PACKET);
	}
	if (fits)
		*out = t;
	return fits;
}

/* ---- all links of a subnet --------------------------------------------- */

void qos_vls_program(struct subnet *s, const struct vl_plan *p)
{
	struct sl2vl map[N_DATA_VLS + 1] = { 0 };
	const struct topo *t = s->topo;

	for (unsigned vls = 1; vls <= N_DATA_VLS; vls++)
		map[vls] = qos_vls_map(p, vls);
	for (port_id port = 0; port < t->n_ports; port++) {
		if (topo_is_end_port(t, port) && s->vls_of_port[port])
			subnet_set_port_sl2vl(s, port, &map[s->vls_of_port[port]]);
	}
	for (switch_id sw = 0; sw < s->n_switches; sw++) {
		node_id v = s->node_of_switch[sw];
		unsigned n = t->nodes[v].n_ports;

		for (unsigned out = 0; out <= n; out++) {
			unsigned vls = s->vls_of_port[topo_port_of(t, v, out)];

			for (unsigned in = 0; vls && in <= n; in++)
				subnet_set_sl2vl(s, sw, in, out, &map[vls]);
		}
	}
}

/* Blocks that every cable has VLs for. */
static unsigned count_blocks(const struct subnet *s, const struct vl_split *need)
{
	const struct topo *t = s->topo;
	unsigned blocks = need->sls ? N_SLS / need->sls : N_DATA_VLS;

	for (port_id p = 0; p < t->n_ports; p++) {
		unsigned fit = s->vls_of_port[p] / need->vls;

		if (t->ports[p].peer != TOPO_NONE && fit < blocks)
			blocks = fit;
	}
	return blocks < N_DATA_VLS ? blocks : N_DATA_VLS;
}

/* Blocks of SLs are routed adaptively if the SLs of all their classes are. */
static uint16_t adaptive_blocks(const struct subnet *s, const struct vl_plan *p,
				const struct vl_split *split)
{
	unsigned block = (1u << split->sls) - 1;
	uint16_t sls = UINT16_MAX;

	for (size_t i = 0; i < p->n_classes && s->adaptive; i++) {
		unsigned sl = p->classes[i].sl;
		unsigned first = split->class_of_sl[sl] * split->sls;

		if (!(s->adaptive->sls >> sl & 1))
			sls &= (uint16_t) ~(block << first);
	}
	return sls;
}

enum hd_status qos_vls_split(struct subnet *s, const struct vl_plan *p, struct diag *d,
			     struct sl2vl *blocks)
{
	const struct sl2vl none = { { 0 } };
	struct vl_split split = subnet_split_for(s, none.vl, 1);
	unsigned room = count_blocks(s, &split), n = (unsigned)p->n_classes;
	struct vl_class classes[N_SLS];
	bool fits = n <= room;

	/* Kinds are put together; without kinds too few VLs are an error. */
	if (has_kinds(p) && !fits)
		n = room ? room : 1;
	for (size_t i = 0; i < p->n_classes; i++) {
		classes[i] = p->classes[i];
		classes[i].vl = has_kinds(p) && !fits ? VL_ANY : (int)i;
	}
	const struct vl_plan fold = { .vls = n,
				      .map = has_kinds(p) ? NULL : &none,
				      .classes = classes,
				      .n_classes = p->n_classes };

	*blocks = qos_vls_map(&fold, n);
	split = subnet_split_for(s, blocks->vl, n);
	split.adaptive_sls = adaptive_blocks(s, p, &split);
	return subnet_split_vls(s, &split, d);
}
