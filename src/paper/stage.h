/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_PAPER_STAGE_H
#define HD_PAPER_STAGE_H

/*
 * Writes the files that commands of papers may read below `folder`: the built-
 * in ones and the `files` of the papers in the catalogue.
 */

#include "paper/paper.h"

HD_MUST_CHECK enum hd_status paper_files_write(const struct paper_catalogue *c, const char *folder,
					       struct diag *d);

#endif
