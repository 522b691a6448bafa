/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_TABLES_PLAN_H
#define HD_QOS_TABLES_PLAN_H

/*
 * From goals to tables: "MPI at least 70 %, storage 30 %, metadata soon".
 *
 * Each class gets an SL of its own (an SL is only an index, not a priority): the
 * pinned one, SL 0 for the default class, which programs that set no SL use, and the
 * lowest free one for others, in their order. The default class is the one that is
 * marked or pinned to SL 0; else the one with the largest share that is not served
 * first. Each class has a VL as long as there are some; latency classes and
 * others never share one if there are two. Classes with a share go into the
 * low table with weights of whole packets; latency classes go into the high
 * table, with the lowest limit from least_limit on that still gives each its
 * share whatever the others send. SLs beyond the classes go with the least
 * class, that which has the smallest share and is not served first.
 *
 * What each class gets follows from the arbiter's rules (docs/timing-rules.md, T10
 * and T11) and the sizes of packets; shares are of bytes on the wire.
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
	bool latency;          /* high table: goes before the others */
	bool is_default;       /* of programs that set no SL */
	bool has_sl;
	uint8_t sl; /* pinned, if has_sl */
};

/*
 * Classes as users write them, "NAME=SHARE[,latency][,PAYLOAD][,sl=N][,default]", no
 * two of one name; packets have the MTU unless one says less. The words are cut up, and
 * the names point into them.
 */
HD_MUST_CHECK enum hd_status plan_classes_read(char **words, unsigned n, uint32_t mtu,
					       struct diag *d, struct plan_class *out);

struct plan_outcome {
	uint8_t sl, vl;
	double wanted; /* of the link */
	/* The others always busy, latency classes sending just their share. */
	double achieved;
	/*
	 * What it can count on, whichever others send without end and as long
	 * as it has packets itself; 0 if it shares its VL, since a VL is
	 * first in, first out.
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
 * HD_ERR_INPUT if two classes have one SL or are the default. HD_ERR_RANGE with the
 * arithmetic if shares add up to more than the link,
 * there are more classes than SLs, or no tables of that size give every class
 * its share less SHARES_NEAR.
 */
HD_MUST_CHECK enum hd_status plan_make(const struct plan_class *classes, unsigned n,
				       const struct plan_link *link, struct diag *d,
				       struct plan *out);
void plan_fini(struct plan *plan);

/* What each class gets, and what the tables have in common (plan_tables.c). */
void plan_show(const struct plan *plan, const struct plan_class *classes, unsigned n,
	       struct results *r);

#endif
