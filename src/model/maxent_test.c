/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/expect_for_tests.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/rng.h"
#include "model/maxent.h"
#include "model/reference_for_tests.h"

static void coefficients_meet_their_reference(void **state)
{
	(void)state;
	for (int k = 0; k < 8; k++) {
		struct ge_queue q = plain_queue(k + 1, 8);
		struct maxent m;

		maxent_joined(&q, &m);
		assert_near(m.x[0], plain8[k][0], 1e-6);
		assert_near(maxent_g(&m, 0), plain8[k][1], 1e-6);
		assert_near(m.y, plain8[k][2], 1e-6);
	}
}

static void kouvatsos_formulas_give_the_same(void **state)
{
	(void)state;
	for (int k = 0; k < 7; k++) {
		struct ge_queue q = plain_queue(k + 1, 8);
		struct maxent_infinite f = maxent_infinite_of(q.lambda / 8, 5, 7);
		struct maxent m;

		maxent_joined(&q, &m);
		assert_near(m.x[0], f.x, 1e-14);
		assert_near(maxent_g(&m, 0), f.g, 1e-14);
		assert_near(m.y, 1 / (1 - 0.75 * f.x), 1e-13);
	}
	assert_near(maxent_infinite_of(0.5, 5, 7).mean_queue, 4.5, 1e-15);
}

/* The definitions for several regions, literally. */
static void coefficients_of_regions_follow_their_formula(void **state)
{
	struct ge_queue q = ajt_queue(4, 4, 12, 24);
	const double sigma = 1.0 / 3, tau = 0.25;
	const double s = sigma + tau - sigma * tau;
	double k = tau / s, from[] = { 1, 4, 12, 25 };
	struct maxent m;

	(void)state;
	maxent_joined(&q, &m);
	for (int i = 0; i < 3; i++) {
		double c = sigma * 4 * s / (tau * q.mu[i] + (1 - tau) * sigma * 4);
		double x = 1 - sigma + c;

		assert_near(m.x[i], x, 1e-15);
		assert_near(maxent_g(&m, (size_t)i), k * c / pow(x, from[i]), 1e-14);
		k *= pow(x, from[i + 1] - from[i]);
	}
	assert_near(m.y, 1 / (1 - (1 - tau) * m.x[2]), 1e-13);
}

static struct ge_queue random_queue(struct rng *r)
{
	struct ge_queue q = {
		.lambda = 0.05 + 20 * rng_uniform(r),
		.ca2 = 1 + 20 * rng_uniform(r) * (double)rng_below(r, 2),
		.cs2 = 1 + 20 * rng_uniform(r) * (double)rng_below(r, 2),
		.capacity = 1 + rng_below(r, 64),
		.n_regions = 1,
	};
	size_t next = 2;

	q.mu[0] = 0.1 + 10 * rng_uniform(r);
	if (rng_below(r, 8) == 0)
		q.lambda = q.mu[0]; /* load 1 exactly */
	while (next <= q.capacity && rng_below(r, 3)) {
		q.threshold[q.n_regions - 1] = next + rng_below(r, q.capacity - next + 1);
		next = q.threshold[q.n_regions - 1] + 1;
		q.mu[q.n_regions++] = 0.1 + 20 * rng_uniform(r);
	}
	return q;
}

static void closed_form_equals_recursion_on_random_queues(void **state)
{
	struct rng rng;

	(void)state;
	rng_init(&rng, 5, 2);
	for (int k = 0; k < 10000; k++) {
		struct ge_queue q = random_queue(&rng);
		struct diag d = { .status = HD_OK };
		struct maxent m;
		double p[65], form[65];

		assert_int_equal(ge_check(&q, &d), HD_OK);
		ge_solve(&q, p);
		maxent_joined(&q, &m);
		maxent_evaluate(&q, &m, form);
		for (size_t n = 0; n <= q.capacity; n++)
			assert_near(form[n], p[n], 1e-12);
	}
}

/* g and x of the infinite queue of each region; false near a load of 1, where the formula
 * loses its digits. */
static bool infinite_queues(const struct ge_queue *q, double *g, double *x)
{
	for (size_t r = 0; r < q->n_regions; r++) {
		double rho = q->lambda / q->mu[r];
		struct maxent_infinite f = maxent_infinite_of(rho, q->ca2, q->cs2);

		if (fabs(rho - 1) < 1e-3)
			return false;
		g[r] = f.g;
		x[r] = f.x;
	}
	return true;
}

/*
 * What the text says of the form, literally: g and x of infinite queues, each
 * region begins where the one before ends, y by flow balance. Returns the sum.
 */
static double join_literally(const struct ge_queue *q, const double *g, const double *x, double *p)
{
	double sum = 1, flow = 0, lost = ge_law_of(q).delta0, stay = (q->ca2 - 1) / (q->ca2 + 1);
	size_t i = 0;

	p[0] = 1;
	for (size_t n = 1; n <= q->capacity; n++) {
		bool joins = i + 1 < q->n_regions && n >= q->threshold[i];

		p[n] = n == 1 ? g[0] * x[0] : p[n - 1] * x[i];
		if (joins) {
			p[n] = p[n - 1] * g[i + 1] / g[i] * x[i + 1];
			i++;
		}
		if (n == q->capacity)
			break;
		lost = lost * stay + p[n];
		sum += p[n];
		flow += q->mu[i] * p[n];
	}
	/* lambda (sum + top - lost stay - top) = flow + mu top */
	p[q->capacity] = (q->lambda * (sum - lost * stay) - flow) / q->mu[i];
	return sum + p[q->capacity];
}

static void infinite_queues_joined_at_the_thresholds_give_the_same(void **state)
{
	struct rng rng;

	(void)state;
	rng_init(&rng, 6, 2);
	for (int k = 0; k < 10000; k++) {
		struct ge_queue q = random_queue(&rng);
		double p[65], want[65], g[64], x[64];

		if (!infinite_queues(&q, g, x))
			continue;
		double sum = join_literally(&q, g, x, want);

		ge_solve(&q, p);
		for (size_t n = 0; n <= q.capacity; n++)
			assert_near(want[n] / sum, p[n], 1e-9);
	}
}

/* Mean over lambda = 1..7 of |separate - exact| / exact, in percent. */
static void separate_error(size_t threshold, double *length, double *use, double *blocking)
{
	*length = *use = *blocking = 0;
	for (int lambda = 1; lambda <= 7; lambda++) {
		struct ge_queue q = et_queue(lambda, threshold);
		struct diag d = { .status = HD_OK };
		struct maxent m;
		double p[17];

		ge_solve(&q, p);
		struct ge_result e = ge_des_measure(&q, p);

		assert_int_equal(maxent_separate(&q, &d, &m), HD_OK);
		maxent_evaluate(&q, &m, p);
		struct ge_result t = ge_des_measure(&q, p);

		/* Flow balance is what its y is made for. */
		assert_near(t.throughput, lambda * (1 - t.blocking), 1e-12);
		*length += fabs(t.mean_queue / e.mean_queue - 1) * 100 / 7;
		*use += fabs(t.utilisation / e.utilisation - 1) * 100 / 7;
		*blocking += fabs(t.blocking / e.blocking - 1) * 100 / 7;
	}
}

static void separate_form_errs_as_much_as_was_found_before(void **state)
{
	static const double want[5][3] = { { 12.3, 1.7, 153 },
					   { 10.2, 1.7, 148 },
					   { 7.8, 1.5, 133 },
					   { 5.7, 1.4, 114 },
					   { 3.9, 1.2, 94 } };

	(void)state;
	for (size_t t = 4; t <= 8; t++) {
		double length, use, blocking;

		separate_error(t, &length, &use, &blocking);
		assert_near(length, want[t - 4][0], 0.051);
		assert_near(use, want[t - 4][1], 0.051);
		assert_near(blocking, want[t - 4][2], 0.51);
	}
}

static void separate_form_needs_a_stable_first_region(void **state)
{
	struct ge_queue q = et_queue(8, 8);
	struct diag d = { .status = HD_OK };
	struct maxent m;

	(void)state;
	assert_int_equal(maxent_separate(&q, &d, &m), HD_ERR_UNFIT);
	assert_string_equal(d.message,
			    "the form of separate regions needs lambda < mu: 8 is not below 8");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(coefficients_meet_their_reference),
		cmocka_unit_test(kouvatsos_formulas_give_the_same),
		cmocka_unit_test(coefficients_of_regions_follow_their_formula),
		cmocka_unit_test(closed_form_equals_recursion_on_random_queues),
		cmocka_unit_test(infinite_queues_joined_at_the_thresholds_give_the_same),
		cmocka_unit_test(separate_form_errs_as_much_as_was_found_before),
		cmocka_unit_test(separate_form_needs_a_stable_first_region),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
