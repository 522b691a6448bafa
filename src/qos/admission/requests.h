/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_REQUESTS_H
#define HD_QOS_ADMISSION_REQUESTS_H

/*
 * Reservation requests in a text file, one per line:
 *
 *	# source destination class rate [burst [latency]] [rc]
 *	h0 h5 DB   64Mb/s
 *	h1 h5 DBTS 8Mb/s 4KiB 100us
 *	"node 3 HCA-1" h5 DB 1Gb/s
 *	h2 h5 DB   400Mb/s~80Mb/s
 *	h3 h5 DB   64Mb/s 64KiB rc
 *
 * The class is the name of a scenario class, or its kind if it is unique; without scenario classes
 * it is DBTS, DB or PBE, on the SLs of qos/tables/classes.h.
 *
 * Nodes have their names of the topology; names with blanks need double quotes. Rates and
 * bursts are of payload, as in scenarios; headers are added (struct qos_packets). The burst is the
 * amount sent at once, by default one full packet; its period follows from the rate. A rate of
 * the form PEAK~MEAN describes an on-off source; only statistical admission uses the mean.
 * With `rc`, a burst is a message of a reliable connection, whose acknowledgements need the
 * reverse path (docs/timing-rules.md, Q4); it has no latency.
 */

#include <stdint.h>

#include "base/diag.h"
#include "base/units.h"
#include "qos/tables/classes.h"

/* A scenario class that requests may name. */
struct qos_class {
	const char *name; /* borrowed */
	enum traffic_class kind;
	uint8_t sl;
};

struct qos_classes {
	struct qos_class items[N_SLS];
	unsigned n; /* number of SLs; 0: those of qos/tables/classes.h */
	bool bands; /* the rate selects among those of DBTS and DB */
};

struct qos_request {
	char *source, *destination;
	enum traffic_class class; /* DBTS, DB or PBE */
	uint8_t sl;
	struct hd_rate rate; /* peak rate */
	struct hd_rate mean; /* equals the peak by default */
	uint64_t burst;      /* bytes of payload; 0: one full packet */
	hd_time latency;     /* 0: none */
	bool acknowledged;   /* rc */
	unsigned line;
};

struct qos_requests {
	const char *file; /* input file, borrowed; NULL: none */
	struct qos_request *items;
	size_t n, cap;
};

HD_MUST_CHECK enum hd_status qos_requests_read(const char *text, const struct qos_classes *classes,
					       struct diag *d, struct qos_requests *out);
/* As above, from a file; "-" is standard input. */
HD_MUST_CHECK enum hd_status qos_requests_load(const char *path, const struct qos_classes *classes,
					       struct diag *d, struct qos_requests *out);
void qos_requests_fini(struct qos_requests *requests);

/* Refuses requests of classes without a guarantee (PBE); the message names the line. */
HD_MUST_CHECK enum hd_status qos_requests_need_promises(const struct qos_requests *requests,
							const char *why, struct diag *d);

/* Segmentation of payload into packets. */
struct qos_packets {
	uint32_t payload;  /* per packet, except the last of a burst */
	uint32_t overhead; /* header bytes per packet */
};

/* With a GRH, for multicast and other subnets, if packets have real headers. */
struct qos_packets qos_packets_global(struct qos_packets p);

/* Size of a burst: payload, and all its packets on the wire, bytes. */
uint64_t qos_burst(const struct qos_request *r, const struct qos_packets *p);
uint64_t qos_wire_burst(const struct qos_request *r, const struct qos_packets *p);
/* Largest and smallest packet on the wire, bytes. */
uint32_t qos_largest(const struct qos_request *r, const struct qos_packets *p);
uint32_t qos_smallest(const struct qos_request *r, const struct qos_packets *p);
/*
 * A payload rate (peak or mean) as charged by arbiters, in whole 64-byte blocks per packet
 * (slots_charged_rate), and the rate of acknowledgements at the peak.
 */
struct hd_rate qos_acknowledgement_rate(const struct qos_request *r, const struct qos_packets *p,
					struct hd_ratio margin);
struct hd_rate qos_charged_rate(const struct qos_request *r, struct hd_rate rate,
				const struct qos_packets *p, struct hd_ratio margin);

#endif
