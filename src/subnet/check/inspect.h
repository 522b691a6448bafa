/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_CHECK_INSPECT_H
#define HD_SUBNET_CHECK_INSPECT_H

/*
 * Inspection of a routed subnet. It applies the options (subnet manager sweeps
 * after cable failures, VL and SL tables in force, multicast groups) and then
 * reports the results as tables.
 *
 *	if (inspection_begin(&x, &subnet, &options, &d) == HD_OK)
 *		inspection_show(&x, results, &d, &met);
 *	inspection_end(&x);
 */

#include "subnet/check/sweeps.h"
#include "subnet/multicast/mcast_choose.h"
#include "subnet/routing/load.h"
#include "subnet/tables/path_sls.h"

struct inspection_options {
	/* Sweeps (sweeps.h) are applied first; all other options refer to the
	 * tables after them. */
	struct option_list sweeps;
	enum replan_mode replan;
	const struct route_options *route; /* options of the routing algorithm */
	/* Files with the tables in force, or NULL: */
	const char *sl2vl;         /* opensm-sl2vl.dump */
	const char *path_sls;      /* the SL of each path */
	const char *mcast_routes;  /* dump_fts -M or opensm.mcfdbs */
	struct option_list groups; /* in the notation of subnet/tables/ends.h, with their SL */
	uint64_t mcast_sl;
	/* Reports: */
	bool check, with_switches;   /* with_switches: traffic to switches counts as data */
	uint64_t load;               /* number of random patterns; 0: none */
	struct load_traffic traffic; /* adds the load of this traffic */
	bool all;                    /* report all channels, not only those with most flows */
	uint64_t seed;
	const char *path; /* "FROM:TO", or NULL */
};

struct inspection {
	const struct inspection_options *options;
	struct subnet *subnet; /* after the sweeps */
	struct sweeps sweeps;
	struct path_sls_found sls;
	struct mcast_choice choice; /* methods of groups that do not state one */
};

/* Applies VLs and groups to `s`, which must outlive the inspection. Options are borrowed. */
HD_MUST_CHECK enum hd_status inspection_begin(struct inspection *x, struct subnet *s,
					      const struct inspection_options *o, struct diag *d);
/* Call it even after an error. */
void inspection_end(struct inspection *x);

/* *met: all checks passed. */
HD_MUST_CHECK enum hd_status inspection_show(const struct inspection *x, struct results *r,
					     struct diag *d, bool *met);
/* With `load`: adds the tables of the fabric's drawing (subnet/check/picture.h). */
void inspection_picture(const struct inspection *x, struct results *r);
/* Whether all checks passed; multicast trees are checked even if no check is requested. */
bool inspection_is_clean(const struct inspection *x);

#endif
