/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/server.h"

#include <arpa/inet.h>
#include <assert.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/units.h"
#include "report/page_template.h"
#include "serve/prometheus.h"

#define THREADS      2 /* no thread waits for an answer */
#define CONNECTIONS  512
#define IDLE_SECONDS 60
#define TOKEN_LIMIT  256
#define MEMORY       ((size_t)32 << 10) /* per connection, including headers */

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

struct server {
	struct server_options options;
	struct MHD_Daemon *daemon;
	union address at;
	uint16_t port;
	uint64_t scrapes; /* scrapes by Prometheus; shared by all threads */
};

/* The page of the live view. */
static enum hd_status put_page(struct reply *out, struct diag *d)
{
	if (!page_live_template_len)
		return diag_fail(d, HD_ERR_ENV, "the page is not part of this build: %s",
				 page_missing);
	out->type = "text/html; charset=utf-8";
	strbuf_add(&out->body, (const char *)page_live_template, page_live_template_len);
	return HD_OK;
}

static const char *header(struct MHD_Connection *c, const char *name)
{
	return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

static const char *argument(void *context, const char *name)
{
	return MHD_lookup_connection_value(context, MHD_GET_ARGUMENT_KIND, name);
}

/* True if an address is reachable from this machine only: 127.*, ::1. */
static bool server_is_loopback(const char *address)
{
	return request_is_loopback(address, AF_INET) || request_is_loopback(address, AF_INET6);
}

/* Checks permission: 0, or the HTTP status and the reason of the refusal. */
static unsigned forbidden(const struct server *s, struct MHD_Connection *c, const char *method,
			  const char *path, const char **why)
{
	const char *host = header(c, "Host"), *origin = header(c, "Origin");
	const char *bearer = header(c, "Authorization");
	bool is_local = server_is_loopback(s->options.address);

	*why = "this is not the name of the server";
	if (!host || (is_local && !request_is_local(host)))
		return 403;
	*why = "another page asks";
	if (origin && (strncmp(origin, "http://", 7) != 0 || strcmp(origin + 7, host) != 0))
		return 403;
	*why = "the header 'X-Heddle' is missing";
	if (strcmp(method, "POST") == 0 && !header(c, "X-Heddle"))
		return 403;
	*why = "a token is needed: 'Authorization: Bearer TOKEN'";
	if (s->options.token && strcmp(path, "/") != 0 &&
	    (!bearer || strncmp(bearer, "Bearer ", 7) != 0 ||
	     !request_same(bearer + 7, s->options.token)))
		return 401;
	return 0;
}

static enum MHD_Result send_reply(struct MHD_Connection *c, struct reply *r)
{
	static const char *const headers[][2] = {
		{ "X-Content-Type-Options", "nosniff" },
		{ "Cache-Control", "no-store" },
		{ "Referrer-Policy", "no-referrer" },
		{ "X-Frame-Options", "DENY" },
		{ "Cross-Origin-Resource-Policy", "same-origin" },
	};
	size_t len = r->body.len;
	struct MHD_Response *response = MHD_create_response_from_buffer(
		len, len ? strbuf_detach(&r->body) : NULL, MHD_RESPMEM_MUST_FREE);

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, "Content-Type", r->type);
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		MHD_add_response_header(response, headers[i][0], headers[i][1]);
	if (strncmp(r->type, "text/html", 9) != 0)
		MHD_add_response_header(response, "Content-Security-Policy",
					"default-src 'none'; sandbox");
	enum MHD_Result result = MHD_queue_response(c, r->status, response);

	MHD_destroy_response(response);
	return result;
}

static void say(struct reply *out, unsigned status, const char *why)
{
	out->status = status;
	strbuf_printf(&out->body, "%s\n", why);
}

/*
 * A request that waits for its answer. Its connection is suspended until then, so that the
 * library's threads serve others.
 */
struct call {
	struct ask ask; /* first member: the call is found by its address */
	struct MHD_Connection *connection;
	struct server *server;
};

static void call_done(struct ask *a)
{
	struct call *call = (struct call *)a;

	if (a->request.kind == REQUEST_METRICS && a->reply.status == 200)
		prometheus_scrapes(__atomic_add_fetch(&call->server->scrapes, 1, __ATOMIC_RELAXED),
				   &a->reply.body);
	MHD_resume_connection(call->connection);
}

static enum MHD_Result call_begin(struct server *s, struct MHD_Connection *c,
				  const struct http_request *r, void **state)
{
	struct call *call = hd_alloc(1, sizeof(*call));

	*call = (struct call){
		.ask = { .request = *r, .reply = REPLY_INIT, .done = call_done },
		.connection = c,
		.server = s,
	};
	*state = call;
	MHD_suspend_connection(c);
	asks_put(s->options.asks, &call->ask);
	return MHD_YES;
}

/* States of a request before it is a call; requests have no body. */
static const char has_begun, has_body;

static bool is_call(const void *state)
{
	return state && state != &has_begun && state != &has_body;
}

/* The reply has been sent, or the client has disconnected. */
static void call_end(void *context, struct MHD_Connection *c, void **state,
		     enum MHD_RequestTerminationCode why)
{
	(void)context;
	(void)c;
	(void)why;
	if (!is_call(*state))
		return;
	struct call *call = *state;

	strbuf_fini(&call->ask.reply.body);
	free(call);
	*state = NULL;
}

/* Handles a complete request: replies at once, or queues a call. */
static enum MHD_Result handle_whole(struct server *s, struct MHD_Connection *c, const char *path,
				    const char *method, void **state)
{
	struct reply reply = REPLY_INIT;
	struct diag d = { .status = HD_OK };
	struct http_request request;
	const char *why;
	unsigned no = forbidden(s, c, method, path, &why);

	if (no)
		say(&reply, no, why);
	else if (*state == &has_body)
		say(&reply, 413, "a request has no body");
	else {
		enum hd_status status = request_parse(strcmp(method, "HEAD") == 0 ? "GET" : method,
						      path, argument, c, &d, &request);

		if (status == HD_OK && (request.kind != REQUEST_PAGE || !s->options.has_page))
			return call_begin(s, c, &request, state);
		if (status == HD_OK)
			status = put_page(&reply, &d);
		if (status != HD_OK)
			serve_reply_refuse(&reply, &d);
	}
	enum MHD_Result result = send_reply(c, &reply);

	strbuf_fini(&reply.body);
	return result;
}

/* The signature is the library's: NOLINTNEXTLINE(readability-function-size) */
static enum MHD_Result handle(void *context, struct MHD_Connection *c, const char *path,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **state)
{
	(void)version;
	(void)upload;
	if (!*state) {
		*state = (void *)&has_begun;
		return MHD_YES;
	}
	if (*upload_size) {
		*state = (void *)&has_body;
		*upload_size = 0;
		return MHD_YES;
	}
	if (is_call(*state)) {
		struct call *call = *state;

		return send_reply(c, &call->ask.reply);
	}
	return handle_whole(context, c, path, method, state);
}

static bool address_parse(const char *text, uint16_t port, union address *out)
{
	*out = (union address){ .v6 = { .sin6_family = AF_INET6 } };
	if (inet_pton(AF_INET6, text, &out->v6.sin6_addr) == 1) {
		out->v6.sin6_port = htons(port);
		return true;
	}
	*out = (union address){ .v4 = { .sin_family = AF_INET, .sin_port = htons(port) } };
	return inet_pton(AF_INET, text, &out->v4.sin_addr) == 1;
}

/* Makes a token of 32 random letters. */
static enum hd_status draw_token(struct strbuf *out, struct diag *d)
{
	unsigned char bytes[16];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return diag_fail(d, HD_ERR_ENV, "the system provides no random numbers");
	for (size_t i = 0; i < sizeof(bytes); i++)
		strbuf_printf(out, "%02x", bytes[i]);
	return HD_OK;
}

enum hd_status server_choose_token(const char *address, const char *path, struct diag *d,
				   char **out)
{
	struct strbuf text = STRBUF_INIT;

	*out = NULL;
	if (!path && server_is_loopback(address))
		return HD_OK;
	enum hd_status status =
		path ? file_read(path, TOKEN_LIMIT, d, &text) : draw_token(&text, d);

	text.text[strcspn(text.text, "\r\n")] = '\0';
	if (status == HD_OK && strlen(text.text) < 16)
		status = diag_fail(d, HD_ERR_INPUT,
				   "the token is too short (at least 16 characters)");
	if (status == HD_OK)
		*out = strbuf_detach(&text);
	strbuf_fini(&text);
	return status;
}

enum hd_status server_place(const char *text, struct diag *d, char **address, uint16_t *port)
{
	const bool bracket = *text == '[';
	const char *end = bracket ? strchr(text, ']') : strchr(text, ':');
	/* With two colons, as in "::1", no colon precedes a port. */
	const bool bare = !bracket && end && strchr(end + 1, ':');
	const char *colon = bracket && end ? end + 1 : end;
	struct diag ignored = { .status = HD_OK };
	struct strbuf name = STRBUF_INIT;
	uint64_t number = SERVER_PORT;
	union address parsed;

	if ((bracket && !end) || (bracket && *colon && *colon != ':') ||
	    (!bare && colon && *colon &&
	     (hd_uint_parse(colon + 1, &ignored, &number) != HD_OK || number > UINT16_MAX)))
		return diag_fail(d, HD_ERR_USAGE, "'%s' is not ADDRESS[:PORT]", text);
	text += bracket;
	if (bare || !end)
		strbuf_puts(&name, text);
	else
		strbuf_add(&name, text, (size_t)(end - text));
	if (!address_parse(name.text, 0, &parsed)) {
		diag_fail(d, HD_ERR_USAGE,
			  "'%s' is not a numeric address (such as 127.0.0.1, ::1 or 0.0.0.0)",
			  name.text);
		strbuf_fini(&name);
		return d->status;
	}
	*address = strbuf_detach(&name);
	*port = (uint16_t)number;
	return HD_OK;
}

static void ignore_log(void *context, const char *format, va_list args)
{
	(void)context;
	(void)format;
	(void)args;
}

enum hd_status server_start(const struct server_options *o, struct diag *d, struct server **out)
{
	struct server *s = hd_alloc(1, sizeof(*s));

	s->options = *o;
	bool is_address = address_parse(o->address, o->port, &s->at);

	assert(is_address);
	(void)is_address;
	unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO | MHD_USE_ERROR_LOG |
			 MHD_ALLOW_SUSPEND_RESUME;

	if (s->at.any.sa_family == AF_INET6)
		flags |= MHD_USE_IPv6;
	s->daemon = MHD_start_daemon(
		flags, o->port, NULL, NULL, handle, s, MHD_OPTION_EXTERNAL_LOGGER, ignore_log, NULL,
		MHD_OPTION_SOCK_ADDR, &s->at.any, MHD_OPTION_THREAD_POOL_SIZE, (unsigned)THREADS,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned)IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, MEMORY,
		MHD_OPTION_NOTIFY_COMPLETED, call_end, NULL, MHD_OPTION_END);
	if (!s->daemon) {
		free(s);
		return diag_fail(d, HD_ERR_ENV, "cannot listen on %s, port %u", o->address,
				 o->port);
	}
	s->port = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
	*out = s;
	return HD_OK;
}

void server_stop(struct server *s)
{
	MHD_stop_daemon(s->daemon);
	free(s);
}

void server_url(const struct server *s, struct strbuf *out)
{
	bool is_v6 = s->at.any.sa_family == AF_INET6;

	strbuf_printf(out, "http://%s%s%s:%u/", is_v6 ? "[" : "", s->options.address,
		      is_v6 ? "]" : "", s->port);
	if (s->options.token)
		strbuf_printf(out, "#token=%s", s->options.token);
}
