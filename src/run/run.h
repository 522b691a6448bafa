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
 * The run owns the fabric, unless it has a run_load. Observers do not change the results.
 */

#include "base/option.h"
#include "fabric/fabric.h"
#include "measure/results.h"
#include "sim/report/watch.h"
#include "sim/sim.h"

/* Flows and stop rules of a study that uses a fabric without the scenario's traffic. */
struct run_load {
	const struct sim_flow *flows;
	uint32_t n_flows;
	struct sim_rules rules;
	/* Out of memory ends the program (hd_alloc) instead of the run. */
	bool ends_without_memory;
};

/* Whether repeating iterations of jobs are skipped. The results do not depend on it. */
enum run_repeat {
	RUN_REPEAT_IF_IT_PAYS,
	RUN_REPEAT_NEVER,
	RUN_REPEAT_ALWAYS, /* searches at any cost */
};

struct run_options {
	const char *pcap, *trace; /* output files, or NULL */
	unsigned flow_control;    /* enum report_capture_flow */
	struct option_list ports; /* ports to observe; empty: all */
	bool sampled;             /* sample the load of links over time */
	hd_time sample;           /* sampling interval; 0: about 1/100 of the run */
	/*
	 * Interval at which the allowed rate of each controlled flow is recorded; 0: never.
	 * Cannot be combined with a checkpoint or with several processes.
	 */
	hd_time rates;
	/*
	 * Path of the checkpoint to write, and of the checkpoint to continue from; NULL: none. A
	 * checkpoint is saved every `every_simulated` of simulated time or, if that is 0, every
	 * `every` of real time.
	 */
	const char *checkpoint, *restart;
	hd_time every, every_simulated;
	/*
	 * Processes that compute the run together; NULL: this one only. The first process writes
	 * the files and has the results.
	 */
	const struct world *world;
	/*
	 * An additional endpoint of the simulator. It injects packets until run_close, and no
	 * stop rule ends the run. NULL: none.
	 */
	const struct sim_endpoint *outside;
	/*
	 * The caller attaches queue pairs of programs (hca/external_qp.h) to run_sim, and the
	 * programs advance the run. A single thread computes it.
	 */
	bool carries_programs;
	enum run_repeat repeat;
	/*
	 * Simulated instead of the scenario's traffic and jobs; NULL: none. Read only during
	 * run_open. The caller keeps the fabric, and may run several loads on it in sequence.
	 * Results are sim_metrics of run_sim; tables and output files exist only for the rows of
	 * a scenario.
	 */
	const struct run_load *load;
	sim_progress_fn *progress; /* or NULL; returning false stops the run */
	/*
	 * Called with the reason when a checkpoint could not be written; or NULL. The run
	 * continues, and retries when the next checkpoint is due.
	 */
	void (*unsaved)(void *context, const char *line);
	void *context;
};

struct run;

/* Appends a digest line that is equal for two runs that compute the same. */
void run_identity(const struct fabric *fabric, const struct run_options *o, struct strbuf *out);

/* Takes ownership of the fabric, also on error; not with a load. */
HD_MUST_CHECK enum hd_status run_open(struct fabric *fabric, const struct run_options *o,
				      struct diag *d, struct run **out);
/* Frees the run, and removes incomplete output files. */
void run_close(struct run *s);

/*
 * Runs to the end. HD_ERR_IO if a file cannot be written; HD_ERR_ENV if packets exhaust the
 * memory: results up to then remain available.
 */
HD_MUST_CHECK enum hd_status run_to_end(struct run *s, struct diag *d);
/*
 * Alternative to run_to_end: runs all instants up to `until`, or until the progress callback
 * returns false. The outcome equals that of run_to_end for any sequence of steps. Not to be
 * called after the run is over. One process only.
 */
HD_MUST_CHECK enum hd_status run_advance(struct run *s, hd_time until, struct diag *d);
/* Ends a run of run_advance early; output files hold the data up to this instant. */
HD_MUST_CHECK enum hd_status run_stop(struct run *s, struct diag *d);
/* For runs with an outside endpoint: runs all instants up to `until`; may be called again. */
HD_MUST_CHECK enum hd_status run_until(struct run *s, hd_time until, struct diag *d);
/*
 * Whether nothing is left to compute and all files are written. A run whose state has ended may
 * still compute the completion of its jobs without other load.
 */
bool run_is_over(const struct run *s);
/* Marks the results as those of a run that the progress callback has stopped. */
void run_interrupt(struct run *s);
/* Whether the progress callback has stopped the run. */
bool run_is_stopped(const struct run *s);
/* Number of skipped iterations of jobs; *period: the simulated time of one repetition. */
uint64_t run_left_out(const struct run *s, hd_time *period);
/* Whether a checkpoint of this run exists; *now: its simulated time. */
bool run_is_saved(const struct run *s, hd_time *now);
/* Whether the last checkpoint that was due could not be written. */
bool run_is_unsaved(const struct run *s);
/* Endpoint number of options.outside. */
uint32_t run_outside(const struct run *s);
struct fabric *run_fabric(const struct run *s);
struct sim *run_sim(const struct run *s);
enum sim_state run_state(const struct run *s);

/*
 * Results so far, at any time between run_open and run_close. `all`: rows for every port and
 * flow. *met: all goals are met and packets are still moving. The caller frees the results.
 */
struct results *run_results(const struct run *s, bool all, bool *met);
/* Results for a database or a page: also curves, the fabric and samples. */
struct results *run_record(const struct run *s);
/* Adds the samples so far, of a run with options.sampled. */
void run_samples(const struct run *s, struct results *r);
/* Adds the fabric and its layout, for a page. */
void run_picture(const struct run *s, struct results *r);
/* Checksum of all deliveries, losses and port counters, as a number and as text. */
uint64_t run_sum(const struct run *s);
void run_checksum(const struct run *s, struct strbuf *out);
/* Counters of the observed ports, in the format of perfquery. */
void run_counters(const struct run *s, struct strbuf *out);

#endif
