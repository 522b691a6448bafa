/* SPDX-License-Identifier: BSD-2-Clause */
/* Counters of domains, and their sums for the whole. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/metrics/tally.h"

bool metrics_groups_are_shared(const struct sim *whole)
{
	return whole->n_flows <= SIM_MAX_FLOWS;
}

/* Creates the domain's groups, or its rows of shared groups. */
static void part_groups_init(struct sim *part, const struct sim *whole)
{
	struct sim_metrics *m = part->outcome.metrics;
	const struct sim_metrics *from = whole->outcome.metrics;

	histogram_pool_init(&part->outcome.tally->rows);
	for (unsigned i = 0; i < N_SLS; i++)
		histogram_init(&m->latency_sl[i]);
	if (!metrics_groups_are_shared(whole)) {
		m->groups = hd_alloc_dense(m->n_groups, sizeof(*m->groups));
		for (uint32_t i = 0; i < m->n_groups; i++)
			histogram_init(&m->groups[i].latency);
		return;
	}
	for (uint32_t i = 0; i < m->n_groups; i++) {
		struct sim_group *g = &from->groups[i];

		if (g->latency.pool && flow_home(part, g->flow) == part->part)
			g->latency.pool = &part->outcome.tally->rows;
	}
}

void metrics_part_init(struct sim *part, const struct sim *whole)
{
	const struct metrics_tally *from = whole->outcome.tally;
	struct metrics_tally *t = hd_alloc(1, sizeof(*t));

	*t = (struct metrics_tally){
		.m = { .groups = from->m.groups,
		       .n_groups = from->m.n_groups,
		       .flows = from->m.flows,
		       .n_flows = from->m.n_flows },
		.pairs = from->pairs,
		.end_number = from->end_number,
		.n_ends = from->n_ends,
		.n_kinds = from->n_kinds,
		.by_sl = from->by_sl,
		.hashed = from->hashed,
		.per_flow = from->per_flow,
	};
	part->outcome.tally = t;
	part->outcome.metrics = &t->m;
	part_groups_init(part, whole);
	t->flows = (struct flow_tallies){
		.of = from->flows.of,
		.n_flows = from->flows.n_flows,
		.groups = t->m.groups,
		.measure = from->flows.measure,
	};
	if (t->hashed)
		t->pairs = hd_alloc(HASHED_PAIRS, sizeof(*t->pairs));
}

void metrics_part_fini(struct sim *part, const struct sim *whole)
{
	struct metrics_tally *t = part->outcome.tally;

	if (!metrics_groups_are_shared(whole)) {
		for (uint32_t i = 0; i < t->m.n_groups; i++)
			histogram_fini(&t->m.groups[i].latency);
		free(t->m.groups);
	}
	histogram_pool_fini(&t->rows);
	for (unsigned i = 0; i < N_SLS; i++)
		histogram_fini(&t->m.latency_sl[i]);
	if (t->hashed)
		free(t->pairs);
	free(t);
}

void metrics_late(struct sim *part, const struct late *l)
{
	flow_tallies_count(&part->outcome.tally->flows, l);
}

static void collect_groups(struct sim_metrics *m, const struct sim_metrics *p)
{
	for (uint32_t i = 0; i < m->n_groups; i++) {
		struct sim_group *g = &m->groups[i];
		const struct sim_group *part = &p->groups[i];

		histogram_merge(&g->latency, &part->latency);
		for (unsigned bin = 0; bin < SIM_JITTER_BINS; bin++)
			g->jitter[bin] += part->jitter[bin];
		g->jitter_abs_low += part->jitter_abs_low;
		g->jitter_abs_high +=
			part->jitter_abs_high + (g->jitter_abs_low < part->jitter_abs_low);
	}
}

static void groups_clear(struct sim_metrics *m)
{
	for (uint32_t i = 0; i < m->n_groups; i++) {
		struct sim_group *g = &m->groups[i];

		histogram_clear(&g->latency);
		memset(g->jitter, 0, sizeof(g->jitter));
		g->jitter_abs_low = g->jitter_abs_high = 0;
	}
}

static void collect_part(struct metrics_tally *t, const struct metrics_tally *p)
{
	struct sim_metrics *m = &t->m;

	m->made += p->m.made;
	m->made_bytes += p->m.made_bytes;
	m->delivered += p->m.delivered;
	m->delivered_bytes += p->m.delivered_bytes;
	m->checksum += p->m.checksum;
	m->checks.out_of_order += p->m.checks.out_of_order;
	m->checks.duplicates += p->m.checks.duplicates;
	for (unsigned i = 0; i < SIM_FATES; i++)
		m->lost[i] += p->m.lost[i];
	t->warmed += p->warmed;
	t->flows_done += p->flows_done;
	for (unsigned sl = 0; sl < N_SLS; sl++)
		t->per_sl[sl] += p->per_sl[sl];
}

/* Sums all counters except the groups, which take longest. */
static void collect_sums(struct sim *whole)
{
	struct metrics_tally *t = whole->outcome.tally;
	struct sim_metrics *m = &t->m;

	m->made = m->made_bytes = m->delivered = m->delivered_bytes = 0;
	m->checksum = m->checks.out_of_order = m->checks.duplicates = 0;
	memset(m->lost, 0, sizeof(m->lost));
	memset(t->per_sl, 0, sizeof(t->per_sl));
	t->warmed = t->flows_done = 0;
	whole->outcome.hops = whole->outcome.events = whole->outcome.delivered_all = 0;
	whole->outcome.hops_before = 0;
	for (uint32_t i = 0; i < whole->parts->cut.n; i++) {
		const struct sim *part = whole->parts->part[i];

		collect_part(t, part->outcome.tally);
		whole->outcome.hops += part->outcome.hops;
		whole->outcome.hops_before += part->outcome.hops_before;
		whole->outcome.events += part->outcome.events;
		whole->outcome.delivered_all += part->outcome.delivered_all;
		if (part->outcome.latest > whole->outcome.latest)
			whole->outcome.latest = part->outcome.latest;
	}
}

/* Counters by packet SL, which the groups do not have. */
static void collect_sls(struct sim *whole)
{
	struct histogram *all = whole->outcome.metrics->latency_sl;

	for (unsigned sl = 0; sl < N_SLS && whole->mode.sls_vary; sl++) {
		histogram_clear(&all[sl]);
		for (uint32_t i = 0; i < whole->parts->cut.n; i++)
			histogram_merge(&all[sl],
					&whole->parts->part[i]->outcome.metrics->latency_sl[sl]);
	}
}

void metrics_collect(struct sim *whole)
{
	collect_sums(whole);
	collect_sls(whole);
	if (metrics_groups_are_shared(whole))
		return;
	groups_clear(whole->outcome.metrics);
	for (uint32_t i = 0; i < whole->parts->cut.n; i++)
		collect_groups(whole->outcome.metrics, whole->parts->part[i]->outcome.metrics);
}

hd_time metrics_cell(const struct sim *whole)
{
	bool counts = has_packet_rules(&whole->rules) || whole->rules.warmup_packets;

	return counts ? metrics_check_interval(whole) : 0;
}

bool metrics_mean_sums(const struct sim *whole, uint64_t n)
{
	return n <= batch_counts_room(&whole->outcome.tally->flows.mean);
}

void metrics_mean(struct sim *whole, uint64_t n, uint64_t sum, const struct late *all)
{
	struct batch_counts *mean = &whole->outcome.tally->flows.mean;

	if (!whole->rules.flow_metrics || n == 0)
		return;
	if (metrics_mean_sums(whole, n)) {
		batch_counts_add(mean, sum, n);
		return;
	}
	for (uint64_t i = 0; i < n; i++)
		batch_counts_add(mean, all[i].latency, 1);
}

void metrics_window(struct sim *whole)
{
	if (metrics_cell(whole) == 0)
		return;
	collect_sums(whole);
	metrics_check_warm(whole);
	for (uint32_t i = 0; i < whole->parts->cut.n; i++)
		whole->parts->part[i]->from = whole->from;
	if (has_packet_rules(&whole->rules))
		metrics_check_stop(whole);
}
