/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_CLOCK_SEEN_H
#define HD_LIVE_CLOCK_SEEN_H

/* A capture of what programs send, if the daemon has been asked for one;
 * private to live/timed. */

#include "live/clock/engine.h"

/* Begins it, or ends it, as the daemon says. */
void clock_seen_look(struct engine *e);
/* Programs have heard all that they were told. */
void clock_seen_settle(struct engine *e);
/* The simulation ends. */
void clock_seen_leave(struct engine *e);
void clock_seen_hop(struct engine *e, const struct external_hop *p);
/* The daemon or the capturing program has ended. */
void clock_seen_end(struct engine *e);

#endif
