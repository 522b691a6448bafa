/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/report/picture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* 8 Gb/s: a byte takes 1 ns. Weights 99, 66, 33 are 3, 2, 1 packets. */
#define SHARED                                                        \
	"fabric:\n  topology: {kind: mesh, columns: 2, rows: 2, "     \
	"hosts: 1}\n"                                                 \
	"  link: {rate: 8Gb/s, propagation: 5ns}\n  routing: xy\n"    \
	"qos:\n  vls: 4\n  classes:\n"                                \
	"    - {name: a, sl: 0, weight: 99}\n"                        \
	"    - {name: b, sl: 1, weight: 66}\n"                        \
	"    - {name: c, sl: 2, weight: 33}\n"                        \
	"traffic:\n"                                                  \
	"  - {name: a, class: a, kind: saturating, pattern: incast, " \
	"destination: h3}\n"                                          \
	"  - {name: b, class: b, kind: saturating, pattern: incast, " \
	"destination: h3}\n"                                          \
	"  - {name: c, class: c, kind: saturating, pattern: incast, " \
	"destination: h3}\n"                                          \
	"run: {warmup: 100us, measure: 1ms}\n"

struct run {
	struct fabric *fabric;
	struct sim *sim;
	struct report_samples samples;
	struct results *r;
};

/* Sampled every `every`; 0: without pauses. */
static void go(const char *text, hd_time every, struct run *x)
{
	struct diag d = { .status = HD_OK };
	enum sim_state state;

	*x = (struct run){ .r = results_new("sim") };
	if (fabric_load(text, strlen(text), "x.yaml", NULL, &d, &x->fabric) != HD_OK) {
		fail_msg("%u:%u: %s", d.line, d.column, d.message);
		abort();
	}
	x->sim =
		sim_new(&x->fabric->setup, x->fabric->flows, x->fabric->n_flows, &x->fabric->rules);
	if (every)
		report_samples_init(&x->samples, x->fabric, x->sim, every);
	do {
		state = sim_run(x->sim, every ? report_samples_next(&x->samples) : HD_TIME_NEVER,
				NULL, NULL);
		if (every)
			report_samples_take(&x->samples);
	} while (state == SIM_PAUSED);
	const struct report_input f = { .fabric = x->fabric,
					.sim = x->sim,
					.metrics = sim_metrics(x->sim),
					.state = state,
					.all = true };

	report_picture_curves(&f, x->r);
	report_picture_fabric(&f, x->r);
	if (every)
		report_samples_tables(&x->samples, x->r);
}

static void end(struct run *x)
{
	results_free(x->r);
	report_samples_fini(&x->samples);
	sim_free(x->sim);
	fabric_free(x->fabric);
}

static size_t column(const struct table *t, const char *name)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		if (strcmp(t->columns[i].name, name) == 0)
			return i;
	}
	fail_msg("no column %s", name);
	return 0;
}

static const struct value *cell(const struct table *t, size_t row, const char *name)
{
	return table_cell(t, row, column(t, name));
}

/* A single VL has the whole link: no shares are shown. */
static void shares_are_of_vls_that_compete(void **state)
{
	struct run x;

	(void)state;
	go("fabric:\n  topology: {kind: star, hosts: 3}\n"
	   "qos: {vls: 4}\n"
	   "traffic:\n  - {name: a, kind: poisson, load: 50%, sl: 1}\n"
	   "run: {measure: 20us}\n",
	   0, &x);
	assert_non_null(results_find(x.r, "latency percentiles"));
	assert_null(results_find(x.r, "VL shares"));
	end(&x);
}

static void vls_are_promised_what_their_weights_say(void **state)
{
	static const double thirds[] = { 50, 100.0 / 3, 50.0 / 3 };
	struct run x;
	unsigned seen = 0;

	(void)state;
	go(SHARED, 0, &x);
	const struct table *t = results_find(x.r, "VL shares");

	for (size_t i = 0; i < table_rows(t); i++) {
		uint64_t vl = cell(t, i, "VL")->u;

		assert_true(fabs(cell(t, i, "promised")->real - thirds[vl]) < 1e-9);
		/* The link to the destination is full: promises are kept. */
		if (i < 3)
			assert_true(fabs(cell(t, i, "share")->real - thirds[vl]) < 0.5);
		seen |= 1u << vl;
	}
	assert_int_equal(seen, 7);
	end(&x);
}

static void pauses_to_sample_change_nothing(void **state)
{
	struct run x, y;

	(void)state;
	go(SHARED, 0, &x);
	go(SHARED, 7 * HD_US, &y);
	assert_true(sim_metrics(x.sim)->checksum == sim_metrics(y.sim)->checksum);
	assert_int_equal(sim_metrics(x.sim)->hops, sim_metrics(y.sim)->hops);
	end(&x);
	end(&y);
}

/* The mean over samples, weighted by length, equals that of the run. */
static void samples_add_up_to_the_run(void **state)
{
	struct run x;

	(void)state;
	go(SHARED, 3 * HD_US, &x);
	const struct table *t = results_find(x.r, "links over time");
	const struct table *links = results_find(x.r, "links");
	size_t n = table_rows(links), samples = table_rows(t) / n;

	assert_true(samples > REPORT_MAX_SAMPLES / 2);
	assert_true(samples <= REPORT_MAX_SAMPLES);
	for (size_t link = 0; link < n; link++) {
		/* The warm-up takes 100 us. */
		double sum = 0, before = 100;

		for (size_t i = 0; i < samples; i++) {
			size_t row = i * n + link;

			assert_int_equal(cell(t, row, "link")->u, link);
			sum += cell(t, row, "used")->real * (cell(t, row, "time")->real - before);
			before = cell(t, row, "time")->real;
		}
		assert_true(fabs(before - 1100) < 1e-6);
		assert_true(fabs(sum / 1000 - cell(links, link, "used")->real) < 1e-6);
	}
	end(&x);
}

/* XY: east first, then north; h0 at the south-west, h3 at the north-east. */
static void a_path_is_the_way_that_packets_take(void **state)
{
	static const char *const way[] = { "h0", "s-0-0", "s-1-0", "s-1-1", "h3" };
	struct run x;
	size_t hop = 0;

	(void)state;
	go(SHARED, 0, &x);
	const struct table *t = results_find(x.r, "paths");
	const struct table *nodes = results_find(x.r, "nodes");

	for (size_t i = 0; i < table_rows(t); i++) {
		if (strcmp(cell(t, i, "path")->text, "b h0 -> h3") != 0)
			continue;
		assert_int_equal(cell(t, i, "hop")->u, hop);
		assert_string_equal(cell(nodes, cell(t, i, "node")->u, "name")->text, way[hop]);
		assert_int_equal(cell(t, i, "SL")->u, 1);
		if (hop < 4)
			assert_int_equal(cell(t, i, "VL")->u, 1);
		else
			assert_int_equal(cell(t, i, "VL")->kind, VALUE_NONE);
		hop++;
	}
	assert_int_equal(hop, 5);
	end(&x);
}

static void every_link_has_its_two_directions(void **state)
{
	struct run x;

	(void)state;
	go(SHARED, 0, &x);
	const struct table *t = results_find(x.r, "links");

	assert_int_equal(table_rows(t), 16); /* 4 + 4 cables */
	for (size_t i = 0; i < table_rows(t); i++) {
		unsigned found = 0;

		for (size_t k = 0; k < table_rows(t); k++)
			found += cell(t, k, "from")->u == cell(t, i, "to")->u &&
				 cell(t, k, "out")->u == cell(t, i, "in")->u &&
				 cell(t, k, "to")->u == cell(t, i, "from")->u;
		assert_int_equal(found, 1);
	}
	end(&x);
}

static void tables_are_those_of_the_subnet(void **state)
{
	struct run x;

	(void)state;
	go(SHARED, 0, &x);
	const struct table *t = results_find(x.r, "arbitration");

	assert_string_equal(cell(t, 0, "port")->text, "any");
	assert_non_null(strstr(cell(t, 0, "low")->text, "0:99"));
	assert_non_null(strstr(cell(t, 0, "low")->text, "2:33"));
	t = results_find(x.r, "VL mapping");
	assert_int_equal(strncmp(cell(t, 0, "SL2VL")->text, "0 1 2 ", 6), 0);
	/* Every range of a forwarding table equals lft_get(). */
	t = results_find(x.r, "forwarding");
	assert_int_equal(table_rows(t), 4);
	for (switch_id sw = 0; sw < 4; sw++) {
		const char *at = cell(t, sw, "LFT")->text;
		unsigned covered = 0, lids = 0;

		while (*at) {
			char *next;
			unsigned long low = strtoul(at, &next, 10), high = low;

			if (*next == '-')
				high = strtoul(next + 1, &next, 10);
			assert_int_equal(*next, ':');
			unsigned long port = strtoul(next + 1, &next, 10);

			for (; low <= high; low++, covered++)
				assert_int_equal(lft_get(&x.fabric->subnet, sw, (lid_t)low), port);
			at = *next ? next + 1 : next;
		}
		for (unsigned lid = 1; lid < x.fabric->subnet.lft_stride; lid++)
			lids += lft_get(&x.fabric->subnet, sw, (lid_t)lid) != LFT_NO_PORT;
		assert_int_equal(covered, lids);
	}
	end(&x);
}

/* Failures before, during and after measuring. */
static void events_are_counted_from_the_start_of_the_run(void **state)
{
	static const char *const kinds[] = { "link-down", "link-up" };
	static const double times[] = { 50, 300 };
	struct run x;

	(void)state;
	go(SHARED "faults:\n  events:\n"
		  "    - {at: 50us, kind: link-down, port: \"h1\"}\n"
		  "    - {at: 300us, kind: link-up, port: \"h1\"}\n"
		  "    - {at: 5ms, kind: link-down, port: \"h1\"}\n",
	   0, &x);
	const struct table *t = results_find(x.r, "events");

	assert_non_null(t);
	assert_int_equal(table_rows(t), 2);
	for (size_t i = 0; i < 2; i++) {
		assert_string_equal(cell(t, i, "event")->text, kinds[i]);
		assert_string_equal(cell(t, i, "port")->text, "h1");
		assert_true(cell(t, i, "time")->real == times[i]);
	}
	end(&x);
}

static void percentiles_rise_to_the_largest_latency(void **state)
{
	struct run x;
	double before = -1;

	(void)state;
	go(SHARED, 0, &x);
	const struct table *t = results_find(x.r, "latency percentiles");
	struct report_row *rows = report_rows(x.fabric, sim_metrics(x.sim));

	for (size_t i = 0; i < table_rows(t); i++) {
		double latency = cell(t, i, "latency")->real;

		if (strcmp(cell(t, i, "traffic")->text, "a") != 0)
			continue;
		assert_true(latency >= before);
		before = latency;
	}
	assert_true(fabs(before * 1e6 - (double)rows[0].latency.max) < 1);
	report_rows_free(rows, 3);
	double all = 0;

	t = results_find(x.r, "delay histogram");
	for (size_t i = 0; i < table_rows(t); i++)
		all += (double)cell(t, i, "packets")->u;
	assert_true(all == (double)sim_metrics(x.sim)->latency.n);
	end(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_are_of_vls_that_compete),
		cmocka_unit_test(vls_are_promised_what_their_weights_say),
		cmocka_unit_test(pauses_to_sample_change_nothing),
		cmocka_unit_test(samples_add_up_to_the_run),
		cmocka_unit_test(a_path_is_the_way_that_packets_take),
		cmocka_unit_test(every_link_has_its_two_directions),
		cmocka_unit_test(tables_are_those_of_the_subnet),
		cmocka_unit_test(events_are_counted_from_the_start_of_the_run),
		cmocka_unit_test(percentiles_rise_to_the_largest_latency),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
