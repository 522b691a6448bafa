/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_surface [groups]: what verbs have beyond the plain calls, on two queue
 * pairs of one adapter: extended completion queues and work requests, queues
 * that change their size, asynchronous events; with the argument also multicast
 * groups, of which the port is in that of IPoIB. Says the first thing wrong.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs_pair.h"

enum { SIZE = 4096, QKEY = 0x1234, IMM = 0x1020304, MLID = 0xC000, GRH = 40 };

static struct {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	uint16_t lid;
	_Alignas(64) char here[SIZE], there[SIZE];
} rig;

static const char *current = "setup";

static void demand(bool holds, const char *what)
{
	if (holds)
		return;
	printf("%s: %s\n", current, what);
	exit(1);
}

/* ---- two queue pairs, connected to each other */

static void move(struct ibv_qp *qp, const struct ibv_qp *peer)
{
	const struct pair_rules rules = {
		.lid = rig.lid,
		.qkey = QKEY,
		.access =
			IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
		.timeout = 14,
		.retries = 7,
		.rnr_retries = 7,
	};
	const char *failed = pair_raise(qp, peer, &rules);

	demand(!failed, failed);
}

static struct ibv_qp *make(enum ibv_qp_type type, struct ibv_cq *cq, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = cq,
		.recv_cq = cq,
		.srq = srq,
		.cap = { 16, 16, 2, 2, 64 },
		.qp_type = type,
		.sq_sig_all = 1,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = rig.pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM,
	};

	if (type == IBV_QPT_RC)
		init.send_ops_flags |= IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ |
				       IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |
				       IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP;
	struct ibv_qp *qp = ibv_create_qp_ex(rig.context, &init);

	demand(qp && ibv_qp_to_qp_ex(qp), "no extended queue pair");
	return qp;
}

static void receive(struct ibv_qp *qp, struct ibv_srq *srq, uint64_t id)
{
	struct ibv_sge sge = { (uintptr_t)rig.there, SIZE, rig.mr->lkey };
	struct ibv_recv_wr *bad, wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1 };

	demand((srq ? ibv_post_srq_recv(srq, &wr, &bad) : ibv_post_recv(qp, &wr, &bad)) == 0,
	       "post a receive");
}

static void fill(void)
{
	for (int i = 0; i < SIZE; i++) {
		rig.here[i] = (char)(i * 7 + 1);
		rig.there[i] = (char)(i * 13 + 5);
	}
}

static struct ibv_wc next(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int n;

	while ((n = ibv_poll_cq(cq, 1, &wc)) == 0)
		;
	demand(n == 1, "polling fails");
	demand(wc.status == IBV_WC_SUCCESS, ibv_wc_status_str(wc.status));
	return wc;
}

static void drop(struct ibv_qp *a, struct ibv_qp *b, struct ibv_cq *cq)
{
	demand(ibv_destroy_qp(a) == 0 && ibv_destroy_qp(b) == 0 && ibv_destroy_cq(cq) == 0,
	       "destroy");
}

/* ---- extended work requests and completions */

static void send_built(struct ibv_qp *qp)
{
	struct ibv_qp_ex *x = ibv_qp_to_qp_ex(qp);

	/* What is given up is never sent. */
	ibv_wr_start(x);
	x->wr_id = 99;
	ibv_wr_send(x);
	ibv_wr_set_sge(x, rig.mr->lkey, (uintptr_t)rig.here, 10);
	ibv_wr_abort(x);
	ibv_wr_start(x);
	x->wr_id = 1;
	x->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(x, rig.mr->rkey, (uintptr_t)rig.there + 100);
	ibv_wr_set_sge(x, rig.mr->lkey, (uintptr_t)rig.here, 1000);
	x->wr_id = 2;
	ibv_wr_send_imm(x, htonl(IMM));
	ibv_wr_set_inline_data(x, rig.here + 2000, 50);
	x->wr_id = 3;
	ibv_wr_rdma_read(x, rig.mr->rkey, (uintptr_t)rig.there + 200);
	ibv_wr_set_sge(x, rig.mr->lkey, (uintptr_t)rig.here + 3000, 300);
	x->wr_id = 4;
	ibv_wr_atomic_fetch_add(x, rig.mr->rkey, (uintptr_t)rig.there + 2048, 5);
	ibv_wr_set_sge(x, rig.mr->lkey, (uintptr_t)rig.here + 3600, 8);
	demand(ibv_wr_complete(x) == 0, "ibv_wr_complete");
}

/* The next of all, whose turn it is to be read. */
static void await(struct ibv_cq_ex *cq)
{
	struct ibv_poll_cq_attr none = { 0 };
	int error;

	while ((error = ibv_start_poll(cq, &none)) == ENOENT)
		;
	demand(error == 0 && cq->status == IBV_WC_SUCCESS, "ibv_start_poll");
}

static void extended(void)
{
	static const enum ibv_wc_opcode opcodes[] = {
		[1] = IBV_WC_RDMA_WRITE,
		IBV_WC_SEND,
		IBV_WC_RDMA_READ,
		IBV_WC_FETCH_ADD,
	};
	struct ibv_cq_init_attr_ex init = {
		.cqe = 32,
		.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM |
			    IBV_WC_EX_WITH_SRC_QP | IBV_WC_EX_WITH_SLID | IBV_WC_EX_WITH_SL,
	};
	struct ibv_poll_cq_attr none = { 0 };
	struct ibv_cq_ex *cq = ibv_create_cq_ex(rig.context, &init);
	uint64_t old, value;

	current = "extended";
	demand(cq, "no extended completion queue");
	struct ibv_cq *plain = ibv_cq_ex_to_cq(cq);
	struct ibv_qp *a = make(IBV_QPT_RC, plain, NULL);
	struct ibv_qp *b = make(IBV_QPT_RC, plain, NULL);

	move(a, b);
	move(b, a);
	fill();
	memcpy(&old, rig.there + 2048, sizeof(old));
	receive(b, NULL, 7);
	demand(ibv_start_poll(cq, &none) == ENOENT, "something in nothing");
	send_built(a);
	bool received = false;

	for (uint64_t id = 1; id <= 4 || !received;) {
		await(cq);
		if (cq->wr_id == 7) {
			demand(ibv_wc_read_opcode(cq) == IBV_WC_RECV &&
				       ibv_wc_read_byte_len(cq) == 50 &&
				       ibv_wc_read_wc_flags(cq) & IBV_WC_WITH_IMM &&
				       ibv_wc_read_imm_data(cq) == htonl(IMM) &&
				       ibv_wc_read_qp_num(cq) == b->qp_num &&
				       ibv_wc_read_slid(cq) == rig.lid,
			       "a receive");
			received = true;
		} else {
			demand(cq->wr_id == id && ibv_wc_read_opcode(cq) == opcodes[id] &&
				       ibv_wc_read_qp_num(cq) == a->qp_num,
			       "sends in another order");
			id++;
		}
		ibv_end_poll(cq);
	}
	demand(ibv_start_poll(cq, &none) == ENOENT, "one more");
	demand(memcmp(rig.there + 100, rig.here, 1000) == 0, "what is written");
	demand(memcmp(rig.there, rig.here + 2000, 50) == 0, "what is sent");
	demand(memcmp(rig.here + 3000, rig.there + 200, 300) == 0, "what is read");
	memcpy(&value, rig.here + 3600, sizeof(value));
	demand(value == old, "what was there before");
	memcpy(&value, rig.there + 2048, sizeof(value));
	demand(value == old + 5, "the sum");
	drop(a, b, plain);
}

/* ---- completion queues: their size, and who was reset */

static void write_some(struct ibv_qp *qp, unsigned n)
{
	struct ibv_sge sge = { (uintptr_t)rig.here, 64, rig.mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { (uintptr_t)rig.there, rig.mr->rkey },
	};

	for (unsigned i = 0; i < n; i++) {
		wr.wr_id = i;
		demand(ibv_post_send(qp, &wr, &bad) == 0, "post");
	}
}

static void sizes(void)
{
	enum { N = 8 };
	struct ibv_cq *cq = ibv_create_cq(rig.context, N, NULL, NULL, 0);
	struct ibv_cq *other = ibv_create_cq(rig.context, 16, NULL, NULL, 0);
	struct ibv_qp *a = make(IBV_QPT_RC, cq, NULL);
	struct ibv_qp *b = make(IBV_QPT_RC, other, NULL);

	current = "sizes";
	/* Completions of a queue pair that was reset take no place. */
	for (unsigned i = 0; i < 3; i++) {
		move(a, b);
		move(b, a);
		write_some(a, N);
		for (struct ibv_qp *q = a; q; q = q == a ? b : NULL)
			demand(ibv_modify_qp(q, &(struct ibv_qp_attr){ .qp_state = IBV_QPS_RESET },
					     IBV_QP_STATE) == 0,
			       "RESET");
	}
	move(a, b);
	move(b, a);
	write_some(a, N);
	/* All that are there stay, in their order, whatever the size. */
	demand(next(cq).wr_id == 0, "the first");
	demand(ibv_resize_cq(cq, 3 * N) == 0 && cq->cqe >= 3 * N, "larger");
	write_some(a, N);
	for (uint64_t i = 1; i < 2 * N; i++)
		demand(next(cq).wr_id == i % N, "an order");
	demand(ibv_resize_cq(cq, N) == 0, "smaller");
	drop(a, b, cq);
	demand(ibv_destroy_cq(other) == 0, "destroy");
}

/* ---- events that come by themselves */

static struct ibv_async_event event(int ms)
{
	struct pollfd p = { .fd = rig.context->async_fd, .events = POLLIN };
	struct ibv_async_event e = { .event_type = -1 };

	if (poll(&p, 1, ms) == 1)
		demand(ibv_get_async_event(rig.context, &e) == 0, "an event");
	return e;
}

static void events(void)
{
	enum { PATIENCE = 60000, LIMIT = 2 };
	struct ibv_cq *cq = ibv_create_cq(rig.context, 64, NULL, NULL, 0);
	struct ibv_srq_init_attr shared = { .attr = { 16, 1, 0 } };
	struct ibv_srq *srq = ibv_create_srq(rig.pd, &shared);

	current = "events";
	demand(cq && srq, "no objects");
	struct ibv_qp *a = make(IBV_QPT_RC, cq, NULL);
	struct ibv_qp *b = make(IBV_QPT_RC, cq, srq);

	move(a, b);
	move(b, a);
	for (uint64_t i = 0; i < 3; i++)
		receive(b, srq, 100 + i);
	struct ibv_srq_attr limit = { .srq_limit = LIMIT };

	demand(ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT) == 0, "a limit");
	/* Three, and then two: not below the limit; and one. */
	for (unsigned i = 0; i < 2; i++) {
		struct ibv_sge sge = { (uintptr_t)rig.here, 8, rig.mr->lkey };
		struct ibv_send_wr *bad,
			wr = { .wr_id = 1, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND };

		demand(ibv_post_send(a, &wr, &bad) == 0, "post");
		next(cq);
		next(cq);
		if (i == 0)
			demand((int)event(50).event_type == -1, "an event before its time");
	}
	struct ibv_async_event e = event(PATIENCE);

	demand(e.event_type == IBV_EVENT_SRQ_LIMIT_REACHED && e.element.srq == srq,
	       "the limit is not told");
	ibv_ack_async_event(&e);
	demand(ibv_modify_qp(b, &(struct ibv_qp_attr){ .qp_state = IBV_QPS_ERR }, IBV_QP_STATE) ==
		       0,
	       "ERR");
	e = event(PATIENCE);
	demand(e.event_type == IBV_EVENT_QP_LAST_WQE_REACHED && e.element.qp == b,
	       "the last receive is not told");
	ibv_ack_async_event(&e);
	drop(a, b, cq);
	demand(ibv_destroy_srq(srq) == 0, "destroy");
}

/* ---- groups */

static void groups(void)
{
	static const uint8_t broadcast[16] = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0,    0,
					       0,    0,    0,    0,    0xff, 0xff, 0xff, 0xff };
	struct ibv_cq *cq = ibv_create_cq(rig.context, 64, NULL, NULL, 0);
	struct ibv_qp *a = make(IBV_QPT_UD, cq, NULL);
	struct ibv_qp *b = make(IBV_QPT_UD, cq, NULL);
	union ibv_gid gid;
	struct ibv_wc wc;

	current = "groups";
	memcpy(gid.raw, broadcast, sizeof(broadcast));
	move(a, b);
	move(b, a);
	fill();
	struct ibv_ah_attr to = {
		.dlid = MLID, .port_num = 1, .is_global = 1, .grh = { .dgid = gid, .hop_limit = 1 }
	};
	struct ibv_ah *ah = ibv_create_ah(rig.pd, &to);
	struct ibv_sge sge = { (uintptr_t)rig.here, 200, rig.mr->lkey };
	struct ibv_send_wr *bad, wr = { .wr_id = 1,
					.sg_list = &sge,
					.num_sge = 1,
					.opcode = IBV_WR_SEND,
					.wr.ud = { ah, 0xFFFFFF, QKEY } };

	demand(ah, "an address");
	/* Before it is attached, while it is, and not any more. */
	for (unsigned i = 0; i < 3; i++) {
		receive(b, NULL, 7);
		demand(i != 1 || ibv_attach_mcast(b, &gid, MLID) == 0, "attach");
		demand(i != 2 || ibv_detach_mcast(b, &gid, MLID) == 0, "detach");
		demand(ibv_post_send(a, &wr, &bad) == 0, "post");
		wc = next(cq);
		if (i == 1 && wc.wr_id != 7)
			wc = next(cq);
		else if (i == 1)
			demand(next(cq).wr_id == 1, "its send");
		if (i == 1)
			demand(wc.wr_id == 7 && wc.byte_len == 200 + GRH &&
				       wc.wc_flags & IBV_WC_GRH && wc.src_qp == a->qp_num,
			       "what a member gets");
		else
			demand(wc.wr_id == 1 && ibv_poll_cq(cq, 1, &wc) == 0, "no member gets it");
	}
	demand(memcmp(rig.there + GRH, rig.here, 200) == 0 &&
		       memcmp(rig.there + 24, broadcast, 16) == 0,
	       "its bytes");
	demand(ibv_attach_mcast(b, &gid, 5) != 0, "a LID that is not a group's");
	demand(ibv_destroy_ah(ah) == 0, "destroy");
	drop(a, b, cq);
}

int main(int argc, char **argv)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_port_attr port;

	demand(list && list[0], "no device");
	rig.context = ibv_open_device(list[0]);
	demand(rig.context && ibv_query_port(rig.context, 1, &port) == 0, "it does not open");
	rig.lid = port.lid;
	rig.pd = ibv_alloc_pd(rig.context);
	rig.mr = ibv_reg_mr(rig.pd, rig.here, sizeof(rig.here) * 2,
			    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				    IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	demand(rig.pd && rig.mr, "no objects");
	extended();
	sizes();
	events();
	if (argc > 1 && strcmp(argv[1], "groups") == 0)
		groups();
	puts("all as it should be");
	return 0;
}
