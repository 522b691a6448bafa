/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SERVE_FOLLOW_H
#define HD_SERVE_FOLLOW_H

/*
 * A run that can be observed and changed while it is being computed.
 *
 *	follow_new(path, &overrides, &options, &d, &s);
 *	server_start(..., asks, ...);
 *	follow_run(s, asks);                  until asks_close
 *
 * One thread computes and answers requests (follow_run), between two instants of the run. A change
 * becomes a field of the scenario (change.h): a second thread builds a new run from it and
 * advances it to the current instant. The old run answers all requests except further changes
 * until then. Results before the change stay the same, since they do not depend on it. `heddle
 * sim` on the output of follow_scenario gives the results of this run, bit for bit.
 */

#include "run/run.h"
#include "serve/asks.h"

struct follow_options {
	bool paused;   /* initial state */
	hd_time speed; /* simulated time per second; 0: no limit */
};

struct follow;

/* Reads the scenario; the overrides are copied. */
HD_MUST_CHECK enum hd_status follow_new(const char *path, const struct overrides *overrides,
					const struct follow_options *o, struct diag *d,
					struct follow **out);
void follow_free(struct follow *s);

/* Computes and answers until the queue is closed. */
void follow_run(struct follow *s, struct asks *asks);

/* ---- called by the computing thread; for tests ---------------------------- */

const struct run *follow_simulation(const struct follow *s);
/* The scenario with all changes; a run of it has the same results. */
void follow_scenario(const struct follow *s, struct strbuf *out);

#endif
