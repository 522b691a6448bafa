/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WIRE_DISSECT_H
#define HD_WIRE_DISSECT_H

/*
 * What a captured record is, for the eye and for programs: taken apart as far
 * as it makes sense, with a verdict on its checksums, and shown as one line,
 * in full, as JSON or as a row of CSV.
 *
 * Nothing is refused: a malformed record is a dissection whose `state` and
 * `why` say so. All pointers go into the record's bytes.
 */

#include "wire/capture.h"
#include "wire/mad.h"
#include "wire/rmpp.h"
#include "wire/roce.h"

enum dissect_state {
	DISSECT_WHOLE,     /* taken apart to the last byte */
	DISSECT_FOREIGN,   /* not InfiniBand; `why` says what gave it away */
	DISSECT_CUT,       /* the capture holds only its beginning */
	DISSECT_MALFORMED, /* `why` says what is wrong */
};

struct dissection {
	const struct capture_record *record;
	enum dissect_state state;
	struct diag why;
	struct crc_verdicts crc; /* a flow-control packet's LPCRC in .vcrc */
	struct flow_packet flow; /* of CAPTURE_FLOW */
	struct roce roce;        /* of CAPTURE_ETHERNET */
	/* Of CAPTURE_PACKET, or &roce.packet; NULL if not whole. */
	const struct packet *packet;
	struct packet own;
	bool has_mad;
	struct mad mad; /* in the payload */
};

/* Keeps `rec` as d->record; d and rec stay where they are while d is used. */
void dissect(const struct capture_record *rec, struct dissection *d);

/*
 * In a capture, after dissect: an answer of subnet administration that came in
 * several packets also shows the records that began in an earlier one.
 */
void dissect_join(struct dissection *d, struct rmpp_joiner *j);

/* Whether a checksum that is there is wrong. */
bool dissection_is_bad(const struct dissection *d);

/* "IB", "FC", "RoCEv2", "MAD"; "other" for what is foreign. */
const char *dissection_protocol(const struct dissection *d);

/* One line without its end. */
void dissection_line(const struct dissection *d, struct strbuf *out);
/* The line, then every header's fields, then the payload. */
void dissection_full(const struct dissection *d, struct strbuf *out);
/* One object; with the payload's bytes if `full`. */
void dissection_json(const struct dissection *d, bool full, struct json *w);
/* One row of comma-separated values, and the line that heads them. */
void dissection_csv(const struct dissection *d, struct strbuf *out);
void dissection_csv_head(struct strbuf *out);

/* What many dissections come to. */
struct dissect_counts {
	uint64_t records;
	/* Of each protocol, whole or not. */
	uint64_t packets, flows, roce, mads;
	uint64_t foreign, cut, malformed;
	uint64_t icrc_good, icrc_bad;
	uint64_t vcrc_good, vcrc_bad; /* LPCRC too */
	uint64_t fecn, becn;
	uint64_t opcode[256];
};

void dissect_count(struct dissect_counts *c, const struct dissection *d);
/* Lines that begin with '#'. */
void dissect_counts_print(const struct dissect_counts *c, struct strbuf *out);
void dissect_counts_json(const struct dissect_counts *c, struct json *w);

#endif
