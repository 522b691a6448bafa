/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_HCA_TRAFFIC_H
#define HD_HCA_TRAFFIC_H

/*
 * Rows of a scenario over queue pairs (`transport: rc`, uc, ud). Each flow of a row has a
 * queue pair at its source and one at its destination. Its messages are posted as SENDs; those
 * of UC and UD carry the message number as immediate data, so that the receiver can identify
 * them.
 *
 * With adapters and hosts without processing time:
 *
 *	struct sim_rules rules = build->rules;
 *	lab_rules(&rules);
 *	struct sim *s = run_sim(run);
 *	if (qp_rows_new(build, s, &d, &lab) == HD_OK) {
 *		sim_run(s, ...);
 *		traffic_rows_table(lab, sim_metrics(s), results);
 *		lab_free(lab);
 *	}
 *
 * A lab that uses the flows of its scenario (lab.h) has such rows on its own adapters.
 */

#include "hca/lab.h"
#include "measure/results.h"

/* Whether the scenario has a row with a transport. */
bool traffic_rows_any(const struct fabric *fabric);
/* Call before the first sim_run. Fabric and simulator must outlive the lab. */
HD_MUST_CHECK enum hd_status qp_rows_new(struct fabric *fabric, struct sim *s, struct diag *d,
					 struct lab **out);
/* Adds a row per traffic row: messages, retries, completion times, goodput. */
void traffic_rows_table(const struct lab *lab, const struct sim_metrics *m, struct results *r);

#endif
