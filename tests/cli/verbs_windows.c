/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_windows: memory windows, invalidation and atomic writes, as the InfiniBand Architecture
 * Specification defines them (10.6.7, 9.4.1.1, 9.7.5.2 and annex A19). Each step states the status
 * of the completion and whether memory changes. Prints the first difference.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs_pair.h"

enum { SIZE = 256, FROM = 64, LENGTH = 128 };

static const unsigned all_remote =
	IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

/* Queue pairs 0 and 1 are connected, and 2 and 3. The odd ones respond. */
static struct {
	_Alignas(64) uint8_t here[SIZE], there[SIZE];
	struct ibv_context *context;
	struct ibv_pd *pd, *other_pd;
	struct ibv_cq *cq[4];
	struct ibv_qp *qp[4];
	struct ibv_mr *here_mr, *region;
	uint16_t lid;
} rig;

static const char *step = "setup";

static void demand(bool holds, const char *what)
{
	if (holds)
		return;
	printf("%s: %s (errno %d)\n", step, what, errno);
	exit(1);
}

static void make_queue_pairs(void)
{
	const struct pair_rules rules = {
		.lid = rig.lid, .access = all_remote, .timeout = 8, .retries = 1
	};

	for (int i = 0; i < 4; i++) {
		struct ibv_qp_init_attr init = { .send_cq = rig.cq[i],
						 .recv_cq = rig.cq[i],
						 .cap = { 8, 8, 1, 1, 0 },
						 .qp_type = IBV_QPT_RC,
						 .sq_sig_all = 1 };

		rig.qp[i] = ibv_create_qp(rig.pd, &init);
		demand(rig.qp[i] != NULL, "no queue pair");
	}
	for (int i = 0; i < 4; i++)
		demand(!pair_raise(rig.qp[i], rig.qp[i ^ 1], &rules), "not connected");
}

static void drop_queue_pairs(void)
{
	for (int i = 0; i < 4; i++)
		demand(ibv_destroy_qp(rig.qp[i]) == 0, "destroy");
}

static struct ibv_wc completion_of(int i)
{
	struct ibv_wc wc;
	int got;

	while ((got = ibv_poll_cq(rig.cq[i], 1, &wc)) == 0)
		;
	demand(got == 1, "poll");
	return wc;
}

static void expect(int i, enum ibv_wc_opcode opcode, enum ibv_wc_status status, const char *name)
{
	struct ibv_wc wc = completion_of(i);

	step = name;
	errno = (int)wc.status;
	demand(wc.status == status, "another status");
	demand(status != IBV_WC_SUCCESS || wc.opcode == opcode, "another opcode");
}

static int post(int i, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	return ibv_post_send(rig.qp[i], wr, &bad);
}

struct remote {
	uint32_t key, length;
	uint64_t address;
};

static struct remote remote(uint32_t key, uint64_t address, uint32_t length)
{
	return (struct remote){ key, length, address };
}

/* Moves bytes by queue pair `i`; a write must change memory exactly if it succeeds. */
static void move(int i, enum ibv_wr_opcode op, struct remote to, enum ibv_wc_status status,
		 const char *name)
{
	struct ibv_sge s = { (uintptr_t)rig.here, to.length, rig.here_mr->lkey };
	struct ibv_send_wr wr = { .opcode = op, .sg_list = &s, .num_sge = 1 };
	uint8_t before[SIZE];

	step = name;
	memset(rig.here, 1, SIZE);
	memset(rig.there, 2, SIZE);
	memcpy(before, rig.there, SIZE);
	wr.wr.rdma.rkey = to.key;
	wr.wr.rdma.remote_addr = to.address;
	demand(post(i, &wr) == 0, "post");
	expect(i,
	       op == IBV_WR_RDMA_READ      ? IBV_WC_RDMA_READ
	       : op == IBV_WR_ATOMIC_WRITE ? IBV_WC_ATOMIC_WRITE
					   : IBV_WC_RDMA_WRITE,
	       status, name);
	bool changed = memcmp(before, rig.there, SIZE) != 0;

	demand(changed == (op != IBV_WR_RDMA_READ && status == IBV_WC_SUCCESS),
	       "memory changed, or did not");
}

static uint64_t at(unsigned offset)
{
	return (uintptr_t)rig.there + offset;
}

/* ---- type 1 */

static int bind_1(struct ibv_mw *mw, struct ibv_mr *mr, uint64_t address, uint64_t length,
		  unsigned access)
{
	struct ibv_mw_bind b = { .send_flags = IBV_SEND_SIGNALED,
				 .bind_info = { mr, address, length, access } };

	return ibv_bind_mw(rig.qp[1], mw, &b);
}

static void bound_1(struct ibv_mw *mw, uint64_t address, uint64_t length, unsigned access)
{
	demand(bind_1(mw, length ? rig.region : NULL, address, length, access) == 0, "bind");
	expect(1, IBV_WC_BIND_MW, IBV_WC_SUCCESS, "bind type 1");
}

/* A request that is refused ends the connection: a new one is made. */
static void refused(uint32_t key, enum ibv_wr_opcode op, uint64_t address, uint32_t length,
		    const char *name)
{
	move(0, op, remote(key, address, length), IBV_WC_REM_ACCESS_ERR, name);
	drop_queue_pairs();
	make_queue_pairs();
}

static void try_type_1(void)
{
	struct ibv_mw *mw = ibv_alloc_mw(rig.pd, IBV_MW_TYPE_1);

	demand(mw != NULL, "alloc type 1");
	refused(mw->rkey, IBV_WR_RDMA_WRITE, at(FROM), 1, "key of an unbound window");
	bound_1(mw, at(FROM), LENGTH, IBV_ACCESS_REMOTE_WRITE);
	move(0, IBV_WR_RDMA_WRITE, remote(mw->rkey, at(FROM), LENGTH), IBV_WC_SUCCESS,
	     "whole window");
	move(0, IBV_WR_RDMA_WRITE, remote(mw->rkey, at(FROM + LENGTH - 1), 1), IBV_WC_SUCCESS,
	     "last byte");
	move(2, IBV_WR_RDMA_WRITE, remote(mw->rkey, at(FROM), 1), IBV_WC_SUCCESS,
	     "another queue pair of the domain");
	refused(mw->rkey, IBV_WR_RDMA_WRITE, at(FROM - 1), 1, "byte before the window");
	refused(mw->rkey, IBV_WR_RDMA_WRITE, at(FROM), LENGTH + 1, "byte behind the window");
	refused(mw->rkey, IBV_WR_RDMA_READ, at(FROM), 1, "read without the right");
	refused(rig.region->rkey, IBV_WR_RDMA_WRITE, at(FROM), 1, "key of the region");
	step = "deregister under a window";
	demand(ibv_dereg_mr(rig.region) == EBUSY, "is not refused");
	uint32_t old = mw->rkey;

	bound_1(mw, at(0), 8, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ZERO_BASED);
	demand(mw->rkey != old, "the key stays");
	refused(old, IBV_WR_RDMA_WRITE, at(FROM), 1, "key of the earlier binding");
	move(0, IBV_WR_RDMA_READ, remote(mw->rkey, 0, 8), IBV_WC_SUCCESS, "zero-based window");
	refused(mw->rkey, IBV_WR_RDMA_READ, at(0), 8, "address in a zero-based window");
	bound_1(mw, 0, 0, 0);
	refused(mw->rkey, IBV_WR_RDMA_READ, 0, 1, "window that was bound to nothing");
	demand(ibv_dealloc_mw(mw) == 0, "dealloc");
}

/* ---- type 2 */

static int bind_2(int i, struct ibv_mw *mw, uint32_t key, struct ibv_mr *mr, uint64_t length,
		  unsigned access)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW };

	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = key;
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info){ mr, at(FROM), length, access };
	return post(i, &wr);
}

static void bound_2(int i, struct ibv_mw *mw, uint32_t key)
{
	demand(bind_2(i, mw, key, rig.region, LENGTH, IBV_ACCESS_REMOTE_WRITE) == 0, "bind");
	expect(i, IBV_WC_BIND_MW, IBV_WC_SUCCESS, "bind type 2");
}

static void not_bound(struct ibv_mw *mw, uint32_t key, struct ibv_mr *mr, uint64_t length,
		      unsigned access, const char *name)
{
	step = name;
	demand(bind_2(1, mw, key, mr, length, access) == 0, "post");
	expect(1, IBV_WC_BIND_MW, IBV_WC_MW_BIND_ERR, name);
	drop_queue_pairs();
	make_queue_pairs();
}

static int invalidate(int i, uint32_t key)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_LOCAL_INV, .invalidate_rkey = key };

	return post(i, &wr);
}

/* Sends a byte that invalidates a key at the receiver. */
static void send_invalidate(int i, uint32_t key, enum ibv_wc_status status, const char *name)
{
	struct ibv_sge s = { (uintptr_t)rig.here, 1, rig.here_mr->lkey };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND_WITH_INV, .invalidate_rkey = key, .sg_list = &s, .num_sge = 1
	};
	struct ibv_sge to = { (uintptr_t)rig.here + 8, 8, rig.here_mr->lkey };
	struct ibv_recv_wr *bad, recv = { .sg_list = &to, .num_sge = 1 };

	step = name;
	demand(ibv_post_recv(rig.qp[i ^ 1], &recv, &bad) == 0 && post(i, &wr) == 0, "post");
	expect(i, IBV_WC_SEND, status, name);
	struct ibv_wc wc = completion_of(i ^ 1);

	if (status == IBV_WC_SUCCESS)
		demand(wc.status == IBV_WC_SUCCESS && wc.wc_flags & IBV_WC_WITH_INV &&
			       wc.invalidated_rkey == key,
		       "the receiver's completion");
	else
		demand(wc.status != IBV_WC_SUCCESS, "the receive completes");
}

static void try_type_2(void)
{
	struct ibv_mw *mw = ibv_alloc_mw(rig.pd, IBV_MW_TYPE_2);
	unsigned writes = IBV_ACCESS_LOCAL_WRITE;
	struct ibv_mr *plain = ibv_reg_mr(rig.pd, rig.there, SIZE, (int)(writes | all_remote));
	struct ibv_mr *fixed = ibv_reg_mr(rig.pd, rig.there, SIZE, IBV_ACCESS_MW_BIND);
	struct ibv_mr *foreign =
		ibv_reg_mr(rig.other_pd, rig.there, SIZE, (int)(writes | IBV_ACCESS_MW_BIND));

	demand(mw && plain && fixed && foreign, "alloc type 2");
	uint32_t key = ibv_inc_rkey(mw->rkey), next = ibv_inc_rkey(key);

	not_bound(mw, key, plain, LENGTH, IBV_ACCESS_REMOTE_READ, "region without MW_BIND");
	not_bound(mw, key, fixed, LENGTH, IBV_ACCESS_REMOTE_WRITE, "region without LOCAL_WRITE");
	not_bound(mw, key, foreign, LENGTH, IBV_ACCESS_REMOTE_READ, "region of another domain");
	not_bound(mw, key, rig.region, SIZE, IBV_ACCESS_REMOTE_READ, "beyond the region");
	not_bound(mw, key + 256, rig.region, LENGTH, IBV_ACCESS_REMOTE_READ,
		  "key of another index");
	not_bound(mw, key, rig.region, 0, IBV_ACCESS_REMOTE_READ, "no bytes");
	bound_2(1, mw, key);
	move(0, IBV_WR_RDMA_WRITE, remote(key, at(FROM), LENGTH), IBV_WC_SUCCESS, "bound type 2");
	move(2, IBV_WR_RDMA_WRITE, remote(key, at(FROM), 1), IBV_WC_REM_ACCESS_ERR,
	     "another queue pair");
	step = "bind twice";
	demand(bind_2(1, mw, next, rig.region, LENGTH, IBV_ACCESS_REMOTE_WRITE) == 0, "post");
	expect(1, IBV_WC_BIND_MW, IBV_WC_MW_BIND_ERR, "bind twice");
	drop_queue_pairs();
	make_queue_pairs();
	/* Destroying the queue pair left the window bound to nothing that exists. */
	refused(key, IBV_WR_RDMA_WRITE, at(FROM), 1, "queue pair of the window is gone");
	demand(ibv_dealloc_mw(mw) == 0, "dealloc");
	demand(!ibv_dereg_mr(plain) && !ibv_dereg_mr(fixed) && !ibv_dereg_mr(foreign), "dereg");
}

static void try_invalidate(void)
{
	struct ibv_mw *mw = ibv_alloc_mw(rig.pd, IBV_MW_TYPE_2);
	uint32_t key = ibv_inc_rkey(mw->rkey);

	bound_2(1, mw, key);
	demand(invalidate(1, key) == 0, "post");
	expect(1, IBV_WC_LOCAL_INV, IBV_WC_SUCCESS, "local invalidate");
	refused(key, IBV_WR_RDMA_WRITE, at(FROM), 1, "key after a local invalidate");
	bound_2(1, mw, key);
	send_invalidate(2, key, IBV_WC_REM_ACCESS_ERR, "invalidate by another queue pair");
	move(0, IBV_WR_RDMA_WRITE, remote(key, at(FROM), 1), IBV_WC_SUCCESS, "key after that");
	send_invalidate(0, key, IBV_WC_SUCCESS, "remote invalidate");
	refused(key, IBV_WR_RDMA_WRITE, at(FROM), 1, "key after a remote invalidate");
	send_invalidate(0, rig.region->rkey, IBV_WC_REM_ACCESS_ERR, "invalidate a region");
	demand(invalidate(3, key) == 0, "post");
	expect(3, IBV_WC_LOCAL_INV, IBV_WC_LOC_QP_OP_ERR, "invalidate nothing");
	demand(ibv_dealloc_mw(mw) == 0, "dealloc");
	drop_queue_pairs();
	make_queue_pairs();
}

/* ---- atomic writes */

static void try_atomic_write(void)
{
	struct ibv_mr *mr = ibv_reg_mr(rig.pd, rig.there, SIZE, (int)(1U | all_remote));

	demand(mr != NULL, "register");
	move(0, IBV_WR_ATOMIC_WRITE, remote(mr->rkey, at(8), 8), IBV_WC_SUCCESS, "atomic write");
	move(0, IBV_WR_ATOMIC_WRITE, remote(mr->rkey, at(4), 8), IBV_WC_REM_INV_REQ_ERR,
	     "atomic write across 8 bytes");
	move(2, IBV_WR_ATOMIC_WRITE, remote(mr->rkey, at(8), 4), IBV_WC_LOC_LEN_ERR,
	     "atomic write of 4 bytes");
	demand(ibv_dereg_mr(mr) == 0, "deregister");
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_port_attr port;

	rig.context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	demand(rig.context != NULL && !ibv_query_port(rig.context, 1, &port), "no adapter");
	ibv_free_device_list(list);
	rig.lid = port.lid;
	rig.pd = ibv_alloc_pd(rig.context);
	rig.other_pd = ibv_alloc_pd(rig.context);
	for (int i = 0; i < 4; i++)
		rig.cq[i] = ibv_create_cq(rig.context, 32, NULL, NULL, 0);
	rig.here_mr = ibv_reg_mr(rig.pd, rig.here, SIZE, IBV_ACCESS_LOCAL_WRITE);
	rig.region =
		ibv_reg_mr(rig.pd, rig.there, SIZE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	demand(rig.here_mr && rig.region && rig.cq[3], "no objects");
	make_queue_pairs();
	try_type_1();
	try_type_2();
	try_invalidate();
	try_atomic_write();
	drop_queue_pairs();
	step = "end";
	demand(ibv_dereg_mr(rig.region) == 0, "deregister");
	return 0;
}
