/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/batch.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "model/gth.h"

struct batch_queue batch_queue_of(const struct ge_queue *q)
{
	struct batch_queue b = {
		.service = *q,
		.n_classes = 1,
		.classes = { { q->lambda, q->ca2 } },
	};

	for (size_t i = 0; i < q->n_regions; i++)
		b.room[i] = q->capacity;
	return b;
}

/* The queue that class k alone would see: its rates and its law. */
static struct ge_queue class_queue(const struct batch_queue *q, size_t k)
{
	struct ge_queue alone = q->service;

	alone.lambda = q->classes[k].lambda;
	alone.ca2 = q->classes[k].ca2;
	return alone;
}

static enum hd_status check_rooms(const struct batch_queue *q, struct diag *d)
{
	const struct ge_queue *s = &q->service;

	for (size_t i = 0; i < s->n_regions; i++) {
		size_t need = i + 1 < s->n_regions ? s->threshold[i] : s->capacity;

		if (q->room[i] > s->capacity)
			return diag_fail(d, HD_ERR_RANGE, "room %zu exceeds the capacity %zu",
					 q->room[i], s->capacity);
		if (q->room[i] < need)
			return diag_fail(
				d, HD_ERR_RANGE,
				"room %zu of region %zu is less than the level %zu that ends it",
				q->room[i], i + 1, need);
	}
	return HD_OK;
}

enum hd_status batch_check(const struct batch_queue *q, struct diag *d)
{
	if (q->n_classes < 1 || q->n_classes > BATCH_MAX_CLASSES)
		return diag_fail(d, HD_ERR_RANGE, "%zu classes: must be 1 to %d", q->n_classes,
				 BATCH_MAX_CLASSES);
	for (size_t k = 0; k < q->n_classes; k++) {
		struct ge_queue alone = class_queue(q, k);

		if (ge_check(&alone, d) != HD_OK)
			return d->status;
	}
	if (q->service.capacity > BATCH_MAX_CAPACITY)
		return diag_fail(d, HD_ERR_RANGE,
				 "capacity %zu: classes and fixed rooms are solved up to %d",
				 q->service.capacity, BATCH_MAX_CAPACITY);
	return check_rooms(q, d);
}

static size_t region_of(const struct ge_queue *q, size_t n)
{
	size_t i = 0;

	while (i + 1 < q->n_regions && n >= q->threshold[i])
		i++;
	return i;
}

/* Batches of one class: up from n, geometric, what does not fit is lost. */
static void add_arrivals(const struct batch_queue *q, size_t k, double *rate)
{
	const struct ge_queue alone = class_queue(q, k);
	const struct ge_law law = ge_law_of(&alone);
	const double stay = (alone.ca2 - 1) / (alone.ca2 + 1);
	const size_t states = alone.capacity + 1;

	for (size_t n = 0; n < states; n++) {
		size_t room = q->room[region_of(&alone, n)];
		double left = law.sigma * alone.lambda * (n == 0 ? law.delta0 : 1);

		for (size_t to = n + 1; to < room; to++) {
			rate[n * states + to] += left * law.sigma;
			left *= stay;
		}
		if (room > n)
			rate[n * states + room] += left;
	}
}

/* Completions: down from n by a geometric number, at most to empty. */
static void add_services(const struct ge_queue *q, double *rate)
{
	const struct ge_law law = ge_law_of(q);
	const double instant = (q->cs2 - 1) / (q->cs2 + 1);
	const size_t states = q->capacity + 1;

	for (size_t n = 1; n < states; n++) {
		double left = law.tau * ge_rate(q, n);

		for (size_t to = n - 1; to > 0; to--) {
			rate[n * states + to] += left * law.tau;
			left *= instant;
		}
		rate[n * states] += left;
	}
}

enum hd_status batch_solve(const struct batch_queue *q, struct diag *d, double *p)
{
	const size_t states = q->service.capacity + 1;
	struct ge_queue service = class_queue(q, 0);
	double *rate = hd_alloc(states * states, sizeof(*rate));

	for (size_t k = 0; k < q->n_classes; k++)
		add_arrivals(q, k, rate);
	add_services(&service, rate);

	/* Every level leads down and up, unless a rate is lost to rounding. */
	enum hd_status status = gth_solve(rate, states, p);

	free(rate);
	if (status != HD_OK)
		return diag_fail(
			d, HD_ERR_RANGE,
			"rates of arrival and service are too far apart to be computed with");
	return HD_OK;
}

/* The share of class k's customers that are lost. */
static double class_blocking(const struct batch_queue *q, const double *p, size_t k)
{
	const struct ge_queue alone = class_queue(q, k);
	const double stay = (alone.ca2 - 1) / (alone.ca2 + 1);
	double lost = 0;

	for (size_t n = 0; n <= alone.capacity; n++) {
		size_t room = q->room[region_of(&alone, n)];
		double weight = n ? 1 : ge_law_of(&alone).delta0;

		lost += weight * p[n] * pow(stay, (double)(room - n));
	}
	return lost;
}

/*
 * The mean number of class k present, by Little: the time that the customers
 * of a batch will spend, over all levels at which it may arrive. A customer that finds
 * n > 0 ahead waits for the rest of one service, 1/(tau mu) on average since a
 * service under way is not an instant one, and for n - 1 whole ones.
 */
static double class_mean(const struct batch_queue *q, const double *p, size_t k)
{
	const struct ge_queue alone = class_queue(q, k);
	const struct ge_law law = ge_law_of(&alone);
	const double stay = (alone.ca2 - 1) / (alone.ca2 + 1);
	const double mu = alone.mu[0];
	double mean = 0;

	for (size_t n = 0; n <= alone.capacity; n++) {
		double weight = p[n] * (n ? 1 : law.delta0);

		for (size_t ahead = n; ahead < q->room[0]; ahead++) {
			mean += weight * (1 / (law.tau * mu) + (double)ahead / mu);
			weight *= stay;
		}
	}
	return mean * law.sigma * alone.lambda;
}

struct ge_result batch_measure_class(const struct batch_queue *q, const double *p,
				     size_t class_index)
{
	double lambda = q->classes[class_index].lambda;
	struct ge_result r = { .blocking = class_blocking(q, p, class_index) };

	r.throughput = lambda * (1 - r.blocking);
	if (q->service.n_regions > 1) {
		r.mean_queue = r.response = r.utilisation = NAN;
		return r;
	}
	r.mean_queue = class_mean(q, p, class_index);
	r.response = r.mean_queue / r.throughput;
	r.utilisation = r.throughput / q->service.mu[0];
	return r;
}

struct ge_result batch_measure(const struct batch_queue *q, const double *p)
{
	struct ge_result r = { 0 };
	double offered = 0, lost = 0;

	for (size_t n = 1; n <= q->service.capacity; n++) {
		r.mean_queue += (double)n * p[n];
		r.utilisation += p[n];
		r.throughput += ge_rate(&q->service, n) * p[n];
	}
	for (size_t k = 0; k < q->n_classes; k++) {
		offered += q->classes[k].lambda;
		lost += q->classes[k].lambda * class_blocking(q, p, k);
	}
	r.blocking = lost / offered;
	r.response = r.mean_queue / r.throughput;
	return r;
}
