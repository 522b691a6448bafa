/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_FAILURES_ANALYSIS_CASES_H
#define HD_SUBNET_FAILURES_ANALYSIS_CASES_H

#include "subnet/failures/analysis.h"

/* Lists all cases in the order of the topology; used by failure_run. */
void failure_list(const struct topo *t, const struct failure_options *o,
		  struct failure_analysis *out);
/* Sets the ports of the failed components in `down`, or clears them if is_down is false. */
void failure_mark(const struct topo *t, const struct failure_case *c, bool is_down, bool *down);
/*
 * An end port of the largest remaining part, by number of end ports; among
 * equal parts, of the first one. TOPO_NONE if no part remains.
 */
port_id failure_manager(const struct topo *t, const struct failure_case *c, const bool *down);

#endif
