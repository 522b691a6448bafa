/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_SWEEP_H
#define HD_STUDY_SWEEP_H

/*
 * Runs the points of a study, on as many cores as there are, and keeps what is
 * done in a database: a second call continues from there. What came out does not
 * depend on the number of processes, on the order in which they end, nor on
 * how often it was interrupted.
 *
 * A search (study.h) is run in rounds: each asks for the cells that the
 * outcomes so far call for. Which these are follows from the outcomes alone.
 */

#include "study/point.h"
#include "study/processes.h"

struct study_sweep {
	const struct study *study;
	/* One per point. Results are the headline and the tables that are kept. */
	struct point_outcome *outcomes;

	/* The caller's: */
	const char *db;      /* where points are kept; NULL: nowhere */
	const char *seen;    /* another place where they may be; or NULL */
	const char *version; /* of the program, for the record */
	/*
	 * Databases that others left, instead of runs: what they have is
	 * copied, and what none has is refused.
	 */
	const char *const *sources;
	size_t n_sources;
	unsigned at_once;       /* processes, at least 1 */
	size_t shard, n_shards; /* counted from 0; 1 shard is all of it */
	/*
	 * Told when nothing is refused any more, and then as points are done:
	 * how many, of those that are known to be needed.
	 */
	void (*tick)(void *context, size_t done, size_t needed);
	void *context;

	bool interrupted;
};

/* Zero shards mean one. */
void sweep_init(struct study_sweep *w, const struct study *study);
void sweep_fini(struct study_sweep *w);

/*
 * Runs what is missing. Points that fail are outcomes; but if the scenario is
 * refused at every point, so is the study.
 */
HD_MUST_CHECK enum hd_status sweep_run(struct study_sweep *w, struct diag *d);

/* Mean of a measure over the seeds of a cell that are done; NAN: none. */
double sweep_mean(const struct study_sweep *w, size_t cell_rank, size_t measure,
		  double *half_width);

/* The cells of a search that differ in its field only, in that order. */
struct sweep_chain {
	size_t *ranks; /* of cells */
	size_t n;
};
/* All of them, in the order of their first cells; free with sweep_chains_free. */
struct sweep_chain *sweep_chains(const struct study *s, size_t *n);
void sweep_chains_free(struct sweep_chain *chains, size_t n);
/* Whether a cell must be run before more is known: *next of the chain. */
bool sweep_next(const struct study_sweep *w, const struct sweep_chain *c, size_t *next);
/* What a find has found: the place in the chain; SIZE_MAX: nothing (yet). */
size_t sweep_found(const struct study_sweep *w, const struct sweep_chain *c);

/* "3/10" or, from Slurm's variables, "auto"; counted from 1 when written. */
HD_MUST_CHECK enum hd_status shard_parse(const char *text, struct diag *d, size_t *shard,
					 size_t *n);

#endif
