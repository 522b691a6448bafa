/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MEASURE_GAUGE_H
#define HD_MEASURE_GAUGE_H

/*
 * A level that changes over simulated time, such as the depth of a queue:
 * its mean over time and its maximum. Changes must come in order of time.
 * The area is 128 bits, so nothing overflows.
 */

#include <stdint.h>

#include "base/units.h"

struct gauge {
	uint64_t level;
	uint64_t max;
	hd_time since; /* when the level last changed */
	hd_time start;
	uint64_t area_low, area_high; /* level x picoseconds until `since` */
};

void gauge_init(struct gauge *g, hd_time now, uint64_t level);
/* Forgets the past, as at the end of a warm-up; the level stays. */
void gauge_restart(struct gauge *g, hd_time now);

static inline void gauge_set(struct gauge *g, hd_time now, uint64_t level)
{
	__extension__ typedef unsigned __int128 u128;
	u128 more = (u128)g->level * (now - g->since);

	g->area_low += (uint64_t)more;
	g->area_high += (uint64_t)(more >> 64) + (g->area_low < (uint64_t)more);
	g->since = now;
	g->level = level;
	g->max = level > g->max ? level : g->max;
}

/* Mean from the start until `now`; the level itself if no time has passed. */
double gauge_mean(const struct gauge *g, hd_time now);

#endif
