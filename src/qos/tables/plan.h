/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_TABLES_PLAN_H
#define HD_QOS_TABLES_PLAN_H

/*
 * Computes tables for goals: "MPI at least 70 %, storage 30 %, metadata with low latency".
 *
 * Each class gets an SL of its own (an SL is only an index, not a priority): the given one, SL 0
 * for the default class, or the lowest free one, in order. Programs that set no SL use SL 0. The
 * default class is the marked one, or the one with SL 0, or else the class with the largest share
 * without latency. Each class has its own VL if there are enough; latency classes share no VL with
 * others if there are two. Classes with a share use the low table with weights of whole packets.
 * Latency classes use the high table with the lowest limit, from least_limit on, that gives each
 * class its share in all cases. SLs without a class map to the class with the smallest share and
 * without latency.
 *
 * Results follow from the rules of the arbiter (docs/timing-rules.md, T10 and T11) and packet
 * sizes; shares are of bytes on the wire.
 */

#include <stdint.h>

#include "base/diag.h"
#include "base/units.h"
#include "measure/results.h"
#include "qos/opensm/opensm.h"
#include "subnet/subnet.h"

struct plan_class {
	const char *name;      /* borrowed */
	struct hd_ratio share; /* of the link, at least */
	uint32_t payload;      /* bytes of its packets */
	bool latency;          /* high table, served before the low one */
	bool is_default;       /* of programs that set no SL */
	bool has_sl;
	uint8_t sl; /* pinned, if has_sl */
};

/*
 * Parses classes "NAME=SHARE[,latency][,PAYLOAD][,sl=N][,default]" with distinct names; packets
 * have the MTU by default. Modifies the words; names point into them.
 */
HD_MUST_CHECK enum hd_status plan_classes_read(char **words, unsigned n, uint32_t mtu,
					       struct diag *d, struct plan_class *out);

struct plan_outcome {
	uint8_t sl, vl;
	double wanted; /* of the link */
	/* The others always busy, latency classes sending just their share. */
	double achieved;
	/*
	 * Guaranteed share while the class has packets, whatever the others send; 0 if it shares
	 * its VL.
	 */
	double floor;
};

struct plan {
	struct opensm_tables tables;
	struct plan_outcome outcome[N_SLS];
	unsigned default_class; /* has SL 0 */
	struct strbuf remarks;  /* sentences, one a line */
};

struct plan_link {
	unsigned vls;         /* data vls: 1, 2, 4, 8, 15 */
	unsigned entries;     /* that each of a port's two tables has */
	uint32_t overhead;    /* header bytes of a packet, up to 1024 */
	unsigned least_limit; /* no plan has a lower high limit; to 254 */
};

/*
 * HD_ERR_INPUT if two classes have one SL or are the default. HD_ERR_RANGE, with the calculation,
 * if shares exceed the link, if there are more classes than SLs, or if no tables of that size give
 * every class its share less SHARES_NEAR.
 */
HD_MUST_CHECK enum hd_status plan_make(const struct plan_class *classes, unsigned n,
				       const struct plan_link *link, struct diag *d,
				       struct plan *out);
void plan_fini(struct plan *plan);

/* Adds the service of each class, and the common properties of the tables (plan_tables.c). */
void plan_show(const struct plan *plan, const struct plan_class *classes, unsigned n,
	       struct results *r);

#endif
