/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "base/alloc.h"
#include "fabric/fabric_internal.h"
#include "qos/tables/vls.h"

/* Fewer VLs at both ends of the cables that a rule selects. */
static void limit_vls(struct fabric *fabric, const struct scn_qos_port *rule,
		      const struct selection *ports)
{
	for (uint32_t i = 0; rule->vls && i < ports->n; i++) {
		port_id p = ports->ports[i], peer = fabric->topo.ports[p].peer;
		uint8_t vls = (uint8_t)rule->vls;

		if (vls < fabric->subnet.vls_of_port[p])
			fabric->subnet.vls_of_port[p] = vls;
		if (peer != TOPO_NONE && vls < fabric->subnet.vls_of_port[peer])
			fabric->subnet.vls_of_port[peer] = vls;
	}
}

static void set_tables(struct fabric *fabric, const struct scn_qos_port *rule,
		       const struct selection *ports)
{
	for (uint32_t i = 0; i < ports->n; i++) {
		struct vlarb t = *vlarb_of(&fabric->subnet, ports->ports[i]);

		if (rule->high.given)
			fabric_copy_entries(&rule->high, t.high, &t.n_high);
		if (rule->low.given)
			fabric_copy_entries(&rule->low, t.low, &t.n_low);
		if (rule->high_limit != UINT64_MAX)
			t.high_limit = (uint8_t)rule->high_limit;
		subnet_set_vlarb(&fabric->subnet, ports->ports[i], &t);
	}
}

static enum hd_status apply_rules(struct fabric *fabric, struct diag *d)
{
	const struct scn_qos *q = &fabric->scenario->qos;

	for (size_t i = 0; i < q->n_ports; i++) {
		struct selection ports;
		struct diag inner = { .status = HD_OK };

		if (select_ports(fabric->selector, q->ports[i].ports, &inner, &ports) != HD_OK)
			return fabric_refuse(fabric, d, &q->ports[i].ports, "qos.ports[].ports",
					     &inner);
		limit_vls(fabric, &q->ports[i], &ports);
		set_tables(fabric, &q->ports[i], &ports);
		selection_fini(&ports);
	}
	return HD_OK;
}

/* ---- SL2VL maps of single ports ---------------------------------------- */

/* A map must use the VLs of the link only. */
static enum hd_status check_map(const struct fabric *fabric, struct diag *d,
				const struct scn_qos_port *rule, port_id port)
{
	unsigned vls = fabric->subnet.vls_of_port[port];

	for (unsigned sl = 0; sl < N_SLS; sl++) {
		unsigned vl = rule->sl2vl.table.vl[sl];

		if (vl >= vls && vl != VL_MANAGEMENT)
			return scenario_refuse(
				fabric->scenario, d, &rule->sl2vl,
				"qos.ports[].sl2vl: SL %u goes to VL %u, but port %u of '%s' has %u VL%s",
				sl, vl, fabric->topo.ports[port].number,
				topo_node_of(&fabric->topo, port)->name, vls, vls == 1 ? "" : "s");
	}
	if (rule->from && topo_is_end_port(&fabric->topo, port))
		return scenario_refuse(
			fabric->scenario, d, &rule->from,
			"qos.ports[].from: port %u of '%s' is not a switch port; only switches map SLs by input port",
			fabric->topo.ports[port].number, topo_node_of(&fabric->topo, port)->name);
	return HD_OK;
}

/* Input ports of a rule, by port_id, including ports with a cable to a selected host. NULL: all. */
static enum hd_status read_inputs(const struct fabric *fabric, struct diag *d,
				  const struct scn_qos_port *rule, bool **out)
{
	struct diag inner = { .status = HD_OK };
	struct selection from;

	*out = NULL;
	if (!rule->from)
		return HD_OK;
	if (select_ports(fabric->selector, rule->from, &inner, &from) != HD_OK)
		return fabric_refuse(fabric, d, &rule->from, "qos.ports[].from", &inner);
	*out = hd_alloc(fabric->topo.n_ports, sizeof(**out));
	for (uint32_t i = 0; i < from.n; i++) {
		port_id p = from.ports[i], peer = fabric->topo.ports[p].peer;

		(*out)[p] = true;
		if (topo_is_end_port(&fabric->topo, p) && peer != TOPO_NONE)
			(*out)[peer] = true;
	}
	selection_fini(&from);
	return HD_OK;
}

static void set_map(struct fabric *fabric, const struct sl2vl *map, port_id port,
		    const bool *inputs)
{
	const struct topo_port *p = &fabric->topo.ports[port];
	switch_id sw = fabric->subnet.switch_of_node[p->node];

	if (sw == TOPO_NONE) {
		subnet_set_port_sl2vl(&fabric->subnet, port, map);
		return;
	}
	for (unsigned in = 0; in <= fabric->topo.nodes[p->node].n_ports; in++) {
		if (!inputs || inputs[topo_port_of(&fabric->topo, p->node, in)])
			subnet_set_sl2vl(&fabric->subnet, sw, in, p->number, map);
	}
}

static enum hd_status apply_map(struct fabric *fabric, struct diag *d,
				const struct scn_qos_port *rule)
{
	struct diag inner = { .status = HD_OK };
	enum hd_status status;
	struct selection ports;
	bool *inputs;

	if (read_inputs(fabric, d, rule, &inputs) != HD_OK)
		return d->status;
	status = select_ports(fabric->selector, rule->ports, &inner, &ports);
	if (status != HD_OK) {
		free(inputs);
		return fabric_refuse(fabric, d, &rule->ports, "qos.ports[].ports", &inner);
	}
	for (uint32_t i = 0; i < ports.n && status == HD_OK; i++) {
		status = check_map(fabric, d, rule, ports.ports[i]);
		if (status == HD_OK)
			set_map(fabric, &rule->sl2vl.table, ports.ports[i], inputs);
	}
	selection_fini(&ports);
	free(inputs);
	return status;
}

/* Applies rules after the maps of all links; the last rule counts. */
static enum hd_status apply_maps(struct fabric *fabric, struct diag *d)
{
	const struct scn_qos *q = &fabric->scenario->qos;
	enum hd_status status = HD_OK;

	for (size_t i = 0; i < q->n_ports && status == HD_OK; i++) {
		if (q->ports[i].sl2vl.given)
			status = apply_map(fabric, d, &q->ports[i]);
	}
	return status;
}

/* ---- what classes ask for ---------------------------------------------- */

static struct vl_entries entries_of(const struct scn_vlarb *t)
{
	return (struct vl_entries){ t->given ? t->entries : NULL, t->n };
}

/* The requirements of the scenario's classes for all links. */
static struct vl_plan plan_of(struct fabric *fabric)
{
	const struct scn_qos *q = &fabric->scenario->qos;
	struct vl_class *classes = fabric_keep(fabric, q->n_classes, sizeof(*classes));

	for (size_t i = 0; i < q->n_classes; i++) {
		const struct scn_class *c = &q->classes[i];

		classes[i] = (struct vl_class){
			.sl = (uint8_t)c->sl,
			.kind = c->kind,
			.vl = c->vl == SCN_VL_AUTO ? VL_ANY : (int)c->vl,
			.high = c->priority == SCN_HIGH,
			.weight = scenario_weight(c),
		};
	}
	return (struct vl_plan){
		.vls = (unsigned)q->vls,
		.map = q->sl2vl.given ? &q->sl2vl.table : NULL,
		.classes = classes,
		.n_classes = q->n_classes,
		.high = entries_of(&q->high),
		.low = entries_of(&q->low),
		.high_limit = (uint8_t)q->high_limit,
	};
}

/* The arbitration tables of all ports. */
static enum hd_status arbitrate(struct fabric *fabric, const struct vl_plan *plan, struct diag *d)
{
	struct vlarb tables;

	/* Reservations create them (connections.c). */
	if (scenario_admits(fabric->scenario))
		return apply_rules(fabric, d);
	if (!qos_vls_tables(plan, &tables))
		return scenario_refuse(
			fabric->scenario, d, fabric->scenario->qos.classes,
			"the weights of the classes need more than the 64 entries of a VL arbitration table");
	for (port_id p = 0; p < fabric->topo.n_ports; p++)
		subnet_set_vlarb(&fabric->subnet, p, &tables);
	return apply_rules(fabric, d);
}

enum hd_status fabric_build_vls(struct fabric *fabric, struct diag *d)
{
	const struct scenario *s = fabric->scenario;
	enum hd_status status;

	if (s->opensm) {
		opensm_program(s->opensm, (unsigned)s->qos.entries, &fabric->subnet);
		status = apply_rules(fabric, d);
	} else {
		struct vl_plan plan = plan_of(fabric);

		status = arbitrate(fabric, &plan, d);
		if (status == HD_OK)
			qos_vls_program(&fabric->subnet, &plan);
	}
	return status == HD_OK ? apply_maps(fabric, d) : status;
}

/* Rejects fields that conflict with a routing algorithm that chooses VLs. */
static enum hd_status check_split(const struct fabric *fabric, struct diag *d)
{
	const struct scn_qos *q = &fabric->scenario->qos;
	const void *field = q->sl2vl.given ? (const void *)&q->sl2vl
			    : q->opensm    ? &q->opensm
					   : NULL;

	for (size_t i = 0; i < q->n_classes && !field; i++) {
		if (q->classes[i].vl != SCN_VL_AUTO)
			field = &q->classes[i].vl;
	}
	for (size_t i = 0; i < q->n_ports && !field; i++) {
		if (q->ports[i].sl2vl.given)
			field = &q->ports[i].sl2vl;
	}
	if (!field)
		return HD_OK;
	return scenario_refuse(
		fabric->scenario, d, field,
		"the routing engine '%s' needs VLs to be free of deadlock, and chooses those of all SLs",
		fabric->subnet.engine);
}

enum hd_status fabric_split_vls(struct fabric *fabric, struct diag *d)
{
	const struct scn_qos *q = &fabric->scenario->qos;
	struct vl_plan plan = plan_of(fabric);
	struct diag inner = { .status = HD_OK };
	enum hd_status status = check_split(fabric, d);
	struct sl2vl blocks;

	if (status != HD_OK || q->n_classes == 0)
		return status;
	if (qos_vls_split(&fabric->subnet, &plan, &inner, &blocks) != HD_OK)
		return fabric_refuse(fabric, d, q->classes, "qos.classes", &inner);
	struct vl_class *classes = fabric_keep(fabric, plan.n_classes, sizeof(*classes));

	plan.block = fabric->subnet.split.vls;
	for (size_t i = 0; i < plan.n_classes; i++) {
		classes[i] = plan.classes[i];
		classes[i].vl = (int)(blocks.vl[classes[i].sl] * plan.block);
	}
	plan.classes = classes;
	return arbitrate(fabric, &plan, d);
}

uint16_t fabric_unreserved_sls(const struct fabric *fabric)
{
	const struct scenario *s = fabric->scenario;
	uint16_t sls = 0;

	for (uint32_t i = 0; i < fabric->n_flows; i++) {
		const struct sim_flow *f = &fabric->flows[i];

		if (f->kind != SIM_TRACE && !f->management)
			sls |= (uint16_t)(1u << f->sl);
		for (size_t k = 0; k < f->n_trace; k++) {
			if (!f->trace[k].management)
				sls |= (uint16_t)(1u << f->trace[k].sl);
		}
	}
	for (size_t i = 0; i < s->n_jobs; i++)
		sls |= (uint16_t)(1u << scenario_job_sl(s, &s->jobs[i]));
	/* PBE requests admission, but may exceed its reservation. */
	return sls & (uint16_t)~scenario_promised_sls(s);
}

/* Adds a key to the tables of selected hosts. */
static enum hd_status add_members(struct fabric *fabric, uint16_t **keys, uint16_t *n_keys,
				  size_t row, bool full, struct diag *d)
{
	const struct scn_partition *p = &fabric->scenario->qos.partitions[row];
	char *const *text = full ? &p->full : &p->limited;
	struct selection hosts;
	struct diag inner = { .status = HD_OK };
	struct rng rng;

	if (!*text)
		return HD_OK;
	rng_init(&rng, fabric->scenario->run.seed,
		 fabric_stream(STREAM_PARTITIONS, p->name) + full);
	if (select_hosts(fabric->selector, *text, &rng, &inner, &hosts) != HD_OK)
		return fabric_refuse(fabric, d, text,
				     full ? "qos.partitions[].full" : "qos.partitions[].limited",
				     &inner);
	for (uint32_t i = 0; i < hosts.n; i++) {
		port_id port = hosts.ports[i];

		keys[port][n_keys[port]++] = (uint16_t)(p->key | (full ? PKEY_FULL : 0));
	}
	selection_fini(&hosts);
	return HD_OK;
}

/* A port of a switch or router with enforcement passes the P_Keys of its host. */
static void enforce_at(struct fabric *fabric, port_id host, const uint16_t *keys, unsigned n)
{
	port_id peer = fabric->topo.ports[host].peer;

	if (peer == TOPO_NONE || topo_node_of(&fabric->topo, peer)->kind == NODE_CA)
		return;
	subnet_set_pkeys(&fabric->subnet, peer, keys, n);
	fabric->subnet.pkeys[peer].enforce_in = true;
	fabric->subnet.pkeys[peer].enforce_out = true;
}

enum hd_status fabric_build_partitions(struct fabric *fabric, struct diag *d)
{
	const struct scn_qos *q = &fabric->scenario->qos;
	const struct selection *hosts = selector_hosts(fabric->selector);
	size_t most = 1 + 2 * q->n_partitions;
	uint16_t **keys;
	uint16_t *n_keys;
	enum hd_status status = HD_OK;

	if (fabric->scenario->partitions) {
		fabric_program_partitions(fabric);
		return HD_OK;
	}
	if (q->n_partitions == 0 && !q->enforce)
		return HD_OK;
	keys = hd_alloc(fabric->topo.n_ports, sizeof(*keys));
	n_keys = hd_alloc(fabric->topo.n_ports, sizeof(*n_keys));
	for (uint32_t i = 0; i < hosts->n; i++) {
		port_id p = hosts->ports[i];

		keys[p] = hd_alloc(most, sizeof(**keys));
		keys[p][n_keys[p]++] = 0xffff;
	}
	for (size_t i = 0; i < 2 * q->n_partitions && status == HD_OK; i++)
		status = add_members(fabric, keys, n_keys, i / 2, i % 2 == 0, d);
	for (uint32_t i = 0; i < hosts->n; i++) {
		port_id p = hosts->ports[i];

		if (status == HD_OK) {
			subnet_set_pkeys(&fabric->subnet, p, keys[p], n_keys[p]);
			fabric->subnet.pkeys[p].enforce_in = true;
			if (q->enforce)
				enforce_at(fabric, p, keys[p], n_keys[p]);
		}
		free(keys[p]);
	}
	free(keys);
	free(n_keys);
	return status;
}
