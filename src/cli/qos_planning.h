/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_QOS_PLANNING_H
#define HD_CLI_QOS_PLANNING_H

/* Plans of 'heddle qos plan', made and shown; both return an exit status. */

#include "cli/scenario.h"
#include "qos/tables/plan.h"

struct qos_plan_options {
	struct common_options common;
	struct fabric_choice fabric;
	const char *goals, *against;
	bool verify;
	uint64_t vls, entries, mtu, overhead;
	bool conf;
};

/* For classes in words: "mpi=70%". */
int cli_qos_plan_classes(const struct qos_plan_options *v, char **words, unsigned n,
			 const struct plan_link *link);
/* For the goals of a file, on a fabric. */
int cli_qos_plan_goals(struct qos_plan_options *v, const char *fabric,
		       const struct plan_link *link);

#endif
