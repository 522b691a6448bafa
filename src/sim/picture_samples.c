/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/picture.h"
#include "sim/tables_parts.h"

#define FIRST_GUESS (10 * HD_US)
#define TIERS       16

static uint32_t tier_of(const struct fabric *b, uint32_t port)
{
	const struct sim_setup *s = &b->setup;
	const struct topo_node *v =
		&b->topo.nodes[s->nodes[s->ports[port].node].node];

	return v->tier < TIERS ? v->tier : TIERS - 1;
}

/* One class per direction of a link, or per ordered pair of tiers. */
static void classes_init(struct sim_samples *x)
{
	const struct sim_setup *s = &x->build->setup;
	uint32_t plugged = 0;

	for (uint32_t i = 0; i < s->n_ports; i++)
		plugged += s->ports[i].peer != SIM_NONE;
	x->by_tier = plugged > SIM_PICTURE_LINKS;
	x->n_classes = x->by_tier ? TIERS * TIERS : plugged;
	x->class_of = hd_alloc(s->n_ports + 1, sizeof(*x->class_of));
	x->members = hd_alloc(x->n_classes + 1, sizeof(*x->members));
	plugged = 0;
	for (uint32_t i = 0; i < s->n_ports; i++) {
		x->class_of[i] = SIM_NONE;
		if (s->ports[i].peer == SIM_NONE)
			continue;
		x->class_of[i] =
			x->by_tier ? tier_of(x->build, i) * TIERS +
					     tier_of(x->build, s->ports[i].peer)
				   : plugged;
		x->members[x->class_of[i]]++;
		plugged++;
	}
}

void sim_samples_init(struct sim_samples *x, const struct fabric *b,
		      hd_time every)
{
	size_t rows = b->scenario->n_traffic, n = SIM_MAX_SAMPLES;

	*x = (struct sim_samples){ .build = b, .every = every };
	if (!every)
		x->every = b->rules.stop ? b->rules.stop / 64 + 1 : FIRST_GUESS;
	classes_init(x);
	x->time = hd_alloc(n, sizeof(*x->time));
	x->used = hd_alloc(n * x->n_classes + 1, sizeof(*x->used));
	x->waited = hd_alloc(n * x->n_classes + 1, sizeof(*x->waited));
	x->made = hd_alloc(n * rows, sizeof(*x->made));
	x->got = hd_alloc(n * rows, sizeof(*x->got));
	x->delay = hd_alloc(n * rows, sizeof(*x->delay));
	x->packets = hd_alloc(n * rows, sizeof(*x->packets));
}

void sim_samples_fini(struct sim_samples *x)
{
	free(x->class_of);
	free(x->members);
	free(x->time);
	free(x->used);
	free(x->waited);
	free(x->made);
	free(x->got);
	free(x->delay);
	free(x->packets);
}

hd_time sim_samples_next(const struct sim_samples *x, const struct sim *s)
{
	hd_time now = sim_now(s);

	if (now > HD_TIME_NEVER - x->every)
		return HD_TIME_NEVER;
	return (now / x->every + 1) * x->every;
}

static void take_ports(struct sim_samples *x, const struct sim_metrics *m)
{
	double *used = &x->used[x->n * x->n_classes];
	double *waited = &x->waited[x->n * x->n_classes];
	double time = (double)(m->to - m->from);

	for (uint32_t k = 0; k < x->n_classes; k++)
		used[k] = waited[k] = 0;
	for (uint32_t i = 0; i < m->n_ports; i++) {
		uint32_t k = x->class_of[i];

		if (k == SIM_NONE)
			continue;
		used[k] += m->ports[i].utilisation * time / x->members[k];
		waited[k] += m->ports[i].wait * time / x->members[k];
	}
}

static void take_flows(struct sim_samples *x, const struct sim_metrics *m)
{
	const struct fabric *b = x->build;
	size_t rows = b->scenario->n_traffic, base = x->n * rows;

	for (size_t i = base; i < base + rows; i++)
		x->made[i] = x->got[i] = x->delay[i] = x->packets[i] = 0;
	for (uint32_t i = 0; i < m->n_flows && i < b->n_flows; i++) {
		const struct sim_flow_counts *c = &m->flows[i];
		size_t at = base + b->flows[i].row;

		x->made[at] +=
			(double)(findings_made(b, c, i) * b->flow_copies[i]);
		x->got[at] += (double)findings_delivered(b, c, i);
		x->delay[at] += (double)c->latency_sum;
		x->packets[at] += (double)c->delivered;
	}
}

/* Keeps the second of every two samples: the sums go on from there. */
static void halve(struct sim_samples *x)
{
	size_t rows = x->build->scenario->n_traffic, n = x->n / 2;

	for (size_t i = 0; i < n; i++) {
		x->time[i] = x->time[2 * i + 1];
		for (size_t k = 0; k < x->n_classes; k++) {
			size_t to = i * x->n_classes + k;
			size_t from = (2 * i + 1) * x->n_classes + k;

			x->used[to] = x->used[from];
			x->waited[to] = x->waited[from];
		}
		for (size_t k = 0; k < rows; k++) {
			size_t to = i * rows + k;
			size_t from = (2 * i + 1) * rows + k;

			x->made[to] = x->made[from];
			x->got[to] = x->got[from];
			x->delay[to] = x->delay[from];
			x->packets[to] = x->packets[from];
		}
	}
	x->n = n;
	x->every *= 2;
}

void sim_samples_take(struct sim_samples *x, struct sim *s)
{
	struct sim_progress p;

	sim_progress(s, &p);
	if (!p.warm)
		return;
	const struct sim_metrics *m = sim_metrics(s);

	if (m->to <= m->from || (x->n && m->to - m->from <= x->time[x->n - 1]))
		return;
	if (x->n == SIM_MAX_SAMPLES)
		halve(x);
	x->time[x->n] = m->to - m->from;
	take_ports(x, m);
	take_flows(x, m);
	x->n++;
}

/* ---- tables ------------------------------------------------------------- */

static const struct column link_columns[] = {
	{ "time", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "link", NULL, VALUE_UINT },
	{ "used", "%", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "waiting", "%", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ NULL },
};

static const struct column tier_columns[] = {
	{ "time", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "from tier", NULL, VALUE_UINT },
	{ "to tier", NULL, VALUE_UINT },
	{ "used", "%", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "waiting", "%", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ NULL },
};

/* What was added to sums[] since the sample before. */
static double since(const double *sums, size_t sample, size_t stride, size_t k)
{
	double before = sample ? sums[(sample - 1) * stride + k] : 0;

	return sums[sample * stride + k] - before;
}

static hd_time span(const struct sim_samples *x, size_t sample)
{
	return x->time[sample] - (sample ? x->time[sample - 1] : 0);
}

static void put_classes(const struct sim_samples *x, struct table *t)
{
	for (size_t i = 0; i < x->n; i++) {
		double time = (double)span(x, i);

		for (uint32_t k = 0; k < x->n_classes; k++) {
			if (!x->members[k])
				continue;
			table_put_time(t, x->time[i]);
			if (x->by_tier)
				table_put_uint(t, k / TIERS);
			table_put_uint(t, x->by_tier ? k % TIERS : k);
			table_put_real(
				t, 100 * since(x->used, i, x->n_classes, k) /
					   time);
			table_put_real(
				t, 100 * since(x->waited, i, x->n_classes, k) /
					   time);
		}
	}
}

static const struct column traffic_columns[] = {
	{ "time", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "traffic", NULL, VALUE_TEXT },
	{ "offered", "Gb/s", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "delivered", "Gb/s", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "mean latency", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ NULL },
};

static void put_traffic(const struct sim_samples *x, struct table *t)
{
	const struct scenario *s = x->build->scenario;
	size_t rows = s->n_traffic;

	for (size_t i = 0; i < x->n; i++) {
		double seconds = (double)span(x, i) / (double)HD_S;

		for (size_t k = 0; k < rows; k++) {
			double packets = since(x->packets, i, rows, k);

			table_put_time(t, x->time[i]);
			table_put_text(t, s->traffic[k].name);
			table_put_real(t,
				       findings_gbps(since(x->made, i, rows, k),
						     seconds));
			table_put_real(t,
				       findings_gbps(since(x->got, i, rows, k),
						     seconds));
			table_put_real(
				t, packets > 0 ? since(x->delay, i, rows, k) /
							 packets / (double)HD_US
					       : NAN);
		}
	}
}

void sim_samples_tables(const struct sim_samples *x, struct results *r)
{
	if (x->n < 2)
		return;
	if (x->by_tier)
		put_classes(x, results_series(r, "tiers over time",
					      "mean use of the links from one "
					      "tier to another",
					      tier_columns));
	else
		put_classes(x, results_series(r, "links over time",
					      "use of every link, numbered as "
					      "in 'links'",
					      link_columns));
	put_traffic(x, results_series(r, "traffic over time",
				      "what each traffic row offered and got",
				      traffic_columns));
}
