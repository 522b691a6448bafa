/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/request.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

struct request_parser {
	request_value_fn *value;
	void *context;
	struct diag *d;
};

typedef enum hd_status read_fn(const struct request_parser *a, struct http_request *out);

static enum hd_status text_of(const struct request_parser *a, const char *name,
			      char out[CHANGE_TEXT])
{
	const char *text = a->value(a->context, name);

	if (!text)
		return diag_fail(a->d, HD_ERR_INPUT, "'%s' is missing", name);
	if (strlen(text) >= CHANGE_TEXT)
		return diag_fail(a->d, HD_ERR_INPUT, "'%s' is too long", name);
	for (const char *c = text; *c; c++) {
		if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
			return diag_fail(a->d, HD_ERR_INPUT,
					 "'%s' contains characters other than printable ASCII",
					 name);
	}
	memcpy(out, text, strlen(text) + 1);
	return HD_OK;
}

static enum hd_status number_of(const struct request_parser *a, const char *name, uint32_t *out)
{
	char text[CHANGE_TEXT];
	uint64_t n = 0;

	if (text_of(a, name, text) != HD_OK)
		return a->d->status;
	for (const char *c = text; *c; c++) {
		if (*c < '0' || *c > '9' || n >= UINT32_MAX / 10)
			return diag_fail(a->d, HD_ERR_INPUT, "'%s' must be a number", name);
		n = n * 10 + (uint64_t)(*c - '0');
	}
	if (!*text)
		return diag_fail(a->d, HD_ERR_INPUT, "'%s' is empty", name);
	*out = (uint32_t)n;
	return HD_OK;
}

static enum hd_status read_time(const struct request_parser *a, struct http_request *out)
{
	char text[CHANGE_TEXT];

	if (text_of(a, "time", text) != HD_OK)
		return a->d->status;
	return hd_time_parse(text, a->d, &out->time);
}

static enum hd_status read_link(const struct request_parser *a, struct http_request *out)
{
	return number_of(a, "link", &out->change.link);
}

static enum hd_status read_load(const struct request_parser *a, struct http_request *out)
{
	struct change *c = &out->change;

	if (number_of(a, "row", &c->row) != HD_OK || text_of(a, "value", c->value) != HD_OK)
		return a->d->status;
	if (strspn(c->value, "0123456789.%kMGTb/s") != strlen(c->value) || !*c->value)
		return diag_fail(a->d, HD_ERR_INPUT,
				 "invalid load or rate '%s' (expected e.g. 60%% or 10Gb/s)",
				 c->value);
	return HD_OK;
}

static enum hd_status read_weights(const struct request_parser *a, struct http_request *out)
{
	static const char letters[] = "0123456789:, ";
	struct change *c = &out->change;

	if ((a->value(a->context, "high") && text_of(a, "high", c->high) != HD_OK) ||
	    (a->value(a->context, "low") && text_of(a, "low", c->low) != HD_OK))
		return a->d->status;
	if ((!*c->high && !*c->low) || strspn(c->high, letters) != strlen(c->high) ||
	    strspn(c->low, letters) != strlen(c->low))
		return diag_fail(a->d, HD_ERR_INPUT,
				 "'high' or 'low' must be a table such as 0:64,1:32");
	return HD_OK;
}

struct route {
	const char *method, *path;
	enum request_kind kind;
	enum change_kind change; /* for REQUEST_CHANGE */
	read_fn *read;           /* parses the values; NULL: there are none */
};

static const struct route routes[] = {
	{ "GET", "/", REQUEST_PAGE, 0, NULL },
	{ "GET", "/fabric.json", REQUEST_FABRIC, 0, NULL },
	{ "GET", "/state.json", REQUEST_STATE, 0, NULL },
	{ "GET", "/metrics", REQUEST_METRICS, 0, NULL },
	{ "GET", "/scenario.yaml", REQUEST_SCENARIO, 0, NULL },
	{ "GET", "/report.html", REQUEST_REPORT, 0, NULL },
	{ "POST", "/pause", REQUEST_PAUSE, 0, NULL },
	{ "POST", "/run", REQUEST_RUN, 0, NULL },
	{ "POST", "/step", REQUEST_STEP, 0, read_time },
	{ "POST", "/speed", REQUEST_SPEED, 0, read_time },
	{ "POST", "/restart", REQUEST_RESTART, 0, NULL },
	{ "POST", "/cut", REQUEST_CHANGE, CHANGE_CUT, read_link },
	{ "POST", "/mend", REQUEST_CHANGE, CHANGE_MEND, read_link },
	{ "POST", "/load", REQUEST_CHANGE, CHANGE_LOAD, read_load },
	{ "POST", "/weights", REQUEST_CHANGE, CHANGE_WEIGHTS, read_weights },
	{ "POST", "/reroute", REQUEST_CHANGE, CHANGE_REROUTE, NULL },
};

enum hd_status request_parse(const char *method, const char *path, request_value_fn *value,
			     void *context, struct diag *d, struct http_request *out)
{
	const struct request_parser a = { value, context, d };
	const struct route *r = NULL;

	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		if (strcmp(path, routes[i].path) == 0)
			r = &routes[i];
	}
	if (!r)
		return diag_fail(d, HD_ERR_NOT_FOUND, "no such page");
	if (strcmp(method, r->method) != 0)
		return diag_fail(d, HD_ERR_USAGE, "%s requires the method %s", r->path, r->method);
	*out = (struct http_request){ .kind = r->kind, .change.kind = r->change };
	return r->read ? r->read(&a, out) : HD_OK;
}

bool request_same(const char *given, const char *secret)
{
	size_t n = strlen(given), m = strlen(secret);
	unsigned differ = n != m;

	for (size_t i = 0; i < m; i++)
		differ |= (unsigned char)secret[i] ^ (unsigned char)(i < n ? given[i] : 0);
	return differ == 0;
}

bool request_is_loopback(const char *address, int family)
{
	struct in6_addr bytes; /* large enough for both families */

	if (inet_pton(family, address, &bytes) != 1)
		return false;
	return family == AF_INET ? bytes.s6_addr[0] == 127 : IN6_IS_ADDR_LOOPBACK(&bytes);
}

bool request_is_local(const char *host)
{
	const bool bracket = *host == '[';
	char name[64];
	size_t len = strcspn(host + bracket, bracket ? "]" : ":");
	const char *rest = host + bracket + len;

	if (len >= sizeof(name) || (bracket && *rest++ != ']') ||
	    (*rest && (*rest != ':' || strspn(rest + 1, "0123456789") != strlen(rest + 1))))
		return false;
	memcpy(name, host + bracket, len);
	name[len] = '\0';
	return bracket ? request_is_loopback(name, AF_INET6)
		       : strcmp(name, "localhost") == 0 || request_is_loopback(name, AF_INET);
}
