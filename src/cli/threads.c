/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/threads.h"

#include <stdio.h>

#include "base/parallel_for.h"

/* Options of the command that the program runs. */
static bool tells;
static bool wants_more; /* more than one thread is requested */

void threads_apply(const struct common_options *common)
{
	parallel_set_threads((unsigned)common->threads);
	tells = common->verbose;
	wants_more = common->threads > 1 && !common->quiet;
}

void threads_report(void)
{
	struct parallel_use use = parallel_last_use();

	/* --threads above 1 had no effect: gives the reason. */
	if (!tells && !(wants_more && use.parts == 1 && use.why))
		return;
	if (use.jobs)
		fprintf(stderr,
			"heddle: computed by up to %u jobs at a time, each on %u thread%s\n",
			use.jobs, use.threads, use.threads == 1 ? "" : "s");
	else if (use.parts > 1)
		fprintf(stderr, "heddle: computed in %u parts on %u threads\n", use.parts,
			use.threads);
	else if (use.parts)
		fprintf(stderr, "heddle: computed on one thread%s%s\n", use.why ? ": " : "",
			use.why ? use.why : "");
}
