/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "study/sweep.h"

/* A batch system says which task of an array this is; none: all of it. */
static enum hd_status from_slurm(struct diag *d, uint64_t *shard, uint64_t *n)
{
	const char *task = getenv("SLURM_ARRAY_TASK_ID");
	const char *first = getenv("SLURM_ARRAY_TASK_MIN");
	const char *count = getenv("SLURM_ARRAY_TASK_COUNT");
	uint64_t low = 1;

	*shard = *n = 1;
	if (!task && !count)
		return HD_OK;
	if (task && count && hd_uint_parse(task, NULL, shard) == HD_OK &&
	    hd_uint_parse(count, NULL, n) == HD_OK &&
	    (!first || hd_uint_parse(first, NULL, &low) == HD_OK) &&
	    *shard >= low && *shard - low < *n) {
		*shard -= low - 1;
		return HD_OK;
	}
	return diag_fail(d, HD_ERR_USAGE,
			 "SLURM_ARRAY_TASK_ID, _MIN and _COUNT do not name a "
			 "shard; an array without gaps does");
}

enum hd_status shard_parse(const char *text, struct diag *d, size_t *shard,
			   size_t *n)
{
	const char *slash = strchr(text, '/');
	char *left = hd_strndup(text, slash ? (size_t)(slash - text) : 0);
	uint64_t i = 0, of = 0;
	enum hd_status status = HD_OK;

	if (strcmp(text, "auto") == 0)
		status = from_slurm(d, &i, &of);
	else if (!slash || hd_uint_parse(left, NULL, &i) != HD_OK ||
		 hd_uint_parse(slash + 1, NULL, &of) != HD_OK || i < 1 ||
		 i > of)
		status = diag_fail(d, HD_ERR_USAGE,
				   "'%.40s' is no shard; expected 3/10 (the "
				   "third of ten) or auto",
				   text);
	free(left);
	if (status != HD_OK)
		return status;
	*shard = i - 1;
	*n = of;
	return HD_OK;
}
