/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_SWEEP_H
#define HD_STUDY_SWEEP_H

/*
 * Runs the points of a study in parallel processes and stores completed points
 * in a database. A second call continues from the database. The results do not
 * depend on the number of processes, on the order in which they end, or on
 * interruptions.
 *
 * A search (study.h) runs in rounds. Each round requests the cells that follow
 * from the outcomes so far, and from nothing else.
 */

#include "study/point.h"
#include "study/processes.h"

struct study_sweep {
	const struct study *study;
	/* One per point. Results are the headline and the kept tables. */
	struct point_outcome *outcomes;

	/* Set by the caller: */
	const char *db;      /* database that stores the points; NULL: none */
	const char *seen;    /* second database to read points from; may be NULL */
	const char *version; /* version of the program, for the record */
	/*
	 * Databases to read instead of running points. Their points are copied;
	 * a point that none of them has is an error.
	 */
	const char *const *sources;
	size_t n_sources;
	unsigned at_once;       /* processes, at least 1 */
	size_t shard, n_shards; /* `shard` counts from 0; with 1 shard it is the whole study */
	/*
	 * Called once after all checks have passed, and then as points
	 * complete: `done` of the points known to be needed.
	 */
	void (*tick)(void *context, size_t done, size_t needed);
	void *context;

	bool interrupted;
};

/* n_shards 0 means 1. */
void sweep_init(struct study_sweep *w, const struct study *study);
void sweep_fini(struct study_sweep *w);

/*
 * Runs the missing points. A failed point is an outcome; if the scenario is
 * rejected at every point, the sweep is rejected.
 */
HD_MUST_CHECK enum hd_status sweep_run(struct study_sweep *w, struct diag *d);

/* Mean of a measure over the completed seeds of a cell; NAN: no seed is complete. */
double sweep_mean(const struct study_sweep *w, size_t cell_rank, size_t measure,
		  double *half_width);

/* The cells of a search that differ in its field only, in the order of that field. */
struct sweep_chain {
	size_t *ranks; /* of cells */
	size_t n;
};
/* All chains, in the order of their first cells; free with sweep_chains_free. */
struct sweep_chain *sweep_chains(const struct study *s, size_t *n);
void sweep_chains_free(struct sweep_chain *chains, size_t n);
/* Whether the search needs another cell: *next, an index into the chain. */
bool sweep_next(const struct study_sweep *w, const struct sweep_chain *c, size_t *next);
/* Result of a find search: index into the chain; SIZE_MAX: nothing found (yet). */
size_t sweep_found(const struct study_sweep *w, const struct sweep_chain *c);

/* Parses "3/10", or "auto" (from Slurm's variables). The text counts from 1. */
HD_MUST_CHECK enum hd_status shard_parse(const char *text, struct diag *d, size_t *shard,
					 size_t *n);

#endif
