/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WIRE_ERF_H
#define HD_WIRE_ERF_H

/*
 * The extensible record format of Endace's capture cards, as far as captures
 * of InfiniBand need it. A record is a header of 16 bytes, extension headers
 * if the type's top bit is set, and the packet, perhaps padded.
 *
 *	timestamp 8 (little-endian, 32.32 fixed point seconds)
 *	type 1 | flags 1 | rlen 2, all bytes of the record
 *	loss or colour 2 | wlen 2, bytes of the packet on the wire
 */

#include "base/diag.h"
#include "wire/cursor.h"

enum {
	ERF_HEADER_SIZE = 16,
	ERF_ETHERNET = 2,
	ERF_INFINIBAND = 21,
	ERF_INFINIBAND_LINK = 25,
	ERF_META = 27, /* information about the capture */
	ERF_TYPE_MAX = 48,
	ERF_FLAG_VARYING = 0x04,
};

struct erf {
	uint64_t seconds;
	uint64_t ps; /* picoseconds */
	uint8_t type;
	uint8_t interface;
	uint16_t rlen;
	uint16_t wlen;
	const uint8_t *payload; /* without padding */
	size_t payload_len;
};

/* Length of a record by its header; 0 if the length is invalid. */
size_t erf_record_size(const uint8_t *header);

/* Reads a record of `size` bytes, which may be less than its length (truncated). */
HD_MUST_CHECK enum hd_status erf_read(const uint8_t *bytes, size_t size, struct diag *d,
				      struct erf *out);

/*
 * Writes the header. The time is `ps` picoseconds, rounded up to the
 * next 2^-32 s, so that whole nanoseconds read back as the same nanosecond.
 */
void erf_write_header(struct byte_writer *w, const struct erf *h);

#endif
