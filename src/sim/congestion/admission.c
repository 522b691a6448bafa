/* SPDX-License-Identifier: BSD-2-Clause */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/congestion/run.h"
#include "sim/congestion/summary.h"

const char *congestion_answer_name(enum congestion_answer answer)
{
	static const char *const names[] = {
		[ANSWER_NOT_ASKED] = "not asked",
		[ANSWER_OPEN] = "open",
		[ANSWER_ADMITTED] = "admitted",
		[ANSWER_REJECTED] = "rejected",
		[ANSWER_RELEASED] = "released",
	};

	return names[answer];
}

/* ---- what links have promised ------------------------------------------ */

uint64_t cc_admission_total(const struct run *r, uint32_t port)
{
	uint64_t sum = 0;

	for (unsigned sl = 0; sl < N_SLS; sl++)
		sum += r->promised[(size_t)port * N_SLS + sl];
	return sum;
}

/* Room for it: both below the SL's share and below the link in all. */
static bool fits(const struct run *r, const struct congestion_flow *f,
		 uint32_t port)
{
	double link = hd_rate_bps(r->setup->ports[port].rate);
	double share = r->params->sl_share[f->sl];
	double of_sl = (double)r->promised[(size_t)port * N_SLS + f->sl];
	double all = (double)cc_admission_total(r, port);
	double wanted = (double)f->reserve;

	return wanted + of_sl < link * (share > 0 ? share : 1) &&
	       wanted + all < link;
}

static void promise(struct run *r, uint32_t flow, uint32_t port)
{
	const struct congestion_flow *f = &r->flows[flow];

	r->promised[(size_t)port * N_SLS + f->sl] += f->reserve;
}

static void release(struct run *r, uint32_t flow, uint32_t port)
{
	const struct congestion_flow *f = &r->flows[flow];
	uint64_t *promised = &r->promised[(size_t)port * N_SLS + f->sl];

	assert(*promised >= f->reserve);
	*promised -= f->reserve;
}

/* ---- devices along the way --------------------------------------------- */

/*
 * Device 0 is the source's adapter, device k the switch that sends on path[k],
 * device path_n the destination. Each sends and receives by its end node: a
 * switch by its agent.
 */
static uint32_t end_of(const struct run *r, uint32_t flow, unsigned device)
{
	const struct source *s = &r->sources[flow];
	const struct sim_setup *setup = r->setup;

	if (device == 0)
		return r->flows[flow].source;
	if (device == s->path_n)
		return r->flows[flow].destination;
	const struct sim_node *sw =
		&setup->nodes[setup->ports[s->path[device]].node];

	return setup->ports[setup->ports[sw->first_port].peer].node;
}

static lid_t lid_of(const struct run *r, uint32_t flow, unsigned device)
{
	const struct sim_setup *setup = r->setup;

	if (device == 0)
		return r->flows[flow].slid;
	if (device == r->sources[flow].path_n)
		return r->flows[flow].dlid;
	uint32_t end = end_of(r, flow, device);
	uint32_t port = setup->nodes[end].first_port + 1;

	return setup->subnet->lid_of_port[setup->ports[port].origin];
}

static void tell(struct run *r, enum travel kind, uint32_t flow, unsigned from,
		 unsigned to, hd_time now)
{
	struct traveller t = { .flow = flow, .kind = kind, .hop = (uint8_t)to };

	r->result->probes += kind == TRAVEL_PROBE;
	r->result->accepts += kind == TRAVEL_ACCEPT;
	r->result->rejects += kind == TRAVEL_REJECT;
	cc_run_inject_from(r, &t, end_of(r, flow, from), lid_of(r, flow, to),
			   now);
}

static void conclude(struct run *r, uint32_t flow,
		     enum congestion_answer answer, hd_time now)
{
	struct source *s = &r->sources[flow];

	s->answer = answer;
	s->answered = now - s->asked;
	if (answer == ANSWER_ADMITTED)
		cc_sources_admit(r, flow, now);
}

/* A no goes back device by device; the adapter tells its source at once. */
static void go_back(struct run *r, uint32_t flow, unsigned from, hd_time now)
{
	if (from == 0)
		conclude(r, flow, ANSWER_REJECTED, now);
	else
		tell(r, TRAVEL_REJECT, flow, from, from - 1, now);
}

static void decide(struct run *r, uint32_t flow, unsigned device, hd_time now)
{
	struct source *s = &r->sources[flow];
	uint32_t port = s->path[device];

	if (fits(r, &r->flows[flow], port)) {
		promise(r, flow, port);
		tell(r, TRAVEL_PROBE, flow, device, device + 1, now);
	} else {
		s->rejected_by = port;
		go_back(r, flow, device, now);
	}
}

void cc_admission_ask(struct run *r, uint32_t flow, hd_time now)
{
	r->sources[flow].asked = now;
	decide(r, flow, 0, now);
}

void cc_admission_arrive(struct run *r, const struct traveller *t, hd_time now)
{
	struct source *s = &r->sources[t->flow];

	if (t->kind == TRAVEL_ACCEPT) {
		conclude(r, t->flow, ANSWER_ADMITTED, now);
	} else if (t->kind == TRAVEL_REJECT) {
		release(r, t->flow, s->path[t->hop]);
		go_back(r, t->flow, t->hop, now);
	} else if (t->hop == s->path_n) {
		tell(r, TRAVEL_ACCEPT, t->flow, s->path_n, 0, now);
	} else {
		decide(r, t->flow, t->hop, now);
	}
}

void cc_admission_pass(struct run *r, const struct traveller *t, uint32_t port)
{
	struct source *s = &r->sources[t->flow];

	release(r, t->flow, port);
	if (port == s->path[s->path_n - 1])
		s->answer = ANSWER_RELEASED;
}

/* ---- beginning and end ------------------------------------------------- */

void cc_admission_init(struct run *r)
{
	uint32_t path[CONGESTION_LONGEST];

	r->promised = hd_alloc((size_t)r->setup->n_ports * N_SLS,
			       sizeof(*r->promised));
	for (uint32_t f = 0; f < r->n_flows; f++) {
		struct source *s = &r->sources[f];

		s->rejected_by = SIM_NONE;
		if (!r->flows[f].reserve)
			continue;
		s->answer = ANSWER_OPEN;
		s->path_n = congestion_path(r->setup, &r->flows[f], path,
					    CONGESTION_LONGEST);
		s->path = hd_alloc(s->path_n, sizeof(*s->path));
		memcpy(s->path, path, s->path_n * sizeof(*s->path));
	}
}

void cc_admission_fini(struct run *r)
{
	for (uint32_t f = 0; f < r->n_flows; f++)
		free(r->sources[f].path);
	free(r->promised);
}

enum hd_status cc_admission_check(const struct run *r, struct diag *d)
{
	const struct sim_setup *s = r->setup;
	bool asks = false;

	for (uint32_t f = 0; f < r->n_flows; f++)
		asks |= r->flows[f].reserve > 0;
	for (uint32_t v = 0; asks && v < s->n_nodes; v++) {
		if (s->nodes[v].kind == SIM_SWITCH &&
		    s->ports[s->nodes[v].first_port].peer == SIM_NONE)
			return diag_fail(
				d, HD_ERR_UNFIT,
				"a switch has no agent on port 0 whom a probe could ask");
	}
	return HD_OK;
}
