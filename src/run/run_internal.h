/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_RUN_RUN_INTERNAL_H
#define HD_RUN_RUN_INTERNAL_H

/* State of a run, shared by run.c, alone.c, rates.c and checkpoint_schedule.c. Internal to them. */

#include "base/file.h"
#include "hca/traffic.h"
#include "run/checkpoint.h"
#include "run/repeat.h"
#include "run/run.h"
#include "sim/jobs/jobs.h"
#include "sim/report/picture.h"

/* An output file that is written during the run. */
struct side_file {
	struct file_writer writer;
	FILE *stream;
	bool is_open; /* the writer is; otherwise the output is discarded */
};

/* Allowed rate of a flow at an instant, in packets per second. */
struct run_rate {
	hd_time time;
	uint32_t flow;
	double rate;
};

struct run_rates {
	hd_time next; /* next sampling instant */
	struct run_rate *items;
	size_t n, cap;
};

struct run {
	struct run_options options;
	struct fabric *fabric;
	bool *ports; /* per sim port: observed; NULL: all */
	struct report_observers watch;
	struct side_file pcap, trace;
	struct report_samples samples;
	struct run_rates rates;
	struct sim *sim;
	struct lab *queue_pairs; /* or NULL */
	struct jobs *jobs;       /* or NULL */
	struct repeats repeats;
	/* Completion of each job without other load; computed after the run. */
	struct {
		hd_time *completion; /* per job; HD_TIME_NEVER: not known */
		uint32_t next;       /* job being computed, or to be computed next */
		struct jobs *jobs;   /* of the current job's run, or NULL */
		struct sim *sim;
		struct repeats repeats;
	} alone;
	uint32_t outside; /* number of options.outside */
	bool is_stopped;
	bool is_over; /* nothing is left to compute, and files are written */
	enum sim_state state;
	/* Of a run that saves checkpoints or continues from one. */
	struct digest content;
	struct strbuf restart; /* bytes of the checkpoint */
	struct pack saved;     /* reader of the rest of `restart` */
	double saved_at;       /* monotonic clock, s */
	bool is_due;
	bool is_saved;         /* a checkpoint of this run exists */
	hd_time saved_now;     /* simulated time of that checkpoint */
	struct strbuf unsaved; /* why the last due checkpoint failed, or "" */
};

/* ---- run.c ------------------------------------------------------- */

/* Reports invalid data from another process (SIM_BROKEN). */
enum hd_status run_refuse_broken(struct run *s, const struct sim *sim, struct diag *d);

/* Whether only jobs are observed in a run, so that iterations may be skipped. */
bool run_may_repeat(const struct run *s);

/* ---- alone.c -------------------------------------------------- */

/* The next instant at which the jobs are checked for their end (J11). */
hd_time run_next_job_check(const struct run *s);
void run_alone_init(struct run *s);
void run_alone_fini(struct run *s);
/* Whether run_jobs_alone has something left to compute. */
bool run_alone_is_left(const struct run *s);
/*
 * Computes the completion of each job without other load, after the run. Stops early if the
 * progress callback returns false (is_stopped); the next call resumes.
 */
HD_MUST_CHECK enum hd_status run_jobs_alone(struct run *s, struct diag *d);

/* ---- rates.c -------------------------------------------------- */

/* The next sampling instant of rates; HD_TIME_NEVER: none. */
hd_time run_rates_next(const struct run *s);
void run_rates_take(struct run *s);
void run_rates_table(const struct run *s, struct results *r);

/* ---- checkpoint_schedule.c ------------------------------------------------- */

/*
 * Checks whether the run can be saved, and reads the checkpoint to continue from. Call before
 * any output is opened.
 */
HD_MUST_CHECK enum hd_status run_checkpoint_begin(struct run *s, struct diag *d);
/* Opens an output file of the run: empty, or at its position in the checkpoint. */
HD_MUST_CHECK enum hd_status run_checkpoint_open_output(struct run *s, struct side_file *f,
							const char *path, struct diag *d);
/* Restores the state of the checkpoint. Call when all observers are attached. */
HD_MUST_CHECK enum hd_status run_checkpoint_restore(struct run *s, struct diag *d);
/* The instant to run to: `until`, or the next checkpoint if that is earlier. */
hd_time run_checkpoint_next(const struct run *s, hd_time until);
/* A sim_progress_fn; `context` is the struct run. */
bool run_checkpoint_progress(void *context, const struct sim_progress *p);
/* Saves a checkpoint if one is due. Call when the run has paused. */
void run_checkpoint_pause(struct run *s);
/* Adds a remark to the results if the checkpoint is stale or missing. */
void run_checkpoint_remark(const struct run *s, struct results *r);

#endif
