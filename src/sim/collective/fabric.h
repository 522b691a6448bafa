/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_COLLECTIVE_FABRIC_H
#define HD_SIM_COLLECTIVE_FABRIC_H

/*
 * A fabric to run operations on, from the text of a scenario. Its traffic is
 * not run, but its largest packet sets what a buffer of "packets" holds. Must
 * not be moved.
 */

#include "fabric/fabric.h"

struct coll_fabric {
	struct scenario scenario;
	struct fabric build;
};

/* `file` is the name for refusals, and must outlive them. */
HD_MUST_CHECK enum hd_status coll_fabric_init(struct coll_fabric *f,
					      const char *text,
					      const char *file, struct diag *d);
void coll_fabric_fini(struct coll_fabric *f);

/*
 * All cables of a switch go down at `when`: the switch has failed. Its own
 * host, if it has one, is cut off too. HD_ERR_NOT_FOUND if there is none of
 * that name.
 */
HD_MUST_CHECK enum hd_status coll_fabric_fail(struct coll_fabric *f,
					      const char *name, hd_time when,
					      struct diag *d);

#endif
