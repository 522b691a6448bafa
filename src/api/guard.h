/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_API_GUARD_H
#define HD_API_GUARD_H

/*
 * The line between heddle.h and the rooms behind it: what they refuse becomes a
 * code and a line for the caller, and lack of memory ends a call, not the
 * process.
 */

#include <stdbool.h>

#include "api/heddle.h"
#include "base/diag.h"

/* Nothing is wrong: HD_DONE. */
int api_done(struct hd_error *error);
/* Reports an invalid call: HD_MISUSE. */
HD_PRINTF(2, 3)
int api_misuse(struct hd_error *error, const char *format, ...);
HD_PRINTF(3, 4)
int api_failed(struct hd_error *error, int code, const char *format, ...);

/* Which enum hd_code a status is; the numbers are exit statuses of the program,
 * too. */
int api_code_of_status(enum hd_status status);

typedef enum hd_status guarded_fn(void *context, struct diag *d);

/*
 * Calls `work`. If memory runs short in it, *is_broken is set: what it was
 * about must not be touched any more, not even to free it.
 */
int api_guarded(guarded_fn *work, void *context, bool *is_broken, struct hd_error *error);

#endif
