/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_FAILURES_ANALYSIS_CASES_H
#define HD_SUBNET_FAILURES_ANALYSIS_CASES_H

#include "subnet/failures/analysis.h"

/* All that is to be tried, in the order of the topology; for failure_run. */
void failure_list(const struct topo *t, const struct failure_options *o,
		  struct failure_analysis *out);
/* Marks (or, with false, clears) the ports of what fails. */
void failure_mark(const struct topo *t, const struct failure_case *c, bool is_down, bool *down);
/*
 * An end port of the largest piece, by end ports, of what is left of the subnet
 * in which something fails; of equal ones, of that which comes first. TOPO_NONE
 * if none is left.
 */
port_id failure_manager(const struct topo *t, const struct failure_case *c, const bool *down);

#endif
