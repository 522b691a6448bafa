/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_PAPER_REVIEW_H
#define HD_PAPER_REVIEW_H

/*
 * Runs the points of selected experiments and judges them. Points with the
 * same command share one run. The commands run in a scratch folder that holds
 * the files of all papers. Runs that a database has already are read from it.
 *
 *	struct paper_review s;
 *	review_init(&s, &catalogue, quick);
 *	status = review_add(&s, "000/table2", &d);
 *	status = review_run(&s, &options, &d);
 *	review_tables(&s, results);
 *	review_fini(&s);
 */

#include "base/map.h"
#include "paper/grid.h"
#include "paper/judge.h"
#include "paper/paper.h"
#include "study/point.h"
#include "study/processes.h"

/* Outcome in one setting of the open parameters. */
struct review_setting {
	struct judgement *judgements; /* one per check */
	enum paper_verdict verdict;
};

struct review_item {
	const struct paper *paper;
	const struct paper_experiment *experiment;
	struct paper_grid grid;          /* no points: nothing to run */
	size_t *jobs;                    /* job of each point */
	struct review_setting *settings; /* set when all jobs are complete; NULL before */
	enum paper_verdict verdict;      /* outcome, or the recorded verdict if nothing ran */
	char *holds;                     /* settings in which the verdict holds, if not all */
};

/* A run shared by all points with the same command. */
struct review_job {
	char *command;      /* words after "heddle" */
	size_t item, point; /* the first point */
	struct point_id id; /* set by review_run */
	struct point_outcome outcome;
	bool is_stored; /* stored by an earlier call and not run again */
};

struct paper_review {
	const struct paper_catalogue *catalogue;
	bool quick;
	/*
	 * The folder papers/ on this machine, for printed commands; NULL: none.
	 * Runs use the built-in files.
	 */
	const char *folder;
	struct review_item *items;
	size_t n_items, items_cap;
	struct review_job *jobs;
	size_t n_jobs, jobs_cap;
	struct text_map by_command; /* index into jobs */
};

struct review_options {
	const char *db;      /* runs are read from it and added to it; NULL: none */
	const char *program; /* program that runs the commands; NULL: this one */
	unsigned at_once;    /* processes, at least 1 */
	/* Called when a run has ended and its experiments have been judged; may be NULL. */
	void (*tick)(void *context, const struct paper_review *s);
	void *context;
};

void review_init(struct paper_review *s, const struct paper_catalogue *c, bool quick);
void review_fini(struct paper_review *s);

/*
 * Adds "000/table2", all of "000", or everything ("all"). HD_ERR_NOT_FOUND with
 * the nearest name. Experiments that were added before are ignored.
 */
HD_MUST_CHECK enum hd_status review_add(struct paper_review *s, const char *name, struct diag *d);

/* Rejects experiments without open parameters. */
HD_MUST_CHECK enum hd_status review_has_open(const struct paper_review *s, struct diag *d);

/* Runs the jobs. An experiment is judged when its last run has ended. A failed
 * run is not an error. */
HD_MUST_CHECK enum hd_status review_run(struct paper_review *s, const struct review_options *o,
					struct diag *d);

/* Number of completed jobs, with results or with a failure. */
size_t review_count_done(const struct paper_review *s);
/* Whether all jobs of an experiment are complete. */
bool review_item_done(const struct paper_review *s, const struct review_item *i);
/* Whether the outcome equals the recorded one. */
bool review_as_recorded(const struct paper_review *s, const struct review_item *item);

/* Writes "heddle ...", with {axes} where points differ; nothing if there is no command. */
void review_command(const struct paper_review *s, const struct review_item *item,
		    struct strbuf *out);
/* Writes "reproduced for unit=2; unit=4": the verdict and where it holds. */
void review_verdict(enum paper_verdict v, const char *holds, struct strbuf *out);

#endif
