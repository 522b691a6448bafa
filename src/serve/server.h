/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SERVE_SERVER_H
#define HD_SERVE_SERVER_H

/*
 * HTTP server on libmicrohttpd, with threads of its own.
 *
 * A server on a loopback address is reachable from this machine only. Requests of other web pages
 * are refused: Host must be a local name, and requests that change something need a header that
 * other pages cannot set. A server on any other address requires a token, as "Authorization:
 * Bearer TOKEN", for all requests except the empty page.
 */

#include "serve/asks.h"

struct server_options {
	const char *address; /* "127.0.0.1"; parsed by server_place */
	uint16_t port;       /* 0: any free port */
	const char *token;   /* NULL: not required */
	struct asks *asks;   /* queue for the requests */
	bool has_page;       /* '/' is the page of the live view, answered by the server */
};

struct server;

/* HD_ERR_ENV if listening fails. The options are borrowed. */
HD_MUST_CHECK enum hd_status server_start(const struct server_options *o, struct diag *d,
					  struct server **out);
/* Called after the queue was closed and all requests were answered. */
void server_stop(struct server *s);
/* The URL: "http://127.0.0.1:8737/". */
void server_url(const struct server *s, struct strbuf *out);

#define SERVER_PORT 8737
/*
 * Parses "127.0.0.1", "127.0.0.1:8737", "::1" or "[::1]:8737" into an address, which the caller
 * frees, and a port (default SERVER_PORT). HD_ERR_USAGE if it is not a numeric address.
 */
HD_MUST_CHECK enum hd_status server_place(const char *text, struct diag *d, char **address,
					  uint16_t *port);
/*
 * The token that clients of `address` must send: from the file `path`, or random if it is NULL.
 * The caller frees it. NULL if `address` is local.
 */
HD_MUST_CHECK enum hd_status server_choose_token(const char *address, const char *path,
						 struct diag *d, char **out);

#endif
