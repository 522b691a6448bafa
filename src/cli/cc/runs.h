/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_CC_RUNS_H
#define HD_CLI_CC_RUNS_H

/* The runs of 'heddle cc compare', one algorithm after the other. */

#include "cli/cc/compare.h"
#include "cli/command.h"

struct cc_runs {
	struct option_list algorithms; /* none: all, and without control */
	const char *pcap;              /* where packets go, or NULL */
	struct option_list ports;      /* of which ports; none named: of all */
};

/* Whether there are the algorithms that are named, and a capture is of one:
 * EXIT_DONE, or a usage error of `self`. */
int cc_runs_check(const struct command *self, const struct cc_runs *r);
/* Into the tables of `c`, which has begun. */
HD_MUST_CHECK enum hd_status cc_runs(struct cc_comparison *c, const struct cc_runs *r,
				     const struct common_options *common, struct diag *d);

#endif
