/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/threads.h"

#include <stdio.h>
#include <unistd.h>

unsigned threads_for(const struct fabric *f, uint64_t asked)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	if (asked)
		return (unsigned)asked;
	return sim_threads(&f->setup, cores > 1 ? (unsigned)cores : 1);
}

void threads_say(const struct sim *s, uint64_t asked, unsigned used)
{
	const char *why;
	uint32_t parts = sim_is_cut(s, &why);

	if (!why && !asked)
		why = "more would not pay on so small a fabric";
	if (parts > 1)
		fprintf(stderr, "heddle: computed in %u parts on %u threads\n",
			parts, used < parts ? used : parts);
	else
		fprintf(stderr, "heddle: computed on one thread%s%s\n",
			why ? ": " : "", why ? why : "");
}
