/* SPDX-License-Identifier: BSD-2-Clause */
#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "hca/hca_internal.h"
#include "hca/objects.h"
#include "transport/responder_rules.h"

/* ---- memory ----------------------------------------------------------- */

static const struct v_mr *find_mr(const struct v_device *dev, uint32_t key)
{
	uint32_t i = key >> 8;

	if (i >= dev->n_mrs || !dev->mrs[i] || dev->mrs[i]->key != key)
		return NULL;
	return dev->mrs[i];
}

static bool owner_allows(void *context, uint32_t pd, uint32_t key, uint64_t addr, uint64_t len,
			 unsigned access)
{
	const struct v_qp *qp = context;
	const struct v_mr *mr = find_mr(qp->dev, key);

	return mr && mr->pd->number == pd && (mr->access & access) == access && addr >= mr->addr &&
	       len <= mr->len && addr - mr->addr <= mr->len - len;
}

/* Adds the bus transactions of this piece, page by page. */
static void count_dma(struct v_device *dev, uint32_t key, uint64_t addr, size_t len)
{
	const struct v_mr *mr = find_mr(dev, key);
	unsigned shift = mr ? mr->page_shift : 12;
	uint64_t last = (addr + len - 1) >> shift;

	dev->dma.transactions++;
	dev->dma.bytes += len;
	for (uint64_t page = addr >> shift; page <= last; page++) {
		if (!tlb_use(&dev->tlb, page << 6 | shift))
			dev->dma.misses++;
	}
}

/* Inline data have no key: the address is a pointer of the program. */
static const void *pointer_at(uint64_t addr)
{
	return (const void *)(uintptr_t)addr; /* NOLINT */
}

/*
 * NULL if the region has no memory, or was freed after the check while a message is being
 * copied: reads return zeros, writes have no effect.
 */
static uint8_t *memory_at(const struct v_device *dev, uint32_t key, uint64_t addr, size_t len)
{
	const struct v_mr *mr = find_mr(dev, key);

	if (!mr || !mr->memory || addr < mr->addr || len > mr->len ||
	    addr - mr->addr > mr->len - len)
		return NULL;
	return mr->memory + (addr - mr->addr);
}

static void owner_read(void *context, uint32_t key, uint64_t addr, void *to, size_t len)
{
	struct v_qp *qp = context;

	if (len == 0)
		return;
	const void *from = key ? memory_at(qp->dev, key, addr, len) : pointer_at(addr);

	if (from)
		memcpy(to, from, len);
	else
		memset(to, 0, len);
	if (key)
		count_dma(qp->dev, key, addr, len);
}

static void note_watches(struct v_device *dev, const uint8_t *from, size_t len)
{
	for (struct v_watch *w = dev->watches; w; w = w->next) {
		if (w->at >= from && w->at < from + len)
			w->fresh++;
	}
}

static void owner_write(void *context, uint32_t key, uint64_t addr, const void *from, size_t len)
{
	struct v_qp *qp = context;
	uint8_t *to = memory_at(qp->dev, key, addr, len);

	if (len == 0)
		return;
	count_dma(qp->dev, key, addr, len);
	if (!to)
		return;
	memcpy(to, from, len);
	if (qp->dev->watches)
		note_watches(qp->dev, to, len);
}

static uint64_t owner_atomic(void *context, const struct atomiceth *what, bool compare)
{
	struct v_qp *qp = context;
	uint8_t *at = memory_at(qp->dev, what->rkey, what->va, 8);
	uint64_t old, value;

	/* An atomic operation reads and writes. */
	count_dma(qp->dev, what->rkey, what->va, 8);
	count_dma(qp->dev, what->rkey, what->va, 8);
	if (!at)
		return 0;
	memcpy(&old, at, sizeof(old));
	value = responder_atomic(what, compare, old);
	memcpy(at, &value, sizeof(value));
	if (qp->dev->watches)
		note_watches(qp->dev, at, 8);
	return old;
}

static void owner_invalidate(void *context, uint32_t rkey)
{
	struct v_qp *qp = context;

	if (find_mr(qp->dev, rkey))
		qp->dev->mrs[rkey >> 8]->access &= ~(
			unsigned)(ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ | ACCESS_REMOTE_ATOMIC);
}

/* ---- completions and events ------------------------------------------- */

static void owner_complete(void *context, struct qp *transport, const struct completion *wc,
			   bool receive)
{
	struct v_qp *qp = context;
	struct v_device *dev = qp->dev;
	const struct dma write = { CQE_BYTES, 1, 0 };
	hd_time data = device_visible(dev);

	(void)transport;
	hca_cq_push(receive ? qp->recv_cq : qp->send_cq, wc, hca_bus_use(dev, true, data, &write));
}

/* Programs of a lab do not receive asynchronous events. */
static void owner_event(void *context, struct qp *transport, enum qp_event event)
{
	(void)context;
	(void)transport;
	(void)event;
}

static bool owner_take_shared(void *context, struct recv_wr *out)
{
	struct v_qp *qp = context;
	struct v_srq *srq = qp->srq;
	const struct srq_entry *d = &srq->ring[srq->head % srq->size];

	if (srq->head == srq->tail || d->when > qp->dev->lab->now)
		return false;
	*out = d->recv;
	srq->head++;
	return true;
}

void hca_owner_init(struct v_qp *qp)
{
	qp->owner = (struct qp_owner){
		.context = qp,
		.allows = owner_allows,
		.read = owner_read,
		.write = owner_write,
		.atomic = owner_atomic,
		.invalidate = owner_invalidate,
		.complete = owner_complete,
		.event = owner_event,
		.take_shared = owner_take_shared,
	};
}

/* ---- requests whose time has come ------------------------------------- */

/* The inline data were copied: they are a single segment now. */
static void gather_inline(struct deferred *d)
{
	struct send_wr *wr = &d->send;
	uint32_t length = 0;

	for (uint32_t i = 0; i < wr->n_sge; i++)
		length += wr->sge[i].length;
	wr->n_sge = length ? 1 : 0;
	wr->sge[0] = (struct sge){ (uint64_t)(uintptr_t)d->data, length, 0 };
}

static void request_apply(struct deferred *d)
{
	struct v_qp *qp = d->qp;
	enum hd_status status;

	if (!qp)
		return; /* freed since */
	if (d->is_recv) {
		qp->deferred_recvs--;
		status = qp_post_recv(qp->qp, &d->recv);
	} else {
		qp->deferred_sends--;
		if (qp_params(qp->qp)->kind == QP_UD)
			pace_follow(qp, d->send.to.sl);
		if (d->send.flags & WR_INLINE)
			gather_inline(d);
		status = qp_post_send(qp->qp, &d->send);
		device_activate(qp->dev, qp);
	}
	/*
	 * The request was checked when posted; a later reset of the queue pair discards posted
	 * requests.
	 */
	(void)status;
}

void hca_requests_take(struct v_device *dev)
{
	hd_time now = dev->lab->now;

	dev->visible = now;
	dev->dma = (struct dma){ 0 };
	for (size_t i = 0; i < dev->n_threads; i++) {
		struct v_thread *t = dev->threads[i];

		while (t->head != t->tail && t->requests[t->head % t->size].when <= now)
			request_apply(&t->requests[t->head++ % t->size]);
	}
}

hd_time hca_requests_next(const struct v_device *dev)
{
	hd_time next = NEVER;

	for (size_t i = 0; i < dev->n_threads; i++) {
		const struct v_thread *t = dev->threads[i];

		/* Receive requests are processed when a packet needs them. */
		for (uint32_t k = t->head; k != t->tail; k++) {
			const struct deferred *d = &t->requests[k % t->size];

			if (d->is_recv)
				continue;
			next = d->when < next ? d->when : next;
			break;
		}
	}
	return next;
}
