/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_HOSE_H
#define HD_QOS_ADMISSION_HOSE_H

/*
 * Hose model: reservations for groups of hosts that all send to each other. Each host sends at
 * most a given rate in total to the others, and receives at most that rate. A link on the paths
 * of `s` senders to `d` receivers needs min(s, d) times the rate.
 */

#include "subnet/subnet.h"

struct broker_hose {
	const char *name;     /* name of the job; borrowed */
	const port_id *hosts; /* end ports of one subnet; borrowed */
	uint32_t n;
	uint8_t sl;
};

struct hose_link {
	port_id port; /* an output port */
	uint8_t vl;
	uint32_t times; /* multiple of the rate */
};

/*
 * The links of all paths. HD_ERR_NOT_FOUND or HD_ERR_UNFIT as path_walk; *where is the last port
 * of the failing path. The caller frees *out in any case.
 */
HD_MUST_CHECK enum hd_status hose_links(const struct subnet *s, const struct broker_hose *h,
					struct hose_link **out, uint32_t *n, port_id *where);

#endif
