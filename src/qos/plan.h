/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_PLAN_H
#define HD_QOS_PLAN_H

/*
 * From goals to tables: "MPI at least 70 %, storage 30 %, metadata soon".
 *
 * Each class gets an SL of its own, numbered as given (an SL is only an index,
 * not a priority), and a lane. Classes with a share go into the low table with
 * weights of whole packets; latency classes go into the high table, with the
 * lowest limit that still gives them their share. SLs beyond the classes go
 * with the last class. What each class gets is computed from the tables,
 * packet sizes included.
 */

#include <stdint.h>

#include "base/diag.h"
#include "base/units.h"
#include "qos/opensm.h"
#include "subnet/subnet.h"

struct plan_class {
	const char *name;      /* borrowed */
	struct hd_ratio share; /* of the link, at least */
	uint32_t payload;      /* bytes of its packets */
	bool latency;          /* high table: goes before the others */
};

struct plan_outcome {
	uint8_t sl, vl;
	double wanted; /* of the link */
	/* The others always busy, latency classes sending just their share. */
	double achieved;
	/* Everybody sending without end, latency classes too. */
	double floor;
};

struct plan {
	struct opensm_tables tables;
	struct plan_outcome outcome[N_SLS];
	struct strbuf remarks; /* sentences, one a line */
};

/*
 * HD_ERR_RANGE with the reason if shares add up to more than the link, there
 * are more classes than SLs, or the tables cannot say what is wanted.
 */
HD_MUST_CHECK enum hd_status plan_make(const struct plan_class *classes,
				       unsigned n, unsigned vls,
				       uint32_t overhead, struct diag *d,
				       struct plan *out);
void plan_fini(struct plan *plan);

#endif
