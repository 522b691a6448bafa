/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SCENARIO_CHECKS_H
#define HD_SCENARIO_CHECKS_H

/* What the files behind scenario.h ask of each other; private to the room. */

#include "scenario/scenario.h"

/* Classes with kinds, and connections that come and go (admission.c). */
HD_MUST_CHECK enum hd_status check_admission(const struct scenario *s, struct diag *d);
/* Jobs and goals of jobs (jobs.c). */
HD_MUST_CHECK enum hd_status check_jobs(const struct scenario *s, struct diag *d);
HD_MUST_CHECK enum hd_status check_job_goal(const struct scenario *s, struct diag *d,
					    const struct scn_goal *g);
/* The classes of qos.bands, if none are given (bands.c). */
void scenario_fill_bands(struct scenario *s);
HD_MUST_CHECK enum hd_status scenario_check_bands(const struct scenario *s, struct diag *d);
HD_MUST_CHECK enum hd_status scenario_check_row_class(const struct scenario *s, struct diag *d,
						      const struct scn_traffic *t);
/* There is no class of that name. */
enum hd_status scenario_refuse_class(const struct scenario *s, struct diag *d,
				     char *const *service);
/* That of a row or job; NULL is the default one. */
HD_MUST_CHECK enum hd_status check_partition(const struct scenario *s, struct diag *d,
					     char *const *name);

/* What OpenSM's files say, into the scenario (opensm.c); and out of it. */
HD_MUST_CHECK enum hd_status scenario_read_opensm(struct scenario *s, struct diag *d);
void scenario_forget_opensm(struct scenario *s);

#endif
