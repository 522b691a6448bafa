/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gain of threads in elapsed time: one fabric on two threads against one,
 * compared with the gain of pure arithmetic and bare event queues on two,
 * and how many threads a fabric could keep busy if it had them. Goals are for
 * two idle cores; where arithmetic does not double either,
 * they are as much lower.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/barrier_pool.h"
#include "base/eventq.h"
#include "base/rng.h"
#include "bench.h"
#include "sim/core/workload_for_tests.h"

#define TRIES 5 /* the best counts: others use the machine too */

/* ---- pure arithmetic ----------------------------------------------------- */

#define STEPS 20000000u

static void compute(void *context, unsigned member)
{
	uint64_t *out = context, x = member + 1;
	unsigned long n = bench_count(STEPS);

	for (unsigned long i = 0; i < n; i++)
		x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
	out[8 * (size_t)member] = x;
}

/* Seconds that n threads take for as much each; the best of some. */
static double crew_seconds(unsigned n, barrier_pool_fn *work, void *context)
{
	struct barrier_pool *pool = barrier_pool_new(n, work, context);
	double best = 0;

	for (unsigned i = 0; i < TRIES; i++) {
		double begun = bench_seconds();

		barrier_pool_run(pool);
		double spent = bench_seconds() - begun;

		best = i == 0 || spent < best ? spent : best;
	}
	barrier_pool_free(pool);
	return best;
}

static double arithmetic_ratio(void)
{
	uint64_t out[16];

	return 2 * crew_seconds(1, compute, out) / crew_seconds(2, compute, out);
}

/* ---- event queues alone -------------------------------------------------- */

#define QUEUED  16384 /* events in all */
#define WINDOWS 2000
#define LENGTH  (115 * HD_NS)

/* A kernel without a model: every event makes another, windows and all. */
struct kernel {
	struct eventq queues[2];
	struct rng rngs[2];
	unsigned n;
	hd_time end;
	uint64_t events[16];
};

static void kernel_window(void *context, unsigned member)
{
	struct kernel *k = context;
	struct eventq *q = &k->queues[member];
	const struct event *next;
	struct event e;

	while ((next = eventq_first(q)) && next->when < k->end && eventq_pop(q, &e)) {
		eventq_push(q, e.when + 1 + rng_below(&k->rngs[member], HD_US), e.key);
		k->events[8 * (size_t)member]++;
	}
}

/* Events per second. */
static double kernel_rate(unsigned n)
{
	struct kernel k = { .n = n };
	struct barrier_pool *pool = barrier_pool_new(n, kernel_window, &k);
	unsigned long windows = bench_count(WINDOWS);

	for (unsigned i = 0; i < n; i++) {
		eventq_init(&k.queues[i]);
		rng_init(&k.rngs[i], 1, i);
		for (uint64_t e = 0; e < QUEUED / n; e++)
			eventq_push(&k.queues[i], rng_below(&k.rngs[i], HD_US), e);
	}
	double begun = bench_seconds();

	for (unsigned long w = 0; w < windows; w++) {
		k.end += LENGTH;
		barrier_pool_run(pool);
	}
	double spent = bench_seconds() - begun;

	barrier_pool_free(pool);
	for (unsigned i = 0; i < n; i++)
		eventq_fini(&k.queues[i]);
	return (double)(k.events[0] + k.events[8]) / spent;
}

static double kernel_ratio(void)
{
	double one = 0, two = 0;

	for (unsigned i = 0; i < TRIES; i++) {
		double a = kernel_rate(1), b = kernel_rate(2);

		one = a > one ? a : one;
		two = b > two ? b : two;
	}
	return two / one;
}

/* ---- fabrics ------------------------------------------------------------- */

struct outcome {
	double rate; /* packet-hops per second */
	uint64_t checksum;
	struct sim_cut_use use;
};

static uint64_t hops_of(const struct sim *s)
{
	struct sim_progress p;

	sim_progress(s, &p);
	return p.hops;
}

static struct outcome run(const struct workload *w, uint32_t parts, uint32_t threads, uint64_t hops)
{
	struct outcome out = { 0 };
	struct sim_rules rules;
	hd_time until = WORKLOAD_WARM;

	sim_rules_init(&rules);
	rules.check_order = false;
	rules.parts = parts;
	rules.threads = threads;
	struct sim *s = sim_new(&w->fabric.setup, w->flows, w->n_flows, &rules);

	sim_run(s, until, NULL, NULL);
	out.checksum = sim_metrics(s)->checksum;
	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t before = hops_of(s);
		double begun = bench_seconds();

		while (hops_of(s) - before < hops / TRIES)
			sim_run(s, until += HD_US, NULL, NULL);
		double rate = (double)(hops_of(s) - before) / (bench_seconds() - begun);

		out.rate = rate > out.rate ? rate : out.rate;
	}
	sim_cut_use(s, &out.use);
	sim_free(s);
	return out;
}

static void report(struct bench *b, const struct workload_spec *spec, const char *of,
		   const char *unit, double goal, double value)
{
	char what[96];

	snprintf(what, sizeof(what), "%s, %s", spec->name, of);
	bench_at_least(b, what, unit, goal, value);
}

static void report_mail(struct bench *b, const struct workload_spec *spec,
			const struct sim_cut_use *use, uint64_t hops)
{
	double windows = (double)use->windows;

	report(b, spec, "16 parts, events", "per window", 0, (double)use->events / windows);
	report(b, spec, "16 parts, packets to others", "% of the hops", 0,
	       100 * (double)use->packets / (double)hops);
	report(b, spec, "16 parts, mail", "KiB per window", 0, (double)use->bytes / windows / 1024);
}

/* As many parts as a larger machine would have threads; on one here. */
static void measure_balance(struct bench *b, const struct workload *w, double goal)
{
	const uint64_t hops = bench_count(w->spec->hops) / 8;
	struct sim_rules rules;

	sim_rules_init(&rules);
	rules.check_order = false;
	rules.parts = 16;
	rules.threads = 1;
	struct sim *s = sim_new(&w->fabric.setup, w->flows, w->n_flows, &rules);
	struct sim_cut_use use;

	for (hd_time t = HD_US; hops_of(s) < hops; t += HD_US)
		sim_run(s, t, NULL, NULL);
	sim_cut_use(s, &use);
	report(b, w->spec, "16 parts, most by balance of events", "times one thread", goal,
	       (double)use.events / (double)use.busiest);
	report_mail(b, w->spec, &use, hops_of(s));
	sim_free(s);
}

struct expected {
	const char *name;
	double ratio, balance;
};

static const struct expected fabrics[] = {
	{ "fat tree, 128 hosts", 1.7, 0 },
	{ "fat tree, 1024 hosts", 1.8, 0 },
	{ "fat tree, 11664 hosts", 1.8, 12 },
};

static void measure(struct bench *b, const struct expected *e, double share)
{
	const struct workload_spec *spec = workload_find(e->name);
	uint64_t hops = bench_count(spec->hops) / 4;
	struct workload w;

	workload_init(&w, spec);
	struct outcome one = run(&w, 1, 1, hops), two = run(&w, 2, 2, hops);
	struct outcome four = run(&w, 4, 2, hops);

	report(b, spec, "1 thread", "million packet-hops/s", 0, one.rate / 1e6);
	report(b, spec, "2 threads", "million packet-hops/s", 0, two.rate / 1e6);
	report(b, spec, "2 threads", "times 1 thread", e->ratio * share, two.rate / one.rate);
	report(b, spec, "2 parts, most by balance of events", "times one thread", 0,
	       (double)two.use.events / (double)two.use.busiest);
	report(b, spec, "2 parts, events", "per window", 0,
	       (double)two.use.events / (double)two.use.windows);
	report(b, spec, "2 threads, 4 parts", "times 1 thread", 0, four.rate / one.rate);
	report(b, spec, "1, 2 and 4 parts", "the same checksum", 1,
	       one.checksum == spec->checksum && two.checksum == spec->checksum &&
		       four.checksum == spec->checksum);
	measure_balance(b, &w, e->balance);
	workload_control(&w);
	struct outcome controlled = run(&w, 2, 2, hops);

	report(b, spec, "2 threads, congestion control", "times the speed without", 0,
	       controlled.rate / two.rate);
	workload_fini(&w);
}

int main(void)
{
	struct bench b;

	bench_begin(&b, "threads");
	double arithmetic = arithmetic_ratio();
	double share = arithmetic < 2 ? arithmetic / 2 : 1;

	bench_at_least(&b, "arithmetic, 2 threads", "times 1 thread", 0, arithmetic);
	bench_at_least(&b, "event queues alone, 2 threads", "times 1 thread", 0, kernel_ratio());
	/* A tiny run only shows that it works: the smallest will do. */
	for (unsigned i = 0; i < (b.tiny ? 1 : 3); i++)
		measure(&b, &fabrics[i], share);
	return bench_end(&b);
}
