/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_FAILURES_SURVEY_H
#define HD_SUBNET_FAILURES_SURVEY_H

/*
 * What would happen if: each cable and each switch of a routed subnet fails in
 * turn, and pairs of cables if asked for; the manager routes around it, as
 * subnet/routing/replan.h has it; and what is left is followed, checked for deadlock
 * and loaded.
 *
 *	survey_run(&subnet, &options, &survey);
 *	survey_show(results, &survey, 20);
 *	survey_fini(&survey);
 *
 * The manager is taken to be where most end ports are: whoever it was, a
 * standby goes on there.
 */

#include "measure/results.h"
#include "subnet/routing/replan.h"

/* What fails. Pairs are of cables between switches. */
enum survey_kind {
	SURVEY_SWITCHES,
	SURVEY_LINKS, /* cables between switches or routers */
	SURVEY_HOSTS, /* cables of adapters */
	SURVEY_PAIRS,
};
#define N_SURVEY_KINDS 4
extern const char *const survey_kind_names[]; /* "switches"; up to NULL */

/* What becomes of it, the worst first; a case is the first that holds. */
enum survey_verdict {
	SURVEY_REFUSED, /* the engine does not route what is left */
	SURVEY_LOCKS,   /* what is left can lock up */
	SURVEY_BROKEN,  /* end ports that are left do not reach each other */
	SURVEY_LOST,    /* end ports are cut off; the others are well */
	SURVEY_SLOWER,  /* all are reached; some link has more to carry */
	SURVEY_HARMLESS,
};
#define N_SURVEY_VERDICTS 6
extern const char *const survey_verdict_names[]; /* "harmless"; up to NULL */

struct survey_figures {
	uint32_t n_ends;     /* end ports with a LID */
	uint64_t n_reached;  /* paths between them that arrive, by LID */
	uint64_t n_broken;   /* and those that do not */
	uint64_t most_flows; /* on one link between switches, all to all */
	double share;        /* mean of permutations (subnet/routing/load.h); NAN: none */
	bool can_lock;
};

struct survey_case {
	enum survey_kind kind;
	/*
	 * A switch, by its node; or one cable or two, by the port of each that
	 * comes first in the topology.
	 */
	uint32_t what[2];
	enum survey_verdict verdict;
	struct survey_figures figures; /* zero if it was refused */
	uint32_t n_lost;               /* end ports */
	uint64_t n_writes, n_changes;  /* blocks and entries of the tables */
	char *refusal;                 /* why, or NULL */
};

struct survey_options {
	bool kinds[N_SURVEY_KINDS];
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

/* Adds the kind of that name; false if it is none, or pairs. */
bool survey_fail(struct survey_options *o, const char *kind);

struct survey {
	const struct subnet *whole;
	struct survey_figures before;
	bool permuted;             /* shares were asked for */
	struct survey_case *cases; /* by kind, the worst of each first */
	size_t n;
	size_t n_left; /* that were not tried, since tick wanted an end */
	size_t n_of[N_SURVEY_KINDS][N_SURVEY_VERDICTS];
	bool *shares_name; /* per node: its name is another's, too */
};

/* On all threads of the process; their number changes nothing. */
void survey_run(const struct subnet *whole, const struct survey_options *o, struct survey *out);
void survey_fini(struct survey *s);

/* No case is worse than that end ports are cut off. */
bool survey_is_well(const struct survey *s);

/* What fails in a case: "leaf3/20 - spine1/3"; with GUIDs where names are not
 * enough. */
void survey_name(const struct survey *s, const struct survey_case *c, struct strbuf *out);

/* The fabric, how the cases ended, and the `worst` of each kind; 0: all. */
void survey_show(struct results *r, const struct survey *s, uint64_t worst);

#endif
