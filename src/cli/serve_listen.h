/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_SERVE_LISTEN_H
#define HD_CLI_SERVE_LISTEN_H

#include "cli/command.h"
#include "serve/server.h"

/* Where 'heddle serve' listens, and the token that it asks for. */
struct listen_options {
	const char *place; /* ADDRESS[:PORT] */
	const char *token; /* a file, or NULL */
};

/* EXIT_USAGE, with a message, if the address is invalid. */
int listen_check(const struct command *self, const struct listen_options *o);

/* Who answers requests, until their queue is closed. */
typedef void listen_serve_fn(void *context, struct asks *asks);

/*
 * Listens, prints where, and calls `serve`; the exit status. `has_page`: '/' is
 * the page that follows a run or a live fabric.
 */
int listen_with(const struct listen_options *o, bool has_page, listen_serve_fn *serve,
		void *context);

#endif
