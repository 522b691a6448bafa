/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_FAILURES_SURVEY_CASES_H
#define HD_SUBNET_FAILURES_SURVEY_CASES_H

#include "subnet/failures/survey.h"

/* All that is to be tried, in the order of the topology; for survey_run. */
void survey_list(const struct topo *t, const struct survey_options *o, struct survey *out);
/* Marks (or, with false, clears) the ports of what fails. */
void survey_mark(const struct topo *t, const struct survey_case *c, bool is_down, bool *down);
/*
 * An end port of the largest piece, by end ports, of what is left of the subnet
 * in which something fails; of equal ones, of that which comes first. TOPO_NONE
 * if none is left.
 */
port_id survey_manager(const struct topo *t, const struct survey_case *c, const bool *down);

#endif
