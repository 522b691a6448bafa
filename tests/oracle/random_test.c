/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether the random scenarios are worth comparing on: every duration is a
 * whole number of ticks, and what is rare in a quiet fabric is common here.
 * HD_LONG=1 counts over many more scenarios.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/seeds_for_tests.h"
#include "compare.h"

#define FIRST_SEED UINT64_C(0x5eed0000)

static char *scenario_text(uint64_t seed)
{
	struct scenario s;
	char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);

	assert_non_null(to);
	scenario_draw(&s, seed);
	scenario_print(&s, to);
	fclose(to);
	scenario_clear(&s);
	return text;
}

static void the_seed_determines_everything(void **state)
{
	char *a = scenario_text(7), *b = scenario_text(7);
	char *c = scenario_text(8);

	(void)state;
	assert_string_equal(a, b);
	assert_string_not_equal(a, c);
	free(a);
	free(b);
	free(c);
}

static void assert_whole(const struct scenario *s, hd_time duration)
{
	assert_int_equal(duration % s->tick, 0);
}

static void assert_port_whole(const struct scenario *s, uint32_t i)
{
	const struct sim_setup *t = &s->fabric.setup;
	const struct sim_port *p = &t->ports[i];

	for (uint32_t k = 0; k < s->n_sizes; k++) {
		hd_time d = hd_rate_duration(p->rate, s->sizes[k]);

		assert_whole(s, d);
		assert_in_range(d / s->tick, 1, 200);
		assert_whole(s,
			     (d * t->sw.speedup.den + t->sw.speedup.num - 1) / t->sw.speedup.num);
		assert_true((s->sizes[k] + 63) / 64 <= p->in_blocks);
		assert_true((s->sizes[k] + 63) / 64 <= p->out_blocks);
	}
	assert_whole(s, hd_rate_duration(p->rate, 6));
	assert_whole(s, hd_rate_duration(p->rate, 65536));
	assert_whole(s, p->propagation);
	assert_whole(s, p->hoq_life);
	assert_true(p->propagation >= s->tick);
	assert_true(p->in_blocks <= 2048);
}

static void every_duration_is_a_whole_number_of_ticks(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 300; seed++) {
		struct scenario s;
		const struct sim_setup *t = &s.fabric.setup;

		scenario_draw(&s, FIRST_SEED + seed);
		for (uint32_t i = 0; i < t->n_ports && !s.controlled && !s.paired && !s.jobbed; i++)
			if (t->ports[i].peer != SIM_NONE)
				assert_port_whole(&s, i);
		assert_whole(&s, t->sw.routing);
		assert_whole(&s, t->sw.arbitration);
		assert_whole(&s, s.horizon);
		for (uint32_t i = 0; i < t->n_faults; i++)
			assert_whole(&s, t->faults[i].time);
		for (uint32_t i = 0; i < t->n_changes; i++)
			assert_whole(&s, t->changes[i].time);
		for (size_t i = 0; i < s.n_arrivals && !s.paired && !s.jobbed && s.asks.n == 0; i++)
			assert_whole(&s, s.arrivals[i].time);
		scenario_clear(&s);
	}
}

/* Exact values do not depend on how often they are read. */
static void half_a_tick_changes_nothing(void **state)
{
	unsigned n = 0;

	(void)state;
	for (uint64_t seed = FIRST_SEED; n < (run_is_long() ? 300 : 20); seed++) {
		struct scenario s;
		struct oracle_case c;
		struct oracle_stats stats;
		struct sim_record whole, half;

		scenario_draw(&s, seed);
		c = scenario_case(&s);
		if (s.tick % 2 == 0 && !s.controlled && !s.paired && !s.jobbed) {
			oracle_run(&c, ORACLE_TRUE, &whole, &stats);
			c.tick /= 2;
			oracle_run(&c, ORACLE_TRUE, &half, &stats);
			assert_false(records_differ(&whole, &half, c.setup->n_ports, NULL));
			oracle_record_fini(&whole);
			oracle_record_fini(&half);
			n++;
		}
		scenario_clear(&s);
	}
}

/* Whether the record is the same if one looks at other instants. */
static void assert_same(const struct scenario *s, hd_time tick, bool jumps)
{
	struct oracle_case c = scenario_case(s);
	struct oracle_stats stats;
	struct sim_record one, other;
	struct strbuf why = STRBUF_INIT;

	oracle_run(&c, ORACLE_TRUE, &one, &stats);
	c.tick = tick;
	c.jumps = jumps;
	oracle_run(&c, ORACLE_TRUE, &other, &stats);
	if (records_differ(&one, &other, c.setup->n_ports, &why))
		fail_msg("seed 0x%llx: %s", (unsigned long long)s->seed, why.text);
	strbuf_fini(&why);
	oracle_record_fini(&one);
	oracle_record_fini(&other);
}

/* Without control: from what is due to what is due, as tick by tick. */
static void jumps_miss_nothing(void **state)
{
	unsigned n = run_is_long() ? 400 : 40;

	(void)state;
	for (uint64_t i = 0; i < n; i++) {
		struct scenario s;

		scenario_draw(&s, FIRST_SEED + i);
		if (!s.controlled && !s.paired && !s.jobbed)
			assert_same(&s, 0, true);
		scenario_clear(&s);
	}
}

/* Events in the oracle's run of a scenario. */
struct seen {
	const struct oracle_stats *stats;
	const struct sim_setup *setup;
	const struct oracle_jobs *jobs;
	const struct sim_record *record;
};

static void tally(void (*draw)(struct scenario *s, uint64_t seed), unsigned n,
		  void (*add)(void *tally, const struct seen *x), void *t)
{
	for (uint64_t i = 0; i < n; i++) {
		struct scenario s;
		struct oracle_stats stats;
		struct sim_record r;

		draw(&s, FIRST_SEED + i);
		const struct oracle_case c = scenario_case(&s);

		oracle_run(&c, ORACLE_TRUE, &r, &stats);
		add(t, &(struct seen){ &stats, c.setup, &s.jobs, &r });
		oracle_record_fini(&r);
		scenario_clear(&s);
	}
}

/* With it: every single picosecond, or many instants between. */
static void throttles_do_not_depend_on_the_polling_rate(void **state)
{
	unsigned n = run_is_long() ? 400 : 12;

	(void)state;
	for (uint64_t i = 0; i < n; i++) {
		struct scenario s;

		scenario_draw_controlled(&s, FIRST_SEED + i);
		if (s.tick == 1)
			assert_same(&s, 1, false);
		else
			assert_same(&s, s.tick - 6, true);
		scenario_clear(&s);
	}
}

struct tally {
	unsigned scenarios, queued, stalled, wrapped;
	unsigned expired, unread, lost_updates, counters, copies, full;
	unsigned routed, changed, rerouted, retried, refused, early;
	unsigned saturated;
	unsigned fates[SIM_FATES];
};

static void tally_add(void *tally, const struct seen *x)
{
	struct tally *t = tally;
	const struct oracle_stats *s = x->stats;
	const struct sim_record *r = x->record;
	bool seen[SIM_FATES] = { false };

	t->scenarios++;
	t->queued += s->queued > 0;
	t->stalled += s->credit_stalls > 0;
	t->wrapped += s->table_wraps > 0;
	t->expired += s->limit_expired > 0;
	t->unread += s->reader_stalls > 0;
	t->lost_updates += s->updates_lost > 0;
	t->counters += s->counter_wraps > 0;
	t->copies += s->multicast > 0;
	t->full += s->full_crossbars > 0;
	t->routed += s->routed > 0;
	t->changed += s->table_changes > 0;
	t->rerouted += s->rerouted > 0;
	t->retried += s->retries > 0;
	t->refused += s->refused > 0;
	t->early += s->early > 0;
	t->saturated += s->saturated > 0;
	for (size_t i = 0; i < r->n_events; i++)
		seen[r->events[i].fate] = true;
	for (int i = 0; i < SIM_FATES; i++)
		t->fates[i] += seen[i];
}

/* Number of scenarios with congestion control that contain each case. */
struct control_tally {
	unsigned turns, held, windows, full, marks, answers, echoes;
	unsigned timers, timeouts, cioq, fifo, exact, lost;
	unsigned asked, admitted, rejected, managed;
};

static void control_tally_add(void *tally, const struct seen *x)
{
	struct control_tally *t = tally;
	const struct oracle_stats *s = x->stats;
	const struct sim_setup *setup = x->setup;
	const struct sim_record *r = x->record;
	bool lost = false;

	t->turns += s->sender_turns > 0;
	t->held += s->held_back > 0;
	t->windows += s->full_windows > 0;
	t->full += s->full_inputs > 0;
	t->marks += s->marks > 0;
	t->answers += s->answers > 0;
	t->echoes += s->echoes > 0;
	t->timers += s->rate_timers > 0;
	t->timeouts += s->timeouts > 0;
	t->asked += s->probes > 0;
	t->admitted += s->admitted > 0;
	t->rejected += s->rejected > 0;
	t->managed += s->settings > 0;
	if (s->echoes > 0) {
		t->cioq += setup->sw.queueing == SIM_CIOQ;
		t->fifo += setup->sw.order == SIM_FIFO;
		t->exact += setup->credits == SIM_CREDITS_EXACT;
	}
	for (size_t i = 0; i < r->n_events; i++)
		lost |= r->events[i].kind != SIM_DATA && r->events[i].fate != SIM_DELIVERED;
	t->lost += lost;
}

static void marks_are_made_heard_and_lost(void **state)
{
	unsigned n = run_is_long() ? 2000 : 100;
	struct control_tally t = { 0 };

	(void)state;
	tally(scenario_draw_controlled, n, control_tally_add, &t);
	print_message("%u scenarios: senders take turns in %u, throttles hold"
		      " back in %u, windows in %u, inputs fill in %u, switches"
		      " mark in %u, destinations send answers in %u and lose"
		      " some in %u, sources hear marks in %u (%u cioq, %u fifo,"
		      " %u exact), timers strike in %u, timeouts in %u; flows ask in"
		      " %u, are admitted in %u, rejected in %u; settings change in"
		      " %u\n",
		      n, t.turns, t.held, t.windows, t.full, t.marks, t.answers, t.lost, t.echoes,
		      t.cioq, t.fifo, t.exact, t.timers, t.timeouts, t.asked, t.admitted,
		      t.rejected, t.managed);
	assert_true(2 * t.held >= n && 2 * t.windows >= n);
	assert_true(2 * t.marks >= n && 2 * t.echoes >= n);
	assert_true(3 * t.turns >= n && 3 * t.full >= n);
	assert_true(3 * t.answers >= n && 10 * t.lost >= n);
	assert_true(8 * t.cioq >= n && 5 * t.fifo >= n && 5 * t.exact >= n);
	assert_true(30 * t.timers >= n && 10 * t.timeouts >= n);
	assert_true(t.admitted > 0 && t.rejected > 0 && 10 * t.managed >= n);
}

/* Number of scenarios with adaptive routing that contain each case. */
struct choice_tally {
	unsigned choices, detours, avoided, kept, down, cioq, exact;
	unsigned told, noticed, around, overloaded;
	unsigned by[3], per[3];
};

static void choice_tally_add(void *tally, const struct seen *x)
{
	struct choice_tally *t = tally;
	const struct oracle_stats *s = x->stats;
	const struct sim_setup *setup = x->setup;

	t->choices += s->choices > 0;
	t->avoided += s->avoided > 0;
	t->kept += s->kept_ports > 0;
	t->told += s->notices > 0;
	t->noticed += s->noticed > 0;
	t->around += s->around > 0;
	t->overloaded += s->overloaded > 0;
	if (s->detours == 0)
		return;
	t->detours++;
	t->by[setup->adaptive->choice]++;
	t->per[setup->adaptive->per]++;
	t->down += setup->n_faults > 0;
	t->cioq += setup->sw.queueing == SIM_CIOQ;
	t->exact += setup->credits == SIM_CREDITS_EXACT;
}

static void switches_choose_other_ports(void **state)
{
	unsigned n = run_is_long() ? 2000 : 60;
	struct choice_tally t = { 0 };

	(void)state;
	tally(scenario_draw_adaptive, n, choice_tally_add, &t);
	print_message("%u scenarios: switches have choices in %u, take another"
		      " port than the first in %u (%u by load, %u at random, %u"
		      " in turn; %u per packet, %u flow, %u flowlet; %u with"
		      " faults, %u cioq, %u exact), find it busy in %u, flows"
		      " keep to theirs in %u, neighbours are notified in"
		      " %u and go another way in %u\n",
		      n, t.choices, t.detours, t.by[SIM_AR_LOAD], t.by[SIM_AR_RANDOM],
		      t.by[SIM_AR_TURNS], t.per[SIM_AR_PACKET], t.per[SIM_AR_FLOW],
		      t.per[SIM_AR_FLOWLET], t.down, t.cioq, t.exact, t.avoided, t.kept, t.told,
		      t.noticed);
	assert_true(2 * t.choices >= n && 3 * t.detours >= n);
	assert_true(10 * t.avoided >= n && 8 * t.kept >= n);
	assert_true(t.told > 0 && t.noticed > 0);
	for (int i = 0; i < 3; i++)
		assert_true(20 * t.by[i] >= n && 20 * t.per[i] >= n);
	assert_true(10 * t.down >= n && 20 * t.cioq >= n && 20 * t.exact >= n);
}

static void packets_go_around(void **state)
{
	unsigned n = run_is_long() ? 1000 : 40;
	struct choice_tally t = { 0 };

	(void)state;
	tally(scenario_draw_around, n, choice_tally_add, &t);
	print_message(
		"%u dragonflies: ways around are taken in %u, for the load in %u; neighbours are notified in %u\n",
		n, t.around, t.overloaded, t.told);
	assert_true(3 * t.around >= n && 8 * t.overloaded >= n);
	assert_true(10 * t.told >= n);
}

/* Number of scenarios with jobs that contain each case. */
struct job_tally {
	unsigned jobs, done, lines, waiting, gaps, announced, repeated;
	unsigned graphs, storage, stores;
	unsigned spread, reduced, paired;
};

static void job_tally_add(void *tally, const struct seen *x)
{
	struct job_tally *t = tally;
	const struct oracle_stats *s = x->stats;
	const struct oracle_jobs *jobs = x->jobs;
	const struct sim_record *r = x->record;

	t->lines += s->cpu_lines > 0;
	t->waiting += s->unexpected > 0;
	t->gaps += s->gaps > 0;
	t->announced += s->cleared > 0;
	t->spread += s->spreads > 0;
	t->reduced += s->results > 0;
	t->paired += s->sends > 0;
	for (uint32_t i = 0; i < jobs->n; i++) {
		const struct oracle_job *j = &jobs->list[i];

		t->jobs++;
		t->graphs += j->graphs != NULL;
		t->repeated += j->repeat > 1;
		unsigned stores = 0;

		for (uint32_t k = 0; k < j->n_steps; k++)
			stores += j->steps[k].kind == STEP_READ || j->steps[k].kind == STEP_WRITE;
		t->storage += stores;
		t->stores += stores > 1;
	}
	for (size_t i = 0; i < r->n_events; i++)
		t->done += r->events[i].flow >= oracle_job_flow(0);
}

static void jobs_compute_wait_and_come_to_an_end(void **state)
{
	unsigned n = run_is_long() ? 1000 : 40;
	struct job_tally t = { 0 };

	(void)state;
	tally(scenario_draw_jobbed, n, job_tally_add, &t);
	print_message("%u scenarios with %u jobs: %u from graphs, %u repeat, %u"
		      " come to an end; CPUs have lines in %u, messages wait"
		      " for receives in %u and for the gap in %u, are announced"
		      " in %u, go to many in %u and over queue pairs in %u;"
		      " switches reduce in %u; %u steps store, %u jobs have"
		      " several\n",
		      n, t.jobs, t.graphs, t.repeated, t.done, t.lines, t.waiting, t.gaps,
		      t.announced, t.spread, t.paired, t.reduced, t.storage, t.stores);
	assert_true(t.jobs >= n && 5 * t.done >= t.jobs);
	assert_true(4 * t.graphs >= t.jobs && 4 * t.repeated >= t.jobs);
	assert_true(4 * t.lines >= n && 4 * t.waiting >= n);
	assert_true(5 * t.gaps >= n && 5 * t.announced >= n);
	assert_true(10 * t.storage >= n && t.stores > 0);
	assert_true(t.spread > 0 && t.reduced > 0);
	assert_true(5 * t.paired >= n);
}

static void queueing_stalls_and_wraps_are_in_half_of_the_scenarios(void **state)
{
	unsigned n = run_is_long() ? 2000 : 50;
	struct tally t = { 0 };

	(void)state;
	tally(scenario_draw, n, tally_add, &t);
	print_message("%u scenarios: %u queue, %u stall, %u wrap a table, %u"
		      " expire a limit, %u miss a reader, %u lose updates, %u"
		      " wrap a counter, %u copy, %u fill an output, %u cross"
		      " routers, %u change tables, %u reroute, %u send again, %u"
		      " refuse foreign partitions at end ports, %u keep requests"
		      " before their turn, %u saturate\n",
		      n, t.queued, t.stalled, t.wrapped, t.expired, t.unread, t.lost_updates,
		      t.counters, t.copies, t.full, t.routed, t.changed, t.rerouted, t.retried,
		      t.refused, t.early, t.saturated);
	assert_true(2 * t.queued >= n);
	assert_true(2 * t.stalled >= n);
	assert_true(2 * t.wrapped >= n);
	/* No other case is so rare that it is not tested. */
	assert_true(t.expired >= n / 20 && t.unread >= n / 20);
	assert_true(t.lost_updates >= n / 20 && t.copies >= n / 20);
	assert_true(t.full >= n / 20 && t.counters >= n / 50);
	assert_true(t.routed >= n / 25 && t.changed >= n / 20);
	assert_true(t.rerouted >= n / 20 && t.retried >= n / 20);
	assert_true(t.refused >= n / 20 && t.early > 0);
	assert_true(t.saturated >= n / 20);
	assert_true(t.fates[SIM_LOST_HOPS] >= n / 100);
	for (int i = 0; i < SIM_LOST_HOPS; i++)
		assert_true(t.fates[i] >= n / 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_seed_determines_everything),
		cmocka_unit_test(every_duration_is_a_whole_number_of_ticks),
		cmocka_unit_test(half_a_tick_changes_nothing),
		cmocka_unit_test(jumps_miss_nothing),
		cmocka_unit_test(throttles_do_not_depend_on_the_polling_rate),
		cmocka_unit_test(queueing_stalls_and_wraps_are_in_half_of_the_scenarios),
		cmocka_unit_test(marks_are_made_heard_and_lost),
		cmocka_unit_test(switches_choose_other_ports),
		cmocka_unit_test(packets_go_around),
		cmocka_unit_test(jobs_compute_wait_and_come_to_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
