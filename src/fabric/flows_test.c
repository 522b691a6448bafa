/* SPDX-License-Identifier: BSD-2-Clause */
/* Flows of traffic rows: sources, destinations, sizes and times. */
#include "fabric/build_for_tests.h"

static void gaps_follow_rate_and_load(void **state)
{
	static const struct {
		const char *row;
		uint64_t num, den; /* ps */
	} cases[] = {
		/* 1000 B = 8000 bits at 1 Gb/s: 8 us. */
		{ "kind: cbr, payload: 1000, rate: 1Gb/s", 8000000, 1 },
		/* 2048 + 26 B at half of 8 Gb/s: 4.148 us. */
		{ "kind: poisson, load: 50%", 4148000, 1 },
		{ "kind: ge, load: 50%, scv: 3", 4148000, 1 },
		/* On a quarter of the time: four times as fast while on. */
		{ "kind: on-off, load: 50%, on: 1us, off: 3us", 1037000, 1 },
		{ "kind: pareto, load: 50%, on: 2us, off: 6us", 1037000, 1 },
		{ "kind: cbr, payload: 1, rate: 3Gb/s", 8000, 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fabric *fabric;
		char text[256];

		snprintf(text, sizeof(text), SMALL "traffic: [{name: a, %s}]\n", cases[i].row);
		must_build(text, &fabric);
		assert_int_equal(fabric->n_flows, 4);
		assert_true(fabric->flows[0].interval.num == cases[i].num);
		assert_true(fabric->flows[0].interval.den == cases[i].den);
		fabric_free(fabric);
	}
}

static void messages_are_cut_at_the_mtu(void **state)
{
	static const struct {
		const char *row;
		uint32_t bytes, packets, last;
		uint64_t count;
	} cases[] = {
		{ "payload: 100", 126, 1, 0, 1 },
		{ "payload: 4096", 4122, 1, 0, 1 },
		{ "payload: 8KiB, count: 7", 4122, 2, 0, 7 },
		{ "payload: 5000", 4122, 2, 930, 1 },
		{ "payload: 1, pattern: all-to-all", 27, 1, 0, 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fabric *fabric;
		char text[256];

		snprintf(text, sizeof(text), SMALL "traffic: [{name: a, kind: messages, %s}]\n",
			 cases[i].row);
		must_build(text, &fabric);
		assert_int_equal(fabric->flows[0].bytes, cases[i].bytes);
		assert_int_equal(fabric->flows[0].packets, cases[i].packets);
		assert_int_equal(fabric->flows[0].last_bytes, cases[i].last);
		assert_true(fabric->flows[0].count == cases[i].count);
		fabric_free(fabric);
	}
}

/* Host number of a flow's source and fixed destination. */
static uint32_t host_number(const struct fabric *fabric, port_id port)
{
	const struct selection *hosts = selector_hosts(fabric->selector);

	for (uint32_t i = 0; i < hosts->n; i++) {
		if (hosts->ports[i] == port)
			return i;
	}
	return UINT32_MAX;
}

static uint32_t source_of(const struct fabric *fabric, uint32_t flow)
{
	const struct sim_node *node = &fabric->setup.nodes[fabric->flows[flow].source];

	return host_number(fabric, fabric->setup.ports[node->first_port + 1].origin);
}

static void build_pattern(const char *pattern, struct fabric **out)
{
	char text[400];

	snprintf(text, sizeof(text), MESH "traffic: [{name: a, kind: saturating, pattern: %s}]\n",
		 pattern);
	must_build(text, out);
}

static void patterns_send_where_they_should(void **state)
{
	/* Host i = 4 r + c of 16, by the textbook definitions. */
	static const struct {
		const char *pattern;
		uint32_t to[16]; /* itself: silent */
	} cases[] = {
		{ "transpose", { 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15 } },
		{ "bit-reverse", { 0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15 } },
		{ "tornado", { 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6 } },
		{ "incast, destination: 3", { 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3 } },
		{ "pairs, source: 0..7, destination: 8..15",
		  { 8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fabric *fabric;
		uint32_t expected = 0;

		build_pattern(cases[i].pattern, &fabric);
		for (uint32_t k = 0; k < 16; k++)
			expected += cases[i].to[k] != k;
		assert_int_equal(fabric->n_flows, expected);
		for (uint32_t f = 0; f < fabric->n_flows; f++) {
			uint32_t to = host_number(fabric, fabric->flow_target[f]);

			assert_int_equal(to, cases[i].to[source_of(fabric, f)]);
			assert_int_equal(fabric->flows[f].to.list[0].dlid,
					 fabric->subnet.lid_of_port[fabric->flow_target[f]]);
			assert_int_equal(fabric->flows[f].to.choice, SIM_TO_FIXED);
		}
		fabric_free(fabric);
	}
}

static void a_permutation_moves_everybody_once(void **state)
{
	uint32_t first[16] = { 0 };
	unsigned differ = 0;

	(void)state;
	for (unsigned seed = 1; seed <= 20; seed++) {
		struct fabric *fabric;
		char text[256];
		bool reached[16] = { false };

		snprintf(
			text, sizeof(text),
			MESH
			"traffic: [{name: a, kind: saturating, pattern: permutation}]\nrun: {seed: %u}\n",
			seed);
		must_build(text, &fabric);
		assert_int_equal(fabric->n_flows, 16);
		for (uint32_t f = 0; f < 16; f++) {
			uint32_t to = host_number(fabric, fabric->flow_target[f]);

			assert_int_not_equal(to, source_of(fabric, f));
			assert_false(reached[to]);
			reached[to] = true;
			differ += seed > 1 && to != first[f];
			if (seed == 1)
				first[f] = to;
		}
		fabric_free(fabric);
	}
	/* Two draws agree at a host with probability 1/15. */
	assert_true(differ > 19 * 16 * 8 / 10);
}

static void choosing_flows_know_their_own_place(void **state)
{
	static const struct {
		const char *pattern;
		enum sim_choice choice;
		uint32_t n, n_hot;
	} cases[] = {
		{ "uniform", SIM_TO_UNIFORM, 16, 0 },
		{ "all-to-all", SIM_TO_CYCLE, 16, 0 },
		{ "hotspot, hotspot: [h5, h6], hot_share: 25%", SIM_TO_HOTSPOT, 16, 2 },
		{ "uniform, source: 0..3, destination: 4..7", SIM_TO_UNIFORM, 4, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fabric *fabric;

		build_pattern(cases[i].pattern, &fabric);
		for (uint32_t f = 0; f < fabric->n_flows; f++) {
			const struct sim_destinations *to = &fabric->flows[f].to;
			uint32_t own = fabric->flows[f].source;
			const struct sim_node *node = &fabric->setup.nodes[own];
			lid_t lid =
				fabric->subnet.lid_of_port[fabric->setup.ports[node->first_port + 1]
								   .origin];

			assert_int_equal(to->choice, cases[i].choice);
			assert_int_equal(to->n, cases[i].n);
			assert_int_equal(to->n_hot, cases[i].n_hot);
			if (to->self != SIM_NONE)
				assert_int_equal(to->list[to->self].dlid, lid);
			else
				assert_int_equal(cases[i].n, 4);
		}
		if (cases[i].n_hot) {
			const struct sim_address *list = fabric->flows[0].to.list;
			const struct selection *h = selector_hosts(fabric->selector);

			assert_int_equal(list[0].dlid, fabric->subnet.lid_of_port[h->ports[5]]);
			assert_int_equal(list[1].dlid, fabric->subnet.lid_of_port[h->ports[6]]);
			assert_true(fabric->flows[0].to.hot_share == 0.25);
		}
		fabric_free(fabric);
	}
}

static void groups_get_the_trees_they_ask_for(void **state)
{
	static const struct {
		const char *text;
		uint32_t n_flows, n_trees, copies;
	} cases[] = {
		{ "shared}]\ntraffic: [{name: a, kind: saturating, pattern: group, group: g, source: 0..2}]\n",
		  3, 1, 3 },
		{ "shortest}]\ntraffic: [{name: a, kind: saturating, pattern: group, group: g, source: 0..2}]\n",
		  3, 3, 3 },
		{ "xy}]\n  routing: xy\ntraffic: [{name: a, kind: saturating, pattern: group, group: g, source: 8}]\n",
		  1, 1, 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fabric *fabric;
		char text[400];

		snprintf(text, sizeof(text), MESH "  groups: [{name: g, members: 0..3, tree: %s",
			 cases[i].text);
		must_build(text, &fabric);
		assert_int_equal(fabric->n_flows, cases[i].n_flows);
		assert_int_equal(fabric->subnet.n_groups, cases[i].n_trees);
		for (uint32_t f = 0; f < fabric->n_flows; f++) {
			lid_t mlid = fabric->flows[f].to.list[0].dlid;

			assert_int_equal(fabric->flows[f].copies, cases[i].copies);
			assert_in_range(mlid, LID_FIRST_MCAST, LID_LAST_MCAST);
			assert_int_equal(mlid - LID_FIRST_MCAST, cases[i].n_trees == 1 ? 0 : f);
		}
		fabric_free(fabric);
	}
}

static void a_new_row_changes_no_other(void **state)
{
	static const char one[] = MESH "traffic:\n"
				       "- {name: a, kind: saturating, connections: 50}\n";
	static const char two[] = MESH "traffic:\n"
				       "- {name: a, kind: saturating, connections: 50}\n"
				       "- {name: b, kind: saturating, pattern: permutation}\n";
	struct fabric *fabric;
	port_id targets[50];
	uint32_t sources[50];

	(void)state;
	must_build(one, &fabric);
	assert_int_equal(fabric->n_flows, 50);
	for (uint32_t i = 0; i < 50; i++) {
		targets[i] = fabric->flow_target[i];
		sources[i] = fabric->flows[i].source;
		assert_int_not_equal(fabric->end_of_origin[targets[i]], sources[i]);
	}
	fabric_free(fabric);
	must_build(two, &fabric);
	assert_int_equal(fabric->n_flows, 66);
	for (uint32_t i = 0; i < 50; i++) {
		assert_int_equal(fabric->flow_target[i], targets[i]);
		assert_int_equal(fabric->flows[i].source, sources[i]);
	}
	fabric_free(fabric);
}

static void traces_become_flows_per_source(void **state)
{
	struct fabric *fabric;

	(void)state;
	write_file("build_test.csv", "# time,source,destination,payload,sl\n"
				     "1us, h1, h0, 256\n"
				     "\n"
				     "2us,h0,h2,1KiB,3\r\n"
				     "2us,h1,h2,64,0\n");
	must_build(SMALL "traffic:\n"
			 "- {name: t, kind: trace, file: build_test.csv, start: 5us, sl: 2}\n",
		   &fabric);
	assert_int_equal(fabric->n_flows, 2);
	assert_int_equal(source_of(fabric, 0), 0);
	assert_int_equal(fabric->flows[0].n_trace, 1);
	assert_true(fabric->flows[0].trace[0].time == 7 * HD_US);
	assert_int_equal(fabric->flows[0].trace[0].bytes, 1050);
	assert_int_equal(fabric->flows[0].trace[0].sl, 3);
	assert_int_equal(fabric->flows[1].n_trace, 2);
	assert_int_equal(fabric->flows[1].trace[0].sl, 2);
	assert_int_equal(fabric->flows[1].trace[1].sl, 0);
	assert_int_equal(fabric->flows[1].trace[1].bytes, 90);
	fabric_free(fabric);
	remove("build_test.csv");
}

static const struct {
	const char *text, *message;
} bad_traces[] = {
	{ "1us,h0,h1\n", "1: expected time,source,destination,payload[,sl]" },
	{ "1us,h0,h1,1,1,1\n", "1: expected time,source,destination,payload[,sl]" },
	{ "1us,h0,h1,1\n1,h0,h1,1\n", "2: '1' is not a time" },
	{ "1us,h0,h9,1\n", "1: no host 'h9'" },
	{ "1us,h0,h0,1\n", "1: source and destination are the same" },
	{ "1us,h*,h0,1\n", "1: more than one host" },
	{ "1us,h0,h1,5000\n", "1: a payload larger than the MTU" },
	{ "1us,h0,h1,5,16\n", "1: an SL above 15" },
	{ "#\n2us,h0,h1,1\n1us,h0,h1,1\n", "3: a time before that of the line above" },
};

static void refuses_bad_traces_with_their_line(void **state)
{
	static const char text[] = SMALL "traffic: [{name: a, kind: trace, file: bad.csv}]\n";

	(void)state;
	for (size_t i = 0; i < sizeof(bad_traces) / sizeof(bad_traces[0]); i++) {
		struct diag d = { .status = HD_OK };
		struct fabric *fabric;
		char expected[128];

		write_file("bad.csv", bad_traces[i].text);
		assert_int_not_equal(fabric_load(text, strlen(text), "x.yaml", NULL, &d, &fabric),
				     HD_OK);
		snprintf(expected, sizeof(expected), "bad.csv:%s", bad_traces[i].message);
		if (strncmp(d.message, expected, strlen(expected)) != 0)
			fail_msg("%s gives %s", bad_traces[i].text, d.message);
		assert_int_equal(d.line, 4);
	}
	remove("bad.csv");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gaps_follow_rate_and_load),
		cmocka_unit_test(messages_are_cut_at_the_mtu),
		cmocka_unit_test(patterns_send_where_they_should),
		cmocka_unit_test(a_permutation_moves_everybody_once),
		cmocka_unit_test(choosing_flows_know_their_own_place),
		cmocka_unit_test(groups_get_the_trees_they_ask_for),
		cmocka_unit_test(a_new_row_changes_no_other),
		cmocka_unit_test(traces_become_flows_per_source),
		cmocka_unit_test(refuses_bad_traces_with_their_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
