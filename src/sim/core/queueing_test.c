/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/compare.h"
#include "base/rng.h"
#include "fabric/setup_for_tests.h"
#include "sim/sim.h"

/*
 * One output against queueing theory. Hosts reach the switch over cables that
 * are 50 times as fast as the output's, so that all waiting is in one line: a
 * series of servers with constant times delays customers as its slowest one
 * alone does, plus the others' times.
 */

#define BYTES   256
#define SLOW    UINT64_C(8000000000) /* 256 ns a packet */
#define SERVICE (256 * HD_NS)
#define FAST    UINT64_C(400000000000)
/* Two cables, routing and arbitration: what a packet alone needs in addition to its
 * transmission on the output. */
#define APART   (2 * 5 * HD_NS + 100 * HD_NS)

struct one_output {
	struct test_fabric fabric;
	struct sim_flow flows[64];
	struct sim_rules rules;
};

/* `hosts` senders and a receiver. */
static void one_output_init(struct one_output *o, unsigned hosts)
{
	struct test_links links = {
		.rate = { FAST, 1 }, .propagation = 5 * HD_NS, .in_blocks = 2048, .vls = 1
	};
	char option[32];
	const char *words[] = { "star", option, NULL };

	snprintf(option, sizeof(option), "--hosts=%u", hosts + 1);
	test_fabric_init(&o->fabric, words, "minhop", &links);
	struct sim_setup *u = &o->fabric.setup;
	uint32_t sink = o->fabric.end_nodes[hosts];
	uint32_t port = u->nodes[sink].first_port + 1;

	u->sw.routing = 80 * HD_NS;
	u->sw.arbitration = 20 * HD_NS;
	u->ports[port].rate = u->ports[u->ports[port].peer].rate = (struct hd_rate){ SLOW, 1 };
	sim_rules_init(&o->rules);
	for (unsigned i = 0; i < 64; i++)
		o->flows[i] = (struct sim_flow){
			.source = o->fabric.end_nodes[i % hosts],
			.to = { .choice = SIM_TO_FIXED,
				.list = &o->fabric.ends[hosts],
				.n = 1,
				.self = SIM_NONE },
			.pkey = 0xffff,
			.bytes = BYTES,
			.packets = 1,
		};
}

/* ---- random arrivals ---------------------------------------------------- */

/* Several flows of one host: their sum is Poisson too. */
static struct interval poisson_wait(double load, unsigned flows, uint64_t seed, uint64_t packets)
{
	struct one_output o;

	one_output_init(&o, 1);
	o.fabric.setup.seed = seed;
	for (unsigned i = 0; i < flows; i++) {
		o.flows[i].kind = SIM_POISSON;
		o.flows[i].interval.num = (uint64_t)((double)SERVICE * flows / load * 1000);
		o.flows[i].interval.den = 1000;
	}
	o.rules.warmup_packets = packets / 10;
	o.rules.packets = packets;
	o.rules.level = 0.999;
	struct sim *s = sim_new(&o.fabric.setup, o.flows, flows, &o.rules);

	sim_run(s, HD_TIME_NEVER, NULL, NULL);
	struct interval in = sim_metrics(s)->mean_latency;

	in.mean -= (double)(APART + SERVICE);
	sim_free(s);
	test_fabric_fini(&o.fabric);
	return in;
}

static void poisson_arrivals_wait_as_in_m_d_1(void **state)
{
	static const double loads[] = { 0.3, 0.5, 0.7 };

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct interval in = poisson_wait(loads[i], 1 + 2 * i, 40 + i, 1000000);

		double wait = loads[i] / (2 * (1 - loads[i])) * (double)SERVICE;

		if (!in.sound || in.batches < 30 || in.lag1 >= 0.1 || in.half_width > 0.02 * wait ||
		    fabs(in.mean - wait) > in.half_width)
			fail_msg(
				"load %.1f: %.4f +- %.4f ns of %u batches (lag-1 %.3f), known: %.4f ns",
				loads[i], in.mean / HD_NS, in.half_width / HD_NS, in.batches,
				in.lag1, wait / HD_NS);
	}
}

/* ---- periodic arrivals -------------------------------------------------- */

/*
 * Mean wait of one period in the steady state, packet by packet: the second
 * of two periods, if the server has been idle in the first.
 */
static double lindley(const hd_time *phases, unsigned n, hd_time period)
{
	hd_time sorted[64], free_at = 0, sum = 0;

	memcpy(sorted, phases, n * sizeof(*phases));
	qsort(sorted, n, sizeof(*sorted), compare_u64);
	for (unsigned i = 0; i < 2 * n; i++) {
		hd_time at = i < n ? sorted[i] : sorted[i - n] + period;
		hd_time start = at > free_at ? at : free_at;

		if (i >= n)
			sum += start - at;
		free_at = start + SERVICE;
	}
	return (double)sum / n;
}

/*
 * The mean over phases, exact: an arrival meets the backlog that n - 1 others
 * leave at a random instant, for which P(backlog > x) is known (x and period
 * in service times): sum over k > x of
 * C(m,k) ((k-x)/T)^k (1-(k-x)/T)^(m-k) (T-m+x)/(T-k+x), with m = n - 1.
 */
static double periodic_tail(unsigned m, double period, double x)
{
	double sum = 0;

	for (unsigned k = (unsigned)floor(x) + 1; k <= m; k++) {
		double share = (k - x) / period;
		double log_choose = lgamma(m + 1.0) - lgamma(k + 1.0) - lgamma(m - k + 1.0);

		sum += exp(log_choose + k * log(share) + (m - k) * log1p(-share)) *
		       (period - m + x) / (period - k + x);
	}
	return sum;
}

static double periodic_wait(unsigned n, double period)
{
	const unsigned steps = 400; /* of a service time, Simpson's rule */
	double sum = 0, h = 1.0 / steps;

	/* The tail is smooth between whole numbers only. */
	for (unsigned from = 0; from < n - 1; from++) {
		for (unsigned i = 0; i <= steps; i++) {
			double x = from + i * h * (1 - 1e-12);
			double weight = i == 0 || i == steps ? 1 : i % 2 ? 4 : 2;

			sum += weight * periodic_tail(n - 1, period, x);
		}
	}
	return sum * h / 3;
}

/* Mean wait over whole periods of n flows from one host each. */
static double cbr_wait(struct one_output *o, const hd_time *phases, unsigned n, hd_time period)
{
	for (unsigned i = 0; i < n; i++) {
		o->flows[i].kind = SIM_CBR;
		o->flows[i].start = phases[i];
		o->flows[i].interval = (struct sim_interval){ period, 1 };
	}
	/* Whole periods, and every flow has begun. */
	o->rules.warmup = 3 * period;
	o->rules.stop = 5 * period - 1;
	struct sim *s = sim_new(&o->fabric.setup, o->flows, n, &o->rules);

	sim_run(s, HD_TIME_NEVER, NULL, NULL);
	double mean = sim_metrics(s)->mean_latency.mean;

	assert_int_equal(sim_metrics(s)->delivered, 2 * n);
	sim_free(s);
	return mean - (double)(APART + SERVICE);
}

static void check_periodic(unsigned n, hd_time period, unsigned draws)
{
	struct batch_means found;
	struct one_output o;
	struct rng rng;

	rng_init(&rng, 7, n);
	batch_means_init(&found);
	one_output_init(&o, n);
	for (unsigned i = 0; i < draws; i++) {
		hd_time phases[64];

		for (unsigned k = 0; k < n; k++)
			phases[k] = rng_below(&rng, period);
		double exact = lindley(phases, n, period);
		double ours = cbr_wait(&o, phases, n, period);

		/* The same phases give the same wait, to the picosecond. */
		assert_true(fabs(ours - exact) < 0.5);
		batch_means_add(&found, ours);
	}
	struct interval in = batch_means_interval(&found, 0.999);
	double wait = periodic_wait(n, (double)period / (double)SERVICE) * (double)SERVICE;

	if (!in.sound || in.batches < 30 || in.lag1 >= 0.1 || in.half_width > 0.02 * wait ||
	    fabs(in.mean - wait) > in.half_width)
		fail_msg("%u flows: %.4f +- %.4f ns of %u batches (lag-1 %.3f), known: %.4f ns", n,
			 in.mean / HD_NS, in.half_width / HD_NS, in.batches, in.lag1, wait / HD_NS);
	test_fabric_fini(&o.fabric);
}

static void periodic_arrivals_wait_as_computed(void **state)
{
	(void)state;
	check_periodic(6, 8 * SERVICE, 9000);
	check_periodic(12, 16 * SERVICE, 9000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(poisson_arrivals_wait_as_in_m_d_1),
		cmocka_unit_test(periodic_arrivals_wait_as_computed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
