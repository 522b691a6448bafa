/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_random SEED CALLS: verbs with random arguments on a pool of objects. Flags, sizes, handles
 * of the pool, keys and numbers are drawn; pointers are valid. Every call returns 0 or an errno of
 * the manual pages, and a call that returns NULL sets errno. Prints the first violation.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POOL = 6, SIZE = 4096, LIST = 8 };

static struct {
	struct ibv_context *context;
	struct ibv_pd *pd[POOL];
	struct ibv_cq *cq[POOL];
	struct ibv_qp *qp[POOL];
	struct ibv_srq *srq[POOL];
	struct ibv_mr *mr[POOL];
	struct ibv_ah *ah[POOL];
	struct ibv_mw *mw[POOL];
	char bytes[SIZE];
} rig;

static const char *call = "setup";
static uint64_t state;

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static unsigned below(unsigned n)
{
	return (unsigned)(draw() % n);
}

/* Small, at a power of two, or anything. */
static uint64_t number(void)
{
	switch (below(4)) {
	case 0:
		return below(4);
	case 1:
		return (UINT64_C(1) << below(64)) - below(2);
	case 2:
		return below(256);
	default:
		return draw();
	}
}

/* Mostly few bits. */
static uint32_t flags(void)
{
	if (below(3) == 0)
		return (uint32_t)number();
	uint64_t first = draw(), second = draw(), third = draw();

	return (uint32_t)(first & second & third) & 0xFF;
}

static void check(int error)
{
	static const int known[] = { 0,      EINVAL, ENOMEM,  EOPNOTSUPP, EPERM,     EBUSY, EFAULT,
				     ENOENT, EAGAIN, ENODATA, EMSGSIZE,   ETIMEDOUT, ENODEV };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (error == known[i])
			return;
	printf("%s: errno %d\n", call, error);
	exit(1);
}

static void *made(void *object)
{
	if (!object) {
		if (errno == 0) {
			printf("%s: NULL without errno\n", call);
			exit(1);
		}
		check(errno);
	}
	return object;
}

#define ANY(pool) (rig.pool[below(POOL)])

/* Replaces an object of a pool: the old one is destroyed, or in use and stays. */
#define RENEW(pool, destroy, make)                     \
	do {                                           \
		unsigned at = below(POOL);             \
		int error = 0;                         \
                                                       \
		call = #destroy;                       \
		if (rig.pool[at])                      \
			error = destroy(rig.pool[at]); \
		check(error);                          \
		if (error)                             \
			break;                         \
		rig.pool[at] = NULL;                   \
		call = #make;                          \
		errno = 0;                             \
		rig.pool[at] = made(make());           \
	} while (0)

static struct ibv_pd *make_pd(void)
{
	return ibv_alloc_pd(rig.context);
}

static struct ibv_cq *make_cq(void)
{
	struct ibv_cq_init_attr_ex a = { .cqe = (uint32_t)number() & 0xFFFF,
					 .comp_vector = below(2),
					 .wc_flags = flags(),
					 .comp_mask = below(4),
					 .flags = flags(),
					 .parent_domain = ANY(pd) };

	if (below(2))
		return ibv_create_cq(rig.context, (int)number() & 0xFFFF, NULL, NULL, 0);
	struct ibv_cq_ex *ex = ibv_create_cq_ex(rig.context, &a);

	return ex ? ibv_cq_ex_to_cq(ex) : NULL;
}

static struct ibv_srq *make_srq(void)
{
	struct ibv_srq_init_attr a = { .attr = { (uint32_t)number() & 0xFFFF, below(64),
						 below(100) } };

	if (!ANY(pd))
		return errno = EAGAIN, NULL;
	struct ibv_pd *pd = ANY(pd);

	return pd ? ibv_create_srq(pd, &a) : (errno = EAGAIN, NULL);
}

static struct ibv_qp *make_qp(void)
{
	struct ibv_qp_init_attr_ex a = {
		.send_cq = ANY(cq),
		.recv_cq = ANY(cq),
		.srq = below(3) ? NULL : ANY(srq),
		.cap = { below(64), below(64), below(8), below(8), below(300) },
		.qp_type = (enum ibv_qp_type)(below(4) ? 2 + below(3) : below(12)),
		.sq_sig_all = (int)below(2),
		.comp_mask = IBV_QP_INIT_ATTR_PD | (below(3) ? 0 : below(256)),
		.pd = ANY(pd),
		.create_flags = below(3) ? 0 : flags(),
		.send_ops_flags = number(),
	};

	/* An XRC domain would be a pointer. */
	a.comp_mask &= ~(uint32_t)IBV_QP_INIT_ATTR_XRCD;
	return a.pd ? ibv_create_qp_ex(rig.context, &a) : (errno = EAGAIN, NULL);
}

static struct ibv_mr *make_mr(void)
{
	struct ibv_pd *pd = ANY(pd);
	size_t length = below(2) ? below(SIZE) : (size_t)number();

	return pd ? ibv_reg_mr_iova2(pd, rig.bytes, length, number(), flags())
		  : (errno = EAGAIN, NULL);
}

static struct ibv_ah *make_ah(void)
{
	struct ibv_pd *pd = ANY(pd);
	struct ibv_ah_attr a = { .dlid = (uint16_t)number(),
				 .sl = (uint8_t)below(20),
				 .is_global = (uint8_t)below(2),
				 .port_num = (uint8_t)below(3),
				 .grh = { .sgid_index = (uint8_t)below(3) } };

	return pd ? ibv_create_ah(pd, &a) : (errno = EAGAIN, NULL);
}

static struct ibv_mw *make_mw(void)
{
	struct ibv_pd *pd = ANY(pd);

	return pd ? ibv_alloc_mw(pd, (enum ibv_mw_type)below(4)) : (errno = EAGAIN, NULL);
}

/* ---- calls on objects */

static void modify_qp(void)
{
	struct ibv_qp *qp = ANY(qp);
	struct ibv_qp_attr a = { .qp_state = (enum ibv_qp_state)below(8),
				 .path_mtu = (enum ibv_mtu)below(8),
				 .qkey = (uint32_t)number(),
				 .rq_psn = (uint32_t)number(),
				 .sq_psn = (uint32_t)number(),
				 .dest_qp_num = ANY(qp) ? rig.qp[0] ? rig.qp[0]->qp_num : 1 : 7,
				 .qp_access_flags = flags(),
				 .pkey_index = (uint16_t)below(3),
				 .max_rd_atomic = (uint8_t)number(),
				 .max_dest_rd_atomic = (uint8_t)number(),
				 .min_rnr_timer = (uint8_t)below(40),
				 .port_num = (uint8_t)below(3),
				 .timeout = (uint8_t)below(12),
				 .retry_cnt = (uint8_t)below(9),
				 .rnr_retry = (uint8_t)below(7),
				 .ah_attr = { .dlid = (uint16_t)below(4), .port_num = 1 } };
	static const int masks[] = {
		IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
		IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY,
		IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
		IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
		IBV_QP_STATE,
	};

	call = "ibv_modify_qp";
	if (qp)
		check(ibv_modify_qp(qp, &a, below(4) ? masks[below(5)] : (int)number()));
}

static unsigned draw_list(struct ibv_sge *list)
{
	unsigned n = below(LIST);

	for (unsigned i = 0; i < n; i++) {
		const struct ibv_mr *mr = ANY(mr);

		list[i] = (struct ibv_sge){ (uintptr_t)rig.bytes + below(SIZE / 2),
					    below(3) ? below(SIZE / 2) : (uint32_t)number(),
					    mr && below(4) ? mr->lkey : (uint32_t)number() };
	}
	return n;
}

static void post(bool receives)
{
	struct ibv_qp *qp = ANY(qp);
	struct ibv_srq *srq = ANY(srq);
	const struct ibv_mr *mr = ANY(mr);
	struct ibv_sge list[LIST];
	unsigned n = draw_list(list);
	struct ibv_recv_wr *bad_recv, recv = { .sg_list = list, .num_sge = (int)n };
	struct ibv_send_wr *bad, wr = { .sg_list = list,
					.num_sge = (int)n,
					.opcode = (enum ibv_wr_opcode)below(17),
					.send_flags = below(2) ? 2 : flags(),
					.imm_data = (uint32_t)number() };

	/* Inline data is read from these addresses. */
	for (unsigned i = 0; i < n; i++)
		if (wr.send_flags & IBV_SEND_INLINE)
			list[i].length %= SIZE / 2;
	if (wr.opcode == IBV_WR_BIND_MW) {
		wr.bind_mw.mw = ANY(mw);
		wr.bind_mw.rkey = (uint32_t)number();
		wr.bind_mw.bind_info =
			(struct ibv_mw_bind_info){ ANY(mr), number(), number(), flags() };
	} else if (qp && qp->qp_type == IBV_QPT_UD) {
		wr.wr.ud.ah = ANY(ah);
		wr.wr.ud.remote_qpn = (uint32_t)number();
	} else {
		wr.wr.atomic.remote_addr = (uintptr_t)rig.bytes + below(SIZE);
		wr.wr.atomic.rkey = mr ? mr->rkey : (uint32_t)number();
		wr.wr.rdma.rkey = wr.wr.atomic.rkey;
	}
	call = receives ? "ibv_post_recv" : "ibv_post_send";
	if (receives && srq && below(2))
		check(ibv_post_srq_recv(srq, &recv, &bad_recv));
	else if (receives && qp)
		check(ibv_post_recv(qp, &recv, &bad_recv));
	else if (qp)
		check(ibv_post_send(qp, &wr, &bad));
}

static void others(void)
{
	struct ibv_cq *cq = ANY(cq);
	struct ibv_srq *srq = ANY(srq);
	struct ibv_mr *mr = ANY(mr);
	struct ibv_srq_attr a = { below(100), below(8), below(100) };
	struct ibv_async_event e;
	struct ibv_port_attr port;
	struct ibv_wc wc[4];
	union ibv_gid gid;
	__be16 pkey;

	call = "ibv_poll_cq";
	if (cq && ibv_poll_cq(cq, (int)below(5), wc) < -1)
		check(-1);
	call = "ibv_resize_cq";
	if (cq && below(8) == 0)
		check(ibv_resize_cq(cq, (int)(number() & 0xFFFF)));
	call = "ibv_req_notify_cq";
	if (cq)
		check(ibv_req_notify_cq(cq, (int)below(2)));
	call = "ibv_modify_srq";
	if (srq)
		check(ibv_modify_srq(srq, &a, (int)below(8)));
	call = "ibv_rereg_mr";
	if (mr && below(4) == 0 &&
	    ibv_rereg_mr(mr, (int)below(16), mr->pd, rig.bytes, below(SIZE), (int)flags()) != 0)
		check(errno);
	call = "ibv_query_port";
	check(ibv_query_port(rig.context, (uint8_t)number(), &port));
	call = "ibv_query_gid";
	if (ibv_query_gid(rig.context, (uint8_t)below(3), (int)number(), &gid))
		check(errno);
	call = "ibv_query_pkey";
	if (ibv_query_pkey(rig.context, (uint8_t)below(3), (int)number(), &pkey))
		check(errno);
	while (ibv_get_async_event(rig.context, &e) == 0)
		ibv_ack_async_event(&e);
}

static void step(void)
{
	switch (below(16)) {
	case 0:
		RENEW(pd, ibv_dealloc_pd, make_pd);
		break;
	case 1:
		RENEW(cq, ibv_destroy_cq, make_cq);
		break;
	case 2:
		RENEW(srq, ibv_destroy_srq, make_srq);
		break;
	case 3:
		RENEW(qp, ibv_destroy_qp, make_qp);
		break;
	case 4:
		RENEW(mr, ibv_dereg_mr, make_mr);
		break;
	case 5:
		RENEW(ah, ibv_destroy_ah, make_ah);
		break;
	case 6:
		RENEW(mw, ibv_dealloc_mw, make_mw);
		break;
	case 7:
	case 8:
	case 9:
		modify_qp();
		break;
	case 10:
	case 11:
		post(true);
		break;
	case 12:
	case 13:
	case 14:
		post(false);
		break;
	default:
		others();
	}
}

int main(int n, char **args)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	state = (n > 1 ? strtoull(args[1], NULL, 0) : 1) * UINT64_C(0x9E3779B97F4A7C15) + 1;
	rig.context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	if (!rig.context)
		return 1;
	ibv_free_device_list(list);
	fcntl(rig.context->async_fd, F_SETFL, O_NONBLOCK);
	for (long i = n > 2 ? strtol(args[2], NULL, 10) : 10000; i > 0; i--)
		step();
	return 0;
}
