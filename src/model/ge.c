/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/ge.h"

#include <math.h>
#include <stdbool.h>

static bool is_rate(double x)
{
	return x > 0 && x <= 1e100;
}

static const char *bound_missed(double x)
{
	return x > 1e100 ? "at most 1e100" : "above 0";
}

static enum hd_status check_thresholds(const struct ge_queue *q, struct diag *d)
{
	size_t before = 1;

	for (size_t i = 0; i + 1 < q->n_regions; i++) {
		size_t t = q->threshold[i];

		if (t > q->capacity)
			return diag_fail(d, HD_ERR_RANGE,
					 "threshold %zu lies beyond the capacity %zu", t,
					 q->capacity);
		if (i == 0 && t < 2)
			return diag_fail(
				d, HD_ERR_RANGE,
				"threshold %zu: must be at least 2, the first service rate applies below it",
				t);
		if (i > 0 && t <= before)
			return diag_fail(d, HD_ERR_RANGE,
					 "threshold %zu follows %zu: thresholds must rise", t,
					 before);
		before = t;
	}
	return HD_OK;
}

static enum hd_status check_rates(const struct ge_queue *q, struct diag *d)
{
	if (!is_rate(q->lambda))
		return diag_fail(d, HD_ERR_RANGE, "arrival rate %g: must be %s", q->lambda,
				 bound_missed(q->lambda));
	for (size_t i = 0; i < q->n_regions; i++) {
		if (!is_rate(q->mu[i]))
			return diag_fail(d, HD_ERR_RANGE, "service rate %g: must be %s", q->mu[i],
					 bound_missed(q->mu[i]));
	}
	return HD_OK;
}

enum hd_status ge_check(const struct ge_queue *q, struct diag *d)
{
	if (q->n_regions < 1 || q->n_regions > GE_MAX_REGIONS)
		return diag_fail(d, HD_ERR_RANGE, "%zu service rates: must be 1 to %d",
				 q->n_regions, GE_MAX_REGIONS);
	if (check_rates(q, d) != HD_OK)
		return d->status;
	if (!(q->ca2 >= 1 && q->ca2 <= 1e9))
		return diag_fail(
			d, HD_ERR_RANGE,
			"arrivals: squared coefficient of variation Ca2 = %g: must be 1 to 1e9",
			q->ca2);
	if (!(q->cs2 >= 1 && q->cs2 <= 1e9))
		return diag_fail(
			d, HD_ERR_RANGE,
			"service: squared coefficient of variation Cs2 = %g: must be 1 to 1e9",
			q->cs2);
	if (q->capacity < 1 || q->capacity > GE_MAX_CAPACITY)
		return diag_fail(d, HD_ERR_RANGE, "capacity %zu: must be 1 to %d", q->capacity,
				 GE_MAX_CAPACITY);
	return check_thresholds(q, d);
}

struct ge_law ge_law_of(const struct ge_queue *q)
{
	struct ge_law law = {
		.sigma = 2 / (q->ca2 + 1),
		.tau = 2 / (q->cs2 + 1),
	};

	/* Equals sigma + tau - sigma * tau, computed without the subtraction. */
	law.s = law.sigma + law.tau * (q->ca2 - 1) / (q->ca2 + 1);
	law.delta0 = law.tau / law.s;
	return law;
}

double ge_rate(const struct ge_queue *q, size_t n)
{
	size_t i = 0;

	while (i + 1 < q->n_regions && n >= q->threshold[i])
		i++;
	return q->mu[i];
}

/* One past the last level of region i. */
static size_t region_end(const struct ge_queue *q, size_t i)
{
	return i + 1 < q->n_regions ? q->threshold[i] : q->capacity + 1;
}

static void scale(double *p, size_t n, double factor)
{
	for (size_t k = 0; k < n; k++)
		p[k] *= factor;
}

/*
 * Level by level: `above` is the weight that reaches over the cut below n,
 * A(n - 1) of the derivation; within a region it changes by the factor x.
 */
struct pass {
	double *p;
	size_t n; /* the next level */
	double above;
	double sum;
};

static void pass_levels(struct pass *a, size_t end, double c, double x)
{
	for (; a->n < end; a->n++) {
		a->p[a->n] = a->above * c;
		a->sum += a->p[a->n];
		a->above *= x;
		if (a->above > 0x1p400) {
			scale(a->p, a->n + 1, 0x1p-400);
			a->sum *= 0x1p-400;
			a->above *= 0x1p-400;
		}
	}
}

void ge_solve(const struct ge_queue *q, double *p)
{
	const struct ge_law law = ge_law_of(q);
	const double batches = law.sigma * q->lambda;
	const double stay = (q->ca2 - 1) / (q->ca2 + 1);    /* 1 - sigma */
	const double instant = (q->cs2 - 1) / (q->cs2 + 1); /* 1 - tau */
	struct pass a = { .n = 1, .above = law.delta0, .sum = 1 };
	const size_t top = q->capacity;

	a.p = p;
	p[0] = 1;
	for (size_t i = 0; i < q->n_regions; i++) {
		size_t end = region_end(q, i);
		double c = batches * law.s / (law.tau * q->mu[i] + instant * batches);

		pass_levels(&a, end < top ? end : top, c, stay + c);
	}
	p[top] = a.above * batches / (law.tau * q->mu[q->n_regions - 1]);
	scale(p, top + 1, 1 / (a.sum + p[top]));
}

struct ge_result ge_des_measure(const struct ge_queue *q, const double *p)
{
	const struct ge_law law = ge_law_of(q);
	const double stay = (q->ca2 - 1) / (q->ca2 + 1);
	struct ge_result r = { .blocking = law.delta0 * p[0] };
	double busy = 0;
	size_t n = 1;

	/* Horner: each level below the top costs another factor `stay`. */
	for (size_t i = 0; i < q->n_regions; i++) {
		double share = 0;

		for (; n < region_end(q, i); n++) {
			r.blocking = r.blocking * stay + p[n];
			r.mean_queue += (double)n * p[n];
			share += p[n];
		}
		busy += share;
		r.throughput += q->mu[i] * share;
	}
	r.utilisation = busy;
	r.response = r.mean_queue / r.throughput;
	return r;
}
