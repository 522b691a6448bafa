/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_RUN_RUN_INTERNAL_H
#define HD_RUN_RUN_INTERNAL_H

/*
 * What run.c, alone.c, rates.c and checkpoint_schedule.c know of a run. Internal to these.
 */

#include "base/file.h"
#include "hca/traffic.h"
#include "run/checkpoint.h"
#include "run/repeat.h"
#include "run/run.h"
#include "sim/jobs/jobs.h"
#include "sim/report/picture.h"

/* A file that is written during the run. */
struct side_file {
	struct file_writer writer;
	FILE *stream;
	bool is_open; /* the writer; else the output is discarded */
};

/* The allowed rate of a flow at an instant, in packets per second. */
struct run_rate {
	hd_time time;
	uint32_t flow;
	double rate;
};

struct run_rates {
	hd_time next; /* instant */
	struct run_rate *items;
	size_t n, cap;
};

struct run {
	struct run_options options;
	struct fabric *fabric;
	bool *ports; /* per sim port: looked at; NULL: all */
	struct report_observers watch;
	struct side_file pcap, trace;
	struct report_samples samples;
	struct run_rates rates;
	struct sim *sim;
	struct lab *queue_pairs; /* or NULL */
	struct jobs *jobs;       /* or NULL */
	struct repeats repeats;
	/* How long each job takes without others; computed after the run. */
	struct {
		hd_time *completion; /* per job; HD_TIME_NEVER: not known */
		uint32_t next;       /* job that is computed, or will be */
		struct jobs *jobs;   /* of its run, while there is one */
		struct sim *sim;
		struct repeats repeats;
	} alone;
	uint32_t outside; /* endpoint, if there is one */
	bool is_stopped;
	bool is_over; /* nothing is left to compute, and files are written */
	enum sim_state state;
	/* Of a run that is saved periodically, or continued. */
	struct digest content;
	struct strbuf restart; /* the bytes of the checkpoint */
	struct pack saved;     /* what is still to be read of them */
	double saved_at;       /* of the monotonic clock, s */
	bool is_due;
	bool is_saved;         /* there is a checkpoint of the run, */
	hd_time saved_now;     /* at this simulated time */
	struct strbuf unsaved; /* why the one that was due last failed, or "" */
};

/* ---- run.c ------------------------------------------------------- */

/* Bytes of another process made no sense in one of its runs. */
enum hd_status run_refuse_broken(struct run *s, const struct sim *sim, struct diag *d);

/* Whether nothing but jobs is seen in a run, of which iterations may be left out. */
bool run_may_repeat(const struct run *s);

/* ---- alone.c -------------------------------------------------- */

/* The next instant at which jobs are looked at (J11). */
hd_time run_next_job_check(const struct run *s);
void run_alone_init(struct run *s);
void run_alone_fini(struct run *s);
/* Whether run_jobs_alone has something left to compute. */
bool run_alone_is_left(const struct run *s);
/*
 * How long each job takes with nothing else on the fabric, after the run. Ends
 * early if progress() says so (is_stopped); the next call resumes.
 */
HD_MUST_CHECK enum hd_status run_jobs_alone(struct run *s, struct diag *d);

/* ---- rates.c -------------------------------------------------- */

/* The next instant at which rates are noted; HD_TIME_NEVER: none. */
hd_time run_rates_next(const struct run *s);
void run_rates_take(struct run *s);
void run_rates_table(const struct run *s, struct results *r);

/* ---- checkpoint_schedule.c ------------------------------------------------- */

/* Before anything is opened: can it be saved; is there a state to continue
 * with? */
HD_MUST_CHECK enum hd_status run_checkpoint_begin(struct run *s, struct diag *d);
/* Opens a file that is written during the run: empty, or where the
 * checkpoint was. */
HD_MUST_CHECK enum hd_status run_checkpoint_open_output(struct run *s, struct side_file *f,
							const char *path, struct diag *d);
/* All observers are attached: restores the state of the checkpoint. */
HD_MUST_CHECK enum hd_status run_checkpoint_restore(struct run *s, struct diag *d);
/* Until when to run, if it is not paused before. */
hd_time run_checkpoint_next(const struct run *s, hd_time until);
/* A sim_progress_fn whose context is a simulation. */
bool run_checkpoint_progress(void *context, const struct sim_progress *p);
/* The run has paused: saves it, if it is time to. */
void run_checkpoint_pause(struct run *s);
/* A remark if the checkpoint is not what it should be. */
void run_checkpoint_remark(const struct run *s, struct results *r);

#endif
