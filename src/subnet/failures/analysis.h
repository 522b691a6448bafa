/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_FAILURES_FAILURE_H
#define HD_SUBNET_FAILURES_FAILURE_H

/*
 * Failure analysis of a routed subnet. Each cable and each switch fails in turn,
 * and optionally pairs of cables. The manager re-routes the rest
 * (subnet/routing/replan.h). The result is checked for reachability and
 * deadlock, and its load is computed.
 *
 *	failure_run(&subnet, &options, &analysis);
 *	failure_show(results, &analysis, 20);
 *	failure_fini(&analysis);
 *
 * After a failure the subnet manager is assumed to run in the part with the most
 * end ports, if necessary as a former standby.
 */

#include "measure/results.h"
#include "subnet/routing/replan.h"

/* Kinds of failures. Pairs are pairs of cables between switches. */
enum failure_kind {
	FAILURE_SWITCHES,
	FAILURE_LINKS,  /* cables between switches or routers */
	ANALYSIS_HOSTS, /* cables of adapters */
	FAILURE_PAIRS,
};
#define N_FAILURE_KINDS 4
extern const char *const failure_kind_names[]; /* "switches"; up to NULL */

/* Verdicts, the worst first; a case has the first one that applies. */
enum failure_verdict {
	FAILURE_REFUSED, /* the routing algorithm rejects the remaining fabric */
	FAILURE_LOCKS,   /* the remaining fabric can deadlock */
	FAILURE_BROKEN,  /* remaining end ports cannot reach each other */
	FAILURE_LOST,    /* end ports are cut off; the others are unaffected */
	FAILURE_SLOWER,  /* all paths work; some link has a higher load */
	ANALYSIS_HARMLESS,
};
#define N_FAILURE_VERDICTS 6
extern const char *const failure_verdict_names[]; /* "harmless"; up to NULL */

struct failure_figures {
	uint32_t n_ends;     /* end ports with a LID */
	uint64_t n_reached;  /* paths between them that deliver, per LID */
	uint64_t n_broken;   /* paths between them that do not deliver */
	uint64_t most_flows; /* maximum on one link between switches, all-to-all traffic */
	double share;        /* mean over permutations (subnet/routing/load.h); NAN: none */
	bool can_lock;
};

struct failure_case {
	enum failure_kind kind;
	/*
	 * A switch, by its node; or one or two cables, each by the port that
	 * comes first in the topology.
	 */
	uint32_t what[2];
	enum failure_verdict verdict;
	struct failure_figures figures; /* zero if the case was rejected */
	uint32_t n_lost;                /* end ports that were cut off */
	uint64_t n_writes, n_changes;   /* blocks and entries of the tables */
	char *refusal;                  /* reason, or NULL */
};

struct failure_options {
	bool kinds[N_FAILURE_KINDS];
	uint64_t n_pairs; /* random pairs of cables; all pairs if there are no more than that */
	uint64_t n_permutations;
	uint64_t seed;
	struct replan_options replan; /* `manager` is ignored */
	/*
	 * Reports the number of completed cases; called from any thread, never
	 * concurrently. False ends the analysis. May be NULL.
	 */
	bool (*tick)(void *context, size_t done, size_t all);
	void *context;
};

/* Adds the kind with that name; false for an unknown name and for pairs. */
bool failure_fail(struct failure_options *o, const char *kind);

struct failure_analysis {
	const struct subnet *whole;
	struct failure_figures before;
	bool permuted;              /* shares were requested */
	struct failure_case *cases; /* by kind, the worst of each kind first */
	size_t n;
	size_t n_left; /* cases not tried because tick returned false */
	size_t n_of[N_FAILURE_KINDS][N_FAILURE_VERDICTS];
	bool *shares_name; /* per node: another node has the same name */
};

/* Uses all threads of the process; the results do not depend on their number. */
void failure_run(const struct subnet *whole, const struct failure_options *o,
		 struct failure_analysis *out);
void failure_fini(struct failure_analysis *s);

/* Whether no verdict is worse than FAILURE_LOST. */
bool failure_is_well(const struct failure_analysis *s);

/* Writes the failed component of a case: "leaf3/20 - spine1/3"; with GUIDs
 * where names are ambiguous. */
void failure_name(const struct failure_analysis *s, const struct failure_case *c,
		  struct strbuf *out);

/* Adds the fabric, the verdicts, and the `worst` cases of each kind; 0: all cases. */
void failure_show(struct results *r, const struct failure_analysis *s, uint64_t worst);

#endif
