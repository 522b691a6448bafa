/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SERVE_FOLLOW_H
#define HD_SERVE_FOLLOW_H

/*
 * A run that is followed and changed while it goes on.
 *
 *	follow_new(path, &overrides, &options, &d, &s);
 *	server_start(..., follow_answer, s, ...);
 *	follow_run(s);                        until follow_end
 *
 * One thread computes (follow_run); others ask (follow_answer) and wait until
 * it has come to the end of an instant and answers. A change becomes a field of
 * the scenario (change.h): the run is made anew from it, computed again to
 * where it was, and goes on. What was seen until then stays as it was, since
 * nothing before the change depends on it; and what follow_scenario gives is,
 * run by `heddle sim`, this run to the bit.
 */

#include "lib/simulation.h"
#include "serve/server.h"

struct follow_options {
	bool paused;   /* to begin with */
	hd_time speed; /* simulated time per second; 0: as fast as it goes */
};

struct follow;

/* Reads the scenario; the overrides are copied. */
HD_MUST_CHECK enum hd_status follow_new(const char *path,
					const struct overrides *overrides,
					const struct follow_options *o,
					struct diag *d, struct follow **out);
void follow_free(struct follow *s);

/* Computes and answers until follow_end is called, by whomever. */
void follow_run(struct follow *s);
void follow_end(struct follow *s);

/* A server_answer_fn: from any thread but the one in follow_run. */
server_answer_fn follow_answer;

/* ---- in the thread that computes; for tests ------------------------------ */

const struct simulation *follow_simulation(const struct follow *s);
/* The scenario with all changes: its own run. */
void follow_scenario(const struct follow *s, struct strbuf *out);

#endif
