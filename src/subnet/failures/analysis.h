/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_FAILURES_FAILURE_H
#define HD_SUBNET_FAILURES_FAILURE_H

/*
 * What would happen if: each cable and each switch of a routed subnet fails in
 * turn, and pairs of cables if asked for; the manager routes around it, as
 * subnet/routing/replan.h has it; and what is left is followed, checked for deadlock
 * and loaded.
 *
 *	failure_run(&subnet, &options, &analysis);
 *	failure_show(results, &analysis, 20);
 *	failure_fini(&analysis);
 *
 * After a failure the subnet manager is assumed to run in the part with most
 * end ports, if necessary as a former standby.
 */

#include "measure/results.h"
#include "subnet/routing/replan.h"

/* What fails. Pairs are of cables between switches. */
enum failure_kind {
	FAILURE_SWITCHES,
	FAILURE_LINKS,  /* cables between switches or routers */
	ANALYSIS_HOSTS, /* cables of adapters */
	FAILURE_PAIRS,
};
#define N_FAILURE_KINDS 4
extern const char *const failure_kind_names[]; /* "switches"; up to NULL */

/* What becomes of it, the worst first; a case is the first that holds. */
enum failure_verdict {
	FAILURE_REFUSED, /* the engine does not route what is left */
	FAILURE_LOCKS,   /* what is left can lock up */
	FAILURE_BROKEN,  /* end ports that are left do not reach each other */
	FAILURE_LOST,    /* end ports are cut off; the others are well */
	FAILURE_SLOWER,  /* all are reached; some link has more to carry */
	ANALYSIS_HARMLESS,
};
#define N_FAILURE_VERDICTS 6
extern const char *const failure_verdict_names[]; /* "harmless"; up to NULL */

struct failure_figures {
	uint32_t n_ends;     /* end ports with a LID */
	uint64_t n_reached;  /* paths between them that arrive, by LID */
	uint64_t n_broken;   /* and those that do not */
	uint64_t most_flows; /* on one link between switches, all to all */
	double share;        /* mean of permutations (subnet/routing/load.h); NAN: none */
	bool can_lock;
};

struct failure_case {
	enum failure_kind kind;
	/*
	 * A switch, by its node; or one cable or two, by the port of each that
	 * comes first in the topology.
	 */
	uint32_t what[2];
	enum failure_verdict verdict;
	struct failure_figures figures; /* zero if it was refused */
	uint32_t n_lost;                /* end ports */
	uint64_t n_writes, n_changes;   /* blocks and entries of the tables */
	char *refusal;                  /* why, or NULL */
};

struct failure_options {
	bool kinds[N_FAILURE_KINDS];
	uint64_t n_pairs; /* of cables, drawn from the seed; all if so few */
	uint64_t n_permutations;
	uint64_t seed;
	struct replan_options replan; /* its manager is not asked */
	/*
	 * Told how many are done, from any thread but one at a time; false: no
	 * more of them. Or NULL.
	 */
	bool (*tick)(void *context, size_t done, size_t all);
	void *context;
};

/* Adds the kind of that name; false for an unknown name and for pairs. */
bool failure_fail(struct failure_options *o, const char *kind);

struct failure_analysis {
	const struct subnet *whole;
	struct failure_figures before;
	bool permuted;              /* shares were asked for */
	struct failure_case *cases; /* by kind, the worst of each first */
	size_t n;
	size_t n_left; /* that were not tried, since tick wanted an end */
	size_t n_of[N_FAILURE_KINDS][N_FAILURE_VERDICTS];
	bool *shares_name; /* per node: its name is another's, too */
};

/* On all threads of the process; their number changes nothing. */
void failure_run(const struct subnet *whole, const struct failure_options *o,
		 struct failure_analysis *out);
void failure_fini(struct failure_analysis *s);

/* No case is worse than that end ports are cut off. */
bool failure_is_well(const struct failure_analysis *s);

/* What fails in a case: "leaf3/20 - spine1/3"; with GUIDs where names are not
 * enough. */
void failure_name(const struct failure_analysis *s, const struct failure_case *c,
		  struct strbuf *out);

/* The fabric, how the cases ended, and the `worst` of each kind; 0: all. */
void failure_show(struct results *r, const struct failure_analysis *s, uint64_t worst);

#endif
