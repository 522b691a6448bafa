/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SERVE_REQUEST_H
#define HD_SERVE_REQUEST_H

/*
 * An HTTP request after parsing by the library: a method, a path, and values by
 * name. Invalid requests are refused in one line.
 */

#include "serve/change.h"

enum request_kind {
	REQUEST_PAGE,     /* the page of the live view */
	REQUEST_FABRIC,   /* data that the page draws once, JSON */
	REQUEST_STATE,    /* data that changes continuously, JSON */
	REQUEST_METRICS,  /* for Prometheus */
	REQUEST_SCENARIO, /* scenario with all changes */
	REQUEST_REPORT,   /* page with the results so far */
	REQUEST_PAUSE,
	REQUEST_RUN,
	REQUEST_STEP,  /* to the time `time` */
	REQUEST_SPEED, /* `time` per second; 0: no limit */
	REQUEST_RESTART,
	REQUEST_CHANGE,
};

struct http_request {
	enum request_kind kind;
	hd_time time;
	struct change change;
};

/* The value of that name, or NULL; valid as long as the request. */
typedef const char *request_value_fn(void *context, const char *name);

/*
 * HD_ERR_NOT_FOUND for an unknown path, HD_ERR_USAGE if the path does not allow
 * this method, HD_ERR_INPUT if a value is missing or invalid.
 */
HD_MUST_CHECK enum hd_status request_parse(const char *method, const char *path,
					   request_value_fn *value, void *context, struct diag *d,
					   struct http_request *out);

/* Compares texts in a time that does not depend on their contents. */
bool request_same(const char *given, const char *secret);
/* True if an AF_INET or AF_INET6 address is local: 127.*, ::1. */
bool request_is_loopback(const char *address, int family);
/* True if a Host header names this machine: "localhost:80", "127.0.0.2", "[::1]:8000". */
bool request_is_local(const char *host);

#endif
