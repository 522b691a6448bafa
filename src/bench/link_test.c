/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nothing is faster than the wire: whatever a bandwidth test does, the bytes
 * that it counts had to pass the sender's link together with their headers.
 * What those are is added up here from the architecture's header sizes, and
 * what a link carries from its lanes and their rate, not by our own code.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/seeds_for_tests.h"
#include "bench/bench.h"
#include "bench/virtual.h"
#include "hca/profile.h"

enum {
	LRH = 8,
	BTH = 12,
	CRCS = 6,
	RETH = 16,
	DETH = 8,
	AETH = 4,
	ATOMIC_ETH = 28,
};

/* MB/s of data: lanes, Gbaud, and the part of the code that is data. */
static const struct {
	const char *profile;
	double rate;
} links[] = {
	{ "mt23108", 4 * 2.5e3 / 8 * 8 / 10 }, /* 4x SDR, 8b/10b */
	{ "connectx-4-like", 4 * 25e3 / 8 },   /* 4x EDR */
	{ "connectx-6-like", 4 * 50e3 / 8 },   /* 4x HDR */
	{ "connectx-7-like", 4 * 100e3 / 8 },  /* 4x NDR */
	{ "ideal", 4 * 50e3 / 8 },             /* 4x HDR */
};

static double rate_of(const char *profile)
{
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
		if (strcmp(links[i].profile, profile) == 0)
			return links[i].rate;
	}
	fail_msg("which link has '%s'?", profile);
	return 0;
}

/* Bytes on the wire, the busier way, of one message. */
static double wire_bytes(const struct bench_params *p)
{
	uint64_t packets = p->size > p->mtu ? (p->size + p->mtu - 1) / p->mtu : 1;
	uint64_t padded = (p->size + 3) / 4 * 4;
	uint64_t each = LRH + BTH + CRCS + (p->transport == QP_UD ? DETH : 0);
	uint64_t once = p->verb == VERB_WRITE  ? RETH
			: p->verb == VERB_READ ? (packets > 1 ? 2 * AETH : AETH)
					       : 0;

	if (p->verb == VERB_ATOMIC)
		return LRH + BTH + ATOMIC_ETH + CRCS;
	return (double)(padded + packets * each + once);
}

static double bound_of(const char *profile, const struct bench_params *p)
{
	bool both = p->core == CORE_BIDIRECTIONAL || p->core == CORE_COMPUTE;

	return (both ? 2 : 1) * rate_of(profile) * (double)p->size / wire_bytes(p);
}

struct tally {
	size_t rows;
	double closest; /* of all rates to their bound */
};

static void check_row(const char *profile, const struct bench_row *row, struct tally *t)
{
	double bound = bound_of(profile, &row->params);
	double most = row->bandwidth;

	most = row->peak > most ? row->peak : most;
	most = row->least > most ? row->least : most;
	if (row->bandwidth <= 0 || most > bound * (1 + 1e-9))
		fail_msg(
			"%s %s, %llu bytes, MTU %u, value %u: average %.2f, peak %.2f, least %.2f MB/s, and the link has %.2f",
			row->test->name, profile, (unsigned long long)row->params.size,
			row->params.mtu, row->value, row->bandwidth, row->peak, row->least, bound);
	t->rows++;
	if (most / bound > t->closest)
		t->closest = most / bound;
}

static void run_one(const char *profile, const struct bench_test *test, uint64_t mtu,
		    const struct bench_options *like, struct tally *t)
{
	const struct virtual_options v = { .profile = profile };
	struct bench_options o = *like;
	struct bench_rows rows = { 0 };
	struct diag d = { .status = HD_OK };
	struct nic_backend b;

	assert_int_equal(virtual_open(&v, &d, &b), HD_OK);
	if (mtu <= b.max_mtu) {
		o.mtu = mtu;
		if (bench_run(&b, test, &o, NULL, &rows, &d) != HD_OK)
			fail_msg("%s: %s", test->name, d.message);
	}
	for (size_t i = 0; i < rows.n; i++)
		check_row(profile, &rows.items[i], t);
	bench_rows_fini(&rows);
	b.close(&b);
}

/* The first and the last value of a test's axis, and one in the middle. */
static void few_values(const struct bench_test *test, struct bench_options *o)
{
	uint64_t n = 0;

	while (test->values && test->values[n] != BENCH_END)
		n++;
	/* MTUs vary anyway; a device may not have all. */
	if (n < 4 || test->axis == AXIS_MTU || run_is_long())
		return;
	o->values[0] = test->values[0];
	o->values[1] = test->values[n / 2];
	o->values[2] = test->values[n - 1];
	o->n_values = 3;
}

static void try_sizes(const char *profile, const struct bench_test *test, struct tally *t)
{
	static const struct {
		uint64_t size, mtu;
	} points[] = { { 1, 256 },     { 13, 512 },    { 256, 256 },
		       { 256, 1024 },  { 1024, 2048 }, { 2048, 2048 },
		       { 4096, 4096 }, { 4096, 256 },  { 20000, 1024 } };

	size_t n = sizeof(points) / sizeof(*points);
	size_t step = n / cases_of_run((unsigned)n, (unsigned)n);

	/* Varies the selected rows if only a share is checked. */
	for (size_t i = t->rows % step; i < n; i += step) {
		struct bench_options o = {
			.from = points[i].size, .to = points[i].size, .window = 16, .iterations = 50
		};

		if (test->transport == QP_UD && points[i].size > points[i].mtu)
			continue;
		few_values(test, &o);
		run_one(profile, test, points[i].mtu, &o, t);
	}
}

static void no_bandwidth_exceeds_the_link(void **state)
{
	struct tally t = { 0 };

	(void)state;
	for (const char *const *profile = profile_names; *profile; profile++) {
		for (const struct bench_test *test = bench_tests; test->name; test++) {
			if (test->metric == METRIC_BANDWIDTH)
				try_sizes(*profile, test, &t);
		}
	}
	print_message("%zu rates, the highest %.6f of its link\n", t.rows, t.closest);
	assert_true(t.rows > cases_of_run(300, 300));
}

/* With an adapter without costs, the link determines the time. */
static void unreliable_sends_fill_an_ideal_link(void **state)
{
	struct diag d = { .status = HD_OK };

	(void)state;
	for (unsigned i = 0; i < 14; i++) {
		const char *name = i % 2 ? "uc-bw" : "ud-bw";
		uint64_t size = UINT64_C(1) << i / 2 * 2;
		const struct bench_options o = { .from = size, .to = size, .iterations = 500 };
		struct tally t = { 0 };

		run_one("ideal", bench_find(name, &d), 4096, &o, &t);
		assert_int_equal(t.rows, 1);
		if (t.closest < 0.999)
			fail_msg("%s, %llu bytes: %.5f of the link", name, (unsigned long long)size,
				 t.closest);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_bandwidth_exceeds_the_link),
		cmocka_unit_test(unreliable_sends_fill_an_ideal_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
