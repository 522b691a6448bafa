/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_GRANTS_H
#define HD_QOS_GRANTS_H

/*
 * What the reservation manager (qos/blrm.h) grants of a file of flows that ask
 * one after the other, and how long each can be delayed when all have asked.
 * A flow to a group is one flow to each member, or to none of them; what they
 * have in common counts once.
 */

#include "base/option.h"
#include "measure/results.h"
#include "qos/blrm.h"
#include "qos/requests.h"

struct grants_params {
	struct blrm_params blrm; /* the sizes of packets follow from below */
	struct qos_packets packets;
	uint32_t least; /* payload of the smallest packets; 0: by the flows */
	struct option_list groups; /* as subnet/ends.h names them; borrowed */
};

/* One flow that was granted, or one line that was not. */
struct grants_answer {
	const struct qos_request *request;
	const char *to; /* the end port's node; the group that was refused */
	uint32_t flow;  /* of the manager */
	char *reason;   /* NULL: granted */
};

struct grants {
	struct subnet *subnet;
	struct grants_params params;
	struct blrm blrm;
	struct grants_answer *answers; /* in the order of the file */
	size_t n, cap;
	unsigned refused;
};

/*
 * Asks for all `requests`, which outlive the grants. On failure (a name that
 * is nobody's) nothing is left to free.
 */
HD_MUST_CHECK enum hd_status grants_run(struct grants *g, struct subnet *s,
					const struct grants_params *params,
					const struct qos_requests *requests,
					struct diag *d);
void grants_fini(struct grants *g);

/* Flows, and their hops with delays and buffers (grants_tables.c). */
void grants_show(const struct grants *g, struct results *r);

#endif
