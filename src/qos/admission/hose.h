/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_HOSE_H
#define HD_QOS_ADMISSION_HOSE_H

/*
 * Reservations of groups of hosts that all send to each other (hose model):
 * each host sends at most a rate to the others together, and receives at most
 * that. A link that the paths of `s` senders to `d` receivers cross needs
 * min(s, d) times the rate.
 */

#include "subnet/subnet.h"

struct broker_hose {
	const char *name;     /* of the job; borrowed */
	const port_id *hosts; /* end ports of one subnet; borrowed */
	uint32_t n;
	uint8_t sl;
};

struct hose_link {
	port_id port; /* an output port */
	uint8_t vl;
	uint32_t times; /* the rate */
};

/*
 * The links of all paths. HD_ERR_NOT_FOUND or HD_ERR_UNFIT as path_walk, with
 * *where the last port of the path that leads nowhere. Free *out in any case.
 */
HD_MUST_CHECK enum hd_status hose_links(const struct subnet *s, const struct broker_hose *h,
					struct hose_link **out, uint32_t *n, port_id *where);

#endif
