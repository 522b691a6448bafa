/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queue pairs and jobs come from rows of a scenario (hca/traffic.h,
 * sim/jobs/jobs.h). So a small scenario with such rows is loaded, and the
 * case's fabric and flows are put in the place of its own.
 */
#include "engine.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "fabric/control.h"
#include "hca/traffic.h"
#include "scenario/words.h"
#include "sim/jobs/jobs.h"
#include "subnet/multicast/aggregate.h"

/* ---- the scenario of the case ---- */

static void must(enum hd_status status, const struct diag *d)
{
	if (status == HD_OK)
		return;
	fprintf(stderr, "the engine refuses the case: %s\n", d->message);
	abort();
}

static const char *const transports[] = {
	[ORACLE_RC] = "rc",
	[ORACLE_UC] = "uc",
	[ORACLE_UD] = "ud",
};

/* ---- jobs, as a scenario says them ---- */

static void hosts_write(const struct oracle_case *c, const uint32_t *nodes, uint32_t n,
			struct strbuf *to)
{
	for (uint32_t i = 0; i < n; i++)
		strbuf_printf(to, "%shost-%u", i > 0 ? ", " : "",
			      (unsigned)c->setup->nodes[nodes[i]].node);
}

/* A job's file of operations; the caller removes it. */
static char *goal_save(const struct oracle_job *j)
{
	const char *room = "/tmp/heddle-oracle-XXXXXX";
	char *name = hd_alloc(strlen(room) + 1, 1);
	struct strbuf text = STRBUF_INIT;
	ssize_t written;
	int file;

	memcpy(name, room, strlen(room) + 1);
	file = mkstemp(name);
	job_write_goal(j, &text);
	written = file < 0 ? -1 : write(file, text.text, text.len);
	if (written != (ssize_t)text.len || close(file) != 0) {
		perror(name);
		abort();
	}
	strbuf_fini(&text);
	return name;
}

static void job_write(const struct oracle_case *c, uint32_t i, const char *goal, struct strbuf *to)
{
	const struct oracle_job *j = &c->jobs->list[i];
	struct strbuf servers = STRBUF_INIT;

	strbuf_printf(to, "- {name: j%u, ranks: %u, on: \"", i, j->n_ranks);
	hosts_write(c, j->nodes, j->n_ranks, to);
	strbuf_printf(to,
		      "\", sl: %u, start: %" PRIu64 "ps, repeat: %u, overhead: %" PRIu64
		      "ps, per_byte: %" PRIu64 "ps, gap: %" PRIu64 "ps, alone: false",
		      j->sl, j->start, j->repeat, j->overhead, j->per_byte, j->gap);
	if (j->rc)
		strbuf_printf(to, ", transport: rc, ack_timeout: %" PRIu64 "ns",
			      UINT64_C(4096) << j->timeout);
	if (j->eager != UINT64_MAX)
		strbuf_printf(to, ", eager: %" PRIu64, j->eager);
	if (goal) {
		strbuf_printf(to, ", goal: \"%s\"}\n", goal);
		return;
	}
	hosts_write(c, j->servers, j->n_servers, &servers);
	strbuf_puts(to, ", program: ");
	job_write_program(j, servers.text ? servers.text : "", to);
	strbuf_puts(to, "}\n");
	strbuf_fini(&servers);
}

static uint32_t n_jobs(const struct oracle_case *c)
{
	return c->jobs ? c->jobs->n : 0;
}

static uint32_t n_asks(const struct oracle_case *c)
{
	return c->asks ? c->asks->n : 0;
}

static uint32_t n_pairs(const struct oracle_case *c)
{
	return c->pairs ? c->pairs->n : 0;
}

static uint32_t n_mads(const struct oracle_case *c)
{
	return c->mads ? c->mads->n : 0;
}

/* Row 0 is for what goes without queue pairs, row k for pair k - 1. */
static void rows_write(const struct oracle_pairs *pairs, uint32_t mtu, uint32_t payload,
		       struct strbuf *to)
{
	strbuf_printf(to,
		      "fabric:\n  topology: {kind: star, hosts: 2}\n"
		      "  host: {out_of_order: %u}\n"
		      "  packet: {mtu: %u}\n"
		      "  reduction: {payload: %u}\ntraffic:\n"
		      "- {name: plain, kind: messages, payload: 64, source: h0, destination: h1}\n",
		      pairs ? pairs->out_of_order : 0, mtu, payload ? payload : mtu);
	for (uint32_t i = 0; pairs && i < pairs->n; i++) {
		const struct oracle_pair *p = &pairs->list[i];

		strbuf_printf(
			to,
			"- {name: p%u, kind: messages, payload: %u, source: h0, destination: h1, transport: %s",
			i, p->length, transports[p->transport]);
		if (p->transport == ORACLE_RC)
			strbuf_printf(to, ", ack_timeout: %" PRIu64 "ns",
				      UINT64_C(4096) << p->timeout);
		strbuf_puts(to, "}\n");
	}
}

/* A fabric with the members of a case in place of its own, for one run. */
struct case_run {
	struct fabric *in, own; /* own: members before the run */
	char **goals;           /* files, of jobs that have one */
	struct mft forwarding;  /* with trees that jobs make */
	struct sim_address *addresses;
	struct sim_arrival *traces; /* of all flows, one after the other */
};

static uint32_t flows_of(const struct oracle_case *c)
{
	uint32_t n = c->setup->control ? c->setup->control->n_flows : 0;

	for (size_t i = 0; i < c->n_arrivals; i++)
		if (c->arrivals[i].flow >= n)
			n = c->arrivals[i].flow + 1;
	return n;
}

/* All arrivals of a flow as a trace; some flow may have none. */
static void flow_fill(const struct oracle_case *c, struct case_run *g, uint32_t flow, size_t *used)
{
	struct sim_flow *f = &g->in->flows[flow];
	struct sim_arrival *first = g->traces + *used;

	*f = (struct sim_flow){ .kind = SIM_TRACE, .packets = 1, .trace = first };
	for (size_t i = 0; i < c->n_arrivals; i++) {
		if (c->arrivals[i].flow != flow)
			continue;
		g->traces[(*used)++] = c->arrivals[i];
		f->n_trace++;
	}
	g->addresses[flow] = (struct sim_address){ first->dlid, TOPO_NONE };
	f->to = (struct sim_destinations){
		.choice = SIM_TO_FIXED, .list = &g->addresses[flow], .n = 1, .self = SIM_NONE
	};
	g->in->flow_target[flow] = TOPO_NONE;
	if (f->n_trace == 0) { /* never comes */
		f->source = c->arrivals[0].source;
		f->bytes = SIM_LEAST_BYTES;
		return;
	}
	f->source = first->source;
	f->sl = first->sl;
	f->pkey = first->pkey;
	f->bytes = first->bytes;
	f->management = first->management;
	if (flow < 64 && c->saturating >> flow & 1) {
		f->kind = SIM_SATURATING;
		f->start = first->time;
		f->count = f->n_trace;
	}
}

/* C8: it makes its packets when it may. */
static void ask_fill(const struct oracle_case *c, struct case_run *g, uint32_t i)
{
	const struct oracle_ask *a = &c->asks->list[i];
	struct sim_flow *f = &g->in->flows[a->flow];

	f->kind = a->gap == 0 ? SIM_BURST : SIM_CBR;
	f->start = a->start;
	f->stop = a->stop;
	f->count = f->n_trace;
	f->interval = (struct sim_interval){ a->gap, 1 };
}

static void pair_fill(const struct oracle_case *c, struct case_run *g, uint32_t i)
{
	const struct oracle_pair *p = &c->pairs->list[i];
	struct sim_flow *f = &g->in->flows[p->flow];
	const struct sim_port *to = &c->setup->ports[c->setup->nodes[p->to].first_port + 1];

	f->kind = p->gap == 0 ? SIM_BURST : SIM_CBR;
	f->start = p->start;
	f->count = f->n_trace;
	f->interval = (struct sim_interval){ p->gap, 1 };
	f->row = i + 1;
	f->posted = true;
	f->source = p->from;
	g->addresses[p->flow] = (struct sim_address){ p->dlid, TOPO_NONE };
	f->sl = p->sl;
	f->pkey = p->pkey;
	f->bytes = c->pairs->mtu + 26;
	f->packets =
		p->length > c->pairs->mtu ? (p->length + c->pairs->mtu - 1) / c->pairs->mtu : 1;
	g->in->flow_target[p->flow] = to->origin;
}

/* What the scenario would have to say for pairs to answer as the case's. */
static void congestion_fill(const struct oracle_pairs *p, struct scn_congestion *c)
{
	for (unsigned i = 0; scn_algorithm_words[i]; i++)
		if (fabric_algorithm(i) == p->algorithm)
			c->algorithm = i;
	c->rate_steps = p->rate_steps;
	c->m = p->config.m;
	c->cap = p->config.cap_first_increase;
	c->ccti_increase = p->config.ccti_increase;
	c->ccti_timer = p->config.ccti_timer;
	c->ccti_min = p->config.ccti_min;
	c->per = p->per_sl ? SCN_PER_SL : SCN_PER_QP;
	c->cct.given = true;
	c->cct.n = (uint8_t)(p->config.ccti_limit + 1);
	memcpy(c->cct.entries, p->config.cct, sizeof(c->cct.entries));
}

static bool answers_alike(const struct cc_config *a, const struct cc_config *b)
{
	return a->rmin == b->rmin && a->rmax == b->rmax && a->m == b->m && a->add == b->add &&
	       a->unit == b->unit && a->cap_first_increase == b->cap_first_increase &&
	       a->ccti_limit == b->ccti_limit && a->ccti_increase == b->ccti_increase &&
	       a->ccti_min == b->ccti_min && a->ccti_timer == b->ccti_timer &&
	       memcmp(a->cct, b->cct, sizeof(a->cct)) == 0;
}

static void answers_fill(const struct oracle_case *c, struct case_run *g)
{
	const struct oracle_pairs *p = c->pairs;
	struct cc_config got;

	if (!p)
		return;
	g->in->scenario->congestion.sls.sls = (uint16_t)~p->free_sls;
	if (!p->algorithm)
		return;
	congestion_fill(p, &g->in->scenario->congestion);
	got = fabric_response_in_shares(g->in);
	if (answers_alike(&got, &p->config))
		return;
	fprintf(stderr, "the engine's queue pairs answer to marks otherwise\n");
	abort();
}

static void origins_fill(struct fabric *fabric)
{
	fabric->port_of_origin = hd_alloc(fabric->topo.n_ports, sizeof(*fabric->port_of_origin));
	fabric->end_of_origin = hd_alloc(fabric->topo.n_ports, sizeof(*fabric->end_of_origin));
	for (port_id p = 0; p < fabric->topo.n_ports; p++)
		fabric->port_of_origin[p] = fabric->end_of_origin[p] = SIM_NONE;
	for (uint32_t i = 0; i < fabric->setup.n_ports; i++) {
		const struct sim_port *p = &fabric->setup.ports[i];

		if (p->peer == SIM_NONE)
			continue;
		fabric->port_of_origin[p->origin] = i;
		if (fabric->setup.nodes[p->node].kind == SIM_END)
			fabric->end_of_origin[p->origin] = p->node;
	}
}

/* A sender after the end: a run with nothing to do ends before. */
static void last_flow_fill(const struct oracle_case *c, struct case_run *g)
{
	struct sim_arrival *a = &g->traces[c->n_arrivals];
	uint32_t n = g->in->n_flows++;

	*a = c->arrivals[0];
	a->time = c->horizon + 1;
	a->dlid = 1;
	a->bytes = SIM_LEAST_BYTES;
	g->in->flows[n] = (struct sim_flow){ .kind = SIM_TRACE,
					     .source = a->source,
					     .packets = 1,
					     .bytes = a->bytes,
					     .trace = a,
					     .n_trace = 1 };
	g->in->flow_target[n] = TOPO_NONE;
}

static void scenario_load(const struct oracle_case *c, struct case_run *g)
{
	struct strbuf text = STRBUF_INIT;
	struct diag d = { .status = HD_OK };

	uint32_t mtu = n_pairs(c) > 0 ? c->pairs->mtu : n_jobs(c) > 0 ? c->jobs->mtu : 4096;

	rows_write(c->pairs, mtu, n_jobs(c) > 0 ? c->jobs->payload : 0, &text);
	g->goals = hd_alloc(n_jobs(c) + (size_t)1, sizeof(char *));
	for (uint32_t i = 0; i < n_jobs(c); i++) {
		if (c->jobs->list[i].graphs)
			g->goals[i] = goal_save(&c->jobs->list[i]);
		strbuf_puts(&text, i == 0 ? "jobs:\n" : "");
		job_write(c, i, g->goals[i], &text);
	}
	must(fabric_load(text.text, strlen(text.text), "case.yaml", NULL, &d, &g->in), &d);
	strbuf_fini(&text);
	g->own = *g->in;
}

/* Jobs make their trees themselves, in addition to the groups. */
static void groups_copy(const struct oracle_case *c, struct case_run *g)
{
	struct subnet *s = &g->in->subnet;
	size_t size;

	g->forwarding = s->mft[0];
	g->forwarding.n_mlids -= s->n_groups;
	g->forwarding.cap = g->forwarding.n_mlids;
	size = (size_t)g->forwarding.n_mlids * s->n_switches * g->forwarding.words;
	g->forwarding.ports = hd_alloc(size + 1, sizeof(uint64_t));
	memcpy(g->forwarding.ports, c->setup->subnet->mft[0].ports, size * sizeof(uint64_t));
	s->mft = &g->forwarding;
	s->groups = NULL;
	s->n_groups = 0;
	s->groups_cap = 0;
	g->in->setup.subnet = s;
}

static void case_run_init(const struct oracle_case *c, struct case_run *g)
{
	uint32_t n = flows_of(c);
	size_t used = 0;

	scenario_load(c, g);
	g->in->setup = *c->setup;
	g->in->subnet = *c->setup->subnet;
	g->in->topo = *c->setup->subnet->topo;
	if (n_jobs(c) > 0)
		groups_copy(c, g);
	g->in->n_flows = n;
	g->in->flows = hd_alloc(n + (size_t)1, sizeof(*g->in->flows));
	g->in->flow_target = hd_alloc(n + (size_t)1, sizeof(*g->in->flow_target));
	g->addresses = hd_alloc(n + (size_t)1, sizeof(*g->addresses));
	g->traces = hd_alloc(c->n_arrivals + 1, sizeof(*g->traces));
	for (uint32_t i = 0; i < n; i++)
		flow_fill(c, g, i, &used);
	for (uint32_t i = 0; i < n_pairs(c); i++)
		pair_fill(c, g, i);
	for (uint32_t i = 0; i < n_asks(c); i++)
		ask_fill(c, g, i);
	answers_fill(c, g);
	last_flow_fill(c, g);
	origins_fill(g->in);
	g->in->selector = selector_new(&g->in->topo);
}

static void case_run_fini(const struct oracle_case *c, struct case_run *g)
{
	for (uint32_t i = 0; i < n_jobs(c); i++) {
		if (g->goals[i])
			unlink(g->goals[i]);
		free(g->goals[i]);
	}
	free(g->goals);
	selector_free(g->in->selector);
	free(g->in->flows);
	free(g->in->flow_target);
	free(g->in->port_of_origin);
	free(g->in->end_of_origin);
	if (n_jobs(c) > 0) {
		aggregation_drop(&g->in->subnet, 0);
		free(g->in->subnet.aggregations);
		mcast_drop(&g->in->subnet, 0);
		free(g->in->subnet.groups);
		free(g->forwarding.ports);
	}
	free(g->addresses);
	free(g->traces);
	*g->in = g->own;
	fabric_free(g->in);
}

/* ---- what is seen of it ---- */

/* Datagrams with a route of their own (A5), while the engine runs. */
static struct mads_run {
	const struct oracle_mads *of; /* NULL: none */
	const struct sim_setup *setup;
	struct sim *s;
	uint32_t endpoint;
	uint32_t *crossed; /* links, by datagram */
} mads;

/* A queue pair's packet has no flow: source, destination and length. */
static void ended(void *context, const struct sim_event_record *e, const struct sim_packet *p)
{
	struct sim_record *r = context;
	struct sim_event_record kept = *e;

	if (e->kind == SIM_CONTRIBUTION || e->kind == SIM_RESULT) {
		kept.flow = oracle_reduction_flow(p->dlid);
		kept.sequence = p->bytes;
	} else if (p->flow == SIM_NONE && mads.of && p->endpoint == mads.endpoint + 1) {
		kept.flow = mads.of->list[p->cookie].flow;
		kept.sequence = 0;
	} else if (p->flow == SIM_NONE) {
		kept.flow = oracle_pair_flow(p->source, p->dlid);
		kept.sequence = p->bytes;
	}
	r->events = hd_grow(r->events, &r->events_cap, r->n_events + 1, sizeof(*r->events));
	r->events[r->n_events++] = kept;
}

/* ---- datagrams with a route of their own (A5) ---- */

static void mad_send(uint32_t i, hd_time now)
{
	const struct oracle_mad *m = &mads.of->list[i];
	const struct sim_arrival a = { .time = now,
				       .source = m->from,
				       .bytes = m->bytes,
				       .dlid = 1,
				       .target = TOPO_NONE,
				       .sl = m->sl,
				       .management = m->management,
				       /* T13: answers first, as after deliveries. */
				       .turn = m->time != HD_TIME_NEVER };
	const struct sim_step step = { SIM_STEP_LEAVES, m->route[0].out, m->route[0].vl, 0 };

	if (mads.setup->nodes[m->from].kind != SIM_END)
		sim_inject_at_switch(mads.s, mads.endpoint, &a, &step, i);
	else
		sim_inject(mads.s, mads.endpoint, &a, i);
}

static void mad_routes(void *context, const struct sim_head *h, struct sim_step *out)
{
	const struct oracle_mad *m = &mads.of->list[h->cookie];
	uint32_t step = ++mads.crossed[h->cookie];

	(void)context;
	if (step == m->n)
		*out = (struct sim_step){ SIM_STEP_ENDS, 0, 0, h->tail + m->serves };
	else
		*out = (struct sim_step){ SIM_STEP_LEAVES, m->route[step].out, m->route[step].vl,
					  0 };
}

static void mad_delivered(void *context, hd_time now, uint32_t node, const struct sim_packet *p)
{
	int answer = mads.of->list[p->cookie].answer;

	(void)context;
	(void)node;
	if (answer != ORACLE_NO_MAD)
		mad_send((uint32_t)answer, now);
}

static void mads_enter(const struct oracle_case *c, struct sim *s)
{
	const struct sim_endpoint endpoint = { .routes = mad_routes, .delivered = mad_delivered };

	mads.of = c->mads;
	mads.setup = c->setup;
	mads.s = s;
	mads.crossed = hd_alloc(c->mads->n, sizeof(*mads.crossed));
	mads.endpoint = sim_attach(s, &endpoint);
	for (uint32_t i = 0; i < c->mads->n; i++)
		if (c->mads->list[i].time != HD_TIME_NEVER)
			mad_send(i, c->mads->list[i].time);
}

static void mads_leave(void)
{
	free(mads.crossed);
	mads = (struct mads_run){ 0 };
}

/* The end of a job, as if it were a packet's. */
static void completions_record(const struct oracle_case *c, const struct jobs *jobs,
			       struct sim_record *r)
{
	for (uint32_t i = 0; i < n_jobs(c); i++) {
		hd_time took = jobs_completion(jobs, i);

		if (took == HD_TIME_NEVER)
			continue;
		r->events = hd_grow(r->events, &r->events_cap, r->n_events + 1, sizeof(*r->events));
		r->events[r->n_events++] = (struct sim_event_record){
			.flow = oracle_job_flow(i),
			.fate = SIM_DELIVERED,
			.time = c->jobs->list[i].start + took,
		};
	}
}

static uint32_t case_run_replay(const struct oracle_case *c, struct sim_replay_cut cut,
				struct sim_record *out, hd_time *end)
{
	struct diag d = { .status = HD_OK };
	struct lab *rows = NULL;
	struct jobs *jobs = NULL;
	struct sim_rules rules;
	struct case_run g;
	const char *why;
	uint32_t parts;

	case_run_init(c, &g);
	*out = (struct sim_record){ 0 };
	out->counters = hd_alloc(c->setup->n_ports, sizeof(*out->counters));
	sim_rules_init(&rules);
	if (n_pairs(c) > 0)
		lab_rules(&rules);
	if (n_jobs(c) > 0) {
		must(jobs_new(g.in, JOBS_ALL, &d, &jobs), &d);
		jobs_rules(g.in, &rules);
	}
	if (n_mads(c) > 0) {
		rules.injects = rules.injects_management = rules.injects_at_switches = true;
		rules.injects_sls = 0; /* all, not those of jobs only */
		for (uint32_t i = 0; i < c->mads->n; i++)
			if (c->mads->list[i].bytes > rules.injects_bytes)
				rules.injects_bytes = c->mads->list[i].bytes;
	}
	rules.stop = c->horizon;
	rules.threads = 1;
	rules.parts = cut.parts;
	rules.cut_seed = cut.seed;
	struct sim *s = sim_new(&g.in->setup, g.in->flows, g.in->n_flows, &rules);
	struct sim_observer o = { .context = out, .ended = ended };

	sim_observe(s, &o);
	if (n_pairs(c) > 0)
		must(qp_rows_new(g.in, s, &d, &rows), &d);
	if (jobs)
		jobs_attach(jobs, s);
	if (n_mads(c) > 0)
		mads_enter(c, s);
	if (sim_run(s, c->horizon, NULL, NULL) == SIM_DEADLOCK)
		*end = sim_now(s);
	for (uint32_t i = 0; i < c->setup->n_ports; i++)
		sim_port_counters(sim_metrics(s), i, &out->counters[i]);
	parts = sim_is_cut(s, &why);
	if (jobs)
		completions_record(c, jobs, out);
	if (rows)
		lab_free(rows);
	sim_free(s);
	mads_leave();
	if (jobs)
		jobs_free(jobs);
	case_run_fini(c, &g);
	return parts;
}

uint32_t engine_replay(const struct oracle_case *c, struct sim_replay_cut cut,
		       struct sim_record *out, hd_time *end)
{
	*end = c->horizon;
	if (c->generates || n_mads(c) > 0)
		return case_run_replay(c, cut, out, end);
	if (cut.parts == 1) {
		sim_replay(c->setup, c->arrivals, c->n_arrivals, c->horizon, out);
		return 1;
	}
	return sim_replay_parts(c->setup, c->arrivals, c->n_arrivals, c->horizon, cut, out);
}
