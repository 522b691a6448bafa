/* SPDX-License-Identifier: BSD-2-Clause */
/* D7: when a packet takes a way around, to the picosecond. */
#include "base/strbuf.h"
#include "fabric/build_for_tests.h"
#include "sim/sim.h"

#define P     (100 * HD_NS)
#define R     (80 * HD_NS)
#define A     (20 * HD_NS)
#define D     (1000 * HD_NS) /* 1000 bytes at 8 Gb/s: 16 blocks */
#define HOSTS 4u             /* hosts of a group, on one leaf each */

/* Four switches on the minimal way, one more on the way around. */
#define MINIMAL (5 * P + 4 * (R + A) + D)
#define AROUND  (6 * P + 5 * (R + A) + D)

struct ends {
	hd_time latency[HOSTS]; /* in the order of their ends */
	unsigned n;
	uint64_t around;
};

static void note_end(void *context, const struct sim_event_record *e, const struct sim_packet *p)
{
	struct ends *ends = context;

	assert_true(ends->n < HOSTS);
	if (e->fate == SIM_DELIVERED)
		ends->latency[ends->n++] = e->time - p->born;
}

/*
 * Three groups of four leaves under one spine, which has a cable to each other
 * group. At 10 us the hosts of the first send a packet each to those of the
 * second; their spine routes them at one instant, in the order of its inputs.
 */
static void run(const char *adaptive, const char *more, struct ends *out)
{
	struct strbuf text = STRBUF_INIT;
	struct sim_choice_counts counts;
	struct fabric *fabric;
	FILE *trace = fopen("around_test.csv", "w");

	assert_non_null(trace);
	for (unsigned h = 0; h < HOSTS; h++)
		fprintf(trace, "10us,h%u,h%u,974\n", h, h + HOSTS);
	fclose(trace);
	strbuf_printf(
		&text,
		"fabric:\n"
		"  topology: {kind: dragonfly-plus, groups: 3, leaves: 4, spines: 1, globals: 2, hosts: 1}\n"
		"  link: {rate: 8Gb/s, propagation: 100ns}\n"
		"  switch: {routing_delay: 80ns, arbitration_delay: 20ns}\n"
		"  routing: {engine: dragonfly, adaptive: %s}\n"
		"traffic:\n"
		"- {name: a, kind: trace, file: around_test.csv}\n"
		"%srun: {warmup: 0s, measure: 1ms}\n",
		adaptive, more);
	must_build(text.text, &fabric);
	remove("around_test.csv");
	struct sim_observer o = { .context = out, .ended = note_end };
	struct sim *s = sim_new(&fabric->setup, fabric->flows, fabric->n_flows, &fabric->rules);

	*out = (struct ends){ .n = 0 };
	sim_observe(s, &o);
	sim_run(s, HD_TIME_NEVER, NULL, NULL);
	sim_choices(s, &counts);
	out->around = counts.around;
	sim_free(s);
	fabric_free(fabric);
	strbuf_fini(&text);
}

static void check(const char *adaptive, const hd_time *expected, unsigned around)
{
	struct ends ends;

	run(adaptive, "", &ends);
	assert_int_equal(ends.n, HOSTS);
	for (unsigned i = 0; i < HOSTS; i++)
		assert_int_equal(ends.latency[i], expected[i]);
	assert_int_equal(ends.around, around);
}

/*
 * 16 blocks wait for the minimal way when the second packet comes: below that
 * it goes around, the third sees both alike, and the fourth is as the second.
 * From 16 on the third is the first that is 32 behind, and the fourth finds
 * that too little again. At 32 only the fourth would find more, 48.
 */
static void a_packet_goes_around_what_waits_too_long(void **state)
{
	static const hd_time two[] = { MINIMAL, AROUND, MINIMAL + D, AROUND + D };
	static const hd_time one[] = { MINIMAL, AROUND, MINIMAL + D, MINIMAL + 2 * D };
	static const hd_time none[] = { MINIMAL, MINIMAL + D, MINIMAL + 2 * D, MINIMAL + 3 * D };

	(void)state;
	check("{choice: load, nonminimal: 0}", two, 2);
	check("{choice: load, nonminimal: 15}", two, 2);
	check("{choice: load, nonminimal: 16}", one, 1);
	check("{choice: load, nonminimal: 31}", one, 1);
	check("{choice: load, nonminimal: 32}", one, 1);
	check("{choice: load, nonminimal: 47}", one, 1);
	check("{choice: load, nonminimal: 48}", none, 0);
	check("load", none, 0);
	/* The choice inside a group has no effect: loads select the group. */
	check("{choice: turns, nonminimal: 15}", two, 2);
	check("{choice: random, nonminimal: 16}", one, 1);
	check("{choice: load, per: flow, nonminimal: 15}", two, 2);
}

/* Without a minimal path, loads are not compared. */
static void a_dead_cable_is_gone_around(void **state)
{
	static const char down[] =
		"faults: {events: [{at: 1us, kind: link-down, port: 'spine-0-0:6'}]}\n";
	struct ends ends;

	(void)state;
	run("{choice: load, nonminimal: 1000}", down, &ends);
	assert_int_equal(ends.n, HOSTS);
	assert_int_equal(ends.around, HOSTS);
	for (unsigned i = 0; i < HOSTS; i++)
		assert_int_equal(ends.latency[i], AROUND + i * D);
	run("load", down, &ends);
	assert_int_equal(ends.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_packet_goes_around_what_waits_too_long),
		cmocka_unit_test(a_dead_cable_is_gone_around),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
