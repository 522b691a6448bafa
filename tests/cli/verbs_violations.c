/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a program may not do by verbs: each violation ends in the completions,
 * states and events that the architecture says, and memory is as it was. Runs
 * on whatever adapter libibverbs finds; says the first thing that is wrong.
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

enum { SIZE = 4096, NOTHING = -1, ALL_ACCESS = 15, QKEY = 0x1234 };

static struct {
	struct ibv_context *context;
	struct ibv_pd *pd, *other_pd;
	struct ibv_cq *cq[2];
	struct ibv_qp *qp[2];
	uint16_t lid;
	_Alignas(64) char here[SIZE];
	_Alignas(64) char there[SIZE];
	struct ibv_mr *here_mr, *there_mr;
} rig;

static const char *current = "setup";

static void demand(bool holds, const char *what)
{
	if (holds)
		return;
	printf("%s: %s\n", current, what);
	exit(1);
}

/* ---- two queue pairs of one adapter, connected to each other */

static void move(struct ibv_qp *qp, struct ibv_qp *peer, unsigned access)
{
	const struct pair_rules rules = {
		.lid = rig.lid,
		.qkey = QKEY,
		.access = access,
		.timeout = 8,
		.retries = 1,
		.rnr_retries = 0,
	};
	const char *failed = pair_raise(qp, peer, &rules);

	demand(!failed, failed);
}

static void connect_pair(enum ibv_qp_type type, unsigned access)
{
	for (int i = 0; i < 2; i++) {
		struct ibv_qp_init_attr init = {
			.send_cq = rig.cq[i],
			.recv_cq = rig.cq[i],
			.cap = { 16, 16, 2, 2, 0 },
			.qp_type = type,
			.sq_sig_all = 1,
		};

		rig.qp[i] = ibv_create_qp(rig.pd, &init);
		demand(rig.qp[i], "no queue pair");
	}
	move(rig.qp[0], rig.qp[1], ALL_ACCESS);
	move(rig.qp[1], rig.qp[0], access);
	for (int i = 0; i < SIZE; i++) {
		rig.here[i] = (char)(i * 7 + 1);
		rig.there[i] = (char)(i * 13 + 5);
	}
}

static void drop_pair(void)
{
	struct ibv_wc wc;

	for (int i = 0; i < 2; i++) {
		demand(ibv_destroy_qp(rig.qp[i]) == 0, "destroy");
		demand(ibv_poll_cq(rig.cq[i], 1, &wc) == 0,
		       "a completion of a queue pair that is gone");
	}
}

static int state_of(struct ibv_qp *qp)
{
	struct ibv_qp_attr a;
	struct ibv_qp_init_attr init;

	demand(ibv_query_qp(qp, &a, IBV_QP_STATE, &init) == 0, "query");
	return (int)a.qp_state;
}

/* The status of the next completion, or NOTHING after a while. */
static int status_of(struct ibv_cq *cq, unsigned ms)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	struct ibv_wc wc;

	for (unsigned i = 0; i <= ms; i++) {
		int n = ibv_poll_cq(cq, 1, &wc);

		demand(n >= 0, "polling fails");
		if (n == 1)
			return (int)wc.status;
		nanosleep(&nap, NULL);
	}
	return NOTHING;
}

/* The next event of the kind that is asked for; others pass. */
static bool has_event(int wanted)
{
	struct pollfd p = { .fd = rig.context->async_fd, .events = POLLIN };
	struct ibv_async_event e;
	bool found = wanted == NOTHING;

	while (poll(&p, 1, found ? 0 : 2000) == 1) {
		demand(ibv_get_async_event(rig.context, &e) == 0, "no event");
		found |= (int)e.event_type == wanted;
		ibv_ack_async_event(&e);
	}
	return found;
}

/* ---- violations of connected ones, a row each */

enum trick {
	NONE,
	WRONG_RKEY,
	BEYOND,
	BEFORE,
	DEREGISTERED,
	OTHER_DOMAIN,
	WRONG_LKEY,
	WRONG_RECEIVE_LKEY,
	UNALIGNED,
	NO_SUCH_QP,
};

static const struct violation {
	const char *name;
	enum ibv_wr_opcode op;
	enum trick trick;
	int region;                 /* access of the remote region */
	int queue;                  /* and of the responder's queue pair */
	int local;                  /* access of the local region */
	int receive;                /* bytes of a receive; NOTHING: none is posted */
	int status, receive_status; /* or NOTHING */
	int state, peer_state;
	int event;
} rows[] = {
	{ "a write", IBV_WR_RDMA_WRITE, NONE, 15, 15, 1, NOTHING, IBV_WC_SUCCESS, NOTHING,
	  IBV_QPS_RTS, IBV_QPS_RTS, NOTHING },
	{ "a wrong R_Key", IBV_WR_RDMA_WRITE, WRONG_RKEY, 15, 15, 1, NOTHING, IBV_WC_REM_ACCESS_ERR,
	  NOTHING, IBV_QPS_ERR, IBV_QPS_ERR, IBV_EVENT_QP_ACCESS_ERR },
	{ "beyond the end", IBV_WR_RDMA_WRITE, BEYOND, 15, 15, 1, NOTHING, IBV_WC_REM_ACCESS_ERR,
	  NOTHING, IBV_QPS_ERR, IBV_QPS_ERR, IBV_EVENT_QP_ACCESS_ERR },
	{ "before the beginning", IBV_WR_RDMA_WRITE, BEFORE, 15, 15, 1, NOTHING,
	  IBV_WC_REM_ACCESS_ERR, NOTHING, IBV_QPS_ERR, IBV_QPS_ERR, IBV_EVENT_QP_ACCESS_ERR },
	{ "a region that is gone", IBV_WR_RDMA_WRITE, DEREGISTERED, 15, 15, 1, NOTHING,
	  IBV_WC_REM_ACCESS_ERR, NOTHING, IBV_QPS_ERR, IBV_QPS_ERR, IBV_EVENT_QP_ACCESS_ERR },
	{ "another domain's region", IBV_WR_RDMA_WRITE, OTHER_DOMAIN, 15, 15, 1, NOTHING,
	  IBV_WC_REM_ACCESS_ERR, NOTHING, IBV_QPS_ERR, IBV_QPS_ERR, IBV_EVENT_QP_ACCESS_ERR },
	{ "a region not to be written", IBV_WR_RDMA_WRITE, NONE,
	  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ, 15, 1, NOTHING, IBV_WC_REM_ACCESS_ERR,
	  NOTHING, IBV_QPS_ERR, IBV_QPS_ERR, IBV_EVENT_QP_ACCESS_ERR },
	{ "a region not to be read", IBV_WR_RDMA_READ, NONE,
	  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, 15, 1, NOTHING, IBV_WC_REM_ACCESS_ERR,
	  NOTHING, IBV_QPS_ERR, IBV_QPS_ERR, IBV_EVENT_QP_ACCESS_ERR },
	{ "a region without atomics", IBV_WR_ATOMIC_FETCH_AND_ADD, NONE, 7, 15, 1, NOTHING,
	  IBV_WC_REM_ACCESS_ERR, NOTHING, IBV_QPS_ERR, IBV_QPS_ERR, IBV_EVENT_QP_ACCESS_ERR },
	{ "an atomic between words", IBV_WR_ATOMIC_FETCH_AND_ADD, UNALIGNED, 15, 15, 1, NOTHING,
	  IBV_WC_REM_INV_REQ_ERR, NOTHING, IBV_QPS_ERR, IBV_QPS_ERR, IBV_EVENT_QP_REQ_ERR },
	{ "a queue pair that takes no writes", IBV_WR_RDMA_WRITE, NONE, 15, IBV_ACCESS_REMOTE_READ,
	  1, NOTHING, IBV_WC_REM_INV_REQ_ERR, NOTHING, IBV_QPS_ERR, IBV_QPS_ERR,
	  IBV_EVENT_QP_REQ_ERR },
	{ "a queue pair that takes no reads", IBV_WR_RDMA_READ, NONE, 15, IBV_ACCESS_REMOTE_WRITE,
	  1, NOTHING, IBV_WC_REM_INV_REQ_ERR, NOTHING, IBV_QPS_ERR, IBV_QPS_ERR,
	  IBV_EVENT_QP_REQ_ERR },
	{ "a wrong L_Key", IBV_WR_SEND, WRONG_LKEY, 15, 15, 1, 64, IBV_WC_LOC_PROT_ERR, NOTHING,
	  IBV_QPS_ERR, IBV_QPS_RTS, NOTHING },
	{ "reading into what is not to be written", IBV_WR_RDMA_READ, NONE, 15, 15, 0, NOTHING,
	  IBV_WC_LOC_PROT_ERR, NOTHING, IBV_QPS_ERR, IBV_QPS_RTS, NOTHING },
	{ "a receive that is too short", IBV_WR_SEND, NONE, 15, 15, 1, 63, IBV_WC_REM_INV_REQ_ERR,
	  IBV_WC_LOC_LEN_ERR, IBV_QPS_ERR, IBV_QPS_ERR, NOTHING },
	{ "a receive that is longer than its region", IBV_WR_SEND, NONE, 15, 15, 1, 2 * SIZE,
	  IBV_WC_SUCCESS, IBV_WC_SUCCESS, IBV_QPS_RTS, IBV_QPS_RTS, NOTHING },
	{ "a receive with a wrong L_Key", IBV_WR_SEND, WRONG_RECEIVE_LKEY, 15, 15, 1, 64,
	  IBV_WC_REM_OP_ERR, IBV_WC_LOC_PROT_ERR, IBV_QPS_ERR, IBV_QPS_ERR, NOTHING },
	{ "no receive", IBV_WR_SEND, NONE, 15, 15, 1, NOTHING, IBV_WC_RNR_RETRY_EXC_ERR, NOTHING,
	  IBV_QPS_ERR, IBV_QPS_RTS, NOTHING },
	{ "unknown there", IBV_WR_SEND, NO_SUCH_QP, 15, 15, 1, NOTHING, IBV_WC_RETRY_EXC_ERR,
	  NOTHING, IBV_QPS_ERR, IBV_QPS_RESET, NOTHING },
};

static void post_receive(const struct violation *v)
{
	struct ibv_sge sge = { (uintptr_t)rig.there, (uint32_t)v->receive, rig.there_mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = 9, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	if (v->receive == NOTHING)
		return;
	if (v->trick == WRONG_RECEIVE_LKEY)
		sge.lkey ^= 1;
	demand(ibv_post_recv(rig.qp[1], &wr, &bad) == 0, "post_recv");
}

static void post(const struct violation *v)
{
	bool atomic = v->op == IBV_WR_ATOMIC_FETCH_AND_ADD;
	struct ibv_sge sge = { (uintptr_t)rig.here, atomic ? 8 : 64, rig.here_mr->lkey };
	uint64_t addr = (uintptr_t)rig.there;
	uint32_t rkey = rig.there_mr->rkey;
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = v->op };
	struct ibv_send_wr *bad;

	if (v->trick == WRONG_RKEY)
		rkey ^= 1;
	if (v->trick == WRONG_LKEY)
		sge.lkey ^= 1;
	if (v->trick == BEYOND)
		addr += SIZE - 63;
	if (v->trick == BEFORE || v->trick == UNALIGNED)
		addr += v->trick == BEFORE ? (uint64_t)-1 : 1;
	if (atomic) {
		wr.wr.atomic.remote_addr = addr;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = 1;
	} else {
		wr.wr.rdma.remote_addr = addr;
		wr.wr.rdma.rkey = rkey;
	}
	demand(ibv_post_send(rig.qp[0], &wr, &bad) == 0, "post_send");
}

static void judge(const struct violation *v)
{
	char here[SIZE], there[SIZE];
	struct ibv_pd *pd = v->trick == OTHER_DOMAIN ? rig.other_pd : rig.pd;

	current = v->name;
	connect_pair(IBV_QPT_RC, (unsigned)v->queue);
	rig.here_mr = ibv_reg_mr(rig.pd, rig.here, SIZE, v->local);
	rig.there_mr = ibv_reg_mr(pd, rig.there, SIZE, v->region);
	demand(rig.here_mr && rig.there_mr, "no region");
	memcpy(here, rig.here, SIZE);
	memcpy(there, rig.there, SIZE);
	if (v->status == IBV_WC_SUCCESS)
		memcpy(there, here, 64);
	post_receive(v);
	if (v->trick == DEREGISTERED) {
		struct ibv_mr gone = *rig.there_mr;

		demand(ibv_dereg_mr(rig.there_mr) == 0, "dereg");
		rig.there_mr = &gone;
		post(v);
		rig.there_mr = NULL;
	} else {
		if (v->trick == NO_SUCH_QP) {
			struct ibv_qp_attr a = { .qp_state = IBV_QPS_RESET };

			ibv_modify_qp(rig.qp[1], &a, IBV_QP_STATE);
		}
		post(v);
	}
	demand(status_of(rig.cq[0], 5000) == v->status, "its status");
	demand(status_of(rig.cq[1], 5) == v->receive_status, "the receive's status");
	demand(state_of(rig.qp[0]) == v->state, "its state");
	demand(state_of(rig.qp[1]) == v->peer_state, "the peer's state");
	demand(has_event(v->event), "its event");
	demand(memcmp(here, rig.here, SIZE) == 0, "its memory is changed");
	demand(memcmp(there, rig.there, SIZE) == 0, "the peer's memory");
	ibv_dereg_mr(rig.here_mr);
	if (rig.there_mr)
		ibv_dereg_mr(rig.there_mr);
	drop_pair();
}

/* ---- datagrams, queues */

static void judge_datagrams(uint32_t qkey, bool arrives)
{
	struct ibv_ah_attr to = { .dlid = rig.lid, .is_global = 1, .port_num = 1 };
	struct ibv_sge from = { (uintptr_t)rig.here, 64, 0 };
	struct ibv_sge into = { (uintptr_t)rig.there, SIZE, 0 };
	struct ibv_recv_wr receive = { .sg_list = &into, .num_sge = 1 };
	struct ibv_send_wr wr = { .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND };
	struct ibv_recv_wr *bad_receive;
	struct ibv_send_wr *bad;

	struct ibv_port_attr before, after;

	current = arrives ? "a datagram" : "a wrong Q_Key";
	demand(ibv_query_port(rig.context, 1, &before) == 0, "query");
	connect_pair(IBV_QPT_UD, 0);
	struct ibv_mr *mr = ibv_reg_mr(rig.pd, &rig, sizeof(rig), 1);
	demand(ibv_query_gid(rig.context, 1, 0, &to.grh.dgid) == 0, "no GID");
	struct ibv_ah *ah = ibv_create_ah(rig.pd, &to);

	demand(mr && ah, "no handle");
	from.lkey = into.lkey = mr->lkey;
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = rig.qp[1]->qp_num;
	wr.wr.ud.remote_qkey = qkey;
	demand(ibv_post_recv(rig.qp[1], &receive, &bad_receive) == 0, "post");
	demand(ibv_post_send(rig.qp[0], &wr, &bad) == 0, "post");
	demand(status_of(rig.cq[0], 1000) == IBV_WC_SUCCESS, "its status");
	demand(status_of(rig.cq[1], 5) == (arrives ? IBV_WC_SUCCESS : NOTHING),
	       "whether it arrives");
	demand((memcmp(rig.there + 40, rig.here, 64) == 0) == arrives, "the memory");
	demand(ibv_query_port(rig.context, 1, &after) == 0 &&
		       after.qkey_viol_cntr == before.qkey_viol_cntr + !arrives,
	       "the port's count");
	/* From the adapter to itself: both GIDs of the header are its own. */
	for (int at = 8; arrives && at <= 24; at += 16)
		demand(memcmp(rig.there + at, &to.grh.dgid, 16) == 0, "the global header");
	ibv_destroy_ah(ah);
	drop_pair();
	ibv_dereg_mr(mr);
}

/* L_Keys of a shared receive queue are of its domain, not of the queue pair's. */
static void judge_shared_domain(bool of_queue)
{
	struct ibv_srq_init_attr shared = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(rig.other_pd, &shared);
	struct ibv_mr *from = ibv_reg_mr(rig.pd, rig.here, SIZE, 0);
	struct ibv_mr *into = ibv_reg_mr(of_queue ? rig.other_pd : rig.pd, rig.there, SIZE, 1);
	struct ibv_recv_wr *bad_receive, receive = { .num_sge = 1 };
	struct ibv_send_wr *bad, wr = { .num_sge = 1, .opcode = IBV_WR_SEND };

	current = of_queue ? "the shared queue's domain" : "the queue pair's domain";
	demand(srq && from && into, "no objects");
	struct ibv_sge send = { (uintptr_t)rig.here, 64, from->lkey };
	struct ibv_sge take = { (uintptr_t)rig.there, 64, into->lkey };

	connect_pair(IBV_QPT_RC, ALL_ACCESS);
	demand(ibv_destroy_qp(rig.qp[1]) == 0, "destroy");
	struct ibv_qp_init_attr init = { .send_cq = rig.cq[1],
					 .recv_cq = rig.cq[1],
					 .srq = srq,
					 .cap = { 1, 0, 1, 0, 0 },
					 .qp_type = IBV_QPT_RC };
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };

	rig.qp[1] = ibv_create_qp(rig.pd, &init);
	demand(rig.qp[1] && !ibv_modify_qp(rig.qp[0], &reset, IBV_QP_STATE), "no queue pair");
	move(rig.qp[0], rig.qp[1], ALL_ACCESS);
	move(rig.qp[1], rig.qp[0], ALL_ACCESS);
	receive.sg_list = &take;
	wr.sg_list = &send;
	demand(ibv_post_srq_recv(srq, &receive, &bad_receive) == 0 &&
		       ibv_post_send(rig.qp[0], &wr, &bad) == 0,
	       "post");
	demand(status_of(rig.cq[0], 1000) == (int)(of_queue ? IBV_WC_SUCCESS : IBV_WC_REM_OP_ERR),
	       "its status");
	demand(status_of(rig.cq[1], 1000) == (int)(of_queue ? IBV_WC_SUCCESS : IBV_WC_LOC_PROT_ERR),
	       "the receive's status");
	demand((memcmp(rig.here, rig.there, 64) == 0) == of_queue, "the memory");
	drop_pair();
	demand(!ibv_destroy_srq(srq) && !ibv_dereg_mr(from) && !ibv_dereg_mr(into), "destroy");
}

static void judge_overrun(void)
{
	struct ibv_cq *before = rig.cq[0];
	struct ibv_send_wr *bad;

	current = "a full completion queue";
	rig.cq[0] = ibv_create_cq(rig.context, 2, NULL, NULL, 0);
	demand(rig.cq[0], "no queue");
	connect_pair(IBV_QPT_RC, ALL_ACCESS);
	for (int i = 0; i < 4; i++) {
		struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE };

		demand(ibv_post_send(rig.qp[0], &wr, &bad) == 0, "post");
	}
	demand(has_event(IBV_EVENT_CQ_ERR), "its event");
	demand(state_of(rig.qp[0]) == IBV_QPS_ERR, "its state");
	for (int i = 0; i < 2; i++)
		ibv_destroy_qp(rig.qp[i]);
	demand(ibv_destroy_cq(rig.cq[0]) == 0, "destroy");
	rig.cq[0] = before;
}

/* There is one GID, at index 0: other indices are refused. */
static void judge_addresses(void)
{
	struct ibv_qp_init_attr init = { .send_cq = rig.cq[0],
					 .recv_cq = rig.cq[0],
					 .cap = { 1, 1, 1, 1, 0 },
					 .qp_type = IBV_QPT_UC };
	union ibv_gid gid;

	current = "a global address";
	demand(ibv_query_gid(rig.context, 1, 0, &gid) == 0, "no GID");
	for (uint8_t index = 0; index < 2; index++) {
		struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
		struct ibv_qp *qp = ibv_create_qp(rig.pd, &init);

		demand(qp && ibv_modify_qp(qp, &a,
					   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
						   IBV_QP_ACCESS_FLAGS) == 0,
		       "INIT");
		a = (struct ibv_qp_attr){
			.qp_state = IBV_QPS_RTR,
			.path_mtu = IBV_MTU_1024,
			.dest_qp_num = 1,
			.ah_attr = { .grh = { .dgid = gid, .sgid_index = index },
				     .dlid = rig.lid,
				     .is_global = 1,
				     .port_num = 1 },
		};
		demand(ibv_modify_qp(qp, &a,
				     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					     IBV_QP_RQ_PSN) == (index == 0 ? 0 : EINVAL),
		       index == 0 ? "of its own GID" : "of no GID");
		demand(ibv_destroy_qp(qp) == 0, "destroy");
	}
}

static void judge_refusals(void)
{
	struct ibv_qp_init_attr init = { .send_cq = rig.cq[0],
					 .recv_cq = rig.cq[0],
					 .qp_type = IBV_QPT_RAW_PACKET };
	struct ibv_alloc_dm_attr memory = { .length = 4096 };

	current = "what the adapter has not";
	demand(!ibv_create_qp(rig.pd, &init) && errno == EOPNOTSUPP, "raw packets");
	demand(!ibv_alloc_dm(rig.context, &memory) && errno == EOPNOTSUPP, "device memory");
	demand(!ibv_reg_mr(rig.pd, (void *)4096, 4096, 1) && errno == EFAULT,
	       "memory that is not there");
	demand(!ibv_reg_mr(rig.pd, rig.here, SIZE, IBV_ACCESS_REMOTE_WRITE) && errno == EINVAL,
	       "writing from afar only");
	demand(ibv_dealloc_pd(rig.pd) == 0, "an unused domain");
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_port_attr port;

	demand(list && list[0], "no device");
	rig.context = ibv_open_device(list[0]);
	demand(rig.context && ibv_query_port(rig.context, 1, &port) == 0, "it does not open");
	rig.lid = port.lid;
	rig.pd = ibv_alloc_pd(rig.context);
	rig.other_pd = ibv_alloc_pd(rig.context);
	for (int i = 0; i < 2; i++)
		rig.cq[i] = ibv_create_cq(rig.context, 64, NULL, NULL, 0);
	demand(rig.pd && rig.other_pd && rig.cq[0] && rig.cq[1], "no objects");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		judge(&rows[i]);
	judge_datagrams(QKEY, true);
	judge_datagrams(QKEY + 1, false);
	judge_overrun();
	judge_shared_domain(true);
	judge_shared_domain(false);
	judge_addresses();
	judge_refusals();
	puts("all as it should be");
	return 0;
}
