/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TESTS_ORACLE_H
#define HD_TESTS_ORACLE_H

/*
 * The fabric model of docs/model.md a second time: slow, plain, and written
 * without knowledge of the engine, with which it shares nothing but the structs
 * of its input and output.
 *
 * There is no event queue. Time advances tick by tick; at each tick every
 * node goes through the phases of T2 by looking at what is there. This is
 * exact if every duration, arrival and fault falls on a whole tick, which is
 * the caller's duty (scenario_draw takes care of it).
 */

#include "sim/record.h"

/*
 * One rule told wrong on purpose. If a set of scenarios is worth something,
 * each of these shows in it. (Two wrongs that cannot show: output space that
 * is set aside at x1, since the crossbar's output is busy until then; and an
 * ABR that updates do not correct, since only a link that goes down loses
 * packets before they arrive, and that starts anew.)
 */
enum oracle_mutation {
	ORACLE_TRUE,
	MUT_POINTER_MOVES_WITHOUT_GRANT, /* T7 */
	MUT_POINTER_PER_OUTPUT_ONLY,     /* T7: not per VL */
	MUT_OLDEST_BY_HEAD,              /* T7: by h instead of ready */
	MUT_CHOICE_BEFORE_CREDITS,       /* T7: choose, then see if it fits */
	MUT_NO_UNDERRUN_RULE,            /* T6 */
	MUT_FIRST_AT_GRANT,              /* T6: fifo, at the grant before it */
	MUT_READER_NOT_HELD,             /* T8 */
	MUT_COPIES_DO_NOT_JOIN,          /* T8 */
	MUT_OUTPUTS_BY_NUMBER,           /* T8 */
	MUT_X1_WITHOUT_MAX,              /* T9 */
	MUT_LINK_READY_AT_X1,            /* T9 */
	MUT_CROSSBAR_FROM_VL0,           /* T9: lowest VL first */
	MUT_OUTPUT_SPACE_AT_GRANT,       /* T9: free at g_link */
	MUT_LEFT_CARRIED_OVER,           /* T10 */
	MUT_LEFT_NOT_NEEDED,             /* T10: entry kept at left <= 0 */
	MUT_POSITION_BEFORE_NEXT,        /* T10: the position itself first */
	MUT_ONE_VL_USES_TABLES,          /* T10 */
	MUT_LIMIT_PASSED_NOT_REACHED,    /* T11: > instead of >= */
	MUT_HI_GROWS_WHEN_EXPIRED,       /* T11 */
	MUT_HI_KEPT_BY_LOW,              /* T11 */
	MUT_CREDIT_EARLY,                /* T5: by one tick */
	MUT_UPDATES_FROM_VL0,            /* T5 */
	MUT_UPDATE_AFTER_DATA,           /* T5 */
	MUT_UPDATE_TAKES_NO_TIME,        /* T5 */
	MUT_NO_TIMER,                    /* T5 */
	MUT_SLOT_FREED_BY_FIRST_COPY,    /* T12 */
	MUT_MULTICAST_GOES_BACK,         /* T12 */
	MUT_WAIT_NEEDS_CREDITS,          /* T14 */
	MUT_DROPPED_FREED_AT_HEAD,       /* A3 */
	MUT_VL15_SEES_FREED_SPACE,       /* A4 */
	MUT_DOWN_SPARES_THE_HEAD,        /* F3: h > t instead of h >= t */
	MUT_UP_KEEPS_CREDITS,            /* F3 */
	MUT_DOWN_KEEPS_QUEUES,           /* F4 */
	MUT_HOQ_FROM_READY,              /* F5: first does not matter */
	MUT_HOQ_AFTER_GRANTS,            /* F5: a grant at that instant wins */
	MUT_DISCARD_FREES_AT_ONCE,       /* F6 */
	MUT_STUCK_FREES_SPACE,           /* F7 */
	MUT_CHANGE_REWINDS,              /* T11c: to position 0 */
	MUT_CHANGE_KEEPS_LEFT,           /* T11c: not cut */
	MUT_CHANGE_FILLS_LEFT,           /* T11c: the whole new weight */
	MUT_CHANGE_FORGETS_HI,           /* T11c */
	MUT_CHANGE_AFTER_GRANTS,         /* T11c */
	MUT_HOPS_DOWN_TO_ZERO,           /* R3: dropped with H = 0 only */
	MUT_HOPS_NOT_COUNTED,            /* R3 */
	MUT_ROUTER_KEEPS_SL,             /* R4 */
	MUT_ROUTER_LAST_OF_EQUALS,       /* R4: the highest number */
	MUT_MARKS_WHAT_IS_MARKED,        /* R4m */
	MUT_EVERY_ROUTER_MARKS,          /* R4m: not only the first */
	MUT_MARKED_TOO_LATE,             /* R4m: after R4 has looked at c */
	ORACLE_MUTATIONS
};

const char *oracle_mutation_name(enum oracle_mutation m);

/* How much of the model a run has touched. */
struct oracle_stats {
	uint64_t delivered;
	uint64_t queued;         /* grants later than the packet was ready */
	uint64_t credit_stalls;  /* port-ticks: ready, link idle, no credit */
	uint64_t table_wraps;    /* an arbitration table passed its end */
	uint64_t limit_expired;  /* low went although high was usable */
	uint64_t reader_stalls;  /* ready and fitting, but no reader */
	uint64_t updates_lost;   /* F2 */
	uint64_t counter_wraps;  /* FCTBS passed 4096 */
	uint64_t multicast;      /* copies beyond the first */
	uint64_t full_crossbars; /* output buffer had no room */
	uint64_t routed;         /* forwarded by routers */
	uint64_t table_changes;  /* T11c */
	uint64_t stuck_packets;  /* still in the fabric at the horizon */
};

struct oracle_case {
	const struct sim_setup *setup;
	const struct sim_arrival *arrivals;
	size_t n_arrivals;
	hd_time horizon;
	hd_time tick;
};

/* Runs with one rule mutated, or none. The record is the caller's. */
void oracle_run(const struct oracle_case *c, enum oracle_mutation mutation,
		struct sim_record *out, struct oracle_stats *stats);

/* The engine's sim_replay, with the length of a tick. */
void oracle_replay(const struct sim_setup *setup,
		   const struct sim_arrival *arrivals, size_t n_arrivals,
		   hd_time horizon, hd_time tick, struct sim_record *out);

void oracle_record_fini(struct sim_record *record);

#endif
