/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_LIVE_SERVE_H
#define HD_CLI_LIVE_SERVE_H

/*
 * 'heddle serve --live'. live_serve.c implements it; without_live.c refuses it
 * in builds without the live fabric.
 */

#include "cli/command.h"
#include "cli/serve_listen.h"

/* Serves the pages of the live fabric `name`; returns the exit status. */
int cli_live_serve(const struct command *self, const char *name,
		   const struct listen_options *listen);

#endif
