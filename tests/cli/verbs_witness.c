/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loaded before a program and its adapter (LD_PRELOAD), compares each byte that
 * verbs bring with what was sent: what a receive got with what the other side
 * posted, what a write left in the other's memory with what it was given, what
 * a read or an atomic brought with what is there.
 *
 *	WITNESS=FILE  what the programs that meet tell each other
 *
 * Benchmarks send the same bytes again and again, zeros among them, and would
 * not notice if nothing came. So the inside of a buffer that is as good as any
 * other is filled again for each message as soon as the last one is not needed,
 * and what a message is to fill holds other bytes until it does: a receive for
 * which the program has no memory of its own gets some from the witness. The first and last
 * bytes of a message are always the program's.
 *
 * When the program ends it says how much was compared, and ends with status 9
 * if anything was wrong.
 */
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "verbs_witness.h"

#undef ibv_reg_mr

enum { MOST_SGE = 8, GRH = 40 };

/* ---- what this program has posted */

struct piece {
	uint8_t *at;
	size_t length;
};

struct op {
	enum ibv_wr_opcode opcode;
	bool is_signaled;
	uint64_t there, hash;
	uint64_t before, after;  /* what an atomic finds and leaves */
	struct ibv_mr *supplied; /* of a receive */
	uint32_t length, n;
	struct piece pieces[MOST_SGE];
};

struct list {
	struct op *ops;
	size_t head, tail, size;
};

struct queue { /* of a queue pair, or of shared receives */
	const void *whose;
	uint32_t qpn, peer;
	enum ibv_qp_type type;
	bool signals_all;
	struct list sends, receives;
	uint64_t cursor[LINES]; /* per sender: what has come */
	struct line *line;
	struct queue *shared, *next;
};

static struct queue *queues;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	unsigned long received, written, read, atomics, wrong;
} tally;

static struct op *list_at(const struct list *l, size_t i)
{
	return &l->ops[i % l->size];
}

static struct op *list_add(struct list *l)
{
	if (l->tail - l->head == l->size) {
		size_t size = l->size ? 2 * l->size : 64;
		struct op *more = calloc(size, sizeof(*more));

		for (size_t i = l->head; i != l->tail; i++)
			more[i % size] = *list_at(l, i);
		free(l->ops);
		l->ops = more;
		l->size = size;
	}
	return list_at(l, l->tail++);
}

static struct queue *queue_of(const void *whose)
{
	struct queue *q = queues;

	while (q && q->whose != whose)
		q = q->next;
	if (!q) {
		q = calloc(1, sizeof(*q));
		q->whose = whose;
		q->next = queues;
		queues = q;
	}
	return q;
}

static struct queue *queue_numbered(uint32_t qpn)
{
	struct queue *q = queues;

	while (q && q->qpn != qpn)
		q = q->next;
	return q;
}

static void pieces_of(struct op *o, const struct ibv_sge *sge, int n)
{
	o->n = n < MOST_SGE ? (uint32_t)n : MOST_SGE;
	for (uint32_t i = 0; i < o->n; i++) {
		/* NOLINTNEXTLINE(performance-no-int-to-ptr): as verbs has it */
		uint8_t *at = (uint8_t *)(uintptr_t)sge[i].addr;

		o->pieces[i] = (struct piece){ at, sge[i].length };
		o->length += sge[i].length;
	}
}

static bool overlaps(const struct op *a, const struct op *b)
{
	for (uint32_t i = 0; i < a->n; i++) {
		const struct piece *p = &a->pieces[i];

		for (uint32_t k = 0; k < b->n; k++)
			if (p->at < b->pieces[k].at + b->pieces[k].length &&
			    b->pieces[k].at < p->at + p->length)
				return true;
	}
	return false;
}

/* Whether another one in the list uses the same bytes. */
static bool is_shared(const struct list *l, const struct op *o)
{
	for (size_t i = l->head; i != l->tail; i++)
		if (list_at(l, i) != o && overlaps(list_at(l, i), o))
			return true;
	return false;
}

/* ---- bytes */

/* Of `length` bytes of the pieces, after `skip`. */
static uint64_t hash_pieces(const struct op *o, size_t skip, size_t length)
{
	uint8_t *bytes = malloc(o->length + 1);
	size_t at = 0;

	for (uint32_t i = 0; i < o->n; i++) {
		memcpy(bytes + at, o->pieces[i].at, o->pieces[i].length);
		at += o->pieces[i].length;
	}
	uint64_t hash = skip + length <= at ? hash_of(bytes + skip, length) : 0;

	free(bytes);
	return hash;
}

static bool hash_there(const struct queue *q, const struct op *o, uint64_t *out)
{
	uint8_t *bytes = malloc(o->length + 1);
	bool is_there = reach(q->peer, SYS_process_vm_readv, o->there, bytes, o->length);

	if (is_there)
		*out = hash_of(bytes, o->length);
	free(bytes);
	return is_there;
}

/* Bytes that nothing sends: what a message is to replace. */
static void poison(const struct op *o)
{
	for (uint32_t i = 0; i < o->n; i++)
		memset(o->pieces[i].at, 0xE5, o->pieces[i].length);
}

/* ---- what is posted */

static void wrong(const struct queue *q, const char *what, uint32_t length)
{
	if (tally.wrong++ == 0)
		fprintf(stderr, "witness: %s of %u bytes is wrong (QP 0x%x)\n", what, length,
			q->qpn);
}

static void refill(const struct queue *q, const struct op *o)
{
	for (uint32_t i = 0; i < o->n && !is_shared(&q->sends, o); i++)
		fill(o->pieces[i].at, o->pieces[i].length, q->qpn);
}

/* The same for what a read is to bring. */
static void refill_there(const struct queue *q, const struct op *o)
{
	uint8_t *bytes = malloc(o->length + 1);

	if (q->sends.tail - q->sends.head == 1 &&
	    reach(q->peer, SYS_process_vm_readv, o->there, bytes, o->length) &&
	    fill(bytes, o->length, q->qpn))
		(void)!reach(q->peer, SYS_process_vm_writev, o->there, bytes, o->length);
	free(bytes);
}

/* What an atomic finds is what those before it leave. */
static void foresee(const struct queue *q, struct op *o, const struct ibv_send_wr *wr)
{
	const struct op *last = NULL;

	for (size_t i = q->sends.head; i != q->sends.tail; i++)
		if (list_at(&q->sends, i) != o && list_at(&q->sends, i)->there == o->there)
			last = list_at(&q->sends, i);
	if (last)
		o->before = last->after;
	else if (!reach(q->peer, SYS_process_vm_readv, o->there, &o->before, sizeof(o->before)))
		wrong(q, "an atomic without a peer", o->length);
	if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		o->after = o->before + wr->wr.atomic.compare_add;
	else
		o->after = o->before == wr->wr.atomic.compare_add ? wr->wr.atomic.swap : o->before;
}

static void note_sent(const struct queue *q, const struct op *o, uint32_t to)
{
	const struct note n = { to, o->length, o->hash };

	if (q->line)
		ledger_add(q->line, &n);
}

static void take_send(struct queue *q, const struct ibv_send_wr *wr)
{
	struct op *o = list_add(&q->sends);

	*o = (struct op){ .opcode = wr->opcode,
			  .is_signaled = q->signals_all || wr->send_flags & IBV_SEND_SIGNALED };
	pieces_of(o, wr->sg_list, wr->num_sge);
	switch (wr->opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
		o->opcode = IBV_WR_SEND;
		refill(q, o);
		o->hash = hash_pieces(o, 0, o->length);
		note_sent(q, o, q->type == IBV_QPT_UD ? wr->wr.ud.remote_qpn : q->peer);
		break;
	case IBV_WR_RDMA_WRITE:
		o->there = wr->wr.rdma.remote_addr;
		refill(q, o);
		o->hash = hash_pieces(o, 0, o->length);
		break;
	case IBV_WR_RDMA_READ:
		o->there = wr->wr.rdma.remote_addr;
		refill_there(q, o);
		if (!is_shared(&q->sends, o))
			poison(o);
		break;
	default:
		o->there = wr->wr.atomic.remote_addr;
		foresee(q, o, wr);
		if (!is_shared(&q->sends, o))
			poison(o);
	}
}

/*
 * As it goes to the adapter; `sge` has room for one. All receives of a perftest
 * are for the same few bytes; UCX's say that they have more than they do, so
 * nothing is done to those.
 */
static void take_receive(struct list *l, struct ibv_recv_wr *wr, struct ibv_pd *pd,
			 struct ibv_sge *sge)
{
	struct op *o = list_add(l);

	*o = (struct op){ 0 };
	pieces_of(o, wr->sg_list, wr->num_sge);
	if (!is_perftest())
		return;
	uint8_t *bytes = malloc(o->length + 1);

	o->supplied = ibv_reg_mr(pd, bytes, o->length, IBV_ACCESS_LOCAL_WRITE);
	o->n = 1;
	o->pieces[0] = (struct piece){ bytes, o->length };
	poison(o);
	*sge = (struct ibv_sge){ (uintptr_t)bytes, o->length, o->supplied->lkey };
	wr->sg_list = sge;
	wr->num_sge = 1;
}

/* ---- what has come */

/* UC completes before it arrives; the fabric's time continues while we sleep. */
static bool comes(const struct queue *q, const struct op *o)
{
	const struct timespec rest = { .tv_nsec = 1000000 };
	unsigned tries = q->type == IBV_QPT_RC ? 1 : 20000;
	uint64_t hash;

	for (; tries > 0 && hash_there(q, o, &hash); tries--) {
		if (hash == o->hash)
			return true;
		nanosleep(&rest, NULL);
	}
	return false;
}

/* Whether none behind it may have changed the same bytes there. */
static bool is_last_there(const struct queue *q, const struct op *o, size_t i)
{
	while (++i < q->sends.tail) {
		const struct op *later = list_at(&q->sends, i);
		bool is_same = later->opcode == IBV_WR_RDMA_WRITE && later->there == o->there &&
			       later->length == o->length && later->hash == o->hash;

		if (later->opcode != IBV_WR_SEND && later->opcode != IBV_WR_RDMA_READ && !is_same &&
		    later->there < o->there + o->length && o->there < later->there + later->length)
			return false;
	}
	return true;
}

/* The same here; a read of the same bytes changes nothing. */
static bool is_last_here(const struct queue *q, const struct op *o, size_t i)
{
	while (++i < q->sends.tail) {
		const struct op *later = list_at(&q->sends, i);

		if (overlaps(later, o) && (later->opcode != IBV_WR_RDMA_READ ||
					   later->there != o->there || later->length != o->length))
			return false;
	}
	return true;
}

static void compare_atomic(const struct queue *q, const struct op *o, size_t i)
{
	uint64_t now;

	if (is_last_here(q, o, i) && memcmp(o->pieces[0].at, &o->before, sizeof(o->before)) != 0)
		wrong(q, "what an atomic found", o->length);
	if (is_last_there(q, o, i) &&
	    (!reach(q->peer, SYS_process_vm_readv, o->there, &now, sizeof(now)) || now != o->after))
		wrong(q, "what an atomic left", o->length);
	tally.atomics++; /* also in what the next finds, or leaves */
}

static void compare_read(const struct queue *q, const struct op *o)
{
	uint64_t hash;

	if (!hash_there(q, o, &hash) || hash != hash_pieces(o, 0, o->length))
		wrong(q, "a read", o->length);
	tally.read++;
}

static void compare_write(const struct queue *q, const struct op *o)
{
	if (!comes(q, o))
		wrong(q, "a write", o->length);
	tally.written++;
}

/* The i-th has completed. What others have overwritten is not compared, and
 * not counted. */
static void compare_sent(const struct queue *q, size_t i)
{
	const struct op *o = list_at(&q->sends, i);

	if (o->opcode == IBV_WR_RDMA_WRITE) {
		if (is_last_there(q, o, i))
			compare_write(q, o);
	} else if (o->opcode == IBV_WR_RDMA_READ) {
		if (is_last_here(q, o, i))
			compare_read(q, o);
	} else if (o->opcode != IBV_WR_SEND) {
		compare_atomic(q, o, i);
	}
}

static void has_left(struct queue *q)
{
	bool is_signaled = false;

	while (!is_signaled && q->sends.head != q->sends.tail) {
		is_signaled = list_at(&q->sends, q->sends.head)->is_signaled;
		compare_sent(q, q->sends.head++);
	}
}

/* The next of its sender's to us; without acknowledgements some may be lost. */
static bool is_sent(struct queue *q, const struct ibv_wc *wc, uint32_t length, uint64_t hash)
{
	uint32_t from = q->type == IBV_QPT_UD ? wc->src_qp : q->peer;
	const struct line *l = line_of(from, false);
	uint64_t *at = l ? &q->cursor[l - lines] : NULL;

	while (l && *at < atomic_load(&l->sent)) {
		const struct note *n = &l->notes[(*at)++ % KEPT];

		if (n->to != q->qpn)
			continue;
		if (n->length == length && n->hash == hash)
			return true;
		if (q->type == IBV_QPT_RC)
			return false;
	}
	return false;
}

static void has_come(struct queue *q, const struct ibv_wc *wc)
{
	struct list *l = q->shared ? &q->shared->receives : &q->receives;
	uint32_t skip = q->type == IBV_QPT_UD ? GRH : 0;

	if (l->head == l->tail)
		return;
	const struct op *o = list_at(l, l->head++);
	uint32_t length = wc->byte_len - skip;

	if (!is_sent(q, wc, length, hash_pieces(o, skip, length)))
		wrong(q, "a message", length);
	tally.received++;
	if (o->supplied) {
		void *bytes = o->supplied->addr;

		ibv_dereg_mr(o->supplied);
		free(bytes);
	}
}

/* ---- between the program and its adapter */

static struct ibv_context_ops real;

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	int error = 0;

	pthread_mutex_lock(&lock);
	struct queue *q = queue_of(qp);

	for (; wr && !error; wr = error ? wr : wr->next) {
		struct ibv_send_wr one = *wr, *none;

		one.next = NULL;
		take_send(q, &one);
		error = real.post_send(qp, &one, &none);
		q->sends.tail -= error ? 1 : 0;
	}
	if (error)
		*bad = wr;
	pthread_mutex_unlock(&lock);
	return error;
}

/* To a shared queue, or if that is NULL to a queue pair. */
static int post_receives(struct ibv_qp *qp, struct ibv_srq *srq, struct ibv_pd *pd,
			 struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	int error = 0;

	pthread_mutex_lock(&lock);
	struct list *l = &queue_of(srq ? (void *)srq : (void *)qp)->receives;

	for (; wr && !error; wr = error ? wr : wr->next) {
		struct ibv_recv_wr one = *wr, *none;
		struct ibv_sge sge;

		one.next = NULL;
		take_receive(l, &one, pd, &sge);
		error = srq ? real.post_srq_recv(srq, &one, &none)
			    : real.post_recv(qp, &one, &none);
		l->tail -= error ? 1 : 0;
	}
	if (error)
		*bad = wr;
	pthread_mutex_unlock(&lock);
	return error;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	return post_receives(qp, NULL, qp->pd, wr, bad);
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	return post_receives(NULL, srq, srq->pd, wr, bad);
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	pthread_mutex_lock(&lock);
	int got = real.poll_cq(cq, n, wc);

	for (int i = 0; i < got; i++) {
		struct queue *q = queue_numbered(wc[i].qp_num);

		if (!q || wc[i].status != IBV_WC_SUCCESS)
			continue;
		if (wc[i].opcode & IBV_WC_RECV)
			has_come(q, &wc[i]);
		else
			has_left(q);
	}
	pthread_mutex_unlock(&lock);
	return got;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct ibv_context *(*open_device)(struct ibv_device *);

	*(void **)&open_device = dlsym(RTLD_NEXT, "ibv_open_device");
	struct ibv_context *c = open_device(device);

	if (!c || !lines)
		return c;
	real = c->ops;
	c->ops.post_send = post_send;
	c->ops.post_recv = post_recv;
	c->ops.post_srq_recv = post_srq_recv;
	c->ops.poll_cq = poll_cq;
	return c;
}

static void get_to_know(struct queue *q, struct ibv_qp *qp)
{
	struct ibv_qp_attr now;
	struct ibv_qp_init_attr init = { 0 };

	(void)!ibv_query_qp(qp, &now, IBV_QP_STATE, &init);
	q->qpn = qp->qp_num;
	q->type = qp->qp_type;
	q->signals_all = init.sq_sig_all;
	q->shared = qp->srq ? queue_of(qp->srq) : NULL;
	q->line = line_of(q->qpn, true);
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	int (*modify)(struct ibv_qp *, struct ibv_qp_attr *, int);

	*(void **)&modify = dlsym(RTLD_NEXT, "ibv_modify_qp");
	pthread_mutex_lock(&lock);
	struct queue *q = queue_of(qp);

	if (q->qpn != qp->qp_num)
		get_to_know(q, qp);
	if (mask & IBV_QP_DEST_QPN)
		q->peer = attr->dest_qp_num;
	pthread_mutex_unlock(&lock);
	return modify(qp, attr, mask);
}

/* The place of one that is gone may be another's soon. */
static void forget(const void *whose)
{
	pthread_mutex_lock(&lock);
	struct queue *q = queue_of(whose);

	q->whose = NULL;
	q->qpn = 0;
	pthread_mutex_unlock(&lock);
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	int (*destroy)(struct ibv_qp *);

	*(void **)&destroy = dlsym(RTLD_NEXT, "ibv_destroy_qp");
	forget(qp);
	return destroy(qp);
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
	int (*destroy)(struct ibv_srq *);

	*(void **)&destroy = dlsym(RTLD_NEXT, "ibv_destroy_srq");
	forget(srq);
	return destroy(srq);
}

/* ---- the beginning and the end */

__attribute__((constructor)) static void begin(void)
{
	ledger_open(getenv("WITNESS"));
}

__attribute__((destructor)) static void end(void)
{
	if (!real.poll_cq)
		return;
	fprintf(stderr, "\nwitness: received %lu written %lu read %lu atomics %lu wrong %lu\n",
		tally.received, tally.written, tally.read, tally.atomics, tally.wrong);
	fflush(NULL);
	if (tally.wrong > 0)
		_exit(9);
}
