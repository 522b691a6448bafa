/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "fabric/parts.h"

#define ONE_PACKET 65 /* blocks of a 4 KiB packet with its headers */

/* The lane of an SL where all lanes are there. */
static struct sl2vl wanted_map(const struct scenario *s)
{
	struct sl2vl map = s->qos.sl2vl.given
				   ? s->qos.sl2vl.table
				   : sl2vl_default((unsigned)s->qos.lanes);

	for (size_t i = 0; i < s->qos.n_classes; i++) {
		const struct scn_class *c = &s->qos.classes[i];

		if (c->lane != SCN_LANE_AUTO)
			map.vl[c->sl] = (uint8_t)c->lane;
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

/* What the classes make of one table; marks the VLs that have a class. */
static bool add_classes(const struct scenario *s, const struct sl2vl *map,
			unsigned priority, struct vlarb_entry *entries,
			uint8_t *n)
{
	for (size_t i = 0; i < s->qos.n_classes; i++) {
		const struct scn_class *c = &s->qos.classes[i];
		unsigned vl = map->vl[c->sl];

		if (c->priority == priority && vl != VL_MANAGEMENT &&
		    !add_weight(entries, n, vl, c->weight))
			return false;
	}
	return true;
}

static void copy_table(const struct scn_vlarb *from,
		       struct vlarb_entry *entries, uint8_t *n)
{
	memcpy(entries, from->entries, from->n * sizeof(*entries));
	*n = from->n;
}

static bool has_vl(const struct vlarb *t, unsigned vl)
{
	for (unsigned i = 0; i < t->n_high; i++) {
		if (t->high[i].vl == vl)
			return true;
	}
	for (unsigned i = 0; i < t->n_low; i++) {
		if (t->low[i].vl == vl)
			return true;
	}
	return false;
}

/* The tables where nothing else is said. */
static enum hd_status wanted_tables(const struct scenario *s,
				    const struct sl2vl *map, struct diag *d,
				    struct vlarb *out)
{
	struct vlarb t = { .high_limit = (uint8_t)s->qos.high_limit };
	bool fits = true;

	if (s->qos.high.given)
		copy_table(&s->qos.high, t.high, &t.n_high);
	else
		fits = add_classes(s, map, SCN_HIGH, t.high, &t.n_high);
	if (s->qos.low.given)
		copy_table(&s->qos.low, t.low, &t.n_low);
	else
		fits = fits && add_classes(s, map, SCN_LOW, t.low, &t.n_low);
	for (unsigned vl = 0; vl < s->qos.lanes && !s->qos.low.given; vl++) {
		if (!has_vl(&t, vl))
			fits = fits &&
			       add_weight(t.low, &t.n_low, vl, ONE_PACKET);
	}
	if (!fits)
		return scenario_refuse(
			s, d, s->qos.classes,
			"the weights of the classes need more than the 64 "
			"entries of a VL arbitration table");
	*out = t;
	return HD_OK;
}

/* Fewer lanes at both ends of the cables that a rule selects. */
static void limit_lanes(struct fabric *b, const struct scn_qos_port *rule,
			const struct selection *ports)
{
	for (uint32_t i = 0; rule->lanes && i < ports->n; i++) {
		port_id p = ports->ports[i], peer = b->topo.ports[p].peer;
		uint8_t lanes = (uint8_t)rule->lanes;

		if (lanes < b->subnet.vls_of_port[p])
			b->subnet.vls_of_port[p] = lanes;
		if (peer != TOPO_NONE && lanes < b->subnet.vls_of_port[peer])
			b->subnet.vls_of_port[peer] = lanes;
	}
}

static void set_tables(struct fabric *b, const struct scn_qos_port *rule,
		       const struct selection *ports)
{
	for (uint32_t i = 0; i < ports->n; i++) {
		struct vlarb t = *vlarb_of(&b->subnet, ports->ports[i]);

		if (rule->high.given)
			copy_table(&rule->high, t.high, &t.n_high);
		if (rule->low.given)
			copy_table(&rule->low, t.low, &t.n_low);
		if (rule->high_limit != UINT64_MAX)
			t.high_limit = (uint8_t)rule->high_limit;
		subnet_set_vlarb(&b->subnet, ports->ports[i], &t);
	}
}

static enum hd_status apply_rules(struct fabric *b, struct diag *d)
{
	const struct scn_qos *q = &b->scenario->qos;

	for (size_t i = 0; i < q->n_ports; i++) {
		struct selection ports;
		struct diag inner = { .status = HD_OK };

		if (select_ports(b->selector, q->ports[i].ports, &inner,
				 &ports) != HD_OK)
			return fabric_refuse(b, d, &q->ports[i].ports,
					     "qos.ports[].ports", &inner);
		limit_lanes(b, &q->ports[i], &ports);
		set_tables(b, &q->ports[i], &ports);
		selection_fini(&ports);
	}
	return HD_OK;
}

/* SL2VL of every end port and of every way through a switch. */
static void set_maps(struct fabric *b, const struct sl2vl *map)
{
	struct subnet *s = &b->subnet;
	struct sl2vl folded[N_DATA_VLS + 1];

	for (unsigned lanes = 1; lanes <= N_DATA_VLS; lanes++)
		folded[lanes] = folded_map(map, lanes);
	for (port_id p = 0; p < b->topo.n_ports; p++) {
		if (topo_is_end_port(&b->topo, p) && s->vls_of_port[p])
			subnet_set_port_sl2vl(s, p, &folded[s->vls_of_port[p]]);
	}
	for (switch_id sw = 0; sw < s->n_switches; sw++) {
		node_id v = s->node_of_switch[sw];
		unsigned n = b->topo.nodes[v].n_ports;

		for (unsigned out = 0; out <= n; out++) {
			unsigned lanes =
				s->vls_of_port[topo_port_of(&b->topo, v, out)];

			for (unsigned in = 0; lanes && in <= n; in++)
				subnet_set_sl2vl(s, sw, in, out,
						 &folded[lanes]);
		}
	}
}

enum hd_status fabric_build_lanes(struct fabric *b, struct diag *d)
{
	const struct scenario *s = b->scenario;
	struct sl2vl map = wanted_map(s);
	struct vlarb tables;
	enum hd_status status = wanted_tables(s, &map, d, &tables);

	if (status != HD_OK)
		return status;
	for (port_id p = 0; p < b->topo.n_ports; p++)
		subnet_set_vlarb(&b->subnet, p, &tables);
	status = apply_rules(b, d);
	if (status == HD_OK)
		set_maps(b, &map);
	return status;
}

/* The tables of a port after all changes so far. */
static const struct vlarb *table_by_now(const struct fabric *b, uint32_t port)
{
	const struct sim_setup *s = &b->setup;

	for (uint32_t i = s->n_changes; i-- > 0;) {
		if (s->changes[i].port == port)
			return &s->changes[i].table;
	}
	return vlarb_of(&b->subnet, s->ports[port].origin);
}

static void add_change(struct fabric *b, const struct scn_qos_change *from,
		       uint32_t port, size_t *cap)
{
	struct sim_setup *s = &b->setup;
	struct sim_table_change c = {
		.time = from->at,
		.port = port,
		.table = *table_by_now(b, port),
	};

	if (from->high.given)
		copy_table(&from->high, c.table.high, &c.table.n_high);
	if (from->low.given)
		copy_table(&from->low, c.table.low, &c.table.n_low);
	if (from->high_limit != UINT64_MAX)
		c.table.high_limit = (uint8_t)from->high_limit;
	s->changes = hd_grow(s->changes, cap, s->n_changes + 1u,
			     sizeof(*s->changes));
	s->changes[s->n_changes++] = c;
}

/* The change that follows `after` (NULL: the first); NULL after the last. */
static const struct scn_qos_change *
next_change(const struct scn_qos *q, const struct scn_qos_change *after)
{
	const struct scn_qos_change *next = NULL;

	for (size_t i = 0; i < q->n_changes; i++) {
		const struct scn_qos_change *c = &q->changes[i];
		bool later = !after || c->at > after->at ||
			     (c->at == after->at && c > after);

		if (later && (!next || c->at < next->at))
			next = c;
	}
	return next;
}

enum hd_status fabric_build_changes(struct fabric *b, struct diag *d)
{
	const struct scn_qos *q = &b->scenario->qos;
	const struct scn_qos_change *c = NULL;
	size_t cap = 0;

	/* By time; what the file says first stays first. */
	while ((c = next_change(q, c)) != NULL) {
		struct selection ports;
		struct diag inner = { .status = HD_OK };

		if (select_ports(b->selector, c->ports, &inner, &ports) !=
		    HD_OK)
			return fabric_refuse(b, d, &c->ports,
					     "qos.changes[].ports", &inner);
		for (uint32_t i = 0; i < ports.n; i++) {
			uint32_t port = b->port_of_origin[ports.ports[i]];

			if (port != SIM_NONE &&
			    b->setup.ports[port].peer != SIM_NONE)
				add_change(b, c, port, &cap);
		}
		selection_fini(&ports);
	}
	return HD_OK;
}

/* Adds a key to the tables of selected hosts. */
static enum hd_status add_members(struct fabric *b, uint16_t **keys,
				  uint16_t *n_keys, size_t row, bool full,
				  struct diag *d)
{
	const struct scn_partition *p = &b->scenario->qos.partitions[row];
	char *const *text = full ? &p->full : &p->limited;
	struct selection hosts;
	struct diag inner = { .status = HD_OK };
	struct rng rng;

	if (!*text)
		return HD_OK;
	rng_init(&rng, b->scenario->run.seed,
		 STREAM_PARTITIONS + 2 * row + full);
	if (select_hosts(b->selector, *text, &rng, &inner, &hosts) != HD_OK)
		return fabric_refuse(b, d, text,
				     full ? "qos.partitions[].full"
					  : "qos.partitions[].limited",
				     &inner);
	for (uint32_t i = 0; i < hosts.n; i++) {
		port_id port = hosts.ports[i];

		keys[port][n_keys[port]++] =
			(uint16_t)(p->key | (full ? 0x8000u : 0));
	}
	selection_fini(&hosts);
	return HD_OK;
}

/* A switch port that enforces lets pass what its host may send or receive. */
static void enforce_at(struct fabric *b, port_id host, const uint16_t *keys,
		       unsigned n)
{
	port_id peer = b->topo.ports[host].peer;

	if (peer == TOPO_NONE ||
	    !topo_is_switch(&b->topo, b->topo.ports[peer].node))
		return;
	subnet_set_pkeys(&b->subnet, peer, keys, n);
	b->subnet.pkeys[peer].enforce_in = true;
	b->subnet.pkeys[peer].enforce_out = true;
}

enum hd_status fabric_build_partitions(struct fabric *b, struct diag *d)
{
	const struct scn_qos *q = &b->scenario->qos;
	const struct selection *hosts = selector_hosts(b->selector);
	size_t most = 1 + 2 * q->n_partitions;
	uint16_t **keys;
	uint16_t *n_keys;
	enum hd_status status = HD_OK;

	if (q->n_partitions == 0 && !q->enforce)
		return HD_OK;
	keys = hd_alloc(b->topo.n_ports, sizeof(*keys));
	n_keys = hd_alloc(b->topo.n_ports, sizeof(*n_keys));
	for (uint32_t i = 0; i < hosts->n; i++) {
		port_id p = hosts->ports[i];

		keys[p] = hd_alloc(most, sizeof(**keys));
		keys[p][n_keys[p]++] = 0xffff;
	}
	for (size_t i = 0; i < 2 * q->n_partitions && status == HD_OK; i++)
		status = add_members(b, keys, n_keys, i / 2, i % 2 == 0, d);
	for (uint32_t i = 0; i < hosts->n; i++) {
		port_id p = hosts->ports[i];

		if (status == HD_OK) {
			subnet_set_pkeys(&b->subnet, p, keys[p], n_keys[p]);
			if (q->enforce)
				enforce_at(b, p, keys[p], n_keys[p]);
		}
		free(keys[p]);
	}
	free(keys);
	free(n_keys);
	return status;
}
