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
#include "bench/fit.h"
#include "bench/virtual.h"

static void open_profile(const char *name, struct nic_backend *out)
{
	const struct virtual_options o = { .profile = name };
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

/* What an adapter with these costs measures, with some noise. */
static void measure(const struct profile *costs, double noise,
		    struct fit_points *out)
{
	static const char *const tests[] = { "send-lat", "send-bw" };
	static const uint64_t sizes[] = { 8, 64, 512, 2048, 8192, 32768 };
	struct diag d = { .status = HD_OK };
	struct nic_backend b;
	struct rng noises;

	rng_init(&noises, 23, 1);
	open_profile("mt23108", &b);
	virtual_profile(&b)->post_send = costs->post_send;
	virtual_profile(&b)->doorbell = costs->doorbell;
	virtual_profile(&b)->wqe = costs->wqe;
	virtual_profile(&b)->bus = costs->bus;
	virtual_profile(&b)->bus_overhead = costs->bus_overhead;
	static struct fit_point points[12];

	*out = (struct fit_points){ .items = points };
	for (size_t i = 0; i < 12; i++) {
		struct bench_options o = few;
		struct bench_rows rows = { .items = NULL };
		const struct bench_test *t = bench_find(tests[i / 6], &d);

		o.from = o.to = sizes[i % 6];
		assert_int_equal(bench_run(&b, t, &o, &watch, &rows, &d),
				 HD_OK);
		assert_int_equal(rows.n, 1);
		double value =
			i < 6 ? rows.items[0].average : rows.items[0].bandwidth;

		points[out->n++] = (struct fit_point){
			.test = t,
			.size = sizes[i % 6],
			.measured =
				value *
				(1 + noise * (2 * rng_uniform(&noises) - 1)),
		};
		bench_rows_fini(&rows);
	}
	b.close(&b);
	assert_int_equal(fit_points_divide(out, &d), HD_OK);
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

/* Within three of the standard errors that the fit itself tells. */
static void comes_back(const struct fit *f, const char *name, double value)
{
	const struct fit_cost *c = cost(f, name);

	if (c->held || fabs(log(c->value / value)) > 3 * c->error)
		fail_msg("%s is %g%s +- %g, not %g", name, c->value,
			 c->held ? " (held)" : "", c->error, value);
}

/*
 * What bandwidth shows alone, the gap between messages (here the host's) and
 * the rate of the bus, comes back; times that only add up in a latency do as
 * far as their sum shows in it; and sizes that were left out are foretold.
 */
static void costs_that_measured_come_back(void **state)
{
	const struct profile costs = { .post_send = 1500 * HD_NS,
				       .doorbell = 900 * HD_NS,
				       .wqe = 600 * HD_NS,
				       .bus = hd_rate_make(5000000000, 1),
				       .bus_overhead = 170 * HD_NS };
	struct diag d = { .status = HD_OK };
	struct fit_points points;
	struct nic_backend b;
	struct fit fit;

	(void)state;
	measure(&costs, 0.01, &points);
	open_profile("mt23108", &b);
	if (fit_run(&b, &few, &points, &watch, &d, &fit) != HD_OK)
		fail_msg("%s", d.message);
	b.close(&b);
	print_message("%zu profiles, errors %.2f %% and %.2f %%\n", fit.runs,
		      100 * fit.error, 100 * fit.error_left_out);
	comes_back(&fit, "host.post_send", 1500e3);
	comes_back(&fit, "bus.rate", 5e9);
	comes_back(&fit, "bus.overhead", 170e3);
	assert_true(fit.error < 0.02);
	assert_true(fit.error_left_out < 0.04);
	const struct fit_cost *bell = cost(&fit, "adapter.doorbell");
	const struct fit_cost *wqe = cost(&fit, "adapter.wqe");

	/* One of the two is held, and the other makes up for it. */
	assert_true(bell->held != wqe->held);
	assert_true(fabs(bell->value + wqe->value - 1500e3) < 450e3);
}

static void every_other_size_is_left_out(void **state)
{
	struct diag d = { .status = HD_OK };
	struct fit_points points;

	(void)state;
	measure(&(struct profile){ .post_send = HD_US,
				   .doorbell = 300 * HD_NS,
				   .wqe = 400 * HD_NS,
				   .bus = hd_rate_make(8000000000, 1),
				   .bus_overhead = 170 * HD_NS },
		0, &points);
	for (size_t i = 0; i < points.n; i++)
		assert_int_equal(points.items[i].left_out, i % 6 % 2);
	/* Of one size there is no fit. */
	points.n = 7;
	assert_int_equal(fit_points_divide(&points, &d), HD_ERR_INPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(costs_that_measured_come_back),
		cmocka_unit_test(every_other_size_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
