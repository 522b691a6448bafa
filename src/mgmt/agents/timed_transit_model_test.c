/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Timed SMPs that follow a directed route, which agents compute at each node, arrive at the
 * picosecond at which rows on VL15 arrive that the forwarding tables route, and the same SMPs are
 * lost for lack of VL15 buffer. Random fabrics:
 * links of several configured or trained rates, some with disabled speeds, cables of several
 * lengths, switch delays, buffer sizes and arbitration; hosts send at random times or in bursts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "fabric/setup_for_tests.h"
#include "mgmt/agents/agents.h"
#include "sim/sim.h"
#include "wire/cursor.h"

enum { MADS = 240, BYTES = 256 + 34 };

struct sent_mad {
	uint32_t from, to; /* hosts */
	hd_time sent;
	hd_time simulated, arrived; /* 0: lost */
};

struct transit_model {
	struct test_fabric fabric;
	struct agents_timing times;
	bool *limited; /* per port: only the slowest speed is enabled */
	struct agents *agents;
	struct sent_mad mads[MADS]; /* by time */
	hd_time now;
	struct sim_arrival arrivals[MADS]; /* by host */
	uint32_t mad_of[MADS];
	uint32_t *first; /* index of each host's first entry in arrivals */
	struct sim_flow *flows;
};

/* ---- the fabric and its traffic */

/* Some links run at their trained rate, others at a configured one. */
static struct hd_rate some_rate(struct transit_model *w, port_id p, struct rng *r)
{
	static const enum link_speed speeds[] = { SPEED_SDR, SPEED_FDR10, SPEED_EDR, SPEED_HDR };
	struct topo *t = &w->fabric.topo;
	port_id peer = t->ports[p].peer;
	enum link_speed s = speeds[rng_below(r, 4)];

	t->ports[p].widths = t->ports[peer].widths = WIDTH_4X;
	t->ports[p].speeds = t->ports[peer].speeds = (uint16_t)(1U << s | 1U << SPEED_SDR);
	switch (rng_below(r, 4)) {
	case 0:
		break;
	case 1:
		/* PortInfo cannot name FDR10, so limiting it would mean SDR. */
		w->limited[p] = s != SPEED_FDR10;
		return hd_rate_of_link(4, w->limited[p] ? SPEED_SDR : s);
	default:
		return hd_rate_of_link(4, s);
	}
	struct hd_rate configured = hd_rate_make(1000000000 + rng_below(r, 100000000000), 1);

	w->times.cables[p].rate = w->times.cables[peer].rate = configured;
	return configured;
}

/*
 * Lengths from 1 ps to 200 m. With random lengths, simultaneous arrivals are rare, so some fabrics
 * have equal lengths.
 */
static void choose_cables(struct transit_model *w, struct rng *r)
{
	const struct topo *t = &w->fabric.topo;
	struct sim_port *ports = w->fabric.setup.ports;
	hd_time all = rng_below(r, 2) ? 1 + rng_below(r, 20 * HD_NS) : 0;

	for (port_id p = 0; p < t->n_ports; p++) {
		port_id peer = t->ports[p].peer;
		hd_time length = all ? all : 1 + rng_below(r, HD_US);

		if (peer != TOPO_NONE && peer < p)
			continue;
		w->times.cables[p].propagation = ports[p].propagation = length;
		if (peer == TOPO_NONE)
			continue;
		w->times.cables[peer].propagation = length;
		ports[peer].propagation = length;
		ports[p].rate = ports[peer].rate = some_rate(w, p, r);
	}
}

/* Includes VL15 buffers smaller than one MAD, and switches without delay. */
static void choose_switches(struct transit_model *w, struct rng *r)
{
	static const uint32_t rooms[] = { 64, 64, 64, 4, 5, 12, 19, 2048 };
	struct sim_setup *u = &w->fabric.setup;
	struct agents_timing *m = &w->times;

	u->sw.routing = rng_below(r, 2) ? rng_below(r, 300 * HD_NS) : 0;
	u->sw.arbitration = rng_below(r, 2) ? rng_below(r, 50 * HD_NS) : 0;
	u->sw.pick = rng_below(r, 3) ? SIM_ROUND_ROBIN : SIM_OLDEST;
	m->switch_delay = u->sw.routing + u->sw.arbitration;
	m->oldest = u->sw.pick == SIM_OLDEST;
	m->vl15_blocks = rooms[rng_below(r, 8)];
	for (port_id p = 0; p < u->n_ports; p++)
		u->ports[p].vl15_blocks = m->vl15_blocks;
}

/* In bursts, to all hosts or to one or two. */
static void choose_mads(struct transit_model *w, struct rng *r)
{
	uint32_t n = w->fabric.n_ends;
	uint64_t gap = rng_below(r, 3) ? 50 * HD_NS : 2 * HD_US;
	uint32_t targets = rng_below(r, 2) ? n : 1 + (uint32_t)rng_below(r, 2);
	hd_time now = 0;

	for (uint32_t i = 0; i < MADS; i++) {
		struct sent_mad *m = &w->mads[i];

		if (rng_below(r, 3) == 0)
			now += rng_below(r, gap);
		*m = (struct sent_mad){ .from = (uint32_t)rng_below(r, n),
					.to = (uint32_t)rng_below(r, targets),
					.sent = now };
		if (m->to == m->from)
			m->to = (m->to + 1) % n;
	}
}

static void start(struct transit_model *w, uint64_t seed)
{
	static const char *const kinds[][4] = {
		{ "fat-tree", "--radix=4", "--levels=2" },
		{ "torus", "--sizes=3x3" },
		{ "irregular", "--switches=7" },
		{ "fat-tree", "--radix=8", "--levels=2" },
	};
	const struct test_links links = {
		.rate = hd_rate_of_link(4, SPEED_SDR),
		.propagation = 1,
		.in_blocks = 64,
		.vls = 1,
	};
	struct rng r;

	rng_init(&r, seed, 0);
	*w = (struct transit_model){ 0 };
	test_fabric_init(&w->fabric, kinds[rng_below(&r, 4)], "minhop", &links);
	w->times.cables = hd_alloc(w->fabric.topo.n_ports, sizeof(*w->times.cables));
	w->limited = hd_alloc(w->fabric.topo.n_ports, sizeof(*w->limited));
	choose_cables(w, &r);
	choose_switches(w, &r);
	choose_mads(w, &r);
}

static void finish(struct transit_model *w)
{
	free(w->first);
	free(w->times.cables);
	free(w->limited);
	free(w->flows);
	test_fabric_fini(&w->fabric);
}

/* ---- in the simulator */

static void delivered(void *context, hd_time now, uint32_t node, const struct sim_packet *p)
{
	struct transit_model *w = context;
	uint32_t i = w->mad_of[w->first[p->flow] + p->sequence];

	assert_int_equal(node, w->fabric.end_nodes[w->mads[i].to]);
	w->mads[i].simulated = now;
}

static void list_arrivals(struct transit_model *w)
{
	const struct test_fabric *f = &w->fabric;
	uint32_t n = 0;

	w->first = hd_alloc(f->n_ends + 1, sizeof(*w->first));
	for (uint32_t host = 0; host < f->n_ends; host++) {
		w->first[host] = n;
		for (uint32_t i = 0; i < MADS; i++) {
			if (w->mads[i].from != host)
				continue;
			w->mad_of[n] = i;
			w->arrivals[n++] = (struct sim_arrival){
				.time = w->mads[i].sent,
				.source = f->end_nodes[host],
				.dlid = f->ends[w->mads[i].to].dlid,
				.pkey = 0xFFFF,
				.bytes = BYTES,
				.management = true,
			};
		}
	}
	w->first[f->n_ends] = n;
}

static struct sim *simulate(struct transit_model *w)
{
	const struct test_fabric *f = &w->fabric;
	const struct sim_observer observer = { .context = w, .delivered = delivered };
	struct sim_rules rules;

	list_arrivals(w);
	w->flows = hd_alloc(f->n_ends, sizeof(*w->flows));
	for (uint32_t i = 0; i < f->n_ends; i++)
		w->flows[i] = (struct sim_flow){
			.kind = SIM_TRACE,
			.source = f->end_nodes[i],
			.to = { .choice = SIM_TO_FIXED, .list = f->ends, .n = 1, .self = SIM_NONE },
			.management = true,
			.pkey = 0xFFFF,
			.bytes = BYTES,
			.packets = 1,
			.trace = &w->arrivals[w->first[i]],
			.n_trace = w->first[i + 1] - w->first[i],
		};
	sim_rules_init(&rules);
	rules.threads = 1;
	struct sim *s = sim_new(&f->setup, w->flows, f->n_ends, &rules);

	sim_observe(s, &observer);
	assert_int_equal(sim_run(s, HD_TIME_NEVER, NULL, NULL), SIM_IDLE);
	return s;
}

/* ---- by agents */

static void arrived(void *context, port_id port, const struct mad_address *from, const uint8_t *mad,
		    size_t size)
{
	struct transit_model *w = context;
	struct sent_mad *m = &w->mads[load_be64(mad + 8)];

	(void)from;
	assert_int_equal(size, MAD_SIZE);
	assert_int_equal(w->fabric.topo.ports[port].node, w->fabric.end_nodes[m->to]);
	assert_int_equal(m->arrived, 0);
	m->arrived = w->now;
}

/* Sends by the directed route that follows the forwarding tables. */
static void send(struct transit_model *w, uint32_t i)
{
	const struct test_fabric *f = &w->fabric;
	const struct topo *t = &f->topo;
	port_id from = topo_port_of(t, f->end_nodes[w->mads[i].from], 1);
	struct mad_header h = {
		.mgmt_class = MAD_SMP_DIRECT, .method = MAD_GET, .tid = i, .attribute = ATTR_SM_INFO
	};
	const struct mad_address to = { .lid = 0xFFFF };
	uint8_t mad[MAD_SIZE] = { 0 };
	node_id at = t->ports[t->ports[from].peer].node;
	uint8_t path[64] = { 0, 1 };

	for (h.hop_count = 1; topo_is_switch(t, at); h.hop_count++) {
		unsigned out = lft_get(&f->subnet, f->subnet.switch_of_node[at],
				       f->ends[w->mads[i].to].dlid);

		path[h.hop_count + 1] = (uint8_t)out;
		at = t->ports[t->ports[topo_port_of(t, at, out)].peer].node;
	}
	mad_write(&h, mad);
	memset(mad + 32, 0xFF, 4);
	memcpy(mad + 128, path, sizeof(path));
	agents_send(w->agents, from, &to, mad, MAD_SIZE, w->now);
}

static void run_until(struct transit_model *w, hd_time when)
{
	while (agents_next(w->agents) < when) {
		w->now = agents_next(w->agents);
		agents_run(w->agents, w->now);
	}
	w->now = when;
}

/* Disables speeds at one end of a cable, which then trains again. */
static void limit_ports(struct transit_model *w)
{
	for (port_id p = 0; p < w->fabric.topo.n_ports; p++) {
		if (!w->limited[p])
			continue;
		agents_port_set(w->agents, p, PORT_SPEEDS_ENABLED, 1);
		agents_port_set(w->agents, p, PORT_EXT_SPEEDS_ENABLED, 0);
		agents_retrain(w->agents, p, 0);
	}
}

static void send_all(struct transit_model *w)
{
	const struct agents_options o = { .times = &w->times };
	const struct agents_events e = { .arrived = arrived, .context = w };

	w->agents = agents_new(&w->fabric.topo, &o, &e);
	limit_ports(w);
	for (uint32_t i = 0; i < MADS; i++) {
		run_until(w, w->mads[i].sent);
		send(w, i);
	}
	run_until(w, w->now + HD_S);
}

/* ---- comparison */

static uint32_t compare(const struct transit_model *w, struct sim *s)
{
	const struct sim_metrics *m = sim_metrics(s);
	uint32_t lost = 0;

	for (uint32_t i = 0; i < MADS; i++) {
		assert_int_equal(w->mads[i].arrived, w->mads[i].simulated);
		lost += w->mads[i].arrived == 0;
	}
	uint32_t counted = 0;

	for (port_id p = 0; p < w->fabric.topo.n_ports; p++) {
		struct sim_counters c;

		sim_port_counters(m, p, &c);
		assert_int_equal(agents_counter(w->agents, p, COUNT_VL15_DROPPED), c.vl15_dropped);
		counted += (uint32_t)c.vl15_dropped;
	}
	assert_int_equal(counted, lost);
	return lost;
}

static void timed_mads_equal_simulated_vl15_packets(void **state)
{
	const unsigned cases = cases_of_run(400, 10000);
	uint32_t with_losses = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= cases; seed++) {
		struct transit_model *w = hd_alloc(1, sizeof(*w));

		start(w, seed);
		struct sim *s = simulate(w);

		send_all(w);
		with_losses += compare(w, s) > 0;
		agents_free(w->agents);
		sim_free(s);
		finish(w);
		free(w);
	}
	/* Both kinds of cases occur often. */
	assert_in_range(with_losses, cases / 10, cases - cases / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(timed_mads_equal_simulated_vl15_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
