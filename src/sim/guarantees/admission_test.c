/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One admission: the same requests on the same scenario get the same answers
 * and the same bounds in a run and from a request file ('qos admit', 'qos
 * bound'), and no packet of an admitted flow is later than its bound.
 *
 * A failure prints the scenario; with HD_LONG=1 HD_SEED=n its case is the
 * first.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "fabric/admission.h"
#include "qos/admission/admission.h"
#include "sim/report/run_for_tests.h"

#define HOSTS    9u
#define ROWS     14u
#define LARGEST  4096u
#define WAIT_MAX 4.0 /* of the median of bound / simulated maximum */

static const char *const classes[] = { "call", "film", "news" };

struct drawn {
	struct strbuf scenario, requests;
};

/* Ratios of bounds to the longest latencies that were seen. */
struct ratios {
	double *items;
	size_t n, cap;
	unsigned admitted, refused, late_refused, bounded;
};

static uint32_t draw(struct rng *rng, uint32_t low, uint32_t high)
{
	return low + (uint32_t)rng_below(rng, high - low + 1);
}

static void print_fabric(struct rng *rng, struct strbuf *out)
{
	static const char *const kinds[] = { "star, hosts: 9",
					     "mesh, columns: 3, rows: 1, hosts: 3",
					     "xgft, down: '3,3', up: '1,2'" };
	static const char *const vls[] = { "4", "8", "15" };
	static const char *const margins[] = { "0%", "5%", "20%" };

	strbuf_printf(
		out,
		"fabric:\n"
		"  topology: {kind: %s}\n"
		"  link: {rate: 8Gb/s, propagation: %uns}\n"
		"  switch: {arbitration: %s, routing_delay: %uns, arbitration_delay: 20ns%s}\n"
		"qos:\n"
		"  vls: %s\n"
		"  high_limit: %s\n"
		"  admission: {margin: %s, place: %s}\n"
		"  classes: [{name: call, sl: 4, kind: DBTS}, {name: film, sl: 2, kind: DB}, {name: news, sl: 3, kind: DB}, {name: be, sl: 8, kind: BE%s}]\n"
		"traffic:\n",
		kinds[draw(rng, 0, 2)], draw(rng, 1, 50),
		draw(rng, 0, 1) ? "oldest" : "round-robin", draw(rng, 0, 200),
		draw(rng, 0, 3) ? ", input_buffer: 512KiB" : "", vls[draw(rng, 0, 2)],
		draw(rng, 0, 3) ? "255" : "1", margins[draw(rng, 0, 2)],
		draw(rng, 0, 1) ? "spread" : "first", draw(rng, 0, 1) ? ", weight: 8000" : "");
}

/* Writes the same flow as a row and as a line of a file; most flows have one destination. */
static void print_flow(struct rng *rng, unsigned row, bool aligned, struct drawn *out)
{
	static const uint32_t payloads[] = { 39, 64, 103, 256, 1000, 2048 };
	uint32_t payload = payloads[draw(rng, 0, 5)];
	uint32_t to = draw(rng, 0, 2) ? 0 : draw(rng, 0, HOSTS - 1);
	uint32_t from = (to + draw(rng, 1, HOSTS - 1)) % HOSTS;
	uint32_t rate = draw(rng, 10, draw(rng, 0, 2) ? 400 : 2000);
	const char *class = classes[draw(rng, 0, 2)];
	uint32_t deadline = draw(rng, 0, 1) ? draw(rng, 5, 3000) : 0;

	strbuf_printf(
		&out->scenario,
		"- {name: f%u, class: %s, kind: cbr, pattern: pairs, source: '%u', destination: '%u', payload: %u, rate: %uMb/s, aligned: %s",
		row, class, from, to, payload, rate, aligned ? "true" : "false");
	if (deadline)
		strbuf_printf(&out->scenario, ", deadline: %uus", deadline);
	strbuf_puts(&out->scenario, "}\n");
	strbuf_printf(&out->requests, "@%u @%u %s %uMb/s %u", from, to, class, rate, payload);
	if (deadline)
		strbuf_printf(&out->requests, " %uus", deadline);
	strbuf_puts(&out->requests, "\n");
}

/* Lines name hosts; rows have their numbers. */
static void name_hosts(const struct fabric *fabric, struct strbuf *text)
{
	const struct selection *hosts = selector_hosts(fabric->selector);
	struct strbuf out = STRBUF_INIT;

	for (const char *at = text->text; *at; at++) {
		if (*at != '@') {
			strbuf_printf(&out, "%c", *at);
			continue;
		}
		strbuf_puts(&out, topo_node_of(&fabric->topo, hosts->ports[at[1] - '0'])->name);
		at++;
	}
	strbuf_fini(text);
	*text = out;
}

static void admit(struct fabric *fabric, const struct drawn *drawn, struct qos_requests *requests,
		  struct admission *a)
{
	const struct qos_classes of_scenario = fabric_classes(fabric);
	struct diag d = { .status = HD_OK };
	struct admission_params p = {
		.terms = fabric_terms(fabric, LARGEST),
	};

	if (fabric_broker_params(fabric, &d, &p.broker) != HD_OK ||
	    qos_requests_read(drawn->requests.text, &of_scenario, &d, requests) != HD_OK ||
	    admission_run(a, &fabric->subnet, &p, requests, &d) != HD_OK)
		fail_msg("%s", d.message);
}

static void note_ratio(struct ratios *r, double ratio)
{
	r->items = hd_grow(r->items, &r->cap, r->n + 1, sizeof(*r->items));
	r->items[r->n++] = ratio;
}

/* Compares one flow: responses, bounds, and measured latencies. */
static void compare(const struct test_run *run, const struct admission *a, const struct latency *l,
		    unsigned i, const char *text, struct ratios *r)
{
	const struct fabric_request *q = &run->fabric->requests[i];
	const struct admission_answer *answer = &a->answers[i];
	bool admitted = q->flow != SIM_NONE;

	if (admitted != answer->admitted)
		fail_msg("row %u: sim %d, request %d (%s)\n%s", i, admitted, answer->admitted,
			 admitted ? answer->reason : q->why, text);
	r->admitted += admitted;
	r->refused += !admitted;
	if (!admitted) {
		if (strcmp(q->why, answer->reason) != 0)
			fail_msg("row %u: '%s', '%s'\n%s", i, q->why, answer->reason, text);
		r->late_refused += strstr(q->why, "deadline") != NULL;
		return;
	}
	double bound = latency_of(l, answer->connection);
	double deadline = (double)answer->request->latency * 1e-12;

	if (deadline > 0 && bound > deadline * (1 + 1e-6))
		fail_msg("row %u: bound %.3f us, deadline %.3f us\n%s", i, bound * 1e6,
			 deadline * 1e6, text);
	double worst = (double)run->metrics->flows[q->flow].latency_max * 1e-12;

	if (q->bound > 0 && (q->bound < HUGE_VAL) != (bound < HUGE_VAL))
		fail_msg("row %u: bounds %g and %g\n%s", i, q->bound, bound, text);
	if (q->bound > 0 && bound < HUGE_VAL && fabs(q->bound - bound) > 1e-9 * bound)
		fail_msg("row %u: bounds %.3f us and %.3f us\n%s", i, q->bound * 1e6, bound * 1e6,
			 text);
	if (bound == HUGE_VAL)
		return;
	r->bounded++;
	if (worst > bound)
		fail_msg("row %u: %.3f us, bound %.3f us\n%s", i, worst * 1e6, bound * 1e6, text);
	if (worst > 0)
		note_ratio(r, bound / worst);
}

static void run_case(uint64_t seed, struct ratios *ratios)
{
	struct drawn drawn = { STRBUF_INIT, STRBUF_INIT };
	struct qos_requests requests;
	struct admission a;
	struct test_run run;
	struct latency l;
	struct rng rng;

	rng_init(&rng, seed, 0);
	print_fabric(&rng, &drawn.scenario);
	bool aligned = draw(&rng, 0, 1);

	for (unsigned i = 0; i < ROWS; i++)
		print_flow(&rng, i, aligned, &drawn);
	strbuf_printf(&drawn.scenario,
		      "- {name: be, class: be, kind: saturating, pattern: uniform, payload: %u}\n"
		      "run: {seed: %u, warmup: 0s, measure: 1ms}\n",
		      draw(&rng, 0, 1) ? 2048 : 4096, draw(&rng, 1, 1000));
	test_run_init(&run, drawn.scenario.text);
	name_hosts(run.fabric, &drawn.requests);
	admit(run.fabric, &drawn, &requests, &a);
	latency_init(&l, &a.broker, NULL, false);
	for (unsigned i = 0; i < ROWS; i++)
		compare(&run, &a, &l, i, drawn.scenario.text, ratios);
	latency_fini(&l);
	admission_fini(&a);
	qos_requests_fini(&requests);
	test_run_fini(&run);
	strbuf_fini(&drawn.scenario);
	strbuf_fini(&drawn.requests);
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void a_run_and_a_request_file_have_one_admission(void **state)
{
	const unsigned cases = cases_of_run(300, 4000);
	uint64_t seed = seed_of_run(1);
	struct ratios r = { 0 };

	(void)state;
	for (unsigned i = 0; i < cases; i++)
		run_case(seed + i, &r);
	qsort(r.items, r.n, sizeof(*r.items), by_value);
	double median = r.items[r.n / 2];

	print_message(
		"%u scenarios: %u flows admitted, %u refused (%u for a deadline); %u bounds, %.2f of the simulated maximum in the median, %.3f at least\n",
		cases, r.admitted, r.refused, r.late_refused, r.bounded, median, r.items[0]);
	assert_true(r.late_refused > cases / 10 && r.refused > cases / 10);
	assert_true(r.bounded > 2 * cases);
	assert_true(median < WAIT_MAX);
	free(r.items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_and_a_request_file_have_one_admission),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
