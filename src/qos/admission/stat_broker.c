/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/admission/stat_broker.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/eventq.h"
#include "base/rng.h"

#define UNIT                        HD_US
/* Tolerates rounding differences of sums in different orders. */
#define MORE_THAN(demand, capacity) ((demand) > (capacity) * (1 + 1e-9))

void stat_broker_init(struct stat_broker *b, const struct subnet *s, double share, double allowed)
{
	const struct topo *t = s->topo;

	assert(allowed > 0 && allowed < 1);
	*b = (struct stat_broker){ .subnet = s, .allowed = allowed };
	b->links = hd_alloc(t->n_ports, sizeof(*b->links));
	for (port_id p = 0; p < t->n_ports; p++) {
		if (s->rate_of_port[p].num)
			b->links[p].capacity = share * hd_rate_bps(s->rate_of_port[p]);
	}
}

void stat_broker_fini(struct stat_broker *b)
{
	for (port_id p = 0; p < b->subnet->topo->n_ports; p++)
		free(b->links[p].classes);
	free(b->links);
	free(b->sources);
}

static void link_add(struct stat_link *link, double peak, double mean)
{
	for (unsigned i = 0; i < link->n_classes; i++) {
		struct stat_class *c = &link->classes[i];

		if (!(c->peak < peak || c->peak > peak || c->mean < mean || c->mean > mean)) {
			c->n++;
			return;
		}
	}
	link->classes =
		hd_grow(link->classes, &link->cap, link->n_classes + 1u, sizeof(*link->classes));
	link->classes[link->n_classes++] = (struct stat_class){ peak, mean, 1 };
}

/* The bound with an additional source. */
static double bound_with(const struct stat_link *link, double peak, double mean)
{
	size_t n = link->n_classes;
	struct stat_class *all = hd_alloc(n + 1, sizeof(*all));

	if (n)
		memcpy(all, link->classes, n * sizeof(*all));
	all[n] = (struct stat_class){ peak, mean, 1 };
	double bound = stat_overflow(all, (unsigned)n + 1, link->capacity);

	free(all);
	return bound;
}

enum hd_status stat_broker_admit(struct stat_broker *b, const struct stat_request *r,
				 struct diag *d)
{
	const struct topo *t = b->subnet->topo;
	struct stat_source source = { r->peak, r->mean, { 0 } };
	enum hd_status status = path_walk(b->subnet, r->source, r->dlid, r->sl, &source.path);

	if (status != HD_OK)
		return diag_fail(d, status, "no path for SL %u", r->sl);
	for (uint32_t h = 0; h < source.path.n_hops; h++) {
		port_id p = source.path.port[h];
		double bound = bound_with(&b->links[p], r->peak, r->mean);

		if (bound > b->allowed)
			return diag_fail(
				d, HD_ERR_FULL,
				"link '%.40s'[%u] could be asked for too much %.3g %% of the time",
				topo_node_of(t, p)->name, t->ports[p].number, 100 * bound);
	}
	for (uint32_t h = 0; h < source.path.n_hops; h++)
		link_add(&b->links[source.path.port[h]], r->peak, r->mean);
	b->sources = hd_grow(b->sources, &b->cap, b->n_sources + 1u, sizeof(*b->sources));
	b->sources[b->n_sources++] = source;
	return HD_OK;
}

double stat_broker_bound(const struct stat_broker *b, port_id port)
{
	const struct stat_link *link = &b->links[port];

	return link->n_classes ? stat_overflow(link->classes, link->n_classes, link->capacity) : 0;
}

uint32_t stat_broker_users(const struct stat_broker *b, port_id port)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < b->links[port].n_classes; i++)
		n += b->links[port].classes[i].n;
	return n;
}

/* ---- watching ------------------------------------------------------------ */

struct watch {
	const struct stat_broker *b;
	struct rng rng;
	struct eventq q;
	bool *on;       /* per source */
	double *demand; /* per port */
	hd_time *since; /* per port: overloaded since; NEVER: not overloaded */
	hd_time *over;  /* per port: overload time up to `since` */
};

static void plan_next(struct watch *w, uint32_t i, hd_time now)
{
	const struct stat_source *s = &w->b->sources[i];
	double mean = w->on[i] ? 1 : s->peak / s->mean - 1;

	if (mean <= 0)
		return; /* always on */
	/* The off-time of a rarely active source may exceed the range of hd_time. */
	double wait = rng_exponential(&w->rng, mean) * (double)UNIT;

	eventq_push(&w->q, now + 1 + (hd_time)fmin(wait, 1e18), i);
}

static void toggle(struct watch *w, uint32_t i, hd_time now)
{
	const struct stat_source *s = &w->b->sources[i];

	w->on[i] = !w->on[i];
	for (uint32_t h = 0; h < s->path.n_hops; h++) {
		port_id p = s->path.port[h];

		w->demand[p] += w->on[i] ? s->peak : -s->peak;
		bool much = MORE_THAN(w->demand[p], w->b->links[p].capacity);

		if (much && w->since[p] == HD_TIME_NEVER) {
			w->since[p] = now;
		} else if (!much && w->since[p] != HD_TIME_NEVER) {
			w->over[p] += now - w->since[p];
			w->since[p] = HD_TIME_NEVER;
		}
	}
}

static void watch_run(struct watch *w, hd_time end)
{
	struct event e;

	for (uint32_t i = 0; i < w->b->n_sources; i++) {
		const struct stat_source *s = &w->b->sources[i];

		if (rng_uniform(&w->rng) < s->mean / s->peak)
			toggle(w, i, 0);
		plan_next(w, i, 0);
	}
	while (eventq_pop(&w->q, &e) && e.when < end) {
		toggle(w, (uint32_t)e.key, e.when);
		plan_next(w, (uint32_t)e.key, e.when);
	}
}

void stat_broker_watch(const struct stat_broker *b, uint64_t seed, uint32_t units, double *seen)
{
	uint32_t n = b->subnet->topo->n_ports;
	hd_time end = (hd_time)units * UNIT;
	struct watch w = {
		.b = b,
		.on = hd_alloc(b->n_sources + 1u, sizeof(*w.on)),
		.demand = hd_alloc(n, sizeof(*w.demand)),
		.since = hd_alloc(n, sizeof(*w.since)),
		.over = hd_alloc(n, sizeof(*w.over)),
	};

	rng_init(&w.rng, seed, 0);
	eventq_init(&w.q);
	for (port_id p = 0; p < n; p++)
		w.since[p] = HD_TIME_NEVER;
	watch_run(&w, end);
	for (port_id p = 0; p < n; p++) {
		if (w.since[p] != HD_TIME_NEVER)
			w.over[p] += end - w.since[p];
		seen[p] = (double)w.over[p] / (double)end;
	}
	eventq_fini(&w.q);
	free(w.on);
	free(w.demand);
	free(w.since);
	free(w.over);
}

void stat_broker_survey(const struct stat_broker *b, uint64_t seed, struct interval *seen)
{
	enum { RUNS = 16, UNITS = 5000 };
	const size_t n = b->subnet->topo->n_ports;
	double *each = hd_alloc(RUNS * n, sizeof(*each));

	for (uint64_t i = 0; i < RUNS; i++)
		stat_broker_watch(b, seed + i, UNITS, &each[i * n]);
	for (size_t p = 0; p < n; p++) {
		double runs[RUNS];

		for (size_t i = 0; i < RUNS; i++)
			runs[i] = each[i * n + p];
		seen[p] = interval_of(runs, RUNS, 0.95);
	}
	free(each);
}
