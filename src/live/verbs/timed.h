/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_VERBS_TIMED_H
#define HD_LIVE_VERBS_TIMED_H

/*
 * Simulated clock: requests go to the engine (live/clock), which simulates the transfer of their
 * packets. When the engine reports that a message has arrived, the message is executed as with the
 * free clock; when the engine reports that it is done, it completes.
 */

#include "live/futex.h"
#include "live/verbs/verbs_internal.h"

/* True if the fabric has the simulated clock. */
static inline bool is_timed(void)
{
	return verbs_adapter.page && verbs_adapter.page->pace == LIVE_TIMED;
}

/* True if an engine runs; without one, no request arrives. */
bool timed_has_engine(void);
/*
 * Waits until the engine knows this program; time does not advance while the program works from
 * then on.
 */
void timed_meet(void);
/* Reports the attributes of a queue pair, or with RESET and ERR its removal; with `send`. */
void timed_pair(const struct soft_qp *q);
/* Reports that a queue pair has joined or left a group. */
void timed_member(const struct soft_qp *q, const struct live_member *m);
/* Reports `n` receives posted to a queue pair, or to a shared queue. */
void timed_receive(const struct soft_qp *q, uint32_t n);
void timed_shared_receive(const struct srq *srq, uint32_t n);
/* Reports that a shared queue was created or destroyed. */
void timed_shared(const struct srq *srq, bool is_there);
/* Gives posted sends to the engine, up to `limit`; with `send`. */
void timed_give(struct soft_qp *q, uint64_t limit);
/* Records whether a poll found a completion. */
void timed_polled(bool found);
/* If the engine has ended, fails the sends that were given to it. */
void timed_mend(void);
/* Processes the notes of the engine. */
void timed_hear(void);
/*
 * Waits until all sends given by UC or UD have left the adapter and have arrived, as on hardware
 * by the time that the command is done; without locks.
 */
void timed_linger(struct soft_qp *q);
/* Marks a program as working, and wakes it if it sleeps. */
static inline void timed_stir(struct program_memory *m)
{
	struct live_clock *c = &m->head.clock;

	if (atomic_exchange(&c->polls, 0) >= LIVE_PATIENCE)
		live_wake(&c->called);
}

/* ---- flight.c: sends of UC and UD, which complete before they arrive */

/* Processes a note; with `send`. */
void timed_flight_event(struct soft_qp *q, const struct live_note *n);
/* Frees the sends in flight, which are lost; with `send`. */
void timed_flight_drop(struct soft_qp *q);

/* ---- clock.c: clocks that programs read */

/* True while programs read the simulated clock. */
bool verbs_clock_is_on(void);
/* True if the simulated clock replaces that clock of the machine. */
bool verbs_clock_has(clockid_t which);
/* The engine's time; never less than an earlier reading of the program. */
uint64_t verbs_clock_ps(void);
/* Nanoseconds from now until `t`; negative if `t` is past. */
int64_t verbs_clock_left(clockid_t which, const struct timespec *t);
/* The clock of an absolute time: CLOCK_REALTIME or CLOCK_MONOTONIC. */
clockid_t verbs_clock_of(const struct timespec *t);
/* Reads the machine's clock. */
int verbs_real_clock(clockid_t which, struct timespec *out);
/*
 * The program reads the fabric's time from now on. Threads that exist already are the adapter's
 * own; they read the processor's counter.
 */
void verbs_clock_start(void);
/* The program reads the machine's time again, because it has no adapter. */
void verbs_clock_stop(void);

/* ---- waits.c: timeouts */

/* Resets the list of waiting threads; called before the first wait of a process. */
void verbs_waits_reset(void);
/* Timeouts of the calling thread use the machine's clock. */
void verbs_waits_exempt(void);

#endif
