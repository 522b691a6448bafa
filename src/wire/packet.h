/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WIRE_PACKET_H
#define HD_WIRE_PACKET_H

/*
 * A whole InfiniBand packet, from LRH to VCRC.
 *
 *	LRH | GRH | BTH | extended headers | payload, padded | ICRC | VCRC
 *	LRH | RWH | payload | VCRC                          (raw, LNH 0)
 *	LRH | IPv6 header, in `grh` | payload | VCRC        (raw, LNH 1)
 *
 * `headers` tells which of the structs below are in use; the others hold
 * nothing. The payload is borrowed: after decoding it points into the packet's
 * bytes, for encoding it is the caller's, or NULL for zeros. Nothing here
 * allocates, and decoding writes only the headers that are there.
 *
 * The checksums are separate from decoding (packet_check), because the CRCs
 * of a packet with malformed headers can still be verified.
 */

#include "base/diag.h"
#include "wire/headers.h"
#include "wire/opcode.h"

/* The largest packet: 2047 words and a VCRC. */
#define PACKET_MAX (2047 * 4 + VCRC_SIZE)

struct packet {
	header_set headers;
	struct lrh lrh;
	struct grh grh;
	struct rwh rwh;
	struct bth bth;
	struct rdeth rdeth;
	struct deth deth;
	struct xrceth xrceth;
	struct feth feth;
	struct reth reth;
	struct atomiceth atomiceth;
	struct aeth aeth;
	struct atomicacketh atomicacketh;
	struct immdt immdt;
	struct ieth ieth;
	const uint8_t *payload;
	size_t payload_len; /* without padding */
	uint32_t icrc;      /* as received */
	uint16_t vcrc;      /* as received */
};

static inline bool packet_has(const struct packet *p, enum header h)
{
	return p->headers >> h & 1;
}

/*
 * Takes a packet apart. HD_ERR_INPUT with a reason if it is too short, longer
 * or shorter than it says, or says what the standard does not know.
 */
HD_MUST_CHECK enum hd_status packet_decode(const uint8_t *bytes, size_t size, struct diag *d,
					   struct packet *out);

/* An empty packet with the headers that `opcode` wants, and an LRH. */
void packet_init(struct packet *p, uint8_t opcode);

/* The length of the packet on the wire, LRH to VCRC. */
size_t packet_size(const struct packet *p);

/*
 * Writes packet_size(p) bytes. The fields that follow from others are
 * computed, whatever the struct holds: LNH, PktLen, PayLen, PadCnt, both CRCs.
 * HD_ERR_RANGE if the packet is longer than PktLen can say, HD_ERR_FULL if
 * `room` is too small, HD_ERR_UNFIT if the headers are not the opcode's.
 */
HD_MUST_CHECK enum hd_status packet_encode(const struct packet *p, uint8_t *bytes, size_t room,
					   size_t *size);

enum crc_verdict {
	CRC_GOOD,
	CRC_BAD,
	CRC_ABSENT, /* the packet has none, or is too short to have one */
};

struct crc_verdicts {
	enum crc_verdict icrc;
	enum crc_verdict vcrc;
};

/* Whether the CRCs at the end of the `size` bytes are right. */
struct crc_verdicts packet_check(const uint8_t *bytes, size_t size);

/*
 * The ICRC of `size` bytes, LRH up to but without ICRC, of a packet with a
 * BTH. The LRH's LNH says whether there is a GRH; `size` must cover the BTH.
 */
uint32_t packet_icrc(const uint8_t *bytes, size_t size);

/*
 * BTH, extended headers, payload, padding: what InfiniBand and RoCEv2 have in
 * common, up to but without the ICRC. Sets bits in out->headers.
 */
HD_MUST_CHECK enum hd_status packet_decode_transport(const uint8_t *bytes, size_t size,
						     struct diag *d, struct packet *out);
/* BTH with the right PadCnt, extended headers, payload and padding. */
void packet_write_transport(struct byte_writer *w, const struct packet *p);
size_t packet_transport_size(const struct packet *p);
/* The headers that come after BTH and belong to it, and BTH. */
header_set packet_transport_headers(const struct packet *p);

#endif
