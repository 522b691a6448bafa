/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_QOS_CLASSIFY_H
#define HD_CLI_QOS_CLASSIFY_H

/* 'heddle qos classify'. */

#include "cli/command.h"
#include "cli/scenario.h"
#include "qos/opensm/policy.h"

struct qos_classify_options {
	struct common_options common;
	struct fabric_choice choice;
	const char *fabric, *partitions;
	const char *source, *destination, *manager, *service_id;
	uint64_t pkey, class;
};

/*
 * Shows the label of a path by the policy in `path` (NULL: none) and the partitions. Named ends
 * are looked up and stored in `q`. Returns the exit status.
 */
int cli_qos_classify_path(struct qos_classify_options *v, const char *path, struct policy_query *q);

#endif
