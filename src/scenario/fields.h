/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SCENARIO_FIELDS_H
#define HD_SCENARIO_FIELDS_H

/*
 * Shared by the source files of scenario_fields[]: schema_row.rest links each
 * part to the next. Internal to src/scenario.
 */

#include "scenario/notations.h"
#include "scenario/scenario.h"
#include "scenario/words.h"

#define HOSTS_HELP                                                   \
	"(all; names, name*, numbers 0..7, on:SWITCH, 40% drawn at " \
	"random, not:NAME; with commas between)"

/* For schema_row.only. */
#define BIT(value) (UINT64_C(1) << (value))

extern const struct schema_row scenario_job_fields[];
extern const struct schema_row scenario_run_fields[];

#endif
