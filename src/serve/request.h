/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SERVE_REQUEST_H
#define HD_SERVE_REQUEST_H

/*
 * An HTTP request after parsing by the library: a method, a path, and values by
 * name. Invalid requests are refused in one line.
 */

#include "serve/change.h"

enum request_kind {
	REQUEST_PAGE,     /* the page that follows */
	REQUEST_FABRIC,   /* what it draws, JSON */
	REQUEST_STATE,    /* what changes all the time, JSON */
	REQUEST_METRICS,  /* for Prometheus */
	REQUEST_SCENARIO, /* with all changes */
	REQUEST_REPORT,   /* of the run so far, a page */
	REQUEST_PAUSE,
	REQUEST_RUN,
	REQUEST_STEP,  /* by `time` */
	REQUEST_SPEED, /* `time` a second; 0: as fast as it goes */
	REQUEST_RESTART,
	REQUEST_CHANGE,
};

struct http_request {
	enum request_kind kind;
	hd_time time;
	struct change change;
};

/* The value of that name, or NULL; as long as the request lives. */
typedef const char *request_value_fn(void *context, const char *name);

/*
 * HD_ERR_NOT_FOUND for an unknown path, HD_ERR_USAGE if the path does not allow
 * this method, HD_ERR_INPUT if a value is missing or invalid.
 */
HD_MUST_CHECK enum hd_status request_parse(const char *method, const char *path,
					   request_value_fn *value, void *context, struct diag *d,
					   struct http_request *out);

/* Whether two texts are the same, in a time that depends on neither. */
bool request_same(const char *given, const char *secret);
/* Whether a number of AF_INET or AF_INET6 is this machine's: 127.*, ::1. */
bool request_is_loopback(const char *address, int family);
/* Whether "localhost:80", "127.0.0.2" or "[::1]:8000" names this machine. */
bool request_is_local(const char *host);

#endif
