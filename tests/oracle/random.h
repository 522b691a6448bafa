/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TESTS_RANDOM_H
#define HD_TESTS_RANDOM_H

/*
 * Random scenarios, each drawn from one 64-bit seed: small fabrics with every
 * feature of the model, loaded until they queue. Every duration, arrival and
 * fault is a whole number of ticks; a packet takes 1 to 200 ticks on a link.
 * With congestion control, whose gaps keep to no tick, they may be any.
 */

#include <stdio.h>

#include "fabric.h"
#include "oracle.h"

struct scenario {
	uint64_t seed;
	struct fabric fabric;
	struct sim_arrival *arrivals;
	size_t n_arrivals, arrivals_cap;
	hd_time tick, horizon;
	/* Drawn first, used by what is drawn later. */
	uint32_t sizes[4]; /* bytes; the largest first */
	uint32_t n_sizes;
	uint32_t n_groups;
	bool lengthy;        /* many large packets: 12-bit counters wrap */
	bool routed;         /* there may be routers */
	bool plain;          /* they could be switches */
	bool paired;         /* there may be queue pairs; time jumps */
	bool jobbed;         /* there may be jobs; time jumps */
	bool controlled;     /* congestion control; time jumps */
	bool adaptive;       /* switches choose */
	bool spread;         /* what comes before its turn is kept (Q8) */
	bool settled;        /* it never is; VLs and settings stay (T11l, C9) */
	bool forewarned;     /* they tell each other of ways that are lost (D6) */
	bool around;         /* in a dragonfly, with ways around (D7) */
	bool asking;         /* flows may ask for leave to start (C8) */
	uint64_t saturating; /* flows (T13), a bit each */
	hd_time d_max;       /* of the largest packet on the slowest link */
	uint64_t **sets;     /* of groups that change (T11r) */
	size_t n_sets, sets_cap;
	struct subnet **plans; /* VLs and partitions that change (T11l) */
	size_t n_plans, plans_cap;
	/* What the setup's control consists of; NULL without. */
	struct oracle_pairs pairs;
	struct oracle_jobs jobs;
	struct oracle_asks asks;
	struct oracle_mads mads;
	uint64_t *reserve; /* by flow; NULL: no admission */
	struct sim_control *control;
	struct sim_throttle *throttles;
	struct cc_config **configs; /* of throttles, later on (C9) */
	size_t n_configs, configs_cap;
	uint32_t *throttle_of_flow;
	struct sim_adaptive *choice; /* the setup's; NULL without */
};

/*
 * Some have routers, some tables that change, some switches that choose, half
 * congestion control.
 */
void scenario_draw(struct scenario *s, uint64_t seed);
/* Whether that one may have jobs; or has ways around. */
bool scenario_is_jobbed(uint64_t seed);
bool scenario_is_adaptive(uint64_t seed);
bool scenario_is_around(uint64_t seed);
/* Without routers and control, and in most of them datagrams have routes of their own (A5). */
void scenario_draw_managed(struct scenario *s, uint64_t seed);
/* The same, but never with queue pairs. */
void scenario_draw_unpaired(struct scenario *s, uint64_t seed);
/* The same, but always with switches that choose (D1 to D6). */
void scenario_draw_adaptive(struct scenario *s, uint64_t seed);
/* And these always in a dragonfly, with ways around (D7), which those above and
 * below that say whether switches choose, or have jobs, are not. */
void scenario_draw_around(struct scenario *s, uint64_t seed);
/* None chooses, but there are always routers: the last switches (R1 to R5). */
void scenario_draw_routed(struct scenario *s, uint64_t seed);
/* No routers, but always jobs (J1 to J9, J14, S1 to S6) in addition to the rest
 * that is drawn. */
void scenario_draw_jobbed(struct scenario *s, uint64_t seed);
/* Always with queue pairs (Q1 to Q7) instead, and nothing of Q8, T11l, C9. */
void scenario_draw_paired(struct scenario *s, uint64_t seed);
/* Each feature by chance, with input queues and thresholds at switches (B7). */
void scenario_draw_sharing(struct scenario *s, uint64_t seed);
/* Both with queue pairs and with switches that choose, and what comes before
 * its turn is kept (Q8). */
void scenario_draw_spread(struct scenario *s, uint64_t seed);
/* The same, but always with congestion control (C1 to C6) instead. */
void scenario_draw_controlled(struct scenario *s, uint64_t seed);
/*
 * And two at once: one with routers that change no SL, drop nothing for its
 * hop limit and see no management, and one in which switches stand for them:
 * there a host's LID is known everywhere and leads the same way. The rules
 * make no difference between the two.
 */
void scenario_draw_twins(struct scenario *routed, struct scenario *switched, uint64_t seed);
/* Arrivals by time, flow and sequence, after times were changed. */
void scenario_sort(struct scenario *s);
/* Keeps requests of flows that still send; drops all requests. */
void asks_keep(struct scenario *s);
void asks_drop(struct scenario *s);
/* Message `sequence` of a queue pair comes then. */
hd_time pair_time(const struct oracle_pair *p, uint32_t sequence);
void scenario_clear(struct scenario *s);
void scenario_drop_jobs(struct scenario *s);
/* Adds the trees of a job's steps; false: some step has no tree. And rebuilds
 * the trees of all jobs after changes. */
bool job_trees_make(struct fabric *fabric, struct oracle_job *j);
void scenario_make_trees(struct scenario *s);
struct oracle_case scenario_case(const struct scenario *s);
/* Everything, for a human. */
void scenario_print(const struct scenario *s, FILE *to);

/*
 * Ways to make a scenario plainer, for shrinking; applied after the draw.
 */
enum simplification {
	PLAIN_CREDITS, /* delay mode */
	PLAIN_QUEUEING,
	PLAIN_ORDER, /* voq */
	PLAIN_PICK,
	PLAIN_READERS,
	PLAIN_SPEEDUP,
	PLAIN_ARBITER,    /* strict */
	PLAIN_DELAYS,     /* r = a = 0 */
	PLAIN_LINKS,      /* all P = 1 tick */
	PLAIN_RATES,      /* all as the first cable */
	PLAIN_BUFFERS,    /* deep */
	PLAIN_TIGHT,      /* or of one packet */
	PLAIN_VL15,       /* deep */
	PLAIN_VLS,        /* SL2VL: one table for all pairs */
	PLAIN_TABLES,     /* VLArb: one table for all ports */
	PLAIN_VL_CHANGES, /* VLs and partitions do not change */
	PLAIN_LIMITS,     /* no high limit */
	PLAIN_PKEYS,
	PLAIN_ERRORS,
	PLAIN_LOSSES,
	PLAIN_LIVES,    /* no HOQ lifetime */
	PLAIN_TCLASSES, /* SL = TClass modulo 16 */
	PLAIN_MARKS,    /* none */
	PLAIN_SENDERS,  /* one, and throttles */
	PLAIN_CONTROL,  /* none */
	PLAIN_SETTINGS, /* of it: they do not change */
	PLAIN_MARKING,  /* none */
	PLAIN_RESPONSE, /* no algorithm */
	PLAIN_WINDOW,   /* wide */
	PLAIN_ANSWERS,  /* after a while, without packets */
	PLAIN_ECHO,     /* in acknowledgements */
	PLAIN_GAP,      /* fixed */
	PLAIN_TIMEOUT,  /* none */
	PLAIN_ASKS,     /* no admission */
	PLAIN_PACES,    /* queue pairs do not answer to marks */
	PLAIN_PLACES,   /* nor keep what comes before its turn */
	PLAIN_CHOICE,   /* no switch has any */
	PLAIN_HEAL,     /* links that are down are known at once */
	PLAIN_NOTICES,  /* none */
	PLAIN_AROUND,   /* no way around */
	PLAIN_JOBS,     /* none */
	PLAIN_HOSTS,    /* of jobs: they cost no time */
	PLAIN_GAPS,     /* none between messages of jobs */
	PLAIN_EAGER,    /* all messages of jobs are */
	PLAIN_REPEAT,   /* none of the jobs does */
	PLAIN_START,    /* of jobs: at once */
	PLAIN_LETTERS,  /* of jobs: not over queue pairs */
	PLAIN_MADS,     /* no datagram has a route of its own */
	PLAIN_COUNT
};
void scenario_simplify(struct scenario *s, enum simplification how);
const char *simplification_name(enum simplification how);
/* Unplugs an end node, unless it sends or has a fault. */
bool scenario_unplug(struct scenario *s, uint32_t end);

#endif
