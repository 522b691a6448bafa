/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every collective and algorithm by 2 to 17 and by 64 ranks on a star (J8, J9):
 * engine and oracle agree on each packet and on the end, and where there is a
 * closed form the oracle has it, to the picosecond.
 *
 * Links are 4x HDR, 2 P + r + a is 110 ns, so a message of s bytes takes
 * c(s) = 110 ns and 40 ps for each of its bytes, 26 of every packet included.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/seeds_for_tests.h"
#include "compare.h"
#include "engine.h"

#define MTU         4096
#define OVERHEAD    26
#define BYTE        40 /* ps */
#define DELAYS      (110 * HD_NS)
#define GRH         40
#define PAYLOAD     1024 /* of a contribution */
#define REDUCING    (70 * HD_NS)
/* Ports that the sets of a fabric by hand have room for, about. */
#define MOST_IN_SET 60

/* Groups smaller than that do it with all numbers of bytes. */
#if defined(__SANITIZE_ADDRESS__) || defined(HD_CHECKS)
#define MANY_SIZES 5
#else
#define MANY_SIZES 9
#endif

static const uint32_t group_sizes[] = {
	2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 64
};
#define GROUP_SIZES (sizeof(group_sizes) / sizeof(*group_sizes))

/* ---- closed forms ---- */

static hd_time c(uint64_t s)
{
	uint64_t packets = s > MTU ? (s + MTU - 1) / MTU : 1;

	return DELAYS + BYTE * (s + packets * OVERHEAD);
}

static uint32_t log2_of(uint32_t p)
{
	uint32_t k = 0;

	while (UINT32_C(1) << k < p)
		k++;
	return k;
}

static bool is_power(uint32_t p)
{
	return (p & (p - 1)) == 0;
}

static hd_time halves(uint32_t p, uint64_t m)
{
	hd_time sum = 0;

	for (uint32_t i = 1; i <= log2_of(p); i++)
		sum += c(m >> i);
	return sum;
}

static hd_time doubles(uint32_t p, uint64_t m)
{
	hd_time sum = 0;

	for (uint32_t k = 0; k < log2_of(p); k++)
		sum += c(m << k);
	return sum;
}

static hd_time bruck(uint32_t p, uint64_t m)
{
	hd_time sum = 0;

	for (uint32_t k = 0; k < log2_of(p); k++) {
		uint64_t n = 0;

		for (uint32_t i = 0; i < p; i++)
			n += i >> k & 1;
		sum += c(m * n);
	}
	return sum;
}

/* A message to all, in packets with a GRH. */
static hd_time spread(uint64_t s)
{
	uint64_t packets = s > MTU ? (s + MTU - 1) / MTU : 1;

	return c(s) + BYTE * packets * GRH;
}

/* S6, of one level. */
static hd_time in_network(uint64_t m)
{
	uint64_t n = m > PAYLOAD ? (m + PAYLOAD - 1) / PAYLOAD : 1;
	hd_time last = BYTE * (m - (n - 1) * PAYLOAD + OVERHEAD + GRH);
	hd_time all = n > 1 ? n * BYTE * (PAYLOAD + OVERHEAD + GRH) : last;

	return DELAYS + REDUCING + all + last;
}

/* 0: no closed form. */
static hd_time closed_form(enum oracle_step_kind kind, uint32_t p, uint64_t m)
{
	bool even = m % p == 0, power = is_power(p);

	switch (kind) {
	case STEP_BARRIER:
		return log2_of(p) * c(0);
	case STEP_BROADCAST: /* others need not wait so often */
	case STEP_REDUCE:
	case STEP_ALLREDUCE_DOUBLING:
		return power ? log2_of(p) * c(m) : 0;
	case STEP_ALLREDUCE_RING:
		return even ? 2 * (p - 1) * c(m / p) : 0;
	case STEP_ALLREDUCE_RABENSEIFNER:
		return even && power ? 2 * halves(p, m) : 0;
	case STEP_ALLGATHER_RING:
	case STEP_ALLTOALL_PAIRWISE:
		return (p - 1) * c(m);
	case STEP_ALLGATHER_DOUBLING:
		return doubles(p, m);
	case STEP_REDUCE_SCATTER_RING:
		return even ? (p - 1) * c(m / p) : 0;
	case STEP_REDUCE_SCATTER_HALVING:
		return even ? halves(p, m) : 0;
	case STEP_ALLTOALL_BRUCK:
		return bruck(p, m);
	case STEP_SHIFT:
		return c(m);
	case STEP_BROADCAST_MULTICAST:
		return spread(m);
	case STEP_BARRIER_NETWORK:
		return in_network(0);
	case STEP_ALLREDUCE_NETWORK:
		return in_network(m);
	case STEP_COMPUTE:
		return m;
	default:
		return 0;
	}
}

/* ---- a star and a job on it ---- */

struct star {
	struct fabric fabric;
	struct oracle_job job;
	struct oracle_step step;
	struct oracle_jobs jobs;
	struct sim_arrival last; /* a packet at the end */
};

static void star_init(struct star *s, uint32_t hosts)
{
	struct fabric *fabric = &s->fabric;
	node_id sw;

	*s = (struct star){ 0 };
	fabric_init(fabric);
	sw = fabric_switch(fabric, hosts);
	for (unsigned k = 1; k <= hosts; k++)
		fabric_cable(fabric, sw, k, fabric_host(fabric), 1);
	fabric_finish(fabric);
	for (unsigned k = 1; k <= hosts; k++)
		fabric_route(fabric, sw, (lid_t)k, k);
	fabric_links_set(fabric, &(struct fabric_link){
					 .rate = hd_rate_make(200000000000, 1),
					 .propagation = 5 * HD_NS,
					 .in_blocks = 1024,
					 .out_blocks = 1024,
					 .vl15_blocks = 64,
					 .vls = 1,
				 });
	fabric->setup.sw.routing = 80 * HD_NS;
	fabric->setup.sw.arbitration = 20 * HD_NS;
	fabric->setup.reduction_delay = REDUCING;
}

/* The first p hosts do one step; the last one is a server. */
static void star_job(struct star *s, enum oracle_step_kind kind, uint32_t p, uint64_t m)
{
	bool is_barrier = kind == STEP_BARRIER || kind == STEP_BARRIER_NETWORK;

	s->step = (struct oracle_step){ .kind = kind,
					.amount = is_barrier ? 0 : m,
					.groups = 1,
					.grid = { p, 1, 1 },
					.segment = m / 3,
					.request = 5000,
					.outstanding = 2,
					.root = p / 2 };
	for (uint32_t d = 2; d * d <= p && kind == STEP_HALO; d++)
		if (p % d == 0) {
			s->step.grid[0] = p / d;
			s->step.grid[1] = d;
		}
	s->job = (struct oracle_job){ .n_ranks = p,
				      .n_servers = 1,
				      .nodes = s->fabric.ends,
				      .servers = &s->fabric.ends[s->fabric.n_ends - 1],
				      .steps = &s->step,
				      .n_steps = 1,
				      .repeat = 1,
				      .eager = UINT64_MAX };
	s->jobs = (struct oracle_jobs){ &s->job, 1, MTU, PAYLOAD };
	assert_true(job_trees_make(&s->fabric, &s->job));
	s->last = (struct sim_arrival){ .time = 20 * HD_MS,
					.source = s->fabric.ends[0],
					.dlid = 2,
					.pkey = 0xffff,
					.bytes = OVERHEAD };
}

static hd_time completion_of(const struct sim_record *r)
{
	for (size_t i = 0; i < r->n_events; i++)
		if (r->events[i].flow == oracle_job_flow(0))
			return r->events[i].time;
	return HD_TIME_NEVER;
}

/* What both agree on; fails if they do not. */
static hd_time star_run(const struct star *s, const char *what)
{
	struct oracle_case c = { .setup = &s->fabric.setup,
				 .arrivals = &s->last,
				 .n_arrivals = 1,
				 .horizon = s->last.time,
				 .jumps = true,
				 .jobs = &s->jobs,
				 .generates = true };
	struct strbuf why = STRBUF_INIT;
	struct oracle_stats stats;
	struct sim_record want, got;
	hd_time end, completion;

	engine_replay(&c, (struct sim_replay_cut){ 1, 0 }, &got, &end);
	oracle_run(&c, ORACLE_TRUE, &want, &stats);
	completion = completion_of(&want);
	if (records_differ(&want, &got, c.setup->n_ports, &why))
		fail_msg("%s by %u: %s", what, s->job.n_ranks, why.text);
	strbuf_fini(&why);
	oracle_record_fini(&want);
	oracle_record_fini(&got);
	return completion;
}

static hd_time star_time(enum oracle_step_kind kind, uint32_t p, uint64_t m)
{
	const struct oracle_step_name *name = &oracle_step_names[kind];
	hd_time completion;
	struct star s;

	star_init(&s, p + 1);
	star_job(&s, kind, p, m);
	completion = star_run(&s, name->algorithm ? name->algorithm : name->operation);
	if (completion == HD_TIME_NEVER)
		fail_msg("%s by %u ranks does not end", name->operation, p);
	free(s.job.trees);
	fabric_fini(&s.fabric);
	return completion;
}

/* ---- tests ---- */

static void all_agree(uint32_t p, uint64_t m)
{
	for (unsigned i = 0; i < STEP_KINDS; i++) {
		const struct oracle_step_name *name = &oracle_step_names[i];
		enum oracle_step_kind kind = (enum oracle_step_kind)i;
		hd_time formula = closed_form(kind, p, m), got;

		if (name->of_powers && !is_power(p))
			continue;
		if (p > MOST_IN_SET && step_has_tree(&(struct oracle_step){ .kind = kind }))
			continue;
		got = star_time(kind, p, m);
		if (formula != 0 && got != formula)
			fail_msg("%s %s of %llu bytes by %u ranks takes %llu ps instead of %llu",
				 name->operation, name->algorithm ? name->algorithm : "",
				 (unsigned long long)m, p, (unsigned long long)got,
				 (unsigned long long)formula);
	}
}

/* Of bytes that can be divided, of few, and of none. */
static void every_collective_on_a_star(void **state)
{
	(void)state;
	for (size_t i = 0; i < GROUP_SIZES; i++) {
		uint32_t p = group_sizes[i];

		if (p > 17 && !run_is_long()) {
			all_agree(p, 64);
			continue;
		}
		all_agree(p, UINT64_C(100) * p);
		if (p < MANY_SIZES || run_is_long()) {
			all_agree(p, 6001);
			all_agree(p, 0);
			all_agree(p, UINT64_C(9000) * p);
		}
	}
}

static void the_worked_values(void **state)
{
	(void)state;
	assert_int_equal(star_time(STEP_ALLREDUCE_RING, 8, 512 * 1024), 38473120);
	assert_int_equal(star_time(STEP_ALLREDUCE_DOUBLING, 8, 64 * 1024), 8244240);
	assert_int_equal(star_time(STEP_BARRIER, 8, 0), 333120);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_collective_on_a_star),
		cmocka_unit_test(the_worked_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
