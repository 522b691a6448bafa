/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/report/picture.h"
#include "sim/report/report_internal.h"

#define FIRST_GUESS (10 * HD_US)
#define WANTED      64 /* number of samples if the end of the run is known */
#define LEAST       8  /* minimum sample width in largest packets */
#define TIERS       16

static uint32_t tier_of(const struct fabric *fabric, uint32_t port)
{
	const struct sim_setup *s = &fabric->setup;
	const struct topo_node *v = &fabric->topo.nodes[s->nodes[s->ports[port].node].node];

	return v->tier < TIERS ? v->tier : TIERS - 1;
}

/* One class per direction of a link, or per ordered pair of tiers. */
static void classes_init(struct report_samples *x)
{
	const struct sim_setup *s = &x->fabric->setup;
	uint32_t plugged = 0;

	for (uint32_t i = 0; i < s->n_ports; i++)
		plugged += s->ports[i].peer != SIM_NONE;
	x->by_tier = plugged > REPORT_PICTURE_LINKS;
	x->n_classes = x->by_tier ? TIERS * TIERS : plugged;
	x->class_of = hd_alloc(s->n_ports + 1, sizeof(*x->class_of));
	x->members = hd_alloc(x->n_classes + 1, sizeof(*x->members));
	plugged = 0;
	for (uint32_t i = 0; i < s->n_ports; i++) {
		x->class_of[i] = SIM_NONE;
		if (s->ports[i].peer == SIM_NONE)
			continue;
		x->class_of[i] = x->by_tier ? tier_of(x->fabric, i) * TIERS +
						      tier_of(x->fabric, s->ports[i].peer)
					    : plugged;
		x->members[x->class_of[i]]++;
		plugged++;
	}
}

/*
 * Time of the largest packet on the slowest link to an end port. The sample width changes no
 * result.
 */
static hd_time longest_packet(const struct fabric *fabric)
{
	const struct sim_setup *s = &fabric->setup;
	uint64_t bytes = scenario_largest_packet(fabric->scenario) + fabric->grh_bytes;
	hd_time most = 1;

	for (uint32_t i = 0; i < s->n_ports; i++) {
		const struct sim_port *p = &s->ports[i];

		if (p->peer == SIM_NONE || s->nodes[p->node].kind != SIM_END)
			continue;
		hd_time t = hd_rate_duration(p->rate, bytes);

		most = t > most ? t : most;
	}
	return most;
}

/*
 * Packets are counted as a whole, so a sample must hold many of them; otherwise it would deviate
 * from the utilization of a full link.
 */
static hd_time width_guess(const struct fabric *fabric)
{
	hd_time packet = longest_packet(fabric), width = FIRST_GUESS;

	if (fabric->rules.stop > fabric->rules.warmup)
		width = (fabric->rules.stop - fabric->rules.warmup) / WANTED;
	if (packet > HD_TIME_NEVER / LEAST / 2)
		return packet;
	if (width < LEAST * packet)
		return LEAST * packet;
	return width / packet * packet;
}

/* Arrivals before measuring begins are not counted. */
static void note_ended(void *context, const struct sim_event_record *e, const struct sim_packet *p)
{
	struct report_samples *x = context;
	const struct fabric *fabric = x->fabric;
	struct sim_progress now;

	if (e->fate != SIM_DELIVERED || e->kind != SIM_DATA || e->flow >= fabric->n_flows)
		return;
	sim_progress(x->sim, &now);
	if (e->time < now.from)
		return;
	struct report_row_sums *sum = &x->sums[fabric->flows[e->flow].row];

	sum->got += p->bytes - (uint32_t)findings_overhead(fabric, e->flow) -
		    (p->target != TOPO_NONE ? fabric->flows[e->flow].grh_bytes : 0);
	sum->delay += (double)(e->time - p->born);
	sum->packets++;
}

void report_samples_init(struct report_samples *x, const struct fabric *fabric, struct sim *s,
			 hd_time every)
{
	size_t rows = fabric->scenario->n_traffic, n = REPORT_MAX_SAMPLES;

	*x = (struct report_samples){
		.fabric = fabric,
		.sim = s,
		.every = every ? every : width_guess(fabric),
	};
	classes_init(x);
	x->sums = hd_alloc(rows, sizeof(*x->sums));
	x->time = hd_alloc(n, sizeof(*x->time));
	x->used = hd_alloc(n * x->n_classes + 1, sizeof(*x->used));
	x->waited = hd_alloc(n * x->n_classes + 1, sizeof(*x->waited));
	x->rows = hd_alloc(n * rows, sizeof(*x->rows));
	sim_observe(s, &(struct sim_observer){ .context = x, .ended = note_ended });
}

void report_samples_fini(struct report_samples *x)
{
	free(x->class_of);
	free(x->members);
	free(x->time);
	free(x->used);
	free(x->waited);
	free(x->sums);
	free(x->rows);
}

/*
 * Times are multiples of the width from the start of measuring, or from 0 if the warm-up is a
 * number of packets.
 */
hd_time report_samples_next(const struct report_samples *x)
{
	struct sim_progress p;

	sim_progress(x->sim, &p);
	hd_time start = p.from == HD_TIME_NEVER ? 0 : p.from;

	if (p.now < start)
		return start;
	if (p.now > HD_TIME_NEVER - x->every)
		return HD_TIME_NEVER;
	return start + ((p.now - start) / x->every + 1) * x->every;
}

static void take_ports(struct report_samples *x, const struct sim_metrics *m)
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

static void take_rows(struct report_samples *x, const struct sim_metrics *m)
{
	const struct fabric *fabric = x->fabric;
	size_t rows = fabric->scenario->n_traffic;
	struct report_row_sums *at = &x->rows[x->n * rows];

	memcpy(at, x->sums, rows * sizeof(*at));
	for (uint32_t i = 0; i < m->n_flows && i < fabric->n_flows; i++)
		at[fabric->flows[i].row].made +=
			(double)(findings_made(fabric, &m->flows[i], i) * fabric->flows[i].copies);
}

/* Keeps every second sample; the sums are cumulative. */
static void halve(struct report_samples *x)
{
	size_t rows = x->fabric->scenario->n_traffic, n = x->n / 2;

	for (size_t i = 0; i < n; i++) {
		x->time[i] = x->time[2 * i + 1];
		for (size_t k = 0; k < x->n_classes; k++) {
			size_t to = i * x->n_classes + k;
			size_t from = (2 * i + 1) * x->n_classes + k;

			x->used[to] = x->used[from];
			x->waited[to] = x->waited[from];
		}
		for (size_t k = 0; k < rows; k++)
			x->rows[i * rows + k] = x->rows[(2 * i + 1) * rows + k];
	}
	x->n = n;
	x->every *= 2;
}

void report_samples_take(struct report_samples *x)
{
	struct sim_progress p;

	sim_progress(x->sim, &p);
	if (!p.warm)
		return;
	const struct sim_metrics *m = sim_metrics(x->sim);
	hd_time time = m->to - m->from;

	/* A run that becomes idle ended before its last sample. */
	while (x->n && x->time[x->n - 1] > time)
		x->n--;
	hd_time last = x->n ? x->time[x->n - 1] : 0;

	if (time <= last)
		return;
	/* Merges a short rest at the end into the sample before it. */
	if (time - last < x->every / 2) {
		if (!x->n)
			return;
		x->n--;
	}
	if (x->n == REPORT_MAX_SAMPLES)
		halve(x);
	x->time[x->n] = time;
	take_ports(x, m);
	take_rows(x, m);
	x->n++;
}

/* ---- as bytes ------------------------------------------------------------ */

static const struct pack_member sums_members[] = {
	PACK(report_row_sums, made),
	PACK(report_row_sums, got),
	PACK(report_row_sums, delay),
	PACK(report_row_sums, packets),
};

void report_samples_pack(struct report_samples *x, struct pack *p)
{
	size_t rows = x->fabric->scenario->n_traffic;

	pack_u64(p, &x->every);
	pack_size(p, &x->n);
	if (!pack_check(p, x->every > 0 && x->n <= REPORT_MAX_SAMPLES))
		x->n = 0;
	for (size_t i = 0; i < x->n; i++)
		pack_u64(p, &x->time[i]);
	for (size_t i = 0; i < x->n * x->n_classes; i++) {
		pack_real(p, &x->used[i]);
		pack_real(p, &x->waited[i]);
	}
	for (size_t i = 0; i < x->n * rows; i++)
		PACK_STRUCT(p, sums_members, &x->rows[i]);
	for (size_t i = 0; i < rows; i++)
		PACK_STRUCT(p, sums_members, &x->sums[i]);
}

/* ---- tables ------------------------------------------------------------- */

/* One class: the links from a tier to a tier, or a single link. */
struct link_class_row {
	hd_time time;
	uint64_t link, from_tier, to_tier;
	double used, waiting;
};

static const struct column link_columns[] = {
	{ "time", "us", CELL_TIME(link_class_row, time), ORIGIN_SIMULATED, 3 },
	{ "link", NULL, CELL(link_class_row, link) },
	{ "used", "%", CELL(link_class_row, used), ORIGIN_SIMULATED, 1 },
	{ "waiting", "%", CELL(link_class_row, waiting), ORIGIN_SIMULATED, 1 },
	{ NULL },
};

static const struct column tier_columns[] = {
	{ "time", "us", CELL_TIME(link_class_row, time), ORIGIN_SIMULATED, 3 },
	{ "from tier", NULL, CELL(link_class_row, from_tier) },
	{ "to tier", NULL, CELL(link_class_row, to_tier) },
	{ "used", "%", CELL(link_class_row, used), ORIGIN_SIMULATED, 1 },
	{ "waiting", "%", CELL(link_class_row, waiting), ORIGIN_SIMULATED, 1 },
	{ NULL },
};

/* Increase of sums[] since the previous sample. */
static double since(const double *sums, size_t sample, size_t stride, size_t k)
{
	double before = sample ? sums[(sample - 1) * stride + k] : 0;

	/* Packet times are rounded up, so a picosecond may be missing. */
	return fmax(sums[sample * stride + k] - before, 0);
}

/* Increase of a row since the previous sample. */
static struct report_row_sums gained(const struct report_samples *x, size_t sample, size_t row)
{
	size_t rows = x->fabric->scenario->n_traffic;
	struct report_row_sums a = x->rows[sample * rows + row];

	if (sample) {
		const struct report_row_sums *before = &x->rows[(sample - 1) * rows + row];

		a.made -= before->made;
		a.got -= before->got;
		a.delay -= before->delay;
		a.packets -= before->packets;
	}
	return a;
}

static hd_time span(const struct report_samples *x, size_t sample)
{
	return x->time[sample] - (sample ? x->time[sample - 1] : 0);
}

/* End of a sample, from the start of the run. */
static hd_time end_of(const struct report_samples *x, size_t sample)
{
	struct sim_progress p;

	sim_progress(x->sim, &p);
	return p.from + x->time[sample];
}

static void put_classes(const struct report_samples *x, struct table *t)
{
	for (size_t i = 0; i < x->n; i++) {
		double time = (double)span(x, i);
		hd_time end = end_of(x, i);

		for (uint32_t k = 0; k < x->n_classes; k++) {
			if (!x->members[k])
				continue;
			const struct link_class_row row = {
				.time = end,
				.link = k,
				.from_tier = k / TIERS,
				.to_tier = k % TIERS,
				.used = 100 * since(x->used, i, x->n_classes, k) / time,
				.waiting = 100 * since(x->waited, i, x->n_classes, k) / time,
			};

			table_put_row(t, &row);
		}
	}
}

struct traffic_sample_row {
	hd_time time;
	const char *traffic;
	double offered, delivered, mean_latency;
};

static const struct column traffic_columns[] = {
	{ "time", "us", CELL_TIME(traffic_sample_row, time), ORIGIN_SIMULATED, 3 },
	{ "traffic", NULL, CELL(traffic_sample_row, traffic) },
	{ "offered", "Gb/s", CELL(traffic_sample_row, offered), ORIGIN_SIMULATED, 3 },
	{ "delivered", "Gb/s", CELL(traffic_sample_row, delivered), ORIGIN_SIMULATED, 3 },
	{ "mean latency", "us", CELL(traffic_sample_row, mean_latency), ORIGIN_SIMULATED, 3 },
	{ NULL },
};

static void put_traffic(const struct report_samples *x, struct table *t)
{
	const struct scenario *s = x->fabric->scenario;
	size_t rows = s->n_traffic;

	for (size_t i = 0; i < x->n; i++) {
		double seconds = (double)span(x, i) / (double)HD_S;
		hd_time end = end_of(x, i);

		for (size_t k = 0; k < rows; k++) {
			const struct report_row_sums g = gained(x, i, k);

			const struct traffic_sample_row row = {
				.time = end,
				.traffic = s->traffic[k].name,
				.offered = findings_gbps(g.made, seconds),
				.delivered = findings_gbps(g.got, seconds),
				.mean_latency =
					g.packets > 0 ? g.delay / g.packets / (double)HD_US : NAN,
			};

			table_put_row(t, &row);
		}
	}
}

void report_samples_tables(const struct report_samples *x, struct results *r)
{
	if (x->n < 2)
		return;
	if (x->by_tier)
		put_classes(x, results_series(r, "tiers over time",
					      "mean use of the links from one tier to another",
					      tier_columns));
	else
		put_classes(x, results_series(r, "links over time",
					      "use of every link, numbered as in 'links'",
					      link_columns));
	put_traffic(x, results_series(r, "traffic over time",
				      "what each traffic row offered and got", traffic_columns));
}
