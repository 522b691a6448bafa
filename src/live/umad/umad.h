/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_UMAD_UMAD_H
#define HD_LIVE_UMAD_UMAD_H

/*
 * umad connection for Heddle's own programs on a host of a live fabric; it uses the socket
 * directly, without a library. Private to live/.
 */

#include "base/diag.h"
#include "base/strbuf.h"
#include "live/protocol.h"

struct umad {
	const char *dir, *host;
	int fd; /* -1: not open */
	uint32_t connection;
};

HD_MUST_CHECK enum hd_status umad_open(struct umad *v, struct diag *d);
/* Sets IsSM of the port while the returned descriptor is open; -1 on failure. */
int umad_claim(const struct umad *v, struct diag *d);

/*
 * Registers an agent; returns an errno, or 0 and the agent's number. `methods`: request methods
 * that the agent receives, terminated by 0.
 */
int umad_register(const struct umad *v, uint8_t mgmt_class, const uint8_t *methods,
		  uint32_t *agent);

/* Sends a MAD; `h` has its destination. False if the fabric has ended. */
bool umad_send(const struct umad *v, const struct umad_header *h, const uint8_t *mad, size_t size);
/* Waits for a frame (header and MAD); false if the fabric has ended. */
bool umad_receive(const struct umad *v, struct strbuf *frame);

#endif
