/* SPDX-License-Identifier: BSD-2-Clause */
#include "workload/show.h"

#include <stdlib.h>

#include "base/alloc.h"

#define FEW 20 /* number of rows without --all */

__extension__ typedef unsigned __int128 u128;

/* ---- all operations ----------------------------------------------------- */

struct sum_row {
	uint64_t ranks, operations, sends, receives, computations, links, bytes;
	double computing; /* ps; of all ranks, more than a clock counts */
};

static const struct column sum_columns[] = {
	{ "ranks", NULL, CELL(sum_row, ranks) },
	{ "operations", NULL, CELL(sum_row, operations) },
	{ "sends", NULL, CELL(sum_row, sends) },
	{ "receives", NULL, CELL(sum_row, receives) },
	{ "computations", NULL, CELL(sum_row, computations) },
	{ "dependencies", NULL, CELL(sum_row, links) },
	{ "bytes", NULL, CELL(sum_row, bytes), ORIGIN_COMPUTED },
	{ "computing", "us", CELL_TIME(sum_row, computing), ORIGIN_COMPUTED, 3 },
	{ NULL },
};

/* 2^28 messages of 2^40 bytes are more than a cell holds. */
static uint64_t whole(u128 sum)
{
	return sum < UINT64_MAX ? (uint64_t)sum : UINT64_MAX;
}

static void put_sums(const struct opgraph *g, struct results *r)
{
	struct sum_row row = { .ranks = g->n_ranks, .operations = g->n_ops, .links = g->n_edges };
	u128 bytes = 0, computing = 0;

	for (uint32_t i = 0; i < g->n_ops; i++) {
		const struct op *op = &g->ops[i];

		row.sends += op->kind == OP_SEND;
		row.receives += op->kind == OP_RECV;
		row.computations += op->kind == OP_COMPUTE;
		bytes += op->kind == OP_SEND ? op->size : 0;
		computing += op->kind == OP_COMPUTE ? op->size : 0;
	}
	row.bytes = whole(bytes);
	row.computing = (double)computing;
	table_put_row(results_record(r, "job", "what all ranks do together", sum_columns), &row);
}

/* ---- pairs -------------------------------------------------------------- */

struct rank_pair_row {
	uint32_t from, to;
	uint64_t messages, bytes;
};

static const struct column pair_columns[] = {
	{ "from", NULL, CELL(rank_pair_row, from) },
	{ "to", NULL, CELL(rank_pair_row, to) },
	{ "messages", NULL, CELL(rank_pair_row, messages), ORIGIN_COMPUTED },
	{ "bytes", NULL, CELL(rank_pair_row, bytes), ORIGIN_COMPUTED },
	{ NULL },
};

static int by_ranks(const void *a, const void *b)
{
	const struct rank_pair_row *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static int by_bytes(const void *a, const void *b)
{
	const struct rank_pair_row *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return by_ranks(a, b);
}

/* The sends of each rank, then one for each pair; the caller frees. */
static struct rank_pair_row *pairs_of(const struct opgraph *g, size_t *n)
{
	struct rank_pair_row *pairs = hd_alloc(g->n_ops, sizeof(*pairs));
	size_t n_sends = 0, n_pairs = 0;

	for (uint32_t r = 0; r < g->n_ranks; r++) {
		for (uint32_t i = g->first[r]; i < g->first[r + 1]; i++) {
			const struct op *op = &g->ops[i];

			if (op->kind == OP_SEND)
				pairs[n_sends++] =
					(struct rank_pair_row){ r, op->peer, 1, op->size };
		}
	}
	qsort(pairs, n_sends, sizeof(*pairs), by_ranks);
	for (size_t i = 0; i < n_sends; i++) {
		struct rank_pair_row *last = n_pairs ? &pairs[n_pairs - 1] : NULL;

		if (!last || by_ranks(last, &pairs[i]) != 0) {
			pairs[n_pairs++] = pairs[i];
			continue;
		}
		last->messages++;
		last->bytes = whole((u128)last->bytes + pairs[i].bytes);
	}
	*n = n_pairs;
	return pairs;
}

static void put_pairs(const struct opgraph *g, bool all, struct results *r)
{
	size_t n;
	struct rank_pair_row *pairs = pairs_of(g, &n);
	struct table *t =
		results_table(r, "pairs",
			      n > FEW && !all ? "pairs of ranks with most bytes; --all shows all"
					      : "messages and bytes between ranks",
			      pair_columns);

	qsort(pairs, n, sizeof(*pairs), by_bytes);
	for (size_t i = 0; i < n && (all || i < FEW); i++)
		table_put_row(t, &pairs[i]);
	free(pairs);
}

/* ---- time --------------------------------------------------------------- */

struct time_row {
	hd_time latency;
	struct hd_rate rate;
	hd_time completion;
	uint64_t last_rank;
	hd_time compute, messages, sending;
	uint64_t n_messages;
};

static const struct column time_columns[] = {
	{ "latency", "us", CELL_TIME(time_row, latency), ORIGIN_GIVEN, 3 },
	{ "rate", "Gb/s", CELL(time_row, rate), ORIGIN_GIVEN, 3 },
	{ "completion", "us", CELL_TIME(time_row, completion), ORIGIN_COMPUTED, 6 },
	{ "last rank", NULL, CELL(time_row, last_rank), ORIGIN_COMPUTED },
	{ "compute", "us", CELL_TIME(time_row, compute), ORIGIN_COMPUTED, 6 },
	{ "messages", "us", CELL_TIME(time_row, messages), ORIGIN_COMPUTED, 6 },
	{ "sending", "us", CELL_TIME(time_row, sending), ORIGIN_COMPUTED, 6 },
	{ "number", NULL, CELL(time_row, n_messages), ORIGIN_COMPUTED },
	{ NULL },
};

static void put_critical_path(const struct ideal_net *net, const struct ideal_result *found,
			      struct results *r)
{
	const struct time_row row = {
		.latency = net->latency,
		.rate = net->rate,
		.completion = found->completion,
		.last_rank = found->last_rank,
		.compute = found->path.compute,
		.messages = found->path.messages,
		.sending = found->path.sending,
		.n_messages = found->path.n_messages,
	};

	table_put_row(
		results_record(r, "critical path",
			       "completion on a network without contention, and the critical path",
			       time_columns),
		&row);
}

/* ---- what fails --------------------------------------------------------- */

struct ideal_problem_row {
	uint64_t rank;
	const char *operation, *where, *peer;
	uint64_t bytes;
	const char *problem;
};

static const struct column problem_columns[] = {
	{ "rank", NULL, CELL(ideal_problem_row, rank) },
	{ "operation", NULL, CELL(ideal_problem_row, operation) },
	{ "where", NULL, CELL(ideal_problem_row, where) },
	{ "peer", NULL, CELL(ideal_problem_row, peer) },
	{ "bytes", NULL, CELL(ideal_problem_row, bytes) },
	{ "problem", NULL, CELL(ideal_problem_row, problem), ORIGIN_COMPUTED },
	{ NULL },
};

static void put_problem(struct table *t, const struct job_view *view, const struct ideal_problem *x)
{
	uint32_t peer = x->came ? x->source : x->op.peer;
	const struct ideal_problem_row row = {
		.rank = x->rank,
		.operation = op_kind_names[x->op.kind],
		.where = table_text(t, "%s:%u", view->file, x->op.line),
		.peer = peer == OP_ANY ? "any" : table_text(t, "rank %u", peer),
		.bytes = x->op.size,
		.problem = x->came                 ? table_text(t, "its message has %llu bytes",
								(unsigned long long)x->came)
			   : x->op.kind == OP_SEND ? "it has no receive"
						   : "no message arrives for it",
	};

	table_put_row(t, &row);
}

static void put_problems(const struct job_view *view, const struct ideal_result *found,
			 struct results *r)
{
	size_t n = view->all || found->n_problems < FEW ? found->n_problems : FEW;

	if (n == 0)
		return;
	struct table *t =
		results_table(r, "failed operations",
			      "what never ends, and receives that are too small", problem_columns);

	for (size_t i = 0; i < n; i++)
		put_problem(t, view, &found->problems[i]);
	if (n < found->n_problems)
		results_remark(r, "%zu more operations fail; --all shows all",
			       found->n_problems - n);
}

/* ---- all of it ---------------------------------------------------------- */

static uint32_t cpus_of(const struct opgraph *g)
{
	uint32_t n = 1;

	for (uint32_t i = 0; i < g->n_ops; i++)
		n = g->ops[i].cpu >= n ? g->ops[i].cpu + 1u : n;
	return n;
}

enum hd_status opgraph_show(const struct opgraph *g, const struct job_view *view, struct diag *d,
			    struct results *r, bool *well)
{
	const struct job j = {
		.n_ranks = g->n_ranks, .graph = g, .n_steps = 1, .repeat = 1, .n_cpus = cpus_of(g)
	};
	struct ideal_result found;

	if (ideal_run(&j, &view->net, d, &found) != HD_OK)
		return d->status;
	put_sums(g, r);
	if (found.completion != HD_TIME_NEVER)
		put_critical_path(&view->net, &found, r);
	else
		results_remark(r, "the job does not come to its end: %u of %u ranks are done",
			       found.n_done, g->n_ranks);
	put_problems(view, &found, r);
	put_pairs(g, view->all, r);
	*well = found.n_problems == 0;
	ideal_result_fini(&found);
	return HD_OK;
}
