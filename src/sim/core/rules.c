/* SPDX-License-Identifier: BSD-2-Clause */
/* Stop rules that count packets: the end of a run and of its warm-up (docs/timing-rules.md, M2). */
#include "base/alloc.h"
#include "sim/domains/domains.h"
#include "sim/metrics/metrics.h"
#include "sim/metrics/tally.h"

#define CHECK_PRECISE 4096 /* deliveries between checks of the confidence interval */
#define LOOKS         4    /* margins between checks of the rules */

void metrics_stop_rules_init(struct sim *s)
{
	struct metrics_tally *t = s->outcome.tally;

	/* The rules need at least one delivery; domains check without one. */
	t->check_at = 1;
	if (s->rules.packets_per_flow)
		t->per_flow = hd_alloc(s->n_flows, sizeof(*t->per_flow));
	for (uint32_t i = 0; s->rules.packets_per_sl && i < s->n_flows; i++) {
		const struct sim_flow *f = &s->flows[i];

		for (size_t k = 0; k < f->n_trace; k++)
			t->has_sl[f->trace[k].sl & 15] = true;
		if (f->kind != SIM_TRACE)
			t->has_sl[f->sl & 15] = true;
	}
}

hd_time metrics_check_interval(const struct sim *s)
{
	return LOOKS * s->outcome.margin;
}

/* M2: the next instant at which rules that count packets are checked. */
static hd_time next_look(const struct sim *s)
{
	hd_time every = metrics_check_interval(s);

	return (s->now / every + 1) * every;
}

static bool is_precise(struct sim *s, struct metrics_tally *t)
{
	t->check_at = t->m.delivered + CHECK_PRECISE;
	flow_tallies_flush(&t->flows);
	struct interval i =
		batch_counts_interval(&t->flows.mean, s->rules.level > 0 ? s->rules.level : 0.95);

	return i.sound && i.half_width <= s->rules.precision * i.mean;
}

/* Whether all rules hold except the precision, which costs more to check. */
static bool may_end(const struct sim *s, const struct metrics_tally *t)
{
	if (t->m.delivered < s->rules.packets || t->m.delivered < t->check_at ||
	    (t->per_flow && t->flows_done < s->n_flows))
		return false;
	for (unsigned sl = 0; s->rules.packets_per_sl && sl < N_SLS; sl++) {
		if (t->has_sl[sl] && t->per_sl[sl] < s->rules.packets_per_sl)
			return false;
	}
	return true;
}

void metrics_check_stop(struct sim *s)
{
	struct metrics_tally *t = s->outcome.tally;

	if (t->looks || t->done || !may_end(s, t))
		return;
	t->looks = true;
	eventq_push(&s->q, next_look(s), event_key(EV_LOOK, 0, 0, 0));
	s->background++;
}

/*
 * Ends the run after all effects that were computed ahead, so that no later one is counted and
 * none is missed.
 */
static void end_soon(struct sim *s)
{
	if (s->now + s->outcome.margin < s->horizon)
		s->horizon = s->now + s->outcome.margin;
}

void sim_end(struct sim *s)
{
	end_soon(s);
	for (uint32_t i = 0; s->parts && i < s->parts->cut.n; i++)
		s->parts->part[i]->horizon = s->horizon;
}

void metrics_look(struct sim *s)
{
	struct metrics_tally *t = s->outcome.tally;

	s->background--;
	t->looks = false;
	if (s->rules.precision > 0 && !is_precise(s, t))
		return;
	t->done = true;
	end_soon(s);
}

void metrics_check_warm(struct sim *s)
{
	const struct metrics_tally *t = s->outcome.tally;

	if (s->from != NEVER || t->warmed < s->rules.warmup_packets)
		return;
	s->from = next_look(s) + s->outcome.margin;
	eventq_push(&s->q, s->from, event_key(EV_MEASURE, 0, 0, 0));
	s->background++;
}
