/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_REPORT_PROCESS_H
#define HD_REPORT_PROCESS_H

/*
 * Which process is at work on a run, so that a later one can tell whether it
 * still is: "HOST PID START". Numbers of processes come again; the start time
 * (in ticks since boot) tells them apart.
 */

#include <stdbool.h>

#include "base/strbuf.h"

void process_identify(struct strbuf *out);

/* One on another host is taken to be there: it cannot be asked. */
bool process_is_there(const char *identity);

#endif
