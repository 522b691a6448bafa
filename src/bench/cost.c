/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/cost.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "bench/endpoint.h"

static void note(struct endpoint *e, hd_time since)
{
	if (e->nic->rank == 0)
		histogram_record(&e->point->found.latency, e->ops->now(e->nic) - since);
}

/* ---- queue pairs and completion queues -------------------------------- */

static bool make_qp(struct endpoint *e, struct nic_qp *qp)
{
	const struct nic_qp_init init = {
		.kind = e->p->transport,
		.send_cq = &e->send_cq,
		.recv_cq = &e->recv_cq,
		.max_send = e->p->entries,
		.max_recv = e->p->entries,
		.max_sge = e->p->max_sge,
	};

	if (e->ops->qp_new(e->nic, &init, qp) == HD_OK)
		return true;
	endpoint_fail(e, "cannot create a queue pair");
	return false;
}

/* Creates, modifies and destroys a queue pair; times the selected step. */
static void time_qp(struct endpoint *e, enum bench_cost what)
{
	const struct nic_path path = { .pkey = e->p->pkey };
	struct nic_qp qp;

	for (uint64_t i = 0; i < e->p->iterations && e->ok; i++) {
		hd_time start = e->ops->now(e->nic);

		if (!make_qp(e, &qp))
			return;
		if (what == COST_QP_CREATE)
			note(e, start);
		start = e->ops->now(e->nic);
		if (what == COST_QP_MODIFY) {
			if (e->ops->qp_step(e->nic, &qp, QPS_INIT, &path) != HD_OK)
				endpoint_fail(e, "cannot modify a queue pair");
			note(e, start);
		}
		start = e->ops->now(e->nic);
		e->ops->qp_free(e->nic, &qp);
		if (what == COST_QP_DESTROY)
			note(e, start);
	}
}

/* Times RESET to RTS (three modifies), or the destruction of a connected queue pair. */
static void time_connection(struct endpoint *e, enum bench_cost what)
{
	struct nic_qp qp;

	for (uint64_t i = 0; i < e->p->iterations && e->ok; i++) {
		struct nic_path path = e->paths[0];
		struct nic_address mine = { 0 };

		if (!make_qp(e, &qp))
			return;
		e->ops->address(e->nic, &qp, &mine);
		path.psn = mine.psn;
		endpoint_swap_address(e, e->peer, &mine, &path.to);
		hd_time start = e->ops->now(e->nic);

		for (unsigned s = QPS_INIT; s <= QPS_RTS && e->ok; s++) {
			if (e->ops->qp_step(e->nic, &qp, (enum qp_state)s, &path) != HD_OK)
				endpoint_fail(e, "cannot connect");
		}
		if (what == COST_CONNECT)
			note(e, start);
		start = e->ops->now(e->nic);
		e->ops->qp_free(e->nic, &qp);
		if (what == COST_DISCONNECT)
			note(e, start);
	}
}

static void time_cq(struct endpoint *e, enum bench_cost what)
{
	struct nic_cq cq;

	for (uint64_t i = 0; i < e->p->iterations && e->ok; i++) {
		hd_time start = e->ops->now(e->nic);

		if (e->ops->cq_new(e->nic, e->p->entries, false, &cq) != HD_OK) {
			endpoint_fail(e, "cannot create a completion queue");
			return;
		}
		if (what == COST_CQ_CREATE)
			note(e, start);
		start = e->ops->now(e->nic);
		e->ops->cq_free(e->nic, &cq);
		if (what == COST_CQ_DESTROY)
			note(e, start);
	}
}

static void time_mr(struct endpoint *e, enum bench_cost what)
{
	uint8_t *memory = e->ops->alloc(e->nic, e->p->size, e->p->huge);
	struct nic_mr mr;

	if (!memory)
		endpoint_fail(e, "no memory");

	for (uint64_t i = 0; i < e->p->iterations && e->ok; i++) {
		hd_time start = e->ops->now(e->nic);

		if (e->ops->mr_new(e->nic, memory, e->p->size, e->p->huge, &mr) != HD_OK) {
			endpoint_fail(e, "cannot register memory");
			break;
		}
		if (what == COST_MR_REGISTER)
			note(e, start);
		start = e->ops->now(e->nic);
		e->ops->mr_free(e->nic, &mr);
		if (what == COST_MR_DEREGISTER)
			note(e, start);
	}
	if (memory)
		e->ops->release(e->nic, memory, e->p->size);
}

/* ---- posting and polling ---------------------------------------------- */

/* Polls all completions; times successful polls if requested. */
static void take_all(struct endpoint *e, uint64_t n, bool timed)
{
	struct completion wc;

	while (n && e->ok) {
		hd_time start = e->ops->now(e->nic);

		if (!timed || !e->ops->poll(e->nic, &e->send_cq, &wc)) {
			/* Not there yet: this one is waited for, not timed. */
			n -= endpoint_wait(e, &e->send_cq, &wc);
			continue;
		}
		note(e, start);
		if (wc.status != WC_SUCCESS)
			endpoint_fail_status(e, wc.status);
		n--;
	}
}

/* Time from posting a message to its completion. */
static hd_time one_message(struct endpoint *e)
{
	hd_time start = e->ops->now(e->nic);

	endpoint_send(e, WR_SIGNALED);
	take_all(e, 1, false);
	return e->ops->now(e->nic) - start;
}

/* Posts until the queue is full, each timed, then takes all; again. */
static void time_posts(struct endpoint *e, bool polls)
{
	uint64_t left = e->p->iterations;
	hd_time each = polls ? one_message(e) : 0;

	while (left && e->ok) {
		uint64_t n = left < e->p->window ? left : e->p->window;

		for (uint64_t i = 0; i < n && e->ok; i++) {
			hd_time start = e->ops->now(e->nic);

			endpoint_send(e, WR_SIGNALED);
			if (!polls)
				note(e, start);
		}
		/* Until all have completed, so that every poll finds one. */
		if (polls && e->ok)
			e->ops->work(e->nic, 1000 * HD_US + 2 * n * each);
		take_all(e, n, polls);
		left -= n;
	}
}

static void time_receives(struct endpoint *e)
{
	/* No rank sends: no more than the queue holds. */
	for (uint64_t i = 0; i < e->p->iterations && i < e->depth && e->ok; i++) {
		hd_time start = e->ops->now(e->nic);

		endpoint_recv(e);
		note(e, start);
	}
}

static void time_empty_polls(struct endpoint *e)
{
	struct completion wc;

	for (uint64_t i = 0; i < e->p->iterations; i++) {
		hd_time start = e->ops->now(e->nic);

		e->ops->poll(e->nic, &e->send_cq, &wc);
		note(e, start);
	}
}

static void measure_one(struct endpoint *e)
{
	enum bench_cost cost = e->p->cost;

	switch (cost) {
	case COST_QP_CREATE:
	case COST_QP_MODIFY:
	case COST_QP_DESTROY:
		time_qp(e, cost);
		break;
	case COST_CONNECT:
	case COST_DISCONNECT:
		time_connection(e, cost);
		break;
	case COST_CQ_CREATE:
	case COST_CQ_DESTROY:
		time_cq(e, cost);
		break;
	case COST_MR_REGISTER:
	case COST_MR_DEREGISTER:
		time_mr(e, cost);
		break;
	case COST_POST_RECV:
		time_receives(e);
		break;
	case COST_POLL_EMPTY:
		time_empty_polls(e);
		break;
	default:
		time_posts(e, cost == COST_POLL_FULL);
	}
}

/* A rank that is measured alone still has queues: of no peer. */
static void open_alone(struct endpoint *e, struct nic *nic, struct bench_point *point)
{
	*e = (struct endpoint){
		.nic = nic, .ops = nic->ops, .point = point, .p = &point->params, .ok = true
	};
	if (e->ops->cq_new(nic, 64, false, &e->send_cq) != HD_OK ||
	    e->ops->cq_new(nic, 64, false, &e->recv_cq) != HD_OK)
		endpoint_fail(e, "cannot create a completion queue");
}

static bool takes_messages(enum bench_cost cost)
{
	return cost == COST_POST_SEND || cost == COST_POLL_FULL;
}

/* Program of rank 1 while rank 0 measures. */
static void assist(struct endpoint *e)
{
	struct completion wc;

	if (e->p->cost == COST_CONNECT || e->p->cost == COST_DISCONNECT)
		measure_one(e);
	if (!takes_messages(e->p->cost))
		return;
	uint64_t n = e->p->iterations + (e->p->cost == COST_POLL_FULL);

	for (uint64_t i = 0; i < n && e->ok; i++) {
		if (endpoint_wait(e, &e->recv_cq, &wc))
			endpoint_recv(e);
	}
}

void cost_program(struct nic *nic, struct bench_point *point)
{
	const struct bench_params *p = &point->params;
	bool pairs = nic->n_ranks > 1;
	struct endpoint e;

	if (pairs)
		endpoint_open(&e, nic, point, 1 - nic->rank, 1);
	else
		open_alone(&e, nic, point);
	if (takes_messages(p->cost) && nic->rank == 1) {
		for (uint32_t i = 0; i < e.depth && e.ok; i++)
			endpoint_recv(&e);
	}
	if (pairs)
		endpoint_barrier(&e);
	if (e.ok && nic->rank == 0)
		measure_one(&e);
	else if (e.ok)
		assist(&e);
	if (pairs)
		endpoint_barrier(&e);
	if (nic->rank == 0)
		point->found.done = e.ok;
	endpoint_close(&e);
}

/* ---- multicast ---------------------------------------------------------- */

/* Rank 0 sends one datagram to all and waits for everybody's answer. */
static void multicast_rounds(struct endpoint *first, uint32_t n, const struct nic_address *group)
{
	struct nic_path to = first->paths[0];
	struct completion wc;

	to.to = *group;
	for (uint64_t i = 0; i < first->p->iterations + first->p->warmup; i++) {
		struct send_wr wr = { .kind = WR_SEND,
				      .flags = WR_SIGNALED,
				      .n_sge = first->p->size ? 1 : 0 };

		wr.sge[0] =
			(struct sge){ first->mr.addr, (uint32_t)first->p->size, first->mr.lkey };
		first->ops->datagram(first->nic, &to, &wr);
		for (uint32_t k = 0; k < n && first->ok; k++)
			endpoint_recv(first);
		hd_time start = first->ops->now(first->nic);

		if (first->ops->post_send(first->nic, &first->qps[0], &wr) != HD_OK)
			endpoint_fail(first, "cannot post a send");
		for (uint32_t k = 0; k < n && first->ok; k++)
			endpoint_wait(first, &first->recv_cq, &wc);
		if (first->ok)
			endpoint_wait(first, &first->send_cq, &wc);
		if (!first->ok)
			return;
		if (i >= first->p->warmup)
			note(first, start);
	}
	first->point->found.messages = first->p->iterations;
}

static void multicast_answers(struct endpoint *e)
{
	struct completion wc;

	for (uint64_t i = 0; i < e->p->iterations + e->p->warmup && e->ok; i++) {
		if (!endpoint_wait(e, &e->recv_cq, &wc))
			return;
		endpoint_recv(e);
		if (e->ok)
			endpoint_send(e, WR_SIGNALED);
		if (e->ok)
			endpoint_wait(e, &e->send_cq, &wc);
	}
}

/* All answer to rank 0's one queue pair, and join the group with theirs. */
void bench_multicast_program(struct nic *nic, struct bench_point *point)
{
	bool first = nic->rank == 0;
	struct nic_address group, mine, theirs = { 0 };
	struct endpoint e;

	endpoint_prepare(&e, nic, point, 1);
	mine = endpoint_address(&e, 0);
	for (unsigned r = first ? 1 : 0; r < (first ? nic->n_ranks : 1); r++)
		endpoint_swap_address(&e, r, &mine, &theirs);
	endpoint_connect(&e, 0, &theirs);
	if (e.ok && nic->ops->join(nic, &e.qps[0], &group) != HD_OK)
		endpoint_fail(&e, "cannot join a multicast group");
	if (!first && e.ok)
		endpoint_recv(&e);
	endpoint_barrier(&e);
	if (first)
		point->found.opened = e.ok;
	if (first && e.ok)
		multicast_rounds(&e, nic->n_ranks - 1, &group);
	else if (e.ok)
		multicast_answers(&e);
	endpoint_barrier(&e);
	if (first)
		point->found.done = e.ok;
	endpoint_close(&e);
}
