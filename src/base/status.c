/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/status.h"

#include <stddef.h>

const char *hd_status_text(enum hd_status status)
{
	static const char *const text[] = {
		[HD_OK] = "ok",
		[HD_ERR_INPUT] = "bad input",
		[HD_ERR_RANGE] = "out of range",
		[HD_ERR_FULL] = "full",
		[HD_ERR_NOT_FOUND] = "not found",
		[HD_ERR_UNFIT] = "does not apply",
		[HD_ERR_IO] = "input/output error",
		[HD_ERR_ENV] = "missing from the environment",
		[HD_ERR_USAGE] = "usage",
	};
	if ((size_t)status >= sizeof(text) / sizeof(text[0]))
		return "unknown status";
	return text[status];
}
