/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_CLOCK_H
#define HD_BASE_CLOCK_H

/*
 * The machine's monotonic clock, for timeouts and progress. No result depends
 * on it. Only differences of its values are meaningful.
 */

#include <time.h>

#include "base/units.h"

static inline hd_time clock_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (hd_time)t.tv_sec * HD_S + (hd_time)t.tv_nsec * HD_NS;
}

static inline double clock_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#endif
