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

static void open_profile(struct nic_backend *out)
{
	const struct virtual_options o = { .profile = "mt23108" };
	struct diag d = { .status = HD_OK };

	if (virtual_open(&o, &d, out) != HD_OK)
		fail_msg("%s", d.message);
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
	FITTED = POINTS - 2 * (SIZES / 2), /* every other size is omitted */
};
#define NOISE 0.006 /* standard deviation of what is measured, relative */

/* Measurements of an adapter with these costs. */
static void measure(const struct hca_profile *costs, struct fit_point *points,
		    struct fit_points *out)
{
	static const char *const tests[] = { "send-lat", "send-bw" };
	struct diag d = { .status = HD_OK };
	struct nic_backend b;

	open_profile(&b);
	virtual_profile(&b)->poll_empty = costs->poll_empty;
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
		assert_int_equal(bench_run(&b, t, &o, &watch, &rows, &d), HD_OK);
		assert_int_equal(rows.n, 1);
		points[out->n++] = (struct fit_point){
			.test = t,
			.size = o.from,
			.measured = i < SIZES ? rows.items[0].average : rows.items[0].bandwidth,
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

static double between(struct rng *g, double low, double high)
{
	return low * pow(high / low, rng_uniform(g));
}

/* Costs within a factor of two of these, and hosts that look every 8 ns or
 * hardly once in a latency. Two costs are as the fit begins. */
static struct hca_profile random_costs(struct rng *g)
{
	double bus = between(g, 2500, 10000); /* Mb/s */

	return (struct hca_profile){
		.post_send = (hd_time)between(g, 750, 3000) * HD_NS,
		.doorbell = 900 * HD_NS,
		.wqe = 600 * HD_NS,
		.bus = hd_rate_make((uint64_t)bus * 1000000, 1),
		.bus_overhead = (hd_time)between(g, 85, 340) * HD_NS,
		.poll_empty = (hd_time)between(g, 8, 600) * HD_NS,
	};
}

/* Of one fit: by how many of the standard errors that it tells each cost is
 * off (of one that is held: 0), and how many degrees of freedom are left. */
struct trial {
	struct fit fit;
	unsigned freedom;
	double off[FIT_PARAMETERS];
	bool takes_wrong;     /* something that is held is not what it was */
	double least_latency; /* us */
};

static void judge(const struct hca_profile *true_costs, struct trial *t)
{
	const double values[FIT_PARAMETERS] = {
		(double)true_costs->post_send,    (double)true_costs->doorbell,
		(double)true_costs->wqe,          hd_rate_bps(true_costs->bus),
		(double)true_costs->bus_overhead,
	};

	t->freedom = FITTED;
	t->takes_wrong = false;
	for (size_t i = 0; i < FIT_PARAMETERS; i++) {
		const struct fit_cost *c = &t->fit.costs[i];

		t->freedom -= !c->held;
		t->takes_wrong |= c->held && c->start != values[i];
		t->off[i] = c->held ? 0 : fabs(log(c->value / values[i])) / c->error;
	}
}

static void try_fit(uint64_t seed, struct hca_profile *true_costs, struct trial *out)
{
	struct fit_point points[POINTS];
	struct fit_points p;
	struct diag d = { .status = HD_OK };
	struct nic_backend b;
	struct rng g;

	rng_init(&g, seed, 1);
	*true_costs = random_costs(&g);
	measure(true_costs, points, &p);
	out->least_latency = points[0].measured;
	for (size_t i = 0; i < POINTS; i++)
		p.items[i].measured *= exp(NOISE * normal(&g));
	open_profile(&b);
	virtual_profile(&b)->doorbell = true_costs->doorbell;
	virtual_profile(&b)->wqe = true_costs->wqe;
	virtual_profile(&b)->poll_empty = true_costs->poll_empty;
	if (fit_run(&b, &few, &p, &watch, &d, &out->fit) != HD_OK)
		fail_msg("%s", d.message);
	b.close(&b);
	judge(true_costs, out);
}

/* Probability that Student's t with `freedom` degrees of freedom exceeds 3: its
 * density from 0 to 3, by Simpson's rule. */
static double beyond_three(unsigned freedom)
{
	const unsigned steps = 300;
	const double n = freedom;
	double scale = exp(lgamma((n + 1) / 2) - lgamma(n / 2)) / sqrt(n * M_PI);
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
 * A size that was left out is off by its own noise and by that of the costs,
 * which all sizes together know at least as well as one: by the root of twice
 * a point's variance, in 999 of 1,000 cases below 3.29 times that. A latency is
 * anywhere in its step.
 */
static double most_left_out(const struct hca_profile *costs, const struct trial *t)
{
	double step = (double)costs->poll_empty / HD_US / t->least_latency;

	return 3.29 * sqrt(2 * (NOISE * NOISE + step * step / 12));
}

/*
 * A fit derives its standard errors from its residuals and from the steps of
 * latencies. The error of a cost divided by its standard error has Student's
 * distribution, with as many degrees of freedom as points exceed costs. The
 * number of errors beyond three standard errors is at most its expectation plus
 * 3.29 standard deviations of that number, for each cost, any costs and any
 * polling interval. Fits that hold a cost at a wrong value are not
 * judged.
 */
static void standard_errors_are_what_they_say(void **state)
{
	const unsigned trials = cases_of_run(2, 60);
	unsigned beyond[FIT_PARAMETERS] = { 0 }, judged = 0;
	double expected = 0, variance = 0;

	(void)state;
	for (unsigned i = 0; i < trials; i++) {
		struct hca_profile true_costs;
		struct trial t;

		try_fit(100 + i, &true_costs, &t);
		assert_true(t.fit.error_left_out < most_left_out(&true_costs, &t));
		if (t.takes_wrong)
			continue;
		double p = beyond_three(t.freedom);

		judged++;
		expected += p;
		variance += p * (1 - p);
		for (size_t k = 0; k < FIT_PARAMETERS; k++)
			beyond[k] += t.off[k] > 3;
	}
	print_message("%u of %u judged; beyond 3: %u %u %u %u %u; expected %.1f +- %.1f\n", judged,
		      trials, beyond[0], beyond[1], beyond[2], beyond[3], beyond[4], expected,
		      sqrt(variance));
	for (size_t k = 0; k < FIT_PARAMETERS; k++)
		assert_true(beyond[k] < expected + 3.29 * sqrt(variance));
}

static void every_other_size_is_left_out(void **state)
{
	struct diag d = { .status = HD_OK };
	struct fit_point items[POINTS];
	struct fit_points points;
	struct rng g;

	(void)state;
	rng_init(&g, 1, 1);
	const struct hca_profile costs = random_costs(&g);

	measure(&costs, items, &points);
	for (size_t i = 0; i < points.n; i++)
		assert_int_equal(points.items[i].left_out, i % SIZES % 2);
	/* A single size cannot be fitted. */
	points.n = SIZES;
	assert_int_equal(fit_points_divide(&points, &d), HD_ERR_INPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(students_law_is_tabulated_so),
		cmocka_unit_test(standard_errors_are_what_they_say),
		cmocka_unit_test(every_other_size_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
