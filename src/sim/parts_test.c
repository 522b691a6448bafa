/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a run measures is the same, to the bit, in any number of parts and on
 * any number of threads. That packets take the same way is the oracle's
 * business (tests/oracle/compare_test.c).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <time.h>

#include "base/rng.h"
#include "fabric/build_for_tests.h"
#include "sim/workload_for_tests.h"

static void same_histograms(const struct histogram *a,
			    const struct histogram *b)
{
	struct histogram_bucket x, y;
	unsigned i = 0, j = 0;

	assert_int_equal(a->n, b->n);
	assert_int_equal(a->sum_low, b->sum_low);
	assert_int_equal(a->min, b->min);
	assert_int_equal(a->max, b->max);
	assert_memory_equal(a->squares, b->squares, sizeof(a->squares));
	while (histogram_next(a, &i, &x)) {
		assert_true(histogram_next(b, &j, &y));
		assert_memory_equal(&x, &y, sizeof(x));
	}
	assert_false(histogram_next(b, &j, &y));
}

static void same_numbers(double a, double b)
{
	assert_memory_equal(&a, &b, sizeof(a));
}

static void same_groups(const struct sim_group *a, const struct sim_group *b)
{
	same_histograms(&a->latency, &b->latency);
	assert_memory_equal(a->within, b->within, sizeof(a->within));
	assert_int_equal(a->timed, b->timed);
	assert_memory_equal(a->jitter, b->jitter, sizeof(a->jitter));
	assert_int_equal(a->jitter_n, b->jitter_n);
	assert_int_equal(a->jitter_abs_low, b->jitter_abs_low);
}

static void same_metrics(const struct sim_metrics *a,
			 const struct sim_metrics *b)
{
	assert_int_equal(a->from, b->from);
	assert_int_equal(a->to, b->to);
	assert_int_equal(a->hops, b->hops);
	assert_int_equal(a->made, b->made);
	assert_int_equal(a->made_bytes, b->made_bytes);
	assert_int_equal(a->delivered, b->delivered);
	assert_int_equal(a->delivered_bytes, b->delivered_bytes);
	assert_memory_equal(a->lost, b->lost, sizeof(a->lost));
	assert_int_equal(a->checksum, b->checksum);
	same_numbers(a->mean_latency.mean, b->mean_latency.mean);
	same_numbers(a->mean_latency.half_width, b->mean_latency.half_width);
	same_numbers(a->mean_latency.lag1, b->mean_latency.lag1);
	assert_int_equal(a->mean_latency.batches, b->mean_latency.batches);
	same_numbers(a->jain, b->jain);
	same_histograms(&a->latency, &b->latency);
	assert_int_equal(a->n_groups, b->n_groups);
	for (uint32_t i = 0; i < a->n_groups; i++)
		same_groups(&a->groups[i], &b->groups[i]);
	assert_memory_equal(a->flows, b->flows, a->n_flows * sizeof(*a->flows));
	for (uint32_t i = 0; i < a->n_ports; i++) {
		struct sim_counters x, y;

		sim_port_counters(a, i, &x);
		sim_port_counters(b, i, &y);
		assert_memory_equal(&x, &y, sizeof(x));
	}
	assert_memory_equal(a->ports, b->ports, a->n_ports * sizeof(*a->ports));
}

static void rules_of(unsigned which, struct sim_rules *r)
{
	sim_rules_init(r);
	r->warmup = 2 * HD_US;
	r->stop = 30 * HD_US;
	switch (which) {
	case 1:
		r->packets = 777;
		break;
	case 2:
		r->packets_per_flow = 6;
		break;
	case 3:
		r->packets_per_sl = 300;
		r->warmup_packets = 100;
		break;
	case 4:
		r->precision = 0.05;
		break;
	case 5:
		r->flow_metrics = r->port_metrics = false;
		break;
	default:
		r->stop = 12 * HD_US;
	}
}

#define RULES 6

/* ---- threads that dawdle ---------------------------------------------- */

/*
 * An endpoint whose timers take their time, now in this part and now in that,
 * so that threads wait for each other in ever other places.
 */
static const struct timespec naps[] = { { 0, 0 }, { 0, 2000 }, { 0, 60000 } };

static void nap(void *context, hd_time now, uint32_t node)
{
	struct sim *part = context;
	struct rng r;

	rng_init(&r, node, now);
	nanosleep(&naps[rng_below(&r, 3)], NULL);
	sim_timer(part, 0, node, now + 1 + rng_below(&r, 2 * HD_US), node);
}

static void nap_in_parts(void *context, const struct sim_cut *cut,
			 void **contexts)
{
	(void)context;
	for (uint32_t i = 0; i < cut->n; i++)
		contexts[i] = cut->parts[i];
}

static void dawdle(struct sim *s, const struct sim_setup *setup)
{
	const struct sim_endpoint e = { .context = s,
					.timer = nap,
					.cut = nap_in_parts };

	sim_attach(s, &e);
	for (uint32_t i = 0; i < setup->n_nodes; i += 3) {
		if (setup->nodes[i].kind == SIM_END)
			sim_timer(s, 0, i, 1 + i, i);
	}
}

/* ---- what observers are told --------------------------------------------- */

struct told {
	uint64_t n, sum;
};

static void hear(struct told *t, hd_time at, uint32_t where, uint32_t flow,
		 uint32_t sequence, unsigned what)
{
	uint64_t x = at ^ (uint64_t)where << 40 ^ (uint64_t)flow << 24 ^
		     sequence ^ (uint64_t)what << 60;

	t->n++;
	t->sum = (t->sum ^ x) * UINT64_C(0x100000001b3);
}

static void hear_delivered(void *context, hd_time now, uint32_t node,
			   const struct sim_packet *p)
{
	hear(context, now, node, p->flow, p->sequence, 1);
}

static void hear_ended(void *context, const struct sim_event_record *e,
		       const struct sim_packet *p)
{
	hear(context, e->time, e->where, p->flow, e->sequence, 2 + e->fate);
}

static void hear_granted(void *context, hd_time now, uint32_t port,
			 const struct sim_packet *p)
{
	hear(context, now, port, p->flow, p->sequence, p->marked ? 14 : 15);
}

static void hear_updated(void *context, hd_time now, uint32_t port,
			 const struct sim_update *u)
{
	hear(context, now, port, u->fctbs, u->fccl, 13);
}

static const struct sim_observer hearer = { .delivered = hear_delivered,
					    .ended = hear_ended,
					    .granted = hear_granted,
					    .updated = hear_updated };

static struct sim *run(const struct workload *w, struct sim_rules *r,
		       uint32_t parts, uint32_t threads, enum sim_state want)
{
	const char *why;

	r->parts = parts;
	r->threads = threads;
	r->cut_seed = parts + threads;
	struct sim *s = sim_new(&w->fabric.setup, w->flows, w->n_flows, r);

	if (r->packets)
		dawdle(s, &w->fabric.setup);

	/* A pause to look changes nothing. */
	assert_int_equal(sim_run(s, 3 * HD_US + 321, NULL, NULL), SIM_PAUSED);
	sim_metrics(s);
	assert_int_equal(sim_run(s, HD_TIME_NEVER, NULL, NULL), want);
	assert_int_equal(sim_is_cut(s, &why), parts);
	assert_null(why);
	return s;
}

static void check(const struct workload *w, enum sim_state want)
{
	static const uint32_t cuts[][2] = { { 2, 2 }, { 3, 1 }, { 7, 3 } };

	for (unsigned which = 0; which < RULES; which++) {
		struct sim_rules r;

		rules_of(which, &r);
		struct sim *one = run(w, &r, 1, 1, want);

		for (unsigned i = 0; i < sizeof(cuts) / sizeof(*cuts); i++) {
			struct sim *s =
				run(w, &r, cuts[i][0], cuts[i][1], want);

			same_metrics(sim_metrics(one), sim_metrics(s));
			assert_int_equal(sim_now(one), sim_now(s));
			sim_free(s);
		}
		sim_free(one);
	}
}

static void parts_measure_what_the_whole_does(void **state)
{
	struct workload w;

	(void)state;
	workload_init(&w, workload_find("fat tree, 16 hosts"));
	check(&w, SIM_ENDED);
	workload_fini(&w);
}

/* Every host at the same instants, so that order within them matters. */
static void parts_agree_on_instants(void **state)
{
	struct workload w;

	(void)state;
	workload_init(&w, workload_find("fat tree, 16 hosts"));
	for (uint32_t i = 0; i < w.n_flows; i++) {
		w.flows[i].kind = SIM_CBR;
		/* Some have one destination, and jitter. */
		if (i % 3 == 0)
			w.flows[i].to.choice = SIM_TO_FIXED;
		if (i % 3 == 0 && w.flows[i].to.self == 0)
			w.flows[i].to.list = &w.fabric.ends[5];
	}
	check(&w, SIM_ENDED);
	workload_fini(&w);
}

/* Flows that end: nothing is left to do before the rules hold. */
static void ends_by_itself(enum sim_credits credits, double loss,
			   hd_time propagation)
{
	struct workload w;

	workload_init(&w, workload_find("fat tree, 16 hosts"));
	for (uint32_t i = 0; i < w.n_flows; i++)
		w.flows[i].count = 6;
	w.fabric.setup.credits = credits;
	for (uint32_t i = 0; i < w.fabric.setup.n_ports; i++) {
		w.fabric.setup.ports[i].update_loss = loss;
		w.fabric.setup.ports[i].propagation = propagation;
	}
	struct sim_rules r;

	sim_rules_init(&r);
	struct sim *one = run(&w, &r, 1, 1, SIM_IDLE);
	struct sim *many = run(&w, &r, 5, 2, SIM_IDLE);

	same_metrics(sim_metrics(one), sim_metrics(many));
	assert_int_equal(sim_now(one), sim_now(many));
	assert_int_equal(sim_metrics(one)->delivered, 6 * w.n_flows);
	sim_free(one);
	sim_free(many);
	workload_fini(&w);
}

static void parts_become_idle_at_the_same_time(void **state)
{
	(void)state;
	ends_by_itself(SIM_CREDITS_DELAY, 0, 10 * HD_NS);
	/* Timers of flow control do not go on beyond that, though they would in
	 * the same window. */
	for (hd_time p = 2 * HD_US; p < 5 * HD_US; p += HD_US) {
		ends_by_itself(SIM_CREDITS_EXACT, 0, p);
		ends_by_itself(SIM_CREDITS_EXACT, 0.2, p);
		ends_by_itself(SIM_CREDITS_DELAY, 0.2, p);
	}
}

/* ---- whole scenarios ----------------------------------------------------- */

#define TREE                                                           \
	"fabric:\n  topology: {kind: fat-tree, radix: 4, levels: 3}\n" \
	"  switch: {input_buffer: 4 packets}\n"
#define LOADED                                                             \
	"traffic:\n"                                                       \
	"- {name: in, kind: saturating, pattern: incast, source: h1..h6, " \
	"destination: h9, payload: 512}\n"                                 \
	"- {name: rest, kind: poisson, load: 40%, payload: 1KiB}\n"
/* Links so slow that credits come later than what is routed counts. */
#define SLOW_TREE                                                          \
	"fabric:\n  topology: {kind: fat-tree, radix: 4, levels: 3}\n"     \
	"  link: {rate: 4x DDR}\n"                                         \
	"  switch: {input_buffer: 4 packets, routing: 20ns, arbitration: " \
	"80ns}\n"
#define HEAVY                                                              \
	"traffic:\n"                                                       \
	"- {name: in, kind: saturating, pattern: incast, source: h1..h6, " \
	"destination: h9, payload: 256}\n"                                 \
	"- {name: rest, kind: poisson, load: 60%, payload: 256}\n"
#define ENDS "run: {warmup: 5us, measure: 60us}\n"

/* How far apart parts are differs in each of them. */
static const char *const scenarios[] = {
	TREE LOADED "congestion: {algorithm: cct, timeout: 20us, "
		    "marking: {rule: iba, threshold: 12, rate: 1}}\n" ENDS,
	TREE LOADED "congestion: {algorithm: cct, echo: cnp, marking: "
		    "{rule: iba, threshold: 15, rate: 1}}\n" ENDS,
	TREE LOADED "congestion: {algorithm: fimd, marking: two-counter, "
		    "window: 3, timeout: 9us}\n" ENDS,
	TREE LOADED "congestion: {algorithm: aimd, marking: {rule: threshold, "
		    "depth: 1KiB}, ack: {delay: 37ns}}\n" ENDS,
	TREE LOADED "congestion: {algorithm: lipd, marking: two-counter, "
		    "ack: {delay: 2us}}\n" ENDS,
	/* Only marks and answers bound. */
	SLOW_TREE HEAVY "congestion: {algorithm: cct, marking: {rule: "
			"threshold, depth: 600}, ack: {delay: 2us}}\n" ENDS,
	SLOW_TREE HEAVY "congestion: {algorithm: cct, marking: {rule: "
			"threshold, depth: 900}, ack: {delay: 9ns}}\n" ENDS,
	/* Some are admitted, some are not, some end. */
	TREE "traffic:\n"
	     "- {name: asks, kind: poisson, load: 20%, pattern: incast, "
	     "destination: h9, reserve: 20Gb/s, payload: 512, count: 30}\n"
	     "- {name: more, kind: saturating, pattern: pairs, source: "
	     "h0..h3, destination: h8..h11, reserve: 5Gb/s, start: 8us, "
	     "stop: 40us}\n"
	     "congestion: {algorithm: pipd}\n" ENDS,
	TREE "qos:\n  lanes: 4\n  high: none\n  low: '0:1,1:1,2:1,3:1'\n"
	     "  thresholds: {mechanism: et, at: 4, capacity: 10}\n"
	     "traffic:\n"
	     "- {name: a, kind: ge, scv: 5, sl: 0, load: 50%, payload: 128}\n"
	     "- {name: b, kind: poisson, sl: 2, load: 20%, payload: 512}\n"
	     "- {name: c, kind: saturating, sl: 3, payload: 512, source: h0, "
	     "destination: h9, pattern: pairs}\n" ENDS,
};

static void same_control(struct sim *a, struct sim *b, uint32_t n_flows)
{
	struct sim_control_counts x, y;

	sim_control_counts(a, &x);
	sim_control_counts(b, &y);
	assert_memory_equal(&x, &y, sizeof(x));
	for (uint32_t i = 0; i < n_flows; i++) {
		struct sim_flow_control f = { 0 }, g = { 0 };
		struct sim_admission c = { 0 }, d = { 0 };

		assert_int_equal(sim_flow_control(a, i, &f),
				 sim_flow_control(b, i, &g));
		assert_memory_equal(&f, &g, sizeof(f));
		assert_int_equal(sim_admission(a, i, &c),
				 sim_admission(b, i, &d));
		assert_memory_equal(&c, &d, sizeof(c));
	}
}

static void same_lanes(struct sim *a, struct sim *b, uint32_t n_ports)
{
	for (uint32_t i = 0; i < n_ports; i++) {
		for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
			struct sim_lane_use x = { 0 }, y = { 0 };

			assert_int_equal(sim_lane_use(a, i, vl, 0.95, &x),
					 sim_lane_use(b, i, vl, 0.95, &y));
			assert_memory_equal(&x, &y, sizeof(x));
		}
	}
}

static void scenario_is_the_same(const char *text)
{
	static const uint32_t cuts[][2] = { { 2, 2 }, { 3, 1 }, { 20, 3 } };
	struct fabric *f;

	must_build(text, &f);
	struct workload w = { .fabric.setup = f->setup,
			      .flows = f->flows,
			      .n_flows = f->n_flows };
	struct sim_rules r = f->rules;
	struct sim *one = run(&w, &r, 1, 1, SIM_ENDED);

	assert_true(sim_metrics(one)->delivered > 100);
	for (unsigned i = 0; i < sizeof(cuts) / sizeof(*cuts); i++) {
		struct sim *s = run(&w, &r, cuts[i][0], cuts[i][1], SIM_ENDED);

		same_metrics(sim_metrics(one), sim_metrics(s));
		if (f->setup.control)
			same_control(one, s, f->n_flows);
		same_lanes(one, s, f->setup.n_ports);
		sim_free(s);
	}
	sim_free(one);
	fabric_free(f);
}

/* Losses of every kind, which are told at other instants than they happen. */
static const char *const watched[] = {
	TREE LOADED "faults: {ber: 1e-6, hoq_life: 2us, events: ["
		    "{at: 10us, kind: link-down, port: 's2-0:1'}, "
		    "{at: 15us, kind: link-up, port: 's2-0:1'}, "
		    "{at: 12us, kind: sink-stuck, port: h9}, "
		    "{at: 20us, kind: sink-free, port: h9}]}\n" ENDS,
	TREE "  credits: exact\n" LOADED "congestion: {algorithm: cct, "
	     "marking: {rule: iba, threshold: 12, rate: 1}}\n" ENDS,
};

static struct told hear_run(const struct fabric *f, uint32_t parts,
			    uint32_t threads)
{
	struct told told = { 0, 0 };
	struct sim_observer o = hearer;
	struct sim_rules r = f->rules;

	o.context = &told;
	r.parts = parts;
	r.threads = threads;
	r.cut_seed = parts;
	struct sim *s = sim_new(&f->setup, f->flows, f->n_flows, &r);

	sim_observe(s, &o);
	sim_run(s, HD_TIME_NEVER, NULL, NULL);
	sim_free(s);
	return told;
}

static void observers_are_told_in_one_order(void **state)
{
	static const uint32_t cuts[][2] = { { 2, 2 }, { 7, 3 }, { 20, 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof(watched) / sizeof(*watched); i++) {
		struct fabric *f;

		must_build(watched[i], &f);
		struct told one = hear_run(f, 1, 1);

		assert_true(one.n > 10000);
		for (size_t k = 0; k < sizeof(cuts) / sizeof(*cuts); k++) {
			struct told many = hear_run(f, cuts[k][0], cuts[k][1]);

			assert_int_equal(one.n, many.n);
			assert_int_equal(one.sum, many.sum);
		}
		fabric_free(f);
	}
}

static void control_probes_and_loans_are_the_same_in_parts(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++)
		scenario_is_the_same(scenarios[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_measure_what_the_whole_does),
		cmocka_unit_test(parts_agree_on_instants),
		cmocka_unit_test(parts_become_idle_at_the_same_time),
		cmocka_unit_test(observers_are_told_in_one_order),
		cmocka_unit_test(
			control_probes_and_loans_are_the_same_in_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
