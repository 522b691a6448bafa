/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_QOS_READINGS_H
#define HD_CLI_QOS_READINGS_H

/* Outputs of diagnostic tools, read from the files of a folder. */

#include "base/diag.h"
#include "base/strbuf.h"

struct readings_file {
	char *path;
	struct strbuf text;
};

struct readings {
	struct readings_file *items; /* ordered by name */
	size_t n, cap;
};

/* Reads all text files of a folder. */
HD_MUST_CHECK enum hd_status readings_load(const char *folder, struct diag *d,
					   struct readings *out);
void readings_fini(struct readings *r);

/* The output of ibnetdiscover; NULL if no file has it. */
const char *readings_topology(const struct readings *r);

#endif
