/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_PORTS_H
#define HD_CLI_PORTS_H

/* The option --port of commands that look at some ports of a run. */

#include "base/option.h"
#include "fabric/fabric.h"

/*
 * Per sim port whether the list names it; NULL if the list is empty, which
 * means all. The caller frees *out.
 */
HD_MUST_CHECK enum hd_status ports_choose(const struct fabric *b,
					  const struct option_list *list,
					  struct diag *d, bool **out);

#endif
