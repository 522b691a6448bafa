/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_fork: programs that fork before, after and while they use the adapter.
 * Parent, child and grandchild each open the device, have numbers and keys of
 * their own, and exchange messages with each other. Handles that a child
 * inherits fail with EPERM, can be released, and the parent's work continues.
 * Prints the first violation.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verbs_pair.h"

enum { SIZE = 4096, CHILDREN = 4, MESSAGES = 10, QUERIES = 500 };

static const char *scene = "setup";

static void demand(bool holds, const char *what)
{
	if (holds)
		return;
	printf("%s: %s (errno %d)\n", scene, what, errno);
	fflush(stdout);
	_exit(1);
}

/* ---- an adapter of one process */

struct rig {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	uint16_t lid;
	_Alignas(64) uint8_t out[SIZE], in[SIZE];
};

static void rig_open(struct rig *r)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_port_attr port;

	memset(r, 0, sizeof(*r));
	demand(list && list[0], "no device");
	r->context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	demand(r->context && !ibv_query_port(r->context, 1, &port), "the device cannot be opened");
	r->lid = port.lid;
	r->pd = ibv_alloc_pd(r->context);
	r->channel = ibv_create_comp_channel(r->context);
	r->cq = ibv_create_cq(r->context, 64, NULL, r->channel, 0);
	demand(r->pd && r->channel && r->cq, "no completion queue");
	r->mr = ibv_reg_mr(r->pd, r, sizeof(*r), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	struct ibv_srq_init_attr shared = { .attr = { 4, 1, 0 } };
	struct ibv_ah_attr to = { .dlid = r->lid, .port_num = 1 };

	r->srq = ibv_create_srq(r->pd, &shared);
	r->ah = ibv_create_ah(r->pd, &to);
	struct ibv_qp_init_attr_ex init = {
		.send_cq = r->cq,
		.recv_cq = r->cq,
		.cap = { 16, 16, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = r->pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND,
	};

	r->qp = ibv_create_qp_ex(r->context, &init);
	demand(r->mr && r->srq && r->ah && r->qp, "no queue pair");
}

static void rig_close(struct rig *r)
{
	demand(ibv_destroy_qp(r->qp) == 0 && ibv_destroy_ah(r->ah) == 0 &&
		       ibv_destroy_srq(r->srq) == 0 && ibv_dereg_mr(r->mr) == 0 &&
		       ibv_destroy_cq(r->cq) == 0 && ibv_destroy_comp_channel(r->channel) == 0 &&
		       ibv_dealloc_pd(r->pd) == 0 && ibv_close_device(r->context) == 0,
	       "a handle cannot be released");
}

/* ---- two processes, or a process and itself */

struct end {
	uint32_t qpn, rkey;
	uint64_t addr;
};

static void swap(int fd, const void *own, void *other, size_t size)
{
	demand(send(fd, own, size, MSG_NOSIGNAL) == (ssize_t)size &&
		       recv(fd, other, size, MSG_WAITALL) == (ssize_t)size,
	       "the other process has ended");
}

static void post_receive(struct rig *r)
{
	struct ibv_sge s = { (uintptr_t)r->in, SIZE, r->mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &s, .num_sge = 1 };

	demand(ibv_post_recv(r->qp, &wr, &bad) == 0, "post a receive");
}

/* A write to the upper half of the other's memory, and a message to its lower
 * half; then what the other sends. */
static void exchange(struct rig *r, const struct end *other, uint8_t own_byte, uint8_t other_byte)
{
	struct ibv_sge s = { (uintptr_t)r->out, SIZE / 2, r->mr->lkey };
	struct ibv_send_wr *bad, message = { .sg_list = &s, .num_sge = 1, .opcode = IBV_WR_SEND };
	struct ibv_send_wr write = {
		.sg_list = &s, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .next = &message
	};
	struct ibv_wc wc;

	memset(r->out, own_byte, SIZE);
	write.wr.rdma.remote_addr = other->addr + SIZE / 2;
	write.wr.rdma.rkey = other->rkey;
	demand(ibv_post_send(r->qp, &write, &bad) == 0, "post a send");
	for (int n = 0; n < 3;) {
		int got = ibv_poll_cq(r->cq, 1, &wc);

		demand(got >= 0, "poll");
		if (got)
			demand(wc.status == IBV_WC_SUCCESS, ibv_wc_status_str(wc.status));
		n += got;
	}
	for (int i = 0; i < SIZE; i++)
		demand(r->in[i] == other_byte, "other bytes arrive");
}

/* What this process does with the one at the other end of the socket. */
static void talk(int fd, uint8_t own_byte, uint8_t other_byte)
{
	struct rig *r = aligned_alloc(64, sizeof(*r));
	struct end other;
	char word = 1;

	demand(r != NULL, "memory");
	rig_open(r);
	struct end own = { r->qp->qp_num, r->mr->rkey, (uintptr_t)r->in };
	const struct pair_rules rules = { .lid = r->lid,
					  .access = IBV_ACCESS_REMOTE_WRITE,
					  .timeout = 14,
					  .retries = 7,
					  .rnr_retries = 7 };

	swap(fd, &own, &other, sizeof(own));
	demand(own.qpn != other.qpn, "two processes have the same QP number");
	demand(own.rkey != other.rkey, "two processes have the same R_Key");
	struct ibv_qp peer = { .qp_num = other.qpn };

	demand(!pair_raise(r->qp, &peer, &rules), "not raised");
	for (int i = 0; i < MESSAGES; i++) {
		post_receive(r);
		swap(fd, &word, &word, 1);
		exchange(r, &other, (uint8_t)(own_byte + i), (uint8_t)(other_byte + i));
		swap(fd, &word, &word, 1);
	}
	rig_close(r);
	free(r);
}

/* ---- processes */

struct child {
	pid_t pid;
	int fd; /* to the other side, in both */
};

/* True in the child. */
static bool child_start(struct child *c)
{
	int ends[2];

	demand(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "socketpair");
	c->pid = fork();
	demand(c->pid >= 0, "fork");
	c->fd = ends[c->pid == 0];
	close(ends[c->pid != 0]);
	return c->pid == 0;
}

static void child_end(const struct child *c)
{
	int status;

	close(c->fd);
	demand(waitpid(c->pid, &status, 0) == c->pid && WIFEXITED(status) &&
		       WEXITSTATUS(status) == 0,
	       "the child has failed");
}

static void both_talk(void)
{
	struct child c;

	if (child_start(&c)) {
		talk(c.fd, 100, 50);
		_exit(0);
	}
	talk(c.fd, 50, 100);
	child_end(&c);
}

/* The same connection to the daemon must not serve both. */
static void both_ask(void)
{
	struct child c;
	bool is_child = child_start(&c);

	for (int i = 0; i < QUERIES; i++) {
		struct ibv_device **list = ibv_get_device_list(NULL);

		demand(list && list[0] && ibv_get_device_guid(list[0]), "no device");
		ibv_free_device_list(list);
	}
	if (is_child)
		_exit(0);
	child_end(&c);
}

static void many_children_talk(void)
{
	struct child c[CHILDREN];

	for (int i = 0; i < CHILDREN; i++)
		if (child_start(&c[i])) {
			talk(c[i].fd, (uint8_t)(100 + i), (uint8_t)(50 + i));
			_exit(0);
		}
	for (int i = 0; i < CHILDREN; i++) {
		talk(c[i].fd, (uint8_t)(50 + i), (uint8_t)(100 + i));
		child_end(&c[i]);
	}
}

/* All three have the device open, and talk to each other. */
static void grandchild_talks(void)
{
	struct child c;

	if (child_start(&c)) {
		struct rig *r = aligned_alloc(64, sizeof(*r));
		struct child g;

		rig_open(r);
		if (child_start(&g)) {
			talk(g.fd, 10, 30);
			talk(c.fd, 100, 50);
			_exit(0);
		}
		talk(g.fd, 30, 10);
		child_end(&g);
		rig_close(r);
		_exit(0);
	}
	talk(c.fd, 50, 100);
	child_end(&c);
}

/* ---- inherited handles */

static void refused(bool failed, const char *what)
{
	demand(failed && errno == EPERM, what);
	errno = 0;
}

/* Functions that return a pointer, an errno, or -1 with errno. */
#define REFUSED_POINTER(call) refused((call) == NULL, #call)
#define REFUSED_NUMBER(call)  refused((errno = (call)) != 0, #call)
#define REFUSED_MINUS(call)   refused((call) < 0, #call)

static void try_objects(struct rig *r)
{
	struct ibv_device_attr device;
	struct ibv_port_attr port;
	union ibv_gid gid;
	__be16 pkey;
	struct ibv_async_event event;
	struct ibv_cq_init_attr_ex cq = { .cqe = 4 };
	struct ibv_srq_init_attr srq = { .attr = { 4, 1, 0 } };
	struct ibv_qp_init_attr qp = {
		.send_cq = r->cq, .recv_cq = r->cq, .cap = { 1, 1, 1, 1, 0 }, .qp_type = IBV_QPT_RC
	};
	struct ibv_ah_attr to = { .dlid = r->lid, .port_num = 1 };

	REFUSED_NUMBER(ibv_query_device(r->context, &device));
	REFUSED_NUMBER(ibv_query_port(r->context, 1, &port));
	REFUSED_MINUS(ibv_query_gid(r->context, 1, 0, &gid));
	REFUSED_MINUS(ibv_query_pkey(r->context, 1, 0, &pkey));
	REFUSED_MINUS(ibv_get_async_event(r->context, &event));
	REFUSED_POINTER(ibv_alloc_pd(r->context));
	REFUSED_POINTER(ibv_create_comp_channel(r->context));
	REFUSED_POINTER(ibv_create_cq(r->context, 4, NULL, NULL, 0));
	REFUSED_POINTER(ibv_create_cq_ex(r->context, &cq));
	REFUSED_POINTER(ibv_create_srq(r->pd, &srq));
	REFUSED_POINTER(ibv_create_qp(r->pd, &qp));
	REFUSED_POINTER(ibv_create_ah(r->pd, &to));
	REFUSED_POINTER(ibv_reg_mr(r->pd, r, SIZE, 0));
}

static void try_queues(struct rig *r)
{
	struct ibv_sge s = { (uintptr_t)r->out, SIZE, r->mr->lkey };
	struct ibv_send_wr *bad_send, send = { .sg_list = &s, .num_sge = 1 };
	struct ibv_recv_wr *bad, receive = { .sg_list = &s, .num_sge = 1 };
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_ERR };
	struct ibv_qp_init_attr init;
	struct ibv_srq_attr shared = { .srq_limit = 1 };
	struct ibv_qp_ex *x = ibv_qp_to_qp_ex(r->qp);
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *any;

	REFUSED_MINUS(ibv_rereg_mr(r->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0));
	REFUSED_MINUS(ibv_poll_cq(r->cq, 1, &wc));
	REFUSED_NUMBER(ibv_req_notify_cq(r->cq, 0));
	REFUSED_NUMBER(ibv_resize_cq(r->cq, 8));
	REFUSED_MINUS(ibv_get_cq_event(r->channel, &cq, &any));
	REFUSED_NUMBER(ibv_modify_srq(r->srq, &shared, IBV_SRQ_LIMIT));
	REFUSED_NUMBER(ibv_query_srq(r->srq, &shared));
	REFUSED_NUMBER(ibv_post_srq_recv(r->srq, &receive, &bad));
	REFUSED_NUMBER(ibv_modify_qp(r->qp, &a, IBV_QP_STATE));
	REFUSED_NUMBER(ibv_query_qp(r->qp, &a, IBV_QP_STATE, &init));
	REFUSED_NUMBER(ibv_post_send(r->qp, &send, &bad_send));
	REFUSED_NUMBER(ibv_post_recv(r->qp, &receive, &bad));
	ibv_wr_start(x);
	ibv_wr_send(x);
	ibv_wr_set_sge(x, r->mr->lkey, (uintptr_t)r->out, SIZE);
	REFUSED_NUMBER(ibv_wr_complete(x));
	ibv_wr_start(x);
	ibv_wr_abort(x);
}

/* An adapter of one's own takes no part of the parent's. */
static void try_mixture(struct rig *theirs)
{
	struct rig *r = aligned_alloc(64, sizeof(*r));

	rig_open(r);
	struct ibv_qp_init_attr init = { .send_cq = theirs->cq,
					 .recv_cq = r->cq,
					 .cap = { 1, 1, 1, 1, 0 },
					 .qp_type = IBV_QPT_RC };

	REFUSED_POINTER(ibv_create_qp(r->pd, &init));
	init.send_cq = r->cq;
	init.srq = theirs->srq;
	REFUSED_POINTER(ibv_create_qp(r->pd, &init));
	REFUSED_POINTER(ibv_create_cq(r->context, 4, NULL, theirs->channel, 0));
	REFUSED_POINTER(ibv_create_qp(theirs->pd, &init));
	REFUSED_MINUS(ibv_rereg_mr(r->mr, IBV_REREG_MR_CHANGE_PD, theirs->pd, NULL, 0, 0));
	rig_close(r);
	free(r);
}

/* The parent is connected with itself, and stays so whatever the child does. */
static void inherited_handles_fail(void)
{
	struct rig *r = aligned_alloc(64, sizeof(*r));
	struct child c;

	rig_open(r);
	const struct pair_rules rules = { .lid = r->lid,
					  .access = IBV_ACCESS_REMOTE_WRITE,
					  .timeout = 14,
					  .retries = 7,
					  .rnr_retries = 7 };
	struct end self = { r->qp->qp_num, r->mr->rkey, (uintptr_t)r->in };

	demand(!pair_raise(r->qp, r->qp, &rules), "not raised");
	post_receive(r);
	exchange(r, &self, 1, 1);
	post_receive(r);
	if (child_start(&c)) {
		for (int i = 0; i < 2; i++) {
			try_objects(r);
			try_queues(r);
			/* They stay so when there is an adapter. */
			try_mixture(r);
		}
		rig_close(r);
		talk(c.fd, 100, 50);
		_exit(0);
	}
	talk(c.fd, 50, 100);
	child_end(&c);
	exchange(r, &self, 2, 2);
	rig_close(r);
	free(r);
}

/* ---- threads */

static _Atomic bool is_over;

static void *keep_polling(void *of)
{
	struct rig *r = of;
	struct ibv_wc wc;

	while (!atomic_load(&is_over)) {
		struct ibv_mr *mr = ibv_reg_mr(r->pd, r->out, SIZE, 0);

		demand(mr && ibv_dereg_mr(mr) == 0, "register");
		demand(ibv_poll_cq(r->cq, 1, &wc) == 0, "poll");
		demand(ibv_req_notify_cq(r->cq, 0) == 0, "arm");
	}
	return NULL;
}

/* Another thread is at any place of the library while this one forks. */
static void thread_is_at_work(void)
{
	struct rig *r = aligned_alloc(64, sizeof(*r));
	pthread_t thread;

	rig_open(r);
	demand(pthread_create(&thread, NULL, keep_polling, r) == 0, "thread");
	for (int i = 0; i < CHILDREN; i++)
		both_talk();
	atomic_store(&is_over, true);
	pthread_join(thread, NULL);
	rig_close(r);
	free(r);
}

/* ---- scenes; each in a process of its own, which has not used verbs yet */

static void fork_then_open(void)
{
	both_talk();
}

static void list_then_fork(void)
{
	ibv_free_device_list(ibv_get_device_list(NULL));
	both_ask();
	both_talk();
}

static void open_then_fork(void)
{
	struct rig *r = aligned_alloc(64, sizeof(*r));

	rig_open(r);
	both_talk();
	many_children_talk();
	grandchild_talks();
	rig_close(r);
	free(r);
}

static void open_and_close_then_fork(void)
{
	struct rig *r = aligned_alloc(64, sizeof(*r));

	rig_open(r);
	rig_close(r);
	free(r);
	both_talk();
	grandchild_talks();
	both_talk();
}

int main(void)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} scenes[] = {
		{ "fork, then open", fork_then_open },
		{ "list devices, then fork", list_then_fork },
		{ "open, then fork", open_then_fork },
		{ "open and close, then fork", open_and_close_then_fork },
		{ "inherited handles", inherited_handles_fail },
		{ "fork with a thread", thread_is_at_work },
	};
	int failed = 0;

	setvbuf(stdout, NULL, _IONBF, 0);

	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		scene = scenes[i].name;
		pid_t pid = fork();
		int status = 1;

		if (pid == 0) {
			scenes[i].run();
			_exit(0);
		}
		waitpid(pid, &status, 0);
		if (status) {
			printf("%s: failed, status 0x%x\n", scene, (unsigned)status);
			failed = 1;
		}
	}
	return failed;
}
