/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_QOS_VERIFY_PLAN_H
#define HD_CLI_QOS_VERIFY_PLAN_H

/* Configuration to verify: an opensm.conf, or tables of ports. */

#include "cli/scenario.h"
#include "qos/opensm/port_conf.h"

struct cli_verify_plan {
	const char *conf;         /* NULL: `tables` is used */
	const char *tables;       /* file of qos/opensm/port_conf.h, or NULL */
	struct port_tables ports; /* rows of `tables` */
};

/* Opens the fabric with the tables that its subnet manager programs from the configuration. */
HD_MUST_CHECK enum hd_status cli_verify_plan_open(struct cli_verify_plan *p,
						  struct fabric_choice *choice, const char *fabric,
						  struct diag *d, struct fabric **out);
void cli_verify_plan_fini(struct cli_verify_plan *p);

#endif
