/* SPDX-License-Identifier: BSD-2-Clause */
/* Steps that the switches reduce (docs/timing-rules.md, S1, S2, S5). */
#include <string.h>

#include "base/alloc.h"
#include "sim/jobs/jobs_internal.h"
#include "subnet/multicast/aggregate.h"

/* ---- trees --------------------------------------------------------------- */

bool reduction_has_step(const struct workload_step *s)
{
	return strcmp(s->algorithm->name, "in-network") == 0;
}

/* The number of a step that has trees for the same groups; its own if none has. */
static uint32_t trees_of(const struct placed_job *p, size_t number)
{
	const struct workload_step *step = &p->steps[number];
	uint32_t i = 0;

	while (i < number &&
	       !(reduction_has_step(&p->steps[i]) && p->steps[i].groups == step->groups &&
		 p->steps[i].strides == step->strides))
		i++;
	return i;
}

static enum hd_status can_reduce(const struct placed_job *p, size_t number, struct diag *d)
{
	const struct fabric *fabric = p->fabric;
	const char **where = (const char **)&p->scn->program[number].algorithm;

	if (fabric->setup.sw.order == SIM_FIFO)
		return scenario_refuse(
			fabric->scenario, d, where,
			"job '%s': a switch with queueing in the order of arrival (fabric.switch.order: fifo) cannot reduce",
			p->scn->name);
	if (fabric->setup.control && fabric->setup.control->marking.rule == MARK_TWO_COUNTER)
		return scenario_refuse(fabric->scenario, d, where,
				       "job '%s': switches that mark by two counters cannot reduce",
				       p->scn->name);
	return HD_OK;
}

enum hd_status reduction_trees(struct placed_job *p, size_t number, struct diag *d)
{
	const struct scenario *s = p->fabric->scenario;
	const struct scn_reduction *how = &s->fabric.reduction;
	struct subnet *subnet = &p->fabric->subnet;
	uint32_t group = subnet->n_groups;
	struct diag inner = { .status = HD_OK };
	const struct aggregation_limit limit = { (uint32_t)how->trees, p->first_tree };

	p->transaction = how->payload < p->mtu ? (uint32_t)how->payload : p->mtu;
	p->trees_of[number] = trees_of(p, number);
	if (can_reduce(p, number, d) != HD_OK)
		return d->status;
	if (p->trees_of[number] != number)
		return HD_OK;
	p->begun[number] = hd_alloc(p->job.n_ranks, sizeof(**p->begun));
	if (job_trees(p, number, d) != HD_OK)
		return d->status;
	for (; group < subnet->n_groups; group++) {
		if (aggregation_add(subnet, group, limit, &inner) != HD_OK)
			return scenario_refuse(s, d, &p->scn->program[number].algorithm,
					       "job '%s': %s", p->scn->name, inner.message);
	}
	return HD_OK;
}

struct tree_row {
	const char *job;
	uint64_t step, group;
	const char *mlid, *root;
	uint64_t ranks, switches, levels, transactions;
};

static const struct column tree_columns[] = {
	{ "job", NULL, CELL(tree_row, job) },
	{ "step", NULL, CELL(tree_row, step) },
	{ "group", NULL, CELL(tree_row, group) },
	{ "MLID", NULL, CELL(tree_row, mlid) },
	{ "root", NULL, CELL(tree_row, root) },
	{ "ranks", NULL, CELL(tree_row, ranks) },
	{ "switches", NULL, CELL(tree_row, switches) },
	{ "levels", NULL, CELL(tree_row, levels) },
	{ "transactions", NULL, CELL(tree_row, transactions), ORIGIN_SIMULATED },
	{ NULL },
};

static const struct aggregation *tree_of(const struct subnet *s, lid_t mlid)
{
	uint32_t i = 0;

	while (i < s->n_aggregations && s->aggregations[i].mlid != mlid)
		i++;
	return i < s->n_aggregations ? &s->aggregations[i] : NULL;
}

static void put_trees(struct table *t, const struct placed_job *p, uint32_t step)
{
	const struct subnet *s = &p->fabric->subnet;
	const struct workload_step *of = &p->steps[step];

	for (uint32_t g = 0; g < of->groups; g++) {
		const struct aggregation *a = tree_of(s, p->mlids[step][g]);

		if (!a)
			continue; /* a group of one rank */
		uint32_t rank = step_member(of, p->job.n_ranks, g, 0);
		const struct tree_row row = {
			.job = p->scn->name,
			.step = step,
			.group = g,
			.mlid = table_text(t, "0x%04x", a->mlid),
			.root = switch_node(s, a->root)->name,
			.ranks = step_members(of, p->job.n_ranks),
			.switches = a->n,
			.levels = a->levels,
			.transactions = p->begun[step][rank],
		};

		table_put_row(t, &row);
	}
}

void reduction_table(const struct jobs *jobs, struct results *r)
{
	struct table *t = NULL;

	for (uint32_t i = 0; i < jobs->n; i++) {
		const struct placed_job *p = &jobs->placed[i];

		for (uint32_t k = 0; !p->job.graph && k < p->job.n_steps; k++) {
			if (!reduction_has_step(&p->steps[k]) || p->trees_of[k] != k)
				continue;
			if (!t)
				t = results_table(
					r, "aggregation trees",
					"along which switches reduce; of the first step with these groups",
					tree_columns);
			put_trees(t, p, k);
		}
	}
}

/* ---- during the run ------------------------------------------------------- */

void reduction_post(struct job_domain *s, uint32_t rank, uint32_t group, uint32_t message)
{
	const struct placed_job *p = s->of;
	struct job_message *m = message_at(p, message);
	uint32_t step = p->trees_of[p->ranks[rank].step];
	uint64_t packets = m->size ? (m->size - 1) / p->transaction + 1 : 1;

	/* All ranks of a group begin their reductions in the same order. */
	m->tag = p->begun[step][rank];
	m->target = p->n_actors; /* not an actor */
	m->dlid = p->mlids[step][group];
	p->begun[step][rank] += (uint32_t)packets;
	p->actors[rank].reduces = message;
}

void reduction_deliver(struct job_domain *s, uint32_t rank, const struct sim_packet *packet,
		       hd_time now)
{
	const struct placed_job *p = s->of;

	if (rank == RANK_GROUP_NONE || p->actors[rank].reduces == RANK_GROUP_NONE)
		return;
	uint32_t id = p->actors[rank].reduces;
	struct job_message *m = message_at(p, id);

	if (m->dlid != packet->dlid || packet->cookie - m->tag >= m->n_packets ||
	    ++m->here.arrived < m->n_packets)
		return;
	const struct sim_waits waits = { .held = m->held };
	const struct critical_path path = message_path_until(m, &waits, now);
	uint32_t ref = m->ref;

	p->actors[rank].reduces = RANK_GROUP_NONE;
	message_release(s, id);
	rank_group_answered(&s->rank_group, rank, now, ref, &path);
}
