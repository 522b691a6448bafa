/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TESTS_COMPARE_H
#define HD_TESTS_COMPARE_H

/*
 * A second simulator against the oracle: every event and every counter of
 * every port. A scenario on which they differ is shrunk to a plan, which says
 * what was left out of the scenario that its seed draws.
 */

#include "base/strbuf.h"
#include "random.h"

/* The simulator under test; `context` is the caller's. */
struct subject {
	/* Returns where it ended: at the horizon, or before. */
	hd_time (*replay)(const struct oracle_case *c, void *context, struct sim_record *out);
	void *context;
};

#define PLAN_MAX_ARRIVALS 8192
#define PLAN_MAX_FAULTS   256
#define PLAN_MAX_CHANGES  2048
#define PLAN_MAX_REROUTES 64
#define PLAN_MAX_OPS      1024

struct plan {
	uint64_t seed;
	bool spread;                        /* of scenario_draw_spread */
	bool sharing;                       /* of scenario_draw_sharing */
	bool managed;                       /* of scenario_draw_managed */
	hd_time horizon;                    /* 0: as drawn */
	uint64_t plain;                     /* bits of enum simplification */
	uint32_t unplugged;                 /* bits of end numbers */
	bool no_arrival[PLAN_MAX_ARRIVALS]; /* left out */
	bool no_fault[PLAN_MAX_FAULTS];
	bool no_change[PLAN_MAX_CHANGES];
	bool no_reroute[PLAN_MAX_REROUTES];
	bool no_op[PLAN_MAX_OPS]; /* of jobs, one after the other; or step */
};

/* As its seed says. */
void plan_draw(const struct plan *p, struct scenario *s);
/* The scenario of a plan; a plan of nothing but a seed is the drawn one. */
void plan_apply(const struct plan *p, struct scenario *s);

/*
 * Whether two records of a setup with n_ports ports differ; sorts their
 * events.
 */
bool records_differ(struct sim_record *want, struct sim_record *got, uint32_t n_ports,
		    struct strbuf *why);
/*
 * Whether the subject differs from the oracle; `why` (may be NULL) gets the
 * first differing event, in order of time, and the first differing counter,
 * `stats` (may be NULL) what the oracle has seen.
 */
bool compare_differs(const struct scenario *s, const struct subject *subject, struct strbuf *why,
		     struct oracle_stats *stats);
/* Leaves out of the plan all that is not needed for a difference. */
void compare_shrink(struct plan *p, const struct subject *subject);
/* What a user must see of a difference. */
void compare_report(const struct plan *p, const struct subject *subject, FILE *to);

/* The plan as options of compare_test. */
void plan_print(const struct plan *p, FILE *to);

#endif
