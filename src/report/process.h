/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_REPORT_PROCESS_H
#define HD_REPORT_PROCESS_H

/*
 * Identifies the process that executes a run, so that a later process can
 * determine whether it still exists: "HOST PID START". Process ids are reused;
 * the start time (in ticks since boot) distinguishes them.
 */

#include <stdbool.h>

#include "base/strbuf.h"

void process_identify(struct strbuf *out);

/* A process on another host is assumed to exist, because it cannot be checked. */
bool process_is_there(const char *identity);

#endif
