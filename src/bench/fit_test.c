/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "bench/fit.h"
#include "bench/virtual.h"

static void open_profile(const char *name, struct nic_backend *out)
{
	const struct virtual_options o = { .profile = name };
	struct diag d = { .status = HD_OK };

	if (virtual_open(&o, &d, out) != HD_OK)
		fail_msg("%s", d.message);
	/*
	 * Not the profile's 300 ns: who polls seldom finds what came long ago,
	 * latencies go in steps, and costs came back 4 to 13 of the standard
	 * errors off that the fit told. Here the model is smooth.
	 */
	virtual_profile(out)->poll_empty = 10 * HD_NS;
}

static bool go_on(void *context, const struct bench_row *row)
{
	(void)context;
	(void)row;
	return true;
}

static const struct bench_watch watch = { go_on, NULL };
static const struct bench_options few = { .iterations = 24 };

enum {
	SIZES = 7,
	POINTS = 2 * SIZES,
	FITTED = POINTS - 2 * (SIZES / 2), /* every other one is left out */
};
#define NOISE 0.006 /* standard deviation of what is measured, relative */

/* What an adapter with these costs measures. */
static void measure(const struct profile *costs, struct fit_point *points,
		    struct fit_points *out)
{
	static const char *const tests[] = { "send-lat", "send-bw" };
	struct diag d = { .status = HD_OK };
	struct nic_backend b;

	open_profile("mt23108", &b);
	virtual_profile(&b)->post_send = costs->post_send;
	virtual_profile(&b)->doorbell = costs->doorbell;
	virtual_profile(&b)->wqe = costs->wqe;
	virtual_profile(&b)->bus = costs->bus;
	virtual_profile(&b)->bus_overhead = costs->bus_overhead;
	*out = (struct fit_points){ .items = points };
	for (size_t i = 0; i < POINTS; i++) {
		struct bench_options o = few;
		struct bench_rows rows = { .items = NULL };
		const struct bench_test *t = bench_find(tests[i / SIZES], &d);

		o.from = o.to = UINT64_C(8) << 2 * (i % SIZES);
		assert_int_equal(bench_run(&b, t, &o, &watch, &rows, &d),
				 HD_OK);
		assert_int_equal(rows.n, 1);
		points[out->n++] = (struct fit_point){
			.test = t,
			.size = o.from,
			.measured = i < SIZES ? rows.items[0].average
					      : rows.items[0].bandwidth,
		};
		bench_rows_fini(&rows);
	}
	b.close(&b);
	assert_int_equal(fit_points_divide(out, &d), HD_OK);
}

static double normal(struct rng *g)
{
	double radius = sqrt(-2 * log1p(-rng_uniform(g)));

	return radius * cos(2 * M_PI * rng_uniform(g));
}

static const struct profile costs = { .post_send = 1500 * HD_NS,
				      .doorbell = 900 * HD_NS,
				      .wqe = 600 * HD_NS,
				      .bus = { 5000000000, 1 },
				      .bus_overhead = 170 * HD_NS };

/* Of one fit: how many degrees of freedom are left to the noise, and by how
 * many of the standard errors that it tells each cost is off. */
enum { POST_SEND, BUS_RATE, BUS_OVERHEAD, N_TOLD };

struct trial {
	struct fit fit;
	unsigned freedom;
	double off[N_TOLD];
};

static double off_by(const struct fit_cost *c, double value)
{
	return fabs(log(c->value / value)) / c->error;
}

static const struct fit_cost *cost(const struct fit *f, const char *name)
{
	for (size_t i = 0; i < FIT_PARAMETERS; i++) {
		if (strcmp(f->costs[i].name, name) == 0)
			return &f->costs[i];
	}
	fail_msg("no cost '%s'", name);
	return NULL;
}

static void try_fit(const struct fit_points *exact, uint64_t seed,
		    struct trial *out)
{
	struct fit_point points[POINTS];
	struct fit_points p = *exact;
	struct diag d = { .status = HD_OK };
	struct nic_backend b;
	struct rng noises;

	rng_init(&noises, seed, 1);
	memcpy(points, exact->items, sizeof(points));
	p.items = points;
	for (size_t i = 0; i < POINTS; i++)
		p.items[i].measured *= exp(NOISE * normal(&noises));
	open_profile("mt23108", &b);
	if (fit_run(&b, &few, &p, &watch, &d, &out->fit) != HD_OK)
		fail_msg("%s", d.message);
	b.close(&b);
	const struct fit *f = &out->fit;

	out->freedom = FITTED;
	for (size_t i = 0; i < FIT_PARAMETERS; i++)
		out->freedom -= !f->costs[i].held;
	out->off[POST_SEND] = off_by(cost(f, "host.post_send"), 1500e3);
	out->off[BUS_RATE] = off_by(cost(f, "bus.rate"), 5e9);
	out->off[BUS_OVERHEAD] = off_by(cost(f, "bus.overhead"), 170e3);
}

/*
 * What bandwidth shows alone, the gap between messages (here the host's) and
 * the rate of the bus, comes back, and what a transfer costs; sizes that were
 * left out are foretold. The noise is known here: by it an estimate is off by
 * less than 3.29 standard errors in 999 of 1,000 draws, and the square sum of
 * residuals less than its freedom and 3.29 standard deviations of that
 * (chi-squared: root of twice it).
 */
static void costs_that_measured_come_back(void **state)
{
	struct fit_point points[POINTS];
	struct fit_points exact;
	struct trial t;

	(void)state;
	measure(&costs, points, &exact);
	try_fit(&exact, 23, &t);
	print_message("%zu profiles, errors %.2f %% and %.2f %%\n", t.fit.runs,
		      100 * t.fit.error, 100 * t.fit.error_left_out);
	double square = t.fit.error * t.fit.error * FITTED;
	double told = sqrt(square / t.freedom);

	assert_true(square / NOISE / NOISE <
		    t.freedom + 3.29 * sqrt(2 * t.freedom));
	for (size_t i = 0; i < N_TOLD; i++)
		assert_true(t.off[i] * told < 3.29 * NOISE);
	assert_true(t.fit.error_left_out < 0.04);
}

/* How often Student's t of so many degrees of freedom is beyond 3: its density
 * from 0 to 3, by Simpson's rule. */
static double beyond_three(unsigned freedom)
{
	const unsigned steps = 300;
	const double n = freedom;
	double scale =
		exp(lgamma((n + 1) / 2) - lgamma(n / 2)) / sqrt(n * M_PI);
	double sum = 0;

	for (unsigned i = 0; i <= steps; i++) {
		double x = 3. * i / steps;
		double weight = i == 0 || i == steps ? 1 : i % 2 ? 4 : 2;

		sum += weight * pow(1 + x * x / n, -(n + 1) / 2);
	}
	return 1 - 2 * scale * sum * (3. / steps) / 3;
}

static void students_law_is_tabulated_so(void **state)
{
	(void)state;
	/* Closed forms: 1 - 2/pi atan 3, and 1 - 3 / sqrt(11). */
	assert_true(fabs(beyond_three(1) - (1 - 2 / M_PI * atan(3))) < 1e-9);
	assert_true(fabs(beyond_three(2) - (1 - 3 / sqrt(11))) < 1e-9);
}

/*
 * A fit tells its standard errors from its own residuals. What it is off by in
 * them has Student's distribution, with as many degrees of freedom as there are
 * points beyond costs, and so many are beyond three of them. Not where both
 * times that add up in a latency are held at what they were: then others make
 * up for them.
 */
static void standard_errors_are_what_they_say(void **state)
{
	const unsigned trials = 60;
	unsigned beyond[N_TOLD] = { 0 }, judged = 0;
	double expected = 0, variance = 0;
	struct fit_point points[POINTS];
	struct fit_points exact;

	(void)state;
	if (!run_is_long())
		return;
	measure(&costs, points, &exact);
	for (unsigned i = 0; i < trials; i++) {
		struct trial t;

		try_fit(&exact, 100 + i, &t);
		if (cost(&t.fit, "adapter.doorbell")->held &&
		    cost(&t.fit, "adapter.wqe")->held)
			continue;
		double p = beyond_three(t.freedom);

		judged++;
		expected += p;
		variance += p * (1 - p);
		for (size_t k = 0; k < N_TOLD; k++)
			beyond[k] += t.off[k] > 3;
	}
	print_message("%u of %u judged; beyond 3: %u %u %u; "
		      "expected %.1f +- %.1f\n",
		      judged, trials, beyond[0], beyond[1], beyond[2], expected,
		      sqrt(variance));
	for (size_t k = 0; k < N_TOLD; k++)
		assert_true(beyond[k] < expected + 3.29 * sqrt(variance));
}

static void every_other_size_is_left_out(void **state)
{
	struct diag d = { .status = HD_OK };
	struct fit_point items[POINTS];
	struct fit_points points;

	(void)state;
	measure(&costs, items, &points);
	for (size_t i = 0; i < points.n; i++)
		assert_int_equal(points.items[i].left_out, i % SIZES % 2);
	/* Of one size there is no fit. */
	points.n = SIZES;
	assert_int_equal(fit_points_divide(&points, &d), HD_ERR_INPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(costs_that_measured_come_back),
		cmocka_unit_test(students_law_is_tabulated_so),
		cmocka_unit_test(standard_errors_are_what_they_say),
		cmocka_unit_test(every_other_size_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
