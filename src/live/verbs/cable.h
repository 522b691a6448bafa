/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_VERBS_CABLE_H
#define HD_LIVE_VERBS_CABLE_H

/*
 * An Ethernet cable made of two local datagram sockets, one at each end: what
 * is sent to the other's name is a frame. It carries nothing without a
 * peer, and may lose frames on purpose: one of n, at random, the same in every
 * run.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/un.h>

enum { CABLE_FRAME = 1 << 16 };

struct roce_cable {
	int fd;
	struct sockaddr_un other;
	uint64_t lose;        /* one of `lose` frames is lost; 0: no frame */
	uint64_t sent, taken; /* random streams */
	uint8_t waiting[CABLE_FRAME];
	size_t n_waiting; /* a frame for which there was no room */
};

/* By what the environment says (live/place.h); an errno. */
int cable_open(struct roce_cable *c);
/* The IPv4 address of this end, and its MTU; false if they are invalid. */
bool cable_describe(uint8_t ipv4[4], uint8_t *mtu);
/* The next frame that came, in CABLE_FRAME bytes; false if no frame came. */
bool cable_take(struct roce_cable *c, uint8_t *frame, size_t *size);
/*
 * Whether one can be sent; what waits is tried first. No event says when it
 * will be: a full socket that has no peer for good looks like one with room.
 */
bool cable_is_free(struct roce_cable *c);
void cable_send(struct roce_cable *c, const uint8_t *frame, size_t size);

#endif
