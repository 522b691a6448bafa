/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SERVE_WATCH_H
#define HD_SERVE_WATCH_H

/*
 * A live fabric that is looked at: its ports, links and tables as they are
 * now, the counters of all ports, and how busy links were between two looks,
 * by the clock. Cables can be pulled and plugged in again; all else is for its
 * subnet manager, and for whoever sends.
 */

#include "serve/asks.h"

struct fabric_watch;

/* Refuses if no fabric `name` runs; the name is borrowed. */
HD_MUST_CHECK enum hd_status watch_new(const char *name, struct diag *d, struct fabric_watch **out);
void watch_free(struct fabric_watch *w);

/* Goes on, with whatever runs under that name, when a fabric is gone. */
asks_answer_fn watch_answer;

#endif
