/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_BLRM_H
#define HD_QOS_BLRM_H

/*
 * The bandwidth and latency reservation manager (paper 003).
 *
 * A flow asks for bursts of so many bytes every period. DBTS flows also ask
 * for a latency; DB flows are told theirs, which is the same for all of them
 * ("administratively assigned"), so that one does not keep the next out by
 * what it happens to have when it comes. A request is granted only if every
 * link of its path keeps within what may be reserved, its own bound is met,
 * and every commitment made before still holds; otherwise nothing changes.
 * Best effort and challenged traffic need not ask.
 *
 * Where a link has two lanes or fewer, DBTS and DB share one and count as one
 * class there.
 */

#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "qos/bound.h"
#include "qos/path.h"
#include "qos/requests.h"

struct blrm_params {
	enum bound_mode mode;
	bool any_order;             /* round-robin pick in the switches */
	bool weighted;              /* lanes by the ports' tables, not by
				     * class and strict priority */
	struct hd_ratio reservable; /* of each link, for DBTS and DB */
	uint32_t max_packet;        /* bytes on the wire */
	uint32_t min_packet;        /* of reserved flows; 0: all are largest */
	uint32_t management_burst;  /* bytes of VL15 at a time */
	hd_time propagation;        /* per link */
	hd_time routing, arbitration; /* per switch */
	/* Promised to DB flows that ask for none; 0: what they have now. */
	hd_time db_latency;
	/* Of crossbars between input and output queues; den 0: no queues at
	 * outputs, and nothing to cross. */
	struct hd_ratio speedup;
};

struct blrm_request {
	port_id source;
	lid_t dlid; /* of a group: what is asked for goes to `member` */
	port_id member;
	uint32_t first; /* 1 + the flow of the group's first member; 0: it */
	uint8_t sl;
	enum bound_class class;
	uint32_t burst; /* bytes on the wire per period */
	hd_time period;
	hd_time latency; /* DBTS: at most this; DB: 0, or the most it bears */
	unsigned line;   /* of the file that asks; 0: none */
};

/*
 * What a line of a request file asks for from `source`; where to is left open.
 * HD_ERR_RANGE and the line if its packets do not fit a burst.
 */
HD_MUST_CHECK enum hd_status blrm_request_of(const struct qos_request *q,
					     const struct qos_packets *packets,
					     port_id source, struct diag *d,
					     struct blrm_request *out);

struct blrm_flow {
	struct blrm_request request;
	double promised; /* seconds: asked for, or told */
	double bound;    /* seconds, with all flows of now */
	struct path path;
	/* Of a group: the first n_trunk hops are those of flow `trunk` too. */
	uint32_t trunk, n_trunk;
	bool live;
};

struct blrm {
	const struct subnet *subnet;
	struct blrm_params params;
	struct blrm_flow *flows;
	uint32_t n_flows;
	size_t cap;
};

void blrm_init(struct blrm *b, const struct subnet *s,
	       const struct blrm_params *params);
void blrm_fini(struct blrm *b);

/*
 * HD_OK: granted; *id names the flow and *told is the latency promised, in
 * seconds. Otherwise HD_ERR_UNFIT (or NOT_FOUND: no path), the reason in `d`.
 */
HD_MUST_CHECK enum hd_status blrm_request(struct blrm *b,
					  const struct blrm_request *request,
					  struct diag *d, uint32_t *id,
					  double *told);
HD_MUST_CHECK enum hd_status blrm_release(struct blrm *b, uint32_t id);

/*
 * Every hop of every live flow in every mode: delay[mode][k], hops in the
 * order of flows and paths. Arrays are of blrm_hops entries; a mode that
 * refuses the network leaves NaN.
 */
uint32_t blrm_hops(const struct blrm *b);
void blrm_bounds(const struct blrm *b, double *delay[BOUND_MODES]);
/*
 * From the delays of one mode: bytes[port_id], what the buffer at that port's
 * far end must hold of one lane, or its output buffer; 0 where no flow goes.
 */
void blrm_buffers(const struct blrm *b, enum bound_side side,
		  const double *delay, double *bytes);

#endif
