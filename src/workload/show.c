/* SPDX-License-Identifier: BSD-2-Clause */
#include "workload/show.h"

#include <stdlib.h>

#include "base/alloc.h"

#define FEW 20 /* pairs that are shown without being asked for */

/* ---- all operations -------------------------------------------------------
 */

struct sum_row {
	uint64_t ranks, operations, sends, receives, computations, links, bytes;
	hd_time computing;
};

static const struct column sum_columns[] = {
	{ "ranks", NULL, CELL(sum_row, ranks) },
	{ "operations", NULL, CELL(sum_row, operations) },
	{ "sends", NULL, CELL(sum_row, sends) },
	{ "receives", NULL, CELL(sum_row, receives) },
	{ "computations", NULL, CELL(sum_row, computations) },
	{ "dependencies", NULL, CELL(sum_row, links) },
	{ "bytes", NULL, CELL(sum_row, bytes), ORIGIN_COMPUTED },
	{ "computing", "us", CELL_TIME(sum_row, computing), ORIGIN_COMPUTED,
	  3 },
	{ NULL },
};

static void put_sums(const struct opgraph *g, struct results *r)
{
	struct sum_row row = { .ranks = g->n_ranks,
			       .operations = g->n_ops,
			       .links = g->n_edges };

	for (uint32_t i = 0; i < g->n_ops; i++) {
		const struct op *op = &g->ops[i];

		row.sends += op->kind == OP_SEND;
		row.receives += op->kind == OP_RECV;
		row.computations += op->kind == OP_COMPUTE;
		row.bytes += op->kind == OP_SEND ? op->size : 0;
		row.computing += op->kind == OP_COMPUTE ? op->size : 0;
	}
	table_put_row(results_record(r, "job", "what all ranks do together",
				     sum_columns),
		      &row);
}

/* ---- pairs ------------------------------------------------------------------
 */

struct pair {
	uint32_t from, to;
	uint64_t messages, bytes;
};

static const struct column pair_columns[] = {
	{ "from", NULL, CELL(pair, from) },
	{ "to", NULL, CELL(pair, to) },
	{ "messages", NULL, CELL(pair, messages), ORIGIN_COMPUTED },
	{ "bytes", NULL, CELL(pair, bytes), ORIGIN_COMPUTED },
	{ NULL },
};

static int by_ranks(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static int by_bytes(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return by_ranks(a, b);
}

/* The sends of each rank, then one for each pair; the caller frees. */
static struct pair *pairs_of(const struct opgraph *g, size_t *n)
{
	struct pair *pairs = hd_alloc(g->n_ops, sizeof(*pairs));
	size_t n_sends = 0, n_pairs = 0;

	for (uint32_t r = 0; r < g->n_ranks; r++) {
		for (uint32_t i = g->first[r]; i < g->first[r + 1]; i++) {
			const struct op *op = &g->ops[i];

			if (op->kind == OP_SEND)
				pairs[n_sends++] = (struct pair){ r, op->peer,
								  1, op->size };
		}
	}
	qsort(pairs, n_sends, sizeof(*pairs), by_ranks);
	for (size_t i = 0; i < n_sends; i++) {
		struct pair *last = n_pairs ? &pairs[n_pairs - 1] : NULL;

		if (!last || by_ranks(last, &pairs[i]) != 0) {
			pairs[n_pairs++] = pairs[i];
			continue;
		}
		last->messages++;
		last->bytes += pairs[i].bytes;
	}
	*n = n_pairs;
	return pairs;
}

static void put_pairs(const struct opgraph *g, bool all, struct results *r)
{
	size_t n;
	struct pair *pairs = pairs_of(g, &n);
	struct table *t =
		results_table(r, "pairs",
			      n > FEW && !all ? "who sends most to whom; "
						"--all shows all"
					      : "who sends how much to whom",
			      pair_columns);

	qsort(pairs, n, sizeof(*pairs), by_bytes);
	for (size_t i = 0; i < n && (all || i < FEW); i++)
		table_put_row(t, &pairs[i]);
	free(pairs);
}

/* ---- time -------------------------------------------------------------------
 */

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
	{ "completion", "us", CELL_TIME(time_row, completion), ORIGIN_COMPUTED,
	  6 },
	{ "last rank", NULL, CELL(time_row, last_rank), ORIGIN_COMPUTED },
	{ "compute", "us", CELL_TIME(time_row, compute), ORIGIN_COMPUTED, 6 },
	{ "messages", "us", CELL_TIME(time_row, messages), ORIGIN_COMPUTED, 6 },
	{ "sending", "us", CELL_TIME(time_row, sending), ORIGIN_COMPUTED, 6 },
	{ "number", NULL, CELL(time_row, n_messages), ORIGIN_COMPUTED },
	{ NULL },
};

static void say_stuck(const struct ideal_result *found, struct results *r)
{
	const struct op *op = &found->stuck_op;

	if (op->kind != OP_RECV)
		results_remark(r, "rank %u never ends", found->stuck_rank);
	else if (op->peer == OP_ANY)
		results_remark(r,
			       "rank %u never ends: nobody sends what it "
			       "receives in line %u",
			       found->stuck_rank, op->line);
	else
		results_remark(r,
			       "rank %u never ends: rank %u does not send what "
			       "it receives in line %u",
			       found->stuck_rank, op->peer, op->line);
}

static uint32_t cpus_of(const struct opgraph *g)
{
	uint32_t n = 1;

	for (uint32_t i = 0; i < g->n_ops; i++)
		n = g->ops[i].cpu >= n ? g->ops[i].cpu + 1u : n;
	return n;
}

static bool put_time(const struct opgraph *g, const struct ideal_net *net,
		     struct results *r)
{
	const struct job j = { .n_ranks = g->n_ranks,
			       .graph = g,
			       .n_steps = 1,
			       .repeat = 1,
			       .n_cpus = cpus_of(g) };
	struct ideal_result found;

	ideal_run(&j, net, &found);
	if (found.completion == HD_TIME_NEVER) {
		say_stuck(&found, r);
		return false;
	}
	const struct time_row row = {
		.latency = net->latency,
		.rate = net->rate,
		.completion = found.completion,
		.last_rank = found.last_rank,
		.compute = found.path.compute,
		.messages = found.path.messages,
		.sending = found.path.sending,
		.n_messages = found.path.n_messages,
	};

	table_put_row(results_record(r, "critical path",
				     "on a network where nobody is in "
				     "anybody's way, and what led to the end",
				     time_columns),
		      &row);
	return true;
}

bool opgraph_show(const struct opgraph *g, const struct ideal_net *net,
		  bool all, struct results *r)
{
	put_sums(g, r);
	bool ends = put_time(g, net, r);

	put_pairs(g, all, r);
	return ends;
}
