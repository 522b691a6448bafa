/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simulator's speed in packet-hops (a packet crossing one link) per CPU
 * second, and its cost in instructions, on the workloads of
 * sim/core/workload_for_tests.h. All metrics are on unless a row says otherwise.
 *
 *	bench_sim [PART OF A NAME]      times, and counts by callgrind
 *	bench_sim --time NAME on|off    one number, for comparing two builds
 *	bench_sim --count NAME on|off|controlled   what callgrind runs
 */
#define _GNU_SOURCE /* program_invocation_name */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_STOP_INSTRUMENTATION
#endif

#include "bench.h"
#include "kernel.h"
#include "sim/core/workload_for_tests.h"

#define PARTS        20 /* of a run; the best counts: others use the machine too */
#define COUNTED_HOPS 200000
#define CONTROL_MOST 1.25 /* what congestion control may cost */

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A run that is in its stride. */
struct stride {
	struct sim *sim;
	hd_time until;
	uint64_t hops;
};

static void stride_on(struct stride *r, hd_time by)
{
	struct sim_progress p;

	r->until += by;
	sim_run(r->sim, r->until, NULL, NULL);
	sim_progress(r->sim, &p);
	r->hops = p.hops;
}

/* Advances by at least `hops` hops; returns the number of hops. */
static uint64_t stride_hops(struct stride *r, uint64_t hops)
{
	uint64_t before = r->hops;

	while (r->hops - before < hops)
		stride_on(r, HD_US);
	return r->hops - before;
}

static void stride_begin(struct stride *r, const struct workload *w, bool metrics)
{
	struct sim_rules rules;

	sim_rules_init(&rules);
	rules.flow_metrics = rules.port_metrics = metrics;
	/* What a release build of the program does. */
	rules.check_order = false;
	rules.threads = 1;
	*r = (struct stride){ .sim = sim_new(&w->fabric.setup, w->flows, w->n_flows, &rules) };
	/* Fill the fabric first. */
	stride_on(r, WORKLOAD_WARM);
}

struct outcome {
	double rate; /* packet-hops per CPU second */
	double events;
	uint64_t checksum; /* at the end of WORKLOAD_WARM */
	double load;
};

static struct outcome run(const struct workload *w, bool metrics, uint64_t hops)
{
	struct outcome out = { 0 };
	struct stride r;

	stride_begin(&r, w, metrics);
	out.checksum = sim_metrics(r.sim)->checksum;
	for (unsigned i = 0; i < PARTS; i++) {
		double start = cpu_seconds();
		double done = (double)stride_hops(&r, hops / PARTS);
		double rate = done / (cpu_seconds() - start);

		out.rate = rate > out.rate ? rate : out.rate;
	}
	const struct sim_metrics *m = sim_metrics(r.sim);

	out.events = (double)m->events / (double)m->hops;
	out.load = (double)m->delivered_bytes * 8e12 / (double)(m->to - m->from) /
		   hd_rate_bps(w->fabric.setup.ports[1].rate) / w->fabric.n_ends;
	sim_free(r.sim);
	return out;
}

static double peak_gib(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return (double)use.ru_maxrss / (1 << 20);
}

/* ---- instructions -------------------------------------------------------- */

/* Best of parts that are short enough to escape others on the machine. */
static int time_only(const char *name, bool metrics)
{
	const struct workload_spec *spec = workload_find(name);
	struct workload w;

	if (!spec)
		return 2;
	workload_init(&w, spec);
	struct outcome out = run(&w, metrics, spec->hops / 8);

	printf("%.4f\n", out.rate / 1e6);
	fprintf(stderr, "checksum %016" PRIx64 "\n", out.checksum);
	workload_fini(&w);
	return 0;
}

/* In callgrind: only what the hops cost, not what building a fabric does. */
static int count(const char *name, const char *how)
{
	const struct workload_spec *spec = workload_find(name);
	struct workload w;
	struct stride r;

	if (!spec)
		return 2;
	workload_init(&w, spec);
	if (strcmp(how, "controlled") == 0)
		workload_control(&w);
	stride_begin(&r, &w, strcmp(how, "off") != 0);
	CALLGRIND_START_INSTRUMENTATION;
	uint64_t hops = stride_hops(&r, COUNTED_HOPS);
	CALLGRIND_STOP_INSTRUMENTATION;
	printf("hops %" PRIu64 "\n", hops);
	sim_free(r.sim);
	workload_fini(&w);
	return 0;
}

/* Instructions per packet-hop; 0 if there is no valgrind. */
static double instructions(const char *name, const char *how)
{
	char command[512], line[256];
	double hops = 0, sum = 0;

	snprintf(
		command, sizeof(command),
		"valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file=/dev/null '%s' --count '%s' %s 2>&1",
		program_invocation_name, name, how);
	/* The program itself, by the name it was started by. */
	FILE *out = popen(command, "r"); /* NOLINT(cert-env33-c) */

	if (!out)
		return 0;
	while (fgets(line, sizeof(line), out)) {
		const char *at = strstr(line, "Collected :");

		if (at)
			sum = strtod(at + 11, NULL);
		if (strncmp(line, "hops ", 5) == 0)
			hops = strtod(line + 5, NULL);
	}
	return pclose(out) == 0 && hops > 0 ? sum / hops : 0;
}

/* ---- rows ---------------------------------------------------------------- */

static void report(struct bench *b, const struct workload_spec *spec, const char *of,
		   const char *unit, double value)
{
	char what[96];

	snprintf(what, sizeof(what), "%s, %s", spec->name, of);
	bench_at_most(b, what, unit, 0, value);
}

static void report_instructions(struct bench *b, const struct workload_spec *spec)
{
	double on = instructions(spec->name, "on");
	double off = on > 0 ? instructions(spec->name, "off") : 0;
	double controlled = off > 0 ? instructions(spec->name, "controlled") : 0;
	char what[96];

	if (controlled <= 0)
		return; /* no valgrind here */
	report(b, spec, "instructions", "per packet-hop", on);
	report(b, spec, "instructions, metrics off", "per packet-hop", off);
	report(b, spec, "instructions, congestion control", "per packet-hop", controlled);
	snprintf(what, sizeof(what), "%s, congestion control", spec->name);
	bench_at_most(b, what, "times the instructions", spec->goal > 0 ? CONTROL_MOST : 0,
		      controlled / on);
}

/* Returns nanoseconds per packet-hop, 0 if the run was a wrong one. */
static double measure(struct bench *b, const struct workload_spec *spec)
{
	struct workload w;

	workload_init(&w, spec);
	uint64_t hops = bench_count(spec->hops);
	struct outcome on = run(&w, true, hops), off = run(&w, false, hops);

	double kernel = kernel_rate(&w, hops, PARTS);

	workload_fini(&w);
	bench_at_least(b, spec->name, "million packet-hops/s", spec->goal, on.rate / 1e6);
	report(b, spec, "bare kernel", "million packet-hops/s", kernel / 1e6);
	report(b, spec, "of the kernel's speed", "times", on.rate / kernel);
	report(b, spec, "metrics off", "million packet-hops/s", off.rate / 1e6);
	report(b, spec, "cost of metrics", "% of the time", 100 * (1 - on.rate / off.rate));
	if (!b->tiny)
		report_instructions(b, spec);
	report(b, spec, "events", "per packet-hop", on.events);
	report(b, spec, "delivered", "of the hosts' link rate", on.load);
	report(b, spec, "memory so far", "GiB", peak_gib());
	/* A goal of 1 that only equality meets. */
	char what[96];
	bool same = on.checksum == spec->checksum && off.checksum == spec->checksum;

	snprintf(what, sizeof(what), "%s, checksum %016" PRIx64, spec->name, on.checksum);
	bench_at_least(b, what, "as in the tests", 1, same);
	return 1e9 / on.rate;
}

int main(int argc, char **argv)
{
	double cost[WORKLOADS] = { 0 };
	struct bench b;

	if (argc == 4 && strcmp(argv[1], "--count") == 0)
		return count(argv[2], argv[3]);
	if (argc == 4 && strcmp(argv[1], "--time") == 0)
		return time_only(argv[2], strcmp(argv[3], "on") == 0);
	bench_begin(&b, "sim");
	/* A tiny run only shows that it works: the smallest will do. */
	unsigned n = b.tiny ? 1 : WORKLOADS;

	for (unsigned i = 0; i < n; i++) {
		if (argc < 2 || strstr(workload_specs[i].name, argv[1]))
			cost[i] = measure(&b, &workload_specs[i]);
	}
	for (unsigned i = 0; i < n; i++) {
		if (cost[i] > 0)
			report(&b, &workload_specs[i], "cost", "ns per packet-hop", cost[i]);
		if (cost[i] > 0 && i > 0 && cost[0] > 0)
			report(&b, &workload_specs[i], "cost", "times that of 16 hosts",
			       cost[i] / cost[0]);
	}
	if (argc < 2)
		bench_at_most(&b, "peak memory", "GiB", 2, peak_gib());
	return bench_end(&b);
}
