/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reservations that follow routes. The law, at every instant of a run: each
 * admitted connection that is not reported as broken has its share of the
 * arbitration table of every link on the path that its packets take then, and
 * none of these links is down. Paths, tables and links are looked up here from
 * what the simulator is given, without the broker.
 */
#include "fabric/build_for_tests.h"

#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "fabric/control.h"
#include "qos/admission/tree.h"
#include "qos/tables/slots.h"

#define CLASSES                                                        \
	"qos:\n  vls: 15\n"                                            \
	"  classes: [{name: film, sl: 2, kind: DB}, {name: call, sl: " \
	"4, kind: DBTS}, {name: be, sl: 8, kind: BE}]\n"

static const struct {
	const char *topology, *engine, *trunks[4];
} shapes[] = {
	{ "{kind: xgft, down: \"4,2\", up: \"1,2\"}",
	  "updn",
	  { "s1-0:5", "s1-0:6", "s1-1:5", "s1-1:6" } },
	{ "{kind: mesh, columns: 2, rows: 2, hosts: 2}",
	  "minhop",
	  { "s-0-0:1", "s-0-0:2", "s-0-1:1", "s-1-0:2" } },
	{ "{kind: torus, sizes: 3x3, hosts: 1}",
	  "updn",
	  { "s-0-0:1", "s-0-0:3", "s-1-0:3", "s-0-1:1" } },
};

static void add_events(struct rng *rng, const char *const trunks[4], char *text, size_t room)
{
	size_t n = strlen(text);
	uint64_t at = 1000;

	n += (size_t)snprintf(text + n, room - n, "faults: {events: [");
	for (unsigned i = 0; i < 6; i++) {
		at += 1 + rng_below(rng, 3000);
		n += (size_t)snprintf(text + n, room - n, "%s{at: %lluus, kind: %s, port: %s}",
				      i ? ", " : "", (unsigned long long)at,
				      i % 3 == 2 ? "link-up" : "link-down",
				      trunks[rng_below(rng, i % 3 == 1 ? 4 : 2)]);
	}
	snprintf(text + n, room - n, "]}\n");
}

static struct fabric *random_fabric(uint64_t seed)
{
	static const char *const managers[] = {
		"", "sm: {trap: 20us, compute: 50us, program: 2us}\n",
		"sm: {sweep: 700us, compute: 400us, program: 30us}\n"
	};
	struct rng rng;
	char text[4096];
	struct fabric *fabric;

	rng_init(&rng, seed, 0);
	unsigned shape = (unsigned)rng_below(&rng, 3);
	const char *manager = managers[rng_below(&rng, 3)];
	unsigned rate = 500 + (unsigned)rng_below(&rng, 2500);

	snprintf(
		text, sizeof(text),
		"fabric:\n  topology: %s\n  link: 8Gb/s\n  routing: %s\n"
		"  groups: [{name: g, members: \"4,5,6\"}]\n" CLASSES "traffic:\n"
		"- {name: f, class: film, kind: cbr, rate: %uMb/s, pattern: permutation}\n"
		"- {name: c, class: call, kind: cbr, rate: 900Mb/s, payload: 256, arrivals: 300us, holding: 900us}\n"
		"- {name: g, class: film, kind: cbr, rate: 500Mb/s, pattern: group, group: g, source: \"0\"}\n"
		"%srun: {seed: %u, measure: 14ms}\n",
		shapes[shape].topology, shapes[shape].engine, rate, manager, (unsigned)seed);
	add_events(&rng, shapes[shape].trunks, text, sizeof(text));
	must_build(text, &fabric);
	return fabric;
}

/* State at one instant. */
struct instant {
	const struct fabric *fabric;
	hd_time now;
	bool writing;         /* the manager writes tables */
	struct subnet routes; /* with its own forwarding tables */
	struct mft mft;
	bool *down;       /* per port of the topology */
	uint32_t *tables; /* per sim port */
	uint64_t *slots;  /* needed, per topology port and VL */
};

/* The tables that switches have; the fabric has one subnet. */
static void look_at_routes(struct instant *at)
{
	const struct fabric *fabric = at->fabric;
	const struct sim_setup *s = &fabric->setup;
	const struct mft *first = fabric->subnet.mft;
	size_t row = first->words * sizeof(*first->ports);
	size_t sets = (size_t)first->n_mlids * fabric->subnet.n_switches;

	at->routes = fabric->subnet;
	at->routes.lft = lft_rows(&fabric->subnet);
	at->routes.lft_at = NULL;
	at->mft = *first;
	at->mft.ports = malloc(sets * row);
	assert_non_null(at->mft.ports);
	memcpy(at->mft.ports, first->ports, sets * row);
	at->routes.mft = &at->mft;
	for (uint32_t i = 0; i < s->n_routes && s->routes[i].time <= at->now; i++) {
		const struct sim_route_change *c = &s->routes[i];
		switch_id sw = s->nodes[c->node].sw;

		if (c->ports)
			memcpy(&at->mft.ports[((size_t)(c->lid - LID_FIRST_MCAST) *
						       fabric->subnet.n_switches +
					       sw) *
					      first->words],
			       c->ports, row);
		else
			at->routes.lft[(size_t)sw * at->routes.lft_stride + c->lid] = c->port;
	}
}

static void look(struct instant *at)
{
	const struct fabric *fabric = at->fabric;
	const struct sim_setup *s = &fabric->setup;

	at->writing = false;
	for (uint32_t i = 0; i < fabric->n_sweeps; i++)
		at->writing |=
			at->now >= fabric->sweeps[i].computed && at->now < fabric->sweeps[i].last;
	look_at_routes(at);
	memset(at->down, 0, fabric->topo.n_ports * sizeof(*at->down));
	for (uint32_t i = 0; i < s->n_faults && s->faults[i].time <= at->now; i++) {
		port_id p = s->ports[s->faults[i].port].origin;

		at->down[p] = at->down[fabric->topo.ports[p].peer] =
			s->faults[i].kind == SIM_LINK_DOWN;
	}
	for (uint32_t i = 0; i < s->n_ports; i++)
		at->tables[i] = s->ports[i].peer == SIM_NONE
					? 0
					: fabric->subnet.vlarb_of_port[s->ports[i].origin];
	for (uint32_t i = 0; i < s->n_changes && s->changes[i].time <= at->now; i++)
		at->tables[s->changes[i].port] = s->changes[i].table;
	memset(at->slots, 0, (size_t)fabric->topo.n_ports * N_DATA_VLS * sizeof(*at->slots));
}

static bool is_broken(const struct instant *at, uint32_t request)
{
	for (uint32_t i = 0; i < at->fabric->n_breaks; i++) {
		const struct fabric_break *k = &at->fabric->breaks[i];

		if (k->request == request && at->now >= k->from && at->now < k->until)
			return true;
	}
	return false;
}

/* Adds what a connection needs on the links that its packets take. */
static void add_needs(struct instant *at, const struct fabric_request *q)
{
	const struct fabric *fabric = at->fabric;
	const struct sim_flow *w = &fabric->flows[q->flow];
	port_id source = fabric->setup.ports[fabric->setup.nodes[w->source].first_port + 1].origin;
	lid_t dlid = w->to.list[0].dlid;
	struct tree_path tree = { .links = NULL };
	struct path path = { .n_hops = 0 };

	if (dlid >= LID_FIRST_MCAST)
		assert_int_equal(tree_walk(&at->routes, source, dlid, w->sl, &tree), HD_OK);
	else
		assert_int_equal(path_walk(&at->routes, source, dlid, w->sl, &path), HD_OK);
	for (uint32_t i = 0; i < path.n_hops + tree.n; i++) {
		port_id p = tree.n ? tree.links[i].port : path.port[i];
		uint8_t vl = tree.n ? tree.links[i].vl : path.vl[i];

		assert_false(at->down[p]);
		at->slots[(size_t)p * N_DATA_VLS + vl] +=
			slots_for(q->rate, fabric->subnet.rate_of_port[p]);
	}
	tree_path_fini(&tree);
}

/* A VL's part of the weights is at least the part of the frame it needs. */
static void check_port(const struct instant *at, port_id p)
{
	const struct fabric *fabric = at->fabric;
	uint32_t port = fabric->port_of_origin[p];
	double weight[N_DATA_VLS] = { 0 }, all = 0;

	if (port == SIM_NONE || fabric->topo.ports[p].peer == TOPO_NONE)
		return;
	const struct vlarb *t = &fabric->subnet.vlarb_tables[at->tables[port]];

	for (unsigned i = 0; i < t->n_high; i++)
		weight[t->high[i].vl] += t->high[i].weight;
	for (unsigned i = 0; i < t->n_low; i++)
		weight[t->low[i].vl] += t->low[i].weight;
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++)
		all += weight[vl];
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		double need = (double)at->slots[(size_t)p * N_DATA_VLS + vl];

		assert_true(weight[vl] * FRAME_SLOTS >= 0.99 * need * all);
	}
}

static unsigned check_instant(struct instant *at)
{
	const struct fabric *fabric = at->fabric;
	/* The reservation of a connection is kept for this time after its end. */
	hd_time linger = slots_frame_time(hd_rate_make(8000000000, 1));
	unsigned n = 0;

	look(at);
	for (uint32_t i = 0; i < fabric->n_requests && !at->writing; i++) {
		const struct fabric_request *q = &fabric->requests[i];

		if (q->flow == SIM_NONE || at->now < q->at || at->now >= q->until - linger ||
		    is_broken(at, i))
			continue;
		add_needs(at, q);
		n++;
	}
	for (port_id p = 0; p < fabric->topo.n_ports && !at->writing; p++)
		check_port(at, p);
	free(at->routes.lft);
	free(at->mft.ports);
	return n;
}

static void reservations_follow_routes_at_every_instant(void **state)
{
	unsigned n = cases_of_run(40, 2000), held = 0, broken = 0, restored = 0;

	(void)state;
	for (unsigned k = 0; k < n; k++) {
		struct fabric *fabric = random_fabric(k + 1);
		struct instant at = { .fabric = fabric };

		at.down = calloc(fabric->topo.n_ports, sizeof(*at.down));
		at.tables = calloc(fabric->setup.n_ports, sizeof(*at.tables));
		at.slots = calloc((size_t)fabric->topo.n_ports * N_DATA_VLS, sizeof(*at.slots));
		for (uint32_t i = 0; i < fabric->setup.n_changes; i++) {
			at.now = fabric->setup.changes[i].time;
			held += check_instant(&at);
		}
		for (uint32_t i = 0; i < fabric->setup.n_faults; i++) {
			at.now = fabric->setup.faults[i].time;
			held += check_instant(&at);
		}
		for (uint32_t i = 0; i < fabric->n_breaks; i++) {
			broken++;
			restored += fabric->breaks[i].until < fabric->rules.stop;
			assert_true(fabric->breaks[i].until > fabric->breaks[i].from ||
				    fabric->breaks[i].lost != HD_TIME_NEVER);
			assert_non_null(fabric->breaks[i].cause);
		}
		free(at.down);
		free(at.tables);
		free(at.slots);
		fabric_free(fabric);
	}
	assert_true(held > 50 * n && broken > n && restored > n / 2);
}

/* A broken connection is restored if it fits: nothing stays suspended while
 * its path has room. */
static void broken_connections_are_restored_with_the_link(void **state)
{
	struct fabric *fabric;

	(void)state;
	must_build(
		"fabric:\n  topology: {kind: xgft, down: \"4,2\", up: \"1,2\"}\n  link: 8Gb/s\n  routing: updn\n" CLASSES
		"traffic:\n"
		"- {name: a, class: film, kind: cbr, rate: 5Gb/s, source: \"0\", destination: \"4\", pattern: pairs}\n"
		"- {name: b, class: film, kind: cbr, rate: 5Gb/s, source: \"1\", destination: \"5\", pattern: pairs}\n"
		"- {name: late, class: film, kind: cbr, rate: 5Gb/s, source: \"2\", destination: \"6\", pattern: pairs, start: 3ms}\n"
		"faults: {events: [{at: 2ms, kind: link-down, port: s1-0:5}, {at: 6ms, kind: link-up, port: s1-0:5}]}\n"
		"sm: {trap: 20us, compute: 50us, program: 2us}\n"
		"run: {measure: 9ms}\n",
		&fabric);
	/*
	 * One spine has room for one connection; the third requests admission while it is occupied.
	 */
	assert_int_equal(fabric->n_breaks, 1);
	assert_int_equal(fabric->breaks[0].from, 2 * HD_MS);
	assert_int_equal(fabric->breaks[0].lost, fabric->sweeps[0].computed);
	assert_int_equal(fabric->breaks[0].until, fabric->sweeps[1].last);
	assert_string_equal(fabric->breaks[0].cause, "is full");
	assert_int_equal(fabric->requests[2].flow, SIM_NONE);
	/* Two films, and the one that was suspended once more. */
	assert_int_equal(fabric->n_flows, 3);
	assert_int_equal(fabric->flows[2].start, fabric->sweeps[1].last);
	assert_int_equal(fabric->flows[2].row, fabric->requests[fabric->breaks[0].request].row);
	fabric_free(fabric);
}

#define TREE_OF(be)                                                                                     \
	"fabric:\n  topology: {kind: xgft, down: \"4,2\", up: \"1,2\"}\n  link: 8Gb/s\n"                \
	"  routing: updn\n  switch: {input_buffer: 64KiB}\n"                                            \
	"qos:\n  vls: 15\n  classes: [{name: film, sl: 2, kind: DB}, {name: call, sl: 4, kind: DBTS}, " \
	"{name: be, sl: 8, kind: BE, weight: " be "}]\n"
#define BEST_EFFORT \
	"- {name: be, class: be, kind: saturating, payload: 2KiB, source: \"1,2,3\", destination: \"5,6,7\", pattern: pairs}\n"
#define DOWN_AND_UP                                                    \
	"faults: {events: [{at: 2ms, kind: link-down, port: s1-0:5}, " \
	"{at: 4ms, kind: link-up, port: s1-0:5}]}\n"                   \
	"sm: {trap: 20us, compute: 50us, program: 2us}\n"

/*
 * Two films share a VL and have deadlines; a third one is refused. The slots of
 * either are too few for both, whichever moves first.
 */
static void connections_with_deadlines_move_together(void **state)
{
	struct fabric *fabric;

	(void)state;
	must_build(
		TREE_OF("9000") "traffic:\n"
				"- {name: a, class: film, kind: cbr, rate: 1050Mb/s, payload: 2KiB, source: \"0\", destination: \"4\", pattern: pairs, deadline: 1ms}\n"
				"- {name: b, class: film, kind: cbr, rate: 1050Mb/s, payload: 2KiB, source: \"1\", destination: \"4\", pattern: pairs, deadline: 1ms}\n" BEST_EFFORT
					DOWN_AND_UP "run: {measure: 9ms}\n",
		&fabric);
	assert_int_equal(fabric->n_sweeps, 2);
	assert_int_equal(fabric->n_flows, 5); /* of six: a, b and best effort */
	assert_int_equal(fabric->n_breaks, 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(fabric->breaks[i].from, 2 * HD_MS);
		assert_int_equal(fabric->breaks[i].until, fabric->sweeps[0].last);
		assert_int_equal(fabric->breaks[i].lost, HD_TIME_NEVER);
		assert_string_equal(fabric->breaks[i].cause, "is down");
	}
	fabric_free(fabric);
}

/*
 * The tree has two equal spines: a connection that arrives while one is lost has the same bound as
 * with both.
 */
static void bounds_after_a_sweep_are_those_of_an_equal_path(void **state)
{
	double bound[2];

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		char text[2048];
		struct fabric *fabric;

		snprintf(
			text, sizeof(text), "%s%s%s",
			TREE_OF("3264") "traffic:\n"
					"- {name: a, class: film, kind: cbr, rate: 1Gb/s, payload: 2KiB, source: \"0\", destination: \"4\", pattern: pairs, start: 3ms, deadline: 1ms}\n" BEST_EFFORT,
			i ? DOWN_AND_UP : "", "run: {measure: 3500us}\n");
		must_build(text, &fabric);
		assert_int_equal(fabric->n_sweeps, i);
		assert_true(fabric->requests[0].flow != SIM_NONE);
		bound[i] = fabric->requests[0].bound;
		fabric_free(fabric);
	}
	assert_true(bound[0] > 0 && bound[0] < 1e-3);
	assert_float_equal(bound[1], bound[0], 1e-12);
}

/*
 * A connection with a deadline relies on the weight of another one on its VL, which ends. Its slots
 * are kept for the deadline; the next connection gets them.
 */
static void slots_kept_for_a_deadline_go_to_the_next_connection(void **state)
{
	struct fabric *fabric;

	(void)state;
	must_build(
		"fabric:\n  topology: {kind: star, hosts: 6}\n  link: 8Gb/s\n  groups: [{name: g, members: \"h0,h3,h4\"}]\n"
		"qos: {vls: 15, classes: [{name: film, sl: 2, kind: DB}, {name: be, sl: 8, kind: BE, weight: 5100}]}\n"
		"traffic:\n"
		"- {name: a, class: film, kind: cbr, rate: 3600Mb/s, payload: 2KiB, source: h2, destination: h3, pattern: pairs, stop: 1ms}\n"
		"- {name: b, class: film, kind: cbr, rate: 500Mb/s, payload: 2KiB, source: h1, pattern: group, group: g, deadline: 2ms}\n"
		"- {name: c, class: film, kind: cbr, rate: 3600Mb/s, payload: 2KiB, source: h2, destination: h3, pattern: pairs, start: 4ms}\n"
		"- {name: be, class: be, kind: saturating, payload: 2KiB, source: \"h0,h1,h4\", destination: h3, pattern: incast}\n"
		"run: {measure: 9ms}\n",
		&fabric);
	assert_int_equal(fabric->n_requests, 3);
	for (uint32_t i = 0; i < fabric->n_requests; i++)
		assert_true(fabric->requests[i].flow != SIM_NONE);
	fabric_free(fabric);
}

/*
 * Where queues are at outputs, the crossbar serves one packet of each VL in
 * turn. Of a film of 256 bytes (282 on the wire, 5 blocks) each packet waits
 * for 65 blocks of best effort: it can have s slots with s + s * 65 / 5 at most
 * 16320, which are 1165, or 1165 / 16320 * 8 Gb/s * 256 / 320 = 456.9 Mb/s.
 */
static void a_crossbar_serves_vls_in_turn(void **state)
{
	static const struct {
		const char *rate;
		bool fits;
	} rates[] = { { "456Mb/s", true }, { "457Mb/s", false } };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		char text[1024];
		struct fabric *fabric;

		snprintf(
			text, sizeof(text),
			"fabric: {topology: {kind: star, hosts: 3}, link: 8Gb/s, switch: {queueing: cioq}}\n"
			"qos: {vls: 15, classes: [{name: film, sl: 2, kind: DB}, {name: be, sl: 8, kind: BE}], admission: {margin: 0%%}}\n"
			"traffic:\n"
			"- {name: a, class: film, kind: cbr, rate: %s, payload: 256, source: h1, destination: h0, pattern: pairs}\n"
			"- {name: be, class: be, kind: saturating, payload: 4KiB, source: h2, destination: h0, pattern: pairs}\n",
			rates[i].rate);
		must_build(text, &fabric);
		assert_int_equal(fabric->requests[0].flow != SIM_NONE, rates[i].fits);
		if (!rates[i].fits)
			assert_non_null(
				strstr(fabric->requests[0].why, "its crossbar serves less"));
		fabric_free(fabric);
	}
}

/*
 * dfsssp assigns a block of SLs to each class. Congestion control does not throttle queue pairs on
 * the SLs of guaranteed classes, but on those of best effort.
 */
static void blocks_of_promised_sls_are_not_slowed_down(void **state)
{
	struct fabric *fabric;
	uint16_t paced = 0;

	(void)state;
	must_build(
		"fabric: {topology: {kind: hypercube, dimensions: 2, hosts: 2}, link: 8Gb/s, routing: dfsssp}\n" CLASSES
		"traffic:\n"
		"- {name: call, class: call, kind: cbr, rate: 50Mb/s, payload: 256, source: h0, destination: h1, pattern: pairs, transport: ud}\n"
		"congestion: {algorithm: pipd}\n"
		"run: {measure: 1ms}\n",
		&fabric);
	const struct vl_split *split = &fabric->subnet.split;

	assert_true(split->sls > 0);
	for (unsigned k = 0; k < split->sls; k++)
		paced |= (uint16_t)(1u << (split->class_of_sl[8] * split->sls + k));
	assert_true(split->class_of_sl[2] != split->class_of_sl[8] &&
		    split->class_of_sl[4] != split->class_of_sl[8]);
	assert_int_equal(fabric_paced_sls(fabric), paced);
	fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reservations_follow_routes_at_every_instant),
		cmocka_unit_test(broken_connections_are_restored_with_the_link),
		cmocka_unit_test(connections_with_deadlines_move_together),
		cmocka_unit_test(bounds_after_a_sweep_are_those_of_an_equal_path),
		cmocka_unit_test(slots_kept_for_a_deadline_go_to_the_next_connection),
		cmocka_unit_test(a_crossbar_serves_vls_in_turn),
		cmocka_unit_test(blocks_of_promised_sls_are_not_slowed_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
