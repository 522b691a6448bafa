/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_QOS_CONF_FILES_H
#define HD_CLI_QOS_CONF_FILES_H

/* Reads one opensm.conf, or two for comparison. */

#include "qos/opensm/opensm.h"

struct cli_conf_files {
	struct opensm_conf conf[2];
	unsigned n;
};

/* `second` may be NULL. False, with nothing to free, if a file is refused. */
bool cli_conf_files_read(const char *first, const char *second, struct diag *d,
			 struct cli_conf_files *out);
void cli_conf_files_fini(struct cli_conf_files *f);

#endif
