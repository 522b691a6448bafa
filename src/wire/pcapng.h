/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WIRE_PCAPNG_H
#define HD_WIRE_PCAPNG_H

/*
 * Packets of a pcapng file, whose interfaces may have different link types,
 * snapshot lengths and clocks: a capture on several adapters at once, or files
 * that mergecap joined. libpcap refuses such files, since a pcap_t has one
 * link type; that is why this is not left to it.
 *
 * A file is a row of blocks. Section headers give the byte order and forget
 * the interfaces before them; interface descriptions number those of their
 * section 0, 1, ...; enhanced, simple and obsolete packet blocks hold packets.
 * All other blocks are passed over.
 *
 *	type 4 | length 4 | body, a multiple of 4 | the same length 4
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/diag.h"

struct pcapng_packet {
	unsigned interface; /* index in its section */
	unsigned link_type;
	uint64_t seconds; /* since 1970 */
	uint64_t ps;
	const uint8_t *bytes; /* valid until the next packet is read */
	size_t size;          /* captured bytes */
	size_t wire_size;     /* original bytes */
};

struct pcapng;

/* Borrows `stream`, which must be at the start of the file. */
struct pcapng *pcapng_new(FILE *stream);
void pcapng_free(struct pcapng *p);

/*
 * Reads the next packet: HD_OK and true, HD_OK and false at a regular end, or HD_ERR_INPUT
 * (HD_ERR_IO) with the offset of the first malformed byte.
 */
HD_MUST_CHECK enum hd_status pcapng_next(struct pcapng *p, struct diag *d,
					 struct pcapng_packet *out, bool *found);

/*
 * Reads up to the first packet, which pcapng_next returns next, and gets the interfaces described
 * before it.
 */
HD_MUST_CHECK enum hd_status pcapng_begin(struct pcapng *p, struct diag *d);
size_t pcapng_interfaces(const struct pcapng *p);
unsigned pcapng_link_type(const struct pcapng *p, size_t interface);

#endif
