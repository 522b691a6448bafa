/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_HCA_TRAFFIC_H
#define HD_HCA_TRAFFIC_H

/*
 * Rows of a scenario over queue pairs (`transport: rc`, uc, ud): each flow of
 * the row is a queue pair at its source and one at its destination. What the
 * row makes is posted there as SENDs; those of UC and UD carry their number as
 * immediate data, so that a receiver can tell which one has come.
 *
 * On adapters and hosts that cost no time:
 *
 *	struct sim_rules rules = build->rules;
 *	lab_rules(&rules);
 *	struct sim *s = run_sim(run);
 *	if (qp_rows_new(build, s, &d, &lab) == HD_OK) {
 *		sim_run(s, ...);
 *		traffic_rows_table(lab, sim_metrics(s), results);
 *		lab_free(lab);
 *
 * A lab that uses its scenario's flows (lab.h) has such rows too, on its own
 * adapters.
 */

#include "hca/lab.h"
#include "measure/results.h"

/* Whether a row of the scenario is one. */
bool traffic_rows_any(const struct fabric *fabric);
/* Before the first sim_run; build and simulator outlive them. */
HD_MUST_CHECK enum hd_status qp_rows_new(struct fabric *fabric, struct sim *s, struct diag *d,
					 struct lab **out);
/* A line for each row: messages, retries, times of completion, goodput. */
void traffic_rows_table(const struct lab *lab, const struct sim_metrics *m, struct results *r);

#endif
