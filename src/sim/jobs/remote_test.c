/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results of jobs in rank 0 equal those of one process, whichever process computed them; here the
 * ranks are threads. Received data are checked before use.
 */
#include "sim/jobs/run_for_tests.h"

#include <cmocka.h>

#include "base/mpi/world_for_tests.h"
#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "sim/jobs/jobs_internal.h"

/* A run of several ranks, and its expected results. */
struct shared {
	const char *text;
	char *one;
	uint32_t seed; /* of where it is cut */
};

static struct course begin(const char *text, const struct world *world, uint32_t seed)
{
	const struct sim_rules how = { .world = world,
				       .threads = world ? 1 + world->n % 2 : 1,
				       .cut_seed = seed };

	return course_new(text, &how);
}

#define LOOKS 6 /* before the end, so that what is under way meets some */

/* Pauses to read the results so far, and then runs to its end. */
static char *play_one(struct course *c)
{
	const hd_time alone[4] = { HD_TIME_NEVER, HD_TIME_NEVER, HD_TIME_NEVER, HD_TIME_NEVER };
	struct strbuf out = STRBUF_INIT;

	for (unsigned i = 1; i <= LOOKS + 1; i++) {
		struct results *r = results_new("test");
		hd_time until = i <= LOOKS ? i * 700 * HD_NS : 150 * HD_US;
		enum sim_state state = sim_run(c->sim, until, NULL, NULL);
		bool well = jobs_tables(c->jobs, alone, sim_metrics(c->sim), true, r);

		strbuf_printf(&out, "%d %llu %016llx %d\n", (int)state,
			      (unsigned long long)sim_now(c->sim),
			      (unsigned long long)sim_metrics(c->sim)->checksum, well);
		print_tables(r, &out);
		results_free(r);
	}
	return out.text;
}

static void play(const struct world *world, void *context)
{
	const struct shared *w = context;
	struct course c = begin(w->text, world, w->seed);
	const char *why;
	char *mine = play_one(&c);

	assert_int_equal(sim_is_cut(c.sim, &why), world->n * (1 + world->n % 2));
	if (world->rank == 0) {
		if (strcmp(w->one, mine) != 0)
			print_error("one process:\n%s\nranks:\n%s\n", w->one, mine);
		assert_string_equal(w->one, mine);
	}
	free(mine);
	course_end(&c);
}

/* Checks a run that completes, or does not. */
static void check(const char *text, bool ends)
{
	struct shared w = { .text = text };
	struct course c = begin(text, NULL, 0);

	w.one = play_one(&c);
	assert_int_equal(jobs_done(c.jobs), ends);
	course_end(&c);
	for (unsigned n = 2; n <= 3; n++) {
		for (w.seed = 1; w.seed <= (run_is_long() ? 8 : 1); w.seed++)
			play_ranks(n, play, &w);
	}
	free(w.one);
}

#define TREE                                                              \
	"fabric: {topology: {kind: xgft, down: '4,4', up: '1,2'}, link: " \
	"{rate: 4x HDR}}\n"

static const char *const scenarios[] = {
	/* Messages large and small, multicasts, servers. */
	TREE
	"jobs:\n"
	"- {name: a, place: random, repeat: 2, overhead: 100ns, eager: "
	"8KiB, program: [{compute: 1us}, {allreduce: 40000, algorithm: "
	"rabenseifner}, {alltoall: 2000, algorithm: linear}, {broadcast: "
	"20000, algorithm: multicast}]}\n"
	"- {name: b, place: random, ranks: 9, program: [{allreduce: 77777, algorithm: tree, segment: 5000}, {write: 30000, to: h15, request: 7000, outstanding: 3}, {read: 30000, to: h2}]}\n",
	/* Over queue pairs that lose packets. */
	TREE
	"faults: {ber: 3e-7}\njobs:\n"
	"- {name: a, transport: rc, ack_timeout: 8us, place: random, eager: 8KiB, program: [{allreduce: 40000, algorithm: rabenseifner}, {alltoall: 2000, algorithm: linear}, {write: 30000, to: h3}]}\n"
	"- {name: b, transport: rc, ack_timeout: 8us, ranks: 9, program: [{allgather: 9000, algorithm: ring}]}\n",
	/* By switches that reduce, for groups over all of the tree. */
	TREE
	"jobs:\n"
	"- {name: a, repeat: 2, program: [{allreduce: 20000, groups: 4, layout: strides, algorithm: in-network}, {barrier: 0, algorithm: in-network}]}\n"
	"- {name: b, sl: 1, program: [{alltoall: 4096}]}\n",
	/* With other traffic, by switches that choose. */
	"fabric:\n"
	"  topology: {kind: xgft, down: '4,4', up: '1,4'}\n"
	"  link: {rate: 4x HDR}\n"
	"  routing: {engine: ftree, adaptive: load}\n"
	"jobs:\n"
	"- {name: a, place: random, repeat: 2, program: [{alltoall: 9000, algorithm: linear}]}\n"
	"traffic:\n- {name: noise, kind: poisson, load: 20%}\n"
	"run: {warmup: 0s, measure: 60us, seed: 5}\n",
};

static void ranks_carry_what_one_process_does(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++)
		check(scenarios[i], true);
}

/* ---- hosts with several ports ------------------------------------------- */

static const char *const rail_programs[] = {
	"{alltoall: 9000, algorithm: linear}",
	"{allreduce: 30000, algorithm: ring}",
	"{allreduce: 12000, algorithm: tree, segment: 3000}",
	"{broadcast: 9000, algorithm: multicast}",
	"{shift: 20000}, {compute: 500ns}, {alltoall: 100}",
	"{write: 9000, to: h1, request: 2000, outstanding: 2}",
};

/* Some ports of some hosts, whose ranks a link inside joins. */
static void some_rails(struct rng *g, struct strbuf *out)
{
	static const char *const has[] = { "rails: peer", "rails: own",
					   "rails: peer, transport: rc, ack_timeout: 8us" };
	uint64_t rails = 2 + rng_below(g, 2);

	strbuf_printf(
		out,
		"fabric:\n  topology: {kind: rail, rails: %llu, units: %llu, hosts: 2, spines: %llu}\n  link: {rate: 4x HDR}\n"
		"  intra_host: {rate: 1.6Tb/s, latency: %lluns}\n"
		"run: {seed: %llu}\njobs:\n",
		(unsigned long long)rails, (unsigned long long)rng_below(g, 2) + 2,
		(unsigned long long)rng_below(g, 2) + 4, (unsigned long long)rng_below(g, 2) * 300,
		(unsigned long long)rng_below(g, 1000));
	for (unsigned i = 0; i < 2; i++)
		strbuf_printf(
			out,
			"- {name: j%u, place: random, %s, eager: %s, ranks: %llu, program: [%s]}\n",
			i, has[rng_below(g, 3)], rng_below(g, 2) ? "4KiB" : "1MiB",
			(unsigned long long)rng_below(g, 5) + 4, rail_programs[rng_below(g, 6)]);
}

static void rails_are_carried_by_any_number_of_ranks(void **state)
{
	struct rng g;

	(void)state;
	rng_init(&g, 17, 3);
	for (uint64_t i = 0; i < (run_is_long() ? 200 : 6); i++) {
		struct strbuf text = STRBUF_INIT;

		some_rails(&g, &text);
		check(text.text, true);
		strbuf_fini(&text);
	}
}

/* A file of operations among hosts of a ring. */
static void check_goal(const char *goal, const char *with)
{
	char *path = goal_file(goal), text[1024];

	snprintf(
		text, sizeof(text),
		"fabric: {topology: {kind: ring, switches: 6, hosts: 1}, link: {rate: 4x HDR}}\njobs: [{name: a, goal: %s}]\n%s\n",
		path, with);
	check(text, false);
	unlink(path);
	free(path);
}

/* Messages that hang, mismatch or are lost are known at both ends. */
static void problems_are_those_of_one_process(void **state)
{
	(void)state;
	check_goal("num_ranks 6\n"
		   "rank 0 {\nsend 10b to 3 tag 1\nsend 90000b to 1 tag 1\n}\n"
		   "rank 1 {\nrecv 90000b from 0 tag 2\n}\n"
		   "rank 2 {\nsend 9000b to 4\n}\n"
		   "rank 3 {\nrecv 10b from 0 tag 2\n}\n"
		   "rank 4 {\nrecv 8000b from 2\n}\n"
		   "rank 5 {\nsend 70000b to 2\n}\n",
		   "");
	check_goal(
		"num_ranks 6\n"
		"rank 0 {\nsend 409600b to 3\n}\n"
		"rank 1 {\nsend 409600b to 4\n}\n"
		"rank 2 {\n}\n"
		"rank 3 {\nrecv 409600b from 0\n}\n"
		"rank 4 {\nrecv 409600b from 1\n}\n"
		"rank 5 {\n}\n",
		"faults: {events: [{at: 4us, kind: link-down, port: 'h3:1'}, {at: 5us, kind: link-up, port: 'h3:1'}, {at: 5us, kind: link-down, port: 's-2:1'}, {at: 6us, kind: link-up, port: 's-2:1'}]}");
}

/* ---- what others send --------------------------------------------------- */

static uint64_t some_number(struct rng *g)
{
	return rng_below(g, 8) == 0 ? UINT32_MAX : rng_below(g, (uint64_t)1 << rng_below(g, 16));
}

/* Random bytes in place of valid ones. */
static void some_bytes(struct rng *g, struct strbuf *out)
{
	uint32_t n = 1 + (uint32_t)rng_below(g, 3);
	struct pack k;

	pack_to(&k, out);
	pack_count(&k, n);
	for (; n > 0; n--) {
		uint64_t when = some_number(g);
		uint64_t id = rng_below(g, 4) * MESSAGES_IN_BLOCK + rng_below(g, 300);
		uint64_t what = rng_below(g, 5);

		pack_u64(&k, &when);
		pack_u64(&k, &id);
		pack_u64(&k, &what);
		for (unsigned i = 0; what == 0 && i < 21; i++) {
			uint64_t member = some_number(g);

			if (i == 17 && rng_below(g, 8))
				member %= 7; /* its kind */
			pack_u64(&k, &member);
		}
	}
}

static void suffer(const struct world *world, void *context)
{
	const struct shared *w = context;
	struct course c = begin(w->text, world, 1);
	struct placed_job *p = &c.jobs->placed[0];
	struct rng g;

	rng_init(&g, 7, world->rank);
	assert_int_equal(sim_run(c.sim, 2 * HD_US, NULL, NULL), SIM_PAUSED);
	uint32_t me = p->shares[0].is_elsewhere ? p->n_shares - 1 : 0;

	for (uint64_t i = 0; i < (run_is_long() ? 40000 : 2000); i++) {
		struct strbuf bytes = STRBUF_INIT;
		struct pack k;

		some_bytes(&g, &bytes);
		pack_from(&k, bytes.text, rng_below(&g, 3) ? bytes.len : rng_below(&g, bytes.len));
		job_mail(&p->alone, &k, p->n_shares - 1 - me, me);
		strbuf_fini(&bytes);
	}
	course_end(&c);
}

static void any_letter_is_read_or_refused(void **state)
{
	struct shared w = { .text = scenarios[0] };

	(void)state;
	play_ranks(2, suffer, &w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_carry_what_one_process_does),
		cmocka_unit_test(rails_are_carried_by_any_number_of_ranks),
		cmocka_unit_test(problems_are_those_of_one_process),
		cmocka_unit_test(any_letter_is_read_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
