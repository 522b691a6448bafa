/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_CHECK_SWEEPS_H
#define HD_SUBNET_CHECK_SWEEPS_H

/*
 * Subnet manager sweeps in user notation, applied in sequence: "down=leaf3/20"
 * for a cable, "down=spine1" for a switch, "down=a/1,b;up=c/2" for several
 * changes at once. Nodes are given by name or GUID (0x...).
 */

#include "base/option.h"
#include "measure/results.h"
#include "subnet/routing/replan.h"

struct sweeps {
	struct replan *done; /* one per sweep */
	size_t n;
};

/* Plans the sweeps of `list`, starting from the tables of `whole`. */
HD_MUST_CHECK enum hd_status sweeps_plan(const struct subnet *whole, const struct option_list *list,
					 const struct replan_options *o, struct diag *d,
					 struct sweeps *out);
void sweeps_fini(struct sweeps *s);

/* Adds the changes of each sweep, and the blocks written to each switch. */
void sweeps_show(struct results *r, const struct sweeps *s, const struct option_list *list);

#endif
