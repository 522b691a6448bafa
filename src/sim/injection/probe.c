/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Admission by probe (docs/timing-rules.md, C8): a probe visits the devices on the path of a
 * flow, and each admits or refuses it. Device 0 is the source's adapter, device k the switch
 * that sends on path[k], and the last device is the destination. Devices exchange datagrams
 * through their end nodes, switches through the agent on port 0.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/checkpoint/checkpoint_state.h"
#include "sim/injection/probe.h"
#include "sim/injection/source.h"

struct reservation {
	uint32_t *path; /* sending sim ports along the path */
	uint32_t path_n;
	uint32_t destination; /* end node */
	struct sim_admission says;
};

struct probes {
	struct reservation *flows; /* rules->n_flows */
	uint64_t *promised;        /* reserved bits per second, per port and SL */
};

bool flow_reserves(const struct sim *s, uint32_t flow)
{
	const struct sim_control *r = s->setup->control;

	return r && r->reserve && flow < r->n_flows && r->reserve[flow] > 0;
}

/* ---- reserved rates of links ------------------------------------------- */

uint64_t sim_promised(const struct sim *s, uint32_t port)
{
	const struct probes *a = s->probes;
	uint64_t sum = 0;

	for (unsigned sl = 0; a && sl < N_SLS; sl++)
		sum += a->promised[(size_t)port * N_SLS + sl];
	return sum;
}

static uint64_t *promised_at(const struct sim *s, uint32_t flow, uint32_t port)
{
	return &s->probes->promised[(size_t)port * N_SLS + s->flows[flow].sl];
}

/* Whether the rate fits both the SL's share and the link as a whole. */
static bool fits(const struct sim *s, uint32_t flow, uint32_t port)
{
	const struct sim_control *r = s->setup->control;
	double link = hd_rate_bps(s->setup->ports[port].rate);
	double share = r->sl_share[s->flows[flow].sl];
	double wanted = (double)r->reserve[flow];

	return wanted + (double)*promised_at(s, flow, port) < link * (share > 0 ? share : 1) &&
	       wanted + (double)sim_promised(s, port) < link;
}

static void release(struct sim *s, uint32_t flow, uint32_t port)
{
	uint64_t *promised = promised_at(s, flow, port);

	assert(*promised >= s->setup->control->reserve[flow]);
	*promised -= s->setup->control->reserve[flow];
}

/* ---- devices along the path -------------------------------------------- */

static uint32_t end_of(const struct sim *s, uint32_t flow, unsigned device)
{
	const struct reservation *f = &s->probes->flows[flow];
	const struct sim_setup *setup = s->setup;

	if (device == 0)
		return s->flows[flow].source;
	if (device == f->path_n)
		return f->destination;
	const struct sim_node *sw = &setup->nodes[setup->ports[f->path[device]].node];

	return setup->ports[setup->ports[sw->first_port].peer].node;
}

static void tell(struct sim *s, enum sim_packet_kind kind, uint32_t flow, unsigned from,
		 unsigned to)
{
	const struct sim_setup *setup = s->setup;
	uint32_t node = end_of(s, flow, from);
	uint32_t far = s->nodes[end_of(s, flow, to)].first_port + 1;
	uint32_t id = packet_new(s);

	s->pool.all[id] = (struct packet_record){
		.born = s->now,
		.ready = s->now,
		.next = NONE,
		.flow = flow,
		.out = s->nodes[node].first_port + 1,
		.up = NONE,
		.slot = NONE,
		.bytes = SIM_MAD_BYTES,
		.dlid = setup->subnet->lid_of_port[setup->ports[far].origin],
		.pkey = s->flows[flow].pkey | (kind == SIM_PROBE ? 0 : PKEY_FULL),
		.sl = s->flows[flow].sl,
		.flags = P_TOLD | P_OTHER,
	};
	s->pool.extras[id] = (struct packet_extra){
		.cookie = to,
		.source = node,
		.target = TOPO_NONE,
		.kind = (uint8_t)kind,
	};
	s->control->counts.probes += kind == SIM_PROBE;
	s->control->counts.accepts += kind == SIM_ACCEPT;
	s->control->counts.rejects += kind == SIM_REJECT;
	source_packet_enter(s, id);
}

static void conclude(struct sim *s, uint32_t flow, enum sim_answer answer)
{
	struct sim_admission *says = &s->probes->flows[flow].says;

	says->answer = answer;
	says->answered = s->now;
	if (answer == SIM_ADMITTED)
		source_begin(s, flow, s->now);
}

/* A refusal returns device by device; the adapter notifies its source directly. */
static void go_back(struct sim *s, uint32_t flow, unsigned from)
{
	if (from == 0)
		conclude(s, flow, SIM_REJECTED);
	else
		tell(s, SIM_REJECT, flow, from, from - 1);
}

static void decide(struct sim *s, uint32_t flow, unsigned device)
{
	struct reservation *f = &s->probes->flows[flow];
	uint32_t port = f->path[device];

	if (fits(s, flow, port)) {
		*promised_at(s, flow, port) += s->setup->control->reserve[flow];
		tell(s, SIM_PROBE, flow, device, device + 1);
	} else {
		f->says.rejected_by = port;
		go_back(s, flow, device);
	}
}

void probe_ask(struct sim *s, uint32_t flow)
{
	s->probes->flows[flow].says.asked = s->now;
	decide(s, flow, 0);
}

void probe_delivered(struct sim *s, uint32_t flow, enum sim_packet_kind kind, unsigned device)
{
	const struct reservation *f = &s->probes->flows[flow];

	if (kind == SIM_ACCEPT) {
		conclude(s, flow, SIM_ADMITTED);
	} else if (kind == SIM_REJECT) {
		release(s, flow, f->path[device]);
		go_back(s, flow, device);
	} else if (device == f->path_n) {
		tell(s, SIM_ACCEPT, flow, f->path_n, 0);
	} else {
		decide(s, flow, device);
	}
}

void probe_pass(struct sim *s, uint32_t flow, uint32_t port)
{
	struct reservation *f = &s->probes->flows[flow];

	release(s, flow, port);
	if (port == f->path[f->path_n - 1])
		f->says.answer = SIM_RELEASED;
}

bool sim_admission(const struct sim *s, uint32_t flow, struct sim_admission *out)
{
	if (!flow_reserves(s, flow))
		return false;
	*out = s->probes->flows[flow].says;
	return true;
}

/* ---- start and end ----------------------------------------------------- */

/* The path ends at the destination, or where forwarding ends. */
static void path_find(const struct sim *s, uint32_t flow, struct reservation *out)
{
	const struct sim_setup *setup = s->setup;
	uint32_t port = s->nodes[s->flows[flow].source].first_port + 1;
	lid_t dlid = s->flows[flow].to.list[0].dlid;
	size_t cap = 0;

	for (;;) {
		out->path = hd_grow(out->path, &cap, (size_t)out->path_n + 1, sizeof(*out->path));
		out->path[out->path_n++] = port;
		out->destination = setup->ports[setup->ports[port].peer].node;
		const struct sim_node *node = &setup->nodes[out->destination];

		if (node->kind != SIM_SWITCH || out->path_n > setup->n_nodes)
			return;
		unsigned way = lft_get(setup->subnet, node->sw, dlid);

		if (way > node->n_ports || setup->ports[node->first_port + way].peer == SIM_NONE)
			return;
		port = node->first_port + way;
	}
}

void probes_init(struct sim *s)
{
	const struct sim_control *r = s->setup->control;

	if (!r || !r->reserve)
		return;
	struct probes *a = hd_alloc(1, sizeof(*a));

	s->probes = a;
	a->flows = hd_alloc(r->n_flows, sizeof(*a->flows));
	a->promised = hd_alloc((size_t)s->setup->n_ports * N_SLS, sizeof(*a->promised));
	for (uint32_t i = 0; i < r->n_flows && i < s->n_flows; i++) {
		if (!r->reserve[i])
			continue;
		a->flows[i].says = (struct sim_admission){
			.answer = SIM_OPEN,
			.rejected_by = SIM_NONE,
		};
		path_find(s, i, &a->flows[i]);
	}
}

void probes_fini(struct sim *s)
{
	struct probes *a = s->probes;

	for (uint32_t i = 0; a && i < s->setup->control->n_flows; i++)
		free(a->flows[i].path);
	if (a) {
		free(a->flows);
		free(a->promised);
	}
	free(a);
}

/* ---- checkpoint --------------------------------------------------------- */

static const struct pack_member says_members[] = {
	PACK(sim_admission, answer),
	PACK(sim_admission, asked),
	PACK(sim_admission, answered),
	PACK(sim_admission, rejected_by),
};

static bool pack_says(struct pack *p, const struct sim *s, struct sim_admission *says)
{
	PACK_STRUCT(p, says_members, says);
	return pack_check(p,
			  says->answer <= SIM_RELEASED && (says->rejected_by == SIM_NONE ||
							   says->rejected_by < s->setup->n_ports));
}

void checkpoint_state_probes(struct checkpoint_state *v)
{
	const struct sim *s = v->s;
	struct probes *a = s->probes;

	if (!a)
		return;
	for (uint32_t i = 0; checkpoint_state_has_sums(v) && i < s->setup->control->n_flows; i++)
		pack_says(v->p, s, &a->flows[i].says);
	for (size_t i = 0; i < (size_t)s->setup->n_ports * N_SLS; i++) {
		if (checkpoint_state_has_port(v, (uint32_t)(i / N_SLS)))
			pack_u64(v->p, &a->promised[i]);
	}
}

/* Merges the parts of a flow's result: from its source, the refusing link and the last device. */
static void admission_merge(struct sim_admission *a, const struct sim_admission *b)
{
	a->asked = b->asked > a->asked ? b->asked : a->asked;
	a->answered = b->answered > a->answered ? b->answered : a->answered;
	if (b->rejected_by != SIM_NONE)
		a->rejected_by = b->rejected_by;
	if (b->answer > a->answer)
		a->answer = b->answer;
}

void probes_pack(struct pack *k, struct sim *s)
{
	struct probes *a = s->probes;

	for (uint32_t i = 0; i < s->setup->control->n_flows; i++) {
		struct sim_admission says = a->flows[i].says;

		if (pack_says(k, s, &says))
			admission_merge(&a->flows[i].says, &says);
	}
}

void probes_pack_promises(struct pack *k, struct sim *part)
{
	for (uint32_t i = 0; i < part->setup->n_ports; i++) {
		uint64_t *promised = &part->probes->promised[(size_t)i * N_SLS];

		for (unsigned sl = 0; sl < N_SLS; sl++) {
			if (part->cut->part_of_port[i] == part->part)
				pack_u64(k, &promised[sl]);
		}
	}
}
