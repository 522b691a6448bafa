/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WIRE_RMPP_H
#define HD_WIRE_RMPP_H

/*
 * Reassembly of records that begin in one RMPP segment and end in a later one. A single segment
 * shows the records that are complete in it (mad.h); with the earlier segments it also shows those
 * that it completes.
 *
 * Only the beginnings of incomplete records are stored, for a limited number of responses; a new
 * response replaces the one whose last segment is oldest. Repeated segments, and segments after a
 * missing one, show the records that are complete in them.
 */

#include "wire/mad.h"

enum { RMPP_ANSWERS = 64 };

/* Identity of a response. It is compared byte by byte and has no padding. */
struct rmpp_key {
	uint8_t source[16], destination[16];
	uint64_t tid;
	uint64_t qp;
};

struct rmpp_answer {
	bool used;
	struct rmpp_key key;
	uint64_t turn;    /* time of its last segment, in segments */
	uint32_t segment; /* number of the last segment */
	uint8_t *bytes;   /* the latest bytes of the response, up to the end of that segment */
	size_t size, cap;
	size_t done; /* number of `bytes` that were shown or skipped */
};

struct rmpp_joiner {
	struct rmpp_answer answers[RMPP_ANSWERS];
	uint64_t turn;
};

/* The initial state is zeros: struct rmpp_joiner j = { 0 }. */
void rmpp_fini(struct rmpp_joiner *j);

/*
 * If `m` is a segment of a table, m->table then begins with the record that the segment completes.
 * Its bytes belong to the joiner and are valid until the next call.
 */
void rmpp_join(struct rmpp_joiner *j, const struct rmpp_key *key, struct mad *m);

#endif
