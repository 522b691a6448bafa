/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_QOS_VERIFY_CHANGE_H
#define HD_CLI_QOS_VERIFY_CHANGE_H

/* 'qos verify --against FILE': two opensm.conf files on one scenario. */

#include "cli/scenario.h"
#include "study/conf_change.h"

struct cli_verify_change {
	const char *present, *plan; /* opensm.conf files */
	const char *scenario;
	uint64_t seeds;
};

bool cli_verify_change_is_file(const char *path);
/*
 * Runs the comparison on all cores, with progress, and shows the tables; returns the exit status.
 */
int cli_verify_change_run(const struct cli_verify_change *v, struct fabric_choice *choice,
			  struct common_options *common);

#endif
