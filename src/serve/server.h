/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SERVE_SERVER_H
#define HD_SERVE_SERVER_H

/*
 * Answers over HTTP, by libmicrohttpd, in threads of its own.
 *
 * On an address of this machine only those who are on it can ask; a page from
 * elsewhere cannot ask in a user's name: names that are not this machine's are
 * refused in Host, and what changes something needs a header that other pages
 * cannot send. On any other address a token is needed, as "Authorization:
 * Bearer TOKEN", for all but the empty page.
 */

#include "serve/asks.h"

struct server_options {
	const char *address; /* "127.0.0.1"; server_place has read it */
	uint16_t port;       /* 0: any */
	const char *token;   /* NULL: none is needed */
	struct asks *asks;   /* that takes the requests */
	bool has_page;       /* '/' is the page that follows, answered here */
};

struct server;

/* HD_ERR_ENV if the address cannot be listened to. Options are borrowed. */
HD_MUST_CHECK enum hd_status server_start(const struct server_options *o, struct diag *d,
					  struct server **out);
/* After its queue was closed and all requests have been answered. */
void server_stop(struct server *s);
/* Where it listens: "http://127.0.0.1:8737/". */
void server_url(const struct server *s, struct strbuf *out);

#define SERVER_PORT 8737
/*
 * "127.0.0.1", "127.0.0.1:8737", "::1" or "[::1]:8737" as an address, to be
 * freed, and a port; SERVER_PORT if it has none. HD_ERR_USAGE if it is no
 * number of a machine.
 */
HD_MUST_CHECK enum hd_status server_place(const char *text, struct diag *d, char **address,
					  uint16_t *port);
/*
 * The token that clients of `address` must send; the caller frees it: that of a
 * file, or a random one if `path` is NULL. NULL if `address` is local.
 */
HD_MUST_CHECK enum hd_status server_choose_token(const char *address, const char *path,
						 struct diag *d, char **out);

#endif
