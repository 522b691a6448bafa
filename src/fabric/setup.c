/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "fabric/fabric_internal.h"
#include "fabric/limits.h"
#include "subnet/tables/packet.h"

/* A buffer in blocks (T1); it must hold the largest packet that is sent. */
static enum hd_status buffer_blocks(const struct fabric *fabric, struct diag *d,
				    const struct schema_amount *amount, const char *path,
				    uint32_t *out)
{
	uint32_t largest = (uint32_t)scenario_largest_packet(fabric->scenario) + fabric->grh_bytes;
	uint64_t whole = blocks_of(scenario_packet_limit(fabric->scenario));
	uint64_t blocks =
		amount->unit == SCN_PACKETS ? amount->value * whole : amount->value / BLOCK_BYTES;

	if (amount->value > SIM_MOST_BLOCKS * BLOCK_BYTES || blocks > SIM_MOST_BLOCKS)
		blocks = SIM_MOST_BLOCKS;
	if (blocks < blocks_of(largest))
		return scenario_refuse(
			fabric->scenario, d, amount,
			"%s: %llu blocks of 64 bytes cannot hold a packet of %llu bytes", path,
			(unsigned long long)blocks, (unsigned long long)largest);
	*out = (uint32_t)blocks;
	return HD_OK;
}

/* Nodes and ports, in topology order; the hosts of switches at the end. */
static void add_node(struct fabric *fabric, enum sim_node_kind kind, node_id v, uint32_t n_ports)
{
	struct sim_setup *s = &fabric->setup;

	s->nodes[s->n_nodes++] = (struct sim_node){
		.kind = kind,
		.first_port = s->n_ports,
		.n_ports = n_ports,
		.sw = kind == SIM_SWITCH ? fabric->subnet.switch_of_node[v] : SIM_NONE,
		.node = v,
	};
	for (uint32_t i = 0; i <= n_ports; i++)
		s->ports[s->n_ports++] = (struct sim_port){
			.node = s->n_nodes - 1,
			.peer = SIM_NONE,
			.origin = TOPO_NONE,
		};
}

static void add_end(struct fabric *fabric, node_id v, port_id origin)
{
	struct sim_setup *s = &fabric->setup;

	add_node(fabric, SIM_END, v, 1);
	s->ports[s->n_ports - 1].origin = origin;
	fabric->end_of_origin[origin] = s->n_nodes - 1;
	/* Port 0 of a switch belongs to the switch itself. */
	if (fabric->port_of_origin[origin] == SIM_NONE)
		fabric->port_of_origin[origin] = s->n_ports - 1;
}

static void add_whole(struct fabric *fabric, node_id v, enum sim_node_kind kind)
{
	const struct topo *t = &fabric->topo;
	struct sim_setup *s = &fabric->setup;

	add_node(fabric, kind, v, t->nodes[v].n_ports);
	for (unsigned n = 0; n <= t->nodes[v].n_ports; n++) {
		port_id p = topo_port_of(t, v, n);
		uint32_t here = s->nodes[s->n_nodes - 1].first_port + n;

		s->ports[here].origin = p;
		fabric->port_of_origin[p] = here;
	}
}

/* Whether the fabric needs management agents: reservations use them. */
static bool wants_agents(const struct scenario *s)
{
	for (size_t i = 0; i < s->n_traffic; i++) {
		if (s->traffic[i].reserve.num && !scenario_asks(s, &s->traffic[i]))
			return true;
	}
	return false;
}

static void add_nodes(struct fabric *fabric)
{
	const struct topo *t = &fabric->topo;
	/* An end node has two slots; the host inside a switch is a separate node. */
	uint32_t most_nodes = t->n_nodes + t->n_ports;

	fabric->setup.nodes = hd_alloc(most_nodes, sizeof(*fabric->setup.nodes));
	fabric->setup.ports = hd_alloc(3 * (size_t)t->n_ports + 2, sizeof(*fabric->setup.ports));
	for (node_id v = 0; v < t->n_nodes; v++) {
		if (t->nodes[v].kind == NODE_SWITCH)
			add_whole(fabric, v, SIM_SWITCH);
		else if (t->nodes[v].kind == NODE_ROUTER)
			add_whole(fabric, v, SIM_ROUTER);
		for (unsigned n = 1; t->nodes[v].kind == NODE_CA && n <= t->nodes[v].n_ports; n++) {
			port_id p = topo_port_of(t, v, n);

			if (topo_is_end_port(t, p))
				add_end(fabric, v, p);
		}
	}
	for (node_id v = 0; v < t->n_nodes; v++) {
		if (topo_is_switch(t, v) &&
		    (t->nodes[v].enhanced_port0 || wants_agents(fabric->scenario)))
			add_end(fabric, v, topo_port_of(t, v, 0));
	}
}

static void plug(struct fabric *fabric)
{
	const struct topo *t = &fabric->topo;
	struct sim_port *ports = fabric->setup.ports;

	for (port_id p = 0; p < t->n_ports; p++) {
		uint32_t here = fabric->port_of_origin[p];
		port_id peer = t->ports[p].peer;

		if (here != SIM_NONE && peer != TOPO_NONE)
			ports[here].peer = fabric->port_of_origin[peer];
		if (here == SIM_NONE || fabric->end_of_origin[p] == SIM_NONE ||
		    !topo_is_switch(t, t->ports[p].node))
			continue;
		uint32_t host = fabric->setup.nodes[fabric->end_of_origin[p]].first_port + 1;

		ports[here].peer = host;
		ports[host].peer = here;
	}
}

/* Native rate of a cable; the host inside a switch has the rate of the best port. */
static struct hd_rate native_rate(const struct topo *t, port_id p)
{
	struct topo_link_state state;
	struct hd_rate best = hd_rate_of_link(1, SPEED_SDR);

	if (topo_link_state(t, p, &state) == HD_OK)
		return state.rate;
	const struct topo_node *node = topo_node_of(t, p);

	for (unsigned n = 1; n <= node->n_ports; n++) {
		if (topo_link_state(t, node->first_port + n, &state) == HD_OK &&
		    hd_rate_compare(state.rate, best) > 0)
			best = state.rate;
	}
	return best;
}

/* Applies one row of fabric.links to both directions of a cable. */
static void override_cable(const struct topo *t, const struct scn_link *link, port_id p,
			   struct fabric_cable *cables)
{
	const port_id ends[] = { p, t->ports[p].peer };

	for (unsigned i = 0; i < 2 && ends[i] != TOPO_NONE; i++) {
		if (link->rate.num)
			cables[ends[i]].rate = link->rate;
		if (link->propagation != HD_TIME_NEVER)
			cables[ends[i]].propagation = link->propagation;
	}
}

/* The ports that a row of fabric.links is about. */
static enum hd_status select_row(const struct fabric *fabric, const struct scn_link *row,
				 struct diag *d, struct selection *out)
{
	struct diag inner = { .status = HD_OK };

	if (select_ports(fabric->selector, row->ports, &inner, out) == HD_OK)
		return HD_OK;
	return fabric_refuse(fabric, d, &row->ports, "fabric.links[].ports", &inner);
}

enum hd_status fabric_cables(const struct fabric *fabric, struct diag *d, struct fabric_cable **out)
{
	const struct scn_fabric *s = &fabric->scenario->fabric;
	struct fabric_cable *cables = hd_alloc(fabric->topo.n_ports, sizeof(*cables));

	for (port_id p = 0; p < fabric->topo.n_ports; p++)
		cables[p] = (struct fabric_cable){ s->link.rate, s->link.propagation };
	for (size_t i = 0; i < s->n_links; i++) {
		struct selection ports;

		if (select_row(fabric, &s->links[i], d, &ports) != HD_OK) {
			free(cables);
			return d->status;
		}
		for (uint32_t k = 0; k < ports.n; k++)
			override_cable(&fabric->topo, &s->links[i], ports.ports[k], cables);
		selection_fini(&ports);
	}
	*out = cables;
	return HD_OK;
}

uint32_t fabric_vl15_blocks(const struct fabric *fabric)
{
	return (uint32_t)(fabric->scenario->fabric.sw.management_buffer / BLOCK_BYTES);
}

static enum hd_status set_ports(struct fabric *fabric, struct diag *d)
{
	const struct scenario *s = fabric->scenario;
	const struct scn_fabric *f = &s->fabric;
	struct fabric_cable *cables = NULL;
	uint32_t sw_in = 0, sw_out = 0, host_in = 0;
	enum hd_status status =
		buffer_blocks(fabric, d, &f->sw.input_buffer, "fabric.switch.input_buffer", &sw_in);

	if (status == HD_OK)
		status = buffer_blocks(fabric, d, &f->host_buffer, "fabric.host.input_buffer",
				       &host_in);
	if (status == HD_OK && f->sw.queueing == SIM_CIOQ)
		status = buffer_blocks(fabric, d, &f->sw.output_buffer,
				       "fabric.switch.output_buffer", &sw_out);
	if (status == HD_OK)
		status = fabric_cables(fabric, d, &cables);
	for (uint32_t i = 0; i < fabric->setup.n_ports && status == HD_OK; i++) {
		struct sim_port *p = &fabric->setup.ports[i];
		bool end = fabric->setup.nodes[p->node].kind == SIM_END;

		if (p->peer == SIM_NONE)
			continue;
		p->rate = cables[p->origin].rate;
		if (!p->rate.num)
			p->rate = native_rate(&fabric->topo, p->origin);
		p->propagation = cables[p->origin].propagation;
		p->in_blocks = end ? host_in : sw_in;
		p->out_blocks = end ? 0 : sw_out;
		p->vl15_blocks = fabric_vl15_blocks(fabric);
		p->vls = fabric->subnet.vls_of_port[p->origin];
		p->ber = s->faults.ber;
		p->update_loss = s->faults.update_loss;
		p->hoq_life = end ? 0 : s->faults.hoq_life;
	}
	free(cables);
	return status;
}

/* Applies the errors of one row of fabric.links to packets sent by a port. */
static void override_port(struct sim_port *p, const struct scn_link *link)
{
	if (link->ber <= 1)
		p->ber = link->ber;
	if (link->update_loss <= 1)
		p->update_loss = link->update_loss;
}

static enum hd_status override_links(struct fabric *fabric, struct diag *d)
{
	const struct scn_fabric *f = &fabric->scenario->fabric;

	for (size_t i = 0; i < f->n_links; i++) {
		struct selection ports;

		if (select_row(fabric, &f->links[i], d, &ports) != HD_OK)
			return d->status;
		for (uint32_t k = 0; k < ports.n; k++) {
			uint32_t port = fabric->port_of_origin[ports.ports[k]];

			if (port != SIM_NONE && fabric->setup.ports[port].peer != SIM_NONE)
				override_port(&fabric->setup.ports[port], &f->links[i]);
		}
		selection_fini(&ports);
	}
	return HD_OK;
}

/* Reservations use the link rates of the simulation. */
static void tell_rates(struct fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->setup.n_ports; i++) {
		const struct sim_port *p = &fabric->setup.ports[i];

		if (p->peer != SIM_NONE && fabric->topo.ports[p->origin].peer != TOPO_NONE)
			fabric->subnet.rate_of_port[p->origin] = p->rate;
	}
}

static void set_model(struct fabric *fabric)
{
	const struct scn_fabric *f = &fabric->scenario->fabric;
	uint32_t readers = f->sw.order == SIM_FIFO ? 1 : 0;

	if (f->sw.crossbar_reads != SCN_CROSSBAR_READS_AUTO)
		readers = (uint32_t)f->sw.crossbar_reads;
	fabric->setup.sw = (struct sim_switch_model){
		.queueing = f->sw.queueing,
		.order = f->sw.order,
		.pick = f->sw.arbitration,
		.readers = readers,
		.speedup = f->sw.queueing == SIM_CIOQ ? f->sw.speedup : (struct hd_ratio){ 1, 1 },
		.routing = f->sw.routing_delay,
		.arbitration = f->sw.arbitration_delay,
	};
	fabric->setup.arbiter = f->arbiter;
	fabric->setup.credits = f->credits;
	fabric->setup.seed = fabric->scenario->run.seed;
	fabric->setup.most_bytes = scenario_packet_limit(fabric->scenario);
	fabric->setup.subnet = &fabric->subnet;
}

/* Rejects a list with entries of unknown subnets. */
static enum hd_status check_subnets(const struct fabric *fabric, const char *list,
				    const struct scn_tclass *t, size_t n, struct diag *d)
{
	uint32_t have = fabric->subnet.n_subnets;

	for (size_t i = 0; i < n; i++) {
		if (t[i].subnet != SCN_ALL_SUBNETS && t[i].subnet >= have)
			return scenario_refuse(
				fabric->scenario, d, &t[i].subnet,
				"qos.%s[].subnet: no subnet %llu; the fabric has %u, numbered from 0",
				list, (unsigned long long)t[i].subnet, have);
	}
	return HD_OK;
}

static bool speaks_of(const struct scn_tclass *t, uint32_t subnet)
{
	return t->subnet == SCN_ALL_SUBNETS || t->subnet == subnet;
}

/* R4 */
static void set_tclasses(struct fabric *fabric)
{
	const struct scn_qos *q = &fabric->scenario->qos;
	uint32_t n = fabric->subnet.n_subnets;
	uint8_t(*sls)[256] = fabric_keep(fabric, n, sizeof(*sls));

	for (uint32_t k = 0; k < n; k++) {
		for (uint32_t i = 0; i < 256; i++)
			sls[k][i] = i % N_SLS;
		for (size_t i = 0; i < q->n_tclasses; i++) {
			const struct scn_tclass *t = &q->tclasses[i];

			if (speaks_of(t, k))
				sls[k][t->tclass] = (uint8_t)t->sl;
		}
	}
	fabric->setup.sl_of_tclass = (const uint8_t(*)[256])sls;
}

/* R4m */
static void set_marks(struct fabric *fabric)
{
	const struct scn_qos *q = &fabric->scenario->qos;
	uint32_t n = fabric->subnet.n_subnets;
	uint8_t(*marks)[N_SLS] = fabric_keep(fabric, n, sizeof(*marks));

	for (uint32_t k = 0; k < n; k++) {
		for (size_t i = 0; i < q->n_tclass_of_sl; i++) {
			if (speaks_of(&q->tclass_of_sl[i], k))
				marks[k][q->tclass_of_sl[i].sl] =
					(uint8_t)q->tclass_of_sl[i].tclass;
		}
	}
	fabric->setup.tclass_of_sl = (const uint8_t(*)[N_SLS])marks;
}

/* R1, R4: what a GRH adds, the SLs of TClasses, and marks. */
static enum hd_status set_routers(struct fabric *fabric, struct diag *d)
{
	const struct scn_qos *q = &fabric->scenario->qos;

	for (uint32_t i = 0; i < fabric->setup.n_nodes; i++) {
		if (fabric->setup.nodes[i].kind == SIM_ROUTER &&
		    fabric->scenario->fabric.overhead != GRH_OVERHEAD)
			fabric->grh_bytes = GRH_BYTES;
	}
	enum hd_status status = check_subnets(fabric, "tclasses", q->tclasses, q->n_tclasses, d);

	if (status == HD_OK)
		status = check_subnets(fabric, "tclass_of_sl", q->tclass_of_sl, q->n_tclass_of_sl,
				       d);
	if (status != HD_OK)
		return status;
	if (q->n_tclasses)
		set_tclasses(fabric);
	if (q->n_tclass_of_sl)
		set_marks(fabric);
	return HD_OK;
}

static const struct scn_levels *thresholds_of_vl(const struct scn_thresholds *t, unsigned vl)
{
	for (size_t i = 0; i < t->n_vls; i++) {
		if (t->vls[i].vl == vl)
			return &t->vls[i].at;
	}
	return &t->at;
}

/* The thresholds of each VL, and the VLs that it may acquire (B3). */
static void set_vl_sharing(struct fabric *fabric)
{
	const struct scn_thresholds *t = &fabric->scenario->qos.thresholds;
	struct sim_vl_sharing *w = &fabric->setup.vl_sharing;

	w->on = scenario_shares(fabric->scenario);
	w->hosts = scenario_shares_at_hosts(fabric->scenario);
	w->switches = w->on && t->ports != SCN_SHARE_HOSTS;
	w->capacity = (uint32_t)t->capacity;
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		const struct scn_levels *at = thresholds_of_vl(t, vl);

		w->n_thresholds[vl] = at->n;
		for (unsigned k = 0; k < at->n; k++)
			w->thresholds[vl][k] = at->at[k];
		if (t->mechanism == SCN_ET)
			w->shareable[vl] = (uint16_t)(0x7fffu & ~(1u << vl));
		else if (t->high.vls >> vl & 1)
			w->shareable[vl] = t->high_shared.vls;
		else if (t->low.vls >> vl & 1)
			w->shareable[vl] = t->low_shared.vls;
	}
}

void fabric_add_fault(struct fabric *fabric, struct sim_fault fault)
{
	struct sim_setup *s = &fabric->setup;
	uint32_t k = s->n_faults++;

	s->faults = hd_realloc(s->faults, s->n_faults, sizeof(*s->faults));
	for (; k > 0 && s->faults[k - 1].time > fault.time; k--)
		s->faults[k] = s->faults[k - 1];
	s->faults[k] = fault;
}

/* Cuts all cables of a switch, and the host inside it. */
static enum hd_status add_switch_event(struct fabric *fabric, const struct scn_event *e,
				       struct diag *d)
{
	const struct sim_setup *s = &fabric->setup;
	const struct sim_node *found = NULL;
	struct diag inner = { .status = HD_OK };

	for (uint32_t v = 0; v < s->n_nodes; v++) {
		const struct sim_node *n = &s->nodes[v];

		if (n->kind == SIM_SWITCH && strcmp(fabric->topo.nodes[n->node].name, e->port) == 0)
			found = n;
	}
	if (!found) {
		diag_fail(&inner, HD_ERR_NOT_FOUND, "no switch '%.80s'", e->port);
		return fabric_refuse(fabric, d, &e->port, "faults.events[].port", &inner);
	}
	for (uint32_t i = 0; i <= found->n_ports; i++) {
		uint32_t port = found->first_port + i;

		if (s->ports[port].peer != SIM_NONE)
			fabric_add_fault(fabric,
					 (struct sim_fault){ .time = e->at,
							     .kind = e->kind == SCN_SWITCH_DOWN
									     ? SIM_LINK_DOWN
									     : SIM_LINK_UP,
							     .port = port });
	}
	return HD_OK;
}

static enum hd_status add_port_event(struct fabric *fabric, const struct scn_event *e,
				     struct diag *d)
{
	struct diag inner = { .status = HD_OK };
	port_id port;
	bool sink = e->kind == SIM_SINK_STUCK || e->kind == SIM_SINK_FREE;

	if (select_port(fabric->selector, e->port, &inner, &port) != HD_OK)
		return fabric_refuse(fabric, d, &e->port, "faults.events[].port", &inner);
	uint32_t end = fabric->end_of_origin[port];

	if (sink && end == SIM_NONE)
		return scenario_refuse(fabric->scenario, d, &e->port,
				       "faults.events[].port: '%s' is not a host's", e->port);
	fabric_add_fault(
		fabric,
		(struct sim_fault){ .time = e->at,
				    .kind = (enum sim_fault_kind)e->kind,
				    .port = end == SIM_NONE
						    ? fabric->port_of_origin[port]
						    : fabric->setup.nodes[end].first_port + 1 });
	return HD_OK;
}

static enum hd_status set_faults(struct fabric *fabric, struct diag *d)
{
	const struct scn_faults *f = &fabric->scenario->faults;
	enum hd_status status = HD_OK;

	for (size_t i = 0; i < f->n_events && status == HD_OK; i++) {
		const struct scn_event *e = &f->events[i];
		bool whole = e->kind == SCN_SWITCH_DOWN || e->kind == SCN_SWITCH_UP;

		status = whole ? add_switch_event(fabric, e, d) : add_port_event(fabric, e, d);
	}
	return status;
}

enum hd_status fabric_build_setup(struct fabric *fabric, struct diag *d)
{
	uint32_t n = fabric->topo.n_ports;

	fabric->port_of_origin = hd_alloc(n, sizeof(*fabric->port_of_origin));
	fabric->end_of_origin = hd_alloc(n, sizeof(*fabric->end_of_origin));
	for (uint32_t i = 0; i < n; i++)
		fabric->port_of_origin[i] = fabric->end_of_origin[i] = SIM_NONE;
	add_nodes(fabric);
	plug(fabric);
	set_model(fabric);
	set_vl_sharing(fabric);
	fabric->setup.reduction_delay = fabric->scenario->fabric.reduction.delay;
	enum hd_status status = set_routers(fabric, d);

	if (status == HD_OK)
		status = set_ports(fabric, d);
	if (status == HD_OK)
		status = override_links(fabric, d);
	if (status != HD_OK)
		return status;
	tell_rates(fabric);
	return set_faults(fabric, d);
}
