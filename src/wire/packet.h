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
 * `headers` is the set of valid header members; the others are undefined. The payload is borrowed:
 * after decoding it points into the packet's bytes; for encoding it belongs to the caller, or is
 * NULL for zeros. No function allocates; decoding writes only the members of headers in the
 * packet.
 *
 * Checksums are verified separately (packet_check), so that the CRCs of packets with malformed
 * headers can be verified, too.
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
 * Decodes a packet. HD_ERR_INPUT with a reason if it is too short, if its length fields do not
 * match its size, or if it has values that the standard does not define.
 */
HD_MUST_CHECK enum hd_status packet_decode(const uint8_t *bytes, size_t size, struct diag *d,
					   struct packet *out);

/* An empty packet with an LRH and the headers of `opcode`. */
void packet_init(struct packet *p, uint8_t opcode);

/* Length of the packet from LRH to VCRC in bytes. */
size_t packet_size(const struct packet *p);

/*
 * Writes packet_size(p) bytes. Derived fields are computed, and their values in the struct
 * ignored: LNH, PktLen, PayLen, PadCnt, both CRCs. HD_ERR_RANGE if PktLen cannot represent the
 * length, HD_ERR_FULL if `room` is too small, HD_ERR_UNFIT if the headers do not match the opcode.
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

/* Verifies the CRCs at the end of the `size` bytes. */
struct crc_verdicts packet_check(const uint8_t *bytes, size_t size);

/*
 * ICRC of `size` bytes of a packet with a BTH, from the LRH up to the ICRC. LNH determines whether
 * there is a GRH; `size` must include the BTH.
 */
uint32_t packet_icrc(const uint8_t *bytes, size_t size);

/*
 * The part that InfiniBand and RoCEv2 have in common: BTH, extended headers, payload and padding,
 * without the ICRC. Sets bits in out->headers.
 */
HD_MUST_CHECK enum hd_status packet_decode_transport(const uint8_t *bytes, size_t size,
						     struct diag *d, struct packet *out);
/* Writes the BTH with the right PadCnt, extended headers, payload and padding. */
void packet_write_transport(struct byte_writer *w, const struct packet *p);
size_t packet_transport_size(const struct packet *p);
/* BTH and the extended headers in the packet. */
header_set packet_transport_headers(const struct packet *p);

#endif
