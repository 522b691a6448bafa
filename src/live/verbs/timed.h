/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_VERBS_TIMED_H
#define HD_LIVE_VERBS_TIMED_H

/*
 * The simulated clock: requests go to the engine (live/clock), which
 * lets their packets cross the fabric in simulated time. When the engine says that
 * a message has arrived, it is carried out as at the free pace; when it says
 * that it is done, it completes.
 */

#include "live/futex.h"
#include "live/verbs/verbs_internal.h"

/* Whether the fabric is one where data take time. */
static inline bool is_timed(void)
{
	return verbs_adapter.page && verbs_adapter.page->pace == LIVE_TIMED;
}

/* Whether there is an engine: else nothing that is given arrives. */
bool timed_has_engine(void);
/* Waits until the engine knows of us: from then on its time waits for us. */
void timed_meet(void);
/* A queue pair has changed; with `send`. It is gone with RESET and ERR. */
void timed_pair(const struct soft_qp *q);
/* A queue pair has joined a group, or left it. */
void timed_member(const struct soft_qp *q, const struct live_member *m);
/* `n` receives were posted to a queue pair, or to a shared queue. */
void timed_receive(const struct soft_qp *q, uint32_t n);
void timed_shared_receive(const struct srq *srq, uint32_t n);
/* A shared queue is there, or gone. */
void timed_shared(const struct srq *srq, bool is_there);
/* Gives what is posted to the engine, up to this one; with `send`. */
void timed_give(struct soft_qp *q, uint64_t limit);
/* A poll of ours found something, or not. */
void timed_polled(bool found);
/* If there is no engine any more, what it was given has failed. */
void timed_mend(void);
/* Does what the engine has told us. */
void timed_hear(void);
/*
 * Waits until all that UC or UD were given has left and is where it goes, as it
 * would be on hardware by the time that its command is done; without locks.
 */
void timed_linger(struct soft_qp *q);
/* A program has something to do. */
static inline void timed_stir(struct program_memory *m)
{
	struct live_clock *c = &m->head.clock;

	if (atomic_exchange(&c->polls, 0) >= LIVE_PATIENCE)
		live_wake(&c->called);
}

/* ---- flight.c: UC and UD, which complete before they arrive */

/* The engine says so; with `send`. */
void timed_flight_event(struct soft_qp *q, const struct live_note *n);
/* What has left is lost; with `send`. */
void timed_flight_drop(struct soft_qp *q);

/* ---- clock.c: what programs read of the time */

/* True while programs read the simulated clock. */
bool verbs_clock_is_on(void);
/* True if it replaces that clock of the machine. */
bool verbs_clock_has(clockid_t which);
/* The engine's time, not before the last reading of the program. */
uint64_t verbs_clock_ps(void);
/* Nanoseconds from now until `t`, below 0 if it is past. */
int64_t verbs_clock_left(clockid_t which, const struct timespec *t);
/* The clock of an absolute time: CLOCK_REALTIME or CLOCK_MONOTONIC. */
clockid_t verbs_clock_of(const struct timespec *t);
/* By the clock of this machine. */
int verbs_real_clock(clockid_t which, struct timespec *out);
/* From now on the program reads the fabric's time; threads that there are
 * already, ours, read the processor's counter as it is. */
void verbs_clock_start(void);
/* The program reads the machine's time again: it has no adapter. */
void verbs_clock_stop(void);

/* ---- waits.c: timeouts */

/* No thread waits; before the first wait of this process. */
void verbs_waits_reset(void);
/* Timeouts of the calling thread are those of the machine. */
void verbs_waits_exempt(void);

#endif
