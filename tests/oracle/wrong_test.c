/* SPDX-License-Identifier: BSD-2-Clause */
/* Random scenarios detect each single wrong rule. HD_LONG=1 prints how often each is detected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/seeds_for_tests.h"
#include "compare.h"

#define FIRST_SEED UINT64_C(0x5eed0000)
#define MOST       800 /* scenarios; some rules have an effect in one of two hundred */

/* A simulator with one wrong rule as the tested one. */
static hd_time mutant_replay(const struct oracle_case *c, void *context, struct sim_record *out)
{
	const enum oracle_mutation *m = context;
	struct oracle_stats stats;

	oracle_run(c, *m, out, &stats);
	return c->horizon;
}

/* Wrong rules [first, end), and the scenarios that can detect them. */
static const struct kind {
	void (*draw)(struct scenario *s, uint64_t seed);
	int first, end;
} kinds[] = {
	{ scenario_draw_unpaired, ORACLE_TRUE + 1, ORACLE_FIRST_OF_ROUTERS },
	{ scenario_draw_routed, ORACLE_FIRST_OF_ROUTERS, ORACLE_FIRST_OF_CONTROL },
	{ scenario_draw_controlled, ORACLE_FIRST_OF_CONTROL, ORACLE_FIRST_OF_PAIRS },
	{ scenario_draw_paired, ORACLE_FIRST_OF_PAIRS, ORACLE_FIRST_OF_EARLY },
	{ scenario_draw_spread, ORACLE_FIRST_OF_EARLY, ORACLE_FIRST_OF_CHOICES },
	{ scenario_draw_adaptive, ORACLE_FIRST_OF_CHOICES, ORACLE_FIRST_OF_AROUND },
	{ scenario_draw_around, ORACLE_FIRST_OF_AROUND, ORACLE_FIRST_OF_JOBS },
	{ scenario_draw_jobbed, ORACLE_FIRST_OF_JOBS, ORACLE_FIRST_OF_SHARING },
	{ scenario_draw_sharing, ORACLE_FIRST_OF_SHARING, ORACLE_FIRST_OF_MADS },
	{ scenario_draw_managed, ORACLE_FIRST_OF_MADS, ORACLE_MUTATIONS },
};

/*
 * The search takes long, so this is the first detecting scenario per wrong rule. HD_LONG=1 searches
 * again.
 */
static const uint16_t known[ORACLE_MUTATIONS] = {
	[MUT_POINTER_MOVES_WITHOUT_GRANT] = 17,
	[MUT_POINTER_PER_OUTPUT_ONLY] = 5,
	[MUT_OLDEST_BY_HEAD] = 42,
	[MUT_CHOICE_BEFORE_CREDITS] = 7,
	[MUT_NO_UNDERRUN_RULE] = 2,
	[MUT_FIRST_AT_GRANT] = 2,
	[MUT_READER_NOT_HELD] = 5,
	[MUT_COPIES_DO_NOT_JOIN] = 8,
	[MUT_OUTPUTS_BY_NUMBER] = 21,
	[MUT_X1_WITHOUT_MAX] = 1,
	[MUT_LINK_READY_AT_X1] = 0,
	[MUT_CROSSBAR_FROM_VL0] = 5,
	[MUT_OUTPUT_SPACE_AT_GRANT] = 5,
	[MUT_LEFT_CARRIED_OVER] = 31,
	[MUT_LEFT_NOT_NEEDED] = 0,
	[MUT_POSITION_BEFORE_NEXT] = 0,
	[MUT_ONE_VL_USES_TABLES] = 2,
	[MUT_LIMIT_PASSED_NOT_REACHED] = 21,
	[MUT_HI_GROWS_WHEN_EXPIRED] = 54,
	[MUT_HI_KEPT_BY_LOW] = 0,
	[MUT_CREDIT_EARLY] = 1,
	[MUT_UPDATES_FROM_VL0] = 11,
	[MUT_UPDATE_AFTER_DATA] = 0,
	[MUT_UPDATE_TAKES_NO_TIME] = 0,
	[MUT_NO_TIMER] = 2,
	[MUT_SLOT_FREED_BY_FIRST_COPY] = 21,
	[MUT_MULTICAST_GOES_BACK] = 7,
	[MUT_WAIT_NEEDS_CREDITS] = 1,
	[MUT_END_TAKES_ANY_KEY] = 0,
	[MUT_END_TAKES_AS_INPUT] = 0,
	[MUT_END_ASKS_VL15] = 139,
	[MUT_END_ALWAYS_ASKS] = 1,
	[MUT_END_ASKS_BEFORE_ERRORS] = 35,
	[MUT_REFUSED_AT_TAIL] = 0,
	[MUT_STUCK_HOLDS_REFUSED] = 0,
	[MUT_DROPPED_FREED_AT_HEAD] = 2,
	[MUT_VL15_SEES_FREED_SPACE] = 28,
	[MUT_DOWN_SPARES_THE_HEAD] = 2,
	[MUT_UP_KEEPS_CREDITS] = 2,
	[MUT_DOWN_KEEPS_QUEUES] = 2,
	[MUT_HOQ_FROM_READY] = 1,
	[MUT_HOQ_AFTER_GRANTS] = 1,
	[MUT_DISCARD_FREES_AT_ONCE] = 35,
	[MUT_STUCK_FREES_SPACE] = 0,
	[MUT_CHANGE_REWINDS] = 174,
	[MUT_CHANGE_KEEPS_LEFT] = 119,
	[MUT_CHANGE_FILLS_LEFT] = 174,
	[MUT_CHANGE_FORGETS_HI] = 110,
	[MUT_CHANGE_AFTER_GRANTS] = 7,
	[MUT_ROUTES_STAY] = 5,
	[MUT_GROUPS_STAY] = 28,
	[MUT_ROUTED_BEFORE_ARRIVAL] = 5,
	[MUT_VLS_STAY] = 25,
	[MUT_OPERATION_STAYS] = 206,
	[MUT_KEYS_STAY] = 18,
	[MUT_VLS_BEFORE_ARRIVAL] = 25,
	[MUT_LOST_VL_WAITS] = 165,
	[MUT_TIMER_OF_OLD_VLS] = 206,
	[MUT_SATURATED_BY_FLOW] = 82,
	[MUT_HOPS_DOWN_TO_ZERO] = 15,
	[MUT_HOPS_NOT_COUNTED] = 15,
	[MUT_ROUTER_KEEPS_SL] = 1,
	[MUT_ROUTER_LAST_OF_EQUALS] = 7,
	[MUT_MARKS_WHAT_IS_MARKED] = 1,
	[MUT_EVERY_ROUTER_MARKS] = 125,
	[MUT_MARKED_TOO_LATE] = 9,
	[MUT_ROUTER_TAKES_ANY_KEY] = 6,
	[MUT_ROUTER_GIVES_ANY_KEY] = 39,
	[MUT_ROUTER_TAKES_AS_OUTPUT] = 31,
	[MUT_ROUTER_ASKS_HOPS_FIRST] = 132,
	[MUT_SENDER_POINTER_MOVES] = 0,
	[MUT_SENDER_POINTER_PER_PORT] = 0,
	[MUT_SENDER_BEFORE_CREDITS] = 2,
	[MUT_SENDER_0_FIRST] = 2,
	[MUT_HELD_BACK_BLOCKS] = 9,
	[MUT_HELD_BACK_WAITS] = 0,
	[MUT_FLOWS_FROM_LOWEST] = 9,
	[MUT_GAP_FROM_GENERATION] = 0,
	[MUT_GAP_ALWAYS_FIXED] = 3,
	[MUT_GAP_NEVER_FIXED] = 9,
	[MUT_GAP_OF_NEXT_PACKET] = 15,
	[MUT_WINDOW_ONE_MORE] = 0,
	[MUT_WINDOW_PER_THROTTLE] = 9,
	[MUT_WAITS_FROM_HEAD] = 1,
	[MUT_WAITS_UNTIL_GRANT] = 0,
	[MUT_DISCARDED_WAITS_ON] = 126,
	[MUT_LEAVES_BEFORE_ARRIVALS] = 24,
	[MUT_FILL_FROM_GRANT] = 7,
	[MUT_FULL_WITHOUT_ANOTHER] = 3,
	[MUT_FULL_FOR_ITSELF] = 7,
	[MUT_MARK_AT_ARRIVAL] = 1,
	[MUT_CREDITS_WITHOUT_ITS_OWN] = 33,
	[MUT_CREDITS_FOR_ONE] = 4,
	[MUT_SINK_NEEDS_CREDITS] = 4,
	[MUT_CAPACITY_BEYOND] = 5,
	[MUT_MARKED_NOT_ASKED] = 3,
	[MUT_ANSWERS_ARE_MARKED] = 3,
	[MUT_CNP_AFTER_ACK] = 2,
	[MUT_ACK_REPEATS_CNP] = 2,
	[MUT_ANSWERS_AFTER_SOURCES] = 87,
	[MUT_ANSWERS_ON_SL0] = 1,
	[MUT_ANSWERS_KEEP_KEY] = 158,
	[MUT_HEARD_ON_DELIVERY] = 0,
	[MUT_ANSWERS_BY_TAIL] = 125,
	[MUT_WRONG_HOST_HEARS] = 48,
	[MUT_CNP_ACKNOWLEDGES] = 38,
	[MUT_MARKED_ACK_IGNORED] = 3,
	[MUT_ACKS_NOT_CUMULATIVE] = 1,
	[MUT_TIMEOUT_FROM_FIRST] = 1,
	[MUT_TIMEOUT_FROM_GRANT] = 9,
	[MUT_TIMEOUT_FORGETS_ONE] = 1,
	[MUT_SETTINGS_KEEP_MARKS] = 4,
	[MUT_SETTINGS_KEEP_RATES] = 17,
	[MUT_SETTINGS_BEGIN_ANEW] = 17,
	[MUT_SETTINGS_STOP_TIMERS] = 167,
	[MUT_SETTINGS_SPARE_HELD] = 17,
	[MUT_SETTINGS_MOVE_FIXED] = 33,
	[MUT_SHARE_MAY_BE_REACHED] = 164,
	[MUT_SHARES_ARE_ONE] = 164,
	[MUT_RATE_NOT_ASKED] = 142,
	[MUT_REJECT_KEEPS_PROMISES] = 31,
	[MUT_ACCEPT_GOES_BACK] = 31,
	[MUT_LAST_FREES_ALL] = 6021,
	[MUT_PROBES_ON_VL15] = 3,
	[MUT_ADMISSION_KEEPS_KEY] = 653,
	[MUT_STAGING_ENDLESS] = 26,
	[MUT_LINE_NOT_IN_TURN] = 60,
	[MUT_TIMERS_BEFORE_DELIVERIES] = 57,
	[MUT_ONE_MESSAGE_MORE] = 5,
	[MUT_ASKS_AT_THE_END_ONLY] = 1,
	[MUT_ASKS_COUNTED_ANEW] = 26,
	[MUT_TIMER_FROM_FIRST_PACKET] = 13,
	[MUT_TIMER_NOT_RESTARTED] = 1,
	[MUT_TIMER_RUNS_ON_BACK] = 13,
	[MUT_NAK_ONLY_ACKNOWLEDGES] = 1,
	[MUT_ONE_RETRY_MORE] = 1,
	[MUT_NAK_FOR_EACH] = 1,
	[MUT_DUPLICATES_UNANSWERED] = 1,
	[MUT_DUPLICATES_ALL_ANSWERED] = 1,
	[MUT_PAIRS_KEEP_KEY] = 64,
	[MUT_WRONG_HOST_TAKES] = 41,
	[MUT_ACK_KEEPS_NUMBER] = 245,
	[MUT_BECN_STAYS] = 28,
	[MUT_BECN_OF_TAKEN_ONLY] = 28,
	[MUT_CNP_FOR_RC] = 11,
	[MUT_FREE_SLS_ECHO] = 34,
	[MUT_PAIR_CNP_LONG] = 25,
	[MUT_PACE_FROM_TAKING] = 0,
	[MUT_PACE_FIRST_FREE] = 7,
	[MUT_PACE_HOLDS_AT_FULL_RATE] = 43,
	[MUT_PACE_OF_FULL_PACKETS] = 0,
	[MUT_PACE_OF_EACH] = 93,
	[MUT_PACE_BY_NUMBER] = 93,
	[MUT_PACE_PLACE_LOST] = 93,
	[MUT_FREE_SLS_PACED] = 0,
	[MUT_PACE_BY_PROGRESS] = 314,
	[MUT_PACE_WAITS_FOR_DROPPED] = 171,
	[MUT_KEEPS_NOTHING] = 6,
	[MUT_KEEPS_ONE_MORE] = 6,
	[MUT_KEPT_IS_REFUSED] = 6,
	[MUT_KEPT_ASKS_AS_FIRST] = 150,
	[MUT_KEPT_NEVER_ASK] = 6,
	[MUT_ONE_KEPT_TAKEN] = 6,
	[MUT_EVERY_SL_CHOOSES] = 10,
	[MUT_CANDIDATES_WITHOUT_KEYS] = 1,
	[MUT_FIRST_AFTER_0] = 82,
	[MUT_FIRST_BY_LATE_TABLE] = 4876,
	[MUT_CHOOSES_AT_HEAD] = 38,
	[MUT_INPUTS_BACKWARDS] = 115,
	[MUT_VL_OF_FIRST] = 41,
	[MUT_VL_CHOSEN_LATE] = 161,
	[MUT_LOAD_FROM_HEAD] = 38,
	[MUT_LOAD_UNTIL_TAIL] = 50,
	[MUT_LOAD_UNTIL_CROSSBAR] = 129,
	[MUT_LOAD_OF_CHOOSERS] = 7,
	[MUT_ROUTED_AFTER_DISCARDS] = 3099,
	[MUT_DOWN_UNNOTICED] = 9,
	[MUT_DOWN_AT_ONCE] = 9,
	[MUT_HEAL_TO_THE_END] = 65,
	[MUT_NONE_LEFT_TAKES_FIRST] = 111,
	[MUT_HOME_IS_LOWEST] = 82,
	[MUT_EQUALS_FROM_0] = 45,
	[MUT_LAST_OF_SWITCH] = 21,
	[MUT_LEAST_ALWAYS] = 2,
	[MUT_THRESHOLD_REACHED] = 13,
	[MUT_NO_HYSTERESIS] = 129,
	[MUT_BUSY_PER_GROUP] = 110,
	[MUT_HOME_IS_NO_CHOICE] = 45,
	[MUT_ONE_IS_NOT_DRAWN] = 9,
	[MUT_FLOWS_OF_ANY_SOURCE] = 209,
	[MUT_FLOWS_OF_ANY_SL] = 41,
	[MUT_FLOW_STAYS_ANYHOW] = 21,
	[MUT_GAP_SINCE_CHOICE] = 21,
	[MUT_GAP_ENDS_EARLY] = 115,
	[MUT_NOTICE_FOR_ALL_TARGETS] = 1,
	[MUT_NOTICE_NEVER] = 6,
	[MUT_NOTICE_AT_ONCE] = 6,
	[MUT_NOTICE_WITHOUT_HEAL] = 6,
	[MUT_NOTICE_STAYS] = 11,
	[MUT_NOTICE_ENDS_AT_ONCE] = 11,
	[MUT_NOTICE_NEXT_ONLY] = 21,
	[MUT_NOTICE_OF_ANY_PORT] = 6,
	[MUT_AROUND_NEVER] = 8,
	[MUT_AROUND_WITHOUT_MARGIN] = 8,
	[MUT_AROUND_AT_MARGIN] = 8,
	[MUT_AROUND_BY_LOAD_ONLY] = 8,
	[MUT_AROUND_OF_ALL] = 252,
	[MUT_AROUND_MIXED] = 8,
	[MUT_AROUND_FROM_ANYWHERE] = 8,
	[MUT_AROUND_FROM_ENDS] = 45,
	[MUT_AROUND_NEEDS_MINIMAL] = 1,
	[MUT_AROUND_NOT_FIRST] = 491,
	[MUT_AROUND_HOME_IS_LOWEST] = 14,
	[MUT_AROUND_SHARES_LAST] = 771,
	[MUT_AROUND_ALONE] = 82,
	[MUT_AROUND_ENDS_FLOWS] = 56,
	[MUT_AROUND_IS_A_WAY] = 166,
	[MUT_AROUND_UNNOTICED] = 166,
	[MUT_JOBS_SHARE_SENDER] = 3,
	[MUT_START_AT_ONCE] = 3,
	[MUT_IREQUIRES_DONE] = 0,
	[MUT_REQUIRES_STARTED] = 0,
	[MUT_ONE_CPU] = 0,
	[MUT_RECEIVES_COST_NOTHING] = 0,
	[MUT_COST_OF_ROOM] = 22,
	[MUT_NOTHING_WAITS_FOR_CPU] = 3,
	[MUT_CPU_LAST_FIRST] = 1,
	[MUT_STARTED_IN_LINE] = 14,
	[MUT_HIGHEST_NUMBER_FIRST] = 0,
	[MUT_ENDS_BEFORE_DELIVERIES] = 113,
	[MUT_ANNOUNCED_WHEN_WHOLE] = 3,
	[MUT_LAST_RECEIVE_FIRST] = 4,
	[MUT_LAST_MESSAGE_FIRST] = 10,
	[MUT_TAGS_IGNORED] = 3,
	[MUT_ANY_IS_NONE] = 0,
	[MUT_LARGER_DOES_NOT_FIT] = 1,
	[MUT_ANY_HOST_TAKES] = 28,
	[MUT_LEFT_AT_GRANT] = 4,
	[MUT_NO_GAP] = 2,
	[MUT_GAP_OF_PACKETS] = 2,
	[MUT_EAGER_BELOW] = 5,
	[MUT_CLEARS_FIRST] = 20,
	[MUT_BODY_FIRST] = 3,
	[MUT_DONE_WHEN_ANNOUNCED] = 3,
	[MUT_CHANNELS_MIX] = 62,
	[MUT_ITERATIONS_WAIT] = 1,
	[MUT_SPREAD_WITHOUT_GRH] = 13,
	[MUT_READS_COST_NO_BYTES] = 24,
	[MUT_ANSWERED_AT_ONCE] = 118,
	[MUT_SERVER_HAS_NO_LINE] = 10,
	[MUT_SENDS_WITHOUT_IMMEDIATE] = 0,
	[MUT_PACE_OF_ADAPTER] = 198,
	[MUT_HANDED_OVER_IS_HEARD] = 198,
	[MUT_ROOT_HAS_LOWEST_NUMBER] = 91,
	[MUT_TRANSACTIONS_FROM_0] = 91,
	[MUT_GIVES_WITHOUT_CPU] = 16,
	[MUT_TAKEN_AT_HEAD] = 13,
	[MUT_ONE_CHILD_MISSING] = 13,
	[MUT_RESULT_AT_ONCE] = 13,
	[MUT_RESULTS_BY_PORT_1] = 45,
	[MUT_SOURCE_KEEPS_KEY] = 18,
	[MUT_SHARE_ABOVE_THRESHOLD] = 1,
	[MUT_SHARE_BY_VL0] = 6,
	[MUT_SHARE_HIGHEST] = 1,
	[MUT_SHARE_BUSY] = 5,
	[MUT_SHARE_NO_QUEUE] = 144,
	[MUT_SHARE_KEPT] = 1,
	[MUT_SHARE_FIRST_RETURNED] = 29,
	[MUT_SHARE_OWN_FIRST] = 7,
	[MUT_SHARE_USERS_CREDITS] = 1,
	[MUT_SHARE_HELD_BACK] = 33,
	[MUT_MAD_FREED_AT_TAIL] = 0,
	[MUT_MAD_OF_SWITCH_BY_LAST_INPUT] = 11,
	[MUT_MAD_OF_SWITCH_AT_ONCE] = 0,
};

/*
 * Adds to hits[] the wrong rules that one scenario detects: all of its kind, or those that
 * `is_asked` selects.
 */
static void notice(uint64_t seed, const struct kind *kind,
		   bool (*is_asked)(int m, uint64_t seed, const unsigned *hits), unsigned *hits)
{
	struct scenario s;
	struct oracle_case c;
	struct oracle_stats stats;
	struct sim_record truth;

	kind->draw(&s, seed);
	c = scenario_case(&s);
	oracle_run(&c, ORACLE_TRUE, &truth, &stats);
	for (int m = kind->first; m < kind->end; m++) {
		struct sim_record r;

		if (is_asked && !is_asked(m, seed, hits))
			continue;
		oracle_run(&c, (enum oracle_mutation)m, &r, &stats);
		hits[m] += records_differ(&truth, &r, c.setup->n_ports, NULL);
		oracle_record_fini(&r);
	}
	oracle_record_fini(&truth);
	scenario_clear(&s);
}

static bool is_known_by(int m, uint64_t seed, const unsigned *hits)
{
	(void)hits;
	return FIRST_SEED + known[m] == seed;
}

static bool is_unnoticed(int m, uint64_t seed, const unsigned *hits)
{
	(void)seed;
	return hits[m] == 0;
}

/* Runs each scenario once for all rules that it is known to detect. */
static void notice_known(const struct kind *kind, unsigned *hits)
{
	for (int m = kind->first; m < kind->end; m++) {
		int first = kind->first;

		while (known[first] != known[m])
			first++;
		if (first == m)
			notice(FIRST_SEED + known[m], kind, is_known_by, hits);
	}
}

static bool are_noticed(const struct kind *kind, const unsigned *hits)
{
	for (int m = kind->first; m < kind->end; m++) {
		if (hits[m] == 0)
			return false;
	}
	return true;
}

static void each_wrong_rule_is_detected(void **state)
{
	unsigned n = run_is_long() ? 300 : 0;
	unsigned hits[ORACLE_MUTATIONS] = { 0 };
	bool all = true;

	(void)state;
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		const struct kind *kind = &kinds[k];

		if (!run_is_long())
			notice_known(kind, hits);
		for (uint64_t i = 0; i < n || (n && i < MOST && !are_noticed(kind, hits)); i++)
			notice(FIRST_SEED + i, kind, i < n ? NULL : is_unnoticed, hits);
		all &= are_noticed(kind, hits);
	}
	for (int m = ORACLE_TRUE + 1; m < ORACLE_MUTATIONS; m++) {
		const char *name = oracle_mutation_name((enum oracle_mutation)m);

		if (run_is_long())
			print_message("%4u of %u notice %s\n", hits[m], n, name);
		if (hits[m] == 0)
			print_error("no scenario detects %s\n", name);
	}
	assert_true(all);
}

static void a_difference_shrinks_to_a_few_arrivals(void **state)
{
	static const enum oracle_mutation wrong[] = {
		MUT_SLOT_FREED_BY_FIRST_COPY,
		MUT_LEFT_CARRIED_OVER,
		MUT_DOWN_KEEPS_QUEUES,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		enum oracle_mutation m = wrong[i];
		struct subject mutant = { mutant_replay, &m };
		struct plan *p = calloc(1, sizeof(*p));
		struct scenario s;
		bool differs = false;

		assert_non_null(p);
		for (p->seed = FIRST_SEED; !differs; p->seed++) {
			plan_apply(p, &s);
			differs = compare_differs(&s, &mutant, NULL, NULL);
			scenario_clear(&s);
		}
		p->seed--;
		compare_shrink(p, &mutant);
		plan_apply(p, &s);
		assert_true(compare_differs(&s, &mutant, NULL, NULL));
		/* A table that wraps needs some; hundreds are drawn. */
		assert_in_range(s.n_arrivals, 1, 40);
		scenario_clear(&s);
		free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_wrong_rule_is_detected),
		cmocka_unit_test(a_difference_shrinks_to_a_few_arrivals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
