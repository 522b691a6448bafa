/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WIRE_DISSECT_H
#define HD_WIRE_DISSECT_H

/*
 * Dissection of a captured record: its headers as far as they can be decoded, a verdict on its
 * checksums, and output as one line, in full, as JSON or as a row of CSV.
 *
 * No record is refused: `state` and `why` of a dissection describe malformed ones. All pointers
 * refer to the record's bytes.
 */

#include "wire/capture.h"
#include "wire/mad.h"
#include "wire/rmpp.h"
#include "wire/roce.h"

enum dissect_state {
	DISSECT_WHOLE,     /* decoded to the last byte */
	DISSECT_FOREIGN,   /* not InfiniBand; `why` has the reason */
	DISSECT_CUT,       /* the capture truncated the packet */
	DISSECT_MALFORMED, /* `why` has the error */
};

struct dissection {
	const struct capture_record *record;
	enum dissect_state state;
	struct diag why;
	struct crc_verdicts crc; /* the LPCRC of a flow-control packet is in .vcrc */
	struct flow_packet flow; /* for CAPTURE_FLOW */
	struct roce roce;        /* for CAPTURE_ETHERNET */
	/* The packet of a CAPTURE_PACKET, or &roce.packet; NULL if it is not whole. */
	const struct packet *packet;
	struct packet own;
	bool has_mad;
	struct mad mad; /* in the payload */
};

/* Stores `rec` in d->record; `d` and `rec` must not move while `d` is used. */
void dissect(const struct capture_record *rec, struct dissection *d);

/*
 * Called after dissect() for a capture: responses of subnet administration in several packets then
 * also show records that began in an earlier packet.
 */
void dissect_join(struct dissection *d, struct rmpp_joiner *j);

/* True if a checksum is present and wrong. */
bool dissection_is_bad(const struct dissection *d);

/* "IB", "FC", "RoCEv2", "MAD"; "other" for DISSECT_FOREIGN. */
const char *dissection_protocol(const struct dissection *d);

/* One line, without its line end. */
void dissection_line(const struct dissection *d, struct strbuf *out);
/* The line, then the fields of all headers, then the payload. */
void dissection_full(const struct dissection *d, struct strbuf *out);
/* A JSON object; with the bytes of the payload if `full`. */
void dissection_json(const struct dissection *d, bool full, struct json *w);
/* A CSV row; and its header line. */
void dissection_csv(const struct dissection *d, struct strbuf *out);
void dissection_csv_head(struct strbuf *out);

/* Counts of many dissections. */
struct dissect_counts {
	uint64_t records;
	/* By protocol, whole or not. */
	uint64_t packets, flows, roce, mads;
	uint64_t foreign, cut, malformed;
	uint64_t icrc_good, icrc_bad;
	uint64_t vcrc_good, vcrc_bad; /* including LPCRCs */
	uint64_t fecn, becn;
	uint64_t opcode[256];
};

void dissect_count(struct dissect_counts *c, const struct dissection *d);
/* Prints lines that begin with '#'. */
void dissect_counts_print(const struct dissect_counts *c, struct strbuf *out);
void dissect_counts_json(const struct dissect_counts *c, struct json *w);

#endif
