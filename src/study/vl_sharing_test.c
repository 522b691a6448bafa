/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/seeds_for_tests.h"
#include "model/credit.h"
#include "model/gth.h"
#include "sim/sim.h"
#include "study/vl_sharing_model.h"

#define LEVEL 0.999

struct rig {
	struct fabric *fabric;
};

/* Sets the parts of a scenario that differ; "" keeps the default. */
static void rig_init(struct rig *r, const char *fabric, const char *qos, const char *rest)
{
	struct strbuf text = STRBUF_INIT;
	struct diag d = { .status = HD_OK };

	strbuf_printf(&text, "fabric: %s\nqos: %s\n%s\n", fabric, qos, rest);
	if (fabric_load(text.text, text.len, NULL, NULL, &d, &r->fabric) != HD_OK)
		fail_msg("%s", d.message);
	strbuf_fini(&text);
}

static void rig_fini(struct rig *r)
{
	fabric_free(r->fabric);
}

/* ---- by hand ------------------------------------------------------------- */

/*
 * Two hosts and a switch without delay; 64 bytes take 1 us on a link, 1 ps to
 * the next. A packet granted at g is delivered at g + 1 us + 2 ps.
 */
#define HAND_FABRIC                                                               \
	"{topology: {kind: star, hosts: 2}, link: {rate: 512Mb/s, "               \
	"propagation: 1ps}, packet: {overhead: 0}, switch: {routing_delay: 0ns, " \
	"arbitration_delay: 0ns, input_buffer: 64 packets}, "                     \
	"host: {input_buffer: 64 packets}}"
#define HAND_TRAFFIC "traffic: [{name: any, kind: cbr, payload: 64, rate: 1Mb/s}]"
#define TABLE        "high: none, low: '0:1,1:1,2:1,3:1'"

struct hand {
	struct sim_arrival arrivals[16];
	size_t n;
	struct sim_record record;
	uint32_t port; /* of the sender */
};

/* `count` packets of SL `sl` at `time`; flow is the SL. */
static void hand_add(struct hand *h, hd_time time, unsigned sl, unsigned count)
{
	uint32_t sequence = 0;

	for (size_t i = 0; i < h->n; i++)
		sequence += h->arrivals[i].sl == sl;
	for (unsigned i = 0; i < count; i++)
		h->arrivals[h->n++] = (struct sim_arrival){
			.time = time,
			.flow = sl,
			.sequence = sequence + i,
			.pkey = 0xffff,
			.bytes = 64,
			.sl = (uint8_t)sl,
		};
}

static void hand_run(struct hand *h, const char *thresholds)
{
	struct rig r;
	struct strbuf qos = STRBUF_INIT;

	strbuf_printf(&qos, "{vls: 4, " TABLE ", thresholds: %s}", thresholds);
	rig_init(&r, HAND_FABRIC, qos.text, HAND_TRAFFIC);
	const struct sim_setup *s = &r.fabric->setup;
	uint32_t ends[2] = { 0, 0 }, n = 0;

	for (uint32_t v = 0; v < s->n_nodes; v++) {
		if (s->nodes[v].kind == SIM_END)
			ends[n++] = v;
	}
	h->port = s->nodes[ends[0]].first_port + 1;
	for (size_t i = 0; i < h->n; i++) {
		h->arrivals[i].source = ends[0];
		h->arrivals[i].dlid =
			r.fabric->subnet
				.lid_of_port[s->ports[s->nodes[ends[1]].first_port + 1].origin];
	}
	sim_replay(s, h->arrivals, h->n, HD_MS, &h->record);
	rig_fini(&r);
	strbuf_fini(&qos);
}

/* When (in us after the first grant's start) the packet's tail has left. */
static unsigned left_at(const struct hand *h, unsigned sl, unsigned sequence)
{
	for (size_t i = 0; i < h->record.n_events; i++) {
		const struct sim_event_record *e = &h->record.events[i];

		if (e->flow != sl || e->sequence != sequence)
			continue;
		if (e->fate != SIM_DELIVERED)
			return 0;
		assert_int_equal((e->time - 2) % HD_US, 0);
		return (unsigned)((e->time - 2) / HD_US);
	}
	fail_msg("packet %u of SL %u has no end", sequence, sl);
	return 0;
}

static void check_times(const struct hand *h, unsigned sl, const unsigned *expected, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(left_at(h, sl, i), expected[i]);
}

static uint64_t on_vl(const struct hand *h, unsigned vl)
{
	return h->record.counters[h->port].xmit_packets_vl[vl];
}

static void full_vl_refuses_and_acquired_vl_adds_capacity(void **state)
{
	struct hand bounded = { .n = 0 }, et = { .n = 0 };

	(void)state;
	hand_add(&bounded, 0, 0, 7);
	hand_run(&bounded, "{capacity: 3}");
	check_times(&bounded, 0, (const unsigned[]){ 1, 2, 3, 0, 0, 0, 0 }, 7);
	sim_record_fini(&bounded.record);

	/* The third one opens VL 1: room for six. */
	hand_add(&et, 0, 0, 7);
	hand_run(&et, "{mechanism: et, at: 3, capacity: 3}");
	check_times(&et, 0, (const unsigned[]){ 1, 2, 3, 4, 5, 6, 0 }, 7);
	sim_record_fini(&et.record);
}

/*
 * Five packets, threshold 3: VL 1 takes the second, takes another one while three or more are left,
 * and is released when two are left.
 */
static void acquired_vl_takes_turns_until_released(void **state)
{
	struct hand h = { .n = 0 };

	(void)state;
	hand_add(&h, 0, 0, 5);
	hand_run(&h, "{mechanism: et, at: 3, capacity: 10}");
	check_times(&h, 0, (const unsigned[]){ 1, 2, 3, 4, 5 }, 5);
	assert_int_equal(on_vl(&h, 0), 3);
	assert_int_equal(on_vl(&h, 1), 2);
	assert_int_equal(on_vl(&h, 2) + on_vl(&h, 3), 0);
	sim_record_fini(&h.record);
}

/* Assumption (b): VL 1's own packets wait until VL 0 has finished. */
static void acquired_vl_sends_packets_of_its_user_first(void **state)
{
	struct hand h = { .n = 0 }, without = { .n = 0 };

	(void)state;
	hand_add(&h, 0, 0, 5);
	hand_add(&h, HD_US / 2, 1, 1);
	hand_run(&h, "{mechanism: et, at: 3, capacity: 10}");
	check_times(&h, 0, (const unsigned[]){ 1, 2, 3, 4, 5 }, 5);
	check_times(&h, 1, (const unsigned[]){ 6 }, 1);
	sim_record_fini(&h.record);

	hand_add(&without, 0, 0, 5);
	hand_add(&without, HD_US / 2, 1, 1);
	hand_run(&without, "{capacity: 10}");
	check_times(&without, 1, (const unsigned[]){ 2 }, 1);
	sim_record_fini(&without.record);
}

/*
 * Assumptions (a) and (c): VL 0 and VL 1 reach their threshold, VL 2 is the
 * only free VL. VL 1 waits and acquires it when VL 0 is done.
 */
static void user_without_a_free_vl_waits(void **state)
{
	struct hand h = { .n = 0 };

	(void)state;
	hand_add(&h, 0, 0, 3);
	hand_add(&h, 0, 1, 4);
	hand_run(&h, "{mechanism: ajt, at: 3, capacity: 10, high: '0,1', high_shared: 2}");
	check_times(&h, 0, (const unsigned[]){ 1, 3, 4 }, 3);
	check_times(&h, 1, (const unsigned[]){ 2, 5, 6, 7 }, 4);
	assert_int_equal(on_vl(&h, 2), 2);
	sim_record_fini(&h.record);
}

/*
 * Four packets, thresholds 3 and 4: VL 1 takes the second, VL 2 the third. They
 * leave by VL 0, 1, 2 in turn. When two are left VL 0 is entitled to nothing;
 * VL 1 is empty, but cannot be given back before VL 2, which still has one.
 * It takes no other (B4), so the last one leaves by VL 0.
 */
static void a_vl_that_waits_to_be_given_back_takes_nothing(void **state)
{
	struct hand h = { .n = 0 };

	(void)state;
	hand_add(&h, 0, 0, 4);
	hand_run(&h, "{mechanism: ajt, at: '3,4', capacity: 10, high: 0, high_shared: '1,2'}");
	check_times(&h, 0, (const unsigned[]){ 1, 2, 3, 4 }, 4);
	assert_int_equal(on_vl(&h, 0), 2);
	assert_int_equal(on_vl(&h, 1), 1);
	assert_int_equal(on_vl(&h, 2), 1);
	sim_record_fini(&h.record);
}

static void job_thresholds_open_shared_vls_of_their_priority_only(void **state)
{
	struct hand high = { .n = 0 }, low = { .n = 0 };
	const char *rule =
		"{mechanism: ajt, at: 2, capacity: 10, high: 0, high_shared: 3, low: 1, low_shared: 2}";

	(void)state;
	hand_add(&high, 0, 0, 4);
	hand_run(&high, rule);
	assert_int_equal(on_vl(&high, 0), 2);
	assert_int_equal(on_vl(&high, 3), 2);
	assert_int_equal(on_vl(&high, 1) + on_vl(&high, 2), 0);
	sim_record_fini(&high.record);

	hand_add(&low, 0, 1, 4);
	hand_run(&low, rule);
	assert_int_equal(on_vl(&low, 1), 2);
	assert_int_equal(on_vl(&low, 2), 2);
	assert_int_equal(on_vl(&low, 0) + on_vl(&low, 3), 0);
	sim_record_fini(&low.record);
}

/* The chain of Fig. 5.7: each threshold one shared VL more. */
static void each_job_threshold_opens_one_vl_more(void **state)
{
	const char *rule = "{mechanism: ajt, at: '3,5', capacity: 3, high: 0, high_shared: '1,2'}";

	(void)state;
	for (unsigned n = 1; n <= 10; n++) {
		struct hand h = { .n = 0 };
		unsigned vls = n >= 5 ? 3 : n >= 3 ? 2 : 1;

		hand_add(&h, 0, 0, n);
		hand_run(&h, rule);
		/* Room for 3, 6 and 9. */
		assert_int_equal(on_vl(&h, 0) + on_vl(&h, 1) + on_vl(&h, 2), n < 9 ? n : 9);
		assert_int_equal(on_vl(&h, 1) > 0, vls > 1);
		assert_int_equal(on_vl(&h, 2) > 0, vls > 2);
		sim_record_fini(&h.record);
	}
}

static void vl_with_own_packets_is_not_acquired(void **state)
{
	struct hand h = { .n = 0 };

	(void)state;
	hand_add(&h, 0, 1, 2);
	hand_add(&h, 0, 2, 2);
	hand_add(&h, 0, 3, 2);
	for (unsigned i = 0; i < 4; i++)
		hand_add(&h, 1, 0, 1);
	/* VL 0's first has to wait for VL 1's. */
	hand_run(&h, "{mechanism: et, at: 4, capacity: 4}");
	/* Turns: 1, 2, 3, 0, 1, 2, 3, and only then are VLs empty. */
	check_times(&h, 1, (const unsigned[]){ 1, 5 }, 2);
	check_times(&h, 2, (const unsigned[]){ 2, 6 }, 2);
	check_times(&h, 3, (const unsigned[]){ 3, 7 }, 2);
	check_times(&h, 0, (const unsigned[]){ 4, 8, 9, 10 }, 4);
	assert_int_equal(on_vl(&h, 0), 4);
	sim_record_fini(&h.record);
}

/* ---- against chains ------------------------------------------------------ */

/*
 * A rival on the last VL always has a packet of exponential size, and the
 * VL under study tiny ones, so that its packets leave at the points of a
 * Poisson process: one per VL and point. 16 means fit into the MTU; what a
 * packet adds to a turn (1 byte) is counted with the rival's 256.5 (whole
 * bytes, rounded up).
 */
#define RIVAL_BYTES 257.5
#define BYTE_US     0.004
#define CHAIN_FABRIC                                                               \
	"{topology: {kind: star, hosts: 2}, link: {rate: 2Gb/s, "                  \
	"propagation: 1ns}, packet: {overhead: 0}, switch: {routing_delay: 0ns, "  \
	"arbitration_delay: 0ns, input_buffer: 10 packets}, host: {input_buffer: " \
	"10 packets}}"

/* Packets of 1 byte at `lambda` per us, for about `count` of them. */
static void chain_rig(struct rig *r, double lambda, double ca2, const char *thresholds,
		      double count)
{
	struct strbuf qos = STRBUF_INIT, rest = STRBUF_INIT;

	strbuf_printf(&qos, "{vls: 4, " TABLE ", thresholds: %s}", thresholds);
	strbuf_printf(
		&rest,
		"traffic:\n"
		"- {name: jobs, kind: ge, scv: %g, payload: 1, source: h0, destination: h1, rate: %.0fkb/s}\n"
		"- {name: rival, kind: saturating, sl: 3, payload: 256, payload_scv: 1, source: h0, destination: h1}\n"
		"run: {seed: 3, warmup: 100us, measure: %.0fus, horizon: 100s}\n",
		ca2, lambda * 8000, count / lambda);
	rig_init(r, CHAIN_FABRIC, qos.text, rest.text);
	strbuf_fini(&qos);
	strbuf_fini(&rest);
}

static void chain_run(struct rig *r, struct sim_vl_use *use)
{
	const struct fabric *fabric = r->fabric;
	struct sim *s = sim_new(&fabric->setup, fabric->flows, fabric->n_flows, &fabric->rules);
	uint32_t port = fabric->setup.nodes[fabric->flows[0].source].first_port + 1;

	sim_run(s, HD_TIME_NEVER, NULL, NULL);
	assert_true(sim_vl_use(s, port, 0, LEVEL, use));
	sim_free(s);
}

/* Capacity of a VL, own or acquired. */
#define VL_ROOM 8

struct sweep_chain {
	double lambda, ca2;
	double nu; /* rate of turns */
	const unsigned *at;
	unsigned n_at;
};

/*
 * Arrivals in geometric batches, departures of 1 + (thresholds reached) at
 * rate nu: L and the share of arrivals refused.
 */
static void chain_solve(const struct sweep_chain *c, double *mean, double *blocking)
{
	unsigned n = VL_ROOM * (c->n_at + 1) + 1;
	double *rate = hd_alloc((size_t)n * n, sizeof(*rate));
	double *p = hd_alloc(n, sizeof(*p));
	double sigma = 2 / (c->ca2 + 1);

	for (unsigned i = 0; i < n; i++) {
		unsigned out = i > 0;
		double left = 1;

		for (unsigned k = 0; k < c->n_at; k++)
			out += i >= c->at[k];
		if (out)
			rate[i * n + (i - (out < i ? out : i))] += c->nu;
		for (unsigned j = i + 1; j < n; j++) {
			double share = j + 1 < n ? left * sigma : left;

			rate[i * n + j] += sigma * c->lambda * share;
			left -= share;
		}
	}
	assert_int_equal(gth_solve(rate, n, p), HD_OK);
	*mean = *blocking = 0;
	for (unsigned i = 0; i < n; i++) {
		*mean += i * p[i];
		/* The k-th of a batch finds no room: all before it entered. */
		*blocking += p[i] * pow(1 - sigma, n - 1 - i);
	}
	free(rate);
	free(p);
}

static void assert_within(const struct interval *in, double value)
{
	assert_true(in->sound);
	if (fabs(in->mean - value) > in->half_width)
		fail_msg("%g is not within %g +- %g", value, in->mean, in->half_width);
}

static double packets_to_play(void)
{
	return run_is_long() ? 2e6 : 60e3;
}

/* nu as the mechanism's turns give it: others' own bytes count too. */
static double rate_of_turns(void)
{
	return 1 / (RIVAL_BYTES * BYTE_US);
}

static void bounded_vls_are_the_exact_queue(void **state)
{
	static const double ca2[] = { 1, 5 };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		double lambda = 0.8, mean, blocking;
		struct sim_vl_use use;
		struct vl_forecast f;
		struct diag d = { .status = HD_OK };
		struct rig r;
		size_t n;

		chain_rig(&r, lambda, ca2[i], "{capacity: 8}", packets_to_play());
		chain_run(&r, &use);
		struct sweep_chain chain = { .lambda = lambda,
					     .ca2 = ca2[i],
					     .nu = rate_of_turns() };

		chain_solve(&chain, &mean, &blocking);
		assert_within(&use.jobs, mean);
		assert_within(&use.blocking, blocking);
		/* The model is this chain: it is valid here. */
		assert_int_equal(study_vl_sharing_forecast(r.fabric, 1, &d, &f, &n), HD_OK);
		assert_int_equal(n, 1);
		assert_true(fabs(f.without_result.mean_queue - mean) < 0.001 * mean);
		assert_true(fabs(f.without_result.blocking - blocking) < 0.001 * blocking);
		assert_within(&use.jobs, f.without_result.mean_queue);
		rig_fini(&r);
	}
}

static void check_thresholds(const char *text, const unsigned *at, unsigned n_at, double most_error)
{
	double lambda = 0.85, ca2 = 5, mean, blocking;
	struct sim_vl_use use;
	struct vl_forecast f;
	struct diag d = { .status = HD_OK };
	struct rig r;
	size_t n;

	chain_rig(&r, lambda, ca2, text, packets_to_play());
	chain_run(&r, &use);
	struct sweep_chain chain = { lambda, ca2, rate_of_turns(), at, n_at };

	chain_solve(&chain, &mean, &blocking);
	assert_within(&use.jobs, mean);
	assert_within(&use.blocking, blocking);
	assert_int_equal(use.refused, 0);
	assert_true(use.most > 8 * n_at && use.most <= 8 * (n_at + 1));
	/* The model serves one by one, the VLs in turns: near, not equal. */
	assert_int_equal(study_vl_sharing_forecast(r.fabric, 1, &d, &f, &n), HD_OK);
	assert_int_equal(f.with.n_regions, n_at + 1);
	assert_true(fabs(f.with_result.mean_queue - mean) < most_error * mean);
	assert_true(use.blocking.mean < f.without_result.blocking / 2);
	rig_fini(&r);
}

static void entry_thresholds_are_the_chain_of_their_turns(void **state)
{
	(void)state;
	check_thresholds("{mechanism: et, at: 4, capacity: 8}", (const unsigned[]){ 4 }, 1, 0.1);
	check_thresholds("{mechanism: et, at: 8, capacity: 8}", (const unsigned[]){ 8 }, 1, 0.1);
}

static void job_thresholds_are_the_chain_of_their_turns(void **state)
{
	(void)state;
	check_thresholds(
		"{mechanism: ajt, at: '4,12', capacity: 8, high: 0, high_shared: '1,2', low: 3}",
		(const unsigned[]){ 4, 12 }, 2, 0.1);
}

/* No other VL competes: a second VL adds capacity, but the link is no faster. */
static void without_rivals_an_acquired_vl_adds_capacity_only(void **state)
{
	struct vl_forecast f;
	struct diag d = { .status = HD_OK };
	struct rig r;
	size_t n;

	(void)state;
	rig_init(
		&r, CHAIN_FABRIC, "{vls: 4, thresholds: {mechanism: et, at: 4, capacity: 8}}",
		"traffic: [{name: jobs, kind: poisson, payload: 256, source: h0, destination: h1, load: 90%}]\nrun: {measure: 10us}");
	assert_int_equal(study_vl_sharing_forecast(r.fabric, 1, &d, &f, &n), HD_OK);
	assert_int_equal(n, 1);
	assert_true(fabs(f.with.mu[1] / f.with.mu[0] - 1) < 1e-9);
	assert_true(fabs(f.with.mu[0] - 1 / (256 * BYTE_US)) < 1e-9);
	rig_fini(&r);
}

/* ---- credits that take time ---------------------------------------------- */

/*
 * h0 sends tiny packets to h1 through a switch with room for `downstream` of
 * them; h2's exponential packets to h1 make the switch's output a server of
 * Poisson points. Node 1 needs no time itself, so that the loop's delay, from
 * a grant of h0 to the same place being offered again (two ways over the
 * cable and an update of 6 bytes), may stand anywhere in it.
 */
static void credit_rig(struct rig *r, const struct credit_link *link, hd_time propagation)
{
	struct strbuf fabric = STRBUF_INIT, rest = STRBUF_INIT;
	struct strbuf qos = STRBUF_INIT;

	strbuf_printf(&fabric,
		      "{topology: {kind: star, hosts: 3}, link: {rate: "
		      "2Gb/s, propagation: 1ns}, links: [{ports: h0, "
		      "propagation: %llups}], packet: {overhead: 0}, switch: "
		      "{routing_delay: 0ns, arbitration_delay: 0ns, input_buffer: 64KiB}, "
		      "host: {input_buffer: 64KiB}}",
		      (unsigned long long)propagation);
	strbuf_printf(&qos, "{vls: 2, high: none, low: '0:1,1:1', thresholds: {capacity: %zu}}",
		      link->upstream);
	strbuf_printf(
		&rest,
		"traffic:\n"
		"- {name: jobs, kind: poisson, payload: 1, source: h0, destination: h1, rate: %.0fkb/s}\n"
		"- {name: rival, kind: saturating, sl: 1, payload: 256, payload_scv: 1, source: h2, destination: h1}\n"
		"run: {seed: 5, warmup: 100us, measure: %.0fus, horizon: 100s}\n",
		link->lambda * 8000, packets_to_play() / link->lambda);
	rig_init(r, fabric.text, qos.text, rest.text);
	strbuf_fini(&fabric);
	strbuf_fini(&qos);
	strbuf_fini(&rest);
	/* The switch's buffer behind h0's cable: one block per packet. */
	struct sim_setup *s = &r->fabric->setup;
	uint32_t port = s->nodes[r->fabric->flows[0].source].first_port + 1;

	s->ports[s->ports[port].peer].in_blocks = (uint32_t)link->downstream;
}

/* A constant delay: what halves as phases double, taken to its limit. */
static void credit_limit(struct credit_link link, struct credit_result *out)
{
	struct diag d = { .status = HD_OK };
	struct credit_result half;

	link.phases = 8;
	assert_int_equal(credit_solve(&link, &d, NULL, &half), HD_OK);
	link.phases = 16;
	assert_int_equal(credit_solve(&link, &d, NULL, out), HD_OK);
	out->loss = 2 * out->loss - half.loss;
	out->mean_upstream = 2 * out->mean_upstream - half.mean_upstream;
}

static void check_credit(double load, size_t downstream, hd_time propagation)
{
	/*
	 * Who comes to an empty node 2 waits for what is left of a packet of
	 * the rival's, 256 bytes in the mean; who was behind another for a
	 * whole one, of 256.5; and both for a byte of their own.
	 */
	double service = downstream == 1 ? 257.0 : 257.25;
	struct credit_link link = {
		.lambda = load * rate_of_turns(),
		.mu1 = 1e5,
		.mu2 = 1 / (service * BYTE_US),
		.upstream = 4,
		.downstream = downstream,
		.delay = (2 * (double)propagation / 1e6) + 6 * BYTE_US,
	};
	struct credit_result model;
	struct sim_vl_use use;
	struct rig r;

	credit_rig(&r, &link, propagation);
	chain_run(&r, &use);
	credit_limit(link, &model);
	assert_within(&use.blocking, model.loss);
	assert_within(&use.jobs, model.mean_upstream);
	rig_fini(&r);
}

static void the_credit_chain_with_delay_is_the_fabric(void **state)
{
	(void)state;
	check_credit(0.5, 1, 300 * HD_NS);
	check_credit(0.7, 2, 400 * HD_NS);
	check_credit(0.7, 2, 1 * HD_US);
	check_credit(1.1, 3, 500 * HD_NS);
}

/* Without delay, places in a row are places of one queue: M/M/1/(n + m). */
static void without_delay_the_fabric_is_one_queue(void **state)
{
	struct credit_link link = { .lambda = 0.8 * rate_of_turns(),
				    .upstream = 4,
				    .downstream = 3 };
	double rho = 0.8, sum = 0;
	struct sim_vl_use use;
	struct rig r;

	(void)state;
	for (unsigned i = 0; i <= 7; i++)
		sum += pow(rho, i);
	credit_rig(&r, &link, 1);
	chain_run(&r, &use);
	assert_within(&use.blocking, pow(rho, 7) / sum);
	rig_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_vl_refuses_and_acquired_vl_adds_capacity),
		cmocka_unit_test(acquired_vl_takes_turns_until_released),
		cmocka_unit_test(acquired_vl_sends_packets_of_its_user_first),
		cmocka_unit_test(user_without_a_free_vl_waits),
		cmocka_unit_test(a_vl_that_waits_to_be_given_back_takes_nothing),
		cmocka_unit_test(job_thresholds_open_shared_vls_of_their_priority_only),
		cmocka_unit_test(each_job_threshold_opens_one_vl_more),
		cmocka_unit_test(vl_with_own_packets_is_not_acquired),
		cmocka_unit_test(bounded_vls_are_the_exact_queue),
		cmocka_unit_test(entry_thresholds_are_the_chain_of_their_turns),
		cmocka_unit_test(job_thresholds_are_the_chain_of_their_turns),
		cmocka_unit_test(without_rivals_an_acquired_vl_adds_capacity_only),
		cmocka_unit_test(the_credit_chain_with_delay_is_the_fabric),
		cmocka_unit_test(without_delay_the_fabric_is_one_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
