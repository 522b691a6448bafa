/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_COLLECTIVE_STUDY_H
#define HD_SIM_COLLECTIVE_STUDY_H

/*
 * The evaluation of XY multicast on a mesh: one source, 40 % or all nodes
 * send a message to 40 % or all nodes, over 1, 2 or 4 lanes, by multicast and
 * by unicast. Sources and members are drawn anew for each seed and are the
 * same for all lanes, sizes and both schemes, so that points can be compared
 * seed by seed.
 *
 *	sources   group  lanes: 1   2   4
 *	one       40 %   Fig.  10  11  12
 *	one       100 %        13  14  15
 *	40 %      40 %         16  17  18
 *	40 %      100 %        19  20  21
 *	all       40 %         22  23  24
 *	all       100 %        25  26  27
 */

#include "measure/interval.h"
#include "sim/collective/collective.h"

enum study_sources { STUDY_ONE, STUDY_MANY, STUDY_ALL, N_STUDY_SOURCES };
enum study_group { STUDY_SOME, STUDY_EVERYONE, N_STUDY_GROUPS };

/* How the lanes are used. */
enum study_use {
	USE_SINGLE,    /* there is one */
	USE_BY_SL,     /* free: a message has an SL, all ports take any */
	USE_BY_PACKET, /* free: packets take SLs in turn */
	USE_DEDICATED, /* by direction, as in the paper's figures */
	N_STUDY_USES
};

extern const char *const study_source_names[N_STUDY_SOURCES + 1];
extern const char *const study_group_names[N_STUDY_GROUPS + 1];
extern const char *const study_use_names[N_STUDY_USES + 1];
extern const char *const coll_scheme_names[N_COLL_SCHEMES + 1];

#define STUDY_MAX_SIZES 9
#define STUDY_MAX_SEEDS 64

struct mcast_study_plan {
	uint32_t columns, rows;
	uint64_t sizes[STUDY_MAX_SIZES];
	uint32_t n_sizes;
	uint32_t n_seeds;
	uint64_t seed;        /* the first */
	uint32_t first, last; /* figures */
	const char *order;    /* of the switches' buffers: "voq", "fifo" */
	uint32_t buffer;      /* packets per lane and port */
	uint32_t overhead, grh;
};

/* The paper's: 16 x 16, 32 bytes to 8 KiB, 10 seeds, all figures. */
void mcast_study_plan_init(struct mcast_study_plan *p);
/* The same on 8 x 8 with three sizes and three seeds: seconds. */
void mcast_study_plan_quick(struct mcast_study_plan *p);

struct mcast_study_point {
	uint32_t figure;
	enum study_sources sources;
	enum study_group group;
	uint32_t lanes;
	enum study_use use;
	uint64_t bytes;
	/* Per seed, microseconds: the last member's, and the mean one's. */
	double completion[N_COLL_SCHEMES][STUDY_MAX_SEEDS];
	double mean[N_COLL_SCHEMES][STUDY_MAX_SEEDS];
	double bound[N_COLL_SCHEMES][STUDY_MAX_SEEDS];
	double speedup[STUDY_MAX_SEEDS];
	uint64_t faults; /* copies lost, doubled, strayed: must be 0 */
};

struct mcast_study {
	struct mcast_study_plan plan;
	struct mcast_study_point *points;
	uint32_t n_points;
	uint64_t hops;
};

/* Told after each point; false ends the study early. */
typedef bool study_progress_fn(void *context, uint32_t done, uint32_t total);

HD_MUST_CHECK enum hd_status
mcast_study_run(struct mcast_study *s, const struct mcast_study_plan *plan,
		study_progress_fn *progress, void *context, struct diag *d);
void mcast_study_fini(struct mcast_study *s);

/* NULL if the study has no such point. */
const struct mcast_study_point *
mcast_study_find(const struct mcast_study *s,
		 const struct mcast_study_point *like);

/* ---- claims -------------------------------------------------------------- */

enum mcast_study_claim {
	CLAIM_NEVER_SLOWER,
	CLAIM_GROWS_WITH_SIZE,
	CLAIM_GROWS_WITH_GROUP,
	CLAIM_GROWS_WITH_SOURCES,
	CLAIM_MORE_LANES,
	CLAIM_LANES_HELP_UNICAST,
	CLAIM_FREE_LANES,
	CLAIM_FREE_UNCLEAR_LARGE,
	CLAIM_ALL_SLOWER,
	CLAIM_BOUND,
	CLAIM_ONCE,
	N_STUDY_CLAIMS
};

struct mcast_study_claim_info {
	const char *words;
	const char *where; /* in the paper */
};
extern const struct mcast_study_claim_info mcast_study_claims[N_STUDY_CLAIMS];

/* A case in which a claim does not hold. */
struct study_exception {
	enum mcast_study_claim claim;
	const struct mcast_study_point *point, *other; /* other may be NULL */
	int scheme;                                    /* -1: both together */
	/* What should not be less than `than`, seed by seed. */
	double value, than;
	bool clear; /* the 95 % interval of the differences excludes 0 */
};

struct mcast_study_verdict {
	uint32_t cases[N_STUDY_CLAIMS];
	uint32_t exceptions[N_STUDY_CLAIMS];
	uint32_t clear[N_STUDY_CLAIMS];
	struct study_exception *list;
	size_t n, cap;
};

void mcast_study_judge(const struct mcast_study *s,
		       struct mcast_study_verdict *out);
void mcast_study_verdict_fini(struct mcast_study_verdict *v);

#endif
