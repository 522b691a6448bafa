/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_SERVE_LISTEN_H
#define HD_CLI_SERVE_LISTEN_H

#include "cli/command.h"
#include "serve/server.h"

/* Address on which 'heddle serve' listens, and the required token. */
struct listen_options {
	const char *place; /* ADDRESS[:PORT] */
	const char *token; /* file with the token, or NULL */
};

/* Returns EXIT_USAGE, with a message, if the address is invalid. */
int listen_check(const struct command *self, const struct listen_options *o);

/* Answers requests until their queue is closed. */
typedef void listen_serve_fn(void *context, struct asks *asks);

/*
 * Listens, prints the URL, and calls `serve`; returns the exit status. `has_page`: '/' is the page
 * of a run or a live fabric.
 */
int listen_with(const struct listen_options *o, bool has_page, listen_serve_fn *serve,
		void *context);

#endif
