/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SCENARIO_CHECKS_H
#define HD_SCENARIO_CHECKS_H

/* Functions shared by the source files of scenario.h; private to the module. */

#include "scenario/scenario.h"

/* Checks classes with kinds, and dynamic connections (admission.c). */
HD_MUST_CHECK enum hd_status check_admission(const struct scenario *s, struct diag *d);
/* Checks jobs and goals of jobs (jobs.c). */
HD_MUST_CHECK enum hd_status check_jobs(const struct scenario *s, struct diag *d);
HD_MUST_CHECK enum hd_status check_job_goal(const struct scenario *s, struct diag *d,
					    const struct scn_goal *g);
/* Adds the classes of qos.bands if no classes are given (bands.c). */
void scenario_fill_bands(struct scenario *s);
HD_MUST_CHECK enum hd_status scenario_check_bands(const struct scenario *s, struct diag *d);
HD_MUST_CHECK enum hd_status scenario_check_row_class(const struct scenario *s, struct diag *d,
						      const struct scn_traffic *t);
/* Reports that there is no class of that name. */
enum hd_status scenario_refuse_class(const struct scenario *s, struct diag *d,
				     char *const *service);
/* Checks the partition of a row or job; NULL is the default one. */
HD_MUST_CHECK enum hd_status check_partition(const struct scenario *s, struct diag *d,
					     char *const *name);

/* Reads OpenSM's files into the scenario (opensm.c), and writes them. */
HD_MUST_CHECK enum hd_status scenario_read_opensm(struct scenario *s, struct diag *d);
void scenario_forget_opensm(struct scenario *s);

#endif
