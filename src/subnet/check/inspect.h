/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_CHECK_INSPECT_H
#define HD_SUBNET_CHECK_INSPECT_H

/*
 * A routed subnet under inspection: what a manager would do about cables that
 * fail, VLs and service levels as a running fabric has them, multicast groups
 * added to it; then everything that there is to see, as tables.
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
	/* Sweeps (sweeps.h) come first; the rest is of the tables after. */
	struct option_list sweeps;
	enum replan_mode replan;
	const struct route_options *route; /* options of the routing algorithm */
	/* Files in force, or NULL: */
	const char *sl2vl;         /* opensm-sl2vl.dump */
	const char *path_sls;      /* the SL of each path */
	const char *mcast_routes;  /* dump_fts -M or opensm.mcfdbs */
	struct option_list groups; /* as subnet/tables/ends.h has them, and their SL */
	uint64_t mcast_sl;
	/* What to show: */
	bool check, with_switches;   /* and whether their traffic is data */
	uint64_t load;               /* patterns to draw; 0: none */
	struct load_traffic traffic; /* loads, too */
	bool all;                    /* channels, not only those with most flows */
	uint64_t seed;
	const char *path; /* "FROM:TO", or NULL */
};

struct inspection {
	const struct inspection_options *options;
	struct subnet *subnet; /* after the sweeps */
	struct sweeps sweeps;
	struct path_sls_found sls;
	struct mcast_choice choice; /* of trees, where groups leave it open */
};

/* Changes VLs and groups of `s`, which outlives it; options are borrowed. */
HD_MUST_CHECK enum hd_status inspection_begin(struct inspection *x, struct subnet *s,
					      const struct inspection_options *o, struct diag *d);
/* In any case. */
void inspection_end(struct inspection *x);

/* *met: all that was checked is well. */
HD_MUST_CHECK enum hd_status inspection_show(const struct inspection *x, struct results *r,
					     struct diag *d, bool *met);
/* With `load`: the fabric as a page draws it (subnet/check/picture.h). */
void inspection_picture(const struct inspection *x, struct results *r);
/* The same as one word: whether all is well, if a check is asked for. */
bool inspection_is_clean(const struct inspection *x);

#endif
