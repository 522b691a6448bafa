/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/injection/congestion_for_tests.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/fabric.h"

/*
 * The thesis' two switches: remote senders A1.. on A and local ones B1.. on B
 * to Bc, and a victim Av to Bv that shares only the cable between the
 * switches. 1 GB/s, 2068 bytes, input buffers of 4 packets.
 */
#define RMAX (1e9 / 2068)

struct world {
	struct fabric *fabric;
	struct congestion_flow flows[16];
	uint32_t n_flows, n_remote, n_local;
};

static uint32_t end_called(const struct fabric *fabric, const char *name)
{
	for (uint32_t v = 0; v < fabric->setup.n_nodes; v++) {
		const struct sim_node *node = &fabric->setup.nodes[v];

		if (node->kind == SIM_END && strcmp(fabric->topo.nodes[node->node].name, name) == 0)
			return v;
	}
	fail_msg("no host '%s'", name);
	return 0;
}

static lid_t lid_of(const struct fabric *fabric, uint32_t node)
{
	const struct sim_setup *s = &fabric->setup;

	return fabric->subnet.lid_of_port[s->ports[s->nodes[node].first_port + 1].origin];
}

static void add_flow(struct world *w, const char *from, const char *to)
{
	uint32_t source = end_called(w->fabric, from);
	uint32_t destination = end_called(w->fabric, to);

	w->n_flows++;
	w->flows[w->n_flows - 1] = (struct congestion_flow){
		.source = source,
		.destination = destination,
		.dlid = lid_of(w->fabric, destination),
		.pkey = 0xffff,
		.bytes = 2068,
		/* Staggered starts: real clocks are not synchronized. */
		.start = w->n_flows * 173 * HD_NS,
	};
}

static void world_init(struct world *w, unsigned remote, unsigned local, const char *sw)
{
	struct diag d = { .status = HD_OK };
	char text[512], name[16];

	snprintf(text, sizeof(text),
		 "fabric:\n"
		 "  topology: {kind: two-switch, remote: %u, local: %u, victims: 1}\n"
		 "  link: {rate: 8Gb/s, propagation: 5ns}\n"
		 "  switch: {%s, order: fifo, input_buffer: 4 packets, arbitration_delay: 0ns}\n"
		 "  packet: {mtu: 2048, overhead: 20}\n"
		 "qos: {vls: 1}\n"
		 "traffic: [{name: a, kind: saturating, payload: 2048}]\n"
		 "run: {measure: 1ms}\n",
		 remote, local, sw);
	*w = (struct world){ .n_remote = remote, .n_local = local };
	if (fabric_load(text, strlen(text), "x.yaml", NULL, &d, &w->fabric) != HD_OK)
		fail_msg("refused: %u:%u: %s", d.line, d.column, d.message);
	for (unsigned i = 1; i <= remote; i++) {
		snprintf(name, sizeof(name), "A%u", i);
		add_flow(w, name, "Bc");
	}
	for (unsigned i = 1; i <= local; i++) {
		snprintf(name, sizeof(name), "B%u", i);
		add_flow(w, name, "Bc");
	}
	add_flow(w, "Av", "Bv");
}

static void world_fini(struct world *w)
{
	fabric_free(w->fabric);
}

/* Goodput by kind of flow, as a share of Rmax: sums, and the victim's. */
struct shares {
	double remote, local, victim;
	double marks; /* per second and flow, the victim left out */
	/* Marks per second of increase: mean, minimum and maximum over all flows. */
	double balance, least, most;
};

static struct congestion_params params(const char *algorithm)
{
	struct congestion_params p = {
		.algorithm = algorithm ? cc_find(algorithm) : NULL,
		.response = cc_config_default(RMAX / 256, RMAX),
		.marking = { .rule = MARK_TWO_COUNTER, .guard = true },
		.window = 1,
		.ack_delay = 2 * HD_US,
		.warmup = 200 * HD_MS,
		.stop = 450 * HD_MS,
	};
	return p;
}

static struct shares run(const struct world *w, const struct congestion_params *p)
{
	struct congestion_result result;
	struct diag d = { .status = HD_OK };
	struct shares s = { .least = INFINITY };

	if (congestion_run(&w->fabric->setup, w->flows, w->n_flows, p, &d, &result) != HD_OK)
		fail_msg("refused: %s", d.message);
	for (uint32_t f = 0; f < w->n_flows; f++) {
		double share = result.flows[f].goodput / RMAX;

		if (f < w->n_remote)
			s.remote += share;
		else if (f < w->n_remote + w->n_local)
			s.local += share;
		else
			s.victim += share;
		double growing = 1 - result.flows[f].marked_time;
		double balance = result.flows[f].marks / growing;

		s.balance += balance / w->n_flows;
		s.least = fmin(s.least, balance);
		s.most = fmax(s.most, balance);
		if (f + 1 < w->n_flows)
			s.marks += result.flows[f].marks / (w->n_flows - 1);
		assert_true(result.flows[f].lowest >= p->response.rmin);
		assert_true(result.flows[f].highest <= p->response.rmax);
	}
	congestion_result_fini(&result);
	return s;
}

static void assert_near(double value, double expected, double tolerance)
{
	if (fabs(value - expected) > tolerance * expected)
		fail_msg("%g is not within %g %% of %g", value, 100 * tolerance, expected);
}

/* Everybody sends as fast as windows allow: the tree spreads to the victim. */
static void without_control_congestion_spreads(void **state)
{
	(void)state;
	struct world w;
	struct congestion_params p = params(NULL);
	struct shares s;

	p.window = 64;
	p.marking.rule = MARK_NONE;
	p.warmup = 20 * HD_MS;
	p.stop = 60 * HD_MS;
	world_init(&w, 5, 5, "queueing: input, routing_delay: 0ns");
	s = run(&w, &p);
	assert_near(s.remote, 5 / 30., 0.01);
	assert_near(s.local, 5 / 6., 0.01);
	assert_near(s.victim, 1 / 30., 0.01);
	world_fini(&w);
}

/* Shares of the link to Bc, of all remote and all local flows, the victim's. */
struct expectation {
	const char *algorithm;
	double m;
	bool guard;
	unsigned window;
	double root, remote, local, victim;
};

/*
 * An independent model's values. Its switches forward whole packets, its
 * cables have no length and its credits take no time: a packet that is sent
 * into the slot that comes free has arrived when the next one has left. So
 * ours are given a routing delay of one packet time less the 5 ns of a cable
 * and the 11 ns of a credit. It does not cap the first increase.
 */
#define SWITCH_OF_REFERENCE "queueing: input, routing_delay: 2052ns"

static const struct expectation reference[] = {
	{ "fimd", 2, false, 1, .851, .365, .486, .021 },
	{ "fimd", 2, false, 4, .784, .305, .479, .024 },
	{ "lipd", 4, false, 1, .912, .376, .536, .019 },
	{ "lipd", 4, false, 4, .909, .373, .536, .019 },
	{ "pipd", 4, false, 1, .484, .202, .282, .034 },
	{ "pipd", 4, false, 4, .369, .161, .208, .052 },
	{ "fimd", 2, true, 1, .799, .314, .485, .204 },
	{ "fimd", 2, true, 4, .765, .296, .469, .106 },
	{ "lipd", 4, true, 1, .846, .303, .543, .182 },
	{ "lipd", 4, true, 4, .844, .314, .530, .153 },
	{ "pipd", 4, true, 1, .476, .205, .270, .225 },
	{ "pipd", 4, true, 4, .380, .169, .211, .127 },
};

/*
 * Rates of PIPD jump, and the few packets of its victim depend on the order of starts: the mean of
 * three runs.
 */
static struct shares run_some(struct world *w, const struct congestion_params *p)
{
	static const hd_time gaps[] = { 97 * HD_NS, 173 * HD_NS, 250 * HD_NS };
	const unsigned n = p->algorithm == cc_find("pipd") ? 3 : 1;
	struct shares mean = { .remote = 0 };

	for (unsigned i = 0; i < n; i++) {
		for (uint32_t f = 0; f < w->n_flows; f++)
			w->flows[f].start = (f + 1) * gaps[i];
		struct shares s = run(w, p);

		mean.remote += s.remote / n;
		mean.local += s.local / n;
		mean.victim += s.victim / n;
	}
	return mean;
}

static void check_expectation(struct world *w, const struct expectation *e)
{
	struct congestion_params p = params(e->algorithm);

	p.response.m = e->m;
	p.response.cap_first_increase = false;
	p.marking.guard = e->guard;
	p.window = e->window;
	p.warmup = 100 * HD_MS;
	p.stop = 500 * HD_MS;
	struct shares s = run_some(w, &p);

	print_message("%s %s, window %u: %.3f %.3f %.3f %.3f\n", e->algorithm,
		      e->guard ? "with the guard" : "published", e->window, s.remote + s.local,
		      s.remote, s.local, s.victim);
	assert_near(s.remote + s.local, e->root, 0.15);
	assert_near(s.remote, e->remote, 0.15);
	assert_near(s.local, e->local, 0.15);
	assert_near(s.victim, e->victim, 0.15);
}

static void control_comes_near_the_reference(void **state)
{
	(void)state;
	struct world w;

	world_init(&w, 5, 5, SWITCH_OF_REFERENCE);
	for (size_t i = 0; i < sizeof(reference) / sizeof(*reference); i++)
		check_expectation(&w, &reference[i]);
	world_fini(&w);
}

/*
 * Whatever its rate, a flow balances at Rmin marks per second. The law is one
 * of continuous growth; here rates grow by acknowledgement, and a marked one
 * is an interval of 1/rate without growth. So marks come at Rmin per second of
 * the time that is left, each flow's, and 4 % less often on the clock at these
 * rates of 20 Rmin.
 */
static void marks_come_at_the_lowest_rate(void **state)
{
	(void)state;
	struct world w;
	static const char *const names[] = { "fimd", "lipd" };

	world_init(&w, 5, 5, "queueing: input, routing_delay: 2068ns");
	for (int i = 0; i < 2; i++) {
		struct congestion_params p = params(names[i]);

		p.response.m = 2;
		p.window = 4;
		p.marking.guard = false;
		struct shares s = run(&w, &p);

		assert_near(s.balance, RMAX / 256, 0.01);
		assert_near(s.least, RMAX / 256, 0.05);
		assert_near(s.most, RMAX / 256, 0.05);
		assert_near(s.marks, RMAX / 256, 0.05);
	}
	world_fini(&w);
}

/* Packets for acknowledgements cost the hot link little, the victim less. */
static void acknowledgements_may_be_packets(void **state)
{
	(void)state;
	struct world w;
	struct congestion_params p = params("fimd");

	world_init(&w, 5, 5, "queueing: input, routing_delay: 100ns");
	p.response.m = 2;
	p.ack_delay = 0;
	p.window = 4;
	struct shares s = run(&w, &p);

	assert_true(s.remote + s.local > 0.6);
	assert_true(s.victim > 2 / 30.);
	world_fini(&w);
}

static struct congestion_params cct_params(void)
{
	struct congestion_params p = params("cct");

	p.marking = (struct mark_config){ .rule = MARK_IBA, .threshold = 8 };
	p.window = 8;
	p.ack_delay = 0;
	p.warmup = 10 * HD_MS;
	p.stop = 30 * HD_MS;
	p.response.ccti_limit = CCT_MAX_ENTRIES - 1;
	for (unsigned i = 0; i < CCT_MAX_ENTRIES; i++)
		p.response.cct[i] = (uint16_t)(2u << 14 | i);
	return p;
}

static struct congestion_result run_whole(const struct world *w, const struct congestion_params *p)
{
	struct congestion_result result;
	struct diag d = { .status = HD_OK };

	if (congestion_run(&w->fabric->setup, w->flows, w->n_flows, p, &d, &result) != HD_OK)
		fail_msg("refused: %s", d.message);
	return result;
}

/*
 * A port with two flows, one of them congested: with an index per queue pair the other one is not
 * throttled, with one per SL it is.
 */
static void an_index_per_sl_slows_the_innocent(void **state)
{
	(void)state;
	struct world w;
	struct congestion_params p = cct_params();
	struct congestion_result r;

	world_init(&w, 1, 5, "queueing: input, routing_delay: 100ns");
	add_flow(&w, "A1", "Bv");
	r = run_whole(&w, &p);
	uint32_t innocent = w.n_flows - 1;
	double free_rate = r.flows[innocent].rate;

	assert_true(r.flows[0].rate < RMAX / 2);
	assert_true(free_rate > 1.2 * r.flows[0].rate);
	congestion_result_fini(&r);
	p.per_sl = true;
	r = run_whole(&w, &p);
	assert_true(r.flows[innocent].rate == r.flows[0].rate);
	assert_true(r.flows[innocent].goodput < free_rate);
	congestion_result_fini(&r);
	world_fini(&w);
}

/* CNPs of slow sources carry marks too. */
static void cnps_carry_marks(void **state)
{
	(void)state;
	struct world w;
	struct congestion_params p = cct_params();
	struct congestion_result r;
	struct diag d = { .status = HD_OK };

	world_init(&w, 2, 2, "queueing: input, routing_delay: 100ns");
	p.echo = SIM_ECHO_CNP;
	r = run_whole(&w, &p);
	assert_true(r.cnps > 100);
	assert_true(r.echoed == 0);
	assert_true(r.flows[0].rate < RMAX / 2);
	congestion_result_fini(&r);
	/* Rate functions live by acknowledgements, marked or not. */
	p.algorithm = cc_find("fimd");
	assert_int_equal(congestion_run(&w.fabric->setup, w.flows, w.n_flows, &p, &d, &r),
			 HD_ERR_UNFIT);
	world_fini(&w);
}

/*
 * The cable from A to B has no credits most of the time: a victim, which marks
 * only if it is in the mask.
 */
static void outputs_without_credits_mark_if_listed(void **state)
{
	(void)state;
	struct world w;
	struct congestion_params p = cct_params();

	world_init(&w, 5, 5, "queueing: input, routing_delay: 100ns");
	/* No destination responds, so that both runs differ in marks only. */
	p.response.ccti_limit = 0;
	struct congestion_result r = run_whole(&w, &p);
	uint64_t roots = r.marked;

	congestion_result_fini(&r);
	p.marking.mark_victims = true;
	r = run_whole(&w, &p);
	assert_true(roots > 0);
	assert_true(r.marked > roots);
	congestion_result_fini(&r);
	world_fini(&w);
}

/*
 * Behind a crossbar an input buffer is free before its packet has left the
 * switch (that the credits agree, the run asserts). The shares without control
 * are the same; under it the victim gets several times as much.
 */
static void crossbars_are_marked_as_well(void **state)
{
	(void)state;
	static const char *const names[] = { "fimd", "cct" };
	struct world w;
	struct congestion_params p = cct_params();

	world_init(&w, 5, 5, "queueing: cioq, routing_delay: 100ns");
	p.algorithm = NULL;
	p.window = 64;
	struct shares s = run(&w, &p);

	assert_near(s.remote, 5 / 30., 0.01);
	assert_near(s.local, 5 / 6., 0.01);
	assert_near(s.victim, 1 / 30., 0.01);
	p.window = 4;
	for (int i = 0; i < 2; i++) {
		p.algorithm = cc_find(names[i]);
		s = run(&w, &p);
		assert_true(s.victim > 2 / 30.);
		assert_true(s.remote > 5 / 30.);
		assert_true(s.marks > 100);
	}
	world_fini(&w);
}

static void nonsense_is_refused(void **state)
{
	(void)state;
	struct world w;
	struct congestion_params p = params("fimd");
	struct congestion_result result;
	struct diag d = { .status = HD_OK };

	world_init(&w, 1, 1, "queueing: input, routing_delay: 0ns");
	p.window = 0;
	assert_int_equal(congestion_run(&w.fabric->setup, w.flows, w.n_flows, &p, &d, &result),
			 HD_ERR_RANGE);
	p.window = 1;
	p.response.m = 1;
	d = (struct diag){ .status = HD_OK };
	assert_int_equal(congestion_run(&w.fabric->setup, w.flows, w.n_flows, &p, &d, &result),
			 HD_ERR_RANGE);
	world_fini(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_control_congestion_spreads),
		cmocka_unit_test(control_comes_near_the_reference),
		cmocka_unit_test(marks_come_at_the_lowest_rate),
		cmocka_unit_test(acknowledgements_may_be_packets),
		cmocka_unit_test(an_index_per_sl_slows_the_innocent),
		cmocka_unit_test(cnps_carry_marks),
		cmocka_unit_test(outputs_without_credits_mark_if_listed),
		cmocka_unit_test(crossbars_are_marked_as_well),
		cmocka_unit_test(nonsense_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
