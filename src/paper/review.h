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

/* In one setting of what the paper leaves open. */
struct review_setting {
	struct judgement *judgements; /* one per check */
	enum paper_verdict verdict;
};

struct review_item {
	const struct paper *paper;
	const struct paper_experiment *experiment;
	struct paper_grid grid;          /* no points: nothing to run */
	size_t *jobs;                    /* of each point */
	struct review_setting *settings; /* once all are done; NULL before */
	enum paper_verdict verdict;      /* found; recorded if nothing ran */
	char *holds;                     /* the settings in which it holds, if not in all */
};

/* A run, for all points that have its command. */
struct review_job {
	char *command;      /* words after "heddle" */
	size_t item, point; /* the first point */
	struct point_id id; /* set by review_run */
	struct point_outcome outcome;
	bool is_stored; /* by an earlier call: it is not run */
};

struct paper_review {
	const struct paper_catalogue *catalogue;
	bool quick;
	/*
	 * Where papers/ is on this machine, for commands that are printed; NULL:
	 * nowhere. Runs have the files that are built in.
	 */
	const char *folder;
	struct review_item *items;
	size_t n_items, items_cap;
	struct review_job *jobs;
	size_t n_jobs, jobs_cap;
	struct text_map by_command; /* jobs */
};

struct review_options {
	const char *db;      /* runs are read from it and added to it; NULL: none */
	const char *program; /* that runs the commands; NULL: this one */
	unsigned at_once;    /* processes, at least 1 */
	/* Called when a run has ended and its experiments have been judged; or NULL. */
	void (*tick)(void *context, const struct paper_review *s);
	void *context;
};

void review_init(struct paper_review *s, const struct paper_catalogue *c, bool quick);
void review_fini(struct paper_review *s);

/*
 * Adds "000/table2", all of "000", or everything ("all"). HD_ERR_NOT_FOUND
 * with the nearest name. What is there already is not added again.
 */
HD_MUST_CHECK enum hd_status review_add(struct paper_review *s, const char *name, struct diag *d);

/* Refuses experiments in which the paper leaves nothing open. */
HD_MUST_CHECK enum hd_status review_has_open(const struct paper_review *s, struct diag *d);

/* An experiment is judged when its last run has ended. A run that fails is no refusal. */
HD_MUST_CHECK enum hd_status review_run(struct paper_review *s, const struct review_options *o,
					struct diag *d);

/* How many jobs ended, with results or with a failure. */
size_t review_count_done(const struct paper_review *s);
/* Whether all jobs of an experiment ended. */
bool review_item_done(const struct paper_review *s, const struct review_item *i);
/* Whether what was found is what is recorded. */
bool review_as_recorded(const struct paper_review *s, const struct review_item *item);

/* "heddle ...", with {axes} where points differ; nothing to run: nothing. */
void review_command(const struct paper_review *s, const struct review_item *item,
		    struct strbuf *out);
/* "reproduced for unit=2; unit=4", with what it holds for. */
void review_verdict(enum paper_verdict v, const char *holds, struct strbuf *out);

#endif
