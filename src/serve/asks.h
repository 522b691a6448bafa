/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SERVE_ASKS_H
#define HD_SERVE_ASKS_H

/*
 * Queue of requests from the threads that read them to the one thread that answers them. No thread
 * waits for an answer: each request has a callback for its completion.
 *
 *	asks_put(q, &ask);                    any thread
 *	while ((a = asks_take(q, seconds)))   the answering thread
 *		... fills in a->reply, now or later ...
 *		asks_answer(a);
 */

#include <pthread.h>

#include "serve/request.h"

struct reply {
	unsigned status;  /* HTTP status; default 200 */
	const char *type; /* "application/json" */
	struct strbuf body;
};
#define REPLY_INIT                                                                      \
	{                                                                               \
		.status = 200, .type = "text/plain; charset=utf-8", .body = STRBUF_INIT \
	}

/* Fills in the error's message as one line, and the matching status. */
void serve_reply_refuse(struct reply *out, const struct diag *d);

struct ask {
	struct http_request request;
	struct reply reply;
	/* Called when the reply is complete; the ask may have been freed when it returns. */
	void (*done)(struct ask *a);
	struct ask *next; /* next in its list */
};

struct asks {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct ask *first, **last;
	bool is_waiting; /* the queue is not empty; read without the lock */
	bool is_woken, is_closed;
};

void asks_init(struct asks *q);
void asks_fini(struct asks *q);

/* Adds a request. If the queue is closed, the request is refused at once with 503. */
void asks_put(struct asks *q, struct ask *a);
/* Returns the next request; NULL if none came within `seconds`, or if asks_wake was called. */
struct ask *asks_take(struct asks *q, double seconds);
void asks_answer(struct ask *a);
/* Makes asks_take return: the answering thread has other work. */
void asks_wake(struct asks *q);
/* True if there is a request or the queue is closed; takes no lock. */
bool asks_wait(const struct asks *q);
/* Refuses all waiting and later requests. */
void asks_close(struct asks *q);
bool asks_are_closed(struct asks *q);

/* Answers one request. */
typedef void asks_answer_fn(void *context, const struct http_request *r, struct reply *out);
/* Answers requests one after the other until the queue is closed. */
void asks_serve(struct asks *q, asks_answer_fn *answer, void *context);

#endif
