/* SPDX-License-Identifier: BSD-2-Clause */
#include "workload/collective.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "workload/ideal.h"

#define MOST_RANKS 64

static const uint32_t counts[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 64 };
#define N_COUNTS (sizeof(counts) / sizeof(*counts))

static struct workload_step step_of(const char *operation, const char *name, uint64_t size)
{
	struct workload_step s = { .algorithm = workload_algorithm_find(operation, name),
				   .size = size,
				   .groups = 1,
				   .grid = { 1, 1, 1 },
				   .request = 1000,
				   .outstanding = 3,
				   .servers = 2 };

	assert_non_null(s.algorithm);
	return s;
}

static bool is_power(uint32_t p)
{
	return (p & (p - 1)) == 0;
}

/* All algorithms for p ranks, except those with hardware multicast or servers. */
static bool plain_step(size_t algorithm, uint32_t p, uint64_t size, struct workload_step *out)
{
	const struct algorithm *a = &workload_algorithms[algorithm];
	struct diag d = { .status = HD_OK };

	*out = step_of(a->operation, a->name, size);
	out->grid[0] = p;
	return strcmp(a->name, "multicast") != 0 && strcmp(a->name, "in-network") != 0 &&
	       strcmp(a->name, "storage") != 0 && step_check(out, p, &d) == HD_OK;
}

/* ---- who sends is received ---------------------------------------------- */

struct tally {
	/* Per pair and tag: a hash of all sizes, in order. */
	uint64_t sent[MOST_RANKS][MOST_RANKS][8];
	uint64_t received[MOST_RANKS][MOST_RANKS][8];
};

static void enter(uint64_t *sum, uint64_t size)
{
	*sum = *sum * UINT64_C(6364136223846793005) + size + 1;
}

static void tally_op(struct tally *t, uint32_t p, uint32_t rank, const struct op *op)
{
	if (op->kind == OP_COMPUTE)
		return;
	assert_true(op->peer < p && op->peer != rank);
	assert_true(op->tag < 8);
	if (op->kind == OP_SEND)
		enter(&t->sent[rank][op->peer][op->tag], op->size);
	else
		enter(&t->received[op->peer][rank][op->tag], op->size);
}

static void tally_rank(const struct workload_step *s, uint32_t p, uint32_t rank, struct tally *t)
{
	for (uint32_t sequence = 0; sequence < step_sequences(s); sequence++) {
		uint32_t n = step_rounds(s, p, rank, sequence);
		struct op op;

		for (uint32_t round = 0; round < n; round++) {
			struct step_position at = { sequence, round, 0 };

			for (; step_op(s, p, rank, at, &op); at.index++)
				tally_op(t, p, rank, &op);
		}
	}
}

static void every_send_has_its_receive_in_order(void **state)
{
	struct tally *t = hd_alloc(1, sizeof(*t));

	(void)state;
	for (size_t i = 0; i < N_COUNTS * workload_n_algorithms; i++) {
		uint32_t p = counts[i % N_COUNTS];
		struct workload_step s;

		/* Blocks of different sizes, not to be mixed up. */
		if (!plain_step(i / N_COUNTS, p, 1000 * p + 7, &s))
			continue;
		s.segment = 333;
		memset(t, 0, sizeof(*t));
		for (uint32_t r = 0; r < p; r++)
			tally_rank(&s, p, r, t);
		assert_memory_equal(t->sent, t->received, sizeof(t->sent));
	}
	free(t);
}

/* ---- bytes -------------------------------------------------------------- */

static uint64_t bytes_sent(const struct workload_step *s, uint32_t p, uint32_t rank)
{
	uint64_t bytes = 0;
	struct op op;

	for (uint32_t sequence = 0; sequence < step_sequences(s); sequence++) {
		uint32_t n = step_rounds(s, p, rank, sequence);

		for (uint32_t round = 0; round < n; round++) {
			struct step_position at = { sequence, round, 0 };

			for (; step_op(s, p, rank, at, &op); at.index++)
				bytes += op.kind == OP_SEND ? op.size : 0;
		}
	}
	return bytes;
}

static void rings_and_halves_send_no_more_than_they_must(void **state)
{
	static const struct {
		const char *operation, *name;
		unsigned times; /* (p - 1) / p of all bytes */
	} rows[] = {
		{ "allreduce", "ring", 2 },
		{ "allreduce", "rabenseifner", 2 },
		{ "reduce_scatter", "ring", 1 },
		{ "reduce_scatter", "halving", 1 },
	};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		for (uint32_t p = 2; p <= 64; p *= 2) {
			struct workload_step s = step_of(rows[i].operation, rows[i].name, 1000 * p);

			for (uint32_t r = 0; r < p; r++)
				assert_int_equal(bytes_sent(&s, p, r),
						 rows[i].times * 1000 * (p - 1));
		}
	}
}

static void two_trees_share_the_work(void **state)
{
	(void)state;
	for (uint32_t p = 2; p <= 64; p++) {
		struct workload_step s = step_of("allreduce", "tree", 1000);
		uint64_t all = 0;

		for (uint32_t r = 0; r < p; r++) {
			uint64_t mine = bytes_sent(&s, p, r);

			/* A leaf of one is an inner node of the other, but for
			 * the roots: at most 3 + 1 halves, and one more. */
			assert_true(mine <= 5 * 500);
			all += mine;
		}
		/* Up and down each of the p - 1 cables of both. */
		assert_int_equal(all, 2 * (p - 1) * 1000);
	}
}

/* ---- times, as closed forms have them ----------------------------------- */

#define LATENCY (100 * HD_NS)
#define RATE    ((struct hd_rate){ UINT64_C(8000000000), 1 }) /* 1 byte a ns */

static hd_time message(uint64_t bytes)
{
	return LATENCY + bytes * HD_NS;
}

static hd_time time_of(const struct workload_step *s, uint32_t p)
{
	const struct ideal_net net = { LATENCY, RATE };
	const struct job j = { .n_ranks = p, .steps = s, .n_steps = 1, .repeat = 1, .n_cpus = 1 };
	struct diag d = { .status = HD_OK };
	struct ideal_result found;

	assert_int_equal(ideal_run(&j, &net, &d, &found), HD_OK);
	assert_int_equal(found.n_problems, 0);
	return found.completion;
}

static hd_time expected(const char *operation, const char *name, uint32_t p, uint64_t m)
{
	unsigned k = workload_log2_ceil(p);
	hd_time sum = 0;

	if (strcmp(operation, "barrier") == 0)
		return k * message(0);
	if (strcmp(name, "ring") == 0)
		return strcmp(operation, "allreduce") == 0   ? 2 * (p - 1) * message(m / p)
		       : strcmp(operation, "allgather") == 0 ? (p - 1) * message(m)
							     : (p - 1) * message(m / p);
	if (strcmp(name, "pairwise") == 0)
		return (p - 1) * message(m);
	for (unsigned i = 0; i < k; i++) {
		unsigned n = 0;

		for (uint32_t b = 0; b < p; b++)
			n += b >> i & 1;
		if (strcmp(name, "bruck") == 0)
			sum += message(m * n);
		else if (strcmp(name, "rabenseifner") == 0)
			sum += 2 * message(m >> (i + 1));
		else if (strcmp(name, "halving") == 0)
			sum += message(m >> (i + 1));
		else if (strcmp(operation, "allgather") == 0)
			sum += message(m << i);
		else
			sum += message(m);
	}
	return sum;
}

static void times_are_those_of_closed_forms(void **state)
{
	static const struct {
		const char *operation, *name;
		bool powers;
	} rows[] = {
		{ "barrier", "dissemination", false }, { "broadcast", "binomial", true },
		{ "reduce", "binomial", true },        { "allreduce", "ring", false },
		{ "allreduce", "doubling", true },     { "allreduce", "rabenseifner", true },
		{ "allgather", "ring", false },        { "allgather", "doubling", true },
		{ "reduce_scatter", "ring", false },   { "reduce_scatter", "halving", true },
		{ "alltoall", "pairwise", false },     { "alltoall", "bruck", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		for (size_t c = 0; c < N_COUNTS; c++) {
			uint32_t p = counts[c];
			uint64_t m = i == 0 ? 0 : 64 * (uint64_t)p;
			struct workload_step s = step_of(rows[i].operation, rows[i].name, m);

			if (rows[i].powers && !is_power(p))
				continue;
			assert_int_equal(time_of(&s, p),
					 expected(rows[i].operation, rows[i].name, p, m));
		}
	}
}

static void all_of_them_end(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_COUNTS * workload_n_algorithms; i++) {
		uint32_t p = counts[i % N_COUNTS];
		struct workload_step s;

		if (!plain_step(i / N_COUNTS, p, 1000 * p + 7, &s))
			continue;
		s.root = p / 2;
		s.segment = 100;
		assert_true(time_of(&s, p) < HD_S);
	}
}

/* ---- the rest ----------------------------------------------------------- */

static void groups_divide_the_ranks(void **state)
{
	struct workload_step s = step_of("allgather", "ring", 10);
	struct diag d = { .status = HD_OK };
	const struct step_position first = { 0, 0, 1 };
	struct op op;

	(void)state;
	s.groups = 3;
	assert_int_equal(step_check(&s, 12, &d), HD_OK);
	assert_true(step_op(&s, 12, 7, first, &op));
	assert_int_equal(op.peer, 4); /* 4 to 7 are a ring */
	s.strides = true;
	assert_true(step_op(&s, 12, 7, first, &op));
	assert_int_equal(op.peer, 10); /* 1, 4, 7, 10 are */
	assert_int_not_equal(step_check(&s, 13, &d), HD_OK);
}

static void a_halo_has_its_neighbours(void **state)
{
	/* 4 x 3, x fastest: 5 is at (1, 1). */
	static const uint32_t peers[] = { 4, 6, 1, 9, 6, 4, 9, 1 };
	struct workload_step s = step_of("halo", NULL, 10);
	struct step_position at = { 0 };
	struct op op;

	(void)state;
	s.grid[0] = 4;
	s.grid[1] = 3;
	for (; step_op(&s, 12, 5, at, &op); at.index++) {
		assert_int_equal(op.kind, at.index < 4 ? OP_RECV : OP_SEND);
		assert_int_equal(op.peer, peers[at.index]);
	}
	assert_int_equal(at.index, 8);
}

static void requests_go_around_the_servers(void **state)
{
	struct workload_step s = step_of("write", NULL, 3500);
	uint64_t bytes = 0;
	uint32_t n = 0;
	struct op op;

	(void)state;
	for (uint32_t sequence = 0; sequence < step_sequences(&s); sequence++) {
		uint32_t rounds = step_rounds(&s, 4, 1, sequence);

		for (uint32_t i = 0; i < rounds; i++, n++) {
			const struct step_position at = { sequence, i, 0 };

			assert_true(step_op(&s, 4, 1, at, &op));
			assert_int_equal(op.peer, (1 + sequence + 3 * i) % 2);
			bytes += op.size;
		}
	}
	assert_int_equal(n, 4);
	assert_int_equal(bytes, 3500);
}

static void rejects_impossible_operations(void **state)
{
	struct workload_step s = step_of("allgather", "doubling", 10);
	struct diag d = { .status = HD_OK };

	(void)state;
	assert_int_not_equal(step_check(&s, 12, &d), HD_OK);
	s = step_of("broadcast", NULL, 10);
	s.root = 4;
	d.status = HD_OK;
	assert_int_not_equal(step_check(&s, 4, &d), HD_OK);
	s = step_of("alltoall", NULL, OP_MOST_SIZE);
	d.status = HD_OK;
	assert_int_not_equal(step_check(&s, 4, &d), HD_OK);
	/* More rounds than numbers for them. */
	s = step_of("allreduce", "tree", UINT64_C(1) << 31);
	s.segment = 2;
	d.status = HD_OK;
	assert_int_not_equal(step_check(&s, 4, &d), HD_OK);
	s.segment = 3;
	d.status = HD_OK;
	assert_int_equal(step_check(&s, 4, &d), HD_OK);
	s = step_of("write", NULL, UINT64_C(1) << 36);
	s.request = 64;
	d.status = HD_OK;
	assert_int_not_equal(step_check(&s, 4, &d), HD_OK);
	s.request = 65;
	d.status = HD_OK;
	assert_int_equal(step_check(&s, 4, &d), HD_OK);
	assert_null(workload_algorithm_find("allreduce", "rign"));
}

/* ---- what of a step counts ---------------------------------------------- */

static void print_strand(const struct workload_step *s, uint32_t rank, uint32_t sequence,
			 struct strbuf *out)
{
	struct step_position at = { .sequence = sequence };
	struct op op;

	for (; at.round < step_rounds(s, 8, rank, sequence); at.round++) {
		for (at.index = 0; step_op(s, 8, rank, at, &op); at.index++)
			strbuf_printf(out, "%u.%u.%u:%d %u %u %llu ", rank, sequence, at.round,
				      op.kind, op.peer, op.tag, (unsigned long long)op.size);
	}
}

/* All operations of 8 ranks, as text. */
static void print_step(const struct workload_step *s, struct strbuf *out)
{
	for (uint32_t rank = 0; rank < 8; rank++) {
		for (uint32_t k = 0; k < step_sequences(s); k++)
			print_strand(s, rank, k, out);
	}
}

/* A step, and the same with another value of what is used. */
static const struct workload_step plain = { .size = 8192,
					    .groups = 1,
					    .grid = { 4, 2, 1 },
					    .request = 1024,
					    .outstanding = 4,
					    .servers = 3 };
static const struct {
	unsigned use;
	struct workload_step step;
} others[] = {
	{ STEP_ROOT, { .root = 3 } },
	{ STEP_GROUPS, { .groups = 2, .grid = { 2, 2, 1 } } },
	{ STEP_GRID, { .grid = { 2, 2, 2 } } },
	{ STEP_SEGMENT, { .segment = 512 } },
	{ STEP_REQUESTS, { .request = 2048 } },
	{ STEP_REQUESTS, { .outstanding = 2 } },
};

static bool changes_operations(const struct algorithm *a, size_t other)
{
	const struct workload_step *o = &others[other].step;
	struct strbuf before = STRBUF_INIT, after = STRBUF_INIT;
	struct workload_step s = plain;

	s.algorithm = a;
	print_step(&s, &before);
	s.root = o->root;
	s.segment = o->segment;
	s.groups = o->groups ? o->groups : s.groups;
	s.request = o->request ? o->request : s.request;
	s.outstanding = o->outstanding ? o->outstanding : s.outstanding;
	if (o->grid[0])
		memcpy(s.grid, o->grid, sizeof(s.grid));
	print_step(&s, &after);
	bool changes = strcmp(before.text, after.text) != 0;

	strbuf_fini(&before);
	strbuf_fini(&after);
	return changes;
}

/* A field counts for an algorithm exactly if another value of it changes what
 * some rank does; but each rank stores by itself, and groups are refused. */
static void check_use(const struct algorithm *a, size_t other)
{
	bool stores = a->uses & STEP_REQUESTS && others[other].use == STEP_GROUPS;

	if (changes_operations(a, other) != (stores || a->uses & others[other].use))
		fail_msg("%s by %s: field %zu", a->operation, a->name, other);
}

static void uses_are_what_changes_operations(void **state)
{
	(void)state;
	for (size_t i = 0; i < workload_n_algorithms; i++) {
		for (size_t k = 0; k < sizeof(others) / sizeof(*others); k++)
			check_use(&workload_algorithms[i], k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(uses_are_what_changes_operations),
		cmocka_unit_test(every_send_has_its_receive_in_order),
		cmocka_unit_test(rings_and_halves_send_no_more_than_they_must),
		cmocka_unit_test(two_trees_share_the_work),
		cmocka_unit_test(times_are_those_of_closed_forms),
		cmocka_unit_test(all_of_them_end),
		cmocka_unit_test(groups_divide_the_ranks),
		cmocka_unit_test(a_halo_has_its_neighbours),
		cmocka_unit_test(requests_go_around_the_servers),
		cmocka_unit_test(rejects_impossible_operations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
