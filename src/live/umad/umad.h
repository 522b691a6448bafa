/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_UMAD_UMAD_H
#define HD_LIVE_UMAD_UMAD_H

/*
 * A program of ours on a host of a live fabric: an open umad like those of
 * others, without a library in between. Private to live/.
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
/* Says that a subnet manager is there, while the descriptor is open; or -1. */
int umad_claim(const struct umad *v, struct diag *d);

/*
 * An errno, or 0 and the agent's number. `methods`: of requests that the agent
 * receives, up to 0.
 */
int umad_register(const struct umad *v, uint8_t mgmt_class, const uint8_t *methods,
		  uint32_t *agent);

/* `h` has its destination; false if the fabric is gone. */
bool umad_send(const struct umad *v, const struct umad_header *h, const uint8_t *mad, size_t size);
/* Waits for a frame, header and MAD; false if the fabric is gone. */
bool umad_receive(const struct umad *v, struct strbuf *frame);

#endif
