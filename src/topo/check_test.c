/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults found in fabrics, and their descriptions. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <string.h>

#include "base/alloc.h"
#include "topo/check.h"
#include "topo/facts.h"
#include "topo/generate.h"
#include "topo/read.h"

static void make(struct topo *t, const char *words)
{
	struct diag d = { .status = HD_OK };

	if (topo_generate_text(words, 1, 0, &d, t) != HD_OK)
		fail_msg("%s: %s", words, d.message);
}

static void good_fabrics_have_no_problems(void **state)
{
	(void)state;
	for (const struct generator *g = topo_generators; g->name; g++) {
		struct topo_problems found = { 0 };
		struct topo t;

		make(&t, g->name);
		topo_check(&t, &found);
		assert_int_equal(found.n, 0);
		topo_fini(&t);
	}
}

#define LINK(port, to, at, link) "[" port "]\t\"" to "\"[" at "]\t\t# \"x\" lid 0 " link "\n"

static const char broken[] = "switchguid=0x20(20)\n"
			     "Switch\t4 \"a\"\t\t# \"a\" base port 0 lid 5 lmc 0\n" /* 2 */
	LINK("1", "b", "1", "4xHDR")                                                /* 3 */
	LINK("2", "b", "2", "4xHDR")                                                /* 4 */
	"\n"
	"switchguid=0x30(30)\n"
	"Switch\t4 \"b\"\t\t# \"b\" base port 0 lid 6 lmc 0\n" /* 7 */
	LINK("1", "a", "1", "8xHDR")                           /* 8 */
	LINK("2", "a", "2", "4xHDR")                           /* 9 */
	"\n"
	"switchguid=0x40(40)\n"
	"Switch\t4 \"c\"\t\t# \"c\" base port 0 lid 5 lmc 0\n" /* 12 */
	LINK("1", "d", "1", "4xHDR")                           /* 13 */
	"\n"
	"switchguid=0x50(40)\n"
	"Switch\t4 \"d\"\t\t# \"d\" base port 0 lid 4 lmc 1\n" /* 16 */
	LINK("1", "c", "1", "4xHDR")                           /* 17 */
	"\n"
	"caguid=0x60\n"
	"Ca\t1 \"alone\"\t\t# \"alone\"\n"; /* 20 */

static void each_problem_is_found_at_its_line(void **state)
{
	static const struct {
		enum problem_kind kind;
		uint32_t line, other;
		const char *text;
	} expected[] = {
		{ PROBLEM_ISOLATED, 12, 0, "'c' and 1 other" },
		{ PROBLEM_GUID_CLASH, 16, 12, "0x0000000000000040" },
		{ PROBLEM_LID_CLASH, 16, 12, "LID 5 is that of port 0 of 'c'" },
		{ PROBLEM_ISOLATED, 20, 0, "'alone'" },
	};
	struct topo_problems found = { 0 };
	struct diag d = { .status = HD_OK };
	struct topo t;

	(void)state;
	assert_int_equal(topo_read(broken, sizeof(broken) - 1, &found, &d, &t), HD_OK);
	assert_int_equal(found.n, 0);
	topo_check(&t, &found);
	assert_int_equal(found.n, 4);
	for (size_t i = 0; i < found.n; i++) {
		assert_int_equal(found.items[i].kind, expected[i].kind);
		assert_int_equal(found.items[i].line, expected[i].line);
		assert_int_equal(found.items[i].other, expected[i].other);
		assert_non_null(strstr(found.items[i].text, expected[i].text));
	}
	problems_fini(&found);
	topo_fini(&t);
}

/* In ibnetdiscover's text, a port has its active speed, not its supported ones. */
static void speeds_that_differ_are_a_mismatch(void **state)
{
	static const char text[] =
		"# Topology file: generated on x\n"
		"switchguid=0x20(20)\n"
		"Switch\t4 \"S-0000000000000020\"\t\t# \"a\" base port 0 lid 1 lmc 0\n"
		"[1]\t\"S-0000000000000030\"[2]\t\t# \"b\" lid 2 4xHDR\n"
		"[2]\t\"S-0000000000000030\"[1]\t\t# \"b\" lid 2 4xHDR\n"
		"\n"
		"switchguid=0x30(30)\n"
		"Switch\t4 \"S-0000000000000030\"\t\t# \"b\" base port 0 lid 2 lmc 0\n"
		"[1]\t\"S-0000000000000020\"[2]\t\t# \"a\" lid 1 4xEDR\n"
		"[2]\t\"S-0000000000000020\"[1]\t\t# \"a\" lid 1 1xHDR\n";
	struct topo_problems found = { 0 };
	struct diag d = { .status = HD_OK };
	struct topo t;

	(void)state;
	/* topo_read refuses the file; topo_check lists every problem. */
	assert_int_equal(topo_read(text, sizeof(text) - 1, NULL, &d, &t), HD_ERR_INPUT);
	assert_int_equal(d.line, 4);
	assert_non_null(
		strstr(d.message, "port 1 of 'a' has 4x HDR, port 2 of 'b' (line 10) 1x HDR"));
	d = (struct diag){ .status = HD_OK };
	assert_int_equal(topo_read(text, sizeof(text) - 1, &found, &d, &t), HD_OK);
	topo_check(&t, &found);
	assert_int_equal(found.n, 2);
	assert_int_equal(found.items[0].kind, PROBLEM_SPEED);
	assert_int_equal(found.items[0].line, 4);
	assert_int_equal(found.items[0].other, 10);
	assert_non_null(strstr(found.items[0].text, "no width in common"));
	assert_int_equal(found.items[1].line, 5);
	assert_int_equal(found.items[1].other, 9);
	assert_non_null(strstr(found.items[1].text, "no speed in common"));
	problems_fini(&found);
	topo_fini(&t);
}

static void facts_of_a_fat_tree(void **state)
{
	struct topo t;
	struct topo_facts f;

	(void)state;
	make(&t, "fat-tree --radix 8 --levels 3 --link=4xHDR --host-link=4xEDR");
	topo_facts_init(&f, &t);
	/* k = 8: k^3/4 = 128 hosts, 5k^2/4 = 80 switches. */
	assert_int_equal(f.adapters, 128);
	assert_int_equal(f.switches, 80);
	assert_int_equal(f.cables, 3 * 128);
	assert_int_equal(f.trunks, 2 * 128);
	assert_int_equal(f.end_ports, 128);
	assert_int_equal(f.parts, 1);
	assert_int_equal(f.least_radix, 8);
	assert_int_equal(f.most_radix, 8);
	assert_int_equal(f.n_tiers, 4);
	assert_int_equal(f.tier[1].switches, 32);
	assert_int_equal(f.tier[2].switches, 32);
	assert_int_equal(f.tier[3].switches, 16);
	assert_int_equal(f.tier[1].cables_down, 128);
	assert_int_equal(f.tier[1].cables_up, 128);
	assert_int_equal(f.tier[2].cables_up, 128);
	assert_int_equal(f.tier[3].cables_down, 128);
	assert_int_equal(f.tier[3].cables_up, 0);
	assert_int_equal(f.distances.longest, 4);
	assert_int_equal(f.bisection.kind, BISECTION_FORMULA);
	assert_int_equal(f.bisection.cables, 64);
	assert_true(f.bisection_share == 1.0);
	assert_int_equal(f.n_links, 2);
	assert_int_equal(f.links[0].speed, SPEED_HDR);
	assert_int_equal(f.links[0].between_switches, 256);
	assert_int_equal(f.links[1].speed, SPEED_EDR);
	assert_int_equal(f.links[1].to_hosts, 128);
	topo_facts_fini(&f);
	topo_fini(&t);
}

/* Tiers of a generated fabric and those found by distance are the same. */
static void tiers_found_are_tiers_made(void **state)
{
	static const char *const kinds[] = { "tree --arity 3 --levels 4",
					     "xgft --down 3,2,2 --up 1,2,3",
					     "xgft --down 2,3,2 --up 2,2,1",
					     "rail --rails 2 --spines 2",
					     "rail --rails 4 --planes 2",
					     "star --switches 3",
					     "dragonfly-plus",
					     "dragonfly" };

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct topo t;
		struct topo_facts f;
		uint32_t made[FACTS_MAX_TIERS] = { 0 };

		make(&t, kinds[i]);
		topo_facts_init(&f, &t);
		for (node_id v = 0; v < t.n_nodes; v++) {
			if (topo_is_switch(&t, v))
				made[t.nodes[v].tier]++;
		}
		for (unsigned tier = 1; tier < FACTS_MAX_TIERS; tier++)
			assert_int_equal(f.tier[tier].switches, made[tier]);
		topo_facts_fini(&f);
		topo_number_tiers(&t);
		for (node_id v = 0; v < t.n_nodes; v++)
			made[t.nodes[v].tier] -= topo_is_switch(&t, v);
		for (unsigned tier = 0; tier < FACTS_MAX_TIERS; tier++)
			assert_int_equal(made[tier], 0);
		topo_fini(&t);
	}
}

/* Counts cables from an adapter to each node; other adapters do not forward. */
static void walk(const struct topo *t, node_id from, uint32_t *cables)
{
	node_id *queue = hd_alloc(t->n_nodes, sizeof(*queue));
	uint32_t head = 0, tail = 0;

	memset(cables, 0xff, t->n_nodes * sizeof(*cables));
	cables[from] = 0;
	queue[tail++] = from;
	while (head < tail) {
		node_id at = queue[head++];

		if (at != from && t->nodes[at].kind == NODE_CA)
			continue;
		for (unsigned n = 1; n <= t->nodes[at].n_ports; n++) {
			port_id peer = t->ports[t->nodes[at].first_port + n].peer;
			node_id to = peer == TOPO_NONE ? at : t->ports[peer].node;

			if (cables[to] != UINT32_MAX)
				continue;
			cables[to] = cables[at] + 1;
			queue[tail++] = to;
		}
	}
	free(queue);
}

/* Distances between all pairs of hosts with a link between their switches. */
struct distances {
	uint32_t longest;
	double sum, pairs;
};

/* The hosts' own cables do not count; a cable that joins the two does. */
static void add_distances(const struct topo *t, node_id from, struct distances *d)
{
	uint32_t *cables = hd_alloc(t->n_nodes, sizeof(*cables));

	walk(t, from, cables);
	for (node_id u = 0; u < t->n_nodes; u++) {
		uint32_t links = cables[u] < 2 ? cables[u] : cables[u] - 2;

		if (t->nodes[u].kind != NODE_CA || links == 0 || cables[u] == UINT32_MAX)
			continue;
		d->longest = links > d->longest ? links : d->longest;
		d->sum += links;
		d->pairs++;
	}
	free(cables);
}

static void distances_are_those_between_switches(void **state)
{
	static const char *const kinds[] = {
		"rail --rails 2 --units 3 --hosts 3 --spines 2",
		"rail --rails 4 --planes 2",
		"xgft --down 2,3,2 --up 2,2,1",
		"xgft --down 2,2 --up 3,1",
		"irregular --switches 9 --degree 4 --hosts 3 --host-ports 2",
		"back-to-back --cables 2",
		"routed --subnets 3 --hosts 2",
		"star --hosts 5",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct distances d = { 0 };
		struct topo_facts f;
		struct topo t;

		make(&t, kinds[i]);
		for (node_id v = 0; v < t.n_nodes; v++) {
			if (t.nodes[v].kind == NODE_CA)
				add_distances(&t, v, &d);
		}
		topo_facts_init(&f, &t);
		assert_int_equal(f.distances.longest, d.longest);
		assert_true(fabs(f.distances.mean * d.pairs - d.sum) < 1e-6);
		topo_facts_fini(&f);
		topo_fini(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_fabrics_have_no_problems),
		cmocka_unit_test(each_problem_is_found_at_its_line),
		cmocka_unit_test(speeds_that_differ_are_a_mismatch),
		cmocka_unit_test(facts_of_a_fat_tree),
		cmocka_unit_test(tiers_found_are_tiers_made),
		cmocka_unit_test(distances_are_those_between_switches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
