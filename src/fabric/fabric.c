/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/fabric_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/memory.h"
#include "fabric/limits.h"
#include "subnet/routing/route.h"
#include "topo/generate.h"
#include "topo/names.h"
#include "topo/read.h"

void *fabric_keep(struct fabric *fabric, size_t n, size_t size)
{
	struct fabric_memory *m = &fabric->memory;

	m->items = hd_grow(m->items, &m->cap, m->n + 1, sizeof(*m->items));
	return m->items[m->n++] = hd_alloc(n, size);
}

uint64_t fabric_stream(enum fabric_stream purpose, const char *name)
{
	struct digest h = DIGEST_START;

	digest_add(&h, name, strlen(name));
	return h.a + purpose;
}

enum hd_status fabric_refuse(const struct fabric *fabric, struct diag *d, const void *field,
			     const char *path, const struct diag *inner)
{
	const struct schema_place *place = schema_place_of(&fabric->scenario->places, field);

	/* Names the override of the field. */
	return place && place->label
		       ? scenario_refuse(fabric->scenario, d, field, "%s", inner->message)
		       : scenario_refuse(fabric->scenario, d, field, "%s: %s", path,
					 inner->message);
}

static enum hd_status generate(struct fabric *fabric, struct diag *d)
{
	const struct scn_topology *t = &fabric->scenario->fabric.topology;
	const struct option *const tables[] = { t->generator->params, generator_common, NULL };
	struct topo_params params = { .seed = t->seed };
	struct diag inner = { .status = HD_OK };
	enum hd_status status = schema_params_apply(&t->params, tables, &params, &inner);

	if (status == HD_OK)
		status = topo_generate(t->generator, &params, &inner, &fabric->topo);
	if (status != HD_OK)
		return fabric_refuse(fabric, d, &t->generator, "fabric.topology", &inner);
	return HD_OK;
}

static enum hd_status build_topology(struct fabric *fabric, struct diag *d)
{
	const struct scn_topology *t = &fabric->scenario->fabric.topology;

	if (t->generator)
		return generate(fabric, d);
	struct diag inner = { .status = HD_OK };
	char *path = scenario_path(fabric->scenario, &t->file);
	enum hd_status status = topo_read_file(path, NULL, &inner, &fabric->topo);

	if (status != HD_OK && inner.line)
		scenario_refuse(fabric->scenario, d, &t->file, "fabric.topology.file: %s:%u: %s",
				path, inner.line, inner.message);
	else if (status != HD_OK)
		scenario_refuse(fabric->scenario, d, &t->file, "fabric.topology.file: %s: %s", path,
				inner.message);
	free(path);
	return status;
}

/* Takes the cables of fabric.failed_links out. */
static enum hd_status take_out(struct fabric *fabric, struct diag *d)
{
	char *const *text = &fabric->scenario->fabric.failed_links;
	struct diag inner = { .status = HD_OK };
	struct selection ports;

	if (!*text || strcmp(*text, "none") == 0)
		return HD_OK;
	struct selector *all = selector_new(&fabric->topo);
	enum hd_status status = select_ports(all, *text, &inner, &ports);

	selector_free(all);
	if (status != HD_OK)
		return fabric_refuse(fabric, d, text, "fabric.failed_links", &inner);
	for (uint32_t i = 0; i < ports.n; i++)
		topo_unlink(&fabric->topo, ports.ports[i]);
	selection_fini(&ports);
	topo_number_subnets(&fabric->topo);
	/* The generator does not create this fabric. */
	free(fabric->topo.recipe);
	fabric->topo.recipe = NULL;
	return HD_OK;
}

/*
 * The MTU is the least of all ports unless the scenario states one, which no
 * port may contradict.
 */
static enum hd_status settle_mtu(struct fabric *fabric, struct diag *d)
{
	const struct topo *t = &fabric->topo;
	struct scn_fabric *f = &fabric->scenario->fabric;
	port_id least = TOPO_NONE;
	char name[96];

	for (port_id p = 0; p < t->n_ports; p++) {
		if (t->ports[p].peer != TOPO_NONE &&
		    (least == TOPO_NONE || t->ports[p].mtu < t->ports[least].mtu))
			least = p;
	}
	unsigned mtu = least == TOPO_NONE ? TOPO_DEFAULT_MTU : t->ports[least].mtu;

	if (least != TOPO_NONE)
		snprintf(name, sizeof(name), "%.80s:%u", topo_node_of(t, least)->name,
			 t->ports[least].number);
	if (f->mtu != SCN_MTU_AUTO && f->mtu > mtu)
		return scenario_refuse(fabric->scenario, d, &f->mtu,
				       "fabric.packet.mtu: %u is more than the MTU of port %s, %u",
				       (unsigned)f->mtu, name, mtu);
	if (f->mtu != SCN_MTU_AUTO)
		return HD_OK;
	f->mtu = mtu;
	return scenario_check_payloads(fabric->scenario, least == TOPO_NONE ? NULL : name, d);
}

/* A switch by its name or GUID; TOPO_NONE if no switch has it. */
static node_id find_switch(const struct topo *t, const char *text, size_t len)
{
	for (node_id v = 0; v < t->n_nodes; v++) {
		const struct topo_node *n = &t->nodes[v];
		bool named = strlen(n->name) == len && strncmp(n->name, text, len) == 0;
		bool numbered = strncmp(text, "0x", 2) == 0 && strtoull(text, NULL, 16) == n->guid;

		if (topo_is_switch(t, v) && (named || numbered))
			return v;
	}
	return TOPO_NONE;
}

/* Another switch with the same name as `found`, or TOPO_NONE. */
static node_id switch_namesake(const struct topo *t, node_id found, const char *text, size_t len)
{
	if (strlen(t->nodes[found].name) != len || strncmp(t->nodes[found].name, text, len) != 0)
		return TOPO_NONE;
	for (node_id v = found + 1; v < t->n_nodes; v++) {
		if (topo_is_switch(t, v) && strcmp(t->nodes[v].name, t->nodes[found].name) == 0)
			return v;
	}
	return TOPO_NONE;
}

/* The GUIDs of the switches that fabric.routing.roots names. */
static enum hd_status read_roots(struct fabric *fabric, struct diag *d, struct route_options *o)
{
	const struct scn_routing *r = &fabric->scenario->fabric.routing;
	const char *at = r->roots;
	uint64_t *roots;

	if (!at)
		return HD_OK;
	roots = fabric_keep(fabric, strlen(at) + 1, sizeof(*roots));
	o->roots = roots;
	for (;;) {
		size_t len = strcspn(at, ",");
		node_id found = find_switch(&fabric->topo, at, len);

		if (found == TOPO_NONE)
			return scenario_refuse(fabric->scenario, d, &r->roots,
					       "fabric.routing.roots: no switch '%.*s'", (int)len,
					       at);
		struct diag inner = { .status = HD_OK };
		node_id other = switch_namesake(&fabric->topo, found, at, len);

		if (other != TOPO_NONE &&
		    topo_refuse_name(&fabric->topo, found, other, &inner) != HD_OK)
			return scenario_refuse(fabric->scenario, d, &r->roots,
					       "fabric.routing.roots: %s", inner.message);
		roots[o->n_roots++] = fabric->topo.nodes[found].guid;
		if (!at[len])
			return HD_OK;
		at += len + 1;
	}
}

enum hd_status fabric_route_options(struct fabric *fabric, struct diag *d,
				    struct route_options *out)
{
	*out = (struct route_options){
		.max_vls = (unsigned)fabric->scenario->fabric.routing.layers,
		.around = fabric->scenario->fabric.routing.adaptive.nonminimal !=
			  SCN_NONMINIMAL_NEVER,
	};
	enum hd_status status = fabric_adaptive_sls(fabric->scenario, d, &out->adaptive);

	return status == HD_OK ? read_roots(fabric, d, out) : status;
}

static enum hd_status read_routes(const struct scenario *s, struct diag *d, struct route_options *o)
{
	const struct scn_routing *r = &s->fabric.routing;

	if (!r->file)
		return HD_OK;
	struct diag inner = { .status = HD_OK };
	char *path = scenario_path(s, &r->file);
	enum hd_status status = file_open(path, &inner, &o->tables);

	if (status != HD_OK)
		scenario_refuse(s, d, &r->file, "fabric.routing.file: %s: %s", path, inner.message);
	free(path);
	return status;
}

static enum hd_status build_routes(struct fabric *fabric, struct diag *d)
{
	const struct scn_routing *r = &fabric->scenario->fabric.routing;
	struct route_options o;
	struct diag inner = { .status = HD_OK };
	enum hd_status status = fabric_route_options(fabric, d, &o);

	if (status == HD_OK)
		status = read_routes(fabric->scenario, d, &o);
	if (status == HD_OK) {
		status = subnet_route(&fabric->subnet, r->engine, &o, &inner);
		if (status != HD_OK && r->file)
			scenario_refuse(fabric->scenario, d, &r->file, "%s:%u: %s",
					strcmp(r->file, "-") == 0 ? "standard input" : r->file,
					inner.line, inner.message);
		else if (status != HD_OK)
			fabric_refuse(fabric, d, &r->engine, "fabric.routing.engine", &inner);
	}
	if (o.tables)
		file_close(o.tables);
	return status;
}

static enum hd_status take_programmed(struct fabric *fabric, const struct fabric_programmer *by,
				      struct diag *d)
{
	const struct lid_options lids = { .order = LIDS_KEEP };
	const struct scn_sm *sm = &fabric->scenario->sm;
	struct diag inner = { .status = HD_OK };

	if (sm->sweep != HD_TIME_NEVER || sm->trap != HD_TIME_NEVER)
		return scenario_refuse(
			fabric->scenario, d, sm,
			"the live fabric's own manager routes, and a fabric has one: leave sm out");
	enum hd_status status = by->address(by->context, &fabric->topo, d);

	if (status != HD_OK)
		return status;
	subnet_init(&fabric->subnet, &fabric->topo);
	status = subnet_assign_lids(&fabric->subnet, &lids, &inner);
	if (status != HD_OK)
		return diag_fail(d, status, "no manager has been there yet: %s", inner.message);
	status = by->program(by->context, &fabric->subnet, d);
	if (status == HD_OK)
		status = by->control(by->context, &fabric->scenario->congestion, d);
	return status;
}

static enum hd_status build_subnet(struct fabric *fabric, struct diag *d)
{
	const struct scenario *s = fabric->scenario;
	struct diag inner = { .status = HD_OK };
	struct lid_options lids = lid_options_for(&fabric->topo, (unsigned)s->fabric.routing.lmc);

	lids.shares = true;
	if (s->fabric.routing.lids != SCN_LIDS_AUTO)
		lids.order = (enum lid_order)s->fabric.routing.lids;
	subnet_init(&fabric->subnet, &fabric->topo);
	subnet_limit_vls(&fabric->subnet, scenario_vls(s));
	enum hd_status status = subnet_assign_lids(&fabric->subnet, &lids, &inner);

	if (status != HD_OK)
		return fabric_refuse(fabric, d, &s->fabric.routing.lids, "fabric.routing.lids",
				     &inner);
	status = fabric_build_vls(fabric, d);
	if (status == HD_OK)
		status = build_routes(fabric, d);
	if (status == HD_OK && (fabric->subnet.vls_by_engine || fabric->subnet.sl_of_path))
		status = fabric_split_vls(fabric, d);
	if (status == HD_OK)
		status = fabric_build_partitions(fabric, d);
	return status;
}

/* J11: an observer of the run sees when the jobs are done. */
static void rules_for_jobs(struct fabric *fabric)
{
	struct sim_rules *rules = &fabric->rules;

	rules->stop = fabric->scenario->run.horizon;
	rules->packets = rules->packets_per_flow = rules->packets_per_sl = 0;
	rules->precision = 0;
}

static enum hd_status build_rules(struct fabric *fabric, struct diag *d)
{
	const struct scn_run *run = &fabric->scenario->run;
	struct sim_rules *rules = &fabric->rules;
	/* J11: jobs begin at once and end when they are complete. */
	bool timed = run->measure.unit == SCN_PLAIN && !fabric->scenario->n_jobs;
	bool warms = fabric->scenario->n_traffic || !fabric->scenario->n_jobs;

	*rules = (struct sim_rules){ .flow_metrics = true,
				     .port_metrics = true,
				     .check_order = true };
	if (warms && run->warmup.unit == SCN_PLAIN)
		rules->warmup = run->warmup.value;
	else if (warms)
		rules->warmup_packets = run->warmup.value;
	if (timed && run->warmup.unit != SCN_PLAIN)
		return scenario_refuse(
			fabric->scenario, d, &run->measure,
			"run.measure is a time, but run.warmup counts packets; say both in one way");
	rules->stop = run->horizon;
	if (rules->warmup >= run->horizon)
		return scenario_refuse(fabric->scenario, d, &run->warmup,
				       "run.warmup leaves nothing before run.horizon");
	if (timed && run->measure.value > run->horizon - rules->warmup)
		return scenario_refuse(
			fabric->scenario, d, &run->measure,
			"run.measure does not end before run.horizon, which ends the run in any case and is 1s unless it is stated");
	if (timed)
		rules->stop = rules->warmup + run->measure.value;
	if (run->measure.unit == SCN_PACKETS)
		rules->packets = run->measure.value;
	if (run->measure.unit == SCN_PACKETS_PER_FLOW)
		rules->packets_per_flow = run->measure.value;
	if (run->measure.unit == SCN_PACKETS_PER_SL)
		rules->packets_per_sl = run->measure.value;
	if (run->precision.num)
		rules->precision = (double)run->precision.num / (double)run->precision.den;
	if (fabric->scenario->n_jobs)
		rules_for_jobs(fabric);
	return HD_OK;
}

/* Links that are down from the beginning, besides those of the scenario. */
static void add_faults(struct fabric *fabric, const struct fabric_programmer *by)
{
	for (uint32_t i = 0; i < fabric->setup.n_ports; i++) {
		const struct sim_port *p = &fabric->setup.ports[i];

		const struct sim_fault down = { .kind = SIM_LINK_DOWN, .port = i };

		if (p->peer != SIM_NONE && p->peer > i && by->is_down(by->context, p->origin))
			fabric_add_fault(fabric, down);
	}
}

/* Inputs besides the scenario: a topology already read, a subnet manager. */
struct build_inputs {
	bool has_topology;
	const struct fabric_programmer *by; /* or NULL */
	bool ends_there;                    /* nothing else is needed */
};

/* The topology is there already, unless it follows from the scenario. */
static enum hd_status build(struct fabric *fabric, struct build_inputs with, struct diag *d)
{
	const struct fabric_programmer *by = with.by;
	enum hd_status status = with.has_topology ? HD_OK : build_topology(fabric, d);

	if (status == HD_OK)
		status = take_out(fabric, d);
	if (status == HD_OK)
		status = settle_mtu(fabric, d);
	if (status != HD_OK)
		return status;
	fabric->selector = selector_new(&fabric->topo);
	if (with.ends_there)
		return HD_OK;
	fabric->by = by;
	fabric->shared_mlid =
		hd_alloc(fabric->scenario->fabric.n_groups, sizeof(*fabric->shared_mlid));
	status = by ? take_programmed(fabric, by, d) : build_subnet(fabric, d);
	memory_for("the scenario's flows");
	if (status == HD_OK) {
		subnet_share(&fabric->subnet);
		status = fabric_build_setup(fabric, d);
	}
	if (status == HD_OK && by)
		add_faults(fabric, by);
	if (status == HD_OK)
		status = fabric_build_adaptive(fabric, d);
	if (status == HD_OK)
		status = fabric_build_changes(fabric, d);
	if (status == HD_OK)
		status = build_rules(fabric, d);
	if (status == HD_OK)
		status = fabric_build_flows(fabric, d);
	if (status == HD_OK)
		status = fabric_build_manager(fabric, d);
	if (status == HD_OK)
		status = fabric_build_connections(fabric, d);
	if (status == HD_OK)
		status = fabric_build_control(fabric, d);
	if (status == HD_OK)
		status = fabric_limits_check(&fabric->setup, fabric->flows, fabric->n_flows, d);
	if (status == HD_OK)
		fabric_check_groups(fabric);
	fabric->by = NULL;
	return status;
}

/* Builds from the scenario, which was read with that status. */
static enum hd_status finish(struct fabric *fabric, enum hd_status status, struct build_inputs with,
			     struct diag *d, struct fabric **out)
{
	if (status == HD_OK)
		status = build(fabric, with, d);
	if (status == HD_OK)
		*out = fabric;
	else
		fabric_free(fabric);
	return status;
}

static struct fabric *fabric_new(void)
{
	struct fabric *fabric = hd_alloc(1, sizeof(*fabric));

	fabric->scenario = hd_alloc(1, sizeof(*fabric->scenario));
	return fabric;
}

enum hd_status fabric_load(const char *text, size_t len, const char *file,
			   const struct overrides *overrides, struct diag *d, struct fabric **out)
{
	struct fabric *fabric = fabric_new();

	return finish(fabric, scenario_parse(text, len, file, overrides, d, fabric->scenario),
		      (struct build_inputs){ 0 }, d, out);
}

enum hd_status fabric_read(const char *path, const struct overrides *overrides, struct diag *d,
			   struct fabric **out)
{
	struct fabric *fabric = fabric_new();

	return finish(fabric, scenario_read(path, overrides, d, fabric->scenario),
		      (struct build_inputs){ 0 }, d, out);
}

/* A line that no topology file has, and every scenario. */
static bool is_scenario(const char *text)
{
	const char *at = strstr(text, "fabric:");

	return at && (at == text || at[-1] == '\n' || at[-1] == '{');
}

/* Defaults of a scenario around a topology. */
static enum hd_status read_defaults(struct fabric *fabric, const char *file,
				    const struct overrides *overrides, struct diag *d)
{
	static const char text[] = "fabric: {topology: {file: '-'}}\n";

	return scenario_parse(text, strlen(text), file, overrides, d, fabric->scenario);
}

static enum hd_status open_words(const char *words, const struct overrides *overrides,
				 struct build_inputs with, struct diag *d, struct fabric **out)
{
	struct fabric *fabric = fabric_new();
	enum hd_status status = read_defaults(fabric, NULL, overrides, d);

	if (status == HD_OK)
		status = topo_generate_text(words, fabric->scenario->fabric.topology.seed, 0, d,
					    &fabric->topo);
	with.has_topology = true;
	return finish(fabric, status, with, d, out);
}

static enum hd_status open_text(const struct strbuf *text, const char *name,
				const struct overrides *overrides, struct build_inputs with,
				struct diag *d, struct fabric **out)
{
	struct fabric *fabric = fabric_new();

	if (is_scenario(text->text))
		return finish(
			fabric,
			scenario_parse(text->text, text->len, name, overrides, d, fabric->scenario),
			with, d, out);
	enum hd_status status = topo_read(text->text, text->len, NULL, d, &fabric->topo);

	if (status == HD_OK)
		status = read_defaults(fabric, name, overrides, d);
	with.has_topology = true;
	return finish(fabric, status, with, d, out);
}

static enum hd_status open_named(const char *name, const struct overrides *overrides,
				 struct build_inputs with, struct diag *d, struct fabric **out)
{
	struct strbuf text = STRBUF_INIT;

	if (topo_is_words(name))
		return open_words(name, overrides, with, d, out);
	enum hd_status status = topo_read_named(name, d, &text);

	if (status == HD_OK)
		status = open_text(&text, name, overrides, with, d, out);
	strbuf_fini(&text);
	return status;
}

enum hd_status fabric_open(const char *name, const struct overrides *overrides, struct diag *d,
			   struct fabric **out)
{
	return open_named(name, overrides, (struct build_inputs){ 0 }, d, out);
}

enum hd_status fabric_open_bare(const char *name, const struct overrides *overrides, struct diag *d,
				struct fabric **out)
{
	return open_named(name, overrides, (struct build_inputs){ .ends_there = true }, d, out);
}

enum hd_status fabric_read_programmed(const char *name, const struct overrides *overrides,
				      const struct fabric_programmer *by, struct diag *d,
				      struct fabric **out)
{
	return open_named(name, overrides, (struct build_inputs){ .by = by }, d, out);
}

void fabric_free(struct fabric *fabric)
{
	for (size_t i = 0; i < fabric->memory.n; i++)
		free(fabric->memory.items[i]);
	free(fabric->memory.items);
	free(fabric->flows);
	free(fabric->flow_target);
	free(fabric->requests);
	free(fabric->breaks);
	free(fabric->circle);
	free(fabric->shared_mlid);
	free(fabric->setup.nodes);
	free(fabric->setup.ports);
	free(fabric->setup.faults);
	fabric_free_changes(fabric);
	fabric_free_manager(fabric);
	free(fabric->port_of_origin);
	free(fabric->end_of_origin);
	selector_free(fabric->selector);
	if (fabric->subnet.topo)
		subnet_fini(&fabric->subnet);
	topo_fini(&fabric->topo);
	scenario_fini(fabric->scenario);
	free(fabric->scenario);
	free(fabric);
}

void fabric_port_name(const struct fabric *fabric, uint32_t port, struct strbuf *out)
{
	const struct sim_port *p = &fabric->setup.ports[port];
	const struct topo_node *node = topo_node_of(&fabric->topo, p->origin);

	strbuf_puts(out, node->name);
	if (fabric->setup.nodes[p->node].kind == SIM_END && node->n_ports <= 1)
		return;
	strbuf_printf(out, ":%u", fabric->topo.ports[p->origin].number);
}

enum hd_status fabric_ports(const struct fabric *fabric, const struct option_list *list,
			    struct diag *d, bool **out)
{
	*out = NULL;
	if (list->n == 0)
		return HD_OK;
	bool *ports = hd_alloc(fabric->setup.n_ports, sizeof(*ports));

	for (size_t i = 0; i < list->n; i++) {
		struct diag inner = { .status = HD_OK };
		struct selection chosen;

		if (select_ports(fabric->selector, list->items[i], &inner, &chosen) != HD_OK) {
			free(ports);
			d->file = NULL;
			return diag_fail(d, inner.status, "option --port: %s", inner.message);
		}
		for (uint32_t k = 0; k < chosen.n; k++)
			ports[fabric->port_of_origin[chosen.ports[k]]] = true;
		selection_fini(&chosen);
	}
	*out = ports;
	return HD_OK;
}
