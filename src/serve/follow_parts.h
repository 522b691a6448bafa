/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SERVE_FOLLOW_PARTS_H
#define HD_SERVE_FOLLOW_PARTS_H

/* State shared by follow.c and snapshot.c; private to serve/. */

#include "serve/follow.h"

/* A completed change. */
struct follow_note {
	hd_time at;
	char *words;
};

/* A port's link: use since the last snapshot in units of 0.1 %, and accumulated time in ps. */
struct follow_link {
	uint16_t used, waiting;
	double used_time, wait_time;
};

struct follow_change;

/* Used by the computing thread only. */
struct follow {
	struct strbuf text; /* the scenario */
	const char *file;
	struct overrides overrides; /* of the command line, and of all changes */
	struct follow_note *notes;
	size_t n_notes, notes_cap;
	struct run *run;
	char failure[480]; /* reason why the run failed, or "" */
	unsigned version;  /* incremented when the run is rebuilt */
	bool is_paused;
	hd_time step_to; /* target of a step while the run is paused */
	hd_time speed;
	double pace_from; /* start of the pace, in seconds; 0: set at the next use */
	hd_time pace_now;
	double slice_ends;
	struct follow_link *links; /* per simulator port */
	hd_time looked_at;         /* measured time, or warm-up time, at the last snapshot */
	bool looked_warm;          /* `looked_at` is measured time */
	bool *down;

	struct asks *asks;               /* queue while follow_run is active */
	struct follow_change *change;    /* the change in progress, or NULL */
	struct ask *later, **later_last; /* queued changes */
};

/* ---- snapshot.c ---------------------------------------------------------- */

/* Per simulator port: true if its link is down now. */
const bool *follow_down(struct follow *s);
void follow_put_fabric(const struct follow *s, struct strbuf *out);
void follow_put_state(struct follow *s, struct strbuf *out);

#endif
