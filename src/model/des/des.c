/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/des/des.h"

#include <math.h>

uint64_t des_warmup(const struct des_options *o)
{
	return o->packets / 10;
}

double des_scale(const struct des_options *o, double fastest_rate, double arrival_rate)
{
	double arrivals = (double)(o->packets + des_warmup(o));

	return fmin(1e9 * fastest_rate, 1e18 * arrival_rate / arrivals);
}

hd_time des_time(double scale, double units)
{
	return (hd_time)(scale * units + 0.5);
}

void window_start(struct window *w, hd_time now, hd_time width)
{
	w->area = 0;
	w->last = now;
	w->end = now + width;
	w->width = width;
	batch_means_init(&w->means);
}

void window_pass(struct window *w, hd_time now)
{
	while (now >= w->end) {
		w->area += w->level * (double)(w->end - w->last);
		batch_means_add(&w->means, w->area / (double)w->width);
		w->area = 0;
		w->last = w->end;
		w->end += w->width;
	}
	w->area += w->level * (double)(now - w->last);
	w->last = now;
}

struct interval window_interval(const struct window *w, double level)
{
	return batch_means_interval(&w->means, level);
}

bool des_agrees(const struct interval *in, double value)
{
	if (!in->sound || !isfinite(in->half_width) || in->half_width == 0)
		return true;
	return fabs(in->mean - value) <= in->half_width;
}
