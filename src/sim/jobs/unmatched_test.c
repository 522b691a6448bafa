/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What fails in a file of operations does so on every network that loses
 * nothing: a fabric and the ideal network name the same operations, whatever
 * was drawn. Graphs are such that who gets which message does not depend on
 * when it comes: ranks that do one thing after the other, or tags that occur
 * once.
 */
#include "sim/jobs/run_for_tests.h"

#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "workload/show.h"

#define RANKS 4
#define MOST  64

struct draft {
	struct op ops[RANKS][MOST];
	unsigned n[RANKS];
	bool in_order; /* each operation requires the one before */
};

static void put(struct draft *f, uint32_t rank, struct rng *draws, const struct op *op)
{
	unsigned at = f->n[rank]++;

	/* In the middle, so that receives and sends of pairs mix. */
	for (unsigned low = at - (unsigned)rng_below(draws, at + 1); at > low; at--)
		f->ops[rank][at] = f->ops[rank][at - 1];
	f->ops[rank][at] = *op;
}

/* A message of which one end may be missing, or the receive too small. */
static void draw_message(struct draft *f, struct rng *draws, uint32_t number)
{
	uint32_t from = (uint32_t)rng_below(draws, RANKS);
	uint32_t to = (from + 1 + (uint32_t)rng_below(draws, RANKS - 1)) % RANKS;
	uint32_t tag = f->in_order ? (uint32_t)rng_below(draws, 3) : number;
	uint64_t size = rng_below(draws, 3) * rng_below(draws, 9000);
	uint64_t fate = rng_below(draws, 12);
	uint64_t room = fate == 2 ? size / 2 : size + rng_below(draws, 2);

	if (fate != 0)
		put(f, from, draws,
		    &(struct op){ .kind = OP_SEND, .size = size, .peer = to, .tag = tag });
	if (fate != 1)
		put(f, to, draws,
		    &(struct op){ .kind = OP_RECV, .size = room, .peer = from, .tag = tag });
	if (fate == 3)
		put(f, to, draws, &(struct op){ .kind = OP_COMPUTE, .size = 3000 * size });
}

static void write_draft(const struct draft *f, struct rng *draws, struct strbuf *out)
{
	static const char *const words[] = { "calc %llu", "send %llub", "recv %llub" };

	strbuf_printf(out, "num_ranks %u\n", RANKS);
	for (uint32_t r = 0; r < RANKS; r++) {
		strbuf_printf(out, "rank %u {\n", r);
		for (unsigned i = 0; i < f->n[r]; i++) {
			const struct op *op = &f->ops[r][i];

			strbuf_printf(out, "l%u: ", i);
			strbuf_printf(out, words[op->kind], (unsigned long long)op->size);
			if (op->kind != OP_COMPUTE)
				strbuf_printf(out, " %s %u tag %u",
					      op->kind == OP_SEND ? "to" : "from", op->peer,
					      op->tag);
			strbuf_putc(out, '\n');
			if (i && (f->in_order || rng_below(draws, 3) == 0))
				strbuf_printf(out, "l%u requires l%u\n", i,
					      f->in_order ? i - 1 : (unsigned)rng_below(draws, i));
		}
		strbuf_puts(out, "}\n");
	}
}

/* ---- both tables, in the same words ------------------------------------- */

static const char *text_at(const struct table *t, size_t row, const char *column)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		if (strcmp(t->columns[i].name, column) == 0)
			return table_cell(t, row, i)->text;
	}
	fail_msg("no column '%s'", column);
	return NULL;
}

static uint64_t number_at(const struct table *t, size_t row, const char *column)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		if (strcmp(t->columns[i].name, column) == 0)
			return table_cell(t, row, i)->u;
	}
	fail_msg("no column '%s'", column);
	return 0;
}

/* A line per row; the peers of the simulation include their hosts. */
static size_t print_failed(const struct results *r, struct strbuf *out)
{
	const struct table *t = results_find(r, "failed operations");

	for (size_t i = 0; t && i < table_rows(t); i++) {
		const char *peer = text_at(t, i, "peer");
		const char *host = strstr(peer, " (");
		const char *line = strrchr(text_at(t, i, "where"), ':');

		strbuf_printf(
			out, "rank %llu %s %s %.*s %llu: %s\n",
			(unsigned long long)number_at(t, i, "rank"), text_at(t, i, "operation"),
			line, (int)(host ? (size_t)(host - peer) : strlen(peer)), peer,
			(unsigned long long)number_at(t, i, "bytes"), text_at(t, i, "problem"));
	}
	return t ? table_rows(t) : 0;
}

static size_t ideal_failed(const char *goal, struct strbuf *out)
{
	const struct job_view view = { "x.goal", { HD_US, { UINT64_C(200000000000), 1 } }, true };
	struct results *r = results_new("test");
	struct diag d = { .status = HD_OK };
	char *path = goal_file(goal);
	struct opgraph g;
	bool well;

	assert_int_equal(opgraph_read_file(path, &d, &g), HD_OK);
	assert_int_equal(opgraph_show(&g, &view, &d, r, &well), HD_OK);
	size_t n = print_failed(r, out);

	assert_int_equal(well, n == 0);
	opgraph_fini(&g);
	results_free(r);
	unlink(path);
	free(path);
	return n;
}

static void a_fabric_and_the_ideal_network_agree(void **state)
{
	unsigned n_cases = cases_of_run(1500, 20000), n_failed = 0;
	struct rng draws;

	(void)state;
	rng_init(&draws, seed_of_run(19), 1);
	for (unsigned n = 0; n < n_cases; n++) {
		struct draft f = { .in_order = rng_below(&draws, 2) };
		struct strbuf goal = STRBUF_INIT, ideal = STRBUF_INIT;
		struct strbuf simulated = STRBUF_INIT;
		uint32_t n_messages = 1 + (uint32_t)rng_below(&draws, 16);

		for (uint32_t i = 0; i < n_messages; i++)
			draw_message(&f, &draws, i);
		write_draft(&f, &draws, &goal);
		struct outcome o = run_goal("", goal.text, "");

		n_failed += ideal_failed(goal.text, &ideal) > 0;
		print_failed(o.results, &simulated);
		if (strcmp(ideal.text ? ideal.text : "", simulated.text ? simulated.text : "") != 0)
			fail_msg("%sideal:\n%ssimulated:\n%s", goal.text, ideal.text,
				 simulated.text);
		results_free(o.results);
		strbuf_fini(&goal);
		strbuf_fini(&ideal);
		strbuf_fini(&simulated);
	}
	assert_in_range(n_failed, n_cases / 4, n_cases - n_cases / 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fabric_and_the_ideal_network_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
