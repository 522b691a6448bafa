/* SPDX-License-Identifier: BSD-2-Clause */
/* Ranks of hosts with several ports (docs/timing-rules.md, J12, J13). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/jobs/jobs.h"

struct outcome {
	hd_time completion;
	bool well;
	uint64_t host_bytes;  /* that hosts sent */
	uint64_t spine_bytes; /* on cables between switches */
	uint64_t other_bytes; /* that hosts sent to other rails */
};

struct counts {
	const struct fabric *fabric;
	uint64_t other;
};

/* Whether a delivered packet changed rails. */
static void delivered(void *context, hd_time now, uint32_t node, const struct sim_packet *p)
{
	struct counts *c = context;
	const struct fabric *fabric = c->fabric;
	const struct sim_port *from =
		&fabric->setup.ports[fabric->setup.nodes[p->source].first_port + 1];
	const struct sim_port *to = &fabric->setup.ports[fabric->setup.nodes[node].first_port + 1];

	(void)now;
	if (fabric->topo.ports[from->origin].number != fabric->topo.ports[to->origin].number)
		c->other += p->bytes;
}

static void count_ports(const struct fabric *fabric, const struct sim_metrics *m,
			struct outcome *out)
{
	for (uint32_t i = 0; i < fabric->setup.n_ports; i++) {
		const struct sim_port *p = &fabric->setup.ports[i];
		struct sim_counters c;

		if (p->peer == SIM_NONE)
			continue;
		sim_port_counters(m, i, &c);
		if (fabric->setup.nodes[p->node].kind == SIM_END)
			out->host_bytes += c.xmit_bytes;
		else if (fabric->setup.nodes[fabric->setup.ports[p->peer].node].kind == SIM_SWITCH)
			out->spine_bytes += c.xmit_bytes;
	}
}

static struct outcome run_with(const char *topology, const char *job, const char *latency)
{
	const hd_time alone[1] = { HD_TIME_NEVER };
	struct diag d = { .status = HD_OK };
	struct results *r = results_new("test");
	struct outcome out = { 0 };
	struct fabric *fabric = NULL;
	struct jobs *jobs = NULL;
	char text[1024];

	snprintf(text, sizeof(text),
		 "fabric:\n  topology: {%s}\n  link: {rate: 4x HDR}\n"
		 "  intra_host: {rate: 3.6Tb/s, latency: %s}\njobs:\n- {name: a, %s}\n",
		 topology, latency, job);
	if (fabric_load(text, strlen(text), "x.yaml", NULL, &d, &fabric) != HD_OK ||
	    jobs_new(fabric, JOBS_ALL, &d, &jobs) != HD_OK)
		fail_msg("%s\n%s", text, d.message);
	struct sim_rules rules = fabric->rules;

	jobs_rules(fabric, &rules);
	struct sim *s = sim_new(&fabric->setup, fabric->flows, fabric->n_flows, &rules);
	struct counts c = { .fabric = fabric };

	jobs_attach(jobs, s);
	sim_observe(s, &(struct sim_observer){ .context = &c, .delivered = delivered });
	sim_run(s, HD_TIME_NEVER, NULL, NULL);
	out.completion = jobs_completion(jobs, 0);
	out.well = jobs_tables(jobs, alone, sim_metrics(s), true, r);
	count_ports(fabric, sim_metrics(s), &out);
	out.other_bytes = c.other;
	sim_free(s);
	results_free(r);
	jobs_free(jobs);
	fabric_free(fabric);
	return out;
}

static struct outcome run_on(const char *topology, const char *job)
{
	return run_with(topology, job, "500ns");
}

#define ONE_UNIT "kind: rail, rails: 8, units: 1, hosts: 4, spines: 4"
#define PACKET   (4096 + 26)

/* Ranks with the same remainder modulo 8 are those of a rail. */
static void an_alltoall_inside_a_rail_keeps_off_the_spine(void **state)
{
	struct outcome o =
		run_on(ONE_UNIT, "program: [{alltoall: 4096, groups: 8, layout: strides}]");

	(void)state;
	assert_true(o.well);
	/* 8 rails, 4 hosts, 3 others each. */
	assert_int_equal(o.host_bytes, 8 * 4 * 3 * PACKET);
	assert_int_equal(o.spine_bytes, 0);
	assert_int_equal(o.other_bytes, 0);
}

/* 32 ranks, of which 24 are of other hosts and 21 of these of other rails. */
static void peers_keep_all_of_it_off_the_spine(void **state)
{
	struct outcome own = run_on(ONE_UNIT, "program: [{alltoall: 4096}]");
	struct outcome peer = run_on(ONE_UNIT, "rails: peer, program: [{alltoall: 4096}]");

	(void)state;
	assert_true(own.well && peer.well);
	assert_int_equal(own.host_bytes, 32 * 24 * PACKET);
	assert_int_equal(own.other_bytes, 32 * 21 * PACKET);
	/* Up to a spine and down again. */
	assert_int_equal(own.spine_bytes, 2 * 32 * 21 * PACKET);
	assert_int_equal(peer.host_bytes, 32 * 24 * PACKET);
	assert_int_equal(peer.other_bytes, 0);
	assert_int_equal(peer.spine_bytes, 0);
}

/* Rails without a cable between them: peers are the only connection. */
static void planes_are_joined_inside_hosts(void **state)
{
	struct outcome o = run_on(
		"kind: rail, rails: 4, units: 2, hosts: 2, spines: 4, planes: 4",
		"rails: peer, program: [{alltoall: 4096}, {allreduce: 100000, algorithm: ring}]");

	(void)state;
	assert_true(o.well);
	assert_int_equal(o.other_bytes, 0);
}

static void planes_without_peers_are_refused(void **state)
{
	static const char text[] =
		"fabric: {topology: {kind: rail, rails: 2, units: 1, hosts: 2, spines: 2, planes: 2}, intra_host: 1Tb/s}\njobs:\n- {name: a, program: [{alltoall: 64}]}\n";
	struct diag d = { .status = HD_OK };
	struct fabric *fabric = NULL;
	struct jobs *jobs = NULL;

	(void)state;
	assert_int_equal(fabric_load(text, strlen(text), "x.yaml", NULL, &d, &fabric), HD_OK);
	assert_int_equal(jobs_new(fabric, JOBS_ALL, &d, &jobs), HD_ERR_INPUT);
	assert_non_null(strstr(d.message, "no way between"));
	fabric_free(fabric);
}

/*
 * Inside: 3.6 Tb/s is 450 bytes a ns, 500 ns to arrive. To another host by its
 * own rail: c(s) of docs/timing-rules.md over one switch; with a peer both, one after
 * the other.
 */
static void messages_inside_take_their_time(void **state)
{
	const hd_time inside = 45000 * HD_NS / 450 + 500 * HD_NS;
	const hd_time fabric = 110 * HD_NS + 40 * (45000 + (hd_time)11 * 26);
	struct outcome o;

	(void)state;
	/* Ranks 0 and 1 are of one host. */
	o = run_on("kind: rail, rails: 2, units: 1, hosts: 2, spines: 1",
		   "on: 'h0', program: [{shift: 45000}]");
	assert_int_equal(o.completion, inside);
	assert_int_equal(o.host_bytes, 0);
	/* h0:1 to h1:1, */
	o = run_on("kind: rail, rails: 2, units: 1, hosts: 2, spines: 1",
		   "on: 'h0:1, h1:1', program: [{shift: 45000}]");
	assert_int_equal(o.completion, fabric);
	/* and h0:1 to h1:2 by h0:2, where a rank is that does nothing else:
	 * pairs of ranks (0, 3) and (1, 2). */
	o = run_on(
		"kind: rail, rails: 2, units: 1, hosts: 2, spines: 1",
		"on: 'h0:1, h1:2, h0:2, h1:1', rails: peer, program: [{shift: 45000, groups: 2}]");
	assert_int_equal(o.completion, inside + fabric);
	assert_int_equal(o.spine_bytes, 0);
}

/* All leave by the one link of the rank, one after the other. */
static void messages_inside_leave_one_after_the_other(void **state)
{
	struct outcome o = run_on("kind: rail, rails: 8, units: 1, hosts: 1, spines: 0, planes: 8",
				  "rails: peer, program: [{alltoall: 45000, algorithm: linear}]");

	(void)state;
	assert_int_equal(o.completion, 7 * 100 * HD_NS + 500 * HD_NS);
}

/* Each has 7 to send; the last byte of the last message arrives as it leaves. */
static void messages_inside_may_arrive_as_they_leave(void **state)
{
	struct outcome o = run_with(
		"kind: rail, rails: 8, units: 1, hosts: 1, spines: 0, planes: 8",
		"rails: peer, repeat: 20, program: [{alltoall: 45000, algorithm: linear}]", "0ns");

	(void)state;
	assert_true(o.well);
	assert_int_equal(o.completion, 20 * 7 * 100 * HD_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_alltoall_inside_a_rail_keeps_off_the_spine),
		cmocka_unit_test(peers_keep_all_of_it_off_the_spine),
		cmocka_unit_test(planes_are_joined_inside_hosts),
		cmocka_unit_test(planes_without_peers_are_refused),
		cmocka_unit_test(messages_inside_take_their_time),
		cmocka_unit_test(messages_inside_leave_one_after_the_other),
		cmocka_unit_test(messages_inside_may_arrive_as_they_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
