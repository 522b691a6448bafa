/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/seeds_for_tests.h"
#include "model/expect_for_tests.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "model/credit.h"
#include "model/credit_states.h"

/* n = 12: m, L1, L2, L, R, T, loss. */
static const double experiment1[10][7] = {
	{ 2, 7.422799, 0.784304, 8.207103, 1.856323, 4.421161, 0.115768 },
	{ 3, 5.553582, 1.031500, 6.585082, 1.396256, 4.716242, 0.056752 },
	{ 4, 4.653994, 1.199471, 5.853466, 1.215645, 4.815110, 0.036978 },
	{ 5, 4.204304, 1.315316, 5.519620, 1.136689, 4.855875, 0.028825 },
	{ 6, 3.965288, 1.394958, 5.360245, 1.099494, 4.875195, 0.024961 },
	{ 7, 3.833027, 1.448937, 5.281963, 1.081238, 4.885106, 0.022979 },
	{ 8, 3.758260, 1.484813, 5.243073, 1.072113, 4.890412, 0.021918 },
	{ 9, 3.715628, 1.508145, 5.223773, 1.067533, 4.893313, 0.021337 },
	{ 10, 3.691300, 1.522990, 5.214290, 1.065246, 4.894914, 0.021017 },
	{ 11, 3.677464, 1.532243, 5.209706, 1.064117, 4.895802, 0.020840 },
};

/* n = m: L1, L2, L, R, T. */
static const double experiment2[6][6] = {
	{ 2, 0.965770, 0.564925, 1.530694, 0.445858, 3.433143 },
	{ 4, 1.722849, 0.961517, 2.684366, 0.629186, 4.266410 },
	{ 6, 2.348115, 1.215417, 3.563533, 0.775807, 4.593321 },
	{ 8, 2.871555, 1.374317, 4.245873, 0.893226, 4.753414 },
	{ 10, 3.308628, 1.474154, 4.782781, 0.987661, 4.842536 },
	{ 12, 3.669636, 1.537904, 5.207540, 1.063568, 4.896294 },
};

static struct credit_link thesis_link(size_t n, size_t m)
{
	return (struct credit_link){
		.lambda = 5, .mu1 = 6, .mu2 = 8, .upstream = n, .downstream = m, .phases = 1
	};
}

static struct credit_result solve(const struct credit_link *link, double *p)
{
	struct diag d = { .status = HD_OK };
	struct credit_result r;

	assert_int_equal(credit_check(link, &d), HD_OK);
	assert_int_equal(credit_solve(link, &d, p, &r), HD_OK);
	assert_true(r.residual < 1e-12);
	assert_true(r.flow_error < 1e-10);
	return r;
}

static void experiment_1_meets_its_reference(void **state)
{
	(void)state;
	for (int k = 0; k < 10; k++) {
		const double *want = experiment1[k];
		struct credit_link link = thesis_link(12, (size_t)want[0]);
		struct credit_result r = solve(&link, NULL);

		assert_near(r.mean_upstream, want[1], 1e-6);
		assert_near(r.mean_downstream, want[2], 1e-6);
		assert_near(r.mean, want[3], 1e-6);
		assert_near(r.response, want[4], 1e-6);
		assert_near(r.throughput, want[5], 1e-6);
		assert_near(r.loss, want[6], 1e-6);
	}
}

static void experiment_2_meets_its_reference(void **state)
{
	(void)state;
	for (int k = 0; k < 6; k++) {
		const double *want = experiment2[k];
		struct credit_link link = thesis_link((size_t)want[0], (size_t)want[0]);
		struct credit_result r = solve(&link, NULL);

		assert_near(r.mean_upstream, want[1], 1e-6);
		assert_near(r.mean_downstream, want[2], 1e-6);
		assert_near(r.mean, want[3], 1e-6);
		assert_near(r.response, want[4], 1e-6);
		assert_near(r.throughput, want[5], 1e-6);
	}
}

static void response_is_not_monotone_for_a_small_source(void **state)
{
	static const double want[][2] = { { 2, 0.445858 }, { 4, 0.440486 }, { 12, 0.443470 } };

	(void)state;
	for (int k = 0; k < 3; k++) {
		struct credit_link link = thesis_link(2, (size_t)want[k][0]);

		assert_near(solve(&link, NULL).response, want[k][1], 1e-6);
	}
}

static void tiny_chains_meet_every_probability(void **state)
{
	static const double p11[] = { 0.29675425, 0.18547141, 0.40185471, 0.11591963 };
	static const double p21[] = { 0.13988859, 0.08743037, 0.18943246,
				      0.17303927, 0.30205977, 0.10814954 };
	struct credit_link link = thesis_link(1, 1);
	double p[6];

	(void)state;
	assert_near(solve(&link, p).throughput, 2.41112828, 1e-8);
	for (int s = 0; s < 4; s++)
		assert_near(p[s], p11[s], 1e-8);
	link = thesis_link(2, 1);
	struct credit_result r = solve(&link, p);

	assert_near(r.throughput, 2.94895342, 1e-8);
	assert_near(r.response, 0.52612209, 1e-8);
	for (int s = 0; s < 6; s++)
		assert_near(p[s], p21[s], 1e-8);
}

static void many_credits_leave_a_simple_queue_at_node_1(void **state)
{
	struct credit_link link = thesis_link(12, 40);
	struct credit_result r = solve(&link, NULL);

	(void)state;
	assert_near(r.mean_upstream, 3.659700, 1e-6);
	assert_near(r.loss, 0.020620, 1e-6);
	assert_near(r.throughput, 4.896900, 1e-6);
	assert_near(r.mean_downstream, 1.546146, 1e-6);
}

static void large_buffers_approach_jackson(void **state)
{
	struct credit_link link = thesis_link(60, 60);
	struct credit_result r = solve(&link, NULL);

	(void)state;
	assert_near(r.mean_upstream, 4.999098, 1e-6);
	assert_near(r.mean_downstream, 1.666647, 1e-6);
	assert_near(r.throughput, 4.999985, 1e-6);
	link = thesis_link(200, 150);
	r = solve(&link, NULL);
	assert_near(r.mean_upstream, 5, 1e-9);
	assert_near(r.mean_downstream, 5.0 / 3, 1e-9);
	assert_near(r.throughput, 5, 1e-9);
}

/* Solves a x = b in place by elimination with row exchange; b becomes x. */
static void gauss(double *a, double *b, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		size_t best = k;

		for (size_t r = k + 1; r < n; r++) {
			if (fabs(a[r * n + k]) > fabs(a[best * n + k]))
				best = r;
		}
		for (size_t c = 0; c < n; c++) {
			double t = a[k * n + c];

			a[k * n + c] = a[best * n + c];
			a[best * n + c] = t;
		}
		double t = b[k];

		b[k] = b[best];
		b[best] = t;
		for (size_t r = 0; r < n; r++) {
			double f = r == k ? 0 : a[r * n + k] / a[k * n + k];

			for (size_t c = k; f != 0 && c < n; c++)
				a[r * n + c] -= f * a[k * n + c];
			b[r] -= f * b[k];
		}
	}
	for (size_t k = 0; k < n; k++)
		b[k] /= a[k * n + k];
}

/* The transition rate from (i, j) to (x, y), straight from the model. */
static double rate(const struct credit_link *l, size_t i, size_t j, size_t x, size_t y)
{
	if (x == i + 1 && y == j)
		return l->lambda;
	if (x + 1 == i && y == j + 1)
		return l->mu1;
	if (x == i && y + 1 == j)
		return l->mu2;
	return 0;
}

/* Equation (4.6): P = B (I - N + e B)^-1 with N = I + G / max|Gss|. */
static void solve_by_eq_4_6(const struct credit_link *l, double *p)
{
	size_t w = l->downstream + 1, n = (l->upstream + 1) * w;
	double *g = hd_alloc(n * n, sizeof(*g)), max = 0;
	double *a = hd_alloc(n * n, sizeof(*a));

	for (size_t s = 0; s < n; s++) {
		double out = 0;

		for (size_t t = 0; t < n; t++) {
			g[s * n + t] = rate(l, s / w, s % w, t / w, t % w);
			out += g[s * n + t];
		}
		g[s * n + s] = -out;
		max = fmax(max, out);
	}
	/* B = row 0 of N; the transposed system has P as its unknown. */
	for (size_t t = 0; t < n; t++)
		p[t] = (t == 0) + g[t] / max;
	for (size_t s = 0; s < n; s++) {
		for (size_t t = 0; t < n; t++)
			a[t * n + s] = p[t] - g[s * n + t] / max;
	}
	gauss(a, p, n);
	free(a);
	free(g);
}

static void both_solvers_agree_with_the_matrix_formula(void **state)
{
	struct rng rng;

	(void)state;
	rng_init(&rng, 4, 1);
	for (int k = 0; k < 60; k++) {
		struct credit_link link = {
			.lambda = 0.1 + 10 * rng_uniform(&rng),
			.mu1 = 0.1 + 10 * rng_uniform(&rng),
			.mu2 = 0.1 + 10 * rng_uniform(&rng),
			.upstream = 1 + rng_below(&rng, 9),
			.downstream = 1 + rng_below(&rng, 9),
		};
		struct credit_states states = credit_states_of(&link, 1000);
		struct diag d = { .status = HD_OK };
		struct sparse_chain chain;
		double want[100] = { 0 }, p[100] = { 0 }, q[100] = { 0 };
		int place[100] = { 0 };

		solve_by_eq_4_6(&link, want);
		assert_string_equal(solve(&link, p).method, "GTH");
		credit_chain_init(&chain, &link, &states);
		credit_dissect(&link, place);
		assert_int_equal(sparse_solve(&chain, credit_common_state(&link, &states),
					      k % 2 ? place : NULL, &d, q),
				 HD_OK);
		for (size_t s = 0; s < states.n; s++) {
			assert_near(p[s], want[s], 1e-10);
			assert_near(q[s], want[s], 1e-10);
		}
		sparse_chain_fini(&chain);
	}
}

static void rare_states_do_not_spoil_a_large_chain(void **state)
{
	/* Each end of each queue in turn is the bottleneck. */
	static const double rates[][3] = { { 1, 90, 90 }, { 90, 1, 90 }, { 90, 90, 1 } };

	(void)state;
	for (int k = 0; k < 3; k++) {
		struct credit_link link = { .lambda = rates[k][0],
					    .mu1 = rates[k][1],
					    .mu2 = rates[k][2],
					    .upstream = 160,
					    .downstream = 160 };
		struct credit_result r = solve(&link, NULL);

		assert_string_equal(r.method, "sparse LU");
		assert_near(r.throughput, 1, 1e-12);
	}
}

static void balanced_large_chains_solve_to_the_last_digit(void **state)
{
	const size_t size = run_is_long() ? 1000 : 200;
	struct credit_link link = {
		.lambda = 6, .mu1 = 6, .mu2 = 6, .upstream = size, .downstream = size
	};
	struct credit_result r = solve(&link, NULL);

	(void)state;
	assert_true(r.residual < 1e-12);
	/* Holes move upstream as packets move downstream: the model is its own mirror image. */
	assert_near(r.mean_upstream + r.mean_downstream, (double)size, 1e-6);
}

static size_t vector_sum(const unsigned *v, size_t n)
{
	size_t sum = 0;

	for (size_t k = 0; k < n; k++)
		sum += v[k];
	return sum;
}

static void vectors_are_numbered_in_order(void **state)
{
	struct credit_link link = thesis_link(1, 4);

	(void)state;
	link.delay = 1;
	link.phases = 3;
	struct credit_states states = credit_states_of(&link, 1000);
	unsigned v[4] = { 0 };
	size_t rank = 0;

	assert_int_equal(states.n_vectors, 70); /* 8 choose 4 */
	assert_int_equal(states.n, 140);
	do {
		assert_int_equal(credit_vector_rank(&link, v, 4), rank++);
		assert_true(vector_sum(v, 4) <= 4);
	} while (credit_vector_next(&link, v, 4));
	assert_int_equal(rank, 70);
	assert_int_equal(credit_states_of(&link, 139).n, 0);
}

static void a_vanishing_delay_changes_nothing(void **state)
{
	struct credit_link link = thesis_link(6, 3);
	double want = solve(&link, NULL).throughput;

	(void)state;
	link.delay = 1e-9;
	link.phases = 2;
	assert_near(solve(&link, NULL).throughput, want, 1e-7);
}

static void credits_on_their_way_obey_little(void **state)
{
	struct credit_link link = thesis_link(5, 4);

	(void)state;
	link.delay = 0.7;
	for (link.phases = 1; link.phases <= 3; link.phases++) {
		struct credit_result r = solve(&link, NULL);

		assert_near(r.in_flight, r.throughput * 0.7, 1e-12);
	}
}

static void one_credit_and_a_full_source_make_a_cycle(void **state)
{
	/* Never idle for lack of packets: the credit's round trip is all. */
	struct credit_link link = { .lambda = 1e7,
				    .mu1 = 2,
				    .mu2 = 4,
				    .upstream = 3,
				    .downstream = 1,
				    .delay = 0.25,
				    .phases = 4 };

	(void)state;
	assert_near(solve(&link, NULL).throughput, 1, 1e-6);
}

static void delay_costs_throughput_until_credits_cover_it(void **state)
{
	struct credit_link link = thesis_link(12, 4);
	double before = solve(&link, NULL).throughput;

	(void)state;
	link.delay = 1;
	double after = solve(&link, NULL).throughput;

	/* At most the packets of all credits per round trip. */
	assert_true(after < before);
	assert_true(after < 4 / (1.0 / 6 + 1.0 / 8 + 1));
	link.downstream = 24;
	assert_near(solve(&link, NULL).throughput, 4.896900, 1e-3);
}

static void refuses(struct credit_link link, const char *words)
{
	struct diag d = { .status = HD_OK };

	assert_int_equal(credit_check(&link, &d), HD_ERR_RANGE);
	assert_string_equal(d.message, words);
}

static void each_refusal_names_its_rule(void **state)
{
	struct credit_link link = thesis_link(12, 2);

	(void)state;
	link.lambda = 0;
	refuses(link, "lambda = 0: a rate must be above 0");
	link = thesis_link(12, 2);
	link.mu1 = -1;
	refuses(link, "mu1 = -1: a rate must be above 0");
	link = thesis_link(12, 2);
	link.mu2 = NAN;
	refuses(link, "mu2 = nan: a rate must be above 0");
	refuses(thesis_link(0, 2), "upstream capacity 0: must be at least 1 packet");
	refuses(thesis_link(2, 0), "downstream capacity 0: must be at least 1 packet");
	refuses(thesis_link(4000, 4000),
		"upstream 4000 and downstream 4000 need more than 4194304 states");
	link = thesis_link(12, 2);
	link.delay = -1;
	refuses(link, "credit delay -1: must not be negative");
	link.delay = 1;
	link.phases = 0;
	refuses(link, "0 delay phases: must be 1 to 64");
	link.phases = 64;
	link.downstream = 3;
	refuses(link,
		"upstream 12 and downstream 3 with delayed credits need more than 30000 states");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(experiment_1_meets_its_reference),
		cmocka_unit_test(experiment_2_meets_its_reference),
		cmocka_unit_test(response_is_not_monotone_for_a_small_source),
		cmocka_unit_test(tiny_chains_meet_every_probability),
		cmocka_unit_test(many_credits_leave_a_simple_queue_at_node_1),
		cmocka_unit_test(large_buffers_approach_jackson),
		cmocka_unit_test(both_solvers_agree_with_the_matrix_formula),
		cmocka_unit_test(rare_states_do_not_spoil_a_large_chain),
		cmocka_unit_test(balanced_large_chains_solve_to_the_last_digit),
		cmocka_unit_test(vectors_are_numbered_in_order),
		cmocka_unit_test(a_vanishing_delay_changes_nothing),
		cmocka_unit_test(credits_on_their_way_obey_little),
		cmocka_unit_test(one_credit_and_a_full_source_make_a_cycle),
		cmocka_unit_test(delay_costs_throughput_until_credits_cover_it),
		cmocka_unit_test(each_refusal_names_its_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
