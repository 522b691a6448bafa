/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples of random runs against what observers saw, packet by packet: how
 * long each link was sending in each sample, and what arrived in it.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "sim/report/picture.h"
#include "sim/report/report_internal.h"

#define SEED  UINT64_C(20261115)
#define CASES 60

/* ---- scenarios ----------------------------------------------------------- */

static const char *pick(struct rng *r, const char *const *words)
{
	size_t n = 0;

	while (words[n])
		n++;
	return words[rng_below(r, n)];
}

static const char *const topologies[] = {
	"{kind: back-to-back}",
	"{kind: star, hosts: 5}",
	"{kind: mesh, columns: 2, rows: 2, hosts: 2}",
	"{kind: two-switch, remote: 2, local: 1, victims: 1}",
	"{kind: routed, subnets: 2, hosts: 2}",
	NULL,
};
static const char *const rates[] = { "8Gb/s",  "4x FDR", "4x EDR",  "1x FDR",
				     "4x HDR", "3Gb/s",  "7.3Gb/s", NULL };
static const char *const kinds[] = { "kind: saturating",
				     "kind: poisson, load: 60%",
				     "kind: poisson, load: 130%",
				     "kind: cbr, load: 90%",
				     "kind: messages, count: 40, start: 2us",
				     NULL };
static const char *const patterns[] = { "uniform", "all-to-all", "permutation", NULL };
static const char *const sizes[] = { "1", "64", "999", "2048", "4096", NULL };
/* Warm-up and measuring in times, or both in packets. */
static const char *const spans[] = {
	"warmup: 5us, measure: 20us",
	"warmup: 13.337us, measure: 77.777us",
	"warmup: 0us, measure: 200us",
	"warmup: 1ns, measure: 31us",
	"warmup: 20us, measure: 90 packets",
	"warmup: 40 packets, measure: 200 packets",
	NULL,
};
static const char *const credits[] = { "delay", "exact", NULL };

static void draw(struct rng *r, struct strbuf *out)
{
	strbuf_printf(out, "fabric:\n  topology: %s\n", pick(r, topologies));
	strbuf_printf(out, "  link: {rate: %s, propagation: %uns}\n", pick(r, rates),
		      (unsigned)(rng_below(r, 4) ? 5 : rng_below(r, 3000)));
	strbuf_printf(out, "  credits: %s\nqos: {vls: 2}\ntraffic:\n", pick(r, credits));
	for (unsigned i = 0, n = 1 + (unsigned)rng_below(r, 3); i < n; i++)
		strbuf_printf(out, "  - {name: t%u, sl: %u, %s, pattern: %s, payload: %s}\n", i,
			      i % 2, pick(r, kinds), pick(r, patterns), pick(r, sizes));
	strbuf_printf(out, "run: {%s, horizon: 2ms, seed: %u}\n", pick(r, spans),
		      (unsigned)rng_below(r, 1000));
}

/* ---- a run and what was seen of it --------------------------------------- */

struct seen {
	hd_time from, to;
	uint32_t what; /* a port, or a row */
	uint64_t payload;
};

struct log {
	struct seen *items;
	size_t n, cap;
};

struct run {
	struct fabric *fabric;
	struct sim *sim;
	struct report_samples samples;
	const struct sim_metrics *m;
	struct log sent, arrived;
	const char *text;
};

static void note(struct log *l, struct seen item)
{
	l->items = hd_grow(l->items, &l->cap, l->n + 1, sizeof(*l->items));
	l->items[l->n++] = item;
}

static void on_granted(void *context, hd_time now, uint32_t port, const struct sim_packet *p)
{
	struct run *x = context;
	hd_time d = hd_rate_duration(x->fabric->setup.ports[port].rate, p->bytes);

	note(&x->sent, (struct seen){ .from = now, .to = now + d, .what = port });
}

static void on_updated(void *context, hd_time now, uint32_t port, const struct sim_update *u)
{
	struct run *x = context;
	hd_time d = hd_rate_duration(x->fabric->setup.ports[port].rate, 6);

	(void)u;
	note(&x->sent, (struct seen){ .from = now, .to = now + d, .what = port });
}

static void on_delivered(void *context, hd_time now, uint32_t node, const struct sim_packet *p)
{
	struct run *x = context;
	uint64_t headers = findings_overhead(x->fabric, p->flow);

	(void)node;
	if (p->target != TOPO_NONE)
		headers += x->fabric->flows[p->flow].grh_bytes;
	note(&x->arrived, (struct seen){ .to = now,
					 .what = x->fabric->flows[p->flow].row,
					 .payload = p->bytes - headers });
}

static void go(const char *text, hd_time every, bool watch, struct run *x)
{
	struct diag d = { .status = HD_OK };
	enum sim_state state;

	*x = (struct run){ .text = text };
	if (fabric_load(text, strlen(text), "x.yaml", NULL, &d, &x->fabric) != HD_OK) {
		fail_msg("%u:%u: %s\n%s", d.line, d.column, d.message, text);
		abort();
	}
	x->sim =
		sim_new(&x->fabric->setup, x->fabric->flows, x->fabric->n_flows, &x->fabric->rules);
	if (watch)
		sim_observe(x->sim, &(struct sim_observer){ .context = x,
							    .delivered = on_delivered,
							    .granted = on_granted,
							    .updated = on_updated });
	report_samples_init(&x->samples, x->fabric, x->sim, every);
	do {
		state = sim_run(x->sim, report_samples_next(&x->samples), NULL, NULL);
		report_samples_take(&x->samples);
	} while (state == SIM_PAUSED);
	x->m = sim_metrics(x->sim);
}

static void end(struct run *x)
{
	report_samples_fini(&x->samples);
	sim_free(x->sim);
	fabric_free(x->fabric);
	free(x->sent.items);
	free(x->arrived.items);
}

/* ---- claims -------------------------------------------------------------- */

/* Seconds that a port sent within [from, to], as grants were seen. */
static double seen_sending(const struct run *x, uint32_t port, hd_time from, hd_time to)
{
	double sum = 0;

	for (size_t i = 0; i < x->sent.n; i++) {
		const struct seen *s = &x->sent.items[i];
		hd_time a = s->from > from ? s->from : from;
		hd_time b = s->to < to ? s->to : to;

		if (s->what == port && a < b)
			sum += (double)(b - a);
	}
	return sum;
}

static double seen_arriving(const struct run *x, uint32_t row, hd_time from, hd_time to)
{
	double sum = 0;

	for (size_t i = 0; i < x->arrived.n; i++) {
		const struct seen *s = &x->arrived.items[i];

		if (s->what == row && s->to > from && s->to <= to)
			sum += (double)s->payload;
	}
	return sum;
}

/* [from, to] of a sample in the time of the run. */
static struct seen sample_at(const struct run *x, size_t i)
{
	const struct report_samples *s = &x->samples;

	return (struct seen){ .from = x->m->from + (i ? s->time[i - 1] : 0),
			      .to = x->m->from + s->time[i] };
}

/* The two differ by the rounding of each packet's time, below 1 ps. */
static void check_use(const struct run *x, uint32_t port, struct seen when, double used)
{
	double want = seen_sending(x, port, when.from, when.to);
	double width = (double)(when.to - when.from);

	if (used > width * (1 + 1e-9) + 1e-3 || fabs(used - want) > (double)x->sent.n)
		fail_msg("port %u, %f us: %f of %f ps, not %f\n%s", port,
			 (double)when.to / (double)HD_US, used, width, want, x->text);
}

static void check_ports(const struct run *x)
{
	const struct report_samples *s = &x->samples;
	const struct seen all = { .from = x->m->from, .to = x->m->to };

	for (uint32_t port = 0; port < x->m->n_ports; port++) {
		uint32_t k = s->class_of[port];
		double before = 0;

		check_use(x, port, all,
			  x->m->ports[port].utilisation * (double)(all.to - all.from));
		for (size_t i = 0; k != SIM_NONE && i < s->n; i++) {
			double used = s->used[i * s->n_classes + k];

			check_use(x, port, sample_at(x, i), used - before);
			before = used;
		}
	}
}

static void check_got(const struct run *x, uint32_t row, struct seen when, double got)
{
	/* An arrival at the very start is measured. */
	bool first = when.from == x->m->from && when.from > 0;
	double want = seen_arriving(x, row, when.from - first, when.to);

	if (got != want)
		fail_msg("row %u, %f us: %f, not %f\n%s", row, (double)when.to / (double)HD_US, got,
			 want, x->text);
}

static void check_rows(const struct run *x)
{
	const struct report_samples *s = &x->samples;
	size_t rows = x->fabric->scenario->n_traffic;

	for (uint32_t row = 0; row < rows; row++) {
		double before = 0;

		for (size_t i = 0; i < s->n; i++) {
			double got = s->rows[i * rows + row].got;

			check_got(x, row, sample_at(x, i), got - before);
			before = got;
		}
	}
}

/* The samples add up to the totals of the run. */
static void check_sum(const struct run *x)
{
	const struct report_samples *s = &x->samples;
	size_t rows = x->fabric->scenario->n_traffic;

	if (!s->n)
		return;
	assert_true(s->time[s->n - 1] == x->m->to - x->m->from);
	for (uint32_t row = 0; row < rows; row++) {
		double total = 0, latency = 0;

		for (uint32_t i = 0; i < x->m->n_flows; i++) {
			if (x->fabric->flows[i].row != row)
				continue;
			total += (double)findings_delivered(x->fabric, &x->m->flows[i], i);
			latency += (double)x->m->flows[i].latency_sum;
		}
		const struct report_row_sums *sum = &s->rows[(s->n - 1) * rows + row];

		if (sum->got != total || sum->delay != latency)
			fail_msg("row %u: %f of %f bytes\n%s", row, sum->got, total, x->text);
	}
}

/* What the table says of each sample adds up to the totals, too. */
static void check_table(const struct run *x)
{
	const struct report_samples *s = &x->samples;
	size_t rows = x->fabric->scenario->n_traffic;
	struct results *r = results_new("sim");

	report_samples_tables(s, r);
	const struct table *t = results_find(r, "traffic over time");

	assert_int_equal(t != NULL, s->n >= 2);
	for (size_t row = 0; row < rows && t; row++) {
		double bytes = 0, total = s->rows[(s->n - 1) * rows + row].got;

		for (size_t i = 0; i < s->n; i++) {
			hd_time span = s->time[i] - (i ? s->time[i - 1] : 0);
			const struct value *gbps = table_cell_of(t, i * rows + row, "delivered");

			bytes += value_real(gbps) * 1e9 / 8 * (double)span / (double)HD_S;
		}
		if (!(fabs(bytes - total) <= 1e-6 * total))
			fail_msg("row %zu: %f of %f bytes\n%s", row, bytes, total, x->text);
	}
	results_free(r);
}

/* Runs that end by a packet count end when the engine detects it. */
static void check_same(const struct run *x, const struct run *y)
{
	const struct sim_rules *r = &x->fabric->rules;

	if (r->packets || r->warmup_packets)
		return;
	assert_int_equal(x->samples.n, y->samples.n);
	assert_memory_equal(x->samples.rows, y->samples.rows,
			    x->samples.n * x->fabric->scenario->n_traffic *
				    sizeof(*x->samples.rows));
}

static void samples_are_what_passed_in_them(void **state)
{
	unsigned n = cases_of_run(CASES, 20 * CASES);
	uint64_t seed = seed_of_run(SEED);
	unsigned sampled = 0;

	(void)state;
	for (unsigned i = 0; i < n; i++) {
		struct strbuf text = STRBUF_INIT;
		struct rng r;
		struct run watched, alone;

		rng_init(&r, seed, i);
		draw(&r, &text);
		hd_time every = rng_below(&r, 2) ? (1 + rng_below(&r, 5000)) * HD_NS : 0;

		go(text.text, every, true, &watched);
		check_ports(&watched);
		check_rows(&watched);
		check_sum(&watched);
		check_table(&watched);
		/* Unwatched, the engine computes further ahead. */
		go(text.text, every, false, &alone);
		check_sum(&alone);
		check_same(&alone, &watched);
		sampled += alone.samples.n > 2;
		end(&alone);
		end(&watched);
		strbuf_fini(&text);
	}
	assert_true(sampled > n / 2);
}

/* The last one may end within a packet. */
static void check_full(const struct run *x, double carries)
{
	const struct report_samples *s = &x->samples;
	double before = 0;

	for (size_t i = 0; i + 1 < s->n; i++) {
		struct seen when = sample_at(x, i);
		double width = (double)(when.to - when.from) / (double)HD_S;
		double rate = (s->rows[i].got - before) / width;

		/* The first packet's way here is no traffic yet. */
		if (rate > carries || (i && rate < carries * 0.85))
			fail_msg("sample %zu: %g of %g\n%s", i, rate, carries, x->text);
		before = s->rows[i].got;
	}
}

/* Back to back and saturated: not even the first or last exceeds the link. */
static void no_guessed_sample_exceeds_a_full_link(void **state)
{
	static const char *const warm[] = { "1ns", "333ns", "5us", "7.1us" };
	static const char *const bytes[] = { "256", "2048", "4096" };

	(void)state;
	for (unsigned i = 0; i < 12; i++) {
		struct strbuf text = STRBUF_INIT;
		struct run x;

		strbuf_printf(&text,
			      "fabric:\n  topology: {kind: back-to-back}\n"
			      "  link: 4x EDR\n"
			      "traffic:\n  - {name: full, kind: saturating, payload: %s}\n"
			      "run: {warmup: %s, measure: 20us}\n",
			      bytes[i % 3], warm[i / 3]);
		go(text.text, 0, false, &x);
		assert_true(x.samples.n > 2);
		check_full(&x, 2 * 12.5e9); /* bytes a second, two hosts */
		end(&x);
		strbuf_fini(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_what_passed_in_them),
		cmocka_unit_test(no_guessed_sample_exceeds_a_full_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
