/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_flags: every word of flags that verbs take, each bit alone and bits in
 * random combinations. The adapter accepts exactly the bits that the tables
 * below list, refuses all others with EOPNOTSUPP (EINVAL where the word is not
 * an extension), and never leaves a function pointer NULL. Prints the first
 * violation.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs_pair.h"

enum { SIZE = 256, COMBINATIONS = 200 };

static struct {
	struct ibv_context *context;
	struct ibv_pd *pd, *parent;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint16_t lid;
	_Alignas(64) uint8_t here[SIZE], there[SIZE];
} rig;

static const char *word = "setup";
static uint64_t bits;

static void demand(bool holds, const char *what)
{
	if (holds)
		return;
	printf("%s 0x%llx: %s (errno %d)\n", word, (unsigned long long)bits, what, errno);
	exit(1);
}

/* Marsaglia's xorshift: the same combinations in every run. */
static uint64_t draw(void)
{
	static uint64_t x = 88172645463325252ULL;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

/* An eighth of all bits is set, in the mean. */
static uint64_t draw_few(void)
{
	uint64_t few = draw();

	few &= draw();
	return few & draw();
}

/*
 * A word of flags: `accepted` alone work, any other is refused with `refusal`.
 * `attempt` returns an errno, and undoes what it made.
 */
struct word {
	const char *name;
	uint64_t accepted;
	unsigned width;
	int refusal;
	int (*attempt)(uint64_t flags);
};

static void try_flags(const struct word *w, uint64_t flags)
{
	word = w->name;
	bits = flags;
	errno = 0;
	int error = w->attempt(flags);

	errno = error;
	demand((flags & ~w->accepted) ? error == w->refusal : error == 0,
	       (flags & ~w->accepted) ? "is not refused as it should be" : "is refused");
}

static void try_word(const struct word *w)
{
	uint64_t all = w->width == 64 ? UINT64_MAX : (UINT64_C(1) << w->width) - 1;

	try_flags(w, 0);
	try_flags(w, w->accepted);
	try_flags(w, all);
	for (unsigned i = 0; i < w->width; i++)
		try_flags(w, UINT64_C(1) << i);
	for (unsigned i = 0; i < COMBINATIONS; i++) {
		uint64_t few = draw_few();

		try_flags(w, few & all);
		try_flags(w, few & w->accepted);
		try_flags(w, (few & w->accepted) | (UINT64_C(1) << draw() % w->width));
	}
}

/* No pointer between two members of a struct is NULL. */
#define DEMAND_FUNCTIONS(object, first, last)                              \
	do {                                                               \
		void **at = (void **)&(object)->first;                     \
		void **end = (void **)&(object)->last;                     \
                                                                           \
		for (; at <= end; at++)                                    \
			demand(*at != NULL, "a function pointer is NULL"); \
	} while (0)

/* ---- queue pairs */

static struct ibv_qp_init_attr_ex plain(enum ibv_qp_type type)
{
	return (struct ibv_qp_init_attr_ex){
		.send_cq = rig.cq,
		.recv_cq = rig.cq,
		.cap = { 8, 8, 1, 1, 64 },
		.qp_type = type,
		.sq_sig_all = 1,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = rig.pd,
	};
}

static int make_qp(struct ibv_qp_init_attr_ex *init)
{
	struct ibv_qp *qp = ibv_create_qp_ex(rig.context, init);

	if (!qp)
		return errno;
	struct ibv_qp_ex *x = ibv_qp_to_qp_ex(qp);

	if (x)
		DEMAND_FUNCTIONS(x, wr_atomic_cmp_swp, wr_atomic_write);
	demand((x != NULL) == !!(init->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS),
	       "it is extended though not asked for, or not though asked for");
	demand(ibv_destroy_qp(qp) == 0, "destroy");
	return 0;
}

static int qp_comp_mask(uint64_t flags)
{
	struct ibv_qp_init_attr_ex init = plain(IBV_QPT_RC);

	init.comp_mask |= (uint32_t)flags;
	return make_qp(&init);
}

static int qp_create_flags(uint64_t flags)
{
	struct ibv_qp_init_attr_ex init = plain(IBV_QPT_UD);

	init.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
	init.create_flags = (uint32_t)flags;
	return make_qp(&init);
}

static int send_ops(enum ibv_qp_type type, uint64_t flags)
{
	struct ibv_qp_init_attr_ex init = plain(type);

	init.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	init.send_ops_flags = flags;
	return make_qp(&init);
}

static int send_ops_rc(uint64_t flags)
{
	return send_ops(IBV_QPT_RC, flags);
}

static int send_ops_uc(uint64_t flags)
{
	return send_ops(IBV_QPT_UC, flags);
}

static int send_ops_ud(uint64_t flags)
{
	return send_ops(IBV_QPT_UD, flags);
}

/* To INIT, with these remote rights. */
static int qp_access(uint64_t flags)
{
	struct ibv_qp_init_attr_ex init = plain(IBV_QPT_RC);
	struct ibv_qp *qp = ibv_create_qp_ex(rig.context, &init);
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT,
				 .port_num = 1,
				 .qp_access_flags = (unsigned)flags };

	demand(qp != NULL, "no queue pair");
	int error = ibv_modify_qp(
		qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);

	ibv_destroy_qp(qp);
	return error;
}

/* Attributes beyond those that RESET to INIT needs. */
static int modify_mask(uint64_t flags)
{
	struct ibv_qp_init_attr_ex init = plain(IBV_QPT_RC);
	struct ibv_qp *qp = ibv_create_qp_ex(rig.context, &init);
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

	demand(qp != NULL, "no queue pair");
	int error = ibv_modify_qp(qp, &a,
				  (int)flags | IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					  IBV_QP_ACCESS_FLAGS);

	ibv_destroy_qp(qp);
	return error;
}

/* ---- completion queues and shared receive queues */

static int make_cq(struct ibv_cq_init_attr_ex *init)
{
	struct ibv_cq_ex *cq = ibv_create_cq_ex(rig.context, init);

	if (!cq)
		return errno;
	DEMAND_FUNCTIONS(cq, start_poll, read_completion_wallclock_ns);
	demand(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)) == 0, "destroy");
	return 0;
}

static int cq_comp_mask(uint64_t flags)
{
	return make_cq(&(struct ibv_cq_init_attr_ex){
		.cqe = 4, .comp_mask = (uint32_t)flags, .parent_domain = rig.parent });
}

static int cq_flags(uint64_t flags)
{
	return make_cq(&(struct ibv_cq_init_attr_ex){
		.cqe = 4, .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS, .flags = (uint32_t)flags });
}

static int cq_wc_flags(uint64_t flags)
{
	return make_cq(&(struct ibv_cq_init_attr_ex){ .cqe = 4, .wc_flags = flags });
}

static int poll_comp_mask(uint64_t flags)
{
	struct ibv_cq_init_attr_ex init = { .cqe = 4 };
	struct ibv_cq_ex *cq = ibv_create_cq_ex(rig.context, &init);
	struct ibv_poll_cq_attr a = { (uint32_t)flags };

	demand(cq != NULL, "no completion queue");
	int error = ibv_start_poll(cq, &a);

	ibv_destroy_cq(ibv_cq_ex_to_cq(cq));
	return error == ENOENT ? 0 : error;
}

static int srq_comp_mask(uint64_t flags)
{
	struct ibv_srq_init_attr_ex init = {
		.attr = { .max_wr = 4, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_PD | (uint32_t)flags,
		.srq_type = IBV_SRQT_BASIC,
		.pd = rig.pd,
	};
	struct ibv_srq *srq = ibv_create_srq_ex(rig.context, &init);

	if (!srq)
		return errno;
	demand(ibv_destroy_srq(srq) == 0, "destroy");
	return 0;
}

static int srq_mask(uint64_t flags)
{
	struct ibv_srq_init_attr init = { .attr = { 4, 1, 0 } };
	struct ibv_srq *srq = ibv_create_srq(rig.pd, &init);
	struct ibv_srq_attr a = { .max_wr = 4, .srq_limit = 1 };

	demand(srq != NULL, "no shared receive queue");
	int error = ibv_modify_srq(srq, &a, (int)flags);

	ibv_destroy_srq(srq);
	return error;
}

/* ---- memory regions, devices */

/* Local write comes along, since rights to write remotely need it. */
static int region_access(uint64_t flags)
{
	struct ibv_mr *mr = ibv_reg_mr(rig.pd, rig.here, SIZE, (int)flags | IBV_ACCESS_LOCAL_WRITE);

	if (!mr)
		return errno;
	demand(ibv_dereg_mr(mr) == 0, "deregister");
	return 0;
}

static int rereg(uint64_t flags)
{
	struct ibv_mr *mr = ibv_reg_mr(rig.pd, rig.here, SIZE, IBV_ACCESS_LOCAL_WRITE);

	demand(mr != NULL, "register");
	int failed = ibv_rereg_mr(mr, (int)flags, rig.pd, rig.there, SIZE, IBV_ACCESS_LOCAL_WRITE);
	int error = failed ? errno : 0;

	ibv_dereg_mr(mr);
	return error;
}

static int device_comp_mask(uint64_t flags)
{
	struct ibv_device_attr_ex a;
	struct ibv_query_device_ex_input in = { (uint32_t)flags };

	return ibv_query_device_ex(rig.context, &in, &a);
}

static int gid_flags(uint64_t flags)
{
	struct ibv_gid_entry e;

	return ibv_query_gid_ex(rig.context, 1, 0, &e, (uint32_t)flags);
}

/* ---- sends */

static struct ibv_qp *pair[2];

static void make_pair(uint64_t ops)
{
	const struct pair_rules rules = {
		.lid = rig.lid,
		.access =
			IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
		.timeout = 14,
		.retries = 7,
		.rnr_retries = 7,
	};
	struct ibv_qp_init_attr_ex init = plain(IBV_QPT_RC);

	init.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	init.send_ops_flags = ops;
	for (int i = 0; i < 2; i++)
		pair[i] = ibv_create_qp_ex(rig.context, &init);
	demand(pair[0] && pair[1], "no queue pairs");
	for (int i = 0; i < 2; i++)
		demand(!pair_raise(pair[i], pair[!i], &rules), "not raised");
}

static void drop_pair(void)
{
	demand(ibv_destroy_qp(pair[0]) == 0 && ibv_destroy_qp(pair[1]) == 0, "destroy");
}

static void receive(void)
{
	struct ibv_sge s = { (uintptr_t)rig.there, SIZE, rig.mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &s, .num_sge = 1 };

	demand(ibv_post_recv(pair[1], &wr, &bad) == 0, "post a receive");
}

/* All completions of one send, and of the receive that it takes. */
static void finish(unsigned n)
{
	struct ibv_wc wc;

	while (n > 0) {
		int got = ibv_poll_cq(rig.cq, 1, &wc);

		demand(got >= 0, "poll");
		demand(got == 0 || wc.status == IBV_WC_SUCCESS, "completion");
		n -= (unsigned)got;
	}
}

static int send_flags(uint64_t flags)
{
	struct ibv_sge s = { (uintptr_t)rig.here, 8, rig.mr->lkey };
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_RDMA_WRITE,
					.send_flags = (unsigned)flags,
					.sg_list = &s,
					.num_sge = 1 };

	wr.wr.rdma.remote_addr = (uintptr_t)rig.there;
	wr.wr.rdma.rkey = rig.mr->rkey;
	int error = ibv_post_send(pair[0], &wr, &bad);

	if (!error)
		finish(1);
	return error;
}

static int built_flags(uint64_t flags)
{
	struct ibv_qp_ex *x = ibv_qp_to_qp_ex(pair[0]);

	ibv_wr_start(x);
	x->wr_flags = (unsigned)flags;
	ibv_wr_rdma_write(x, rig.mr->rkey, (uintptr_t)rig.there);
	ibv_wr_set_sge(x, rig.mr->lkey, (uintptr_t)rig.here, 8);
	x->wr_flags = 0;
	int error = ibv_wr_complete(x);

	if (!error)
		finish(1);
	return error;
}

/* ---- every operation, on queue pairs that asked for some of them */

/* Begins one; false if it takes no list of pieces. */
static bool begin(struct ibv_qp_ex *x, unsigned op)
{
	static const struct ibv_mw_bind_info nothing = { 0 };
	uint64_t at = (uintptr_t)rig.there;
	uint32_t key = rig.mr->rkey;

	switch (1U << op) {
	case IBV_QP_EX_WITH_RDMA_WRITE:
		ibv_wr_rdma_write(x, key, at);
		return true;
	case IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM:
		ibv_wr_rdma_write_imm(x, key, at, 7);
		return true;
	case IBV_QP_EX_WITH_SEND:
		ibv_wr_send(x);
		return true;
	case IBV_QP_EX_WITH_SEND_WITH_IMM:
		ibv_wr_send_imm(x, 7);
		return true;
	case IBV_QP_EX_WITH_RDMA_READ:
		ibv_wr_rdma_read(x, key, at);
		return true;
	case IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP:
		ibv_wr_atomic_cmp_swp(x, key, at, 1, 2);
		return true;
	case IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD:
		ibv_wr_atomic_fetch_add(x, key, at, 1);
		return true;
	case IBV_QP_EX_WITH_LOCAL_INV:
		ibv_wr_local_inv(x, key);
		return false;
	case IBV_QP_EX_WITH_BIND_MW:
		ibv_wr_bind_mw(x, NULL, key, &nothing);
		return false;
	case IBV_QP_EX_WITH_SEND_WITH_INV:
		ibv_wr_send_inv(x, key);
		return true;
	case IBV_QP_EX_WITH_TSO:
		ibv_wr_send_tso(x, rig.here, 8, 8);
		return true;
	case 1U << 11: /* no function is for this bit */
		ibv_wr_set_xrc_srqn(x, 1);
		return false;
	default:
		ibv_wr_atomic_write(x, key, at, rig.here);
		return false;
	}
}

static const unsigned with_receive =
	IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
/* Those that write 8 bytes of `here` to `there`. */
static const unsigned copies = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
			       IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;

static void try_operations(uint64_t ops)
{
	enum { OPERATIONS = 13, BYTES = 8 };

	word = "operation";
	make_pair(ops);
	struct ibv_qp_ex *x = ibv_qp_to_qp_ex(pair[0]);

	for (unsigned op = 0; op < OPERATIONS; op++) {
		bool is_there = ops >> op & 1;

		bits = UINT64_C(1) << op;
		memset(rig.here, (int)(draw() & 0xFF), BYTES);
		memset(rig.there, (int)(draw() & 0xFF), BYTES);
		if (is_there && bits & with_receive)
			receive();
		ibv_wr_start(x);
		if (begin(x, op))
			ibv_wr_set_sge(x, rig.mr->lkey, (uintptr_t)rig.here, BYTES);
		int error = ibv_wr_complete(x);

		errno = error;
		demand(error == (is_there ? 0 : EOPNOTSUPP), is_there ? "fails" : "is not refused");
		if (is_there)
			finish((bits & with_receive) ? 2 : 1);
		if (is_there && bits & (copies | IBV_QP_EX_WITH_RDMA_READ))
			demand(memcmp(rig.here, rig.there, BYTES) == 0, "copies other bytes");
	}
	drop_pair();
}

/* Inline data of what brings data back: refused, and nothing is posted. */
static void try_inline_read(void)
{
	struct ibv_qp_ex *x = ibv_qp_to_qp_ex(pair[0]);

	word = "inline data of a read";
	ibv_wr_start(x);
	ibv_wr_rdma_read(x, rig.mr->rkey, (uintptr_t)rig.there);
	ibv_wr_set_inline_data(x, rig.here, 8);
	demand(ibv_wr_complete(x) == EINVAL, "is not refused");
}

static void try_creation(void)
{
	struct ibv_device_attr a;

	demand(ibv_query_device(rig.context, &a) == 0, "no attributes");
	/* Windows, invalidation and atomic writes: not with the simulated clock. */
	const uint64_t rc = a.max_mw ? 0x13FF : 0x7F, uc = a.max_mw ? 0x38F : 0xF, ud = 0xC;
	const uint64_t granted = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
				 IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED | IBV_ACCESS_ON_DEMAND |
				 IBV_ACCESS_HUGETLB | IBV_ACCESS_OPTIONAL_RANGE;
	const struct word words[] = {
		{ "qp comp_mask",
		  IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS |
			  IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		  32, EOPNOTSUPP, qp_comp_mask },
		{ "create_flags", 0, 32, EOPNOTSUPP, qp_create_flags },
		{ "send_ops_flags of RC", rc, 64, EOPNOTSUPP, send_ops_rc },
		{ "send_ops_flags of UC", uc, 64, EOPNOTSUPP, send_ops_uc },
		{ "send_ops_flags of UD", ud, 64, EOPNOTSUPP, send_ops_ud },
		{ "qp_access_flags", granted, 32, EOPNOTSUPP, qp_access },
		{ "attr_mask",
		  IBV_QP_STATE | IBV_QP_CUR_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			  IBV_QP_ACCESS_FLAGS,
		  31, EINVAL, modify_mask },
		{ "cq comp_mask", IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD, 32,
		  EOPNOTSUPP, cq_comp_mask },
		{ "cq flags", IBV_CREATE_CQ_ATTR_SINGLE_THREADED, 32, EOPNOTSUPP, cq_flags },
		{ "wc_flags",
		  IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
			  IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK,
		  64, EOPNOTSUPP, cq_wc_flags },
		{ "poll comp_mask", 0, 32, EINVAL, poll_comp_mask },
		{ "srq comp_mask", IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD, 32, EOPNOTSUPP,
		  srq_comp_mask },
		{ "srq_attr_mask", IBV_SRQ_LIMIT, 31, EOPNOTSUPP, srq_mask },
		{ "access of a region", granted, 31, EOPNOTSUPP, region_access },
		{ "rereg flags", IBV_REREG_MR_FLAGS_SUPPORTED, 31, EOPNOTSUPP, rereg },
		{ "device comp_mask", 0, 32, EINVAL, device_comp_mask },
		{ "gid flags", 0, 32, EOPNOTSUPP, gid_flags },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		try_word(&words[i]);
}

/* ---- limits: what ibv_query_device says is accepted, one more is not */

static int cq_of(int cqe)
{
	struct ibv_cq *cq = ibv_create_cq(rig.context, cqe, NULL, NULL, 0);

	return cq ? ibv_destroy_cq(cq) : errno;
}

static int cq_resized(int cqe)
{
	int error = ibv_resize_cq(rig.cq, cqe);

	if (!error)
		demand(ibv_resize_cq(rig.cq, 64) == 0, "is not taken back");
	return error;
}

static int srq_of(int wr, int sge)
{
	struct ibv_srq_init_attr init = { .attr = { (uint32_t)wr, (uint32_t)sge, 0 } };
	struct ibv_srq *srq = ibv_create_srq(rig.pd, &init);

	return srq ? ibv_destroy_srq(srq) : errno;
}

static int qp_of_cap(struct ibv_qp_cap cap)
{
	struct ibv_qp_init_attr_ex init = plain(IBV_QPT_RC);

	init.cap = cap;
	return make_qp(&init);
}

static void try_limits(void)
{
	struct ibv_device_attr a;

	word = "limits";
	demand(ibv_query_device(rig.context, &a) == 0, "no attributes");
	for (int more = 0; more < 2; more++) {
		int expected = more ? EINVAL : 0;
		uint32_t wr = (uint32_t)(a.max_qp_wr + more);
		uint32_t sge = (uint32_t)(a.max_sge + more);

		bits = (uint64_t)more;
		demand(cq_of(a.max_cqe + more) == expected, "max_cqe");
		demand(cq_resized(a.max_cqe + more) == expected, "max_cqe, resized");
		demand(srq_of(a.max_srq_wr + more, 1) == expected, "max_srq_wr");
		demand(srq_of(1, a.max_srq_sge + more) == expected, "max_srq_sge");
		demand(qp_of_cap((struct ibv_qp_cap){ wr, 1, 1, 1, 0 }) == expected,
		       "max_qp_wr of sends");
		demand(qp_of_cap((struct ibv_qp_cap){ 1, wr, 1, 1, 0 }) == expected,
		       "max_qp_wr of receives");
		demand(qp_of_cap((struct ibv_qp_cap){ 1, 1, sge, 1, 0 }) == expected,
		       "max_sge of sends");
		demand(qp_of_cap((struct ibv_qp_cap){ 1, 1, 1, sge, 0 }) == expected,
		       "max_sge of receives");
	}
	demand(cq_of(0) == EINVAL && cq_resized(0) == EINVAL, "a completion queue without entries");
	demand(srq_of(0, 1) == EINVAL, "a shared queue without entries");
}

static void try_sending(void)
{
	const uint64_t all =
		IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE;
	const struct word words[] = {
		{ "send_flags", all, 32, EINVAL, send_flags },
		{ "wr_flags", all, 32, EINVAL, built_flags },
	};

	make_pair(0x7F);
	try_word(&words[0]);
	try_word(&words[1]);
	try_inline_read();
	drop_pair();
	for (uint64_t ops = 0; ops < 0x80; ops += 1 + draw() % 8)
		try_operations(ops);
	try_operations(0x7F);
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_port_attr port;

	rig.context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	demand(rig.context != NULL, "no adapter");
	rig.pd = ibv_alloc_pd(rig.context);
	rig.cq = ibv_create_cq(rig.context, 64, NULL, NULL, 0);
	demand(rig.pd && rig.cq && !ibv_query_port(rig.context, 1, &port), "no adapter");
	rig.lid = port.lid;
	rig.mr = ibv_reg_mr(rig.pd, &rig, sizeof(rig), 0xF);
	demand(rig.mr != NULL, "no region");
	struct ibv_parent_domain_init_attr parent = { .pd = rig.pd };

	rig.parent = ibv_alloc_parent_domain(rig.context, &parent);
	demand(rig.parent != NULL, "no parent domain");
	try_creation();
	try_limits();
	try_sending();
	return 0;
}
