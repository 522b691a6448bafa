/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/mpi/world_for_tests.h"
#include "base/seeds_for_tests.h"
#include "hca/rows_for_tests.h"

/* A star of hosts: a way is two cables of 5 ns and a switch of 100 ns. */
#define STAR "fabric:\n  topology: {kind: star, hosts: 6, link: 4x HDR}\n"
#define WAY  UINT64_C(110000)

static void run(const char *what, const char *rest, struct outcome *out)
{
	run_on(STAR, what, rest, out);
}

static void a_message_takes_its_packets_and_an_ack(void **state)
{
	static const unsigned payloads[] = { 4, 64, 4096, 4100, 12 * 1024, 65536, 1u << 20 };

	(void)state;
	for (size_t i = 0; i < sizeof(payloads) / sizeof(*payloads); i++) {
		hd_time there = on_link(payloads[i]) + WAY;
		hd_time all = there + 30 * BYTE + WAY;
		char row[200];
		struct outcome o;

		snprintf(
			row, sizeof(row),
			"kind: messages, transport: rc, source: h0, destination: h1, start: 1us, payload: %u",
			payloads[i]);
		run(row, "run: {warmup: 0s, measure: 1ms}", &o);
		assert_int_equal(o.arrived_after, there);
		assert_true(fabs(o.max * 1e6 - (double)all) < 1);
		assert_true(o.posted == 1 && o.completed == 1 && o.retries == 0);
	}
}

static void unreliable_ones_are_done_when_they_have_left(void **state)
{
	struct outcome o;

	(void)state;
	/* The last packet has 4 bytes of immediate data more. */
	run("kind: messages, transport: uc, source: h0, destination: h1, start: 1us, payload: 64KiB",
	    "run: {warmup: 0s, measure: 1ms}", &o);
	assert_true(fabs(o.max * 1e6 - (double)(on_link(65536) + 4 * BYTE)) < 1);
	assert_int_equal(o.arrived_after, on_link(65536) + 4 * BYTE + WAY);
	/* A datagram has 8 bytes more of its own header. */
	run("kind: messages, transport: ud, source: h0, destination: h1, start: 1us, payload: 1KiB",
	    "run: {warmup: 0s, measure: 1ms}", &o);
	assert_true(fabs(o.max * 1e6 - (double)(on_link(1024) + 12 * BYTE)) < 1);
}

static void a_saturating_pair_fills_its_link(void **state)
{
	struct outcome o;

	(void)state;
	run("kind: saturating, transport: rc, source: h0, destination: h1, payload: 8KiB",
	    "run: {warmup: 50us, measure: 2ms}", &o);
	assert_true(fabs(o.goodput - 200.0 * MTU / (MTU + 26)) < 0.2);
	assert_true(o.retries == 0 && o.lost == 0);
}

/* The mean gap of a rate is exact: 64 KiB at 20 Gb/s every 26.2144 us. */
static void messages_are_posted_as_the_row_makes_them(void **state)
{
	struct outcome o;

	(void)state;
	run("kind: cbr, aligned: true, rate: 20Gb/s, transport: rc, source: h0, destination: h1, payload: 64KiB",
	    "run: {warmup: 0s, measure: 10ms}", &o);
	assert_true(o.posted == 382); /* floor(10000 / 26.2144) + 1 */
	assert_true(o.completed == 382);
	assert_true(fabs(o.mean - o.max) < 1e-6);
}

static void what_is_lost_is_sent_again(void **state)
{
	struct outcome o;

	(void)state;
	run("kind: messages, count: 400, transport: rc, ack_timeout: 20us, source: h0, destination: h1, payload: 16KiB",
	    "faults: {ber: 1e-6}\nrun: {warmup: 0s, measure: 100ms}", &o);
	assert_true(o.lost > 50); /* of some 1700: e^(-0.066) arrive */
	assert_true(o.retries > 50);
	assert_true(o.posted == 400 && o.completed == 400 && o.failed == 0 && o.received == 400);
	assert_int_equal(o.arrived, 1600);
	/* A datagram is one packet, and it is not sent again. */
	run("kind: messages, count: 4000, transport: ud, source: h0, destination: h1, payload: 2KiB",
	    "faults: {ber: 1e-6}\nrun: {warmup: 0s, measure: 100ms}", &o);
	assert_true(o.lost > 50);
	assert_true(o.received + (double)o.lost == 4000);
	assert_true(o.completed == 4000);
	/* Messages after the last one that arrives are never reported as missing. */
	assert_in_range(o.missed, o.lost - 3, o.lost);
}

static void pair_without_responses_fails(void **state)
{
	struct outcome o;

	(void)state;
	run("kind: cbr, rate: 10Gb/s, transport: rc, ack_timeout: 8us, source: h0, destination: h1, payload: 16KiB",
	    "faults: {events: [{at: 100us, kind: link-down, port: h1}]}\n"
	    "run: {warmup: 0s, measure: 1ms}",
	    &o);
	/* 7 retries are the most; then all that is posted fails. */
	assert_true(o.retries == 7);
	assert_true(o.completed > 0 && o.failed > 0);
	assert_true(o.posted == o.completed + o.failed);
	/* If the link is up in time, nothing fails. */
	run("kind: cbr, rate: 10Gb/s, transport: rc, ack_timeout: 8us, source: h0, destination: h1, payload: 16KiB, stop: 800us",
	    "faults: {events: [{at: 100us, kind: link-down, port: h1}, {at: 120us, kind: link-up, port: h1}]}\n"
	    "run: {warmup: 0s, measure: 1ms}",
	    &o);
	assert_true(o.retries > 0 && o.failed == 0 && o.lost > 0);
	assert_true(o.posted == o.completed);
}

static void a_run_is_its_input(void **state)
{
	static const char row[] =
		"kind: poisson, load: 60%, transport: rc, ack_timeout: 30us, pattern: permutation, payload: 10KiB";
	static const char rest[] = "- {name: b, kind: poisson, load: 30%}\n"
				   "congestion: {algorithm: cct, marking: {rule: threshold}}\n"
				   "faults: {ber: 1e-7}\nrun: {warmup: 50us, measure: 1ms}";
	struct outcome first, second;

	(void)state;
	run(row, rest, &first);
	run(row, rest, &second);
	assert_memory_equal(&first, &second, sizeof(first));
	assert_true(first.completed > 100 && first.retries > 0);
}

/*
 * FIMD begins at 1/256 of the link, one packet per 42.2 us. Of the 16 packets of a message only the
 * last, after 15 of these intervals, requests an ACK.
 */
#define HELD_BACK                                                             \
	"kind: saturating, pattern: incast, destination: h0, transport: rc, " \
	"ack_timeout: 60us, payload: 64KiB, stop: 1ms"
#define FIMD                                                                \
	"congestion: {algorithm: fimd, marking: {rule: iba, threshold: 4, " \
	"rate: 3}}\nrun: {warmup: 0s, measure: 100ms}\n"

static void all_arrived(const struct outcome *o)
{
	assert_true(o->posted > 100 && o->failed == 0);
	assert_true(o->completed == o->posted && o->received == o->posted);
	/* All bytes passed one cable within the time of the run. */
	assert_true(o->received * (double)on_link(65536) <= (double)(100 * HD_MS));
}

/* Without a request for an ACK, no timer runs. */
static void held_back_for_long_is_not_late(void **state)
{
	struct outcome o;

	(void)state;
	assert_true(256 * (MTU + 26) * BYTE * 15 > 9 * 65536 * HD_NS);
	/*
	 * A cable that is down holds packets, and the first request for an ACK is sent long after
	 * it is up. Nothing is lost, so nothing is repeated.
	 */
	run(HELD_BACK,
	    FIMD
	    "faults: {events: [{at: 300us, kind: link-down, port: h1}, {at: 400us, kind: link-up, port: h1}]}",
	    &o);
	all_arrived(&o);
	assert_true(o.retries == 0 && o.lost == 0);
}

/* A packet that its rate delays may be acknowledged before it is sent. */
static void held_back_and_acknowledged_waits_for_nothing(void **state)
{
	struct outcome o;

	(void)state;
	/* The packets that ask first, of each of the 5 pairs after 633 us, meet
	 * a cable that is down; 65.5 us later all go back to their first. The
	 * first of these that gets through, after 800 us, is known already: the
	 * answer says so while those after it are still held back. */
	run(HELD_BACK,
	    FIMD
	    "faults: {events: [{at: 600us, kind: link-down, port: h0}, {at: 800us, kind: link-up, port: h0}]}",
	    &o);
	all_arrived(&o);
	assert_true(o.retries == 5 && o.lost > 0);
}

/*
 * Rates begin at their lowest, 1/256 of the link, for the first packets of a
 * message too, however many could be taken ahead.
 */
static void the_first_packets_are_held_back_too(void **state)
{
	struct outcome o;

	(void)state;
	run("kind: messages, transport: uc, source: h0, destination: h1, start: 1us, payload: 16KiB",
	    "congestion: {algorithm: fimd, marking: {rule: threshold}, rate_steps: 256}\nrun: {warmup: 0s, measure: 1ms}",
	    &o);
	assert_int_equal(o.arrived_after,
			 3 * 256 * (MTU + 26) * BYTE + (MTU + 26 + 4) * BYTE + WAY);
}

/*
 * Control applies to the named SLs only. Marks of other SLs cause no CNP: five flows that fill one
 * cable arrive as without control.
 */
static void other_sls_are_left_alone(void **state)
{
	static const char *const transports[] = { "rc", "uc", "ud" };
	static const char *const control[] = { "", "none", "3", "0,2,15" };
	static const unsigned sls[] = { 0, 2, 3, 15 };
	uint64_t without = 0;

	(void)state;
	for (unsigned i = 0; i < 3 * 4 * 4; i++) {
		unsigned sl = sls[i / 4 % 4];
		bool holds = i % 4 == 3 ? sl != 3 : i % 4 == 2 && sl == 3;
		char row[200], rest[200];
		struct outcome o;

		snprintf(
			row, sizeof(row),
			"kind: saturating, pattern: incast, destination: h0, transport: %s, payload: 4KiB, sl: %u",
			transports[i / 16], sl);
		snprintf(
			rest, sizeof(rest),
			"congestion: {algorithm: %s, marking: {rule: iba, threshold: 12, rate: 0}, cct: {sls: '%s'}}\n"
			"run: {warmup: 0s, measure: 100us}",
			i % 4 ? "cct" : "none", control[i % 4]);
		run(row, rest, &o);
		assert_true(o.received > 100);
		if (i % 4 == 0)
			without = o.checksum;
		assert_int_equal(o.checksum != without, holds);
	}
}

/* ---- in parts ------------------------------------------------------------ */

#define MESH_OF_6                                                           \
	"fabric:\n  topology: {kind: mesh, columns: 3, rows: 2, hosts: 2, " \
	"link: 4x HDR}\n  routing: xy\n"
#define ROWS                                                             \
	"traffic:\n"                                                     \
	"- {name: r, kind: saturating, transport: rc, pattern: incast, " \
	"source: h4..h9, destination: h0, payload: 9000, "               \
	"ack_timeout: 20us}\n"                                           \
	"- {name: p, kind: poisson, transport: rc, pattern: "            \
	"permutation, load: 10%, payload: 3KiB, ack_timeout: 20us}\n"    \
	"- {name: u, kind: poisson, transport: uc, pattern: "            \
	"permutation, load: 20%, payload: 700}\n"                        \
	"- {name: d, kind: cbr, transport: ud, pattern: "                \
	"permutation, load: 5%, payload: 64, count: 900}\n"              \
	"- {name: plain, kind: poisson, load: 20%, payload: 1KiB}\n"
#define SHORT "run: {warmup: 20us, measure: 50us}\n"

/* With losses, so that there are timers, gaps and repeated packets. */
static const char *const in_parts[] = {
	MESH_OF_6 ROWS SHORT,
	MESH_OF_6
	"  host: {out_of_order: 12}\n" ROWS
	"faults: {ber: 3e-8, events: [{at: 30us, kind: link-down, port: 's-0-0:1'}, {at: 45us, kind: link-up, port: 's-0-0:1'}]}\n" SHORT,
	MESH_OF_6
	"  credits: exact\n" ROWS
	"congestion: {algorithm: cct, cct: {per: sl}, marking: {rule: iba, threshold: 12, rate: 1}}\n" SHORT,
	MESH_OF_6 ROWS
	"congestion: {algorithm: aimd, marking: two-counter, ack: {delay: 300ns}, window: 2}\n"
	"run: {warmup: 20us, measure: 60us, precision: 1%}\n",
};

struct course {
	struct sim *s;
	struct lab *rows;
};

static struct course course_new(struct fabric *fabric, const struct sim_rules *how)
{
	struct sim_rules rules = fabric->rules;
	struct diag d = { .status = HD_OK };
	struct course c = { NULL, NULL };

	lab_rules(&rules);
	rules.parts = how->parts;
	rules.threads = how->threads;
	rules.world = how->world;
	rules.cut_seed = how->cut_seed;
	c.s = sim_new(&fabric->setup, fabric->flows, fabric->n_flows, &rules);
	assert_int_equal(qp_rows_new(fabric, c.s, &d, &c.rows), HD_OK);
	return c;
}

static struct course course_begin(struct fabric *fabric, unsigned parts, unsigned threads)
{
	const struct sim_rules how = { .parts = parts, .threads = threads };

	return course_new(fabric, &how);
}

static void course_end(struct course *c)
{
	lab_free(c->rows);
	sim_free(c->s);
}

/* Runs it to its end. */
static char *what_came(struct course *c)
{
	struct results *r = results_new("sim");
	struct strbuf out = STRBUF_INIT;
	struct sim *s = c->s;
	enum sim_state state = sim_run(s, HD_TIME_NEVER, NULL, NULL);
	const struct sim_metrics *m = sim_metrics(s);

	strbuf_printf(&out, "%u %llu %016llx %a %a %a", (unsigned)state,
		      (unsigned long long)sim_now(s), (unsigned long long)m->checksum,
		      m->mean_latency.mean, m->mean_latency.half_width, m->jain);
	for (uint32_t i = 0; i < m->n_flows; i++)
		strbuf_printf(&out, " %llu/%llu/%llu", (unsigned long long)m->flows[i].delivered,
			      (unsigned long long)m->flows[i].latency_sum,
			      (unsigned long long)m->flows[i].lost);
	traffic_rows_table(c->rows, m, r);
	const struct table *t = r->tables[0];

	for (size_t i = 0; i < t->n_cells; i++) {
		if (t->cells[i].kind != VALUE_TEXT)
			strbuf_printf(&out, " %a", value_real(&t->cells[i]));
	}
	results_free(r);
	course_end(c);
	return out.text;
}

static char *what_came_in(struct fabric *fabric, unsigned parts, unsigned threads)
{
	struct course c = course_begin(fabric, parts, threads);
	const char *why;

	assert_int_equal(sim_run(c.s, 3 * HD_US, NULL, NULL), SIM_PAUSED);
	assert_int_equal(sim_is_cut(c.s, &why), parts);
	return what_came(&c);
}

static void parts_carry_the_same_messages(void **state)
{
	static const unsigned cuts[][2] = { { 2, 2 }, { 3, 1 }, { 6, 4 } };

	(void)state;
	for (size_t i = 0; i < sizeof(in_parts) / sizeof(*in_parts); i++) {
		struct fabric *fabric;

		must_build(in_parts[i], &fabric);
		char *one = what_came_in(fabric, 1, 1);

		for (size_t k = 0; k < sizeof(cuts) / sizeof(*cuts); k++) {
			if (!has_its_turn(k, 3, i))
				continue;
			char *many = what_came_in(fabric, cuts[k][0], cuts[k][1]);

			assert_string_equal(one, many);
			free(many);
		}
		free(one);
		fabric_free(fabric);
	}
}

/* ---- over ranks, which are threads here --------------------------------- */

struct shared {
	struct fabric *fabric;
	const char *one;
	uint32_t seed;
};

static void carry(const struct world *world, void *context)
{
	const struct shared *w = context;
	const struct sim_rules how = {
		.threads = world->n == 3 ? 1 : 2,
		.world = world,
		.cut_seed = w->seed,
	};
	struct course c = course_new(w->fabric, &how);

	/* A pause does not change the results. */
	assert_int_equal(sim_run(c.s, 20 * HD_US, NULL, NULL), SIM_PAUSED);
	char *mine = what_came(&c);

	if (world->rank == 0)
		assert_string_equal(w->one, mine);
	free(mine);
}

static void ranks_carry_the_same_messages(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(in_parts) / sizeof(*in_parts); i++) {
		struct shared w = { .seed = 1 };

		must_build(in_parts[i], &w.fabric);
		char *one = what_came_in(w.fabric, 1, 1);

		w.one = one;
		for (; w.seed <= (run_is_long() ? 6 : 1); w.seed++) {
			for (unsigned n = 2; n <= 3; n++)
				if (has_its_turn(n - 2, 2, i))
					play_ranks(n, carry, &w);
		}
		free(one);
		fabric_free(w.fabric);
	}
}

/* ---- checkpoints ------------------------------------------------------- */

/* A simulation with the state of *c, which is freed. */
static struct course change_over(struct fabric *fabric, struct course *c, unsigned parts)
{
	struct strbuf state = STRBUF_INIT, again = STRBUF_INIT;
	struct course next = course_begin(fabric, parts, 1 + parts % 2);

	assert_null(sim_not_saved(c->s));
	sim_save(c->s, &state);
	course_end(c);
	assert_true(sim_load(next.s, state.text, state.len));
	sim_save(next.s, &again);
	assert_int_equal(again.len, state.len);
	assert_memory_equal(again.text, state.text, state.len);
	strbuf_fini(&state);
	strbuf_fini(&again);
	return next;
}

/* Results of a run that is saved and resumed every `step` plus some time. */
static char *what_came_in_turns(struct fabric *fabric, unsigned turn, hd_time step)
{
	static const unsigned cuts[] = { 1, 2, 1, 3, 6 };
	struct course c = course_begin(fabric, cuts[turn], 1);

	for (hd_time at = step; at < 65 * HD_US; at += step + 17 * HD_US) {
		assert_int_equal(sim_run(c.s, at, NULL, NULL), SIM_PAUSED);
		c = change_over(fabric, &c, cuts[++turn % 5]);
	}
	return what_came(&c);
}

static void messages_continue_after_a_restart(void **state)
{
	static const hd_time steps[] = { 400 * HD_NS, 9100123, 31 * HD_US };

	(void)state;
	for (size_t i = 0; i < sizeof(in_parts) / sizeof(*in_parts); i++) {
		struct fabric *fabric;

		must_build(in_parts[i], &fabric);
		char *one = what_came_in(fabric, 1, 1);

		for (unsigned k = 0; k < 3; k++) {
			if (!has_its_turn(k, 3, i))
				continue;
			char *many = what_came_in_turns(fabric, k, steps[k]);

			assert_string_equal(one, many);
			free(many);
		}
		free(one);
		fabric_free(fabric);
	}
}

/* State passed from one run of ranks to the next. */
struct passed_on {
	struct fabric *fabric;
	const char *one;
	struct strbuf state; /* empty: it begins */
	hd_time until;       /* time of the checkpoint; HD_TIME_NEVER: runs to its end */
};

static void pass_on(const struct world *world, void *context)
{
	struct passed_on *w = context;
	const struct sim_rules how = { .threads = 1 + world->n % 2,
				       .world = world->n > 1 ? world : NULL,
				       .cut_seed = 1 + world->n };
	struct strbuf state = STRBUF_INIT;
	struct course c = course_new(w->fabric, &how);

	if (w->state.len)
		assert_true(sim_load(c.s, w->state.text, w->state.len));
	if (w->until == HD_TIME_NEVER) {
		char *mine = what_came(&c);

		if (world->rank == 0)
			assert_string_equal(w->one, mine);
		free(mine);
		return;
	}
	assert_int_equal(sim_run(c.s, w->until, NULL, NULL), SIM_PAUSED);
	assert_null(sim_not_saved(c.s));
	sim_save(c.s, &state);
	course_end(&c);
	/* All others have saved theirs, and read what was before. */
	if (world->rank > 0) {
		assert_int_equal(state.len, 0);
		strbuf_fini(&state);
		return;
	}
	strbuf_fini(&w->state);
	w->state = state;
}

static void ranks_resume_checkpoints_of_others(void **state)
{
	static const unsigned ranks[] = { 2, 3, 1, 2 };

	(void)state;
	for (size_t i = 0; i < sizeof(in_parts) / sizeof(*in_parts); i++) {
		struct passed_on w = { .state = STRBUF_INIT };

		must_build(in_parts[i], &w.fabric);
		char *one = what_came_in(w.fabric, 1, 1);

		w.one = one;
		for (unsigned k = 0; k < 4; k++) {
			w.until = k < 3 ? (1 + 9 * k) * HD_US + 400123 : HD_TIME_NEVER;
			play_ranks(ranks[k], pass_on, &w);
		}
		strbuf_fini(&w.state);
		free(one);
		fabric_free(w.fabric);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_takes_its_packets_and_an_ack),
		cmocka_unit_test(unreliable_ones_are_done_when_they_have_left),
		cmocka_unit_test(a_saturating_pair_fills_its_link),
		cmocka_unit_test(messages_are_posted_as_the_row_makes_them),
		cmocka_unit_test(what_is_lost_is_sent_again),
		cmocka_unit_test(pair_without_responses_fails),
		cmocka_unit_test(a_run_is_its_input),
		cmocka_unit_test(held_back_for_long_is_not_late),
		cmocka_unit_test(held_back_and_acknowledged_waits_for_nothing),
		cmocka_unit_test(the_first_packets_are_held_back_too),
		cmocka_unit_test(other_sls_are_left_alone),
		cmocka_unit_test(parts_carry_the_same_messages),
		cmocka_unit_test(ranks_carry_the_same_messages),
		cmocka_unit_test(messages_continue_after_a_restart),
		cmocka_unit_test(ranks_resume_checkpoints_of_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
