/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/maxent.h"

#include <math.h>

const char *const maxent_reading_names[] = { "joined", "separate", NULL };

double maxent_g(const struct maxent *m, size_t region)
{
	return exp(m->log_g[region]);
}

/* First level of region i. */
static size_t region_start(const struct ge_queue *q, size_t i)
{
	return i ? q->threshold[i - 1] : 1;
}

void maxent_joined(const struct ge_queue *q, struct maxent *out)
{
	const struct ge_law law = ge_law_of(q);
	const double stay = (q->ca2 - 1) / (q->ca2 + 1);
	const double instant = (q->cs2 - 1) / (q->cs2 + 1);
	const double batches = law.sigma * q->lambda;
	double log_k = log(law.delta0);
	struct maxent m = { .n_regions = q->n_regions };

	for (size_t i = 0; i < q->n_regions; i++) {
		double c = batches * law.s / (law.tau * q->mu[i] + instant * batches);
		double start = (double)region_start(q, i);

		m.x[i] = stay + c;
		m.log_x[i] = log(m.x[i]);
		m.log_g[i] = log_k + log(c) - start * m.log_x[i];
		if (i + 1 < q->n_regions)
			log_k += ((double)q->threshold[i] - start) * m.log_x[i];
		/* 1 / (1 - (1 - tau) x) without the pole or a difference. */
		m.y = (law.tau * q->mu[i] + instant * batches) / (law.tau * law.s * q->mu[i]);
	}
	*out = m;
}

struct maxent_infinite maxent_infinite_of(double rho, double ca2, double cs2)
{
	double mean = rho / 2 * (1 + (ca2 + rho * cs2) / (1 - rho));

	return (struct maxent_infinite){
		.mean_queue = mean,
		.x = (mean - rho) / mean,
		.g = rho * rho / ((1 - rho) * (mean - rho)),
	};
}

/* log P(n) / P(0) of the form without y. */
static double log_weight(const struct maxent *m, size_t region, size_t n)
{
	return m->log_g[region] + (double)n * m->log_x[region];
}

/*
 * The y that makes lambda (1 - blocking) equal the sum of mu_i P(region i):
 * linear in the weight of the top level, all others being known.
 */
static double balance_y(const struct ge_queue *q, const struct maxent *m)
{
	const struct ge_law law = ge_law_of(q);
	const double stay = (q->ca2 - 1) / (q->ca2 + 1);
	double lost = law.delta0, sum = 1, flow = 0;
	size_t i = 0;

	for (size_t n = 1; n < q->capacity; n++) {
		while (i + 1 < q->n_regions && n >= q->threshold[i])
			i++;
		double w = exp(log_weight(m, i, n));

		lost = lost * stay + w;
		sum += w;
		flow += q->mu[i] * w;
	}
	lost *= stay;

	size_t last = q->n_regions - 1;
	double top = (q->lambda * (sum - lost) - flow) / q->mu[last];

	return top / exp(log_weight(m, last, q->capacity));
}

enum hd_status maxent_separate(const struct ge_queue *q, struct diag *d, struct maxent *out)
{
	struct maxent m = { .n_regions = q->n_regions };

	for (size_t i = 0; i < q->n_regions; i++) {
		double rho = q->lambda / q->mu[i];

		if (rho >= 1)
			return diag_fail(
				d, HD_ERR_UNFIT,
				"the form of separate regions needs lambda < mu: %g is not below %g",
				q->lambda, q->mu[i]);
		struct maxent_infinite f = maxent_infinite_of(rho, q->ca2, q->cs2);

		m.x[i] = f.x;
		m.log_x[i] = log(f.x);
		m.log_g[i] = log(f.g);
	}
	m.y = balance_y(q, &m);
	if (!(m.y >= 0) || !isfinite(m.y))
		return diag_fail(d, HD_ERR_UNFIT,
				 "the form of separate regions gives P(%zu) < 0 here", q->capacity);
	*out = m;
	return HD_OK;
}

void maxent_evaluate(const struct ge_queue *q, const struct maxent *m, double *p)
{
	double top = 0, sum = 0;
	size_t i = 0;

	p[0] = 0; /* logarithms first, so that the largest can be taken off */
	for (size_t n = 1; n <= q->capacity; n++) {
		while (i + 1 < m->n_regions && n >= q->threshold[i])
			i++;
		p[n] = log_weight(m, i, n);
		if (n == q->capacity)
			p[n] += log(m->y);
		top = fmax(top, p[n]);
	}
	for (size_t n = 0; n <= q->capacity; n++) {
		p[n] = exp(p[n] - top);
		sum += p[n];
	}
	for (size_t n = 0; n <= q->capacity; n++)
		p[n] /= sum;
}
