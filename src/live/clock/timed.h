/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_CLOCK_TIMED_H
#define HD_LIVE_CLOCK_TIMED_H

/*
 * The engine of a live fabric with the simulated clock: work requests of programs
 * become packets of queue pairs (hca/external_qp.h) on the fabric as it is
 * programmed; programs are notified when packets arrive. Time advances while all
 * programs wait, as fast as the engine can; it stops while a program works.
 *
 * A program waits if its last LIVE_PATIENCE polls found nothing, if all its threads
 * sleep in the kernel, or if it used PATIENCE ticks of processor time without a
 * request to its adapter (spinning). Whether it has a processor does not count:
 *
 *	event				the program works until
 *	it opens the adapter		the engine knows it
 *	it posts a request		the engine has taken the request
 *	the engine writes a note	it has read the note; its completion or the
 *					peer's event exists then, and the thread that
 *					slept for it is awake
 *	a peer rings its bell		its helper thread has answered
 *	a poll finds a completion	it waits again, as above
 *	page fault, SIGSTOP		the kernel has resumed it
 */

#include "base/diag.h"
#include "base/strbuf.h"
#include "run/run.h"

struct engine;

struct timed_source {
	/* A run of the fabric as it is programmed now, without traffic rows. */
	enum hd_status (*open)(void *context, struct diag *d, struct run **out);
	void (*close)(void *context, struct run *run);
	/* True if the tables differ from those of the open run. */
	bool (*is_old)(void *context);
	/*
	 * Simulates the traffic rows described by `words` ('live traffic': its process, its folder,
	 * its words; each ends with NUL), with timed_enter and clock_carry. Results go to `file`,
	 * which the caller keeps; messages go to `errors`. Returns the exit status.
	 */
	int (*run_traffic)(void *context, struct engine *e, const struct strbuf *words, int file,
			   struct strbuf *errors);
	void *context;
};

/* ---- called by run_traffic */

/*
 * Advances a new run to `now` and attaches the queue pairs of all programs; their messages in
 * flight are sent again. The run has run_options.carries_programs.
 */
HD_MUST_CHECK enum hd_status timed_enter(struct engine *e, struct run *run, hd_time now,
					 struct diag *d);
/* Detaches the queue pairs; called before the run is closed or shown. */
void clock_leave(struct engine *e);

enum timed_pause {
	TIMED_CHANGED,  /* tables or links may have changed */
	TIMED_OVER,     /* the run has ended */
	TIMED_DETACHED, /* 'live traffic' or the fabric has ended */
};
/* Advances the run and the programs. */
enum timed_pause clock_carry(struct engine *e);
/* Increments by packets of programs to the counters of a port during the measured time. */
const struct sim_counters *clock_program_counters(const struct engine *e, port_id port);

/* Runs the engine until the fabric in `dir` has ended; calls `ready` once it is ready. */
HD_MUST_CHECK enum hd_status timed_run(const char *dir, const char *profile,
				       const struct timed_source *from, void (*ready)(void *who),
				       void *who, struct diag *d);

#endif
