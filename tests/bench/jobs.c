/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Collectives of many ranks on trees that block nobody (4x HDR), and a file of
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

/* Fabric, run and tables. */
static void run_job(const char *tree, const char *step)
{
	struct diag d = { .status = HD_OK };
	const hd_time alone = HD_TIME_NEVER;
	struct fabric *fabric;
	struct jobs *jobs;
	char text[512];

	snprintf(text, sizeof(text),
		 "fabric: {topology: {kind: xgft, %s}, link: {rate: 4x HDR}}\n"
		 "jobs: [{name: a, program: [{allreduce: 1MiB, algorithm: %s}]}]\n",
		 tree, step);
	if (fabric_load(text, strlen(text), "bench", NULL, &d, &fabric) != HD_OK ||
	    jobs_new(fabric, JOBS_ALL, &d, &jobs) != HD_OK) {
		fprintf(stderr, "%s\n", d.message);
		abort();
	}
	struct sim_rules rules = fabric->rules;
	struct results *r = results_new("bench");

	jobs_rules(fabric, &rules);
	struct sim *s = sim_new(&fabric->setup, NULL, 0, &rules);

	jobs_attach(jobs, s);
	sim_run(s, HD_TIME_NEVER, NULL, NULL);
	if (!jobs_tables(jobs, &alone, sim_metrics(s), false, r))
		abort();
	results_free(r);
	sim_free(s);
	jobs_free(jobs);
	fabric_free(fabric);
}

static void bench_job(struct bench *b, const char *what, const char *tree, const char *step,
		      double goal_s, double goal_mb)
{
	double start = cpu_seconds();
	char memory[96];

	run_job(tree, step);
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
		  b.tiny ? "down: \"4,4\", up: \"1,4\"" : "down: \"32,32\", up: \"1,32\"", "ring",
		  5, 512);
	bench_job(&b, "16,384 ranks, Rabenseifner's allreduce of 1 MiB",
		  b.tiny ? "down: \"4,4,2\", up: \"1,4,4\"" : "down: \"32,32,16\", up: \"1,32,32\"",
		  "rabenseifner", 60, 2000);
	return bench_end(&b);
}
