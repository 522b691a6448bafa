/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WIRE_CAPTURE_H
#define HD_WIRE_CAPTURE_H

/*
 * Files of captured packets, read and written one record at a time, so that
 * their length does not matter.
 *
 * Reading takes pcap (either byte order, micro- or nanoseconds), pcapng, and
 * native ERF files, each compressed by gzip or not; inside pcap and pcapng,
 * link types Ethernet, Linux cooked (SLL and SLL2, given as Ethernet frames),
 * InfiniBand and ERF, of which the interfaces of a pcapng file may have one
 * each; packets of other interfaces are CAPTURE_OTHER. Writing makes pcap files
 * of ERF records, which Wireshark opens: an InfiniBand packet is an ERF record
 * of type 21, a flow-control packet one of type 25.
 *
 *	pcap record header (16) | ERF header (16) | LRH ... VCRC
 */

#include <stdio.h>

#include "base/diag.h"
#include "base/units.h"
#include "wire/headers.h"

/* Kinds of records. */
enum capture_kind {
	CAPTURE_PACKET,   /* InfiniBand, LRH to VCRC */
	CAPTURE_FLOW,     /* a flow-control packet, possibly padded */
	CAPTURE_ETHERNET, /* a frame without its FCS */
	CAPTURE_MAD,      /* a MAD without headers; never in a file */
	CAPTURE_OTHER,    /* something else: see `type`, `link_type` */
};

struct capture_record {
	uint64_t number;  /* 1, 2, ... */
	uint64_t seconds; /* since 1970, or since the start of a simulation */
	uint64_t ps;      /* picoseconds */
	enum capture_kind kind;
	unsigned type;        /* ERF type; 0 outside of ERF */
	unsigned link_type;   /* of the file or interface */
	const uint8_t *bytes; /* valid until the next record is read */
	size_t size;          /* captured bytes */
	size_t wire_size;     /* original bytes; larger if the capture truncated the packet */
};

struct capture;

/*
 * Takes `stream`, which is closed by capture_close, or by a failure here, unless it is stdin.
 * Fails if the file is no capture, or has a link type that cannot carry InfiniBand.
 */
HD_MUST_CHECK enum hd_status capture_open(FILE *stream, struct diag *d, struct capture **out);
void capture_close(struct capture *c);

/* libpcap's name, e.g. "EN10MB", or "unknown". */
const char *capture_link_name(unsigned link_type);

/* "pcap", "pcapng" or "ERF". */
const char *capture_format(const struct capture *c);

/*
 * Reads the next record: HD_OK and true, HD_OK and false at a regular end, or HD_ERR_INPUT
 * (HD_ERR_IO) if the file is truncated or malformed from here on.
 */
HD_MUST_CHECK enum hd_status capture_next(struct capture *c, struct diag *d,
					  struct capture_record *out, bool *found);

/*
 * Writer of a capture. Times count from the start of the run. A write error is stored and returned
 * by capture_finish, which flushes but does not close the stream.
 */
struct capture_writer {
	FILE *stream;
	/*
	 * Pads flow-control packets to 48 bytes: Wireshark 4.0 calls them malformed unless the
	 * record is long enough for an LRH.
	 */
	bool pad_flow;
	bool failed;
	hd_time last; /* time of the last record written */
};

enum { CAPTURE_FLOW_PADDED = 48 };

void capture_begin(struct capture_writer *w, FILE *stream, bool pad_flow);
/* `interface` is 0 to 3: Wireshark's "capture interface". */
void capture_write_packet(struct capture_writer *w, hd_time at, unsigned interface,
			  const uint8_t *bytes, size_t size);
void capture_write_flow(struct capture_writer *w, hd_time at, unsigned interface,
			const struct flow_packet *flow);
HD_MUST_CHECK enum hd_status capture_finish(struct capture_writer *w);

#endif
