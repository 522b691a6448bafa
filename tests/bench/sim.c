/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simulator's speed in packet-hops (a packet crossing one link) per CPU
 * second: voq, four VLs with tables in force, 2 KiB packets, uniform random
 * destinations, all metrics on unless said otherwise.
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "bench.h"
#include "sim/setup_for_tests.h"
#include "sim/sim.h"

#define LANES 4
#define PARTS 10 /* of a run; the best counts: others use the machine too */

struct workload {
	const char *name;
	const char *words[8];
	const char *engine;
	double load;
	double goal; /* million packet-hops a second; 0: reported only */
	uint64_t hops;
};

static const struct workload workloads[] = {
	{ "fat tree, 16 hosts",
	  { "fat-tree", "--radix=4", "--levels=3" },
	  "ftree",
	  0.7,
	  0,
	  4000000 },
	{ "fat tree, 128 hosts",
	  { "fat-tree", "--radix=8", "--levels=3" },
	  "ftree",
	  0.7,
	  6,
	  20000000 },
	{ "fat tree, 1024 hosts",
	  { "fat-tree", "--radix=16", "--levels=3" },
	  "ftree",
	  0.7,
	  4,
	  20000000 },
	{ "mesh 16 x 16",
	  { "mesh", "--columns=16", "--rows=16", "--hosts=1" },
	  "xy",
	  0.15,
	  0,
	  10000000 },
	{ "fat tree, 11664 hosts",
	  { "fat-tree", "--radix=36", "--levels=3" },
	  "ftree",
	  0.5,
	  2,
	  20000000 },
};

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Two lanes in each table, so that both are used. */
static void set_tables(struct test_fabric *f)
{
	struct vlarb arb = {
		.high = { { 0, 64 }, { 1, 128 } },
		.low = { { 2, 64 }, { 3, 128 }, { 2, 32 } },
		.n_high = 2,
		.n_low = 3,
		.high_limit = 10,
	};

	for (port_id p = 0; p < f->topo.n_ports; p++)
		subnet_set_vlarb(&f->subnet, p, &arb);
}

static struct sim_flow *make_flows(const struct test_fabric *f, double load)
{
	struct sim_flow *flows =
		hd_alloc((size_t)f->n_ends * LANES, sizeof(*flows));
	hd_time packet = hd_rate_duration(f->setup.ports[1].rate, 2074);
	double gap = (double)packet * LANES / load;

	for (uint32_t i = 0; i < f->n_ends * LANES; i++) {
		flows[i] = (struct sim_flow){
			.kind = SIM_POISSON,
			.source = f->end_nodes[i / LANES],
			.row = i % LANES,
			.to = { .choice = SIM_TO_UNIFORM,
				.list = f->ends,
				.n = f->n_ends,
				.self = i / LANES },
			.sl = (uint8_t)(i % LANES),
			.pkey = 0xffff,
			.bytes = 2074,
			.packets = 1,
			.interval = { (uint64_t)gap, 1 },
			.period = (hd_time)gap,
		};
	}
	return flows;
}

struct outcome {
	double rate; /* packet-hops per CPU second */
	double events;
	uint64_t checksum;
	double load;
};

static struct outcome run(const struct test_fabric *f,
			  const struct sim_flow *flows, uint64_t hops,
			  bool metrics)
{
	struct sim_rules rules;
	struct outcome out;

	sim_rules_init(&rules);
	rules.flow_metrics = rules.port_metrics = metrics;
	struct sim *s = sim_new(&f->setup, flows, f->n_ends * LANES, &rules);
	struct sim_progress p;
	hd_time step = 5 * HD_US, warm = 20 * HD_US, until = warm;
	/* Fill the fabric first; then it is in its stride. */
	sim_run(s, until, NULL, NULL);
	sim_progress(s, &p);
	out.rate = 0;
	for (unsigned i = 0; i < PARTS; i++) {
		uint64_t before = p.hops;
		double start = cpu_seconds();

		while (p.hops - before < hops / PARTS) {
			until += step;
			sim_run(s, until, NULL, NULL);
			sim_progress(s, &p);
		}
		double rate =
			(double)(p.hops - before) / (cpu_seconds() - start);
		out.rate = rate > out.rate ? rate : out.rate;
	}
	const struct sim_metrics *m = sim_metrics(s);

	out.events = (double)m->events / (double)m->hops;
	out.checksum = m->checksum;
	out.load = (double)m->delivered_bytes * 8e12 /
		   (double)(m->to - m->from) /
		   hd_rate_bps(f->setup.ports[1].rate) / f->n_ends;
	sim_free(s);
	return out;
}

static double peak_gib(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return (double)use.ru_maxrss / (1 << 20);
}

static void measure(struct bench *b, const struct workload *w)
{
	struct test_links links = {
		.rate = hd_rate_of_link(4, SPEED_EDR),
		.propagation = 10 * HD_NS,
		.in_blocks = 8 * 33,
		.vls = LANES,
	};
	struct test_fabric f;
	char what[96];

	test_fabric_init(&f, w->words, w->engine, &links);
	f.setup.sw.routing = 100 * HD_NS;
	f.setup.sw.arbitration = 5 * HD_NS;
	set_tables(&f);
	struct sim_flow *flows = make_flows(&f, w->load);
	uint64_t hops = bench_count(w->hops);
	struct outcome on = run(&f, flows, hops, true);
	struct outcome off = run(&f, flows, hops, false);

	bench_at_least(b, w->name, "million packet-hops/s", w->goal,
		       on.rate / 1e6);
	snprintf(what, sizeof(what), "%s, metrics off", w->name);
	bench_at_least(b, what, "million packet-hops/s", 0, off.rate / 1e6);
	snprintf(what, sizeof(what), "%s, events", w->name);
	bench_at_most(b, what, "per packet-hop", 0, on.events);
	snprintf(what, sizeof(what), "%s, delivered", w->name);
	bench_at_least(b, what, "of the hosts' link rate", 0, on.load);
	free(flows);
	test_fabric_fini(&f);
}

int main(int argc, char **argv)
{
	struct bench b;
	unsigned n = sizeof(workloads) / sizeof(*workloads);

	bench_begin(&b, "sim");
	/* A tiny run only shows that it works: the smallest will do. */
	if (b.tiny)
		n = 1;
	for (unsigned i = 0; i < n; i++) {
		if (argc < 2 || strstr(workloads[i].name, argv[1]))
			measure(&b, &workloads[i]);
	}
	if (argc < 2)
		bench_at_most(&b, "peak memory", "GiB", 2, peak_gib());
	return bench_end(&b);
}
