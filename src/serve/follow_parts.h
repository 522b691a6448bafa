/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SERVE_FOLLOW_PARTS_H
#define HD_SERVE_FOLLOW_PARTS_H

/* What follow.c and snapshot.c know of a run that is followed. Internal. */

#include <pthread.h>

#include "serve/follow.h"

/* A change that was made. */
struct follow_note {
	hd_time at;
	char *words;
};

/* Of a port's link: between the last two looks, in tenths of percents, and
 * time so far, in ps. */
struct follow_link {
	uint16_t used, waiting;
	double used_time, wait_time;
};

struct ask;

struct follow {
	/* Of the thread that computes. */
	struct strbuf text; /* of the scenario */
	const char *file;
	struct overrides overrides; /* of the command line, and all changes */
	struct follow_note *notes;
	size_t n_notes, notes_cap;
	struct simulation *run;
	bool has_begun;
	char failure[480]; /* why it ended early, or "" */
	unsigned version;  /* raised when the run is made anew */
	bool is_paused;
	hd_time step_to; /* although it is paused */
	hd_time speed;
	double pace_from; /* of the clock; 0: begin to count now */
	hd_time pace_now;
	double slice_ends;
	struct follow_link *links; /* per sim port */
	hd_time looked_at;         /* of the measured time */
	bool *down;

	/* Between threads. */
	pthread_mutex_t lock;
	pthread_cond_t asked, answered;
	struct ask *asks;
	bool attention; /* somebody asks; read without the lock */
	bool is_over;
	bool is_replaying;
	struct strbuf state; /* what was last said of it */
};

bool follow_has_ended(const struct follow *s);

/* ---- snapshot.c ---------------------------------------------------------- */

/* Per sim port, whether its link is down now. */
const bool *follow_down(struct follow *s);
void follow_put_fabric(const struct follow *s, struct strbuf *out);
void follow_put_state(struct follow *s, struct strbuf *out);

#endif
