/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/endpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "bench/message.h"
#include "transport/codes.h"
#include "wire/headers.h"

#define PAGE       4096u
#define POOL_BYTES (UINT64_C(48) << 20) /* more than translations cached */
#define QKEY       0x11111111u

/* A rank that fails notifies the others, unless the test expects the failure. */
void endpoint_fail(struct endpoint *e, const char *what)
{
	struct bench_found *f = &e->point->found;

	if (!e->ok)
		return;
	(void)diag_fail(&f->why, HD_ERR_ENV, "%s: %s", what, e->nic->why.message);
	e->ok = false;
	if (!e->p->may_fail || !e->running)
		e->ops->abandon(e->nic);
}

void endpoint_barrier(struct endpoint *e)
{
	if (e->ops->barrier(e->nic) != HD_OK)
		endpoint_fail(e, "the barrier failed");
}

uint64_t bench_buffer(unsigned scheme, unsigned reuse, uint64_t pool, uint64_t i)
{
	if (scheme == 0 || pool < 2)
		return 0;
	if (scheme == 1) {
		uint64_t n = reuse ? 100 / reuse : pool;

		return i % (n < pool ? n : pool);
	}
	bool same = reuse && (i == 0 || i * reuse / 100 != (i - 1) * reuse / 100);
	uint64_t sames = reuse ? i * reuse / 100 + 1 : 0;

	/* Among the i + 1 messages so far, the others had buffers 1, 2, ... */
	return same ? 0 : 1 + (i - sames) % (pool - 1);
}

/* Enough buffers for each to be new, but no more than will be used. */
static uint64_t pool_size(const struct bench_params *p, uint64_t stride)
{
	uint64_t most = POOL_BYTES / stride;
	uint64_t used = p->iterations + 4 * p->warmup + 4 * (uint64_t)p->window;

	if (!p->duration && used < most)
		most = used;
	return most > 2 ? most : 2;
}

static void open_memory(struct endpoint *e)
{
	const struct bench_params *p = e->p;
	uint64_t n = 1;

	e->stride = (p->size + GRH_SIZE + PAGE - 1) / PAGE * PAGE;
	if (p->scheme == 1 && p->reuse)
		n = 100 / p->reuse;
	else if (p->scheme && p->reuse < 100)
		n = pool_size(p, e->stride);
	e->pool = n;
	e->half = n * e->stride;
	e->bytes = 2 * e->half;
	e->memory = e->ops->alloc(e->nic, e->bytes, p->huge);
	if (!e->memory)
		endpoint_fail(e, "no memory");
	else if (e->ops->mr_new(e->nic, e->memory, e->bytes, p->huge, &e->mr) != HD_OK)
		endpoint_fail(e, "cannot register memory");
}

static void open_queues(struct endpoint *e)
{
	const struct bench_params *p = e->p;
	uint32_t share = (p->window + e->n_qps - 1) / e->n_qps;

	e->depth = 2 * share + 4;
	uint64_t entries = (uint64_t)e->depth * e->n_qps + 16;

	if (e->ops->cq_new(e->nic, (uint32_t)entries, p->events, &e->send_cq) != HD_OK ||
	    e->ops->cq_new(e->nic, (uint32_t)entries, p->events, &e->recv_cq) != HD_OK) {
		endpoint_fail(e, "cannot create a completion queue");
		return;
	}
	const struct nic_qp_init init = {
		.kind = p->transport,
		.send_cq = &e->send_cq,
		.recv_cq = &e->recv_cq,
		.max_send = e->depth,
		.max_recv = e->depth,
		.max_sge = p->max_sge > p->segments ? p->max_sge : p->segments,
	};

	for (uint32_t i = 0; i < e->n_qps && e->ok; i++) {
		if (e->ops->qp_new(e->nic, &init, &e->qps[i]) != HD_OK)
			endpoint_fail(e, "cannot create a queue pair");
		else if (p->weighted && e->ops->weigh(e->nic, &e->qps[i], i + 1) != HD_OK)
			endpoint_fail(e, "no weights among queue pairs");
	}
}

struct nic_address endpoint_address(struct endpoint *e, uint32_t i)
{
	struct nic_address mine = { .addr = e->mr.addr + e->half, .rkey = e->mr.rkey };

	e->ops->address(e->nic, &e->qps[i], &mine);
	return mine;
}

void endpoint_connect(struct endpoint *e, uint32_t i, const struct nic_address *to)
{
	const struct bench_params *p = e->p;
	struct nic_path *path = &e->paths[i];

	*path = (struct nic_path){
		.to = *to,
		.mtu = p->mtu,
		.psn = endpoint_address(e, i).psn,
		.sl = p->sl,
		.pkey = e->nic->rank == 1 ? p->peer_pkey : p->pkey,
		.qkey = QKEY,
	};
	for (unsigned s = QPS_INIT; s <= QPS_RTS && e->ok; s++) {
		if (e->ops->qp_step(e->nic, &e->qps[i], (enum qp_state)s, path) != HD_OK)
			endpoint_fail(e, "cannot connect");
	}
}

void endpoint_prepare(struct endpoint *e, struct nic *nic, struct bench_point *point,
		      uint32_t n_qps)
{
	*e = (struct endpoint){ .nic = nic,
				.ops = nic->ops,
				.point = point,
				.p = &point->params,
				.n_qps = n_qps,
				.ok = true };
	e->qps = hd_alloc(n_qps, sizeof(*e->qps));
	e->paths = hd_alloc(n_qps, sizeof(*e->paths));
	open_memory(e);
	if (e->ok)
		open_queues(e);
}

void endpoint_open(struct endpoint *e, struct nic *nic, struct bench_point *point, unsigned peer,
		   uint32_t n_qps)
{
	endpoint_prepare(e, nic, point, n_qps);
	e->peer = peer;
	for (uint32_t i = 0; i < n_qps && e->ok; i++) {
		struct nic_address mine = endpoint_address(e, i), theirs;

		endpoint_swap_address(e, peer, &mine, &theirs);
		if (e->ok)
			endpoint_connect(e, i, &theirs);
	}
}

/* ---- what ranks tell each other ----------------------------------------- */

static bool swap(struct endpoint *e, unsigned with, const uint8_t *mine, uint8_t *theirs,
		 size_t len)
{
	e->nic->why.status = HD_OK;
	if (e->ops->exchange(e->nic, with, mine, theirs, len) == HD_OK)
		return true;
	endpoint_fail(e, "cannot reach another rank");
	return false;
}

void endpoint_swap_address(struct endpoint *e, unsigned with, const struct nic_address *mine,
			   struct nic_address *theirs)
{
	uint8_t ours[ADDRESS_SIZE], other[ADDRESS_SIZE];

	bench_write_address(mine, ours);
	if (swap(e, with, ours, other, sizeof(ours)) &&
	    bench_read_address(other, sizeof(other), &e->nic->why, theirs) != HD_OK)
		endpoint_fail(e, "cannot understand another rank");
}

void endpoint_swap_number(struct endpoint *e, unsigned with, uint64_t mine, uint64_t *theirs)
{
	uint8_t ours[NUMBER_SIZE], other[NUMBER_SIZE];

	bench_write_number(mine, ours);
	if (swap(e, with, ours, other, sizeof(ours)) &&
	    bench_read_number(other, sizeof(other), &e->nic->why, theirs) != HD_OK)
		endpoint_fail(e, "cannot understand another rank");
}

void endpoint_swap_real(struct endpoint *e, unsigned with, double mine, double *theirs)
{
	uint8_t ours[NUMBER_SIZE], other[NUMBER_SIZE];

	bench_write_real(mine, ours);
	if (swap(e, with, ours, other, sizeof(ours)) &&
	    bench_read_real(other, sizeof(other), &e->nic->why, theirs) != HD_OK)
		endpoint_fail(e, "cannot understand another rank");
}

void endpoint_close(struct endpoint *e)
{
	for (uint32_t i = 0; i < e->n_qps; i++) {
		if (e->qps[i].impl)
			e->ops->qp_free(e->nic, &e->qps[i]);
	}
	if (e->send_cq.impl)
		e->ops->cq_free(e->nic, &e->send_cq);
	if (e->recv_cq.impl)
		e->ops->cq_free(e->nic, &e->recv_cq);
	if (e->mr.impl)
		e->ops->mr_free(e->nic, &e->mr);
	if (e->memory)
		e->ops->release(e->nic, e->memory, e->bytes);
	free(e->qps);
	free(e->paths);
}

/* Cuts `len` bytes at `at` into the point's number of segments. */
static uint32_t cut(const struct endpoint *e, uint64_t at, uint64_t len, struct sge *out)
{
	uint32_t n = e->p->segments;
	uint64_t part = len / n;

	if (part == 0) {
		n = 1;
		part = len;
	}
	for (uint32_t i = 0; i < n; i++)
		out[i] = (struct sge){ at + i * part,
				       (uint32_t)(i + 1 == n ? len - i * part : part), e->mr.lkey };
	return len ? n : 0;
}

static uint64_t buffer_at(const struct endpoint *e, uint64_t i)
{
	return e->mr.addr + e->stride * bench_buffer(e->p->scheme, e->p->reuse, e->pool, i);
}

static const enum wr_kind kinds[] = {
	[VERB_SEND] = WR_SEND,
	[VERB_WRITE] = WR_WRITE,
	[VERB_READ] = WR_READ,
	[VERB_ATOMIC] = WR_FETCH_ADD,
};

void endpoint_send(struct endpoint *e, unsigned flags)
{
	endpoint_send_on(e, (uint32_t)(e->posted_sends % e->n_qps), flags);
}

void endpoint_send_on(struct endpoint *e, uint32_t q, unsigned flags)
{
	const struct bench_params *p = e->p;
	uint64_t i = e->posted_sends++;
	uint64_t size = p->verb == VERB_ATOMIC ? 8 : p->size;
	struct send_wr wr;

	wr.id = q;
	wr.kind = kinds[p->verb];
	wr.flags = flags;
	wr.n_sge = cut(e, buffer_at(e, i), size, wr.sge);
	/* One-sided work goes to the buffer that a receive would have. */
	wr.remote_addr =
		e->paths[q].to.addr + e->stride * bench_buffer(p->scheme, p->reuse, e->pool, i);
	wr.rkey = e->paths[q].to.rkey;
	wr.swap_add = 1;
	wr.compare = 0;
	wr.imm = 0;
	if (p->transport == QP_UD)
		e->ops->datagram(e->nic, &e->paths[q], &wr);
	if (e->peak)
		peak_posted(e->peak, e->ops->now(e->nic));
	if (e->ops->post_send(e->nic, &e->qps[q], &wr) != HD_OK)
		endpoint_fail(e, "cannot post a send");
}

void endpoint_recv(struct endpoint *e)
{
	const struct bench_params *p = e->p;
	uint64_t i = e->posted_recvs++;
	uint32_t q = (uint32_t)(i % e->n_qps);
	uint64_t extra = p->transport == QP_UD ? GRH_SIZE : 0;
	struct recv_wr wr;

	wr.id = q;
	wr.n_sge = cut(e, buffer_at(e, i) + e->half, p->size + extra, wr.sge);
	if (e->ops->post_recv(e->nic, &e->qps[q], &wr) != HD_OK)
		endpoint_fail(e, "cannot post a receive");
}

void endpoint_fail_status(struct endpoint *e, unsigned status)
{
	const char *name = qp_wc_status_name(status);

	e->nic->why.status = HD_OK;
	(void)diag_fail(&e->nic->why, HD_ERR_ENV, "%s (%u)", name ? name : "status", status);
	endpoint_fail(e, "a request failed");
}

bool endpoint_wait(struct endpoint *e, struct nic_cq *cq, struct completion *wc)
{
	enum hd_status status =
		e->p->events ? e->ops->wait_event(e->nic, cq, wc) : e->ops->wait(e->nic, cq, wc);

	if (status != HD_OK) {
		endpoint_fail(e, "no completion");
		return false;
	}
	if (wc->status != WC_SUCCESS) {
		endpoint_fail_status(e, wc->status);
		return false;
	}
	return true;
}
