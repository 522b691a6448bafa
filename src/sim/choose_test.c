/* SPDX-License-Identifier: BSD-2-Clause */
/* D1 to D6: switches that choose, to the picosecond where it can be said. */
#include "base/strbuf.h"
#include "fabric/build_for_tests.h"
#include "sim/sim.h"

#define P     (100 * HD_NS)
#define R     (80 * HD_NS)
#define A     (20 * HD_NS)
#define D     (1000 * HD_NS) /* 1000 bytes at 8 Gb/s */
#define MOST  400u
#define HOSTS 4u /* of a leaf, and spines */

struct ends {
	unsigned n, lost;
	hd_time last_lost;     /* when the latest one of those was made */
	hd_time latency[MOST]; /* in the order of their ends */
};

static void note_end(void *context, const struct sim_event_record *e,
		     const struct sim_packet *p)
{
	struct ends *ends = context;

	assert_true(ends->n < MOST);
	ends->lost += e->fate != SIM_DELIVERED;
	if (e->fate != SIM_DELIVERED && p->born > ends->last_lost)
		ends->last_lost = p->born;
	ends->latency[ends->n++] = e->time - p->born;
}

/*
 * Two leaves with four hosts each, under four spines: h0 .. h3 and h4 .. h7.
 * Every `gap` each host of the first sends a packet to its like.
 */
static void load(const char *adaptive, unsigned n, hd_time gap,
		 const char *more, struct fabric **out)
{
	struct strbuf text = STRBUF_INIT;
	FILE *trace = fopen("choose_test.csv", "w");

	assert_non_null(trace);
	for (unsigned k = 0; k < n; k++) {
		unsigned long long at = k * gap;

		for (unsigned h = 0; h < HOSTS; h++)
			fprintf(trace, "%llups,h%u,h%u,974\n", at, h,
				h + HOSTS);
	}
	fclose(trace);
	strbuf_printf(&text,
		      "fabric:\n"
		      "  topology: {kind: xgft, down: '4,2', up: '1,4'}\n"
		      "  link: {rate: 8Gb/s, propagation: 100ns}\n"
		      "  switch: {routing: 80ns, arbitration: 20ns}\n"
		      "  routing: {engine: ftree, adaptive: %s}\n"
		      "traffic:\n"
		      "- {name: a, kind: trace, file: choose_test.csv}\n"
		      "%s"
		      "run: {warmup: 0s, measure: 10ms}\n",
		      adaptive, more);
	must_build(text.text, out);
	remove("choose_test.csv");
	strbuf_fini(&text);
}

static struct sim *run(const struct fabric *f, struct ends *ends)
{
	struct sim_observer o = { .context = ends, .ended = note_end };
	struct sim *s = sim_new(&f->setup, f->flows, f->n_flows, &f->rules);

	*ends = (struct ends){ .n = 0 };
	sim_observe(s, &o);
	sim_run(s, HD_TIME_NEVER, NULL, NULL);
	return s;
}

/* Four links and three switches, the packet's length counted once. */
#define ALONE (4 * P + 3 * (R + A) + D)

/*
 * Four packets at a time have four ways up: nobody waits for anybody, though
 * they arrive at one instant, if each sees what the one before it took.
 */
static void packets_of_one_instant_spread(void **state)
{
	static const char *const ways[] = {
		"{choice: load, threshold: 0}", "turns",
		"{choice: load, threshold: 15}" /* of 16 blocks each */
	};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct fabric *f;
		struct ends ends;

		load(ways[i], 50, D, "", &f);
		struct sim *s = run(f, &ends);

		assert_int_equal(ends.n, 50 * HOSTS);
		for (unsigned k = 0; k < ends.n; k++)
			assert_int_equal(ends.latency[k], ALONE);
		sim_free(s);
		fabric_free(f);
	}
}

/* With a threshold that nothing reaches, all is as the tables have it. */
static void who_never_leaves_home_is_static(void **state)
{
	struct fabric *f;
	struct ends a, b;
	struct sim_choice_counts c;

	(void)state;
	load("off", 90, D / 2, "", &f);
	struct sim *s = run(f, &a);

	sim_choices(s, &c);
	assert_int_equal(c.taken, 0);
	sim_free(s);
	fabric_free(f);
	load("{choice: load, threshold: 1000000}", 90, D / 2, "", &f);
	s = run(f, &b);
	assert_int_equal(a.n, b.n);
	assert_memory_equal(a.latency, b.latency, a.n * sizeof(*a.latency));
	sim_choices(s, &c);
	/* Up at the first leaf only: everything else leads down. */
	assert_int_equal(c.taken, 90 * HOSTS);
	assert_int_equal(c.away, 0);
	sim_free(s);
	fabric_free(f);
}

/*
 * The cable of one spine fails at 100 us: what the first leaf has sent to it,
 * or sends until it knows, is lost; from then on nothing is, and the other
 * three cables carry all.
 */
static void dead_links_are_left_when_it_is_known(void **state)
{
	(void)state;
	for (unsigned heal = 0; heal <= 40; heal += 20) {
		char way[64];
		struct fabric *f;
		struct ends ends;

		/* One packet of each host in 4 us: three cables suffice. */
		snprintf(way, sizeof(way), "{choice: turns, heal: %uus}", heal);
		load(way, 60, 4 * D,
		     "faults: {events: [{at: 100us, kind: link-down, port: "
		     "'s1-0:5'}]}\n",
		     &f);
		struct sim *s = run(f, &ends);
		unsigned lost = 0;

		/*
		 * Heads arrive at k * 4 us + P and are routed R later, one of
		 * each four to the dead cable; those of before, whose head has
		 * not reached the spine by 100 us, are none: 4 us apart.
		 */
		for (unsigned k = 0; k < 60; k++) {
			hd_time routed = k * 4 * D + P + R;

			lost += routed >= 100 * HD_US &&
				routed < (100 + heal) * HD_US;
		}
		assert_int_equal(ends.n, 60 * HOSTS);
		assert_int_equal(ends.lost, lost);
		sim_free(s);
		fabric_free(f);
	}
}

/* Who keeps to one way overtakes nobody; who does not, may. */
static void flows_stay_in_order(void **state)
{
	static const struct {
		const char *way;
		bool ordered;
	} ways[] = {
		{ "{choice: load, threshold: 0}", false },
		{ "{choice: random}", false },
		{ "{choice: random, per: flow}", true },
		{ "{choice: load, threshold: 0, per: flow}", true },
		{ "{choice: random, per: flowlet, gap: 1s}", true },
		{ "{choice: random, per: flowlet, gap: 0s}", false },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		struct strbuf text = STRBUF_INIT;
		struct fabric *f;

		strbuf_printf(
			&text,
			"fabric:\n"
			"  topology: {kind: fat-tree, radix: 8, levels: 3}\n"
			"  routing: {engine: ftree, adaptive: %s}\n"
			"traffic:\n"
			"- {name: a, kind: poisson, pattern: permutation, load: "
			"80%%, payload: 2KiB}\n"
			"run: {warmup: 0s, measure: 30us}\n",
			ways[i].way);
		must_build(text.text, &f);
		struct sim *s =
			sim_new(&f->setup, f->flows, f->n_flows, &f->rules);

		sim_run(s, HD_TIME_NEVER, NULL, NULL);
		assert_int_equal(sim_metrics(s)->checks.out_of_order == 0,
				 ways[i].ordered);
		sim_free(s);
		fabric_free(f);
		strbuf_fini(&text);
	}
}

/* Only the SLs that are named choose. */
static void other_sls_keep_to_their_tables(void **state)
{
	struct fabric *f;
	struct ends ends;
	struct sim_choice_counts c;

	(void)state;
	load("{choice: turns, sls: '1-15'}", 10, 10 * D, "", &f);
	struct sim *s = run(f, &ends);

	sim_choices(s, &c);
	assert_int_equal(c.taken, 0);
	sim_free(s);
	fabric_free(f);
	load("{choice: turns, sls: '0,3'}", 10, 10 * D, "", &f);
	s = run(f, &ends);
	sim_choices(s, &c);
	assert_int_equal(c.taken, 10 * HOSTS);
	sim_free(s);
	fabric_free(f);
}

/*
 * A spine loses its cable down. It has no other, so what leaves give it is
 * lost, one packet of four in every period; until it has noticed, told them,
 * and they route (P + R after a packet is made).
 */
static void neighbours_that_are_told_take_other_ways(void **state)
{
	static const struct {
		const char *adaptive;
		hd_time told; /* after the fault */
	} cases[] = {
		{ "{choice: turns, heal: 2us, notify: 3us}", 5 * HD_US },
		{ "{choice: turns, heal: 2us, notify: 1ps}", 2 * HD_US + 1 },
		{ "{choice: turns, heal: 0s, notify: 7us}", 7 * HD_US },
		{ "{choice: turns, heal: 2us}", HD_TIME_NEVER },
	};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		hd_time fault = 10 * HD_US, last = 0;
		struct fabric *f;
		struct ends ends;

		load(cases[i].adaptive, 50, D,
		     "faults: {events: [{at: 10us, kind: link-down, port: "
		     "'s2-0:2'}]}\n",
		     &f);
		struct sim *s = run(f, &ends);

		for (hd_time made = 0; made < 50 * D; made += D) {
			if (cases[i].told == HD_TIME_NEVER ||
			    made + P + R < fault + cases[i].told)
				last = made;
		}
		assert_int_equal(ends.last_lost, last);
		assert_int_equal(ends.n, 50 * HOSTS);
		sim_free(s);
		fabric_free(f);
	}
}

/* And take it again `notify` after it has its way again. */
static void neighbours_come_back(void **state)
{
	struct sim_choice_counts c;
	struct fabric *f;
	struct ends ends;
	uint64_t taken[2];

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		load(i ? "{choice: turns, heal: 1us, notify: 1us}"
		       : "{choice: turns, heal: 1us, notify: 20us}",
		     90, D,
		     "faults: {events: [{at: 10us, kind: link-down, port: "
		     "'s2-0:2'}, {at: 20us, kind: link-up, port: 's2-0:2'}]}\n",
		     &f);
		struct sim *s = run(f, &ends);

		sim_choices(s, &c);
		taken[i] = c.taken;
		/* Told so late, they lose what comes until it is up again. */
		assert_int_equal(ends.lost > 3, i == 0);
		assert_true(ends.last_lost < 20 * HD_US);
		sim_free(s);
		fabric_free(f);
	}
	assert_int_equal(taken[0], taken[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_of_one_instant_spread),
		cmocka_unit_test(who_never_leaves_home_is_static),
		cmocka_unit_test(dead_links_are_left_when_it_is_known),
		cmocka_unit_test(flows_stay_in_order),
		cmocka_unit_test(other_sls_keep_to_their_tables),
		cmocka_unit_test(neighbours_that_are_told_take_other_ways),
		cmocka_unit_test(neighbours_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
