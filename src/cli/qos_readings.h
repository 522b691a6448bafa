/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_QOS_READINGS_H
#define HD_CLI_QOS_READINGS_H

/* A folder of what tools printed. */

#include "base/diag.h"
#include "base/strbuf.h"

struct readings_file {
	char *path;
	struct strbuf text;
};

struct readings {
	struct readings_file *items; /* by name */
	size_t n, cap;
};

/* All files of a folder that are texts. */
HD_MUST_CHECK enum hd_status readings_load(const char *folder, struct diag *d,
					   struct readings *out);
void readings_fini(struct readings *r);

/* The one that ibnetdiscover printed; NULL if no file has it. */
const char *readings_topology(const struct readings *r);

#endif
