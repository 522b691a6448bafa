/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/queue.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

static enum hd_status check_rates(double lambda, double mu, struct diag *d)
{
	if (!(lambda > 0 && lambda <= 1e100))
		return diag_fail(d, HD_ERR_RANGE, "arrival rate %g: must be %s", lambda,
				 lambda > 1e100 ? "at most 1e100" : "above 0");
	if (!(mu > 0 && mu <= 1e100))
		return diag_fail(d, HD_ERR_RANGE, "service rate %g: must be %s", mu,
				 mu > 1e100 ? "at most 1e100" : "above 0");
	return HD_OK;
}

static enum hd_status check_variability(double cs2, struct diag *d)
{
	if (cs2 >= 0 && cs2 <= 1e9)
		return HD_OK;
	return diag_fail(d, HD_ERR_RANGE, "service variability Cs2 = %g: must not be negative",
			 cs2);
}

enum hd_status queue_mg1(double lambda, double mu, double cs2, struct diag *d,
			 struct queue_result *out)
{
	if (check_rates(lambda, mu, d) != HD_OK || check_variability(cs2, d) != HD_OK)
		return d->status;
	double rho = lambda / mu;

	if (rho >= 1)
		return diag_fail(
			d, HD_ERR_RANGE,
			"lambda %g is not below mu %g: an unlimited queue would grow for ever",
			lambda, mu);
	/* Pollaczek and Khinchine. */
	double wait = rho * (1 + cs2) / (2 * mu * (1 - rho));

	*out = (struct queue_result){ .mean_queue = lambda * (wait + 1 / mu),
				      .response = wait + 1 / mu,
				      .wait = wait,
				      .utilisation = rho,
				      .throughput = lambda };
	return HD_OK;
}

enum hd_status queue_mm1n(double lambda, double mu, size_t capacity, struct diag *d,
			  struct queue_result *out)
{
	if (check_rates(lambda, mu, d) != HD_OK)
		return d->status;
	if (capacity < 1 || capacity > 100000000)
		return diag_fail(d, HD_ERR_RANGE, "capacity %zu: must be 1 to 100000000", capacity);
	/* Weights from the likelier end, so that none overflows. */
	bool falling = lambda <= mu;
	double ratio = falling ? lambda / mu : mu / lambda;
	double weight = 1, sum = 0, moment = 0;

	for (size_t k = 0; k <= capacity; k++) {
		sum += weight;
		moment += (double)(falling ? k : capacity - k) * weight;
		weight *= ratio;
	}
	double far_end = weight / ratio / sum;
	double full = falling ? far_end : 1 / sum;
	double empty = falling ? 1 / sum : far_end;
	struct queue_result r = { .mean_queue = moment / sum,
				  .utilisation = 1 - empty,
				  .blocking = full };

	r.throughput = mu * r.utilisation;
	r.response = r.mean_queue / r.throughput;
	r.wait = fmax(r.response - 1 / mu, 0);
	*out = r;
	return HD_OK;
}

static enum hd_status check_classes(const struct queue_class *classes, size_t n, struct diag *d)
{
	if (n < 1 || n > QUEUE_MAX_CLASSES)
		return diag_fail(d, HD_ERR_RANGE, "%zu classes: must be 1 to %d", n,
				 QUEUE_MAX_CLASSES);
	for (size_t k = 0; k < n; k++) {
		if (check_rates(classes[k].lambda, classes[k].mu, d) != HD_OK ||
		    check_variability(classes[k].cs2, d) != HD_OK)
			return d->status;
	}
	return HD_OK;
}

/* Mean rest of the service that an arrival finds, for a share `use` of time. */
static double residual(const struct queue_class *c, double use)
{
	return use * (1 + c->cs2) / (2 * c->mu);
}

/* Share of the server of each class; 0 for classes that starve. */
static void divide_server(const struct queue_class *classes, size_t n, double *use)
{
	double left = 1;

	for (size_t k = 0; k < n; k++) {
		use[k] = fmin(classes[k].lambda / classes[k].mu, left);
		left -= use[k];
	}
}

enum hd_status queue_priority(const struct queue_class *classes, size_t n, struct diag *d,
			      struct queue_result *out)
{
	double use[QUEUE_MAX_CLASSES], rest = 0, before = 0;

	if (check_classes(classes, n, d) != HD_OK)
		return d->status;
	divide_server(classes, n, use);
	for (size_t k = 0; k < n; k++)
		rest += residual(&classes[k], use[k]);
	for (size_t k = 0; k < n; k++) {
		const struct queue_class *c = &classes[k];
		double after = before + c->lambda / c->mu;
		struct queue_result r = { .utilisation = use[k],
					  .throughput = use[k] * c->mu,
					  .wait = INFINITY };

		if (after < 1)
			r.wait = rest / ((1 - before) * (1 - after));
		r.response = r.wait + 1 / c->mu;
		r.mean_queue = c->lambda * r.response;
		out[k] = r;
		before = fmin(after, 1);
	}
	return HD_OK;
}

double queue_conserved(const struct queue_class *classes, size_t n)
{
	double load = 0, rest = 0;

	for (size_t k = 0; k < n; k++) {
		double rho = classes[k].lambda / classes[k].mu;

		load += rho;
		rest += residual(&classes[k], rho);
	}
	return load < 1 ? load * rest / (1 - load) : INFINITY;
}

static enum hd_status check_shares(const struct share_class *classes, size_t n, double rate,
				   struct diag *d)
{
	if (n < 1 || n > QUEUE_MAX_CLASSES)
		return diag_fail(d, HD_ERR_RANGE, "%zu classes: must be 1 to %d", n,
				 QUEUE_MAX_CLASSES);
	if (!(rate > 0 && rate <= 1e100))
		return diag_fail(d, HD_ERR_RANGE, "link rate %g: must be above 0", rate);
	for (size_t k = 0; k < n; k++) {
		if (!(classes[k].offered > 0 && classes[k].offered <= 1e100))
			return diag_fail(d, HD_ERR_RANGE, "offered load %g: must be above 0",
					 classes[k].offered);
		if (!(classes[k].quantum > 0 && classes[k].quantum <= 1e100))
			return diag_fail(d, HD_ERR_RANGE, "weight %g: must be above 0",
					 classes[k].quantum);
	}
	return HD_OK;
}

/* Grants each class that asks for no more than its share; true if any did. */
static bool grant_modest(const struct share_class *classes, size_t n, double per_quantum,
			 double *got)
{
	bool any = false;

	for (size_t k = 0; k < n; k++) {
		if (got[k] < 0 && classes[k].offered <= per_quantum * classes[k].quantum) {
			got[k] = classes[k].offered;
			any = true;
		}
	}
	return any;
}

enum hd_status queue_share(const struct share_class *classes, size_t n, double rate, struct diag *d,
			   double *got)
{
	double per_quantum;

	if (check_shares(classes, n, rate, d) != HD_OK)
		return d->status;
	for (size_t k = 0; k < n; k++)
		got[k] = -1; /* not settled */
	do {
		double left = rate, quanta = 0;

		for (size_t k = 0; k < n; k++) {
			left -= fmax(got[k], 0);
			quanta += got[k] < 0 ? classes[k].quantum : 0;
		}
		per_quantum = quanta > 0 ? left / quanta : 0;
	} while (grant_modest(classes, n, per_quantum, got));
	for (size_t k = 0; k < n; k++) {
		if (got[k] < 0)
			got[k] = per_quantum * classes[k].quantum;
	}
	return HD_OK;
}

double queue_share_quantum(unsigned weight, unsigned packet_bytes)
{
	assert(weight > 0 && packet_bytes > 0);
	unsigned blocks = (packet_bytes + 63) / 64;
	unsigned packets = (weight + blocks - 1) / blocks;

	return (double)packets * packet_bytes;
}
