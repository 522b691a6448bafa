/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "fabric/parts.h"
#include "qos/lanes.h"

static void copy_table(const struct scn_vlarb *from,
		       struct vlarb_entry *entries, uint8_t *n)
{
	memcpy(entries, from->entries, from->n * sizeof(*entries));
	*n = from->n;
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

static struct lane_entries entries_of(const struct scn_vlarb *t)
{
	return (struct lane_entries){ t->given ? t->entries : NULL, t->n };
}

/* What the scenario's classes ask of every link. */
static struct lane_plan plan_of(struct fabric *b)
{
	const struct scn_qos *q = &b->scenario->qos;
	struct lane_class *classes =
		fabric_keep(b, q->n_classes, sizeof(*classes));

	for (size_t i = 0; i < q->n_classes; i++) {
		const struct scn_class *c = &q->classes[i];

		classes[i] = (struct lane_class){
			.sl = (uint8_t)c->sl,
			.lane = c->lane == SCN_LANE_AUTO ? LANE_ANY
							 : (int)c->lane,
			.high = c->priority == SCN_HIGH,
			.weight = c->weight,
		};
	}
	return (struct lane_plan){
		.lanes = (unsigned)q->lanes,
		.map = q->sl2vl.given ? &q->sl2vl.table : NULL,
		.classes = classes,
		.n_classes = q->n_classes,
		.high = entries_of(&q->high),
		.low = entries_of(&q->low),
		.high_limit = (uint8_t)q->high_limit,
	};
}

/* The arbitration tables of all ports. */
static enum hd_status arbitrate(struct fabric *b, const struct lane_plan *plan,
				struct diag *d)
{
	struct vlarb tables;

	if (!lanes_tables(plan, &tables))
		return scenario_refuse(
			b->scenario, d, b->scenario->qos.classes,
			"the weights of the classes need more than the 64 "
			"entries of a VL arbitration table");
	for (port_id p = 0; p < b->topo.n_ports; p++)
		subnet_set_vlarb(&b->subnet, p, &tables);
	return apply_rules(b, d);
}

enum hd_status fabric_build_lanes(struct fabric *b, struct diag *d)
{
	struct lane_plan plan = plan_of(b);
	struct sl2vl map = lanes_map(&plan);
	enum hd_status status = arbitrate(b, &plan, d);

	if (status == HD_OK)
		lanes_program(&b->subnet, &map);
	return status;
}

/* What a scenario may not say where an engine chooses lanes. */
static enum hd_status check_split(const struct fabric *b, struct diag *d)
{
	const struct scn_qos *q = &b->scenario->qos;
	const void *field = q->sl2vl.given ? &q->sl2vl : NULL;

	for (size_t i = 0; i < q->n_classes && !field; i++) {
		if (q->classes[i].lane != SCN_LANE_AUTO)
			field = &q->classes[i].lane;
	}
	if (!field)
		return HD_OK;
	return scenario_refuse(b->scenario, d, field,
			       "the routing engine '%s' needs lanes to be free "
			       "of deadlock, and chooses those of all SLs",
			       b->subnet.engine);
}

enum hd_status fabric_split_lanes(struct fabric *b, struct diag *d)
{
	const struct scn_qos *q = &b->scenario->qos;
	struct lane_plan plan = plan_of(b);
	uint8_t class_of_sl[N_SLS] = { 0 };
	struct diag inner = { .status = HD_OK };
	enum hd_status status = check_split(b, d);

	if (status != HD_OK || q->n_classes == 0)
		return status;
	for (size_t i = 0; i < q->n_classes; i++)
		class_of_sl[q->classes[i].sl] = (uint8_t)i;
	struct lane_split split = subnet_split_for(&b->subnet, class_of_sl,
						   (unsigned)q->n_classes);

	if (subnet_split_lanes(&b->subnet, &split, &inner) != HD_OK)
		return fabric_refuse(b, d, q->classes, "qos.classes", &inner);
	struct lane_class *classes =
		fabric_keep(b, plan.n_classes, sizeof(*classes));

	for (size_t i = 0; i < plan.n_classes; i++) {
		classes[i] = plan.classes[i];
		classes[i].lane = (int)(i * split.vls);
	}
	plan.classes = classes;
	plan.block = split.vls;
	return arbitrate(b, &plan, d);
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
