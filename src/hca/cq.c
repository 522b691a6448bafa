/* SPDX-License-Identifier: BSD-2-Clause */
#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/ring.h"
#include "hca/objects.h"

/* ---- control path ----------------------------------------------------- */

static hd_time pages_cost(const struct hca_profile *p, uint64_t bytes)
{
	return (bytes + p->page_size - 1) / p->page_size * p->page;
}

struct v_channel *v_channel_new(struct v_device *dev)
{
	struct v_channel *c = hd_alloc(1, sizeof(*c));

	c->dev = dev;
	spend(dev->lab, dev->lab->profile->command);
	return c;
}

void v_channel_free(struct v_channel *c)
{
	free(c->events);
	free(c);
}

struct v_cq *v_cq_new(struct v_device *dev, uint32_t entries, struct v_channel *channel)
{
	const struct hca_profile *p = dev->lab->profile;

	if (entries == 0 || entries > V_MAX_CQE)
		return NULL;
	struct v_cq *cq = hd_alloc(1, sizeof(*cq));

	cq->dev = dev;
	cq->channel = channel;
	cq->size = entries;
	spend(dev->lab, p->command + pages_cost(p, (uint64_t)entries * CQE_BYTES));
	return cq;
}

void v_cq_free(struct v_cq *cq)
{
	spend(cq->dev->lab, cq->dev->lab->profile->command);
	free(cq->ring);
	free(cq);
}

/* ---- events ----------------------------------------------------------- */

static void channel_push(struct v_channel *c, struct v_cq *cq, hd_time when)
{
	c->events = ring_grow(c->events, &c->size, c->head, c->tail, sizeof(*c->events));
	c->events[c->tail++ % c->size] = (struct channel_event){ cq, when };
	struct v_thread *t = hca_list_take(&c->waiters);

	if (t)
		hca_thread_wake(t, 0);
}

static void make_event(struct v_cq *cq, hd_time when)
{
	cq->armed = false;
	cq->tail_at_event = cq->tail;
	if (cq->channel)
		channel_push(cq->channel, cq, when + cq->dev->lab->profile->event);
}

void v_arm(struct v_cq *cq, bool solicited_only)
{
	hd_time now = caller_time(cq->dev->lab);
	uint64_t seen = cq->tail_at_event > cq->head ? cq->tail_at_event : cq->head;

	cq->armed = true;
	cq->solicited_only = solicited_only;
	cq->armed_at = now;
	for (; seen < cq->tail; seen++) {
		const struct hca_cq_entry *e = cq_at(cq, seen);

		if (solicited_only && !e->wc.solicited && e->wc.status == WC_SUCCESS)
			continue;
		make_event(cq, later(now, e->when));
		return;
	}
}

struct v_cq *v_event_wait(struct v_channel *c)
{
	struct lab *lab = c->dev->lab;

	while (c->head == c->tail) {
		hca_list_put(&c->waiters, lab->current);
		if (!hca_thread_wait(lab))
			return NULL;
	}
	const struct channel_event *e = &c->events[c->head++ % c->size];

	lab->current->clock = later(lab->current->clock, e->when);
	return e->cq;
}

struct v_cq *v_event_try(struct v_channel *c)
{
	struct lab *lab = c->dev->lab;

	lab_settle(lab);
	if (c->head == c->tail || c->events[c->head % c->size].when > caller_time(lab))
		return NULL;
	return c->events[c->head++ % c->size].cq;
}

/* ---- completions ------------------------------------------------------ */

void hca_cq_push(struct v_cq *cq, const struct completion *wc, hd_time when)
{
	/* An overrun loses the completion. */
	if (cq->tail - cq->head == cq->size)
		return;
	if (cq->tail != cq->head)
		when = later(when, cq_at(cq, cq->tail - 1)->when);
	cq->ring = ring_grow(cq->ring, &cq->places, (uint32_t)cq->head, (uint32_t)cq->tail,
			     sizeof(*cq->ring));
	*cq_at(cq, cq->tail++) = (struct hca_cq_entry){ *wc, when };
	if (cq->armed && (!cq->solicited_only || wc->solicited || wc->status != WC_SUCCESS))
		make_event(cq, later(when, cq->armed_at));
	struct v_thread *t = hca_list_take(&cq->waiters);

	if (t)
		hca_thread_wake(t, 0);
	if (cq->note)
		cq->note(cq->context);
}

unsigned v_poll(struct v_cq *cq, struct completion *out, unsigned n)
{
	struct lab *lab = cq->dev->lab;
	const struct hca_profile *p = lab->profile;
	unsigned taken = 0;

	lab_settle(lab);
	hd_time now = caller_time(lab);

	while (taken < n && cq->head != cq->tail && cq_at(cq, cq->head)->when <= now) {
		out[taken++] = cq_at(cq, cq->head++)->wc;
		spend(lab, p->poll);
	}
	if (taken == 0)
		spend(lab, p->poll_empty);
	return taken;
}

/* Start of the poll that finds the completion: polls of an empty queue end at clock + k * step. */
static hd_time poll_start(hd_time clock, hd_time when, hd_time step)
{
	if (when <= clock || step == 0)
		return later(when, clock);
	return clock + (when - clock + step - 1) / step * step;
}

bool v_poll_wait(struct v_cq *cq, struct completion *out)
{
	struct lab *lab = cq->dev->lab;
	const struct hca_profile *p = lab->profile;

	while (cq->head == cq->tail) {
		hca_list_put(&cq->waiters, lab->current);
		if (!hca_thread_wait(lab))
			return false;
	}
	const struct hca_cq_entry *e = cq_at(cq, cq->head++);

	*out = e->wc;
	lab->current->clock = poll_start(lab->current->clock, e->when, p->poll_empty) + p->poll;
	return true;
}
