/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_QOS_PLANNING_H
#define HD_CLI_QOS_PLANNING_H

/* 'heddle qos plan': makes and shows plans. Both functions return an exit status. */

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

/* For classes on the command line: "mpi=70%". */
int cli_qos_plan_classes(const struct qos_plan_options *v, char **words, unsigned n,
			 const struct plan_link *link);
/* For a file of goals, on a fabric. */
int cli_qos_plan_goals(struct qos_plan_options *v, const char *fabric,
		       const struct plan_link *link);

#endif
