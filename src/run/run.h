/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_RUN_RUN_H
#define HD_RUN_RUN_H

/*
 * One run of a scenario, with all that its rows need (queue pairs, jobs) and
 * all that looks on: captures, traces, samples of its links. 'heddle sim', the
 * points of 'heddle sweep' and programs that use heddle.h come here.
 *
 *	if (simulation_new(fabric, &options, &d, &s) == HD_OK) {
 *		if (simulation_run(s, &d) == HD_OK)
 *			results = simulation_results(s, false, &met);
 *		simulation_free(s);
 *	}
 *
 * Looking on changes nothing in the run.
 */

#include "base/option.h"
#include "fabric/fabric.h"
#include "measure/results.h"
#include "sim/show/watch.h"
#include "sim/sim.h"

struct simulation_options {
	const char *pcap, *trace; /* files to write, or NULL */
	unsigned flow_control;    /* enum sim_capture_flow */
	struct option_list ports; /* looked at in those; none: all */
	bool sampled;             /* note the use of links over time, */
	hd_time sample;           /* so often; 0: about a hundred times */
	/*
	 * Save the state now and then: every so often of real time or, if that
	 * is not 0, of simulated time. Goes on from such a file. NULL: not.
	 */
	const char *checkpoint, *restart;
	hd_time every, every_simulated;
	/* Processes that compute it together; NULL: this one. The first of
	 * them writes the files and has the results. */
	const struct world *world;
	/*
	 * One more endpoint of the simulator, which sends packets of its own
	 * until simulation_free; no rule ends such a run. NULL: none.
	 */
	const struct sim_endpoint *outside;
	sim_progress_fn *progress; /* or NULL; false ends the run */
	/* A checkpoint could not be written, and why; or NULL. The run goes
	 * on, and tries again when the next one is due. */
	void (*unsaved)(void *context, const char *line);
	void *context;
};

struct simulation;

/* A line that is the same for two runs that compute the same. */
void simulation_identity(const struct fabric *f, const struct simulation_options *o,
			 struct strbuf *out);

/* Takes the fabric over, also if it refuses. */
HD_MUST_CHECK enum hd_status simulation_new(struct fabric *f, const struct simulation_options *o,
					    struct diag *d, struct simulation **out);
/* Files that are not whole are removed. */
void simulation_free(struct simulation *s);

/*
 * To its end. HD_ERR_IO if a file cannot be written; HD_ERR_ENV if packets fill
 * the memory, and what was found until then may still be shown.
 */
HD_MUST_CHECK enum hd_status simulation_run(struct simulation *s, struct diag *d);
/*
 * In pieces, instead: through all instants up to `until`, or until the progress
 * callback says to stop; the outcome is that of simulation_run, however it is
 * cut. Not to be called after it is over. One process only.
 */
HD_MUST_CHECK enum hd_status simulation_advance(struct simulation *s, hd_time until,
						struct diag *d);
/* Ends such a run where it is: files hold what came until then. */
HD_MUST_CHECK enum hd_status simulation_stop(struct simulation *s, struct diag *d);
/* With something outside: all instants until then, and on from there. */
HD_MUST_CHECK enum hd_status simulation_run_until(struct simulation *s, hd_time until,
						  struct diag *d);
/*
 * Whether nothing is left to compute and files are written. A run that has come
 * to its end (its state) may still compute how long jobs take by themselves.
 */
bool simulation_is_over(const struct simulation *s);
/* Whether progress() has ended it. */
bool simulation_is_stopped(const struct simulation *s);
/* Whether there is a checkpoint of this run; *now: the simulated time of it. */
bool simulation_is_saved(const struct simulation *s, hd_time *now);
/* Whether the checkpoint that was due last could not be written. */
bool simulation_is_unsaved(const struct simulation *s);
/* The number of the endpoint outside. */
uint32_t simulation_outside(const struct simulation *s);
struct fabric *simulation_fabric(const struct simulation *s);
struct sim *simulation_sim(const struct simulation *s);
enum sim_state simulation_state(const struct simulation *s);

/*
 * What was found until now, at any moment between simulation_new and
 * simulation_free; of every port and flow if `all`; *met: every goal was met
 * and nothing stands still.
 */
struct results *simulation_results(const struct simulation *s, bool all, bool *met);
/* For a database or a page: curves, the fabric and samples, too. */
struct results *simulation_record(const struct simulation *s);
/* Adds what samples have of the run until now; of one that is sampled. */
void simulation_samples(const struct simulation *s, struct results *r);
/* Adds the fabric as a page draws it. */
void simulation_picture(const struct simulation *s, struct results *r);
/* One number that all deliveries, losses and counters of ports enter; and as
 * text. */
uint64_t simulation_sum(const struct simulation *s);
void simulation_checksum(const struct simulation *s, struct strbuf *out);
/* The counters of the ports that are looked at, as perfquery prints them. */
void simulation_counters(const struct simulation *s, struct strbuf *out);

#endif
