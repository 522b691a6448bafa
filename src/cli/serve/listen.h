/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_SERVE_LISTEN_H
#define HD_CLI_SERVE_LISTEN_H

#include "serve/server.h"

/* Where 'heddle serve' answers, and whom. */
struct listen_options {
	const char *place; /* ADDRESS[:PORT] */
	const char *token; /* a file, or NULL */
};

/*
 * Listens, prints where, and goes on with `serve` until it returns; the exit
 * status.
 */
int listen_with(const struct listen_options *o, server_answer_fn *answer,
		void *context, void (*serve)(void *context));

#endif
