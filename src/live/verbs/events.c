/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "live/verbs/roce.h"
#include "live/verbs/timed.h"
#include "live/verbs/verbs_internal.h"

/*
 * Asynchronous events. A pipe of the context holds them by index and number of their object; they
 * are resolved when the program reads them, because the object may have been destroyed.
 */

/* ---- delivery to the program */

/* Queues an event for the program; the event is lost if the pipe is full. */
static void raise_event(struct ibv_context *c, const struct notification *n)
{
	(void)!write(context_of(c)->async[1], n, sizeof(*n));
}

/* Finds the object; false if it has been destroyed. With verbs_adapter.lock. */
static bool resolve(const struct notification *n, struct ibv_async_event *e)
{
	struct soft_qp *q =
		n->kind == NEWS_QP && n->index < LIVE_QPS ? verbs_adapter.qps[n->index] : NULL;
	struct cq *cq =
		n->kind == NEWS_CQ && n->index < MAX_CQS ? verbs_adapter.cqs[n->index] : NULL;
	struct srq *srq =
		n->kind == NEWS_SRQ && n->index < MAX_SRQS ? verbs_adapter.srqs[n->index] : NULL;

	e->event_type = (enum ibv_event_type)n->event;
	if (n->kind == NEWS_PORT) {
		e->element.port_num = (int)n->index;
		return true;
	}
	if (q && q->ibv.qp_num == n->number) {
		e->element.qp = &q->ibv;
		q->got_async++;
		return true;
	}
	if (cq && cq->shared->serial == n->number) {
		e->element.cq = &cq->ibv;
		cq->got_async++;
		return true;
	}
	if (srq && srq->shared->serial == n->number) {
		e->element.srq = &srq->ibv;
		srq->got_async++;
		return true;
	}
	return false;
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *e)
{
	struct notification n;
	bool found;

	if (context_is_inherited(context)) {
		errno = EPERM;
		return -1;
	}
	do {
		if (read(context->async_fd, &n, sizeof(n)) != (ssize_t)sizeof(n))
			return -1;
		pthread_mutex_lock(&verbs_adapter.lock);
		found = resolve(&n, e);
		pthread_mutex_unlock(&verbs_adapter.lock);
	} while (!found);
	return 0;
}

static void acknowledge(pthread_mutex_t *lock, pthread_cond_t *changed, uint32_t *acknowledged)
{
	pthread_mutex_lock(lock);
	++*acknowledged;
	pthread_cond_broadcast(changed);
	pthread_mutex_unlock(lock);
}

void ibv_ack_async_event(struct ibv_async_event *e)
{
	struct ibv_cq *cq = e->element.cq;
	struct ibv_qp *qp = e->element.qp;
	struct ibv_srq *srq = e->element.srq;

	switch (e->event_type) {
	case IBV_EVENT_CQ_ERR:
		acknowledge(&cq->mutex, &cq->cond, &cq->async_events_completed);
		break;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		acknowledge(&qp->mutex, &qp->cond, &qp->events_completed);
		break;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		acknowledge(&srq->mutex, &srq->cond, &srq->events_completed);
		break;
	default:
		break;
	}
}

void verbs_await_acknowledged(pthread_mutex_t *lock, pthread_cond_t *changed, const uint32_t *got,
			      const uint32_t *acknowledged)
{
	pthread_mutex_lock(lock);
	while (*got != *acknowledged)
		pthread_cond_wait(changed, lock);
	pthread_mutex_unlock(lock);
}

/* ---- notifications that the background thread receives */

/* Flushes the sends of a queue pair that a peer has moved to the error state. */
static void look_after(uint32_t index, uint32_t qpn)
{
	pthread_mutex_lock(&verbs_adapter.lock);
	struct soft_qp *q = index < LIVE_QPS ? verbs_adapter.qps[index] : NULL;

	/*
	 * If another thread holds `send`, that thread flushes the sends when it next checks the
	 * state.
	 */
	if (q && q->ibv.qp_num == qpn && atomic_load(&q->shared->state) == IBV_QPS_ERR &&
	    pthread_mutex_trylock(&q->send) == 0) {
		verbs_qp_flush_sends(q);
		if (is_timed())
			timed_pair(q);
		pthread_mutex_unlock(&q->send);
	}
	pthread_mutex_unlock(&verbs_adapter.lock);
}

static struct ibv_context *context_for(const struct notification *n)
{
	if (n->kind == NEWS_QP && n->index < LIVE_QPS && verbs_adapter.qps[n->index])
		return verbs_adapter.qps[n->index]->ibv.context;
	if (n->kind == NEWS_CQ && n->index < MAX_CQS && verbs_adapter.cqs[n->index])
		return verbs_adapter.cqs[n->index]->ibv.context;
	if (n->kind == NEWS_SRQ && n->index < MAX_SRQS && verbs_adapter.srqs[n->index])
		return verbs_adapter.srqs[n->index]->ibv.context;
	return NULL;
}

static void lose_all(void);

/* Processes a notification of a peer, or of another thread of this program. */
static void take_news(const struct notification *n)
{
	if (n->kind == NEWS_DEVICE) {
		lose_all();
		return;
	}
	if (n->kind == NEWS_QP)
		look_after(n->index, n->number);
	if (n->event == NO_EVENT || n->kind == 0)
		return;
	pthread_mutex_lock(&verbs_adapter.lock);
	if (n->kind == NEWS_PORT) {
		for (struct context *c = verbs_adapter.contexts; c; c = c->next)
			raise_event(&c->verbs.context, n);
	} else {
		struct ibv_context *c = context_for(n);

		if (c)
			raise_event(c, n);
	}
	pthread_mutex_unlock(&verbs_adapter.lock);
}

/* A program died: recovers the locks that it held and the events that it owed. */
static void mend_all(void)
{
	pthread_mutex_lock(&verbs_adapter.lock);
	for (uint32_t i = 0; i < LIVE_QPS; i++) {
		struct soft_qp *q = verbs_adapter.qps[i];

		if (!q)
			continue;
		if (verbs_lock(&q->shared->lock))
			verbs_ring_recover(verbs_adapter.memory, &q->shared->ring);
		verbs_unlock(&q->shared->lock);
	}
	for (uint32_t i = 0; i < MAX_SRQS; i++) {
		struct srq *s = verbs_adapter.srqs[i];

		if (!s)
			continue;
		if (verbs_lock(&s->shared->lock))
			verbs_ring_recover(verbs_adapter.memory, &s->shared->ring);
		verbs_unlock(&s->shared->lock);
	}
	for (uint32_t i = 0; i < MAX_CQS; i++)
		if (verbs_adapter.cqs[i])
			verbs_cq_recover(verbs_adapter.cqs[i]);
	pthread_mutex_unlock(&verbs_adapter.lock);
}

/* Queue pairs store P_Keys by value: updates them after a change of the port's table. */
static void take_keys(uint32_t number)
{
	struct live_port port;

	if (verbs_query_live_port(number, &port) != 0)
		return;
	pthread_mutex_lock(&verbs_adapter.lock);
	for (uint32_t i = 0; i < LIVE_QPS; i++) {
		struct soft_qp *q = verbs_adapter.qps[i];

		if (!q || q->attr.port_num != number)
			continue;
		if (verbs_lock(&q->shared->lock))
			verbs_ring_recover(verbs_adapter.memory, &q->shared->ring);
		q->shared->pkey = port.pkeys[q->shared->pkey_index];
		verbs_unlock(&q->shared->lock);
	}
	pthread_mutex_unlock(&verbs_adapter.lock);
}

static void take_event(const struct live_event *e)
{
	static const enum ibv_event_type types[] = {
		[LIVE_PORT_ACTIVE] = IBV_EVENT_PORT_ACTIVE,
		[LIVE_PORT_DOWN] = IBV_EVENT_PORT_ERR,
		[LIVE_LID_CHANGE] = IBV_EVENT_LID_CHANGE,
		[LIVE_SM_CHANGE] = IBV_EVENT_SM_CHANGE,
		[LIVE_PKEY_CHANGE] = IBV_EVENT_PKEY_CHANGE,
		[LIVE_GID_CHANGE] = IBV_EVENT_GID_CHANGE,
	};

	if (e->kind == LIVE_PROGRAM_GONE) {
		mend_all();
		if (is_timed())
			timed_mend();
		return;
	}
	if (e->kind == LIVE_FAULTS)
		verbs_faults_load();
	if (e->kind == 0 || e->kind >= sizeof(types) / sizeof(types[0]))
		return;
	if (e->kind == LIVE_PKEY_CHANGE)
		take_keys(e->port);
	take_news(&(struct notification){ NEWS_PORT, e->port, types[e->kind], 0 });
}

/* Injected failure of the adapter. */
static void lose_all(void)
{
	for (uint32_t i = 0; i < LIVE_QPS; i++) {
		pthread_mutex_lock(&verbs_adapter.lock);
		struct soft_qp *q = verbs_adapter.qps[i];

		if (q) {
			pthread_mutex_lock(&q->send);
			verbs_qp_fail(q, (enum ibv_event_type)NO_EVENT);
			pthread_mutex_unlock(&q->send);
		}
		pthread_mutex_unlock(&verbs_adapter.lock);
	}
	take_news(&(struct notification){ NEWS_PORT, 1, IBV_EVENT_DEVICE_FATAL, 0 });
}

/* ---- the thread */

static int wait_ms(void)
{
	uint64_t due = post_due(), now = verbs_now_ns();

	if (verbs_is_roce() && verbs_roce_deadline() < due)
		due = verbs_roce_deadline();
	if (due == UINT64_MAX)
		return -1;
	return due <= now ? 0 : (int)((due - now) / 1000000 + 1);
}

static void read_daemon_event(struct pollfd *p)
{
	struct live_event e;
	ssize_t got = recv(p->fd, &e, sizeof(e), MSG_DONTWAIT);

	if (got == (ssize_t)sizeof(e)) {
		take_event(&e);
	} else if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
		p->fd = -1;
		verbs_adapter.is_lost =
			true; /* the fabric has ended: nothing can arrive any more */
		lose_all();
	}
}

/* Shows the engine that this program has work that the engine cannot see. */
static void answer_bell(void)
{
	_Atomic uint32_t *says = &verbs_adapter.memory->head.clock.is_answering;
	struct notification n;

	atomic_store(says, 1);
	while (read(verbs_adapter.bell[0], &n, sizeof(n)) == (ssize_t)sizeof(n))
		take_news(&n);
	atomic_store(says, 0);
}

static void *background(void *unused)
{
	struct pollfd on[] = { { .fd = verbs_adapter.events, .events = POLLIN },
			       { .fd = verbs_adapter.bell[0], .events = POLLIN },
			       { .fd = verbs_is_roce() ? verbs_roce_fd() : -1, .events = POLLIN } };

	verbs_waits_exempt();
	verbs_adapter.memory->head.clock.helper = gettid();
	for (;;) {
		if (poll(on, 3, wait_ms()) < 0 && errno != EINTR)
			return unused;
		if (on[1].revents)
			answer_bell();
		if (is_timed())
			timed_hear();
		if (verbs_is_roce())
			verbs_roce_progress();
		if (on[0].fd >= 0 && on[0].revents)
			read_daemon_event(&on[0]);
		if (atomic_load(&verbs_adapter.n_waiting))
			post_retry(true);
	}
}

int verbs_progress_start(void)
{
	sigset_t all, before;
	pthread_t thread;

	/* Signals are handled by the program's own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = pthread_create(&thread, NULL, background, NULL);

	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!error)
		pthread_detach(thread);
	return error;
}
