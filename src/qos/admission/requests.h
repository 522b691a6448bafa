/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_REQUESTS_H
#define HD_QOS_ADMISSION_REQUESTS_H

/*
 * Requests for reservations as a text file has them, one a line:
 *
 *	# source destination class rate [burst [latency]] [rc]
 *	h0 h5 DB   64Mb/s
 *	h1 h5 DBTS 8Mb/s 4KiB 100us
 *	"node 3 HCA-1" h5 DB 1Gb/s
 *	h2 h5 DB   400Mb/s~80Mb/s
 *	h3 h5 DB   64Mb/s 64KiB rc
 *
 * The class is the name of a class that the scenario has, or its kind if only
 * one class has it; without classes it is DBTS, DB or PBE, on the SLs of
 * qos/tables/classes.h.
 *
 * Nodes are named as in the topology; names with blanks need double quotes.
 * Rates and bursts are of payload, as in scenarios; headers are added to them
 * (struct qos_packets). The burst is what
 * the flow sends at once, one full packet if it does not say; its period
 * follows from the rate. A rate of the form PEAK~MEAN
 * is that of a source which is on and off; only statistical admission asks for
 * the mean. With `rc` a burst is a message of a reliable connection, whose
 * acknowledgements need the reverse path (docs/timing-rules.md, Q4); it has no latency.
 */

#include <stdint.h>

#include "base/diag.h"
#include "base/units.h"
#include "qos/tables/classes.h"

/* A class that requests may name; of a scenario. */
struct qos_class {
	const char *name; /* borrowed */
	enum traffic_class kind;
	uint8_t sl;
};

struct qos_classes {
	struct qos_class items[N_SLS];
	unsigned n; /* 0: those of qos/tables/classes.h */
	bool bands; /* the rate chooses among those of DBTS and DB */
};

struct qos_request {
	char *source, *destination;
	enum traffic_class class; /* DBTS, DB or PBE */
	uint8_t sl;
	struct hd_rate rate; /* the peak */
	struct hd_rate mean; /* the same, unless said */
	uint64_t burst;      /* bytes of payload; 0: one full packet */
	hd_time latency;     /* 0: not said */
	bool acknowledged;   /* rc */
	unsigned line;
};

struct qos_requests {
	const char *file; /* that they stand in, borrowed; NULL: in none */
	struct qos_request *items;
	size_t n, cap;
};

HD_MUST_CHECK enum hd_status qos_requests_read(const char *text, const struct qos_classes *classes,
					       struct diag *d, struct qos_requests *out);
/* The same of a file, "-" for standard input. */
HD_MUST_CHECK enum hd_status qos_requests_load(const char *path, const struct qos_classes *classes,
					       struct diag *d, struct qos_requests *out);
void qos_requests_fini(struct qos_requests *requests);

/* Refuses, with its line, a request of the class that is promised nothing. */
HD_MUST_CHECK enum hd_status qos_requests_need_promises(const struct qos_requests *requests,
							const char *why, struct diag *d);

/* How payload becomes packets. */
struct qos_packets {
	uint32_t payload;  /* of every packet but the last of a burst */
	uint32_t overhead; /* header bytes of each */
};

/* The same with a GRH, where packets have real headers: to groups, and afar. */
struct qos_packets qos_packets_global(struct qos_packets p);

/* Bytes of a burst's payload, and of its packets on the wire. */
uint64_t qos_burst(const struct qos_request *r, const struct qos_packets *p);
uint64_t qos_wire_burst(const struct qos_request *r, const struct qos_packets *p);
/* Bytes of its largest and its smallest packet on the wire. */
uint32_t qos_largest(const struct qos_request *r, const struct qos_packets *p);
uint32_t qos_smallest(const struct qos_request *r, const struct qos_packets *p);
/*
 * A rate of payload, the request's peak or mean, as arbiters charge it: whole
 * 64-byte blocks of each packet (slots_charged_rate); and that of the
 * acknowledgements of its peak.
 */
struct hd_rate qos_acknowledgement_rate(const struct qos_request *r, const struct qos_packets *p,
					struct hd_ratio margin);
struct hd_rate qos_charged_rate(const struct qos_request *r, struct hd_rate rate,
				const struct qos_packets *p, struct hd_ratio margin);

#endif
