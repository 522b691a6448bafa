/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "base/mpi/world.h"
#include "base/units.h"

/*
 * Of Slurm, only the variables of a job step: a batch script has a rank and a number of tasks, but
 * runs alone.
 */
static const char *const names[][2] = {
	{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
	{ "PMI_RANK", "PMI_SIZE" },
	{ "SLURM_PROCID", "SLURM_STEP_NUM_TASKS" },
};

enum hd_status rank_of_launcher(struct diag *d, size_t *rank, size_t *n)
{
	*rank = 0;
	*n = 1;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *which = getenv(names[i][0]);
		const char *of = getenv(names[i][1]);
		uint64_t r, all;

		if (!which || !of)
			continue;
		if (hd_uint_parse(which, NULL, &r) != HD_OK ||
		    hd_uint_parse(of, NULL, &all) != HD_OK || r >= all)
			return diag_fail(d, HD_ERR_USAGE,
					 "%s and %s are not a rank and a number of ranks",
					 names[i][0], names[i][1]);
		*rank = r;
		*n = all;
		return HD_OK;
	}
	return HD_OK;
}

void world_forget_rank(void)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		unsetenv(names[i][0]);
		unsetenv(names[i][1]);
	}
}
