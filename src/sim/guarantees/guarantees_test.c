/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Claims of papers 000 and 003 about classes that share links, measured in the simulator: classes
 * keep their guarantees when others exceed their rates.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/fabric.h"
#include "fabric/setup_for_tests.h"
#include "qos/admission/network_for_tests.h"
#include "qos/admission/statistical_for_tests.h"
#include "sim/guarantees/star_for_tests.h"
#include "sim/report/run_for_tests.h"

/* ---- fabrics ------------------------------------------------------------- */

static double share(const struct test_run *r, unsigned row)
{
	double seconds = (double)(r->metrics->to - r->metrics->from) * 1e-12;

	return (double)r->rows[row].delivered_payload * 8 / seconds / 8e9;
}

static void run_with(struct test_run *r, const char *head, const char *tail)
{
	char text[4096];

	snprintf(text, sizeof(text), "%s%s", head, tail);
	test_run_init(r, text);
}

/* ---- 003: the published rule is no bound ------------------------------- */

/* A packet of 1000 bytes takes a microsecond. */
#define UNIT 1000u

struct shot {
	double at; /* microseconds */
	uint32_t from, to;
	uint8_t sl;
};

/*
 * Hosts 0-3 on switch A, 4-7 on B, 8-11 on C, 12-15 on E, around a hub. g1
 * (host 0) and g2 (host 4) send a unit every 2.5 to E; at A and B a low packet
 * and a cross packet delay the first by 2, so that the second is right behind
 * it. At the hub f (host 8) comes when all four stand before it, and a low
 * packet has just begun. Times are a nanosecond apart where order matters.
 */
static const struct shot counterexample[] = {
	{ 9.998, 2, 8, 1 },    { 9.998, 6, 9, 1 },  /* low at A and B */
	{ 9.999, 1, 10, 0 },   { 9.999, 5, 11, 0 }, /* cross */
	{ 10, 0, 12, 0 },      { 10, 4, 12, 0 },    /* g1, g2 */
	{ 11.996, 9, 12, 1 },                       /* low at the hub */
	{ 12.5, 0, 12, 0 },    { 12.5, 4, 12, 0 },  /* g1, g2 again */
	{ 12.9995, 8, 12, 0 },                      /* f */
};
#define N_SHOTS (sizeof(counterexample) / sizeof(counterexample[0]))

static int by_time(const void *a, const void *b)
{
	const struct sim_arrival *x = a, *y = b;

	return (x->time > y->time) - (x->time < y->time);
}

static void the_published_rule_is_broken_in_simulation(void **state)
{
	static const char *const words[] = { "star", "--switches=4", "--hosts=4", NULL };
	struct test_links links = {
		.rate = hd_rate_make(8000000000, 1), .propagation = 1, .in_blocks = 2048, .vls = 2
	};
	static struct test_fabric f;
	struct sim_arrival arrivals[N_SHOTS];
	struct sim_record record = { 0 };
	const double published = 3, bucket = 4.6;
	double wait = 0;

	(void)state;
	test_fabric_init(&f, words, "minhop", &links);
	f.setup.arbiter = SIM_STRICT;
	f.setup.sw.pick = SIM_OLDEST;
	for (uint32_t i = 0; i < N_SHOTS; i++) {
		const struct shot *shot = &counterexample[i];

		arrivals[i] = (struct sim_arrival){
			.time = (hd_time)(shot->at * 1e6),
			.flow = i,
			.source = f.end_nodes[shot->from],
			.dlid = f.ends[shot->to].dlid,
			.pkey = 0xffff,
			.bytes = UNIT,
			.sl = shot->sl,
			.target = TOPO_NONE,
		};
	}
	qsort(arrivals, N_SHOTS, sizeof(arrivals[0]), by_time);
	sim_replay(&f.setup, arrivals, N_SHOTS, HD_MS, &record);
	assert_int_equal(record.n_events, N_SHOTS);
	for (size_t i = 0; i < record.n_events; i++) {
		const struct sim_event_record *e = &record.events[i];

		assert_int_equal(e->fate, SIM_DELIVERED);
		/* All that is not transmission is waiting, at the hub. */
		if (e->flow == N_SHOTS - 1)
			wait = (double)e->time * 1e-6 - 12.9995 - 1;
	}
	print_message("f waits %.4f; published %.1f\n", wait, published);
	assert_true(wait > published && wait > 3.99 && wait <= bucket);
	sim_record_fini(&record);
	test_fabric_fini(&f);
}

/* ---- 003: two arbiters --------------------------------------------------- */

#define THREE_CLASSES                                                \
	"qos:\n  vls: 4\n  high_limit: 255\n  classes:\n"            \
	"  - {name: ts, sl: 0, vl: 0, priority: high, weight: 65}\n" \
	"  - {name: db, sl: 1, vl: 1, weight: 99}\n"                 \
	"  - {name: be, sl: 2, vl: 2, weight: 33}\n"                 \
	"  - {name: ch, sl: 3, vl: 3, weight: 1}\n"

#define GREEDY_DB                                                                           \
	"traffic:\n"                                                                        \
	"- {name: a-ts, kind: cbr, class: ts, pattern: pairs, source: h0, destination: h3," \
	" payload: 1024, rate: 800Mb/s}\n"                                                  \
	"- {name: b-db, kind: saturating, class: db, pattern: pairs, source: h1,"           \
	" destination: h3, payload: 2048}\n"                                                \
	"- {name: c-be, kind: saturating, class: be, pattern: pairs, source: h2,"           \
	" destination: h3, payload: 2048}\n"                                                \
	"run: {warmup: 100us, measure: 4ms}\n"

/* DB without a limit: IBA's low table still gives best effort its weight. */
static void best_effort_keeps_its_minimum_under_two_tables(void **state)
{
	struct test_run r;

	(void)state;
	run_with(&r, STAR THREE_CLASSES, GREEDY_DB);
	/* The rest of DBTS, in parts of 3 and 1 packets of 33 blocks. */
	double left = (1 - 0.1 * 1050 / 1024) * 2048 / 2074;

	assert_true(fabs(share(&r, 0) - 0.1) < 0.002);
	assert_true(fabs(share(&r, 1) - 0.75 * left) < 0.01);
	assert_true(fabs(share(&r, 2) - 0.25 * left) < 0.01);
	test_run_fini(&r);
}

static void strict_priority_starves_best_effort(void **state)
{
	struct test_run r;

	(void)state;
	run_with(&r, STAR "  arbiter: strict\n" THREE_CLASSES, GREEDY_DB);
	assert_true(fabs(share(&r, 0) - 0.1) < 0.002);
	assert_true(share(&r, 1) > 0.85);
	assert_true(share(&r, 2) < 1e-3);
	test_run_fini(&r);
}

/* A high table without a limit starves the low one; with one it does not. */
static void the_high_limit_protects_the_low_table(void **state)
{
	static const char greedy_high[] =
		"traffic:\n"
		"- {name: a-ts, kind: saturating, class: ts, pattern: pairs, source: h0, destination: h3, payload: 2048}\n"
		"- {name: c-be, kind: saturating, class: be, pattern: pairs, source: h2, destination: h3, payload: 2048}\n"
		"run: {warmup: 100us, measure: 4ms}\n";
	static const char limited[] = "qos:\n  vls: 4\n  high_limit: 1\n  classes:\n"
				      "  - {name: ts, sl: 0, vl: 0, priority: high, weight: 65}\n"
				      "  - {name: be, sl: 2, vl: 2, weight: 33}\n";
	struct test_run r;
	char head[2048];

	(void)state;
	run_with(&r, STAR THREE_CLASSES, greedy_high);
	assert_true(share(&r, 1) < 1e-3);
	test_run_fini(&r);
	/* 64 blocks of high expire after two packets of 33. */
	snprintf(head, sizeof(head), "%s%s", STAR, limited);
	run_with(&r, head, greedy_high);
	assert_true(fabs(share(&r, 1) / share(&r, 0) - 0.5) < 0.01);
	test_run_fini(&r);
}

/* ---- a flow that sends more than it reserved --------------------------- */

/*
 * h0 and h1 have reserved flows to h3, in the high and in the low table; the VL of the rogue is
 * that of the low table or a third one.
 */
static void latest(const char *rogue, hd_time late[2])
{
	static const char flows[] =
		"traffic:\n"
		"- {name: a-ts, kind: cbr, class: ts, pattern: pairs, source: h0, destination: h3, payload: 1024, rate: 800Mb/s}\n"
		"- {name: b-db, kind: cbr, class: db, pattern: pairs, source: h1, destination: h3, payload: 1024, rate: 800Mb/s}\n";
	struct test_run r;
	char tail[1024];

	snprintf(tail, sizeof(tail), "%s%srun: {warmup: 0s, measure: 4ms}\n", flows, rogue);
	run_with(&r, STAR THREE_CLASSES, tail);
	for (uint32_t i = 0; i < 2; i++)
		late[i] = r.metrics->flows[i].latency_max;
	assert_true(r.metrics->flows[0].delivered > 300);
	test_run_fini(&r);
}

/* Bounds of the two, each alone in its VL, best effort up to 2074 bytes. */
static void star_bounds(double bound[2])
{
	struct vlarb table = { .high = { { 0, 65 } },
			       .low = { { 1, 99 }, { 2, 33 }, { 3, 1 } },
			       .n_high = 1,
			       .n_low = 3,
			       .high_limit = 255 };
	struct bound_port ports[3];
	static const uint32_t path0[] = { 0, 2 }, path1[] = { 1, 2 };
	static const uint8_t vls0[] = { 0, 0 }, vls1[] = { 1, 1 };
	struct bound_flow flows[2] = {
		{ .class = CLASS_DBTS,
		  .burst = 1050,
		  .period = 1024 * 8 / 800e6,
		  .path = path0,
		  .vls = vls0,
		  .n_hops = 2 },
		{ .class = CLASS_DB,
		  .burst = 1050,
		  .period = 1024 * 8 / 800e6,
		  .path = path1,
		  .vls = vls1,
		  .n_hops = 2 },
	};
	struct bound_network n = { ports, 3, flows, 2, false };
	struct diag d = { .status = HD_OK };
	double delay[4];

	for (int i = 0; i < 3; i++)
		/* cppcheck-suppress unreadVariable; n points to them */
		ports[i] = (struct bound_port){ .rate = 1e9,
						.max_packet = 2074,
						.fixed = i == 2 ? 30e-9 : 5e-9,
						.min_fill = 1050 / 1088.0,
						.table = &table };
	if (bound_delays(BOUND_GROUPED, &n, &d, delay) != HD_OK)
		fail_msg("%s", d.message);
	bound[0] = delay[0] + delay[1];
	bound[1] = delay[2] + delay[3];
}

static void rogue_in_another_vl_has_no_effect(void **state)
{
	static const char *const rogues[] = {
		"- {name: c-be, kind: saturating, class: be, pattern: pairs, source: h2, destination: h3, payload: 2048}\n",
		"- {name: c-be, kind: saturating, class: be, pattern: incast, source: all, destination: h3, payload: 2048}\n",
		"- {name: c-ch, kind: saturating, class: ch, pattern: incast, source: all, destination: h3, payload: 2048}\n",
	};
	double bound[2];

	(void)state;
	star_bounds(bound);
	for (int i = 0; i < 3; i++) {
		hd_time late[2];

		latest(rogues[i], late);
		for (int f = 0; f < 2; f++)
			assert_true((double)late[f] * 1e-12 <= bound[f]);
	}
}

/*
 * A DB flow that sends ten times what it reserved is in its own VL's
 * way: DBTS keeps its bound, the neighbour in the VL does not. The bounds'
 * condition, that a VL carries nothing unreserved, is not idle.
 */
static void a_rogue_in_the_vl_hurts_that_vl_only(void **state)
{
	static const char rogue[] =
		"- {name: x, kind: saturating, class: db, pattern: pairs, source: h2, destination: h3, payload: 2048}\n"
		"- {name: c-be, kind: saturating, class: be, pattern: pairs, source: h0, destination: h3, payload: 2048}\n";
	double bound[2];
	hd_time late[2];

	(void)state;
	star_bounds(bound);
	latest(rogue, late);
	assert_true((double)late[0] * 1e-12 <= bound[0]);
	assert_true((double)late[1] * 1e-12 > bound[1]);
}

/* ---- vls: 4, then 2, then 4 ------------------------------------------ */

#define RESERVED 4 /* one DBTS flow, three of DB */

/* Two hosts on each of three switches in a row. */
struct line {
	struct fabric *fabric;
	struct sim *sim;
};

static const char line_text[] =
	"fabric:\n"
	"  topology: {kind: mesh, columns: 3, rows: 1, hosts: 2, link: 4x SDR}\n"
	"  link: {rate: 8Gb/s, propagation: 5ns}\n"
	"  switch: {order: voq, arbitration: oldest, routing_delay: 20ns, arbitration_delay: 5ns, input_buffer: 64KiB}\n"
	"  packet: {overhead: 26}\n"
	"  routing: xy\n"
	"qos:\n  vls: 4\n  high_limit: 255\n  classes:\n"
	"  - {name: ts, sl: 0, vl: 0, priority: high, weight: 65}\n"
	"  - {name: db, sl: 1, vl: 1, weight: 200}\n"
	"  - {name: be, sl: 2, vl: 2, weight: 33}\n"
	"traffic:\n"
	"- {name: a-ts, kind: cbr, class: ts, pattern: pairs, source: h0, destination: h4, payload: 512, rate: 400Mb/s}\n"
	"- {name: b-db, kind: cbr, class: db, pattern: incast, aligned: true, source: h1..h3, destination: h4, payload: 2048, rate: 800Mb/s}\n"
	"- {name: c-be, kind: saturating, class: be, pattern: incast, source: all, destination: h4, payload: 2048}\n"
	"run: {warmup: 0s, measure: 8ms}\n";

/* The middle switch's cables: DBTS and DB share a VL there. */
static void narrow_middle(struct line *l)
{
	struct subnet *s = &l->fabric->subnet;
	struct sim_setup *u = &l->fabric->setup;
	const struct topo *t = s->topo;
	struct sl2vl map = { .vl = { 0, 0, 1 } };
	struct vlarb table = { .high = { { 0, 65 } },
			       .low = { { 1, 33 } },
			       .n_high = 1,
			       .n_low = 1,
			       .high_limit = 255 };

	for (port_id p = 0; p < t->n_ports; p++) {
		port_id peer = t->ports[p].peer;

		if (peer == TOPO_NONE || !topo_is_switch(t, t->ports[p].node) ||
		    !topo_is_switch(t, t->ports[peer].node))
			continue;
		node_id node = t->ports[p].node;

		s->vls_of_port[p] = 2;
		u->ports[l->fabric->port_of_origin[p]].vls = 2;
		subnet_set_vlarb(s, p, &table);
		for (unsigned in = 1; in <= t->nodes[node].n_ports; in++)
			subnet_set_sl2vl(s, s->switch_of_node[node], in, t->ports[p].number, &map);
	}
}

static const struct sim_metrics *line_run(struct line *l, unsigned vls)
{
	struct diag d = { .status = HD_OK };

	if (fabric_load(line_text, strlen(line_text), "test", NULL, &d, &l->fabric) != HD_OK)
		fail_msg("%u: %s", d.line, d.message);
	struct fabric *fabric = l->fabric;

	/* DB sends bursts of 8 packets. */
	for (uint32_t i = 1; i < RESERVED; i++) {
		fabric->flows[i].packets = 8;
		fabric->flows[i].interval.num *= 8;
	}
	if (vls == 2)
		narrow_middle(l);
	fabric->rules.check_order = false;
	l->sim = sim_new(&fabric->setup, fabric->flows, fabric->n_flows, &fabric->rules);
	(void)sim_run(l->sim, HD_TIME_NEVER, NULL, NULL);
	return sim_metrics(l->sim);
}

/* VLs of the last link and the bounds of DBTS and DB. */
static void line_bounds(const struct line *l, uint8_t vl[RESERVED], double bound[RESERVED])
{
	const struct fabric *fabric = l->fabric;
	const struct test_model model = { .mode = BOUND_GROUPED,
					  .weighted = true,
					  .reservable = 0.9,
					  .max_packet = 2074,
					  .min_packet = 538,
					  .propagation = 5 * HD_NS,
					  .routing = 20 * HD_NS,
					  .arbitration = 5 * HD_NS };
	static struct test_network n;
	struct diag d = { .status = HD_OK };

	network_init(&n, &fabric->subnet, &model);
	for (uint32_t i = 0; i < RESERVED; i++) {
		const struct sim_flow *f = &fabric->flows[i];
		const struct sim_node *node = &fabric->setup.nodes[f->source];
		hd_time period = f->interval.num / f->interval.den;
		const struct bound_flow like = {
			.class = i ? CLASS_DB : CLASS_DBTS,
			.burst = f->bytes * f->packets,
			.period = (double)period / (double)HD_S,
			.largest = f->bytes,
			.smallest = f->bytes,
		};

		assert_int_equal(network_add(&n, fabric->setup.ports[node->first_port + 1].origin,
					     f->to.list[0].dlid, f->sl, like),
				 HD_OK);
	}
	double *delay = calloc(n.n_hops, sizeof(*delay)), *at = delay;

	if (network_delays(&n, BOUND_GROUPED, &d, delay) != HD_OK)
		fail_msg("%s", d.message);
	for (uint32_t i = 0; i < RESERVED; i++) {
		const struct path *p = &n.paths[i];

		vl[i] = p->vl[p->n_hops - 1];
		bound[i] = 0;
		for (uint32_t h = 0; h < p->n_hops; h++)
			bound[i] += *at++;
	}
	free(delay);
	network_fini(&n);
}

static void a_narrow_switch_costs_dbts_within_its_bound(void **state)
{
	double late[2], mean[2], bounds[2];

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		static struct line l;
		const struct sim_metrics *m = line_run(&l, k ? 2 : 4);
		uint8_t vl[RESERVED];
		double bound[RESERVED];

		line_bounds(&l, vl, bound);
		/* The VLs differ again on the last link. */
		assert_int_equal(vl[0], 0);
		assert_int_equal(vl[1], 1);
		const struct fabric *fabric = l.fabric;
		const struct sim_flow *f = &fabric->flows[0];
		port_id to = fabric->subnet.port_of_lid[0][f->to.list[0].dlid];
		uint32_t last = fabric->port_of_origin[fabric->topo.ports[to].peer];

		struct sim_counters c;

		sim_port_counters(m, last, &c);
		assert_int_equal(c.xmit_packets_vl[0], m->flows[0].delivered);
		assert_true(c.xmit_packets_vl[1] > 1000);
		for (unsigned i = 0; i < RESERVED; i++)
			assert_true((double)m->flows[i].latency_max * 1e-12 <= bound[i]);
		late[k] = (double)m->flows[0].latency_max * 1e-6;
		mean[k] = (double)m->flows[0].latency_sum * 1e-6 / (double)m->flows[0].delivered;
		bounds[k] = bound[0] * 1e6;
		sim_free(l.sim);
		fabric_free(l.fabric);
	}
	print_message(
		"DBTS over 4-4-4 VLs: mean %.2f us, latest %.2f, bound %.2f; over 4-2-4: %.2f, %.2f, %.2f\n",
		mean[0], late[0], bounds[0], mean[1], late[1], bounds[1]);
	/* It has a cost: DB's bursts delay a packet once. */
	assert_true(late[1] > late[0] && bounds[1] > bounds[0]);
}

/* ---- statistical admission --------------------------------------------- */

/*
 * On-off sources of 400 Mb/s, on a fifth of the time, on a link of 8 Gb/s:
 * demand in windows much shorter than an on time.
 */
static void violations_are_as_rare_as_was_asked(void **state)
{
	const double allowed = 0.02, peak = 400e6, on = 0.2, capacity = 4e9;
	struct stat_class asked = { peak, on * peak, 0 };
	uint32_t n = stat_most(NULL, 0, &asked, capacity, allowed);
	char text[2048];
	static struct fabric *fabric;
	struct diag d = { .status = HD_OK };
	unsigned windows = 0, over = 0;
	uint64_t before = 0;

	(void)state;
	assert_true(n > capacity / peak); /* more than their peaks allow */
	snprintf(
		text, sizeof(text),
		"fabric:\n"
		"  topology: {kind: star, hosts: %u}\n"
		"  link: {rate: 8Gb/s, propagation: 5ns}\n"
		"traffic:\n"
		"- {name: x, kind: on-off, pattern: incast, destination: h0, payload: 1024, rate: 80Mb/s, on: 1ms, off: 4ms}\n"
		"run: {warmup: 0s, measure: 400ms, horizon: 1s}\n",
		n + 1);
	if (fabric_load(text, strlen(text), "t", NULL, &d, &fabric) != HD_OK)
		fail_msg("%u:%u: %s", d.line, d.column, d.message);
	assert_int_equal(fabric->n_flows, n);
	struct sim *s = sim_new(&fabric->setup, fabric->flows, fabric->n_flows, &fabric->rules);

	for (hd_time t = 10 * HD_MS; t < 400 * HD_MS; t += 200 * HD_US) {
		(void)sim_run(s, t, NULL, NULL);
		uint64_t made = sim_metrics(s)->made_bytes;

		if (before) {
			windows++;
			/* Payload bits in 200 us. */
			over += (double)(made - before) * 1024 / 1050 * 8 / 200e-6 > capacity;
		}
		before = made;
	}
	double seen = (double)over / windows;

	print_message("%u sources: asked for %.3f, bound %.4f, seen %.4f\n", n, allowed,
		      stat_overflow(&(struct stat_class){ peak, on * peak, n }, 1, capacity), seen);
	assert_true(seen <= allowed);
	assert_true(seen > 0); /* some packets were delayed */
	sim_free(s);
	fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_published_rule_is_broken_in_simulation),
		cmocka_unit_test(best_effort_keeps_its_minimum_under_two_tables),
		cmocka_unit_test(strict_priority_starves_best_effort),
		cmocka_unit_test(the_high_limit_protects_the_low_table),
		cmocka_unit_test(rogue_in_another_vl_has_no_effect),
		cmocka_unit_test(a_rogue_in_the_vl_hurts_that_vl_only),
		cmocka_unit_test(a_narrow_switch_costs_dbts_within_its_bound),
		cmocka_unit_test(violations_are_as_rare_as_was_asked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
