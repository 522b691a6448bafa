/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TESTS_ORACLE_H
#define HD_TESTS_ORACLE_H

/*
 * The fabric model of docs/timing-rules.md a second time: slow, plain, and written
 * without knowledge of the engine, with which it shares nothing but the structs
 * of its input and output.
 *
 * There is no event queue. Time advances tick by tick; at each tick every
 * node goes through the phases of T2 by looking at what is there. This is
 * exact if every duration, arrival and fault falls on a whole tick, which is
 * the caller's duty (scenario_draw takes care of it). Throttles (C2) keep to
 * no tick: for them time jumps to the least of all times that are stored
 * anywhere, which misses nothing either.
 */

#include "job.h"
#include "sim/metrics/record.h"

/*
 * One rule told wrong on purpose. If a set of scenarios is worth something,
 * each of these shows in it. (Wrongs that cannot show: output space that is
 * set aside at x1, since the crossbar's output is busy until then; an ABR that
 * updates do not correct, since only a link that goes down loses packets
 * before they arrive, and that restarts; a throttle without an algorithm
 * that keeps no gap, since its link is busy for as long; and timeouts that
 * strike before the acknowledgements of their instant, which decide alone.)
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
	MUT_END_TAKES_ANY_KEY,           /* A2 */
	MUT_END_TAKES_AS_INPUT,          /* A2: limited members meet */
	MUT_END_ASKS_VL15,               /* A2 */
	MUT_END_ALWAYS_ASKS,             /* A2: its table is not in force */
	MUT_END_ASKS_BEFORE_ERRORS,      /* A2: before F1 */
	MUT_REFUSED_AT_TAIL,             /* A2: not at h */
	MUT_STUCK_HOLDS_REFUSED,         /* A2: until its sink is free */
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
	MUT_ROUTES_STAY,                 /* T11r */
	MUT_GROUPS_STAY,                 /* T11r */
	MUT_ROUTED_BEFORE_ARRIVAL,       /* T11r: at the grant */
	MUT_VLS_STAY,                    /* T11l: SL2VL */
	MUT_OPERATION_STAYS,             /* T11l: VLs in operation */
	MUT_KEYS_STAY,                   /* T11l */
	MUT_VLS_BEFORE_ARRIVAL,          /* T11l: at the grant */
	MUT_LOST_VL_WAITS,               /* T11l: who waits there is not sent */
	MUT_TIMER_OF_OLD_VLS,            /* T11l: of the beginning */
	MUT_SATURATED_BY_FLOW,           /* T13: its phase does not matter */
	MUT_HOPS_DOWN_TO_ZERO,           /* R3: dropped with H = 0 only */
	MUT_HOPS_NOT_COUNTED,            /* R3 */
	MUT_ROUTER_KEEPS_SL,             /* R4 */
	MUT_ROUTER_LAST_OF_EQUALS,       /* R4: the highest number */
	MUT_MARKS_WHAT_IS_MARKED,        /* R4m */
	MUT_EVERY_ROUTER_MARKS,          /* R4m: not only the first */
	MUT_MARKED_TOO_LATE,             /* R4m: after R4 has looked at c */
	MUT_ROUTER_TAKES_ANY_KEY,        /* R2 */
	MUT_ROUTER_GIVES_ANY_KEY,        /* R2 */
	MUT_ROUTER_TAKES_AS_OUTPUT,      /* R2: no limited members */
	MUT_ROUTER_ASKS_HOPS_FIRST,      /* R2: its input after R3 */
	MUT_SENDER_POINTER_MOVES,        /* T13p: without a grant */
	MUT_SENDER_POINTER_PER_PORT,     /* T13p: not per VL */
	MUT_SENDER_BEFORE_CREDITS,       /* T13p: choose, then see if it fits */
	MUT_SENDER_0_FIRST,              /* T13p: always */
	MUT_HELD_BACK_BLOCKS,            /* T13p: its turn is waited for */
	MUT_HELD_BACK_WAITS,             /* T13p: counts XmitWait */
	MUT_FLOWS_FROM_LOWEST,           /* C2: the turn does not pass */
	MUT_GAP_FROM_GENERATION,         /* C2: not from the grant */
	MUT_GAP_ALWAYS_FIXED,            /* C2 */
	MUT_GAP_NEVER_FIXED,             /* C2 */
	MUT_GAP_OF_NEXT_PACKET,          /* C2: its D, not the last one's */
	MUT_WINDOW_ONE_MORE,             /* C2 */
	MUT_WINDOW_PER_THROTTLE,         /* C2: not per flow */
	MUT_WAITS_FROM_HEAD,             /* C3: from h, not h + r */
	MUT_WAITS_UNTIL_GRANT,           /* C3: until g, not g + D */
	MUT_DISCARDED_WAITS_ON,          /* C3: until its tail has come */
	MUT_LEAVES_BEFORE_ARRIVALS,      /* C3: (c) before (a) */
	MUT_FILL_FROM_GRANT,             /* C3: of the grant upstream */
	MUT_FULL_WITHOUT_ANOTHER,        /* C3: when nothing at all fits */
	MUT_FULL_FOR_ITSELF,             /* C3: only what has just come */
	MUT_MARK_AT_ARRIVAL,             /* C4: at h + r */
	MUT_CREDITS_WITHOUT_ITS_OWN,     /* C4: two in addition to this one */
	MUT_CREDITS_FOR_ONE,             /* C4: blk suffice */
	MUT_SINK_NEEDS_CREDITS,          /* C4: end ports are no exception */
	MUT_CAPACITY_BEYOND,             /* C4: of the buffer it goes to */
	MUT_MARKED_NOT_ASKED,            /* C4: if FECN is set already */
	MUT_ANSWERS_ARE_MARKED,          /* C4 */
	MUT_CNP_AFTER_ACK,               /* C5 */
	MUT_ACK_REPEATS_CNP,             /* C5: BECN in both */
	MUT_ANSWERS_AFTER_SOURCES,       /* C5: in phase 3 */
	MUT_ANSWERS_ON_SL0,              /* C5 */
	MUT_ANSWERS_KEEP_KEY,            /* C5: a limited one */
	MUT_HEARD_ON_DELIVERY,           /* C5: no ack_delay */
	MUT_ANSWERS_BY_TAIL,             /* T13: not by flow */
	MUT_WRONG_HOST_HEARS,            /* C6: and the source knows */
	MUT_CNP_ACKNOWLEDGES,            /* C6 */
	MUT_MARKED_ACK_IGNORED,          /* C6: acknowledges nothing */
	MUT_ACKS_NOT_CUMULATIVE,         /* C6: one packet each */
	MUT_TIMEOUT_FROM_FIRST,          /* C6: of several, not the last */
	MUT_TIMEOUT_FROM_GRANT,          /* C6: acknowledgements are nothing */
	MUT_TIMEOUT_FORGETS_ONE,         /* C6 */
	MUT_SETTINGS_KEEP_MARKS,         /* C9 */
	MUT_SETTINGS_KEEP_RATES,         /* C9 */
	MUT_SETTINGS_BEGIN_ANEW,         /* C9: rates, indices and timers */
	MUT_SETTINGS_STOP_TIMERS,        /* C9 */
	MUT_SETTINGS_SPARE_HELD,         /* C9: by the old table */
	MUT_SETTINGS_MOVE_FIXED,         /* C9, C2: gaps that are fixed */
	MUT_SHARE_MAY_BE_REACHED,        /* C8: <= instead of < */
	MUT_SHARES_ARE_ONE,              /* C8: of all SLs */
	MUT_RATE_NOT_ASKED,              /* C8: only the SL's share is */
	MUT_REJECT_KEEPS_PROMISES,       /* C8 */
	MUT_ACCEPT_GOES_BACK,            /* C8: by all devices */
	MUT_LAST_FREES_ALL,              /* C8: at its first grant */
	MUT_PROBES_ON_VL15,              /* C8 */
	MUT_ADMISSION_KEEPS_KEY,         /* C8: a limited one */
	MUT_STAGING_ENDLESS,             /* Q2 */
	MUT_LINE_NOT_IN_TURN,            /* Q2: the first continues */
	MUT_TIMERS_BEFORE_DELIVERIES,    /* Q2 */
	MUT_ONE_MESSAGE_MORE,            /* Q3 */
	MUT_ASKS_AT_THE_END_ONLY,        /* Q4: not every 16 packets */
	MUT_ASKS_COUNTED_ANEW,           /* Q4: from where it went back to */
	MUT_TIMER_FROM_FIRST_PACKET,     /* Q4: whether it asks or not */
	MUT_TIMER_NOT_RESTARTED,         /* Q4: by progress */
	MUT_TIMER_RUNS_ON_BACK,          /* Q4: before one asks again */
	MUT_NAK_ONLY_ACKNOWLEDGES,       /* Q4: it does not go back */
	MUT_ONE_RETRY_MORE,              /* Q4 */
	MUT_NAK_FOR_EACH,                /* Q5: for all that is ahead */
	MUT_DUPLICATES_UNANSWERED,       /* Q5 */
	MUT_DUPLICATES_ALL_ANSWERED,     /* Q5: whether they ask or not */
	MUT_PAIRS_KEEP_KEY,              /* Q5: a limited one, in answers */
	MUT_WRONG_HOST_TAKES,            /* Q5: and its peer gets the answer */
	MUT_ACK_KEEPS_NUMBER,            /* Q5: while it waits */
	MUT_BECN_STAYS,                  /* Q6: in all further answers */
	MUT_BECN_OF_TAKEN_ONLY,          /* Q6 */
	MUT_CNP_FOR_RC,                  /* Q6: at once, in addition to the ACK */
	MUT_FREE_SLS_ECHO,               /* Q6: marks of every SL count */
	MUT_PAIR_CNP_LONG,               /* Q6: 58 bytes */
	MUT_PACE_FROM_TAKING,            /* Q7: not from the grant */
	MUT_PACE_FIRST_FREE,             /* Q7: nothing held before a grant */
	MUT_PACE_HOLDS_AT_FULL_RATE,     /* Q7 */
	MUT_PACE_OF_FULL_PACKETS,        /* Q7: gaps are not by length */
	MUT_PACE_OF_EACH,                /* Q7: never shared */
	MUT_PACE_BY_NUMBER,              /* Q7: its line does not matter */
	MUT_PACE_PLACE_LOST,             /* Q7: who is asked goes to its end */
	MUT_FREE_SLS_PACED,              /* Q7: every SL has a rate */
	MUT_PACE_BY_PROGRESS,            /* Q7: other answers say nothing */
	MUT_PACE_WAITS_FOR_DROPPED,      /* Q7: for ever */
	MUT_KEEPS_NOTHING,               /* Q8 */
	MUT_KEEPS_ONE_MORE,              /* Q8: w + 1 ahead */
	MUT_KEPT_IS_REFUSED,             /* Q8: by a NAK, all the same */
	MUT_KEPT_ASKS_AS_FIRST,          /* Q8: whatever comes again */
	MUT_KEPT_NEVER_ASK,              /* Q8: when they are taken */
	MUT_ONE_KEPT_TAKEN,              /* Q8: not all without a gap */
	MUT_EVERY_SL_CHOOSES,            /* D1 */
	MUT_CANDIDATES_WITHOUT_KEYS,     /* D1 */
	MUT_FIRST_AFTER_0,               /* D1: not after the table's port */
	MUT_FIRST_BY_LATE_TABLE,         /* D1: at h + r, not h */
	MUT_CHOOSES_AT_HEAD,             /* D2: at h */
	MUT_INPUTS_BACKWARDS,            /* D2 */
	MUT_VL_OF_FIRST,                 /* D2: not that of the port chosen */
	MUT_VL_CHOSEN_LATE,              /* D2, T11l: of h + r, not h */
	MUT_LOAD_FROM_HEAD,              /* D2: from h */
	MUT_LOAD_UNTIL_TAIL,             /* D2: until g + D */
	MUT_LOAD_UNTIL_CROSSBAR,         /* D2: without the output's queues */
	MUT_LOAD_OF_CHOOSERS,            /* D2: others do not count */
	MUT_ROUTED_AFTER_DISCARDS,       /* T2: of the same instant */
	MUT_DOWN_UNNOTICED,              /* D3 */
	MUT_DOWN_AT_ONCE,                /* D3: without `heal` */
	MUT_HEAL_TO_THE_END,             /* D3: at most `heal` ago */
	MUT_NONE_LEFT_TAKES_FIRST,       /* D3: not all of them */
	MUT_HOME_IS_LOWEST,              /* D3: not the next */
	MUT_EQUALS_FROM_0,               /* D4 */
	MUT_LAST_OF_SWITCH,              /* D4: not of the group */
	MUT_LEAST_ALWAYS,                /* D4: no threshold */
	MUT_THRESHOLD_REACHED,           /* D4: >= instead of > */
	MUT_NO_HYSTERESIS,               /* D4 */
	MUT_BUSY_PER_GROUP,              /* D4: not per output */
	MUT_HOME_IS_NO_CHOICE,           /* D4: it is not the one chosen last */
	MUT_ONE_IS_NOT_DRAWN,            /* D4: of one port */
	MUT_FLOWS_OF_ANY_SOURCE,         /* D5 */
	MUT_FLOWS_OF_ANY_SL,             /* D5 */
	MUT_FLOW_STAYS_ANYHOW,           /* D5: where its link is down */
	MUT_GAP_SINCE_CHOICE,            /* D5: not since the last packet */
	MUT_GAP_ENDS_EARLY,              /* D5: < instead of <= */
	MUT_NOTICE_FOR_ALL_TARGETS,      /* D6 */
	MUT_NOTICE_NEVER,                /* D6 */
	MUT_NOTICE_AT_ONCE,              /* D6: without `notify` */
	MUT_NOTICE_WITHOUT_HEAL,         /* D6: of links that are down */
	MUT_NOTICE_STAYS,                /* D6: when there is a way again */
	MUT_NOTICE_ENDS_AT_ONCE,         /* D6: then, without `notify` */
	MUT_NOTICE_NEXT_ONLY,            /* D6: not passed on */
	MUT_NOTICE_OF_ANY_PORT,          /* D6: of the group, not of all */
	MUT_AROUND_NEVER,                /* D7 */
	MUT_AROUND_WITHOUT_MARGIN,       /* D7 */
	MUT_AROUND_AT_MARGIN,            /* D7: >= instead of > */
	MUT_AROUND_BY_LOAD_ONLY,         /* D7: not if `choice` says another */
	MUT_AROUND_OF_ALL,               /* D7: loads of those down, too */
	MUT_AROUND_MIXED,                /* D7: one set of both */
	MUT_AROUND_FROM_ANYWHERE,        /* D7: every input is of an end */
	MUT_AROUND_FROM_ENDS,            /* D7: all others are from beyond */
	MUT_AROUND_NEEDS_MINIMAL,        /* D7: or the table says it */
	MUT_AROUND_NOT_FIRST,            /* D7: nor home of the other set */
	MUT_AROUND_HOME_IS_LOWEST,       /* D7: not the next in the set */
	MUT_AROUND_SHARES_LAST,          /* D7: one port chosen last for both */
	MUT_AROUND_ALONE,                /* D3, D7: each set for itself */
	MUT_AROUND_ENDS_FLOWS,           /* D5, D7: kept in the set taken only */
	MUT_AROUND_IS_A_WAY,             /* D6, D7: a switch with one is not cut off */
	MUT_AROUND_UNNOTICED,            /* D6, D7: notices are of minimal ones */
	MUT_JOBS_SHARE_SENDER,           /* J1 */
	MUT_START_AT_ONCE,               /* J1 */
	MUT_IREQUIRES_DONE,              /* J2: as requires */
	MUT_REQUIRES_STARTED,            /* J2: as irequires */
	MUT_ONE_CPU,                     /* J3 */
	MUT_RECEIVES_COST_NOTHING,       /* J3 */
	MUT_COST_OF_ROOM,                /* J3: the receive's s, not its message's */
	MUT_NOTHING_WAITS_FOR_CPU,       /* J3: what takes 0 waits too */
	MUT_CPU_LAST_FIRST,              /* J3: not in line */
	MUT_STARTED_IN_LINE,             /* J3: not when the CPU takes it */
	MUT_HIGHEST_NUMBER_FIRST,        /* J3 */
	MUT_ENDS_BEFORE_DELIVERIES,      /* J3 */
	MUT_ANNOUNCED_WHEN_WHOLE,        /* J4 */
	MUT_LAST_RECEIVE_FIRST,          /* J4 */
	MUT_LAST_MESSAGE_FIRST,          /* J4 */
	MUT_TAGS_IGNORED,                /* J4 */
	MUT_ANY_IS_NONE,                 /* J4 */
	MUT_LARGER_DOES_NOT_FIT,         /* J4 */
	MUT_ANY_HOST_TAKES,              /* J4 */
	MUT_LEFT_AT_GRANT,               /* J5: not when its last byte has left */
	MUT_NO_GAP,                      /* J5 */
	MUT_GAP_OF_PACKETS,              /* J5: not of messages */
	MUT_EAGER_BELOW,                 /* J6: >= instead of > */
	MUT_CLEARS_FIRST,                /* J6: before others in line */
	MUT_BODY_FIRST,                  /* J6: likewise */
	MUT_DONE_WHEN_ANNOUNCED,         /* J6 */
	MUT_CHANNELS_MIX,                /* J7: messages of any step */
	MUT_ITERATIONS_WAIT,             /* J7: for all ranks */
	MUT_SPREAD_WITHOUT_GRH,          /* J8 */
	MUT_READS_COST_NO_BYTES,         /* J9: only o */
	MUT_ANSWERED_AT_ONCE,            /* J9: not when all has come */
	MUT_SERVER_HAS_NO_LINE,          /* J9: of its own */
	MUT_SENDS_WITHOUT_IMMEDIATE,     /* J14 */
	MUT_PACE_OF_ADAPTER,             /* J14, Q7: jobs have rates of their own */
	MUT_HANDED_OVER_IS_HEARD,        /* J14, Q7: as if acknowledged */
	MUT_ROOT_HAS_LOWEST_NUMBER,      /* S1 */
	MUT_TRANSACTIONS_FROM_0,         /* S2: in each step */
	MUT_GIVES_WITHOUT_CPU,           /* S2 */
	MUT_TAKEN_AT_HEAD,               /* S4: not with the tail */
	MUT_ONE_CHILD_MISSING,           /* S4 */
	MUT_RESULT_AT_ONCE,              /* S4: no delay */
	MUT_RESULTS_BY_PORT_1,           /* S4: their VLs */
	MUT_SOURCE_KEEPS_KEY,            /* T11l: its flows do */
	MUT_SHARE_ABOVE_THRESHOLD,       /* B3: > instead of >= */
	MUT_SHARE_BY_VL0,                /* B3: all VLs have VL 0's thresholds */
	MUT_SHARE_HIGHEST,               /* B3: the highest VL that is free */
	MUT_SHARE_BUSY,                  /* B3: one with jobs of its own too */
	MUT_SHARE_NO_QUEUE,              /* B7: by number only */
	MUT_SHARE_KEPT,                  /* B7: nothing is returned */
	MUT_SHARE_FIRST_RETURNED,        /* B7: not the last acquired */
	MUT_SHARE_OWN_FIRST,             /* B8: an acquired VL sends its own first */
	MUT_SHARE_USERS_CREDITS,         /* B8: of the user's VL, to choose by */
	MUT_SHARE_HELD_BACK,             /* B9: packets that throttles hold back are jobs */
	MUT_MAD_FREED_AT_TAIL,           /* A5 */
	MUT_MAD_OF_SWITCH_BY_LAST_INPUT, /* A5: not input 0 */
	MUT_MAD_OF_SWITCH_AT_ONCE,       /* A5: without r + a */
	ORACLE_MUTATIONS
};
/* Where those about routers, about end ports and control, about queue pairs and
 * what comes to them before its turn, about switches that choose, and ways
 * around, and about jobs begin. */
#define ORACLE_FIRST_OF_ROUTERS MUT_HOPS_DOWN_TO_ZERO
#define ORACLE_FIRST_OF_CONTROL MUT_SENDER_POINTER_MOVES
#define ORACLE_FIRST_OF_PAIRS   MUT_STAGING_ENDLESS
#define ORACLE_FIRST_OF_EARLY   MUT_KEEPS_NOTHING
#define ORACLE_FIRST_OF_CHOICES MUT_EVERY_SL_CHOOSES
#define ORACLE_FIRST_OF_AROUND  MUT_AROUND_NEVER
#define ORACLE_FIRST_OF_JOBS    MUT_JOBS_SHARE_SENDER
#define ORACLE_FIRST_OF_SHARING MUT_SHARE_ABOVE_THRESHOLD
#define ORACLE_FIRST_OF_MADS    MUT_MAD_FREED_AT_TAIL

const char *oracle_mutation_name(enum oracle_mutation m);

/* How much of the model a run has touched. */
struct oracle_stats {
	uint64_t delivered;
	uint64_t mads, mads_of_switches; /* A5: delivered; sent by switches */
	uint64_t queued;                 /* grants later than the packet was ready */
	uint64_t credit_stalls;          /* port-ticks: ready, link idle, no credit */
	uint64_t table_wraps;            /* an arbitration table passed its end */
	uint64_t limit_expired;          /* low went although high was usable */
	uint64_t reader_stalls;          /* ready and fitting, but no reader */
	uint64_t refused;                /* A2: by end ports */
	uint64_t updates_lost;           /* F2 */
	uint64_t counter_wraps;          /* FCTBS passed 4096 */
	uint64_t multicast;              /* copies beyond the first */
	uint64_t full_crossbars;         /* output buffer had no room */
	uint64_t routed;                 /* forwarded by routers */
	uint64_t table_changes;          /* T11c */
	uint64_t rerouted;               /* T11r: by an entry that has changed */
	uint64_t saturated;              /* T13: packets made at a grant */
	uint64_t sender_turns;           /* T13p: chosen among several that may go */
	uint64_t held_back;              /* C2: a packet waits for the gap */
	uint64_t full_windows;           /* C2: a flow's packet waits for its window */
	uint64_t full_inputs;            /* C3: of the rule's input buffers */
	uint64_t marks;                  /* C4: FECN set */
	uint64_t answers;                /* C5: ACKs and CNPs made */
	uint64_t echoes;                 /* C6: marks that a source heard */
	uint64_t rate_timers;            /* C6: cc_on_timer */
	uint64_t timeouts;               /* C6 */
	uint64_t settings;               /* C9: changes */
	uint64_t probes;                 /* C8: datagrams of all kinds */
	uint64_t admitted, rejected;
	uint64_t retries;       /* Q4: times that a queue pair went back */
	uint64_t ack_timers;    /* Q4: of them, without an answer */
	uint64_t dropped;       /* Q2: by the adapter's own port */
	uint64_t merged;        /* Q5: ACKs that took a new number */
	uint64_t early;         /* Q8: requests that are kept */
	uint64_t choices;       /* D1: among two ports or more */
	uint64_t detours;       /* D4: not by the first port */
	uint64_t avoided;       /* D4: home is busy */
	uint64_t kept_ports;    /* D5 */
	uint64_t notices;       /* D6: sent, */
	uint64_t noticed;       /* and heeded: another port is home */
	uint64_t around;        /* D7: by a port of that set, */
	uint64_t overloaded;    /* and sets taken for their least load */
	uint64_t shared;        /* VLs acquired by others (B7) */
	uint64_t results;       /* S4 */
	uint64_t spreads;       /* J8: multicasts */
	uint64_t sends;         /* J14: messages given to queue pairs */
	uint64_t messages;      /* J5: messages posted, of all kinds */
	uint64_t cpu_work;      /* J3: operations that a CPU took */
	uint64_t cpu_lines;     /* J3: of them, after standing in line */
	uint64_t unexpected;    /* J4: messages that wait for a receive */
	uint64_t gaps;          /* J5: messages that wait for g */
	uint64_t cleared;       /* J6 */
	uint64_t ranks_done;    /* J7 */
	uint64_t stuck_packets; /* still in the fabric at the horizon */
};

/* Over what the messages of a flow go (Q1). */
enum oracle_transport { ORACLE_RC, ORACLE_UC, ORACLE_UD };

/*
 * A queue pair at each end of a flow. The flow's arrivals are messages that it
 * posts: of an arrival only flow, sequence and time count.
 */
struct oracle_pair {
	uint32_t flow;
	enum oracle_transport transport;
	uint32_t from, to; /* end nodes */
	lid_t dlid;
	uint8_t sl;
	uint16_t pkey;
	uint32_t length;    /* of a message, in bytes */
	hd_time start, gap; /* when messages are made: the first, the others */
	uint8_t timeout;    /* RC: 4.096 us times this power of 2 */
};

struct oracle_pairs {
	struct oracle_pair *list; /* by flow */
	uint32_t n;
	uint32_t mtu;
	/* How they answer to marks; NULL: not at all. */
	const struct cc_algorithm *algorithm;
	struct cc_config config;
	uint64_t rate_steps; /* from the lowest rate to the highest */
	bool per_sl;
	uint16_t free_sls;     /* that control does not hold for (C1) */
	uint32_t out_of_order; /* Q8: requests that responders keep */
};

/* The flow number in the record of a queue pair's packet; its
 * sequence there is the packet's length. */
static inline uint32_t oracle_pair_flow(uint32_t source, lid_t dlid)
{
	return UINT32_C(1) << 31 | source << 16 | dlid;
}

/* The same for packets of a reduction, from hosts and switches. */
static inline uint32_t oracle_reduction_flow(lid_t mlid)
{
	return UINT32_C(0xfffe) << 16 | mlid;
}

/* A job's completion is an event of the record too, of this flow. */
static inline uint32_t oracle_job_flow(uint32_t job)
{
	return UINT32_C(0xffff) << 16 | job;
}

/*
 * A flow that asks for leave to start (C8), for what the setup's control says.
 * Its arrivals are those without admission.
 */
struct oracle_ask {
	uint32_t flow;
	hd_time start, gap;
	hd_time stop; /* 0: none */
};

struct oracle_asks {
	struct oracle_ask *list; /* by flow */
	uint32_t n;
};

/* A5: a datagram with a route of its own. */
enum { ORACLE_MOST_LINKS = 8, ORACLE_NO_MAD = -1 };
struct oracle_mad {
	uint32_t flow; /* of no other packet */
	hd_time time;  /* it is sent then; HD_TIME_NEVER: as an answer */
	uint32_t from; /* end node; of answers, or a switch */
	uint32_t bytes;
	bool management;
	uint8_t sl;
	uint32_t n; /* links of its route */
	struct {
		uint32_t out; /* sim port that sends it */
		uint8_t vl;   /* of a data VL, at a switch */
	} route[ORACLE_MOST_LINKS];
	hd_time serves; /* it stays in its last buffer this long after its tail */
	int answer;     /* the datagram that is sent then, or ORACLE_NO_MAD */
};
struct oracle_mads {
	struct oracle_mad *list;
	uint32_t n;
};

struct oracle_case {
	const struct sim_setup *setup;
	const struct sim_arrival *arrivals;
	size_t n_arrivals;
	hd_time horizon;
	hd_time tick;                     /* 0: none, jumps only */
	bool jumps;                       /* looks at whatever is due between the ticks too */
	const struct oracle_pairs *pairs; /* NULL: none */
	const struct oracle_jobs *jobs;   /* NULL: none */
	const struct oracle_asks *asks;   /* NULL: none */
	/* Arrivals are of sources that have P_Keys (T11l); otherwise they are
	 * given, with theirs. */
	bool generates;
	/*
	 * T13: a bit per flow that saturates. Its first packet comes as its
	 * first arrival says, each other one when the one before is granted.
	 */
	uint64_t saturating;
	const struct oracle_mads *mads; /* NULL: none */
};

/* Runs with one rule mutated, or none. The record is the caller's. */
void oracle_run(const struct oracle_case *c, enum oracle_mutation mutation, struct sim_record *out,
		struct oracle_stats *stats);

/* The engine's sim_replay, with the length of a tick. */
void oracle_replay(const struct sim_setup *setup, const struct sim_arrival *arrivals,
		   size_t n_arrivals, hd_time horizon, hd_time tick, struct sim_record *out);

void oracle_record_fini(struct sim_record *record);

#endif
