/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WIRE_RMPP_H
#define HD_WIRE_RMPP_H

/*
 * Records that begin in one segment of an answer and end in a later one, put
 * together. A segment alone shows the records that are whole in it (mad.h);
 * with the segments before it at hand, it shows those that it completes too.
 *
 * Only the beginnings of unfinished records are kept, for a limited number of
 * answers; a new answer replaces the one that received no segment for longest.
 * Segments that come again, or after one that the capture missed, show what is
 * whole in them.
 */

#include "wire/mad.h"

enum { RMPP_ANSWERS = 64 };

/* Whose answer to what. Compared byte by byte, so nothing is padded. */
struct rmpp_key {
	uint8_t source[16], destination[16];
	uint64_t tid;
	uint64_t qp;
};

struct rmpp_answer {
	bool used;
	struct rmpp_key key;
	uint64_t turn;    /* when its last segment came */
	uint32_t segment; /* the last one */
	uint8_t *bytes;   /* the latest of it, up to that segment's end */
	size_t size, cap;
	size_t done; /* of them, shown or skipped */
};

struct rmpp_joiner {
	struct rmpp_answer answers[RMPP_ANSWERS];
	uint64_t turn;
};

/* Starts from zeros: struct rmpp_joiner j = { 0 }. */
void rmpp_fini(struct rmpp_joiner *j);

/*
 * Lets m->table begin with the record that this segment completes, if it is a
 * segment of a table; its bytes are the joiner's, and stay until the next call.
 */
void rmpp_join(struct rmpp_joiner *j, const struct rmpp_key *key, struct mad *m);

#endif
