/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "bench.h"
#include "bench/bench.h"
#include "bench/virtual.h"

/* What the goals are in: time of this process, not of the wall. */
static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(enum hd_status status, const struct diag *d)
{
	if (status == HD_OK)
		return;
	fprintf(stderr, "%s\n", d->message);
	exit(1);
}

/* 64 bytes back and forth on a reliable connection through one switch. */
static double round_trips(unsigned long n)
{
	const struct virtual_options o = { .profile = "mt23108" };
	struct bench_options wanted = { .from = 64, .to = 64, .iterations = n };
	struct diag d = { .status = HD_OK };
	struct bench_rows rows = { 0 };
	struct nic_backend b;

	must(virtual_open(&o, &d, &b), &d);
	double start = cpu_seconds();

	must(bench_run(&b, bench_find("send-lat", &d), &wanted, NULL, &rows, &d), &d);
	double seconds = cpu_seconds() - start;

	bench_rows_fini(&rows);
	b.close(&b);
	return (double)n / seconds;
}

/* Every test of the paper, as 'heddle bench miba' runs them. */
static double suite(bool tiny)
{
	const struct virtual_options o = { .profile = "mt23108" };
	const struct bench_options wanted = { .to = tiny ? 64 : 0, .from = tiny ? 64 : 0 };
	struct diag d = { .status = HD_OK };
	struct bench_rows rows = { 0 };
	struct nic_backend b;
	double start = cpu_seconds();

	must(virtual_open(&o, &d, &b), &d);
	for (const struct bench_test *t = bench_tests; t->name; t++) {
		if (t->group != GROUP_BEYOND)
			must(bench_run(&b, t, &wanted, NULL, &rows, &d), &d);
	}
	bench_rows_fini(&rows);
	b.close(&b);
	return cpu_seconds() - start;
}

int main(void)
{
	struct bench b;

	bench_begin(&b, "verbs");
	double best = 0;

	for (unsigned i = 0; i < (b.tiny ? 1 : 3); i++) {
		double rate = round_trips(bench_count(200000));

		best = rate > best ? rate : best;
	}
	bench_at_least(&b, "64-byte RC round trips", "1/CPU s", 200000, best);
	bench_at_most(&b, "the whole MIBA suite on mt23108", "CPU s", 60, suite(b.tiny));
	return bench_end(&b);
}
