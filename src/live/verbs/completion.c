/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/verbs/roce.h"
#include "live/verbs/timed.h"
#include "live/verbs/verbs_internal.h"

static struct cq *cq_of(struct ibv_cq *cq)
{
	return container(cq, struct cq, ibv);
}

static struct shared_cqe *entry_at(struct program_memory *m, const struct shared_cq *s, uint64_t n)
{
	return (struct shared_cqe *)memory_at(m, s->ring) + n % s->size;
}

static uint8_t *carried_at(struct program_memory *m, const struct shared_cq *s, uint64_t n)
{
	return (uint8_t *)memory_at(m, s->carried) + n % s->size * CARRIED;
}

/* ---- completion events */

/* An event in the pipe of a channel. */
struct completion_event {
	uint32_t index, serial;
};

static void fire(struct peer_program *owner, int32_t index, uint32_t armed)
{
	struct shared_cq *s = &owner->memory->cqs[index];
	const struct completion_event e = { (uint32_t)index, s->serial };
	uint32_t firing = ARM_FIRING;
	uint64_t before = atomic_load(&s->told);

	/*
	 * Set before the event is written: a program that reads the event at once and arms again
	 * must not get two events.
	 */
	atomic_store(&s->told, atomic_load(&s->tail));
	bool done = verbs_peer_write(owner, s->channel, s->channel_id, &e, sizeof(e));

	/* If the pipe was full, the next entry raises the event. */
	if (!done)
		atomic_store(&s->told, before);
	atomic_compare_exchange_strong(&s->armed, &firing, done ? ARM_NONE : armed);
}

/*
 * An event is due if an entry was added after the last event and has not been polled. A program
 * that arms and then polls must not miss an entry; a program that polls and then arms must not be
 * woken for an entry that it has polled.
 */
static bool is_due(const struct shared_cq *s, uint32_t armed)
{
	uint64_t last = armed == ARM_SOLICITED ? atomic_load(&s->solicited) : atomic_load(&s->tail);

	return last > atomic_load(&s->told) && last > atomic_load(&s->head);
}

static void fire_if_due(struct peer_program *owner, int32_t index)
{
	struct shared_cq *s = &owner->memory->cqs[index];
	uint32_t armed = atomic_load(&s->armed), firing = ARM_FIRING;

	if (armed == ARM_NONE || armed == ARM_FIRING || !is_due(s, armed) ||
	    !atomic_compare_exchange_strong(&s->armed, &armed, ARM_FIRING))
		return;
	/* Other threads may have raised the event, and the program may have armed again. */
	if (is_due(s, armed))
		fire(owner, index, armed);
	else
		atomic_compare_exchange_strong(&s->armed, &firing, armed);
}

void verbs_cq_recover(struct cq *cq)
{
	struct shared_cq *s = cq->shared;

	verbs_lock(&s->lock);
	verbs_unlock(&s->lock);
	/* The writer of the event may have died; a second event is harmless. */
	if (atomic_load(&s->armed) == ARM_FIRING)
		fire(verbs_adapter.self, cq->index, ARM_ANY);
	else
		fire_if_due(verbs_adapter.self, cq->index);
}

/* ---- adding entries */

static void overrun(struct peer_program *owner, int32_t index)
{
	struct shared_cq *s = &owner->memory->cqs[index];
	const struct notification n = { NEWS_CQ, (uint32_t)index, IBV_EVENT_CQ_ERR, s->serial };

	if (!atomic_exchange(&s->is_lost, 1))
		verbs_peer_notify(owner, &n);
}

/* Makes the entry valid and consumes the receive that it completes. */
static void publish(struct shared_cq *s, int32_t index, struct shared_cqe *e,
		    struct shared_ring *ring, uint64_t tail)
{
	if (ring) {
		e->receive = atomic_load(&ring->head) + 1;
		ring->place = tail;
		ring->place_cq = index;
		atomic_store_explicit(&ring->taking, e->receive, memory_order_release);
	}
	atomic_store_explicit(&s->tail, tail + 1, memory_order_release);
	if (ring) {
		atomic_store(&ring->head, e->receive);
		atomic_store_explicit(&ring->taking, 0, memory_order_release);
	}
}

bool verbs_cq_add(struct peer_program *owner, int32_t index, struct new_completion *c,
		  struct shared_ring *ring)
{
	struct program_memory *m = owner->memory;
	struct shared_cq *s = &m->cqs[index];

	verbs_lock(&s->lock);
	uint64_t tail = atomic_load_explicit(&s->tail, memory_order_relaxed);
	bool fits = tail - atomic_load(&s->head) < s->size && !atomic_load(&s->is_lost);

	if (fits) {
		struct shared_cqe *e = entry_at(m, s, tail);

		*e = c->cqe;
		if (c->cqe.carried)
			memcpy(carried_at(m, s, tail), c->carried, c->cqe.carried);
		if (c->solicited || c->cqe.status != IBV_WC_SUCCESS)
			atomic_store(&s->solicited, tail + 1);
		publish(s, index, e, ring, tail);
	} else if (ring) {
		atomic_fetch_add(&ring->head, 1);
	}
	bool armed = atomic_load(&s->armed) != ARM_NONE;

	verbs_unlock(&s->lock);
	if (is_timed())
		timed_stir(m);
	if (!fits)
		overrun(owner, index);
	else if (armed)
		fire_if_due(owner, index);
	return fits;
}

void verbs_ring_recover(struct program_memory *m, struct shared_ring *r)
{
	if (r->taking) {
		const struct shared_cq *s = &m->cqs[r->place_cq];
		const struct shared_cqe *e = entry_at(m, s, r->place);

		if (atomic_load(&s->tail) > r->place && e->receive == r->taking)
			atomic_store(&r->head, r->taking);
	}
	r->taking = 0;
}

/* ---- removing the entries of a queue pair */

/*
 * Called before entries move: consumes a receive that a dead peer was taking, if its entry exists.
 * The caller holds the lock of the queue, under which live peers do so; a concurrent recovery of
 * the ring has the same result.
 */
static void settle(struct shared_ring *r, int32_t index)
{
	const struct shared_cq *s = &verbs_adapter.memory->cqs[index];
	uint64_t taking = atomic_load(&r->taking), before = taking - 1;

	if (taking == 0 || r->place_cq != index || atomic_load(&s->tail) <= r->place ||
	    entry_at(verbs_adapter.memory, s, r->place)->receive != taking)
		return;
	atomic_compare_exchange_strong(&r->head, &before, taking);
	atomic_compare_exchange_strong(&r->taking, &taking, 0);
}

static void settle_all(int32_t index)
{
	struct program_memory *m = verbs_adapter.memory;

	for (uint32_t i = 0; i < LIVE_QPS; i++)
		if (atomic_load(&m->qps[i].qpn))
			settle(&m->qps[i].ring, index);
	for (uint32_t i = 0; i < MAX_SRQS; i++)
		settle(&m->srqs[i].ring, index);
}

/*
 * Moves the remaining entries to the end, so that later entries keep their numbers. The number of
 * entries after the last event, and after the last solicited entry, does not change.
 */
static void compact(struct shared_cq *s, uint32_t qpn)
{
	uint64_t tail = atomic_load(&s->tail), to = tail;
	uint64_t told = atomic_load(&s->told), solicited = s->solicited;
	uint64_t told_to = tail, solicited_to = tail;

	for (uint64_t n = tail; n-- > atomic_load(&s->head);) {
		const struct shared_cqe *e = entry_at(verbs_adapter.memory, s, n);

		if (e->qpn == qpn)
			continue;
		to--;
		told_to -= n >= told;
		solicited_to -= n >= solicited;
		if (n == to)
			continue;
		*entry_at(verbs_adapter.memory, s, to) = *e;
		memcpy(carried_at(verbs_adapter.memory, s, to),
		       carried_at(verbs_adapter.memory, s, n), e->carried);
	}
	atomic_store(&s->told, told_to);
	atomic_store(&s->solicited, solicited_to);
	atomic_store(&s->head, to);
}

static bool has_entries(const struct shared_cq *s, uint32_t qpn)
{
	uint64_t tail = atomic_load(&s->tail);

	for (uint64_t n = atomic_load(&s->head); n != tail; n++)
		if (entry_at(verbs_adapter.memory, s, n)->qpn == qpn)
			return true;
	return false;
}

void verbs_cq_clean(struct cq *cq, uint32_t qpn)
{
	struct shared_cq *s = cq->shared;

	pthread_mutex_lock(&cq->take);
	verbs_lock(&s->lock);
	if (has_entries(s, qpn)) {
		settle_all(cq->index);
		compact(s, qpn);
	}
	verbs_unlock(&s->lock);
	pthread_mutex_unlock(&cq->take);
}

/* ---- polling */

static void describe(const struct shared_cqe *e, struct ibv_wc *wc)
{
	*wc = (struct ibv_wc){
		.wr_id = e->wr_id,
		.status = (enum ibv_wc_status)e->status,
		.opcode = (enum ibv_wc_opcode)e->opcode,
		.byte_len = e->byte_len,
		.imm_data = e->imm,
		.qp_num = e->qpn,
		.src_qp = e->src_qp,
		.wc_flags = e->flags,
		.pkey_index = e->pkey_index,
		.slid = e->slid,
		.sl = e->sl,
		.dlid_path_bits = e->path_bits,
	};
}

/* Copies the carried bytes to the address in the receive, if its region is still registered. */
static void put_carried(const struct shared_cq *s, const struct shared_cqe *e, uint64_t n)
{
	uint32_t index = (e->target_key >> KEY_USE_BITS) - 1;

	if (index < MAX_REGIONS &&
	    atomic_load(&verbs_adapter.memory->regions[index].key) == e->target_key)
		memcpy(at_address(e->target), carried_at(verbs_adapter.memory, s, n), e->carried);
}

bool verbs_cq_take(struct cq *cq, struct ibv_wc *wc)
{
	struct shared_cq *s = cq->shared;
	uint64_t head = atomic_load_explicit(&s->head, memory_order_relaxed);

	if (head == atomic_load_explicit(&s->tail, memory_order_acquire))
		return false;
	const struct shared_cqe *e = entry_at(verbs_adapter.memory, s, head);

	describe(e, wc);
	if (e->carried)
		put_carried(s, e, head);
	atomic_store_explicit(&s->head, head + 1, memory_order_release);
	return true;
}

int verbs_poll_cq(struct ibv_cq *ibv, int n, struct ibv_wc *wc)
{
	struct cq *cq = cq_of(ibv);
	int got = 0;

	if (context_is_inherited(ibv->context)) {
		errno = EPERM;
		return -1;
	}
	if (atomic_load_explicit(&verbs_adapter.n_waiting, memory_order_relaxed))
		post_retry(false);
	if (is_timed())
		timed_polled(verbs_cq_has_any(cq));
	if (verbs_is_roce())
		verbs_roce_poll(cq);
	if (verbs_fault_hides(cq))
		return 0;
	if (!verbs_cq_has_any(cq))
		return atomic_load_explicit(&cq->shared->is_lost, memory_order_relaxed) ? -1 : 0;
	pthread_mutex_lock(&cq->take);
	while (got < n && verbs_cq_take(cq, wc + got))
		got++;
	pthread_mutex_unlock(&cq->take);
	return got;
}

int verbs_req_notify_cq(struct ibv_cq *ibv, int solicited_only)
{
	struct cq *cq = cq_of(ibv);

	if (context_is_inherited(ibv->context))
		return EPERM;
	/* A request for any completion is not replaced by one for solicited completions only. */
	if (atomic_load(&cq->shared->armed) != ARM_ANY)
		atomic_store(&cq->shared->armed, solicited_only ? ARM_SOLICITED : ARM_ANY);
	/* Completions that a fault hides may need an event later. */
	if (atomic_load(&cq->hidden_until))
		atomic_store(&cq->shared->told, atomic_load(&cq->shared->head));
	fire_if_due(verbs_adapter.self, cq->index);
	return 0;
}

/* ---- channels */

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	static _Atomic uint32_t ids;
	struct comp_channel *c = calloc(1, sizeof(*c));
	int ends[2];

	if (context_is_inherited(context)) {
		free(c);
		errno = EPERM;
		return NULL;
	}
	if (!c || pipe2(ends, O_CLOEXEC) != 0) {
		free(c);
		return NULL;
	}
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	c->ibv.context = context;
	c->ibv.fd = ends[0];
	c->write = ends[1];
	c->id = ++ids;
	return &c->ibv;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	struct comp_channel *c = container(channel, struct comp_channel, ibv);

	if (channel->refcnt > 0)
		return EBUSY;
	close(c->ibv.fd);
	close(c->write);
	free(c);
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	struct completion_event e;

	if (context_is_inherited(channel->context)) {
		errno = EPERM;
		return -1;
	}
	for (;;) {
		if (read(channel->fd, &e, sizeof(e)) != (ssize_t)sizeof(e))
			return -1;
		pthread_mutex_lock(&verbs_adapter.lock);
		struct cq *found = e.index < MAX_CQS ? verbs_adapter.cqs[e.index] : NULL;
		bool is_it = found && found->shared->serial == e.serial;

		if (is_it) {
			pthread_mutex_lock(&found->ibv.mutex);
			found->got++;
			pthread_mutex_unlock(&found->ibv.mutex);
			*cq = &found->ibv;
			*cq_context = found->ibv.cq_context;
		}
		pthread_mutex_unlock(&verbs_adapter.lock);
		if (is_it)
			return 0;
	}
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int n)
{
	pthread_mutex_lock(&cq->mutex);
	cq->comp_events_completed += n;
	pthread_cond_broadcast(&cq->cond);
	pthread_mutex_unlock(&cq->mutex);
}

/* ---- queues */

static int rings_make(struct shared_cq *s, uint32_t size)
{
	s->ring = verbs_memory_alloc(size * sizeof(struct shared_cqe));
	s->carried = verbs_memory_alloc((size_t)size * CARRIED);
	if (s->ring && s->carried) {
		s->size = size;
		return 0;
	}
	if (s->ring)
		verbs_memory_free(s->ring, size * sizeof(struct shared_cqe));
	return ENOMEM;
}

static void rings_free(const struct shared_cq *s)
{
	verbs_memory_free(s->ring, s->size * sizeof(struct shared_cqe));
	verbs_memory_free(s->carried, (size_t)s->size * CARRIED);
}

static int shared_make(struct cq *cq, uint32_t size, struct ibv_comp_channel *channel)
{
	static uint32_t serials;

	pthread_mutex_lock(&verbs_adapter.lock);
	cq->index = verbs_id_alloc(&verbs_adapter.cq_numbers);
	uint32_t serial = ++serials;

	pthread_mutex_unlock(&verbs_adapter.lock);
	if (cq->index == NO_INDEX)
		return ENOMEM;
	cq->shared = &verbs_adapter.memory->cqs[cq->index];
	verbs_row_clear(&cq->shared->lock, &cq->shared->has_lock, sizeof(*cq->shared));
	cq->shared->channel = -1;
	cq->shared->serial = serial;
	if (rings_make(cq->shared, size) != 0) {
		pthread_mutex_lock(&verbs_adapter.lock);
		verbs_id_free(&verbs_adapter.cq_numbers, cq->index);
		pthread_mutex_unlock(&verbs_adapter.lock);
		return ENOMEM;
	}
	if (channel) {
		const struct comp_channel *c = container(channel, struct comp_channel, ibv);

		cq->shared->channel = c->write;
		cq->shared->channel_id = c->id;
		channel->refcnt++;
	}
	return 0;
}

struct cq *verbs_cq_create(struct ibv_context *context, int depth, void *cq_context,
			   struct ibv_comp_channel *channel)
{
	struct cq *cq = NULL;
	int error = EINVAL;

	if (context_is_inherited(context) || (channel && context_is_inherited(channel->context))) {
		error = EPERM;
	} else if (depth > 0 && depth <= MAX_CQE) {
		cq = calloc(1, sizeof(*cq));
		error = ENOMEM;
	}
	if (cq)
		error = shared_make(cq, (uint32_t)depth, channel);
	if (error) {
		free(cq);
		errno = error;
		return NULL;
	}
	cq->ibv.context = context;
	cq->ibv.channel = channel;
	cq->ibv.cq_context = cq_context;
	cq->ibv.cqe = depth;
	cq->ibv.handle = (uint32_t)cq->index;
	pthread_mutex_init(&cq->ibv.mutex, NULL);
	pthread_cond_init(&cq->ibv.cond, NULL);
	pthread_mutex_init(&cq->take, NULL);
	pthread_mutex_lock(&verbs_adapter.lock);
	verbs_adapter.cqs[cq->index] = cq;
	pthread_mutex_unlock(&verbs_adapter.lock);
	return cq;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
			     struct ibv_comp_channel *channel, int comp_vector)
{
	if (comp_vector < 0 || comp_vector >= context->num_comp_vectors) {
		errno = EINVAL;
		return NULL;
	}
	struct cq *cq = verbs_cq_create(context, cqe, cq_context, channel);

	return cq ? &cq->ibv : NULL;
}

int ibv_resize_cq(struct ibv_cq *ibv, int cqe)
{
	struct cq *cq = cq_of(ibv);
	struct shared_cq *s = cq->shared;
	struct shared_cq next = { .size = 0 };

	if (context_is_inherited(ibv->context))
		return EPERM;
	if (cqe <= 0 || cqe > MAX_CQE)
		return EINVAL;
	if (rings_make(&next, (uint32_t)cqe) != 0)
		return ENOMEM;
	pthread_mutex_lock(&cq->take);
	verbs_lock(&s->lock);
	uint64_t head = atomic_load(&s->head), tail = atomic_load(&s->tail);
	bool fits = tail - head <= next.size;
	struct shared_cq old = { .ring = s->ring, .carried = s->carried, .size = s->size };

	for (uint64_t n = head; fits && n < tail; n++) {
		*entry_at(verbs_adapter.memory, &next, n) = *entry_at(verbs_adapter.memory, s, n);
		memcpy(carried_at(verbs_adapter.memory, &next, n),
		       carried_at(verbs_adapter.memory, s, n), CARRIED);
	}
	if (fits) {
		s->ring = next.ring;
		s->carried = next.carried;
		s->size = next.size;
		ibv->cqe = cqe;
	}
	verbs_unlock(&s->lock);
	pthread_mutex_unlock(&cq->take);
	rings_free(fits ? &old : &next);
	return fits ? 0 : EINVAL;
}

/*
 * Waits for acknowledgements of the events and frees the number; no queue pair uses the queue any
 * more.
 */
static void shared_end(struct cq *cq)
{
	struct ibv_cq *ibv = &cq->ibv;

	verbs_await_acknowledged(&ibv->mutex, &ibv->cond, &cq->got, &ibv->comp_events_completed);
	verbs_await_acknowledged(&ibv->mutex, &ibv->cond, &cq->got_async,
				 &ibv->async_events_completed);
	/* Waits until a peer that is adding an entry has released the lock. */
	verbs_lock(&cq->shared->lock);
	verbs_unlock(&cq->shared->lock);
	rings_free(cq->shared);
	pthread_mutex_lock(&verbs_adapter.lock);
	verbs_id_free(&verbs_adapter.cq_numbers, cq->index);
	pthread_mutex_unlock(&verbs_adapter.lock);
}

int ibv_destroy_cq(struct ibv_cq *ibv)
{
	struct cq *cq = cq_of(ibv);
	bool inherited = context_is_inherited(ibv->context);

	pthread_mutex_lock(&verbs_adapter.lock);
	bool busy = cq->users > 0;

	if (!busy && !inherited)
		verbs_adapter.cqs[cq->index] = NULL;
	pthread_mutex_unlock(&verbs_adapter.lock);
	if (busy)
		return EBUSY;
	if (!inherited)
		shared_end(cq);
	if (ibv->channel)
		ibv->channel->refcnt--;
	if (cq->parent)
		cq->parent->users--;
	free(cq);
	return 0;
}
