/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_CLOCK_SEEN_H
#define HD_LIVE_CLOCK_SEEN_H

/*
 * Capture of the packets of programs, written when the daemon requests it; private to live/clock.
 */

#include "live/clock/engine.h"

/* Starts or ends the capture as the daemon requests. */
void clock_seen_look(struct engine *e);
/* Called when programs have read all their notes. */
void clock_seen_settle(struct engine *e);
/* Called before the simulation ends. */
void clock_seen_leave(struct engine *e);
void clock_seen_hop(struct engine *e, const struct external_hop *p);
/* Called when the daemon or the capturing program has ended. */
void clock_seen_end(struct engine *e);

#endif
