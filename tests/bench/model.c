/* SPDX-License-Identifier: BSD-2-Clause */
/* The queueing models: sweeps, the large chain, the counterparts. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* wait4 */
#endif
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "model/credit.h"
#include "model/des/ge_des.h"
#include "model/ge.h"

static double cpu_of(const struct rusage *u)
{
	return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
	       1e-6 * (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec);
}

static double cpu_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return cpu_of(&u);
}

/* Runs `work` in a process of its own: what it used; ends if it failed. */
static struct rusage measure(int (*work)(void))
{
	struct rusage used;
	int status;

	fflush(stdout);
	pid_t child = fork();

	if (child == 0)
		_exit(work());
	if (child < 0 || wait4(child, &status, 0, &used) != child || status != 0) {
		fprintf(stderr, "model: a benchmark failed\n");
		exit(1);
	}
	return used;
}

/*
 * AJT's queue: 24 places, three rates; lambda, Ca2 and Cs2 each take
 * `steps` values.
 */
static double sweep_library(unsigned steps)
{
	struct ge_queue q = {
		.capacity = 24, .n_regions = 3, .mu = { 8, 16, 24 }, .threshold = { 8, 16 }
	};
	double p[25], sum = 0;
	double begun = cpu_seconds();

	for (unsigned k = 0; k < steps * steps * steps; k++) {
		struct diag d = { .status = HD_OK };
		unsigned a = k / steps % steps, s = k / steps / steps;

		q.lambda = 0.1 * (1 + k % steps);
		q.ca2 = 1 + 0.1 * a;
		q.cs2 = 1 + 0.1 * s;
		if (ge_check(&q, &d) != HD_OK)
			exit(1);
		ge_solve(&q, p);
		sum += ge_des_measure(&q, p).mean_queue;
	}
	/* The compiler must not leave it out. */
	if (!(sum > 0))
		exit(1);
	return cpu_seconds() - begun;
}

/* The same through the program, to a CSV file. */
static int sweep_program(void)
{
	const char *end = bench_is_tiny() ? "1" : "10";
	const char *high = bench_is_tiny() ? "1.9" : "10.9";
	char lambda[32], scv[32];
	int null = open("/dev/null", O_WRONLY);

	snprintf(lambda, sizeof(lambda), "0.1..%s:0.1", end);
	snprintf(scv, sizeof(scv), "1..%s:0.1", high);
	dup2(null, STDOUT_FILENO);
	execl(HD_PROGRAM, HD_PROGRAM, "model", "ajt", "--csv", "--lambda", lambda, "--ca2", scv,
	      "--cs2", scv, (char *)NULL);
	return 1;
}

/* Rates so near to each other that no state is rare. */
static int large_chain(void)
{
	size_t size = bench_is_tiny() ? 100 : 1000;
	struct credit_link link = {
		.lambda = 6, .mu1 = 6, .mu2 = 6.1, .upstream = size, .downstream = size
	};
	struct diag d = { .status = HD_OK };
	struct credit_result r;

	if (credit_solve(&link, &d, NULL, &r) != HD_OK)
		return 1;
	return r.residual < 1e-9 ? 0 : 1;
}

static double des_seconds(uint64_t packets)
{
	struct ge_queue q = { .lambda = 7,
			      .ca2 = 5,
			      .cs2 = 7,
			      .capacity = 16,
			      .n_regions = 2,
			      .mu = { 8, 16 },
			      .threshold = { 8 } };
	struct batch_queue b = batch_queue_of(&q);
	struct des_options o = { .packets = packets, .seed = 1, .level = 0.999 };
	struct ge_des_result r;
	double begun = cpu_seconds();

	ge_des_run(&b, &o, &r, NULL);
	return cpu_seconds() - begun;
}

int main(void)
{
	struct bench b;
	struct rusage used;
	uint64_t packets = bench_count(10000000);

	bench_begin(&b, "model");
	bench_at_most(&b, "GE sweep of 1,000,000 points, solver", "CPU s", 10,
		      sweep_library(bench_is_tiny() ? 10 : 100));
	used = measure(sweep_program);
	bench_at_most(&b, "the same by 'heddle model ajt --csv'", "CPU s", 10, cpu_of(&used));
	/* Also fails if the residual is not below 1e-9. */
	used = measure(large_chain);
	bench_at_most(&b, "credit chain of 1,000 x 1,000", "CPU s", 40, cpu_of(&used));
	bench_at_most(&b, "its memory", "GiB", 4, (double)used.ru_maxrss / 1048576);
	bench_at_least(&b, "simulated threshold queue", "packets/CPU s", 0,
		       (double)packets / des_seconds(packets));
	return bench_end(&b);
}
