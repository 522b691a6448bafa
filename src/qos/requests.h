/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_REQUESTS_H
#define HD_QOS_REQUESTS_H

/*
 * Requests for reservations as a text file has them, one a line:
 *
 *	# source destination class rate [burst [latency]]
 *	h0 h5 DB   64Mb/s
 *	h1 h5 DBTS 8Mb/s 4KiB 100us
 *	"node 3 HCA-1" h5 DB 1Gb/s
 *	h2 h5 DB   400Mb/s~80Mb/s
 *
 * Nodes are named as in the topology; names with blanks stand in double
 * quotes. The burst is what the flow sends at once, a packet of 2 KiB if it
 * does not say; its period follows from the rate. A rate of the form PEAK~MEAN
 * is that of a source which is on and off; only statistical admission asks for
 * the mean.
 */

#include <stdint.h>

#include "base/diag.h"
#include "base/units.h"
#include "qos/classes.h"

struct qos_request {
	char *source, *destination;
	enum traffic_class class; /* DBTS or DB */
	struct hd_rate rate;      /* the peak */
	struct hd_rate mean;      /* the same, unless said */
	uint64_t burst;           /* bytes */
	hd_time latency;          /* 0: not said */
	unsigned line;
};

struct qos_requests {
	struct qos_request *items;
	size_t n, cap;
};

HD_MUST_CHECK enum hd_status qos_requests_read(const char *text, struct diag *d,
					       struct qos_requests *out);
void qos_requests_fini(struct qos_requests *requests);

#endif
