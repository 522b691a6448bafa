/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SERVE_WATCH_H
#define HD_SERVE_WATCH_H

/*
 * The live view of a live fabric: its ports, links and tables as they are now,
 * the counters of all ports, and the use of links between two samples. Users of
 * the view can remove and reconnect cables; its subnet manager and its programs
 * change everything else.
 */

#include "serve/asks.h"

struct fabric_watch;

/* Fails if no fabric `name` runs; the name is borrowed. */
HD_MUST_CHECK enum hd_status watch_new(const char *name, struct diag *d, struct fabric_watch **out);
void watch_free(struct fabric_watch *w);

/* Reattaches to a new fabric of the same name when the old one has ended. */
asks_answer_fn watch_answer;

#endif
