/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Guarantees of 'qos plan' in simulation: random goals with packets of mixed sizes are planned, and
 * the resulting tables are simulated.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "qos/tables/plan.h"
#include "qos/tables/shares.h"
#include "sim/report/run_for_tests.h"

#define MOST     6
#define OVERHEAD 26u

struct goals {
	unsigned n;
	struct plan_class classes[MOST];
	struct plan_link link;
};

static const char *const names[MOST] = { "c0", "c1", "c2", "c3", "c4", "c5" };

/* Draws two to six classes that request 60 to 100 % together, and at least 3 % each. */
static struct goals draw(struct rng *rng)
{
	static const uint32_t sizes[] = { 64, 256, 1024, 2048, 4096 };
	static const unsigned entries[] = { 8, 16, 64, 64 };
	struct goals g = { .n = 2 + (unsigned)rng_below(rng, MOST - 1) };
	uint64_t part[MOST], sum = 0, all = 60 + rng_below(rng, 41);

	for (unsigned i = 0; i < g.n; i++)
		sum += part[i] = 1 + rng_below(rng, 20);
	for (unsigned i = 0; i < g.n; i++) {
		uint64_t spare = all - 3 * g.n;

		g.classes[i] = (struct plan_class){
			.name = names[i],
			.share = { 3 + part[i] * spare / sum, 100 },
			.payload = sizes[rng_below(rng, 5)],
			.latency = rng_below(rng, 3) == 0,
		};
	}
	g.link = (struct plan_link){ .vls = 8,
				     .entries = entries[rng_below(rng, 4)],
				     .overhead = OVERHEAD };
	return g;
}

enum sending { SILENT, ITS_SHARE, WITHOUT_END };

static void print_table(struct strbuf *out, const char *key, const struct vlarb_entry *entry,
			unsigned n)
{
	if (n == 0)
		return;
	strbuf_printf(out, "  %s: \"", key);
	for (unsigned i = 0; i < n; i++)
		strbuf_printf(out, "%s%u:%u", i ? "," : "", entry[i].vl, entry[i].weight);
	strbuf_puts(out, "\"\n");
}

static void print_scenario(struct strbuf *out, const struct goals *g, const struct plan *p,
			   const enum sending *sending)
{
	const struct vlarb *arb = &p->tables.vlarb;

	strbuf_printf(
		out,
		"fabric:\n"
		"  topology: {kind: star, hosts: %u}\n"
		"  link: {rate: 8Gb/s, propagation: 5ns}\n"
		"  switch: {order: voq, routing_delay: 20ns, arbitration_delay: 5ns, input_buffer: 64KiB}\n"
		"  packet: {overhead: %u}\n"
		"qos:\n  vls: 8\n  high_limit: %u\n",
		g->n + 1, OVERHEAD, arb->high_limit);
	/* An empty table in the file would be computed from the classes. */
	print_table(out, "high", arb->n_high ? arb->high : &(struct vlarb_entry){ 7, 0 },
		    arb->n_high ? arb->n_high : 1);
	print_table(out, "low", arb->n_low ? arb->low : &(struct vlarb_entry){ 7, 0 },
		    arb->n_low ? arb->n_low : 1);
	strbuf_puts(out, "  sl2vl: \"");
	for (unsigned sl = 0; sl < N_SLS; sl++)
		strbuf_printf(out, "%s%u", sl ? "," : "", p->tables.sl2vl.vl[sl]);
	strbuf_puts(out, "\"\ntraffic:\n");
	for (unsigned i = 0; i < g->n; i++) {
		if (sending[i] == SILENT)
			continue;
		strbuf_printf(
			out,
			"- {name: %s, kind: %s, pattern: pairs, source: h%u, destination: h%u, sl: %u, payload: %u",
			names[i], sending[i] == ITS_SHARE ? "cbr" : "saturating", i, g->n,
			p->outcome[i].sl, g->classes[i].payload);
		if (sending[i] == ITS_SHARE)
			strbuf_printf(out, ", load: %u%%", (unsigned)g->classes[i].share.num);
		strbuf_puts(out, "}\n");
	}
	strbuf_puts(out, "run: {warmup: 1ms, measure: 12ms}\n");
}

/* Measures the share of the link, on the wire, of each class. */
static void simulate(const struct goals *g, const struct plan *p, const enum sending *sending,
		     double *share)
{
	struct strbuf text = STRBUF_INIT;
	struct test_run r;
	unsigned row = 0;

	print_scenario(&text, g, p, sending);
	test_run_init(&r, text.text);
	double seconds = (double)(r.metrics->to - r.metrics->from) * 1e-12;

	for (unsigned i = 0; i < g->n; i++) {
		share[i] = 0;
		if (sending[i] == SILENT)
			continue;
		double bytes = (double)r.rows[row++].delivered_payload *
			       (g->classes[i].payload + OVERHEAD) / g->classes[i].payload;

		share[i] = bytes * 8 / seconds / 8e9;
	}
	test_run_fini(&r);
	strbuf_fini(&text);
}

/* Of each kind, keeps only the class with the largest packets. */
static void leave_largest(const struct goals *g, bool latency, enum sending *sending)
{
	unsigned largest = MOST;

	for (unsigned i = 0; i < g->n; i++) {
		if (g->classes[i].latency == latency &&
		    (largest == MOST || g->classes[i].payload > g->classes[largest].payload))
			largest = i;
	}
	for (unsigned i = 0; i < g->n; i++) {
		if (g->classes[i].latency == latency && i != largest)
			sending[i] = SILENT;
	}
}

/*
 * All classes send without end; then those that delay low classes most, then high ones; then random
 * ones. No sender may get less than its floor.
 */
static void check_floors(const struct goals *g, const struct plan *p, struct rng *rng,
			 double least[MOST])
{
	for (unsigned mix = 0; mix < 4; mix++) {
		enum sending sending[MOST];
		double share[MOST];

		for (unsigned i = 0; i < g->n; i++)
			sending[i] = mix == 3 && rng_below(rng, 2) ? SILENT : WITHOUT_END;
		if (mix == 1 || mix == 2)
			leave_largest(g, mix == 1, sending);
		sending[rng_below(rng, g->n)] = WITHOUT_END;
		simulate(g, p, sending, share);
		for (unsigned i = 0; i < g->n; i++) {
			if (sending[i] == SILENT)
				continue;
			assert_true(share[i] >= p->outcome[i].floor - SHARES_NEAR);
			least[i] = fmin(least[i], share[i]);
		}
	}
}

static void check_promises(const struct goals *g, const struct plan *p)
{
	enum sending sending[MOST];
	double share[MOST];

	for (unsigned i = 0; i < g->n; i++)
		sending[i] = g->classes[i].latency ? ITS_SHARE : WITHOUT_END;
	simulate(g, p, sending, share);
	for (unsigned i = 0; i < g->n; i++) {
		if (fabs(share[i] - p->outcome[i].achieved) < 0.02)
			continue;
		fail_msg("class %s, %u bytes: promised %.4f, simulated %.4f", names[i],
			 g->classes[i].payload, p->outcome[i].achieved, share[i]);
	}
}

static void plans_keep_their_promises(void **state)
{
	const unsigned sets = cases_of_run(80, 2000);
	unsigned refused = 0, floors = 0, near = 0;
	struct rng rng;

	(void)state;
	rng_init(&rng, 15, 0);
	for (unsigned set = 0; set < sets; set++) {
		struct goals g = draw(&rng);
		struct diag d = { .status = HD_OK };
		double least[MOST] = { 1, 1, 1, 1, 1, 1 };
		struct plan p;

		if (plan_make(g.classes, g.n, &g.link, &d, &p) != HD_OK) {
			/* Small tables only, and with the arithmetic. */
			assert_true(g.link.entries < 64);
			assert_non_null(strstr(d.message, "entries"));
			refused++;
			continue;
		}
		assert_true(p.tables.vlarb.n_high <= g.link.entries &&
			    p.tables.vlarb.n_low <= g.link.entries);
		check_promises(&g, &p);
		check_floors(&g, &p, &rng, least);
		for (unsigned i = 0; i < g.n; i++, floors++)
			near += least[i] < 1.1 * p.outcome[i].floor + 0.005;
		plan_fini(&p);
	}
	print_message("%u goal sets, %u refused; %u of %u floors reached\n", sets, refused, near,
		      floors);
	assert_true(2 * refused < sets);
	/* Floors are tight: some senders come near. */
	assert_true(4 * near > 3 * floors);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plans_keep_their_promises),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
