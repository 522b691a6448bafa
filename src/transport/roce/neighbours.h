/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TRANSPORT_ROCE_NEIGHBOURS_H
#define HD_TRANSPORT_ROCE_NEIGHBOURS_H

/*
 * Address resolution on an Ethernet: ARP (RFC 826) for IPv4, neighbour discovery (RFC 4861) for
 * IPv6. It answers requests for the port's addresses, requests those of others, and keeps frames
 * until the reply arrives.
 *
 * Addresses are GIDs, 16 bytes; those of IPv4 are ::ffff:a.b.c.d. Frames to be sent are in a list,
 * which neighbours_next empties.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/units.h"

enum { MAC_SIZE = 6, GID_SIZE = 16 };

/* In the order of a port's table, which is the Linux kernel's. */
enum roce_gid { ROCE_GID_LINK, ROCE_GID_IPV4, ROCE_GIDS };

/* Addresses of a port: a link-local IPv6 address, and an IPv4 address. */
struct roce_address {
	uint8_t mac[MAC_SIZE];
	uint8_t gid[ROCE_GIDS][GID_SIZE];
};

/*
 * Derives the MAC address from the IPv4 address, and the link-local address from the MAC address.
 */
struct roce_address roce_address_of(const uint8_t ipv4[4]);
bool gid_is_ipv4(const uint8_t *gid);

struct neighbours;

struct neighbours *neighbours_new(const struct roce_address *own);
void neighbours_free(struct neighbours *n);

/* A frame that may be for us, or not. */
void neighbours_receive(struct neighbours *n, const uint8_t *frame, size_t size);
/*
 * Sends a frame to the owner of `gid`, now or when its MAC address is known, which is filled in at
 * the beginning of the frame. The frame is lost if no neighbour answers.
 */
void neighbours_send(struct neighbours *n, const uint8_t *gid, const uint8_t *frame, size_t size,
		     hd_time now);
/* The next frame to send, in `room` bytes of `frame`; false: none. */
bool neighbours_next(struct neighbours *n, uint8_t *frame, size_t room, size_t *size);

/* When to call neighbours_timer, or HD_TIME_NEVER. */
hd_time neighbours_due(const struct neighbours *n);
void neighbours_timer(struct neighbours *n, hd_time now);

#endif
