/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SERVE_FOLLOW_PARTS_H
#define HD_SERVE_FOLLOW_PARTS_H

/* What follow.c and snapshot.c know of a run that is followed. Internal. */

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

struct follow_change;

/* All of it is of the thread that computes. */
struct follow {
	struct strbuf text; /* of the scenario */
	const char *file;
	struct overrides overrides; /* of the command line, and all changes */
	struct follow_note *notes;
	size_t n_notes, notes_cap;
	struct run *run;
	char failure[480]; /* why it ended early, or "" */
	unsigned version;  /* incremented when the run is rebuilt */
	bool is_paused;
	hd_time step_to; /* although it is paused */
	hd_time speed;
	double pace_from; /* of the clock; 0: begin to count now */
	hd_time pace_now;
	double slice_ends;
	struct follow_link *links; /* per sim port */
	hd_time looked_at;         /* of the measured time, or of the warm-up */
	bool looked_warm;          /* which of the two */
	bool *down;

	struct asks *asks;               /* while it runs */
	struct follow_change *change;    /* that is computed, or NULL */
	struct ask *later, **later_last; /* changes that wait for it */
};

/* ---- snapshot.c ---------------------------------------------------------- */

/* Per sim port, whether its link is down now. */
const bool *follow_down(struct follow *s);
void follow_put_fabric(const struct follow *s, struct strbuf *out);
void follow_put_state(struct follow *s, struct strbuf *out);

#endif
