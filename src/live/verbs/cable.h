/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_VERBS_CABLE_H
#define HD_LIVE_VERBS_CABLE_H

/*
 * An Ethernet cable made of two local datagram sockets, one at each end: a datagram sent to the
 * name of the other socket is a frame. Frames are dropped while there is no peer. The cable can
 * lose one of n frames at random; the random sequence is the same in every run.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/un.h>

enum { CABLE_FRAME = 1 << 16 };

struct roce_cable {
	int fd;
	struct sockaddr_un other;
	uint64_t lose;        /* one of `lose` frames is lost; 0: none */
	uint64_t sent, taken; /* states of the random streams */
	uint8_t waiting[CABLE_FRAME];
	size_t n_waiting; /* size of a frame that waits for room in the socket; 0: none */
};

/* Opens the cable that the environment describes (live/place.h); returns an errno. */
int cable_open(struct roce_cable *c);
/* The IPv4 address of this end, and its MTU; false if they are invalid. */
bool cable_describe(uint8_t ipv4[4], uint8_t *mtu);
/* Receives the next frame into CABLE_FRAME bytes; false without a frame. */
bool cable_take(struct roce_cable *c, uint8_t *frame, size_t *size);
/*
 * True if a frame can be sent; the waiting frame is sent first. There is no event for that: a full
 * socket without a peer looks like one with room.
 */
bool cable_is_free(struct roce_cable *c);
void cable_send(struct roce_cable *c, const uint8_t *frame, size_t size);

#endif
