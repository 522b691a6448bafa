/* SPDX-License-Identifier: BSD-2-Clause */
#include "study/vl_sharing_model.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "qos/tables/arbiter.h"

#define TURNS 400000 /* number of grants for measuring the speeds */

/* Load of a port's flows on each of its VLs. */
struct demand {
	double rate;      /* packets per us */
	double variation; /* rate-weighted sum of the gaps' C2 */
	double bytes;     /* rate-weighted sum of mean packet sizes */
	uint32_t n_paced, n_saturating;
	const struct sim_flow *saturating; /* the last one */
	const struct sim_flow *paced;
};

static double mean_bytes(const struct sim_flow *f)
{
	return f->size_scv > 0 ? f->size_mean + f->size_overhead : f->bytes;
}

static double gap_variation(const struct sim_flow *f)
{
	switch (f->kind) {
	case SIM_POISSON:
		return 1;
	case SIM_GE:
		return f->scv;
	default:
		return 0; /* regular, or a law outside the model */
	}
}

static void add_flow(const struct fabric *fabric, const struct sim_flow *f, struct demand *vls)
{
	const struct sim_port *port =
		&fabric->setup.ports[fabric->setup.nodes[f->source].first_port + 1];
	unsigned vl = sl2vl_of(&fabric->subnet, port->origin)->vl[f->sl];

	if (f->management || vl >= port->vls)
		return;
	struct demand *d = &vls[vl];

	if (f->kind == SIM_SATURATING) {
		d->n_saturating++;
		d->saturating = f;
	} else if (f->interval.num > 0) {
		double share = 1;
		if (f->kind == SIM_ON_OFF || f->kind == SIM_PARETO)
			share = (double)f->mean_on / (double)(f->mean_on + f->mean_off);
		double rate = share * (double)f->interval.den * 1e6 / (double)f->interval.num *
			      (f->packets > 1 ? f->packets : 1);

		d->n_paced++;
		d->paced = f;
		d->rate += rate;
		d->variation += rate * gap_variation(f);
		d->bytes += rate * mean_bytes(f);
	}
}

/* Simulated grants of one port; each VL of `vls` always has a packet. */
struct arbiter_turns {
	const struct sim_port *port;
	const struct demand *vls;
	unsigned home; /* VLs that carry the home VL's packets: */
	uint32_t own, all;
	uint32_t drawn[N_DATA_VLS];
};

/*
 * The i-th point of a VL's Halton sequence, in (0, 1): sizes are drawn evenly,
 * not at random, so that means are accurate to five digits.
 */
static double even_point(unsigned vl, uint32_t i)
{
	static const uint8_t primes[N_DATA_VLS] = { 2,  3,  5,  7,  11, 13, 17, 19,
						    23, 29, 31, 37, 41, 43, 47 };
	double point = 0, digit = 1;

	for (i++; i; i /= primes[vl]) {
		digit /= primes[vl];
		point += digit * (double)(i % primes[vl]);
	}
	return point;
}

/* A generalised exponential size (mathematically as rng_ge). */
static double even_payload(const struct sim_flow *f, double u)
{
	double tau = 2 / (f->size_scv + 1);

	return u < tau ? -log(u / tau) * f->size_mean / tau : 0;
}

static uint32_t size_of(struct arbiter_turns *t, unsigned vl)
{
	const struct demand *d = t->own >> vl & 1 ? &t->vls[t->home] : &t->vls[vl];
	const struct sim_flow *f = t->own >> vl & 1 ? d->paced : d->saturating;

	if (f->size_scv <= 0)
		return f->bytes;
	double payload = ceil(even_payload(f, even_point(vl, t->drawn[vl]++)));
	double most = f->bytes - f->size_overhead;

	payload = payload < 1 ? 1 : payload > most ? most : payload;
	return (uint32_t)payload + f->size_overhead;
}

/* Packets of the home VL per us, and C2 of the time between them. */
static double speed_of(struct arbiter_turns *t, const struct arbiter_table *table, bool strict,
		       double *variation)
{
	struct arbiter a;
	double sum = 0, squares = 0, since = 0, total = 0;
	uint64_t n = 0;

	arbiter_init(&a, table);
	for (unsigned i = 0; i < TURNS; i++) {
		bool is_high;
		unsigned vl = strict ? (unsigned)__builtin_ctz(t->all)
				     : arbiter_choose(&a, table, t->all, &is_high);
		if (vl == 16)
			break;
		uint32_t bytes = size_of(t, vl);
		double d = (double)hd_rate_duration(t->port->rate, bytes) / 1e6;

		if (!strict)
			arbiter_charge(&a, is_high, blocks_of(bytes));
		since += d;
		total += d;
		if (!(t->own >> vl & 1))
			continue;
		sum += since;
		squares += since * since;
		since = 0;
		n++;
	}
	double mean = n ? sum / (double)n : 0;

	*variation = mean > 0 ? squares / (double)n / (mean * mean) - 1 : 0;
	return total > 0 ? (double)n / total : 0;
}

static enum hd_status solve(const struct ge_queue *q, struct diag *d, struct ge_result *out)
{
	enum hd_status status = ge_check(q, d);

	if (status != HD_OK)
		return status;
	double *p = hd_alloc(q->capacity + 1, sizeof(*p));

	ge_solve(q, p);
	*out = ge_des_measure(q, p);
	free(p);
	return HD_OK;
}

/* The first k VLs without traffic that the home VL may acquire. */
static uint32_t acquired_of(const struct sim_vl_sharing *r, const struct demand *demand,
			    unsigned vls, unsigned home, unsigned k)
{
	uint32_t chosen = 0;

	for (unsigned vl = 0; vl < vls && k > 0; vl++) {
		if ((r->shareable[home] >> vl & 1) && vl != home && !demand[vl].n_paced &&
		    !demand[vl].n_saturating) {
			chosen |= 1u << vl;
			k--;
		}
	}
	return chosen;
}

static enum hd_status forecast(const struct fabric *fabric, uint32_t port, const struct demand *vls,
			       struct diag *d, struct vl_forecast *f)
{
	const struct sim_vl_sharing *r = &fabric->setup.vl_sharing;
	const struct sim_port *p = &fabric->setup.ports[port];
	const struct demand *own = &vls[f->vl];
	bool strict = fabric->setup.arbiter == SIM_STRICT || p->vls == 1;
	struct arbiter_turns t = { .port = p, .vls = vls, .home = f->vl };
	struct arbiter_table table;

	arbiter_table_init(&table,
			   &fabric->subnet.vlarb_tables[fabric->subnet.vlarb_of_port[p->origin]]);
	for (unsigned vl = 0; vl < p->vls; vl++) {
		f->rivals += vl != f->vl && vls[vl].n_saturating > 0;
		f->ignored += vl != f->vl && vls[vl].n_paced > 0;
		if (vls[vl].n_saturating)
			t.all |= 1u << vl;
	}
	f->n_flows = own->n_paced;
	f->ca2 = own->variation / own->rate;
	f->exact_gaps = own->n_paced == 1 && f->ca2 >= 1;
	f->with.lambda = own->rate;
	f->with.n_regions = 1;
	for (unsigned k = 0; k <= r->n_thresholds[f->vl]; k++) {
		double variation;
		uint32_t acquired = acquired_of(r, vls, p->vls, f->vl, k);

		if (k && t.own == (1u << f->vl | acquired))
			break; /* no further VL to acquire */
		t.own = 1u << f->vl | acquired;
		t.all |= t.own;
		f->with.mu[k] = speed_of(&t, &table, strict, &variation);
		if (k == 0)
			f->cs2 = variation;
		else
			f->with.threshold[k - 1] = r->thresholds[f->vl][k - 1];
		f->with.n_regions = k + 1;
	}
	f->with.ca2 = f->ca2 > 1 ? f->ca2 : 1;
	f->with.cs2 = f->cs2 > 1 ? f->cs2 : 1;
	f->without = f->with;
	f->without.n_regions = 1;
	f->with.capacity = (size_t)r->capacity * f->with.n_regions;
	f->without.capacity = r->capacity;
	enum hd_status status = solve(&f->with, d, &f->with_result);

	return status == HD_OK ? solve(&f->without, d, &f->without_result) : status;
}

enum hd_status study_vl_sharing_forecast(const struct fabric *fabric, size_t most, struct diag *d,
					 struct vl_forecast *out, size_t *n)
{
	struct demand *demand = hd_alloc(N_DATA_VLS, sizeof(*demand));
	enum hd_status status = HD_OK;

	*n = 0;
	for (uint32_t node = 0; node < fabric->setup.n_nodes; node++) {
		if (fabric->setup.nodes[node].kind != SIM_END || !fabric->setup.vl_sharing.capacity)
			continue;
		for (unsigned vl = 0; vl < N_DATA_VLS; vl++)
			demand[vl] = (struct demand){ 0 };
		for (uint32_t i = 0; i < fabric->n_flows; i++) {
			if (fabric->flows[i].source == node)
				add_flow(fabric, &fabric->flows[i], demand);
		}
		uint32_t port = fabric->setup.nodes[node].first_port + 1;

		for (unsigned vl = 0; vl < N_DATA_VLS && status == HD_OK; vl++) {
			if (!demand[vl].n_paced || demand[vl].n_saturating || *n == most)
				continue;
			out[*n] = (struct vl_forecast){ .port = port, .vl = vl };
			status = forecast(fabric, port, demand, d, &out[(*n)++]);
		}
	}
	free(demand);
	return status;
}
