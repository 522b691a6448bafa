/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/asks.h"

#include <time.h>

#include "base/clock.h"

#define LONGEST 3600.0 /* seconds; limit of one wait */

void serve_reply_refuse(struct reply *out, const struct diag *d)
{
	static const unsigned statuses[] = {
		[HD_ERR_INPUT] = 400,     [HD_ERR_RANGE] = 422, [HD_ERR_FULL] = 422,
		[HD_ERR_NOT_FOUND] = 404, [HD_ERR_UNFIT] = 409, [HD_ERR_IO] = 500,
		[HD_ERR_ENV] = 503,       [HD_ERR_USAGE] = 405,
	};

	out->status = statuses[d->status];
	out->type = "text/plain; charset=utf-8";
	strbuf_clear(&out->body);
	strbuf_puts(&out->body, d->message);
	strbuf_putc(&out->body, '\n');
}

void asks_init(struct asks *q)
{
	pthread_condattr_t monotonic;

	*q = (struct asks){ .last = &q->first };
	pthread_mutex_init(&q->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&q->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

void asks_fini(struct asks *q)
{
	asks_close(q);
	pthread_mutex_destroy(&q->lock);
	pthread_cond_destroy(&q->changed);
}

void asks_answer(struct ask *a)
{
	a->done(a);
}

static void refuse(struct ask *a)
{
	struct diag d = { .status = HD_OK };

	diag_fail(&d, HD_ERR_ENV, "the server is shutting down");
	serve_reply_refuse(&a->reply, &d);
	asks_answer(a);
}

void asks_put(struct asks *q, struct ask *a)
{
	a->next = NULL;
	pthread_mutex_lock(&q->lock);
	bool is_closed = q->is_closed;

	if (!is_closed) {
		*q->last = a;
		q->last = &a->next;
		__atomic_store_n(&q->is_waiting, true, __ATOMIC_RELAXED);
		pthread_cond_signal(&q->changed);
	}
	pthread_mutex_unlock(&q->lock);
	if (is_closed)
		refuse(a);
}

static struct timespec after(double seconds)
{
	double until = clock_seconds() + (seconds < LONGEST ? seconds : LONGEST);
	struct timespec t = { .tv_sec = (time_t)until };

	t.tv_nsec = (long)((until - (double)t.tv_sec) * 1e9);
	return t;
}

/* With the lock held. */
static struct ask *take_first(struct asks *q)
{
	struct ask *a = q->first;

	if (a)
		q->first = a->next;
	if (!q->first) {
		q->last = &q->first;
		__atomic_store_n(&q->is_waiting, q->is_closed, __ATOMIC_RELAXED);
	}
	return a;
}

struct ask *asks_take(struct asks *q, double seconds)
{
	const struct timespec until = after(seconds);
	bool is_late = seconds <= 0;

	pthread_mutex_lock(&q->lock);
	while (!q->first && !q->is_woken && !q->is_closed && !is_late)
		is_late = pthread_cond_timedwait(&q->changed, &q->lock, &until) != 0;
	q->is_woken = false;
	struct ask *a = take_first(q);

	pthread_mutex_unlock(&q->lock);
	return a;
}

void asks_wake(struct asks *q)
{
	pthread_mutex_lock(&q->lock);
	q->is_woken = true;
	pthread_cond_signal(&q->changed);
	pthread_mutex_unlock(&q->lock);
}

bool asks_wait(const struct asks *q)
{
	return __atomic_load_n(&q->is_waiting, __ATOMIC_RELAXED);
}

void asks_close(struct asks *q)
{
	pthread_mutex_lock(&q->lock);
	struct ask *left = q->first;

	q->is_closed = true;
	q->first = NULL;
	q->last = &q->first;
	__atomic_store_n(&q->is_waiting, true, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
	while (left) {
		struct ask *a = left;

		left = a->next;
		refuse(a);
	}
}

bool asks_are_closed(struct asks *q)
{
	pthread_mutex_lock(&q->lock);
	bool is_closed = q->is_closed;

	pthread_mutex_unlock(&q->lock);
	return is_closed;
}

void asks_serve(struct asks *q, asks_answer_fn *answer, void *context)
{
	while (!asks_are_closed(q)) {
		struct ask *a = asks_take(q, LONGEST);

		if (!a)
			continue;
		answer(context, &a->request, &a->reply);
		asks_answer(a);
	}
}
