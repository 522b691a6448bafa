/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WIRE_ROCE_H
#define HD_WIRE_ROCE_H

/*
 * RoCEv2 (IBA volume 1, annex A17): an InfiniBand packet without LRH and VCRC in an Ethernet
 * frame.
 *
 *	Ethernet [VLAN] | IPv4 or IPv6 | UDP, port 4791 | BTH ... ICRC
 *
 * The ICRC also covers the IP and UDP headers, with fields that routers change set to ones, after
 * eight bytes of ones in place of the LRH.
 */

#include "wire/packet.h"

enum {
	ETHER_SIZE = 14,
	ETHER_TAG_SIZE = 4,
	IPV4_SIZE = 20,
	IPV6_SIZE = 40,
	UDP_SIZE = 8,
	/* EtherTypes */
	ETHER_IPV4 = 0x0800,
	ETHER_ARP = 0x0806,
	ETHER_IPV6 = 0x86DD,
	ETHER_VLAN = 0x8100,
	ETHER_SERVICE_VLAN = 0x88A8,
	ROCE_PROTOCOL = 17, /* protocol in the IP header */
	ROCE_PORT = 4791,   /* UDP port */
	/* The largest frame that wire_roce_encode writes, with two tags. */
	ROCE_MAX = ETHER_SIZE + 2 * ETHER_TAG_SIZE + IPV6_SIZE + UDP_SIZE + PACKET_MAX,
};

struct roce {
	uint8_t dst_mac[6];
	uint8_t src_mac[6];
	uint8_t ip_version;  /* 4 or 6 */
	uint8_t tclass;      /* DSCP, and ECN in the lowest two bits */
	uint8_t hop_limit;   /* TTL of IPv4 */
	bool has_vlan;       /* the outer tag is in `vlan` */
	uint16_t vlan;       /* priority, drop eligibility, VLAN ID */
	uint16_t src_port;   /* UDP */
	uint32_t flow_label; /* IPv6 only */
	uint8_t src[16];     /* IPv4 addresses as ::ffff:a.b.c.d, as in GIDs */
	uint8_t dst[16];
	struct packet packet; /* BTH and later headers; ICRC, no VCRC */
};

/*
 * HD_ERR_UNFIT with a reason if the frame is not RoCEv2; HD_ERR_INPUT if it is, but is malformed
 * or truncated.
 */
HD_MUST_CHECK enum hd_status wire_roce_decode(const uint8_t *frame, size_t size, struct diag *d,
					      struct roce *out);

/* CRC_ABSENT if the frame is not RoCEv2, or is truncated. */
enum crc_verdict wire_roce_check(const uint8_t *frame, size_t size);

/*
 * Writes the frame, with computed lengths, IPv4 checksum, pad count and ICRC. The UDP checksum is
 * 0 (none). Statuses as for packet_encode.
 */
HD_MUST_CHECK enum hd_status wire_roce_encode(const struct roce *r, uint8_t *frame, size_t room,
					      size_t *size);

/*
 * The 40 bytes that verbs store before a datagram: the GRH; for RoCEv2 the IPv6 header or, if
 * ip_ver is 4, zeros and the IPv4 header. pay_len counts the bytes after the IP header.
 */
void wire_roce_write_grh(const struct grh *h, uint8_t out[GRH_SIZE]);

#endif
