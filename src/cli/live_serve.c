/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/live_serve.h"

#include "cli/live.h"
#include "serve/watch.h"

static void serve_watch(void *context, struct asks *asks)
{
	asks_serve(asks, watch_answer, context);
}

int cli_live_serve(const struct command *self, const char *name,
		   const struct listen_options *listen)
{
	struct diag d = { .status = HD_OK };
	struct fabric_watch *w;

	if (!cli_live_is_name(name))
		return command_usage(
			self, "invalid fabric name '%s': use letters, digits, '-' and '_'", name);
	if (watch_new(name, &d, &w) != HD_OK)
		return command_refuse(&d);
	int status = listen_with(listen, true, serve_watch, w);

	watch_free(w);
	return status;
}
