/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/serve/listen.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/command.h"

int listen_with(const struct listen_options *o, server_answer_fn *answer,
		void *context, void (*serve)(void *context))
{
	struct diag d = { .status = HD_OK };
	struct strbuf url = STRBUF_INIT;
	struct server_options where = { .answer = answer, .context = context };
	struct server *server;
	char *address = NULL, *token = NULL;

	if (server_place(o->place, &d, &address, &where.port) != HD_OK)
		return command_refuse(&d);
	where.address = address;
	enum hd_status begun =
		server_choose_token(address, o->token, &d, &token);

	where.token = token;
	if (begun == HD_OK)
		begun = server_start(&where, &d, &server);
	if (begun != HD_OK) {
		free(address);
		free(token);
		return command_refuse(&d);
	}
	server_url(server, &url);
	puts(url.text);
	fflush(stdout);
	serve(context);
	server_stop(server);
	strbuf_fini(&url);
	free(address);
	free(token);
	return EXIT_DONE;
}
