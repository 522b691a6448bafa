/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/serve_listen.h"

#include <stdio.h>
#include <stdlib.h>

int listen_check(const struct command *self, const struct listen_options *o)
{
	struct diag d = { .status = HD_OK };
	uint16_t port;
	char *address;

	if (server_place(o->place, &d, &address, &port) != HD_OK)
		return command_usage(self, "--listen: %s", d.message);
	free(address);
	return EXIT_DONE;
}

static void print_url(const struct server *server)
{
	struct strbuf url = STRBUF_INIT;

	server_url(server, &url);
	puts(url.text);
	fflush(stdout);
	strbuf_fini(&url);
}

int listen_with(const struct listen_options *o, bool has_page, listen_serve_fn *serve,
		void *context)
{
	struct diag d = { .status = HD_OK };
	struct asks asks;
	struct server_options where = { .asks = &asks, .has_page = has_page };
	struct server *server;
	char *address = NULL, *token = NULL;

	if (server_place(o->place, &d, &address, &where.port) != HD_OK)
		return command_refuse(&d);
	asks_init(&asks);
	where.address = address;
	enum hd_status begun = server_choose_token(address, o->token, &d, &token);

	where.token = token;
	if (begun == HD_OK)
		begun = server_start(&where, &d, &server);
	if (begun == HD_OK) {
		print_url(server);
		serve(context, &asks);
		asks_close(&asks);
		server_stop(server);
	}
	asks_fini(&asks);
	free(address);
	free(token);
	return begun == HD_OK ? EXIT_DONE : command_refuse(&d);
}
