/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Collectives of many ranks on non-blocking trees (4x HDR), and a file of
 * operations that is read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bench.h"
#include "sim/jobs/jobs.h"
#include "workload/opgraph.h"

static double cpu_seconds(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
	       1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

static double peak_mb(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return (double)use.ru_maxrss * 1024 / 1e6;
}

/* Fabric, run and tables; returns CPU seconds of the run per packet-hop. */
static double run_scenario(const char *text)
{
	struct diag d = { .status = HD_OK };
	const hd_time alone = HD_TIME_NEVER;
	struct fabric *fabric;
	struct jobs *jobs;

	if (fabric_load(text, strlen(text), "bench", NULL, &d, &fabric) != HD_OK ||
	    jobs_new(fabric, JOBS_ALL, &d, &jobs) != HD_OK) {
		fprintf(stderr, "%s\n", d.message);
		abort();
	}
	struct sim_rules rules = fabric->rules;
	struct results *r = results_new("bench");

	jobs_rules(fabric, &rules);
	rules.threads = 1;
	struct sim *s = sim_new(&fabric->setup, NULL, 0, &rules);

	jobs_attach(jobs, s);
	double start = cpu_seconds();

	sim_run(s, HD_TIME_NEVER, NULL, NULL);
	double cost = (cpu_seconds() - start) / (double)sim_metrics(s)->hops;

	if (!jobs_tables(jobs, &alone, sim_metrics(s), false, r))
		abort();
	results_free(r);
	sim_free(s);
	jobs_free(jobs);
	fabric_free(fabric);
	return cost;
}

static double run_job(const char *tree, const char *step, const char *routing)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "fabric: {topology: {kind: xgft, %s}, link: {rate: 4x HDR}, routing: %s}\n"
		 "jobs: [{name: a, place: linear, program: [{%s}]}]\n",
		 tree, routing, step);
	return run_scenario(text);
}

/*
 * Ranks begin together, so that thousands of events share an instant. The cost
 * of one must not depend on how many do.
 */
static void bench_instants(struct bench *b)
{
	static const char *const few = "down: \"16,16\", up: \"1,16\"";
	static const char *const step = "allreduce: 64KiB, algorithm: doubling";
	const char *many =
		b->tiny ? "down: \"4,4\", up: \"1,4\"" : "down: \"16,16,16\", up: \"1,16,16\"";
	double low = run_job(few, step, "ftree"), high = run_job(many, step, "ftree");

	bench_at_most(b, "doubling allreduce of 64 KiB, 256 ranks", "ns per packet-hop", 0,
		      1e9 * low);
	bench_at_most(b, "doubling allreduce of 64 KiB, 4,096 ranks", "ns per packet-hop", 0,
		      1e9 * high);
	bench_at_most(b, "doubling allreduce of 64 KiB, 4,096 ranks", "times that of 256 ranks",
		      1.5, high / low);
}

static void bench_adaptive(struct bench *b)
{
	const char *tree = b->tiny ? "down: \"4,4\", up: \"1,4\"" : "down: \"16,32\", up: \"1,16\"";
	static const char *const step = "alltoall: 8KiB, algorithm: linear";
	double off = run_job(tree, step, "ftree");
	double on = run_job(tree, step, "{engine: ftree, adaptive: load}");

	bench_at_most(b, "linear all-to-all of 8 KiB, 512 ranks", "ns per packet-hop", 0,
		      1e9 * off);
	bench_at_most(b, "linear all-to-all of 8 KiB, 512 ranks, adaptive", "times static routing",
		      1.5, on / off);
}

static void bench_job(struct bench *b, const char *what, const char *tree, const char *step,
		      double goal_s, double goal_mb)
{
	double start = cpu_seconds();
	char memory[96];

	run_job(tree, step, "minhop");
	bench_at_most(b, what, "CPU s", goal_s, cpu_seconds() - start);
	snprintf(memory, sizeof(memory), "%s: peak memory", what);
	bench_at_most(b, memory, "MB", goal_mb, peak_mb());
}

static void read_goal(void *arg)
{
	const struct strbuf *text = arg;
	struct diag d = { .status = HD_OK };
	FILE *in = fmemopen(text->text, text->len, "r");
	struct opgraph g;

	if (!in || opgraph_read(in, &d, &g) != HD_OK) {
		fprintf(stderr, "%s\n", d.message);
		abort();
	}
	fclose(in);
	opgraph_fini(&g);
}

/* Rounds of a ring as schedgen writes them, 4 lines each. */
static void write_goal(struct strbuf *out, unsigned ranks, unsigned rounds)
{
	strbuf_printf(out, "num_ranks %u\n", ranks);
	for (unsigned i = 0; i < ranks; i++) {
		strbuf_printf(out, "rank %u {\n", i);
		for (unsigned k = 1; k <= rounds; k++) {
			strbuf_printf(out,
				      "l%u: send 1024b to %u tag %u\n"
				      "l%u: recv 1024b from %u tag %u\n",
				      2 * k, (i + 1) % ranks, k, 2 * k + 1, (i + ranks - 1) % ranks,
				      k);
			if (k > 1)
				strbuf_printf(out,
					      "l%u requires l%u\n"
					      "l%u requires l%u\n",
					      2 * k, 2 * k - 1, 2 * k + 1, 2 * k - 1);
		}
		strbuf_puts(out, "}\n");
	}
}

int main(void)
{
	struct strbuf text = STRBUF_INIT;
	struct bench b;

	bench_begin(&b, "jobs");
	write_goal(&text, (unsigned)bench_count(1000), 200);
	bench_at_least(&b, "GOAL read", "MB/s", 50,
		       bench_rate(read_goal, &text, (double)text.len) / 1e6);
	strbuf_fini(&text);
	bench_job(&b, "1,024 ranks, ring allreduce of 1 MiB",
		  b.tiny ? "down: \"4,4\", up: \"1,4\"" : "down: \"32,32\", up: \"1,32\"",
		  "allreduce: 1MiB, algorithm: ring", 5, 512);
	bench_job(&b, "16,384 ranks, Rabenseifner's allreduce of 1 MiB",
		  b.tiny ? "down: \"4,4,2\", up: \"1,4,4\"" : "down: \"32,32,16\", up: \"1,32,32\"",
		  "allreduce: 1MiB, algorithm: rabenseifner", 60, 2000);
	bench_instants(&b);
	bench_adaptive(&b);
	return bench_end(&b);
}
