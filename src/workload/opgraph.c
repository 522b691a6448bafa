/* SPDX-License-Identifier: BSD-2-Clause */
#include "workload/opgraph.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"

const char *const op_kind_names[] = { "compute", "send",  "receive", "multicast",
				      "read",    "write", "reduce" };

void opgraph_fini(struct opgraph *g)
{
	free(g->first);
	free(g->ops);
	free(g->edge_of);
	free(g->edges);
	*g = (struct opgraph){ 0 };
}

void opgraph_begin(struct opgraph *g, uint32_t n_ranks)
{
	*g = (struct opgraph){ .n_ranks = n_ranks };
	g->first = hd_alloc((size_t)n_ranks + 1, sizeof(*g->first));
	g->edge_of = hd_grow(NULL, &g->edge_of_cap, 1, sizeof(*g->edge_of));
	g->edge_of[0] = 0;
}

uint32_t opgraph_add(struct opgraph *g, const struct op *op)
{
	g->ops = hd_grow(g->ops, &g->ops_cap, (size_t)g->n_ops + 1, sizeof(*g->ops));
	g->ops[g->n_ops] = *op;
	if (op->kind == OP_RECV && (op->peer == OP_ANY || op->tag == OP_ANY))
		g->has_any = true;
	return g->n_ops++;
}

static uint32_t source_of(const struct opgraph_link *l)
{
	return l->from & ~OPGRAPH_STARTED;
}

/* The links of operations from `low` on, by operation, as edges. */
static void add_edges(struct opgraph *g, uint32_t low, const struct opgraph_link *links, size_t n)
{
	uint32_t *at;

	g->edge_of =
		hd_grow(g->edge_of, &g->edge_of_cap, (size_t)g->n_ops + 1, sizeof(*g->edge_of));
	g->edges = hd_grow(g->edges, &g->edges_cap, (size_t)g->n_edges + n, sizeof(*g->edges));
	at = &g->edge_of[low];
	for (uint32_t i = 1; i <= g->n_ops - low; i++)
		at[i] = 0;
	for (size_t i = 0; i < n; i++)
		at[source_of(&links[i]) - low + 1]++;
	for (uint32_t i = 1; i <= g->n_ops - low; i++)
		at[i] += at[i - 1];
	/* Backwards, so that each one's place ends where it begins. */
	for (size_t i = n; i-- > 0;)
		g->edges[--at[source_of(&links[i]) - low + 1]] =
			links[i].to | (links[i].from & OPGRAPH_STARTED);
	for (uint32_t i = 0; i + 1 <= g->n_ops - low; i++)
		at[i] = at[i + 1];
	g->n_edges += (uint32_t)n;
	at[g->n_ops - low] = g->n_edges;
}

/* Takes away what waits for nothing until nothing is left but circles. */
static enum hd_status check_circles(const struct opgraph *g, uint32_t low,
				    const struct opgraph_link *links, size_t n, struct diag *d)
{
	uint32_t n_mine = g->n_ops - low, n_free = 0;
	uint32_t *needs = hd_alloc((size_t)n_mine, sizeof(*needs));
	uint32_t *freed = hd_alloc((size_t)n_mine, sizeof(*freed));

	for (size_t i = 0; i < n; i++)
		needs[links[i].to - low]++;
	for (uint32_t i = 0; i < n_mine; i++) {
		if (!needs[i])
			freed[n_free++] = i;
	}
	for (uint32_t i = 0; i < n_free; i++) {
		uint32_t op = low + freed[i];

		for (uint32_t k = g->edge_of[op]; k < g->edge_of[op + 1]; k++) {
			uint32_t to = (g->edges[k] & ~OPGRAPH_STARTED) - low;

			if (--needs[to] == 0)
				freed[n_free++] = to;
		}
	}
	for (size_t i = 0; i < n && n_free < n_mine; i++) {
		if (needs[links[i].to - low] && needs[source_of(&links[i]) - low])
			diag_fail_at(
				d, HD_ERR_INPUT, links[i].line, 0,
				"operations that wait for each other in a circle, this one among them");
	}
	free(needs);
	free(freed);
	return n_free < n_mine ? d->status : HD_OK;
}

enum hd_status opgraph_end_rank(struct opgraph *g, uint32_t rank, const struct opgraph_link *links,
				size_t n, struct diag *d)
{
	uint32_t low = g->begun;

	assert(g->ended <= rank && rank < g->n_ranks);
	for (; g->ended <= rank; g->ended++)
		g->first[g->ended] = low;
	add_edges(g, low, links, n);
	g->begun = g->n_ops;
	return n ? check_circles(g, low, links, n, d) : HD_OK;
}

void opgraph_end(struct opgraph *g)
{
	for (; g->ended <= g->n_ranks; g->ended++)
		g->first[g->ended] = g->n_ops;
}

/* ---- writing ---------------------------------------------------------- */

static void write_op(const struct op *op, uint32_t number, struct strbuf *out)
{
	strbuf_printf(out, "l%u: ", number);
	if (op->kind == OP_COMPUTE) {
		strbuf_printf(out, "calc %llu", (unsigned long long)((op->size + 999) / 1000));
	} else {
		strbuf_printf(out, "%s %llub %s ", op->kind == OP_SEND ? "send" : "recv",
			      (unsigned long long)op->size, op->kind == OP_SEND ? "to" : "from");
		strbuf_printf(out, op->peer == OP_ANY ? "-1" : "%u", op->peer);
		if (op->tag == OP_ANY)
			strbuf_puts(out, " tag -1");
		else if (op->tag)
			strbuf_printf(out, " tag %u", op->tag);
	}
	if (op->cpu)
		strbuf_printf(out, " cpu %u", op->cpu);
	strbuf_putc(out, '\n');
}

void opgraph_write(const struct opgraph *g, struct strbuf *out)
{
	strbuf_printf(out, "num_ranks %u\n", g->n_ranks);
	for (uint32_t r = 0; r < g->n_ranks; r++) {
		uint32_t low = g->first[r];

		strbuf_printf(out, "\nrank %u {\n", r);
		for (uint32_t i = low; i < g->first[r + 1]; i++)
			write_op(&g->ops[i], i - low, out);
		for (uint32_t i = low; i < g->first[r + 1]; i++) {
			for (uint32_t k = g->edge_of[i]; k < g->edge_of[i + 1]; k++)
				strbuf_printf(
					out, "l%u %s l%u\n", (g->edges[k] & ~OPGRAPH_STARTED) - low,
					g->edges[k] & OPGRAPH_STARTED ? "irequires" : "requires",
					i - low);
		}
		strbuf_puts(out, "}\n");
	}
}
