/* SPDX-License-Identifier: BSD-2-Clause */
#include "measure/gauge.h"

void gauge_init(struct gauge *g, hd_time now, uint64_t level)
{
	*g = (struct gauge){
		.level = level, .max = level, .since = now, .start = now
	};
}

void gauge_restart(struct gauge *g, hd_time now)
{
	gauge_init(g, now, g->level);
}

double gauge_mean(const struct gauge *g, hd_time now)
{
	struct gauge end = *g;

	if (now <= g->start)
		return (double)g->level;
	gauge_set(&end, now, g->level);
	return ((double)end.area_high * 0x1p64 + (double)end.area_low) /
	       (double)(now - g->start);
}
