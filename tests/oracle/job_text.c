/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs as users write them: GOAL, and programs of a scenario. */
#include <inttypes.h>

#include "job.h"

static void op_write(const struct oracle_op *op, uint32_t number, struct strbuf *to)
{
	bool sends = op->kind == ORACLE_SEND;

	strbuf_printf(to, "  l%u: ", number);
	if (op->kind == ORACLE_COMPUTE)
		strbuf_printf(to, "calc %" PRIu64, op->size / HD_NS);
	else
		strbuf_printf(to, "%s %" PRIu64 "b %s %d tag %d", sends ? "send" : "recv", op->size,
			      sends ? "to" : "from", (int)op->peer, (int)op->tag);
	if (op->cpu > 0)
		strbuf_printf(to, " cpu %u", op->cpu);
	strbuf_puts(to, "\n");
}

void job_write_goal(const struct oracle_job *j, struct strbuf *to)
{
	strbuf_printf(to, "num_ranks %u\n", j->n_ranks);
	for (uint32_t r = 0; r < j->n_ranks; r++) {
		const struct oracle_graph *g = &j->graphs[r];

		strbuf_printf(to, "rank %u {\n", r);
		for (uint32_t i = 0; i < g->n_ops; i++)
			op_write(&g->ops[i], i, to);
		for (uint32_t i = 0; i < g->n_edges; i++)
			strbuf_printf(to, "  l%u %s l%u\n", g->edges[i].op,
				      g->edges[i].started ? "irequires" : "requires",
				      g->edges[i].on);
		strbuf_puts(to, "}\n");
	}
}

static void step_write(const struct oracle_step *s, const char *servers, struct strbuf *to)
{
	const struct oracle_step_name *name = &oracle_step_names[s->kind];

	strbuf_printf(to, "{%s: %" PRIu64 "%s", name->operation, s->amount,
		      s->kind == STEP_COMPUTE ? "ps" : "");
	if (name->algorithm)
		strbuf_printf(to, ", algorithm: %s", name->algorithm);
	if (s->kind == STEP_BROADCAST || s->kind == STEP_REDUCE ||
	    s->kind == STEP_BROADCAST_MULTICAST)
		strbuf_printf(to, ", root: %u", s->root);
	if (s->kind == STEP_HALO)
		strbuf_printf(to, ", grid: %ux%ux%u", s->grid[0], s->grid[1], s->grid[2]);
	if (s->kind == STEP_ALLREDUCE_TREE && s->segment)
		strbuf_printf(to, ", segment: %" PRIu64, s->segment);
	if (s->kind == STEP_READ || s->kind == STEP_WRITE)
		strbuf_printf(to, ", to: \"%s\", request: %" PRIu64 ", outstanding: %u", servers,
			      s->request, s->outstanding);
	if (s->groups > 1)
		strbuf_printf(to, ", groups: %u, layout: %s", s->groups,
			      s->strides ? "strides" : "blocks");
	strbuf_puts(to, "}");
}

void job_write_program(const struct oracle_job *j, const char *servers, struct strbuf *to)
{
	strbuf_puts(to, "[");
	for (uint32_t i = 0; i < j->n_steps; i++) {
		strbuf_puts(to, i > 0 ? ", " : "");
		step_write(&j->steps[i], servers, to);
	}
	strbuf_puts(to, "]");
}
