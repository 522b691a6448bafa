/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_rpc CALLS: a small RPC library over verbs and the calls that test it. The library retries
 * what cannot be posted, reconnects after a failed completion and ends when the device fails.
 * 'heddle live fault' reaches these paths; without it no test does. Prints what happened:
 *
 *   calls=100 refused=3 failed=1 status=10 events=1 fatal=0 longest_ms=0
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "verbs_pair.h"

enum { SIZE = 64, CLIENT = 0, SERVER = 1, ATTEMPTS = 1000 };

/* ---- the library */

struct rpc {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq[2];
	struct ibv_qp *qp[2];
	struct ibv_mr *mr;
	uint16_t lid;
	char send[2][SIZE], receive[2][SIZE];
	unsigned refused, failed, events;
	int status; /* of the last failed completion */
	bool fatal;
};

static void rpc_fail(const char *what)
{
	printf("%s (errno %d)\n", what, errno);
	exit(1);
}

static bool rpc_connect(struct rpc *r)
{
	const struct pair_rules rules = {
		.lid = r->lid, .timeout = 14, .retries = 7, .rnr_retries = 7
	};
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };

	for (int i = 0; i < 2; i++)
		if (ibv_modify_qp(r->qp[i], &reset, IBV_QP_STATE))
			return false;
	for (int i = 0; i < 2; i++)
		if (pair_raise(r->qp[i], r->qp[!i], &rules))
			return false;
	return true;
}

static void rpc_open(struct rpc *r)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_port_attr port;

	r->context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	if (!r->context || ibv_query_port(r->context, 1, &port))
		rpc_fail("no device");
	ibv_free_device_list(list);
	fcntl(r->context->async_fd, F_SETFL, O_NONBLOCK);
	r->lid = port.lid;
	r->pd = ibv_alloc_pd(r->context);
	r->mr = ibv_reg_mr(r->pd, r, sizeof(*r), IBV_ACCESS_LOCAL_WRITE);
	for (int i = 0; i < 2; i++) {
		r->cq[i] = ibv_create_cq(r->context, 64, NULL, NULL, 0);
		struct ibv_qp_init_attr init = { .send_cq = r->cq[i],
						 .recv_cq = r->cq[i],
						 .cap = { 8, 8, 1, 1, 0 },
						 .qp_type = IBV_QPT_RC,
						 .sq_sig_all = 1 };

		r->qp[i] = ibv_create_qp(r->pd, &init);
		if (!r->qp[i])
			rpc_fail("no queue pair");
	}
	if (!rpc_connect(r))
		rpc_fail("connect");
}

static void rpc_events(struct rpc *r)
{
	struct ibv_async_event e;

	while (ibv_get_async_event(r->context, &e) == 0) {
		r->events += e.event_type == IBV_EVENT_QP_FATAL ||
			     e.event_type == IBV_EVENT_QP_REQ_ERR ||
			     e.event_type == IBV_EVENT_QP_ACCESS_ERR;
		r->fatal |= e.event_type == IBV_EVENT_DEVICE_FATAL;
		ibv_ack_async_event(&e);
	}
}

/* Waits for that many completions; false if one of them failed. */
static bool rpc_wait(struct rpc *r, int side, int n)
{
	struct ibv_wc wc;

	while (n > 0) {
		int got = ibv_poll_cq(r->cq[side], 1, &wc);

		if (got < 0)
			rpc_fail("poll");
		if (got == 1 && wc.status != IBV_WC_SUCCESS) {
			r->status = (int)wc.status;
			return false;
		}
		n -= got;
	}
	return true;
}

/* False if the queue pair takes none: the device may have failed before its event is here. */
static bool rpc_receive(struct rpc *r, int side)
{
	struct ibv_sge s = { (uintptr_t)r->receive[side], SIZE, r->mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &s, .num_sge = 1 };

	return ibv_post_recv(r->qp[side], &wr, &bad) == 0;
}

static bool rpc_send(struct rpc *r, int side)
{
	struct ibv_sge s = { (uintptr_t)r->send[side], SIZE, r->mr->lkey };
	struct ibv_send_wr *bad, wr = { .sg_list = &s, .num_sge = 1, .opcode = IBV_WR_SEND };

	for (int i = 0; i < ATTEMPTS; i++) {
		int error = ibv_post_send(r->qp[side], &wr, &bad);

		if (!error)
			return rpc_wait(r, side, 1);
		if (error != EAGAIN && error != ENOMEM)
			return false;
		r->refused++;
	}
	rpc_fail("the send is refused for ever");
	return false;
}

static bool rpc_try(struct rpc *r, const char *request)
{
	if (!rpc_receive(r, CLIENT) || !rpc_receive(r, SERVER))
		return false;
	snprintf(r->send[CLIENT], SIZE, "%s", request);
	if (!rpc_send(r, CLIENT) || !rpc_wait(r, SERVER, 1))
		return false;
	snprintf(r->send[SERVER], SIZE, "re: %.59s", r->receive[SERVER]);
	return rpc_send(r, SERVER) && rpc_wait(r, CLIENT, 1);
}

/* The reply, or NULL if the device has failed. */
static const char *rpc_call(struct rpc *r, const char *request)
{
	for (int i = 0; i < ATTEMPTS; i++) {
		bool done = rpc_try(r, request);

		rpc_events(r);
		if (r->fatal)
			return NULL;
		if (done)
			return r->receive[CLIENT];
		r->failed++;
		/* Without a connection: the event that says why may be on its way. */
		if (!rpc_connect(r))
			nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	rpc_fail("the call fails for ever");
	return NULL;
}

/* ---- its test */

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int n, char **args)
{
	static struct rpc r;
	int calls = n > 1 ? (int)strtol(args[1], NULL, 10) : 100, done = 0;
	double longest = 0;

	rpc_open(&r);
	for (; done < calls; done++) {
		char request[SIZE], expected[SIZE];
		double before = now_ms();

		snprintf(request, SIZE, "call %d", done);
		snprintf(expected, SIZE, "re: call %d", done);
		const char *reply = rpc_call(&r, request);

		if (!reply)
			break;
		if (strcmp(reply, expected) != 0)
			rpc_fail("another reply");
		if (now_ms() - before > longest)
			longest = now_ms() - before;
	}
	/* The event of a queue pair that failed may follow the call. */
	while (r.status == IBV_WC_WR_FLUSH_ERR && !r.fatal && r.events < r.failed &&
	       poll(&(struct pollfd){ r.context->async_fd, POLLIN, 0 }, 1, 10000) > 0)
		rpc_events(&r);
	printf("calls=%d refused=%u failed=%u status=%d events=%u fatal=%d longest_ms=%d\n", done,
	       r.refused, r.failed, r.status, r.events, r.fatal, (int)longest);
	return 0;
}
