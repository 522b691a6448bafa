/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/place.h"

#include <stdlib.h>
#include <string.h>

/* Environment variables with the rank: Open MPI, PMIx, MPICH and MVAPICH, Slurm. */
static const char *const ranks[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
				     "SLURM_PROCID" };

static size_t rank_of_program(void)
{
	for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
		const char *text = getenv(ranks[i]);

		if (text && *text)
			return strtoul(text, NULL, 10);
	}
	return 0;
}

static size_t count(const char *hosts)
{
	size_t n = 1;

	while ((hosts = strchr(hosts, PLACE_BETWEEN))) {
		hosts++;
		n++;
	}
	return n;
}

bool live_place_of_program(char host[LIVE_NAME])
{
	const char *at = getenv(LIVE_HOST);

	if (!at)
		return false;
	size_t skip = strchr(at, PLACE_BETWEEN) ? rank_of_program() % count(at) : 0;

	while (skip-- > 0)
		at = strchr(at, PLACE_BETWEEN) + 1;
	size_t size = strcspn(at, (const char[]){ PLACE_BETWEEN, '\0' });

	if (size >= LIVE_NAME)
		return false;
	memcpy(host, at, size);
	host[size] = '\0';
	return true;
}
