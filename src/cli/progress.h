/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_PROGRESS_H
#define HD_CLI_PROGRESS_H

/*
 * A line on stderr that says how far long work has come: share done, rate,
 * time left. Only when stderr is a terminal and the user did not say --quiet;
 * at most ten times a second, so it may be called as often as convenient.
 * The line is wiped at the end: what stays on the screen is results.
 *
 *	progress_begin(&p, &options.common, "packets", total);
 *	while (... && progress_show(&p, done))
 *		...
 *	progress_end(&p);
 *
 * A command that shows progress keeps partial results: after progress_begin a
 * signal waits (base/cleanup.h) until the command has shown its results, and ends
 * the program then. progress_show returns that one waits; what is missing is then
 * said in a remark that begins with "interrupted".
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "cli/command.h"
#include "sim/sim.h"

struct progress {
	bool active;
	const char *unit;    /* unit of the count, e.g. "packets" */
	double total;        /* 0 if unknown: no share, no time left */
	double begun, shown; /* seconds of the monotonic clock */
};

/* Begins work on `total` of `unit`, and records its start (cli/record.h). */
void progress_begin(struct progress *p, const struct common_options *common, const char *unit,
		    double total);
/* False if a signal is pending. */
bool progress_show(struct progress *p, double done);
void progress_end(struct progress *p);

/* progress_show as a callback; the context is a struct progress. */
bool progress_count(void *context, double done);
/* A sim_progress_fn whose context is a struct progress: packets delivered. */
bool progress_packets(void *context, const struct sim_progress *p);

/* Formats the line that progress_show prints. */
void progress_line(const struct progress *p, double done, double seconds, struct strbuf *out);

#endif
