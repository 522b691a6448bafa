/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SERVE_ASKS_H
#define HD_SERVE_ASKS_H

/*
 * Requests on their way from the threads that read them to the one thread that
 * answers them. No thread waits for an answer: the request has a function that
 * is called when its reply is complete.
 *
 *	asks_put(q, &ask);                    any thread
 *	while ((a = asks_take(q, seconds)))   the thread that answers
 *		... fills in a->reply, now or later ...
 *		asks_answer(a);
 */

#include <pthread.h>

#include "serve/request.h"

struct reply {
	unsigned status;  /* of HTTP; 200 */
	const char *type; /* "application/json" */
	struct strbuf body;
};
#define REPLY_INIT                                                                      \
	{                                                                               \
		.status = 200, .type = "text/plain; charset=utf-8", .body = STRBUF_INIT \
	}

/* One line that says why not, with the status that fits. */
void serve_reply_refuse(struct reply *out, const struct diag *d);

struct ask {
	struct http_request request;
	struct reply reply;
	/* The reply is complete; the ask may be gone when this returns. */
	void (*done)(struct ask *a);
	struct ask *next; /* of whatever list it is in */
};

struct asks {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct ask *first, **last;
	bool is_waiting; /* there is one; read without the lock */
	bool is_woken, is_closed;
};

void asks_init(struct asks *q);
void asks_fini(struct asks *q);

/* Of a queue that is closed: refused at once, with 503. */
void asks_put(struct asks *q, struct ask *a);
/* The next one; NULL if none came within that time, or asks_wake was called. */
struct ask *asks_take(struct asks *q, double seconds);
void asks_answer(struct ask *a);
/* The thread that answers has something else to do. */
void asks_wake(struct asks *q);
/* Whether there is a request, or the queue is closed; takes no lock. */
bool asks_wait(const struct asks *q);
/* Refuses all that is there and that comes. */
void asks_close(struct asks *q);
bool asks_are_closed(struct asks *q);

/* Answers one request. */
typedef void asks_answer_fn(void *context, const struct http_request *r, struct reply *out);
/* One after the other, until the queue is closed. */
void asks_serve(struct asks *q, asks_answer_fn *answer, void *context);

#endif
