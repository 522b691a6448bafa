/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MODEL_DES_DES_H
#define HD_MODEL_DES_DES_H

/*
 * Discrete-event counterparts of the models. Each simulates the same queue
 * customer by customer on the simulator's event kernel, does not use the
 * formulas, and gives confidence intervals.
 *
 * The kernel's clock counts picoseconds; the models' unit of time is arbitrary.
 * A counterpart scales times so that the smallest mean time is 10^9 ps, or less
 * if the run would exceed 10^18 ps. The error of rounding to picoseconds is
 * then far below the statistical error.
 */

#include <stdint.h>

#include "base/eventq.h"
#include "measure/interval.h"

struct des_options {
	uint64_t packets; /* arrivals to observe, after the warm-up */
	uint64_t seed;
	double level; /* of the intervals, e.g. 0.999 */
	/*
	 * Called periodically with the number of arrivals; false ends the run,
	 * and the result covers the arrivals so far. May be NULL.
	 */
	bool (*tick)(void *arg, uint64_t arrivals);
	void *arg;
};

#define DES_MIN_PACKETS 1000
#define DES_MAX_PACKETS UINT64_C(10000000000)

/* Number of arrivals in the warm-up, which are not counted: a tenth of the requested number. */
uint64_t des_warmup(const struct des_options *o);

/* Whether the run continues. */
static inline bool des_continue(const struct des_options *o, const struct eventq *events,
				uint64_t arrivals)
{
	return !o->tick || events->pops % (1 << 18) != 0 || o->tick(o->arg, arrivals);
}

/* Picoseconds per unit of time; rates are per unit of time. */
double des_scale(const struct des_options *o, double fastest_rate, double arrival_rate);
/* A duration in units of time as whole picoseconds. */
hd_time des_time(double scale, double units);

/*
 * A level, or a rate of events, over time: its mean in windows of equal width,
 * which are the samples of the batches.
 */
struct window {
	double level;
	double area; /* area of the current window, in level x ps */
	hd_time last;
	hd_time end; /* end of the current window; 0: not recording */
	hd_time width;
	struct batch_means means;
};

/* Starts recording; the level is unchanged. */
void window_start(struct window *w, hd_time now, hd_time width);
void window_pass(struct window *w, hd_time now); /* for window_set */

static inline void window_set(struct window *w, hd_time now, double level)
{
	if (w->end)
		window_pass(w, now);
	w->level = level;
}

/* Counts one event: the mean is events per `scale` picoseconds. */
static inline void window_hit(struct window *w, hd_time now, double scale)
{
	if (w->end) {
		window_pass(w, now);
		w->area += scale;
	}
}

struct interval window_interval(const struct window *w, double level);

/*
 * Whether the interval contains `value`. An interval that is not sound (see
 * interval.h) or has zero width (no variation) contains every value.
 */
bool des_agrees(const struct interval *in, double value);

#endif
