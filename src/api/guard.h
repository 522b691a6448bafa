/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_API_GUARD_H
#define HD_API_GUARD_H

/*
 * Boundary between heddle.h and the internal modules: converts errors to a code and a message
 * for the caller. Out of memory ends a call, not the process.
 */

#include <stdbool.h>

#include "api/heddle.h"
#include "base/diag.h"

/* Sets no error and returns HD_DONE. */
int api_done(struct hd_error *error);
/* Reports an invalid call: HD_MISUSE. */
HD_PRINTF(2, 3)
int api_misuse(struct hd_error *error, const char *format, ...);
HD_PRINTF(3, 4)
int api_failed(struct hd_error *error, int code, const char *format, ...);

/* The enum hd_code of a status; codes equal the exit statuses of the program. */
int api_code_of_status(enum hd_status status);

typedef enum hd_status guarded_fn(void *context, struct diag *d);

/*
 * Calls `work`. If it runs out of memory, sets *is_broken: the objects that it used must not be
 * accessed any more, not even to free them.
 */
int api_guarded(guarded_fn *work, void *context, bool *is_broken, struct hd_error *error);

#endif
