/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_QOS_EVALUATE_OPTIONS_H
#define HD_CLI_QOS_EVALUATE_OPTIONS_H

/* Options of 'heddle qos evaluate', and the series of fabrics that they describe. */

#include "cli/command.h"
#include "study/evaluation_series.h"

struct cli_evaluate_options {
	struct common_options common;
	unsigned topology, size, rate, switches, rule, mix, vls, fill;
	unsigned reserve;
	bool establish;
	uint64_t minutes, retries, tried, seeds;
	struct hd_ratio lead;
};

extern const struct option cli_evaluate_options[];

/* The series without an observer. */
struct eval_series cli_evaluate_series(const struct cli_evaluate_options *v);

#endif
