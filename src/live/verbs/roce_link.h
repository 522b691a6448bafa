/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_VERBS_ROCE_LINK_H
#define HD_LIVE_VERBS_ROCE_LINK_H

/* What roce.c and roce_owner.c share; all of it with the port's lock. */

#include "live/verbs/verbs_internal.h"
#include "transport/qp.h"

enum {
	/* L_Keys that no region has: of a send's own bytes, and an invalid one. */
	KEY_INLINE = 0,
	KEY_NONE = 1,
};

/* A queue pair of ours, and of the transport's. */
struct roce_qp_link {
	struct qp_owner owner;
	struct qp *qp;
	uint32_t qpn;
	struct shared_qp *shared;
};

/* What the transport said of one. */
struct roce_deferred {
	uint32_t qpn;
	uint32_t status; /* enum ibv_wc_status */
	uint64_t number; /* of the send; or NO_SEND: it is in error */
	uint32_t event;  /* then */
};

#define NO_SEND UINT64_MAX

/* To be done once the lock is free. */
void verbs_roce_defer(const struct roce_deferred *n);
/* Fills `owner`: memory, completions and receives are this program's. */
void verbs_roce_bind_owner(struct roce_qp_link *l);

#endif
