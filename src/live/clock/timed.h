/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_CLOCK_TIMED_H
#define HD_LIVE_CLOCK_TIMED_H

/*
 * The engine of a live fabric where data take time: what programs post becomes
 * packets of queue pairs (hca/external_qp.h) on the fabric as it is programmed,
 * and programs hear when they arrive. Time goes on while all programs wait, as
 * fast as it can; while one is at work it stands.
 *
 * A program waits if it has polled in vain for a while, if all its threads
 * sleep in the kernel, or if it has used up its patience: so much processor
 * time without a word to its adapter is spinning. Whether it has a processor
 * does not count:
 *
 *	it has opened the adapter	it goes on when we know of it
 *	it posts			until we have taken that
 *	we tell it something		until it has heard that; a completion
 *					or an event for a peer is there then,
 *					and whoever slept for it is awake
 *	a peer rings its bell		until its helper has answered
 *	it polls, and finds		it is at work, until it polls in vain,
 *					sleeps or is out of patience
 *	it waits for a page, is stopped	it is at work
 */

#include "base/diag.h"
#include "fabric/fabric.h"

/* Where the fabric comes from, as it is programmed at that moment. */
struct timed_source {
	enum hd_status (*open)(void *context, struct diag *d, struct fabric **out);
	void (*close)(void *context, struct fabric *fabric);
	/* Whether it is programmed otherwise than the one that is open. */
	bool (*is_old)(void *context);
	void *context;
};

/* Until the fabric in `dir` is gone; says when it is ready. */
HD_MUST_CHECK enum hd_status timed_run(const char *dir, const char *profile,
				       const struct timed_source *from, void (*ready)(void *who),
				       void *who, struct diag *d);

#endif
