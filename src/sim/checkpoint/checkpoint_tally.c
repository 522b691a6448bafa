/* SPDX-License-Identifier: BSD-2-Clause */
/* Checkpoint of counters and results. */
#include "sim/checkpoint/checkpoint_state.h"
#include "sim/metrics/tally.h"

static const struct pack_member sums_members[] = {
	PACK(metrics_tally, m.made),
	PACK(metrics_tally, m.made_bytes),
	PACK_SUM(metrics_tally, m.delivered),
	PACK_SUM(metrics_tally, m.delivered_bytes),
	PACK_EACH(metrics_tally, m.lost),
	PACK_AS(metrics_tally, m.checksum, ROLE_SQUARE),
	PACK(metrics_tally, m.checks.out_of_order),
	PACK(metrics_tally, m.checks.duplicates),
	PACK(metrics_tally, warmed),
	PACK(metrics_tally, flows_done),
	PACK_EACH(metrics_tally, per_sl),
};

/* Members of the whole simulation, which domains do not have. */
static const struct pack_member rules_members[] = {
	PACK(metrics_tally, check_at),
	PACK(metrics_tally, looks),
	PACK(metrics_tally, done),
};

static const struct pack_member flow_members[] = {
	PACK(flow_tally, delivered),   PACK(flow_tally, bytes),  PACK(flow_tally, latency_sum),
	PACK(flow_tally, latency_max), PACK(flow_tally, before), PACK_EACH(flow_tally, met),
};

static const struct pack_member flow_counts_members[] = {
	PACK(sim_flow_counts, made),        PACK(sim_flow_counts, made_bytes),
	PACK(sim_flow_counts, made_global), PACK(sim_flow_counts, delivered_global),
	PACK(sim_flow_counts, lost),
};

static const struct pack_member group_members[] = {
	PACK_EACH(sim_group, jitter),
	PACK(sim_group, jitter_abs_low),
	PACK(sim_group, jitter_abs_high),
};

static const struct pack_member pair_members[] = {
	PACK_TIME(order_pair, born), PACK(order_pair, flow),      PACK_SUM(order_pair, sequence),
	PACK(order_pair, key),       PACK(order_pair, multicast), PACK(order_pair, endpoint),
	PACK(order_pair, turn),
};

/* ---- pairs: those that have been seen ----------------------------------- */

static uint64_t n_pairs(const struct metrics_tally *t)
{
	return t->hashed ? HASHED_PAIRS : (uint64_t)t->n_ends * t->n_ends * t->n_kinds;
}

/* Hashed pairs belong to the domain of the destination; other pairs are shared. */
static struct metrics_tally *pairs_of(const struct checkpoint_state *v, uint32_t i)
{
	struct sim *s = v->s;

	return s->parts && s->outcome.tally->hashed ? s->parts->part[i]->outcome.tally
						    : s->outcome.tally;
}

static uint32_t n_tables(const struct checkpoint_state *v)
{
	return v->s->outcome.tally->hashed ? sim_n_parts(v->s) : 1;
}

/* The end node of the pair's destination. */
static uint32_t node_of(const struct checkpoint_state *v, uint64_t key)
{
	const struct sim *s = v->s;
	const struct metrics_tally *t = s->outcome.tally;
	uint64_t end = (key - 1) / t->n_kinds % t->n_ends;

	for (uint32_t i = 0; i < s->setup->n_nodes; i++) {
		if (s->nodes[i].kind == SIM_END && t->end_number[i] == end)
			return i;
	}
	return 0;
}

static uint32_t table_of(const struct checkpoint_state *v, uint64_t key)
{
	const struct sim *s = v->s;

	return s->parts && s->outcome.tally->hashed ? s->parts->cut.part_of_node[node_of(v, key)]
						    : 0;
}

/* Whether this domain observes the pair. */
static bool has_pair(const struct checkpoint_state *v, const struct order_pair *pair)
{
	return pair->key &&
	       (!v->section.of_node || checkpoint_state_has_node(v, node_of(v, pair->key)));
}

static void pack_pair(struct checkpoint_state *v, uint32_t place, struct order_pair pair)
{
	const struct metrics_tally *t = v->s->outcome.tally;

	pack_u32(v->p, &place);
	PACK_STRUCT(v->p, pair_members, &pair);
	if (v->p->reads && pack_check(v->p, place < n_pairs(t) && pair.key > 0))
		pairs_of(v, table_of(v, pair.key))->pairs[place] = pair;
}

static void pack_pairs(struct checkpoint_state *v)
{
	size_t n = 0;

	for (uint32_t i = 0; !v->p->reads && i < n_tables(v); i++) {
		const struct metrics_tally *t = pairs_of(v, i);

		for (uint64_t k = 0; k < n_pairs(t); k++)
			n += has_pair(v, &t->pairs[k]);
	}
	n = pack_count(v->p, n);
	for (; v->p->reads && n > 0 && !v->p->refused; n--)
		pack_pair(v, 0, (struct order_pair){ 0 });
	for (uint32_t i = 0; !v->p->reads && i < n_tables(v); i++) {
		const struct metrics_tally *t = pairs_of(v, i);

		for (uint64_t k = 0; k < n_pairs(t); k++) {
			if (has_pair(v, &t->pairs[k]))
				pack_pair(v, (uint32_t)k, t->pairs[k]);
		}
	}
}

/* ---- all of it ---------------------------------------------------------- */

static void pack_flows(struct checkpoint_state *v, struct metrics_tally *t)
{
	for (uint32_t i = 0; i < v->s->n_flows; i++) {
		if (checkpoint_state_has_sums(v))
			PACK_STRUCT(v->p, flow_counts_members, &t->m.flows[i]);
		if (!checkpoint_state_has_flow(v, i))
			continue;
		PACK_STRUCT(v->p, flow_members, &t->flows.of[i]);
		if (t->per_flow)
			pack_u32(v->p, &t->per_flow[i]);
	}
}

void metrics_pack_group(struct pack *p, struct sim_group *g)
{
	PACK_STRUCT(p, group_members, g);
	histogram_pack(p, &g->latency);
}

void metrics_pack_sls(struct pack *p, const struct sim *s, struct sim_metrics *m)
{
	for (unsigned sl = 0; sl < N_SLS && s->mode.sls_vary; sl++)
		histogram_pack(p, &m->latency_sl[sl]);
}

/*
 * The writer packs the collected groups of the whole; the reader adds them to the first domain, if
 * it has groups of its own.
 */
static void pack_groups(struct checkpoint_state *v)
{
	struct sim_metrics *m =
		v->p->reads ? checkpoint_state_first(v)->outcome.metrics : v->s->outcome.metrics;

	for (uint32_t i = 0; i < m->n_groups; i++)
		metrics_pack_group(v->p, &m->groups[i]);
	metrics_pack_sls(v->p, v->s, m);
}

void checkpoint_state_tally(struct checkpoint_state *v)
{
	struct metrics_tally *t = v->s->outcome.tally;

	if (checkpoint_state_has_sums(v)) {
		PACK_STRUCT(v->p, sums_members,
			    v->p->reads ? checkpoint_state_first(v)->outcome.tally : t);
		PACK_STRUCT(v->p, rules_members, t);
		batch_counts_pack(v->p, &t->flows.mean);
		pack_groups(v);
	}
	pack_flows(v, t);
	if (t->pairs)
		pack_pairs(v);
	if (v->p->reads && v->s->parts)
		metrics_collect(v->s);
}
