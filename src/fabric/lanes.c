/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "base/alloc.h"
#include "fabric/parts.h"
#include "qos/lanes.h"

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
			fabric_copy_entries(&rule->high, t.high, &t.n_high);
		if (rule->low.given)
			fabric_copy_entries(&rule->low, t.low, &t.n_low);
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
			.weight = scenario_weight(c),
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

	/* Reservations make them (connections.c). */
	if (scenario_admits(b->scenario))
		return apply_rules(b, d);
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
	const struct scenario *s = b->scenario;

	if (s->opensm) {
		opensm_program(s->opensm, (unsigned)s->qos.entries, &b->subnet);
		return apply_rules(b, d);
	}
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
	const void *field = q->sl2vl.given ? (const void *)&q->sl2vl
			    : q->opensm    ? &q->opensm
					   : NULL;

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
	uint8_t class_of[N_SLS] = { 0 };
	struct diag inner = { .status = HD_OK };
	enum hd_status status = check_split(b, d);

	if (status != HD_OK || q->n_classes == 0)
		return status;
	for (size_t i = 0; i < q->n_classes; i++)
		class_of[q->classes[i].sl] = (uint8_t)i;
	struct lane_split split =
		subnet_split_for(&b->subnet, class_of, (unsigned)q->n_classes);

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
			(uint16_t)(p->key | (full ? PKEY_FULL : 0));
	}
	selection_fini(&hosts);
	return HD_OK;
}

/* A port of a switch or router that enforces lets pass what its host may send
 * or receive. */
static void enforce_at(struct fabric *b, port_id host, const uint16_t *keys,
		       unsigned n)
{
	port_id peer = b->topo.ports[host].peer;

	if (peer == TOPO_NONE || topo_node_of(&b->topo, peer)->kind == NODE_CA)
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

	if (b->scenario->partitions) {
		fabric_program_partitions(b);
		return HD_OK;
	}
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
			b->subnet.pkeys[p].enforce_in = true;
			if (q->enforce)
				enforce_at(b, p, keys[p], n_keys[p]);
		}
		free(keys[p]);
	}
	free(keys);
	free(n_keys);
	return status;
}
