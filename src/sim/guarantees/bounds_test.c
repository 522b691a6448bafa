/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random fabrics, VLs, arbitration tables and flows: whatever the
 * reservation manager admits is simulated together with greedy best effort and
 * management packets, and no packet is ever later than a bound.
 *
 * A failure names the seed of its scenario; with HD_LONG=1 HD_SEED=n that one
 * is the first to be run.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "fabric/setup_for_tests.h"
#include "qos/admission/network_for_tests.h"
#include "sim/sim.h"

#define MOST_FLOWS 48
#define FIRST_SEED 1

/* SLs: two of DBTS, three of DB, best effort, challenged. */
enum { SL_TS_A, SL_TS_B, SL_DB_A, SL_DB_B, SL_DB_C, SL_BE, SL_CH, N_USED };

/* Their VLs on links with 2, 4 and 8 data VLs. */
static const uint8_t vls_2[N_USED] = { 0, 0, 0, 0, 0, 1, 1 };
static const uint8_t vls_4[N_USED] = { 0, 0, 1, 1, 1, 2, 3 };
static const uint8_t vls_8[N_USED] = { 0, 1, 2, 3, 4, 5, 6 };

struct world {
	struct rng rng;
	struct test_fabric f;
	struct test_model params;
	struct test_network network;
	bool strict; /* arbiter by VL number, no tables */
	struct sim_flow flows[MOST_FLOWS + 64 + 2];
	struct sim_address to[MOST_FLOWS];
	uint32_t n_flows; /* the admitted ones first */
	uint32_t n_admitted;
};

/* Totals over all scenarios. */
struct tally {
	unsigned scenarios, flows, packets_late_published;
	unsigned tables, in_turn, crossed;
	double closest[BOUND_MODES];
	double closest_crossed;
};

static uint32_t draw(struct world *w, uint32_t low, uint32_t high)
{
	return low + (uint32_t)rng_below(&w->rng, high - low + 1);
}

static const uint8_t *vls_of(unsigned vls)
{
	return vls == 2 ? vls_2 : vls == 4 ? vls_4 : vls_8;
}

/* Rates whose bytes take whole picoseconds: 2, 8, 16, 32 Gb/s. */
static void draw_links(struct world *w)
{
	static const struct {
		uint8_t widths;
		enum link_speed speed;
	} kinds[] = { { WIDTH_1X, SPEED_SDR },
		      { WIDTH_4X, SPEED_SDR },
		      { WIDTH_4X, SPEED_DDR },
		      { WIDTH_4X, SPEED_QDR } };
	static const uint8_t counts[] = { 2, 4, 8 };
	struct topo *t = &w->f.topo;
	bool one_speed = draw(w, 0, 1), one_count = draw(w, 0, 1);
	uint32_t speed = draw(w, 0, 3), count = draw(w, 0, w->strict ? 1 : 2);

	for (port_id p = 0; p < t->n_ports; p++) {
		port_id peer = t->ports[p].peer;

		if (peer == TOPO_NONE || peer < p)
			continue;
		uint32_t k = one_speed ? speed : draw(w, 0, 3);
		uint32_t c = one_count ? count : draw(w, 0, w->strict ? 1 : 2);

		for (int end = 0; end < 2; end++) {
			struct topo_port *port = &t->ports[end ? peer : p];

			port->widths = kinds[k].widths;
			port->speeds = (uint16_t)(1u << kinds[k].speed);
			port->vls = counts[c];
		}
	}
}

static void make_topology(struct world *w, char *engine, size_t size)
{
	struct diag d = { .status = HD_OK };
	struct topo_params p;
	static const char *const kinds[] = { "mesh", "hypercube", "irregular", "irregular" };
	static const char *const engines[] = { "xy", "ecube", "updn", "minhop" };
	uint32_t kind = draw(w, 0, 3);
	const struct generator *g = generator_find(kinds[kind], &d);

	topo_params_init(g, &p);
	p.columns = draw(w, 2, 3);
	p.rows = draw(w, 2, 3);
	p.dimensions = draw(w, 1, 3);
	p.degree = 2;
	p.switches = draw(w, 3, 6);
	p.hosts = draw(w, 1, 3);
	p.seed = rng_next(&w->rng);
	test_must(topo_generate(g, &p, &d, &w->f.topo), &d);
	snprintf(engine, size, "%s", engines[kind]);
}

static void set_vls(struct world *w)
{
	struct subnet *s = &w->f.subnet;
	const struct topo *t = &w->f.topo;

	for (port_id p = 0; p < t->n_ports; p++) {
		struct sl2vl map;

		if (t->ports[p].peer == TOPO_NONE)
			continue;
		memset(&map, VL_MANAGEMENT, sizeof(map));
		memcpy(map.vl, vls_of(s->vls_of_port[p]), N_USED);
		if (topo_is_end_port(t, p)) {
			subnet_set_port_sl2vl(s, p, &map);
			continue;
		}
		switch_id sw = s->switch_of_node[t->ports[p].node];

		for (unsigned in = 1; in <= t->nodes[t->ports[p].node].n_ports; in++)
			subnet_set_sl2vl(s, sw, in, t->ports[p].number, &map);
	}
}

static uint8_t draw_entries(struct world *w, struct vlarb_entry *out, const uint8_t *from,
			    unsigned n, uint32_t most)
{
	uint8_t used = 0;

	/* Every VL once, then some again, in random order. */
	for (unsigned i = 0; i < n + draw(w, 0, most); i++) {
		out[used++] = (struct vlarb_entry){
			.vl = from[i < n ? i : draw(w, 0, n - 1)],
			.weight = (uint8_t)draw(w, 1, draw(w, 0, 1) ? 255 : 40),
		};
	}
	for (unsigned i = used; i > 1; i--) {
		unsigned k = draw(w, 0, i - 1);
		struct vlarb_entry e = out[k];

		out[k] = out[i - 1];
		out[i - 1] = e;
	}
	return used;
}

static void set_tables(struct world *w)
{
	struct subnet *s = &w->f.subnet;
	static const uint8_t limits[] = { 255, 255, 0, 1, 2, 5, 20, 254 };
	static const uint8_t numbers[] = { 0, 1, 2, 3, 4, 5, 6 };

	for (port_id p = 0; p < w->f.topo.n_ports; p++) {
		unsigned vls = s->vls_of_port[p];
		unsigned n = vls == 8 ? 7 : vls, n_high = vls == 8 ? 2 : 1;
		struct vlarb table = { .high_limit = limits[draw(w, 0, 7)] };

		if (w->f.topo.ports[p].peer == TOPO_NONE)
			continue;
		table.n_high = draw_entries(w, table.high, numbers, n_high, 4);
		table.n_low = draw_entries(w, table.low, numbers + n_high, n - n_high, 8);
		subnet_set_vlarb(s, p, &table);
	}
}

static void make_fabric(struct world *w)
{
	struct diag d = { .status = HD_OK };
	struct topo_link_state link;
	struct test_links same = {
		.rate = hd_rate_make(1, 1),
		.propagation = 1000 * draw(w, 1, 100),
		.in_blocks = 2048,
		.vls = 8,
	};
	char engine[16];

	make_topology(w, engine, sizeof(engine));
	draw_links(w);
	subnet_init(&w->f.subnet, &w->f.topo);
	test_must(subnet_assign_lids(
			  &w->f.subnet,
			  &(struct lid_options){ .order = LIDS_NODES, .sm_port = TOPO_NONE }, &d),
		  &d);
	test_must(subnet_route(&w->f.subnet, engine, &(struct route_options){ 0 }, &d), &d);
	set_vls(w);
	if (!w->strict)
		set_tables(w);
	test_fabric_setup(&w->f, &same);
	w->f.setup.arbiter = w->strict ? SIM_STRICT : SIM_VLARB;
	w->f.setup.sw.pick = w->params.any_order ? SIM_ROUND_ROBIN : SIM_OLDEST;
	w->f.setup.sw.routing = w->params.routing;
	w->f.setup.sw.arbitration = w->params.arbitration;
	if (w->params.speedup.den) {
		w->f.setup.sw.queueing = SIM_CIOQ;
		w->f.setup.sw.speedup = w->params.speedup;
	}
	w->params.propagation = same.propagation;
	for (port_id p = 0; p < w->f.topo.n_ports; p++) {
		struct sim_port *port = &w->f.setup.ports[p];

		port->vls = w->f.subnet.vls_of_port[p];
		port->out_blocks = 2048;
		if (topo_link_state(&w->f.topo, p, &link) == HD_OK)
			port->rate = link.rate;
	}
}

static double slowest_rate(const struct world *w)
{
	double least = 1e18;

	for (port_id p = 0; p < w->f.topo.n_ports; p++) {
		if (w->f.topo.ports[p].peer != TOPO_NONE)
			least = fmin(least, hd_rate_bps(w->f.setup.ports[p].rate));
	}
	return least / 8;
}

static port_id end_port(const struct world *w, uint32_t end)
{
	return w->f.topo.nodes[w->f.end_nodes[end]].first_port + 1;
}

/* Asks for flows until enough have been granted or refused. */
static void admit(struct world *w)
{
	uint32_t hot = draw(w, 0, w->f.n_ends - 1);
	bool shares_source = draw(w, 0, 1);
	double rate = slowest_rate(w);
	uint32_t wanted = draw(w, 2, 40);

	for (uint32_t i = 0; i < wanted && w->network.n_flows < MOST_FLOWS; i++) {
		uint32_t from = draw(w, 0, w->f.n_ends - 1), to = hot;
		uint8_t sl = (uint8_t)draw(w, SL_TS_A, SL_DB_C);
		uint32_t bytes = draw(w, w->params.min_packet, w->params.max_packet);
		uint32_t burst = bytes * draw(w, 1, draw(w, 0, 1) ? 1 : 6);
		double share = (double)draw(w, 1, 30) / 100;
		uint32_t id = w->network.n_flows;

		while (to == from || (!shares_source && to == hot && w->f.n_ends > 2))
			to = draw(w, 0, w->f.n_ends - 1);
		hd_time period = (hd_time)(burst / (share * rate) * 1e12) + 1;
		const struct bound_flow like = {
			.class = sl <= SL_TS_B ? CLASS_DBTS : CLASS_DB,
			.burst = burst,
			.period = (double)period / (double)HD_S,
			.largest = bytes,
			.smallest = bytes,
		};

		if (network_add(&w->network, end_port(w, from), w->f.ends[to].dlid, sl, like) !=
		    HD_OK)
			continue;
		w->to[id] = w->f.ends[to];
		w->flows[id] = (struct sim_flow){
			.kind = SIM_CBR,
			.source = w->f.end_nodes[from],
			.to = { .list = &w->to[id], .n = 1, .self = SIM_NONE },
			.sl = sl,
			.pkey = 0xffff,
			.bytes = bytes,
			.packets = burst / bytes,
			.interval = { period, 1 },
		};
	}
	w->n_admitted = w->n_flows = w->network.n_flows;
}

/* Adds saturating best effort from all hosts, and some management packets. */
static void add_noise(struct world *w)
{
	uint32_t managers = w->params.management / 256;

	for (uint32_t e = 0; e < w->f.n_ends && e < 64; e++)
		w->flows[w->n_flows++] = (struct sim_flow){
			.kind = SIM_SATURATING,
			.source = w->f.end_nodes[e],
			.to = { .choice = SIM_TO_UNIFORM,
				.list = w->f.ends,
				.n = w->f.n_ends,
				.self = e },
			.sl = (uint8_t)draw(w, SL_BE, SL_CH),
			.pkey = 0xffff,
			.bytes = draw(w, 0, 3) ? w->params.max_packet : 100,
			.packets = 1,
		};
	for (uint32_t m = 0; m < managers; m++) {
		uint32_t e = draw(w, 0, w->f.n_ends - 1);

		w->flows[w->n_flows++] = (struct sim_flow){
			.kind = SIM_BURST,
			.source = w->f.end_nodes[e],
			.to = { .choice = SIM_TO_UNIFORM,
				.list = w->f.ends,
				.n = w->f.n_ends,
				.self = e },
			.management = true,
			.bytes = 256,
			.packets = 1,
			.count = 1,
			.start = draw(w, 0, 50) * HD_US,
		};
	}
}

struct bounds {
	double *hop[BOUND_MODES];
	double whole[BOUND_MODES][MOST_FLOWS];
	double most; /* of the sound ones */
};

static void bounds_init(struct bounds *b, const struct world *w)
{
	uint32_t n = w->network.n_hops;

	*b = (struct bounds){ 0 };
	for (unsigned m = 0; m < BOUND_MODES; m++) {
		struct diag d = { .status = HD_OK };

		b->hop[m] = hd_alloc(n, sizeof(double));
		if (network_delays(&w->network, (enum bound_mode)m, &d, b->hop[m]) == HD_OK)
			continue;
		for (uint32_t i = 0; i < n; i++)
			b->hop[m][i] = (double)NAN;
	}
	for (unsigned m = 0; m < BOUND_MODES; m++) {
		const double *at = b->hop[m];

		for (uint32_t f = 0; f < w->n_admitted; f++) {
			for (uint32_t h = 0; h < w->network.flows[f].n_hops; h++)
				b->whole[m][f] += *at++;
			if (m != BOUND_PUBLISHED && b->whole[m][f] > b->most)
				b->most = b->whole[m][f];
		}
	}
}

static void bounds_fini(struct bounds *b)
{
	for (unsigned m = 0; m < BOUND_MODES; m++)
		free(b->hop[m]);
}

/* The condition on buffers, in the mode that admitted the flows. */
static bool buffers_suffice(const struct world *w, const struct bounds *b)
{
	const struct bound_network n = {
		w->network.ports,   w->f.topo.n_ports,   w->network.flows,
		w->network.n_flows, w->params.any_order,
	};
	size_t all = (size_t)w->f.topo.n_ports * BOUND_GROUPS;
	double *need = hd_alloc(all, sizeof(*need));
	bool fits = true;

	for (int side = BOUND_INPUT; side <= BOUND_OUTPUT; side++) {
		bound_buffers(&n, (enum bound_side)side, b->hop[w->params.mode], need);
		for (size_t i = 0; i < all; i++)
			fits = fits && need[i] <= 2048 * 64;
	}
	free(need);
	return fits;
}

static void check_flow(const struct world *w, const struct bounds *b, uint32_t f,
		       const struct sim_flow_counts *seen, uint64_t seed, struct tally *tally)
{
	double late = (double)seen->latency_max / (double)HD_S;

	for (unsigned m = BOUND_BUCKET; m < BOUND_MODES; m++) {
		double bound = b->whole[m][f];

		if (isnan(bound))
			continue; /* that mode would not have admitted it */
		if (late > bound * (1 + 1e-9))
			fail_msg(
				"HD_LONG=1 HD_SEED=%llu: flow %u (SL %u): %.3f us, %s bound %.3f us",
				(unsigned long long)seed, f, w->flows[f].sl, late * 1e6,
				bound_mode_names[m], bound * 1e6);
		tally->closest[m] = fmax(tally->closest[m], late / bound);
		if (w->params.speedup.den)
			tally->closest_crossed = fmax(tally->closest_crossed, late / bound);
	}
	/* The published rule omits the transmission of the own burst. */
	double own = 0;
	const struct path *path = &w->network.paths[f];

	for (uint32_t h = 0; h < path->n_hops; h++)
		own += w->network.flows[f].burst /
		       (hd_rate_bps(w->f.setup.ports[path->port[h]].rate) / 8);
	if (late > b->whole[BOUND_PUBLISHED][f] + own)
		tally->packets_late_published++;
	if (seen->made == 0 || seen->delivered != seen->made)
		fail_msg("HD_LONG=1 HD_SEED=%llu: flow %u: %llu of %llu packets arrived",
			 (unsigned long long)seed, f, (unsigned long long)seen->delivered,
			 (unsigned long long)seen->made);
}

static void simulate(struct world *w, const struct bounds *b, uint64_t seed, struct tally *tally)
{
	struct sim_rules rules;
	hd_time longest = 0, end;
	bool aligned = draw(w, 0, 2) > 0;

	for (uint32_t f = 0; f < w->n_admitted; f++) {
		hd_time period = w->flows[f].interval.num;

		longest = period > longest ? period : longest;
		w->flows[f].start =
			aligned ? rng_below(&w->rng, 2 * HD_US) : rng_below(&w->rng, period);
	}
	end = 4 * longest < 3 * HD_MS ? 4 * longest : 3 * HD_MS;
	/* Everyone sends, however late it starts. */
	if (end < longest + 3 * HD_US)
		end = longest + 3 * HD_US;
	for (uint32_t f = 0; f < w->n_admitted; f++)
		w->flows[f].stop = end;
	sim_rules_init(&rules);
	rules.warmup = 0;
	/* Two SLs that share the first VL may part and overtake. */
	rules.check_order = false;
	rules.stop = end + (hd_time)(b->most * 1.01 * (double)HD_S) + HD_US;
	struct sim *s = sim_new(&w->f.setup, w->flows, w->n_flows, &rules);

	(void)sim_run(s, HD_TIME_NEVER, NULL, NULL);
	const struct sim_metrics *m = sim_metrics(s);

	for (uint32_t f = 0; f < w->n_admitted; f++)
		check_flow(w, b, f, &m->flows[f], seed, tally);
	sim_free(s);
}

static void draw_params(struct world *w)
{
	w->strict = draw(w, 0, 3) == 0;
	w->params = (struct test_model){
		.mode = (enum bound_mode)draw(w, BOUND_BUCKET, BOUND_PERIODIC),
		.any_order = draw(w, 0, 3) == 0,
		.weighted = !w->strict,
		.reservable = draw(w, 50, 98) / 100.0,
		.max_packet = draw(w, 300, 4122),
		.management = draw(w, 0, 1) ? 512 : 0,
		.routing = 1000 * draw(w, 0, 150),
		.arbitration = 1000 * draw(w, 0, 30),
	};
	w->params.min_packet = draw(w, 0, 1) ? w->params.max_packet : draw(w, 64, 300);
	/* A third has queues at outputs; speed-ups 1, 3/2, 2, .. 4. */
	if (draw(w, 0, 2) == 0)
		w->params.speedup = (struct hd_ratio){ draw(w, 2, 8), 2 };
}

/* False: no flow was admitted, or no buffer would be large enough. */
static bool run_scenario(uint64_t seed, struct tally *tally)
{
	static struct world w;
	struct bounds b;
	bool ran = false;

	memset(&w, 0, sizeof(w));
	rng_init(&w.rng, seed, 0);
	draw_params(&w);
	make_fabric(&w);
	network_init(&w.network, &w.f.subnet, &w.params);
	admit(&w);
	bounds_init(&b, &w);
	if (w.n_admitted > 0 && buffers_suffice(&w, &b)) {
		add_noise(&w);
		simulate(&w, &b, seed, tally);
		tally->scenarios++;
		tally->flows += w.n_admitted;
		tally->tables += !w.strict;
		tally->in_turn += w.params.any_order;
		tally->crossed += w.params.speedup.den > 0;
		ran = true;
	}
	bounds_fini(&b);
	network_fini(&w.network);
	test_fabric_fini(&w.f);
	return ran;
}

static void no_packet_is_later_than_a_bound(void **state)
{
	unsigned wanted = cases_of_run(40, 600);
	uint64_t seed = seed_of_run(FIRST_SEED);
	struct tally t = { 0 };

	(void)state;
	for (unsigned tries = 0; t.scenarios < wanted; tries++) {
		run_scenario(seed + tries, &t);
		assert_true(tries < 20 * wanted); /* most scenarios admit a flow */
	}
	print_message("%u scenarios (%u with tables, %u round robin, %u with "
		      "queues at outputs), %u "
		      "flows; nearest to the bound: bucket %.3f, grouped %.3f, "
		      "periodic %.3f, behind a crossbar %.3f; %u flows later "
		      "than published\n",
		      t.scenarios, t.tables, t.in_turn, t.crossed, t.flows, t.closest[BOUND_BUCKET],
		      t.closest[BOUND_GROUPED], t.closest[BOUND_PERIODIC], t.closest_crossed,
		      t.packets_late_published);
	if (run_is_long())
		return; /* a fresh sample may be weaker */
	/* The bounds are tight: some packet comes near. */
	assert_true(t.closest[BOUND_GROUPED] > 0.5);
	assert_true(t.crossed > 0 && t.closest_crossed > 0.1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_packet_is_later_than_a_bound),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
