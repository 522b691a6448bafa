/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_HCA_PROGRAMS_FOR_TESTS_H
#define HD_HCA_PROGRAMS_FOR_TESTS_H

/* A simulation for the adapters of a test, without the driver of a run. */

#include "hca/lab.h"

static inline struct sim *sim_for_programs(const struct fabric *fabric)
{
	struct sim_rules rules;

	lab_program_rules(&rules);
	return sim_new(&fabric->setup, fabric->flows, 0, &rules);
}

#endif
