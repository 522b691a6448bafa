/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Jobs that are saved and continued, in other parts or by other processes,
 * have the same results as without interruption. Here the processes are
 * threads.
 */
#include "sim/jobs/run_for_tests.h"

#include <cmocka.h>

#include "base/mpi/world_for_tests.h"
#include "base/rng.h"
#include "base/seeds_for_tests.h"

#define MANY 4 /* jobs of a scenario */

static struct course begin(const char *text, uint32_t parts, const struct world *world)
{
	const struct sim_rules how = { .world = world,
				       .parts = world ? 0 : parts,
				       .threads = 1 + parts % 2,
				       .cut_seed = parts };

	return course_new(text, &how);
}

/* To 150 us, and all that is shown then. */
static char *what_came(struct course *c)
{
	const hd_time alone[MANY] = { HD_TIME_NEVER, HD_TIME_NEVER, HD_TIME_NEVER, HD_TIME_NEVER };
	struct results *r = results_new("test");
	struct strbuf out = STRBUF_INIT;
	enum sim_state state = sim_run(c->sim, 150 * HD_US, NULL, NULL);

	strbuf_printf(&out, "%d %016llx %llu %d\n", (int)state,
		      (unsigned long long)sim_metrics(c->sim)->checksum,
		      (unsigned long long)sim_metrics(c->sim)->hops,
		      jobs_tables(c->jobs, alone, sim_metrics(c->sim), true, r));
	print_tables(r, &out);
	results_free(r);
	course_end(c);
	return out.text;
}

/* A simulation with the state of *c, which is freed. */
static struct course change_over(const char *text, struct course *c, uint32_t parts)
{
	struct strbuf state = STRBUF_INIT, again = STRBUF_INIT;
	struct course next = begin(text, parts, NULL);

	assert_null(sim_not_saved(c->sim));
	sim_forget_pause(c->sim);
	sim_save(c->sim, &state);
	course_end(c);
	if (!sim_load(next.sim, state.text, state.len))
		fail_msg("%s\nis refused", text);
	sim_save(next.sim, &again);
	assert_int_equal(again.len, state.len);
	assert_memory_equal(again.text, state.text, state.len);
	strbuf_fini(&state);
	strbuf_fini(&again);
	return next;
}

static void same(const char *text, const char *one, char *other)
{
	size_t at = 0;

	while (one[at] && one[at] == other[at])
		at++;
	if (one[at] != other[at])
		fail_msg("%s\nnot: %.99s\nbut: %.99s", text, one + (at < 30 ? 0 : at - 30),
			 other + (at < 30 ? 0 : at - 30));
	free(other);
}

/* Results of a run that is saved and resumed every `step` plus some time. */
static void check_turns(const char *text, char *one, unsigned turn, hd_time step)
{
	static const uint32_t cuts[] = { 1, 2, 1, 3, 6 };
	struct course c = begin(text, cuts[turn % 5], NULL);

	for (hd_time at = step; sim_run(c.sim, at, NULL, NULL) == SIM_PAUSED && at < 60 * HD_US;
	     at += step + (run_is_long() ? 3 : 6) * HD_US)
		c = change_over(text, &c, cuts[++turn % 5]);
	same(text, one, what_came(&c));
}

/* ---- by several processes ----------------------------------------------- */

struct passed_on {
	const char *text;
	const char *one;
	struct strbuf state; /* empty: it begins */
	hd_time until;       /* time of the checkpoint; HD_TIME_NEVER: runs to its end */
};

static void pass_on(const struct world *world, void *context)
{
	struct passed_on *w = context;
	struct strbuf state = STRBUF_INIT;
	struct course c = begin(w->text, 1 + world->n % 2, world->n > 1 ? world : NULL);

	if (w->state.len)
		if (!sim_load(c.sim, w->state.text, w->state.len))
			fail_msg("%s\nis refused", w->text);
	if (w->until == HD_TIME_NEVER) {
		char *mine = what_came(&c);

		if (world->rank == 0)
			same(w->text, w->one, mine);
		else
			free(mine);
		return;
	}
	sim_run(c.sim, w->until, NULL, NULL);
	sim_forget_pause(c.sim);
	sim_save(c.sim, &state);
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

static void check_ranks(const char *text, const char *one, hd_time step)
{
	static const unsigned ranks[] = { 2, 3, 1, 2, 2 };
	struct passed_on w = { text, one, STRBUF_INIT, 0 };

	for (unsigned k = 0; k < 5; k++) {
		w.until = k < 4 ? (k + 1) * step : HD_TIME_NEVER;
		play_ranks(ranks[k], pass_on, &w);
	}
	strbuf_fini(&w.state);
}

/* ---- scenarios ---------------------------------------------------------- */

#define TREE                                                              \
	"fabric: {topology: {kind: xgft, down: '3,6', up: '1,2'}, link: " \
	"{rate: 4x HDR}}\n"

static const char *const scenarios[] = {
	/* Messages large and small, multicasts, servers, CPUs. */
	TREE
	"jobs:\n"
	"- {name: a, place: random, repeat: 2, overhead: 100ns, eager: "
	"8KiB, program: [{compute: 1us}, {allreduce: 40000, algorithm: "
	"rabenseifner}, {alltoall: 2000, algorithm: linear}, {broadcast: "
	"20000, algorithm: multicast}], ranks: 16}\n"
	"- {name: b, place: random, ranks: 9, program: [{allreduce: 77777, algorithm: tree, segment: 5000}, {write: 30000, to: h15, request: 7000, outstanding: 3}, {read: 30000, to: h2}]}\n",
	/* Over queue pairs that lose packets. */
	TREE
	"faults: {ber: 3e-7}\njobs:\n"
	"- {name: a, transport: rc, ack_timeout: 8us, place: random, "
	"ranks: 16, eager: 8KiB, program: [{allreduce: 40000, algorithm: "
	"rabenseifner}, {alltoall: 2000, algorithm: linear}, {write: "
	"30000, to: h3}]}\n"
	"- {name: b, transport: rc, ack_timeout: 8us, ranks: 9, program: [{allgather: 9000, algorithm: ring}]}\n",
	/* By switches that reduce. */
	TREE
	"jobs:\n"
	"- {name: a, repeat: 2, program: [{allreduce: 20000, groups: 3, layout: strides, algorithm: in-network}, {barrier: 0, algorithm: in-network}]}\n"
	"- {name: b, sl: 1, program: [{alltoall: 4096}]}\n",
	/* Inside hosts, and by their peers. */
	"fabric:\n"
	"  topology: {kind: rail, rails: 3, units: 3, hosts: 2, spines: 4}\n"
	"  link: {rate: 4x HDR}\n"
	"  intra_host: {rate: 800Gb/s, latency: 300ns}\n"
	"jobs:\n"
	"- {name: a, rails: peer, eager: 2KiB, program: [{alltoall: 9000}]}\n"
	"- {name: b, rails: peer, transport: rc, ack_timeout: 8us, place: random, ranks: 11, program: [{allreduce: 30000, algorithm: ring}]}\n",
	/* With other traffic, by switches that choose; links fail. */
	"fabric:\n"
	"  topology: {kind: xgft, down: '4,4', up: '1,4'}\n"
	"  link: {rate: 4x HDR}\n"
	"  routing: {engine: ftree, adaptive: load}\n"
	"jobs:\n"
	"- {name: a, place: random, repeat: 2, program: [{alltoall: 9000, algorithm: linear}]}\n"
	"traffic:\n- {name: noise, kind: poisson, load: 20%}\n"
	"faults: {events: [{at: 4us, kind: link-down, port: 'h3:1'}, {at: 5us, kind: link-up, port: 'h3:1'}]}\n"
	"run: {warmup: 0s, measure: 60us, seed: 5}\n",
};

static const hd_time steps[] = { 1300123, 400 * HD_NS, 5 * HD_US };

static void check(const char *text, unsigned turn)
{
	struct course c = begin(text, 1, NULL);
	char *one = what_came(&c);

	for (unsigned i = 0; i < (run_is_long() ? 3 : 1); i++)
		check_turns(text, one, turn + i, steps[(turn + i) % 3]);
	check_ranks(text, one, steps[turn % 3]);
	free(one);
}

static void jobs_continue_after_a_restart(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++)
		check(scenarios[i], i);
}

/* ---- any of them -------------------------------------------------------- */

static const char *const programs[] = {
	"{alltoall: 3000, algorithm: linear}",
	"{allreduce: 30000, algorithm: ring}, {barrier: 0}",
	"{allreduce: 12000, algorithm: tree, segment: 3000}",
	"{broadcast: 9000, algorithm: multicast}, {shift: 5000}",
	"{shift: 20000}, {compute: 500ns}, {alltoall: 100}",
	"{write: 9000, to: h1, request: 2000, outstanding: 2}",
	"{read: 20000, to: 'h0, h2', request: 3000, outstanding: 4}",
	"{allreduce: 9000, algorithm: in-network}, {compute: 1us}",
};
#define N_PROGRAMS (sizeof(programs) / sizeof(*programs))

static void some_jobs(struct rng *g, struct strbuf *out)
{
	static const char *const has[] = { "", "transport: rc, ack_timeout: 8us, ",
					   "overhead: 200ns, per_byte: 1ps, ", "gap: 300ns, " };

	strbuf_printf(
		out,
		"fabric: {topology: {kind: xgft, down: '2,%llu', up: '1,2'}, link: {rate: 4x HDR}}\nrun: {seed: %llu}\n%s",
		(unsigned long long)rng_below(g, 3) + 6, (unsigned long long)rng_below(g, 1000),
		rng_below(g, 2) ? "faults: {ber: 1e-7}\n" : "");
	strbuf_puts(out, "jobs:\n");
	for (unsigned i = 0; i < 2; i++)
		strbuf_printf(
			out,
			"- {name: j%u, place: random, %seager: %s, ranks: %llu, repeat: %llu, start: %lluns, program: [%s]}\n",
			i, has[rng_below(g, 4)], rng_below(g, 2) ? "2KiB" : "1MiB",
			(unsigned long long)rng_below(g, 7) + 4,
			(unsigned long long)rng_below(g, 3) + 1,
			(unsigned long long)rng_below(g, 3) * 700,
			programs[rng_below(g, N_PROGRAMS)]);
}

static void random_jobs_resume_unchanged(void **state)
{
	struct rng g;

	(void)state;
	rng_init(&g, 29, 1);
	for (unsigned i = 0; i < (run_is_long() ? 60 : 12); i++) {
		struct strbuf text = STRBUF_INIT;

		some_jobs(&g, &text);
		check(text.text, i);
		strbuf_fini(&text);
	}
}

/* Files of operations: waits for any, and operations that never complete. */
static void operations_of_files_resume_unchanged(void **state)
{
	static const char goal[] =
		"num_ranks 6\n"
		"rank 0 {\na: calc 900\nb: send 90000b to 1 tag 1\nb requires a\nsend 10b to 3 tag 1\n}\n"
		"rank 1 {\nrecv 90000b from 0 tag 1\nc: recv 70000b from 5\n"
		"d: send 9000b to 4\nd requires c\n}\n"
		"rank 2 {\nsend 9000b to 4\nsend 8000b to 4\n}\n"
		"rank 3 {\nrecv 10b from 0 tag 2\n}\n"
		"rank 4 {\nrecv 9000b from 2\nrecv 9000b from 1\nrecv 7000b from 2\n}\n"
		"rank 5 {\nsend 70000b to 1\n}\n";
	char *path = goal_file(goal), text[512];

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		snprintf(
			text, sizeof(text),
			"fabric: {topology: {kind: ring, switches: 6, hosts: 1}, link: {rate: 4x HDR}}\njobs: [{name: a, %sgoal: %s}]\n",
			i ? "eager: 16KiB, overhead: 50ns, " : "", path);
		check(text, i);
	}
	unlink(path);
	free(path);
}

/* ---- what is not a checkpoint ------------------------------------------- */

/* If it is one that could be. */
static void load_and_save(const struct course *c, const struct strbuf *bytes)
{
	struct strbuf again = STRBUF_INIT;

	if (sim_load(c->sim, bytes->text, bytes->len))
		sim_save(c->sim, &again);
	strbuf_fini(&again);
}

/* Whatever the bytes are, only memory of the run is touched. */
static void altered_states_do_no_harm(void **state)
{
	struct rng rng;

	(void)state;
	rng_init(&rng, 4, 0);
	for (unsigned k = 0; k < 4; k++) {
		struct strbuf bytes = STRBUF_INIT;
		struct course c = begin(scenarios[k], 1, NULL);

		sim_run(c.sim, 3 * HD_US, NULL, NULL);
		sim_save(c.sim, &bytes);
		course_end(&c);
		for (unsigned i = 0; i < (run_is_long() ? 2000 : 20); i++) {
			size_t at = (size_t)rng_below(&rng, bytes.len);
			/* The state of jobs is near the beginning. */
			char *byte = &bytes.text[i % 2 ? at : at / 8];
			char was = *byte;

			*byte = (char)rng_next(&rng);
			c = begin(scenarios[k], 1 + i % 3, NULL);
			load_and_save(&c, &bytes);
			course_end(&c);
			*byte = was;
		}
		for (size_t len = 0; len < bytes.len; len += 1 + bytes.len / 8) {
			c = begin(scenarios[k], 1 + (uint32_t)(len % 3), NULL);
			assert_false(sim_load(c.sim, bytes.text, len));
			course_end(&c);
		}
		strbuf_fini(&bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_continue_after_a_restart),
		cmocka_unit_test(random_jobs_resume_unchanged),
		cmocka_unit_test(operations_of_files_resume_unchanged),
		cmocka_unit_test(altered_states_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
