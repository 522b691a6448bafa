/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_VERBS_ROCE_LINK_H
#define HD_LIVE_VERBS_ROCE_LINK_H

/* State shared by roce.c and roce_owner.c; guarded by the port's lock. */

#include "live/verbs/verbs_internal.h"
#include "transport/qp.h"

enum {
	/* L_Keys that no region has: for inline data of a send, and an invalid key. */
	KEY_INLINE = 0,
	KEY_NONE = 1,
};

/* A queue pair of the adapter and its counterpart in transport/. */
struct roce_qp_link {
	struct qp_owner owner;
	struct qp *qp;
	uint32_t qpn;
	struct shared_qp *shared;
};

/* An event of the transport that is processed later. */
struct roce_deferred {
	uint32_t qpn;
	uint32_t status; /* enum ibv_wc_status */
	uint64_t number; /* number of the send; NO_SEND: the queue pair is in error */
	uint32_t event;  /* event of the error */
};

#define NO_SEND UINT64_MAX

/* Stores an event until the port's lock has been released. */
void verbs_roce_defer(const struct roce_deferred *n);
/* Fills `owner`: the callbacks for memory, completions and receives of this program. */
void verbs_roce_bind_owner(struct roce_qp_link *l);

#endif
