/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_STATUS_H
#define HD_BASE_STATUS_H

/*
 * How a function says that an expected failure happened.
 *
 * Three kinds of failure are never mixed: a bug of ours is an assert, lack of
 * memory ends the program inside hd_alloc, and everything that a user, a file
 * or a modelled limit can cause is an hd_status. Outputs come last in the
 * argument list and are written only on HD_OK.
 */

enum hd_status {
	HD_OK = 0,
	HD_ERR_INPUT,     /* malformed or contradictory input */
	HD_ERR_RANGE,     /* well formed, but outside the permitted range */
	HD_ERR_FULL,      /* a modelled table, buffer or address space is full */
	HD_ERR_NOT_FOUND, /* a name or id that nothing answers to */
	HD_ERR_UNFIT,     /* the method asked for does not apply here */
	HD_ERR_IO,        /* the operating system refused to read or write */
	HD_ERR_ENV,       /* something the host must provide is missing */
	HD_ERR_USAGE,     /* invalid words, whatever the files contain */
};

/* A short lower-case phrase; "unknown status" for anything else. */
const char *hd_status_text(enum hd_status status);

#define HD_MUST_CHECK                    __attribute__((warn_unused_result))
#define HD_PRINTF(format_arg, first_arg) __attribute__((format(printf, format_arg, first_arg)))

#endif
