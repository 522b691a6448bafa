/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/blrm.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "subnet/fabric_for_tests.h"
#include "subnet/route.h"

/*
 * Paper 003's example: N1, N2 on S1; N3, N4 on S2; all links 1x SDR, 250
 * bytes per microsecond.
 */
struct fabric {
	struct topo topo;
	struct subnet subnet;
	port_id n[4];
};

static void fabric_init(struct fabric *f, unsigned vls)
{
	struct lid_options lids = { .order = LIDS_NODES, .sm_port = TOPO_NONE };
	struct route_options options = { 0 };
	struct diag d = { .status = HD_OK };

	topo_init(&f->topo);
	node_id s1 = add_switch(&f->topo, 3), s2 = add_switch(&f->topo, 3);

	join(&f->topo, s1, 3, s2, 3);
	for (unsigned i = 0; i < 4; i++) {
		node_id host = add_host(&f->topo, i < 2 ? s1 : s2, 1 + i % 2);

		f->n[i] = topo_port_of(&f->topo, host, 1);
	}
	for (port_id p = 0; p < f->topo.n_ports; p++) {
		f->topo.ports[p].widths = WIDTH_1X;
		f->topo.ports[p].speeds = 1 << SPEED_SDR;
		f->topo.ports[p].vls = (uint8_t)vls;
	}
	subnet_init(&f->subnet, &f->topo);
	assert_int_equal(subnet_assign_lids(&f->subnet, &lids, &d), HD_OK);
	assert_int_equal(subnet_route(&f->subnet, "minhop", &options, &d),
			 HD_OK);
}

static void fabric_fini(struct fabric *f)
{
	subnet_fini(&f->subnet);
	topo_fini(&f->topo);
}

static struct blrm_params params(enum bound_mode mode)
{
	return (struct blrm_params){ .mode = mode,
				     .reservable = { 4, 5 },
				     .max_packet = 2048 };
}

static struct blrm_request dbts(const struct fabric *f, int from, int to,
				uint32_t burst, hd_time period, hd_time latency)
{
	return (struct blrm_request){
		.source = f->n[from - 1],
		.dlid = f->subnet.lid_of_port[f->n[to - 1]],
		.class = CLASS_DBTS,
		.burst = burst,
		.period = period,
		.latency = latency,
	};
}

static bool grants(struct blrm *b, struct blrm_request r, char *why)
{
	struct diag d = { .status = HD_OK };
	uint32_t id;
	double told;
	bool ok = blrm_request(b, &r, &d, &id, &told) == HD_OK;

	if (why)
		memcpy(why, d.message, sizeof(d.message));
	return ok;
}

/*
 * The reference flows, host links counted too: f1's three hops are
 * 2048/250 (alone on its host link), 40.960 and 49.152 microseconds.
 */
static void the_papers_flows_get_the_papers_bound(void **state)
{
	(void)state;
	struct fabric f;
	struct blrm b;
	struct blrm_params p = params(BOUND_PUBLISHED);
	double hops[BOUND_MODES][8], *delay[BOUND_MODES];

	fabric_init(&f, 4);
	blrm_init(&b, &f.subnet, &p);
	assert_true(
		grants(&b, dbts(&f, 1, 4, 4096, 1000 * HD_US, HD_MS), NULL));
	assert_true(
		grants(&b, dbts(&f, 2, 4, 8192, 2000 * HD_US, HD_MS), NULL));
	assert_true(grants(&b, dbts(&f, 3, 4, 2048, 500 * HD_US, HD_MS), NULL));
	assert_int_equal(blrm_hops(&b), 8);
	for (unsigned m = 0; m < BOUND_MODES; m++)
		delay[m] = hops[m];
	blrm_bounds(&b, delay);
	assert_true(fabs(hops[BOUND_PUBLISHED][0] * 1e6 - 8.192) < 1e-3);
	assert_true(fabs(hops[BOUND_PUBLISHED][1] * 1e6 - 40.960) < 1e-3);
	assert_true(fabs(hops[BOUND_PUBLISHED][2] * 1e6 - 49.152) < 1e-3);
	assert_true(fabs(b.flows[0].bound * 1e6 - 98.304) < 1e-3);
	/* Grouping never gives more than plain buckets. */
	for (int k = 0; k < 8; k++)
		assert_true(hops[BOUND_GROUPED][k] <=
			    hops[BOUND_BUCKET][k] + 1e-12);
	blrm_fini(&b);
	fabric_fini(&f);
}

static void a_latency_that_cannot_be_met_is_refused(void **state)
{
	(void)state;
	struct fabric f;
	struct blrm b;
	struct blrm_params p = params(BOUND_BUCKET);
	char why[480];

	fabric_init(&f, 4);
	blrm_init(&b, &f.subnet, &p);
	assert_false(grants(&b, dbts(&f, 1, 4, 4096, HD_MS, 10 * HD_US), why));
	assert_non_null(strstr(why, "asked for 10.000 us"));
	assert_int_equal(b.n_flows, 0);
	blrm_fini(&b);
	fabric_fini(&f);
}

/*
 * DB flows that ask for no latency are promised their class's, so the first
 * does not keep the second out; one that its class cannot have is refused.
 */
static void db_flows_are_promised_their_class_bound(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct fabric f;
		struct blrm b;
		struct blrm_params p = params(BOUND_BUCKET);
		char why[480];

		fabric_init(&f, 4);
		p.db_latency = i ? 300 * HD_US : 0;
		blrm_init(&b, &f.subnet, &p);
		struct blrm_request r = dbts(&f, 1, 4, 4096, HD_MS, 0);

		r.class = CLASS_DB;
		assert_true(grants(&b, r, NULL));
		assert_true(b.flows[0].promised ==
			    (i ? 300e-6 : b.flows[0].bound));
		r.source = f.n[1];
		assert_true(grants(&b, r, why) == (i == 1));
		if (i == 0)
			assert_non_null(strstr(why, "was promised"));
		assert_int_equal(blrm_release(&b, 0), HD_OK);
		if (i == 1)
			assert_int_equal(blrm_release(&b, 1), HD_OK);
		r.burst = 100000;
		assert_true(grants(&b, r, why) == (i == 0));
		if (i == 1)
			assert_non_null(strstr(why, "its class has 300.000"));
		blrm_fini(&b);
		fabric_fini(&f);
	}
}

/* A newcomer that would break an earlier promise is turned away. */
static void earlier_promises_are_kept(void **state)
{
	(void)state;
	struct fabric f;
	struct blrm b;
	struct blrm_params p = params(BOUND_BUCKET);
	char why[480];
	double before;

	fabric_init(&f, 4);
	blrm_init(&b, &f.subnet, &p);
	assert_true(grants(&b, dbts(&f, 1, 4, 4096, HD_MS, 80 * HD_US), NULL));
	before = b.flows[0].bound;
	assert_false(grants(&b, dbts(&f, 2, 4, 20000, HD_MS, 10 * HD_MS), why));
	assert_non_null(strstr(why, "was promised 80.000 us"));
	assert_true(b.flows[0].bound == before);
	blrm_fini(&b);
	fabric_fini(&f);
}

static void db_is_told_and_held_to_it(void **state)
{
	(void)state;
	struct fabric f;
	struct blrm b;
	struct blrm_params p = params(BOUND_BUCKET);
	struct blrm_request db;
	struct diag d = { .status = HD_OK };
	uint32_t id;
	double told = 0;

	fabric_init(&f, 4);
	blrm_init(&b, &f.subnet, &p);
	db = dbts(&f, 1, 4, 4096, HD_MS, 0);
	db.class = CLASS_DB;
	assert_int_equal(blrm_request(&b, &db, &d, &id, &told), HD_OK);
	/* Alone: each of three links at worst a packet and its own burst. */
	assert_true(told * 1e6 > 3 * (2048 + 4096) / 250.0);
	assert_false(grants(&b, dbts(&f, 2, 4, 8192, HD_MS, HD_MS), NULL));
	assert_int_equal(blrm_release(&b, id), HD_OK);
	assert_int_equal(blrm_release(&b, id), HD_ERR_NOT_FOUND);
	assert_true(grants(&b, dbts(&f, 2, 4, 8192, HD_MS, HD_MS), NULL));
	blrm_fini(&b);
	fabric_fini(&f);
}

static void bandwidth_is_refused_with_the_link(void **state)
{
	(void)state;
	struct fabric f;
	struct blrm b;
	struct blrm_params p = params(BOUND_BUCKET);
	char why[480];

	fabric_init(&f, 4);
	blrm_init(&b, &f.subnet, &p);
	/* 200 B/us = 4/5 of 250 is not below the limit. */
	assert_false(grants(&b, dbts(&f, 1, 2, 20000, 100 * HD_US, HD_S), why));
	assert_non_null(strstr(why, "link 'host0'[1]"));
	assert_false(grants(&b, dbts(&f, 1, 2, 0, HD_MS, HD_S), why));
	assert_non_null(strstr(why, "above 0"));
	blrm_fini(&b);
	fabric_fini(&f);
}

/* Two lanes: DBTS shares with DB, and its bound shows it. */
static void two_lanes_make_one_class(void **state)
{
	(void)state;
	double bound[2];

	for (int i = 0; i < 2; i++) {
		struct fabric f;
		struct blrm b;
		struct blrm_params p = params(BOUND_BUCKET);
		struct blrm_request db;

		fabric_init(&f, i ? 2 : 4);
		blrm_init(&b, &f.subnet, &p);
		assert_true(
			grants(&b, dbts(&f, 1, 4, 4096, HD_MS, HD_MS), NULL));
		db = dbts(&f, 2, 4, 8192, HD_MS, 0);
		db.class = CLASS_DB;
		assert_true(grants(&b, db, NULL));
		bound[i] = b.flows[0].bound;
		blrm_fini(&b);
		fabric_fini(&f);
	}
	/* Two shared links, each at least DB's burst more. */
	assert_true(bound[1] - bound[0] > 2 * 8192 / 250.0 * 1e-6);
}

/* Whatever is granted and released, no live flow's bound passes its promise. */
static void no_sequence_breaks_a_promise(void **state)
{
	(void)state;
	struct rng rng;

	rng_init(&rng, 21, 0);
	for (int round = 0; round < 40; round++) {
		struct fabric f;
		struct blrm b;
		struct blrm_params p =
			params((enum bound_mode)rng_below(&rng, BOUND_MODES));

		fabric_init(&f, 4);
		blrm_init(&b, &f.subnet, &p);
		for (int step = 0; step < 40; step++) {
			int from = 1 + (int)rng_below(&rng, 4);
			int to = 1 + (from + (int)rng_below(&rng, 3)) % 4;
			struct blrm_request r =
				dbts(&f, from, to,
				     256 + (uint32_t)rng_below(&rng, 8192),
				     (200 + rng_below(&rng, 2000)) * HD_US,
				     (50 + rng_below(&rng, 1000)) * HD_US);

			r.class = (enum bound_class)rng_below(&rng, 2);
			if (r.class == CLASS_DB)
				r.latency = 0;
			if (from != to)
				grants(&b, r, NULL);
			if (b.n_flows && rng_below(&rng, 4) == 0)
				(void)!blrm_release(
					&b,
					(uint32_t)rng_below(&rng, b.n_flows));
			for (uint32_t i = 0; i < b.n_flows; i++)
				assert_true(!b.flows[i].live ||
					    b.flows[i].bound <=
						    b.flows[i].promised *
							    (1 + 1e-9));
		}
		blrm_fini(&b);
		fabric_fini(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_papers_flows_get_the_papers_bound),
		cmocka_unit_test(a_latency_that_cannot_be_met_is_refused),
		cmocka_unit_test(earlier_promises_are_kept),
		cmocka_unit_test(db_flows_are_promised_their_class_bound),
		cmocka_unit_test(db_is_told_and_held_to_it),
		cmocka_unit_test(bandwidth_is_refused_with_the_link),
		cmocka_unit_test(two_lanes_make_one_class),
		cmocka_unit_test(no_sequence_breaks_a_promise),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
