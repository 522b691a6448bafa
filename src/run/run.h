/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_RUN_RUN_H
#define HD_RUN_RUN_H

/*
 * The driver of one run of a scenario, with its queue pairs, jobs and observers
 * (captures, traces, samples of links). Every command and interface that
 * simulates a scenario uses it.
 *
 *	if (run_open(fabric, &options, &d, &s) == HD_OK) {
 *		if (run_to_end(s, &d) == HD_OK)
 *			results = run_results(s, false, &met);
 *		run_close(s);
 *	}
 *
 * Observers do not change the results.
 */

#include "base/option.h"
#include "fabric/fabric.h"
#include "measure/results.h"
#include "sim/report/watch.h"
#include "sim/sim.h"

/* What a study sends on a fabric, and when the run ends. */
struct run_load {
	const struct sim_flow *flows;
	uint32_t n_flows;
	struct sim_rules rules;
	/* Lack of memory ends the program (hd_alloc) instead of the run. */
	bool ends_without_memory;
};

/* Whether iterations of jobs that repeat are left out, with the same results. */
enum run_repeat {
	RUN_REPEAT_IF_IT_PAYS,
	RUN_REPEAT_NEVER,
	RUN_REPEAT_ALWAYS, /* looks for them at any cost */
};

struct run_options {
	const char *pcap, *trace; /* files to write, or NULL */
	unsigned flow_control;    /* enum report_capture_flow */
	struct option_list ports; /* looked at in those; none: all */
	bool sampled;             /* note the use of links over time, */
	hd_time sample;           /* so often; 0: about a hundred times */
	/* Note the allowed rate of each controlled flow this often; 0: never. Not
	 * with a checkpoint or several processes. */
	hd_time rates;
	/*
	 * Save the state now and then: every so often of real time or, if that
	 * is not 0, of simulated time. Continues from that file. NULL: not.
	 */
	const char *checkpoint, *restart;
	hd_time every, every_simulated;
	/* Processes that compute it together; NULL: this one. The first of
	 * them writes the files and has the results. */
	const struct world *world;
	/*
	 * One more endpoint of the simulator, which sends packets of its own
	 * until run_close; no rule ends that run. NULL: none.
	 */
	const struct sim_endpoint *outside;
	/*
	 * The caller attaches queue pairs of programs (hca/external_qp.h) to run_sim and advances
	 * it by them. One thread computes the run.
	 */
	bool carries_programs;
	enum run_repeat repeat;
	/*
	 * Simulated in place of the traffic and jobs of the scenario; NULL:
	 * those. It is read by run_open only. The fabric stays the caller's, for several runs one
	 * after another. Results are sim_metrics of run_sim: tables and files are for the rows of a
	 * scenario.
	 */
	const struct run_load *load;
	sim_progress_fn *progress; /* or NULL; false ends the run */
	/* A checkpoint could not be written, and why; or NULL. The run goes
	 * on, and tries again when the next one is due. */
	void (*unsaved)(void *context, const char *line);
	void *context;
};

struct run;

/* A line that is the same for two runs that compute the same. */
void run_identity(const struct fabric *fabric, const struct run_options *o, struct strbuf *out);

/* Owns the fabric from here on, also after an error; not with a load. */
HD_MUST_CHECK enum hd_status run_open(struct fabric *fabric, const struct run_options *o,
				      struct diag *d, struct run **out);
/* Removes incomplete output files. */
void run_close(struct run *s);

/*
 * To its end. HD_ERR_IO if a file cannot be written; HD_ERR_ENV if packets fill
 * the memory, and what was found until then may still be shown.
 */
HD_MUST_CHECK enum hd_status run_to_end(struct run *s, struct diag *d);
/*
 * In pieces, instead: through all instants up to `until`, or until the progress
 * callback says to stop; the outcome is that of run_to_end, however it is
 * cut. Not to be called after it is over. One process only.
 */
HD_MUST_CHECK enum hd_status run_advance(struct run *s, hd_time until, struct diag *d);
/* Ends that run where it is: files hold what came until then. */
HD_MUST_CHECK enum hd_status run_stop(struct run *s, struct diag *d);
/* With something outside: all instants until then, and on from there. */
HD_MUST_CHECK enum hd_status run_until(struct run *s, hd_time until, struct diag *d);
/*
 * Whether nothing is left to compute and files are written. A run that has come
 * to its end (its state) may still compute how long jobs take by themselves.
 */
bool run_is_over(const struct run *s);
/* Makes its results those of a run that progress() has ended. */
void run_interrupt(struct run *s);
/* Whether progress() has ended it. */
bool run_is_stopped(const struct run *s);
/* Iterations of jobs that were left out; *period: they repeat after that time. */
uint64_t run_left_out(const struct run *s, hd_time *period);
/* Whether there is a checkpoint of this run; *now: the simulated time of it. */
bool run_is_saved(const struct run *s, hd_time *now);
/* Whether the checkpoint that was due last could not be written. */
bool run_is_unsaved(const struct run *s);
/* The number of the endpoint outside. */
uint32_t run_outside(const struct run *s);
struct fabric *run_fabric(const struct run *s);
struct sim *run_sim(const struct run *s);
enum sim_state run_state(const struct run *s);

/*
 * What was found until now, at any moment between run_open and
 * run_close; of every port and flow if `all`; *met: every goal was met
 * and packets still move.
 */
struct results *run_results(const struct run *s, bool all, bool *met);
/* For a database or a page: curves, the fabric and samples, too. */
struct results *run_record(const struct run *s);
/* Adds what samples have of the run until now; of one that is sampled. */
void run_samples(const struct run *s, struct results *r);
/* Adds the fabric as a page draws it. */
void run_picture(const struct run *s, struct results *r);
/* One number that all deliveries, losses and counters of ports enter; and as
 * text. */
uint64_t run_sum(const struct run *s);
void run_checksum(const struct run *s, struct strbuf *out);
/* The counters of the ports that are looked at, as perfquery prints them. */
void run_counters(const struct run *s, struct strbuf *out);

#endif
