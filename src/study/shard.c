/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "study/sweep.h"

/* Reads a variable of the batch system; leaves *out unchanged if it is not set. */
static bool read_number(const char *name, uint64_t *out)
{
	const char *text = getenv(name);

	return !text || hd_uint_parse(text, NULL, out) == HD_OK;
}

/* A batch system says which task of an array this is; none: all of it. */
static enum hd_status from_slurm(struct diag *d, uint64_t *shard, uint64_t *n)
{
	uint64_t task = UINT64_MAX, low = 1, step = 1, high;

	*shard = *n = 1;
	if (!getenv("SLURM_ARRAY_TASK_ID") && !getenv("SLURM_ARRAY_TASK_COUNT"))
		return HD_OK;
	*n = 0;
	bool good = read_number("SLURM_ARRAY_TASK_ID", &task) &&
		    read_number("SLURM_ARRAY_TASK_COUNT", n) &&
		    read_number("SLURM_ARRAY_TASK_MIN", &low) &&
		    read_number("SLURM_ARRAY_TASK_STEP", &step) && *n && step;

	high = good ? low + (*n - 1) * step : 0;
	if (good && read_number("SLURM_ARRAY_TASK_MAX", &high) && task >= low && task <= high &&
	    (high - low) / step + 1 == *n && (task - low) % step == 0) {
		*shard = (task - low) / step + 1;
		return HD_OK;
	}
	return diag_fail(
		d, HD_ERR_USAGE,
		"SLURM_ARRAY_TASK_ID, _MIN, _STEP and _COUNT do not name a shard; an array without gaps does");
}

enum hd_status shard_parse(const char *text, struct diag *d, size_t *shard, size_t *n)
{
	const char *slash = strchr(text, '/');
	char *left = hd_strndup(text, slash ? (size_t)(slash - text) : 0);
	uint64_t i = 0, of = 0;
	enum hd_status status = HD_OK;

	if (strcmp(text, "auto") == 0)
		status = from_slurm(d, &i, &of);
	else if (!slash || hd_uint_parse(left, NULL, &i) != HD_OK ||
		 hd_uint_parse(slash + 1, NULL, &of) != HD_OK || i < 1 || i > of ||
		 of > STUDY_MOST_POINTS)
		status = diag_fail(
			d, HD_ERR_USAGE,
			"invalid shard '%.40s' (expected K/N, such as 3/10 for the third of ten, or auto)",
			text);
	free(left);
	if (status != HD_OK)
		return status;
	*shard = i - 1;
	*n = of;
	return HD_OK;
}
