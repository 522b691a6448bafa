/* SPDX-License-Identifier: BSD-2-Clause */
/* For tests: a followed run in a thread, and requests that wait for their reply. */
#ifndef HEDDLE_SERVE_FOLLOW_FOR_TESTS_H
#define HEDDLE_SERVE_FOLLOW_FOR_TESTS_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "serve/follow.h"

struct followed {
	struct follow *s;
	struct asks asks;
	pthread_t thread;
};

static inline void *follow_compute(void *context)
{
	struct followed *x = context;

	follow_run(x->s, &x->asks);
	return NULL;
}

/* Starts the run, paused at time 0. */
static inline void follow_begin(struct followed *x, const char *path, const struct overrides *o)
{
	const struct follow_options how = { .paused = true };
	struct diag d = { .status = HD_OK };

	if (follow_new(path, o, &how, &d, &x->s) != HD_OK)
		fail_msg("%s: %s", path, d.message);
	asks_init(&x->asks);
	pthread_create(&x->thread, NULL, follow_compute, x);
}

/* Stops the computing thread; the run remains. */
static inline void follow_stop(struct followed *x)
{
	asks_close(&x->asks);
	pthread_join(x->thread, NULL);
	asks_fini(&x->asks);
}

/* A request, and whether its reply is complete. */
struct asked {
	struct ask ask;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_done;
};

static inline void asked_done(struct ask *a)
{
	struct asked *x = (struct asked *)a;

	pthread_mutex_lock(&x->lock);
	x->is_done = true;
	pthread_cond_signal(&x->changed);
	pthread_mutex_unlock(&x->lock);
}

static inline void asked_begin(struct followed *to, struct asked *x, const struct http_request *r)
{
	*x = (struct asked){ .ask = { .request = *r, .reply = REPLY_INIT, .done = asked_done },
			     .lock = PTHREAD_MUTEX_INITIALIZER,
			     .changed = PTHREAD_COND_INITIALIZER };
	asks_put(&to->asks, &x->ask);
}

static inline bool asked_is_done(struct asked *x)
{
	pthread_mutex_lock(&x->lock);
	bool is_done = x->is_done;

	pthread_mutex_unlock(&x->lock);
	return is_done;
}

/* Waits for the reply; returns its status, and its body if `out` is not NULL. */
static inline unsigned asked_end(struct asked *x, struct strbuf *out)
{
	pthread_mutex_lock(&x->lock);
	while (!x->is_done)
		pthread_cond_wait(&x->changed, &x->lock);
	pthread_mutex_unlock(&x->lock);
	if (out) {
		strbuf_clear(out);
		strbuf_puts(out, x->ask.reply.body.text);
	}
	strbuf_fini(&x->ask.reply.body);
	return x->ask.reply.status;
}

static inline unsigned follow_ask(struct followed *x, const struct http_request *r,
				  struct strbuf *out)
{
	struct asked a;

	asked_begin(x, &a, r);
	return asked_end(&a, out);
}

static inline double number_after(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	assert_non_null(at);
	return strtod(at + strlen(key), NULL);
}

/* Advances to the time, or to the end of the run, and gets the state. */
static inline void follow_step(struct followed *x, hd_time by, struct strbuf *state)
{
	const struct http_request look = { .kind = REQUEST_STATE };
	const struct http_request go = { .kind = REQUEST_STEP, .time = by };

	follow_ask(x, &look, state);
	double until = number_after(state->text, "\"now\":") + (double)by / (double)HD_US;

	assert_int_equal(follow_ask(x, &go, NULL), 200);
	do {
		const struct timespec pause = { .tv_nsec = 2000000 };

		nanosleep(&pause, NULL);
		follow_ask(x, &look, state);
	} while (strstr(state->text, "\"state\":\"paused\"") &&
		 number_after(state->text, "\"now\":") < until - 1e-9);
}

#endif
