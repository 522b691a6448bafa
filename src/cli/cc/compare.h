/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_CC_COMPARE_H
#define HD_CLI_CC_COMPARE_H

/* The tables of 'heddle cc compare': one run after the other goes into them. */

#include "cli/cc/session.h"
#include "measure/results.h"

struct cc_comparison {
	struct cc_session *session;
	hd_time sample; /* of the rate series; 0: none */
	bool all;       /* every flow and link */
	struct results *results;
	struct table *rows, *totals, *links, *flows, *samples;
	struct table *answers, *probes; /* NULL: nobody asks */
};

/* `results` is the caller's to write or to free. */
void cc_compare_begin(struct cc_comparison *c);
/* What of its results has room on a screen; they themselves, if all has. */
struct results *cc_compare_shown(const struct cc_comparison *c);
/* NULL: without control. */
HD_MUST_CHECK enum hd_status cc_compare_run(struct cc_comparison *c,
					    const struct cc_algorithm *algorithm, struct diag *d);

#endif
