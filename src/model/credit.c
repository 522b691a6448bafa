/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/credit.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/memory.h"
#include "model/credit_states.h"
#include "model/gth.h"

/*
 * With delay the states fill a space of many dimensions, in which separators
 * are large: their factors take about 30 s and 500 MB.
 */
#define MAX_DELAYED_STATES 30000

/*
 * Bytes that solving takes. Nested dissection of a grid leaves factors of about
 * n log(n) entries (George 1973), n states with shorter side m: n log(m) and a
 * few vectors. Of many dimensions: a share of all pairs. The factors are those
 * measured with SuperLU, rounded up.
 */
static double bytes_needed(const struct credit_link *link, double n)
{
	double side =
		(double)(link->upstream < link->downstream ? link->upstream : link->downstream);

	if (n <= CREDIT_DENSE_STATES)
		return n * n * sizeof(double);
	if (link->delay > 0)
		return 0.75 * n * n;
	return n * (470 + 100 * log2(1 + side));
}

static enum hd_status check_rate(const char *name, double value, struct diag *d)
{
	if (value > 0 && value <= 1e100)
		return HD_OK;
	return diag_fail(d, HD_ERR_RANGE, "%s = %g: a rate must be %s", name, value,
			 value > 1e100 ? "at most 1e100" : "above 0");
}

static enum hd_status check_size(const struct credit_link *link, struct diag *d)
{
	if (link->upstream < 1)
		return diag_fail(d, HD_ERR_RANGE, "upstream capacity 0: must be at least 1 packet");
	if (link->downstream < 1)
		return diag_fail(d, HD_ERR_RANGE,
				 "downstream capacity 0: must be at least 1 packet");
	size_t limit = link->delay > 0 ? MAX_DELAYED_STATES : SPARSE_MAX_STATES;

	if (credit_states_of(link, limit).n == 0)
		return diag_fail(d, HD_ERR_RANGE,
				 "upstream %zu and downstream %zu%s need more than %zu states",
				 link->upstream, link->downstream,
				 link->delay > 0 ? " with delayed credits" : "", limit);
	return HD_OK;
}

enum hd_status credit_check(const struct credit_link *link, struct diag *d)
{
	if (check_rate("lambda", link->lambda, d) != HD_OK ||
	    check_rate("mu1", link->mu1, d) != HD_OK || check_rate("mu2", link->mu2, d) != HD_OK)
		return d->status;
	if (!(link->delay >= 0 && link->delay <= 1e100))
		return diag_fail(d, HD_ERR_RANGE, "credit delay %g: must not be negative",
				 link->delay);
	if (link->delay > 0 && (link->phases < 1 || link->phases > CREDIT_MAX_PHASES))
		return diag_fail(d, HD_ERR_RANGE, "%u delay phases: must be 1 to %d", link->phases,
				 CREDIT_MAX_PHASES);
	return check_size(link, d);
}

static enum hd_status solve_dense(const struct sparse_chain *c, double *p)
{
	double *rate = hd_alloc(c->n * c->n, sizeof(*rate));

	for (size_t s = 0; s < c->n; s++) {
		for (size_t e = c->start[s]; e < c->start[s + 1]; e++)
			rate[s * c->n + (size_t)c->target[e]] = c->rate[e];
	}
	enum hd_status status = gth_solve(rate, c->n, p);

	free(rate);
	return status;
}

static enum hd_status solve_sparse(const struct credit_link *link,
				   const struct credit_states *states, const struct sparse_chain *c,
				   struct diag *d, double *p)
{
	size_t pivot = credit_common_state(link, states);
	int *place = NULL;

	if (states->dimensions == 1) {
		place = hd_alloc(states->n, sizeof(*place));
		credit_dissect(link, place);
	}
	enum hd_status status = sparse_solve(c, pivot, place, d, p);

	free(place);
	return status;
}

/* Sums over all states from which the measures follow. */
struct sums {
	double mean1, mean2, in_flight;
	double full; /* node 1 is */
	double open; /* it is not */
	double link; /* node 1 transmits */
	double busy; /* node 2 is */
};

static struct sums add_up(const struct credit_link *link, const struct credit_states *states,
			  const double *p)
{
	unsigned v[CREDIT_MAX_DIMENSIONS] = { 0 };
	struct sums sums = { 0 };
	size_t k = 0;

	do {
		size_t back = 0;
		double column = 0;

		for (size_t x = 1; x < states->dimensions; x++)
			back += v[x];
		for (size_t i = 0; i <= link->upstream; i++) {
			double q = p[i * states->n_vectors + k];

			column += q;
			sums.mean1 += (double)i * q;
			if (i < link->upstream)
				sums.open += q;
			if (i > 0 && v[0] + back < link->downstream)
				sums.link += q;
		}
		sums.full += p[link->upstream * states->n_vectors + k];
		sums.mean2 += v[0] * column;
		sums.in_flight += (double)back * column;
		if (v[0] > 0)
			sums.busy += column;
		k++;
	} while (credit_vector_next(link, v, states->dimensions));
	return sums;
}

static void measure(const struct credit_link *link, const struct sums *sums,
		    struct credit_result *r)
{
	double in = link->lambda * sums->open;
	double over = link->mu1 * sums->link;
	double out = link->mu2 * sums->busy;

	r->mean_upstream = sums->mean1;
	r->mean_downstream = sums->mean2;
	r->mean = sums->mean1 + sums->mean2;
	r->throughput = out; /* a sum of probabilities, without 1 - x */
	r->response = r->mean / r->throughput;
	r->loss = sums->full;
	r->in_flight = sums->in_flight;
	r->flow_error = fmax(fabs(in - out), fabs(over - out)) / out;
}

/* Sums the probabilities of (i, j) over the phases of the credits. */
static void fold(const struct credit_link *link, const struct credit_states *states,
		 const double *p, double *grid)
{
	unsigned v[CREDIT_MAX_DIMENSIONS] = { 0 };
	size_t width = link->downstream + 1, k = 0;

	for (size_t s = 0; s < (link->upstream + 1) * width; s++)
		grid[s] = 0;
	do {
		for (size_t i = 0; i <= link->upstream; i++)
			grid[i * width + v[0]] += p[i * states->n_vectors + k];
		k++;
	} while (credit_vector_next(link, v, states->dimensions));
}

enum hd_status credit_solve(const struct credit_link *link, struct diag *d, double *p,
			    struct credit_result *out)
{
	struct credit_states states = credit_states_of(link, SPARSE_MAX_STATES);
	struct credit_result r = { .states = states.n, .method = "GTH" };
	struct sparse_chain chain;
	enum hd_status status = memory_expect(bytes_needed(link, (double)states.n),
					      "the factors of the credit model's chain", d);

	if (status != HD_OK)
		return status;
	const char *before = memory_for("factors of the credit model's chain");
	double *q = hd_alloc(states.n, sizeof(*q));

	credit_chain_init(&chain, link, &states);
	if (states.n <= CREDIT_DENSE_STATES) {
		status = solve_dense(&chain, q);
	} else {
		status = solve_sparse(link, &states, &chain, d, q);
		r.method = "sparse LU";
	}
	if (status == HD_OK) {
		struct sums sums = add_up(link, &states, q);

		measure(link, &sums, &r);
		r.residual = sparse_residual(&chain, q);
		if (p)
			fold(link, &states, q, p);
		*out = r;
	}
	sparse_chain_fini(&chain);
	free(q);
	memory_for(before);
	return status;
}
