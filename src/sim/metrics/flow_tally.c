/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/metrics/flow_tally.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define NEVER HD_TIME_NEVER

void flow_tallies_init(struct flow_tallies *t, const struct sim_flow *flows,
		       const struct sim_metrics *m, bool measure)
{
	*t = (struct flow_tallies){
		.of = hd_alloc_dense(m->n_flows, sizeof(*t->of)),
		.n_flows = m->n_flows,
		.groups = m->groups,
		.late = hd_alloc_dense(LATE_KEPT, sizeof(*t->late)),
		.late_cap = LATE_KEPT,
		.measure = measure,
	};
	batch_counts_init(&t->mean);
	for (uint32_t i = 0; i < m->n_flows; i++) {
		t->of[i].before = NEVER;
		t->of[i].period = flows[i].period;
		t->of[i].is_single = flows[i].kind != SIM_TRACE &&
				     (flows[i].to.choice == SIM_TO_FIXED || flows[i].to.n == 1) &&
				     flows[i].to.list[0].dlid < LID_FIRST_MCAST;
		t->of[i].group = m->flows[i].group;
	}
}

void flow_tallies_fini(struct flow_tallies *t)
{
	free(t->of);
	free(t->late);
}

/* ---- counting ------------------------------------------------------------ */

/* Index of the tightest deadline that is met, or SIM_DEADLINES. */
static unsigned tightest(hd_time latency, hd_time period)
{
	hd_time share = latency * 32;
	unsigned missed = 0;

	for (unsigned i = 0; i < SIM_DEADLINES; i++)
		missed += share > period * sim_deadlines[i];
	return missed;
}

static void count_jitter(struct sim_group *g, hd_time before, hd_time latency, hd_time period)
{
	bool less = latency < before;
	hd_time off = less ? before - latency : latency - before;
	/* Distance from 0 in steps of period/8; exactly one period belongs to the last step. */
	uint64_t steps = off > period ? 8 : off * 8 / period;

	if (steps == 8 && off == period)
		steps = 7;
	unsigned bin = (unsigned)(less ? 8 - steps : 9 + steps);

	g->jitter[bin]++;
	g->jitter_abs_low += off;
	g->jitter_abs_high += g->jitter_abs_low < off;
}

void flow_tallies_count(struct flow_tallies *t, const struct late *l)
{
	hd_time latency = l->latency;

	struct flow_tally *f = &t->of[l->flow];
	struct sim_group *g = &t->groups[f->group];

	f->delivered++;
	f->bytes += l->bytes;
	if (!t->measure)
		return;
	f->latency_sum += latency;
	f->latency_max = latency > f->latency_max ? latency : f->latency_max;
	histogram_record(&g->latency, latency);
	if (!f->period)
		return;
	f->met[tightest(latency, f->period)]++;
	if (!f->is_single)
		return;
	if (f->before != NEVER)
		count_jitter(g, f->before, latency, f->period);
	f->before = latency;
}

void flow_tallies_take(struct flow_tallies *t)
{
	const struct late *l = late_at(t, t->counted++);

	if (t->measure)
		batch_counts_add(&t->mean, l->latency, 1);
	flow_tallies_count(t, l);
}

void flow_tallies_flush(struct flow_tallies *t)
{
	while (t->counted < t->added)
		flow_tallies_take(t);
}

void flow_tallies_grow(struct flow_tallies *t)
{
	uint32_t cap = 2 * t->late_cap;
	struct late *more = hd_alloc_dense(cap, sizeof(*more));

	for (uint64_t n = t->counted; n < t->counted + t->late_cap; n++)
		more[n & (cap - 1)] = *late_at(t, n);
	free(t->late);
	t->late = more;
	t->late_cap = cap;
}

/* ---- reporting ----------------------------------------------------------- */

static void report_flow(const struct flow_tally *f, struct sim_flow_counts *c, struct sim_group *g)
{
	uint64_t within = 0;

	c->delivered = f->delivered;
	c->delivered_bytes = f->bytes;
	c->latency_sum = f->latency_sum;
	c->latency_max = f->latency_max;
	for (unsigned i = 0; i < SIM_DEADLINES; i++) {
		within += f->met[i];
		c->within[i] = (uint32_t)within;
		g->within[i] += within;
	}
	g->timed += within + f->met[SIM_DEADLINES];
}

void flow_tallies_report(struct flow_tallies *t, struct sim_metrics *m)
{
	flow_tallies_flush(t);
	for (uint32_t i = 0; i < m->n_groups; i++) {
		struct sim_group *g = &m->groups[i];

		memset(g->within, 0, sizeof(g->within));
		g->timed = g->jitter_n = 0;
		for (unsigned bin = 0; bin < SIM_JITTER_BINS; bin++)
			g->jitter_n += g->jitter[bin];
	}
	for (uint32_t i = 0; i < m->n_flows; i++)
		report_flow(&t->of[i], &m->flows[i], &m->groups[m->flows[i].group]);
}
