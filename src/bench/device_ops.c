/* SPDX-License-Identifier: BSD-2-Clause */
/* MAP_ANONYMOUS is not POSIX. */
#define _DEFAULT_SOURCE
#include "bench/device_nic.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/iba.h"

#define LOOK_EVERY 1024 /* polls between looks at the clock */
#define PATIENCE   (30 * HD_S)
#define ASK_AFTER  (10 * HD_MS) /* whether the others are still there */

struct device_cq {
	struct ibv_cq *cq;
	struct ibv_comp_channel *channel;
	const struct device_lib *lib;
	pthread_t handler;
	sem_t wake;
	atomic_bool stop;
};

static struct device_nic *own(struct nic *nic)
{
	return (struct device_nic *)nic;
}

/* HD_OK if there is no error number. */
static enum hd_status refuse(struct nic *nic, const char *what, int why)
{
	nic->why.status = HD_OK;
	return why == 0 ? HD_OK : diag_fail(&nic->why, HD_ERR_ENV, "%s: %s", what, strerror(why));
}

static enum hd_status give_up(struct nic *nic, const char *why)
{
	nic->why.status = HD_OK;
	return diag_fail(&nic->why, HD_ERR_ENV, "%s", why);
}

/* For calls that say no more than that they failed. */
static int errno_or_other(void)
{
	return errno ? errno : EIO;
}

/* ---- time and memory -------------------------------------------------- */

static hd_time op_now(struct nic *nic)
{
	(void)nic;
	return clock_time();
}

static void op_work(struct nic *nic, hd_time duration)
{
	hd_time end = op_now(nic) + duration;

	while (op_now(nic) < end)
		;
}

static void *op_alloc(struct nic *nic, uint64_t bytes, bool huge)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | (huge ? MAP_HUGETLB : 0);
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);

	if (memory == MAP_FAILED) {
		(void)refuse(nic, huge ? "too few huge pages (vm.nr_hugepages)" : "mmap",
			     errno_or_other());
		return NULL;
	}
	memset(memory, 0, bytes); /* so that registering finds the pages */
	return memory;
}

static void op_release(struct nic *nic, void *memory, uint64_t bytes)
{
	(void)nic;
	munmap(memory, bytes);
}

static enum hd_status op_mr_new(struct nic *nic, void *addr, uint64_t len, bool huge,
				struct nic_mr *out)
{
	struct device_nic *n = own(nic);
	struct ibv_mr *mr =
		n->lib->reg_mr(n->pd, addr, len,
			       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				       IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);

	(void)huge;
	if (!mr)
		return refuse(nic, "ibv_reg_mr", errno_or_other());
	*out = (struct nic_mr){ mr, (uint64_t)(uintptr_t)addr, mr->lkey, mr->rkey };
	return HD_OK;
}

static void op_mr_free(struct nic *nic, struct nic_mr *mr)
{
	own(nic)->lib->dereg_mr(mr->impl);
}

static enum hd_status over(struct nic *nic, const char *what, uint32_t asked, int most)
{
	nic->why.status = HD_OK;
	return diag_fail(&nic->why, HD_ERR_UNFIT, "%u %s, and the device has %d", asked, what,
			 most);
}

/* ---- completion queues --------------------------------------------------- */

/* The paper's event handler: it signals the semaphore that main waits on. */
static void *handle_events(void *argument)
{
	struct device_cq *c = argument;
	struct pollfd p = { .fd = c->channel->fd, .events = POLLIN };

	while (!atomic_load(&c->stop)) {
		struct ibv_cq *cq;
		void *cookie;

		if (poll(&p, 1, 50) <= 0 || c->lib->get_cq_event(c->channel, &cq, &cookie) != 0)
			continue;
		c->lib->ack_cq_events(cq, 1);
		sem_post(&c->wake);
	}
	return NULL;
}

static enum hd_status start_handler(struct nic *nic, struct device_cq *c)
{
	int flags = fcntl(c->channel->fd, F_GETFL);

	if (flags < 0 || fcntl(c->channel->fd, F_SETFL, flags | O_NONBLOCK))
		return refuse(nic, "completion channel", errno_or_other());
	sem_init(&c->wake, 0, 0);
	int bad = pthread_create(&c->handler, NULL, handle_events, c);

	if (bad)
		sem_destroy(&c->wake);
	return refuse(nic, "event handler", bad);
}

static void cq_drop(struct device_cq *c)
{
	if (c->cq)
		c->lib->destroy_cq(c->cq);
	if (c->channel)
		c->lib->destroy_comp_channel(c->channel);
	free(c);
}

static enum hd_status op_cq_new(struct nic *nic, uint32_t entries, bool events, struct nic_cq *out)
{
	struct device_nic *n = own(nic);
	struct device_cq *c = hd_alloc(1, sizeof(*c));

	c->lib = n->lib;
	if ((int)entries > n->device->attr.max_cqe) {
		free(c);
		return over(nic, "entries", entries, n->device->attr.max_cqe);
	}
	if (events)
		c->channel = n->lib->create_comp_channel(n->device->context);
	c->cq = n->lib->create_cq(n->device->context, (int)entries, NULL, c->channel, 0);
	enum hd_status status = HD_OK;

	if (!c->cq || (events && !c->channel))
		status = refuse(nic, "ibv_create_cq", errno_or_other());
	else if (events)
		status = start_handler(nic, c);
	if (status == HD_OK)
		out->impl = c;
	else
		cq_drop(c);
	return status;
}

static void op_cq_free(struct nic *nic, struct nic_cq *cq)
{
	struct device_cq *c = cq->impl;

	(void)nic;
	if (c->channel) {
		atomic_store(&c->stop, true);
		pthread_join(c->handler, NULL);
		sem_destroy(&c->wake);
	}
	cq_drop(c);
}

static bool op_poll(struct nic *nic, struct nic_cq *cq, struct completion *wc)
{
	struct device_cq *c = cq->impl;
	struct ibv_wc found;

	(void)nic;
	if (ibv_poll_cq(c->cq, 1, &found) != 1)
		return false;
	*wc = (struct completion){
		.id = found.wr_id,
		.status = (enum wc_status)found.status,
		.qpn = found.qp_num,
		.byte_len = found.byte_len,
		.imm = found.imm_data,
		.src_qp = found.src_qp,
		.slid = found.slid,
		.sl = found.sl,
	};
	return true;
}

static enum hd_status may_go_on(struct device_nic *n, hd_time since)
{
	const struct device_options *o = &n->device->options;
	hd_time waited = op_now(&n->nic) - since;

	if (o->going && !o->going(o->going_context))
		return give_up(&n->nic, "interrupted");
	if (waited > PATIENCE)
		return give_up(&n->nic, "nothing came for half a minute");
	if (waited > ASK_AFTER && ranks_abandoned(n->ranks))
		return give_up(&n->nic, "another rank gave up");
	return HD_OK;
}

static enum hd_status op_wait(struct nic *nic, struct nic_cq *cq, struct completion *wc)
{
	hd_time since = 0;

	for (uint64_t i = 1; !op_poll(nic, cq, wc); i++) {
		if (i % LOOK_EVERY)
			continue;
		since = since ? since : op_now(nic);
		if (may_go_on(own(nic), since) != HD_OK)
			return nic->why.status;
	}
	return HD_OK;
}

static enum hd_status op_wait_event(struct nic *nic, struct nic_cq *cq, struct completion *wc)
{
	struct device_cq *c = cq->impl;
	hd_time since = op_now(nic);

	while (!op_poll(nic, cq, wc)) {
		struct timespec until;

		if (ibv_req_notify_cq(c->cq, 0) != 0)
			return refuse(nic, "ibv_req_notify_cq", errno_or_other());
		if (op_poll(nic, cq, wc))
			return HD_OK;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec++;
		sem_timedwait(&c->wake, &until);
		if (may_go_on(own(nic), since) != HD_OK)
			return nic->why.status;
	}
	return HD_OK;
}

/* ---- queue pairs --------------------------------------------------------- */

static enum hd_status op_qp_new(struct nic *nic, const struct nic_qp_init *init, struct nic_qp *out)
{
	static const enum ibv_qp_type types[] = {
		[QP_RC] = IBV_QPT_RC, [QP_UC] = IBV_QPT_UC, [QP_UD] = IBV_QPT_UD
	};
	struct device_nic *n = own(nic);
	struct ibv_qp_init_attr attr = {
		.send_cq = ((struct device_cq *)init->send_cq->impl)->cq,
		.recv_cq = ((struct device_cq *)init->recv_cq->impl)->cq,
		.cap = { .max_send_wr = init->max_send,
			 .max_recv_wr = init->max_recv,
			 .max_send_sge = init->max_sge,
			 .max_recv_sge = init->max_sge },
		.qp_type = types[init->kind],
	};
	const struct ibv_device_attr *most = &n->device->attr;

	if ((int)init->max_sge > most->max_sge)
		return over(nic, "segments", init->max_sge, most->max_sge);
	if ((int)init->max_send > most->max_qp_wr || (int)init->max_recv > most->max_qp_wr)
		return over(nic, "work requests", init->max_send, most->max_qp_wr);
	struct ibv_qp *qp = n->lib->create_qp(n->pd, &attr);

	if (!qp)
		return refuse(nic, "ibv_create_qp", errno_or_other());
	*out = (struct nic_qp){ qp, init->kind, qp->qp_num };
	return HD_OK;
}

static void op_qp_free(struct nic *nic, struct nic_qp *qp)
{
	own(nic)->lib->destroy_qp(qp->impl);
}

static struct ibv_ah_attr ah_to(const struct device_nic *n, const struct nic_path *path)
{
	struct ibv_ah_attr a = { .dlid = path->to.lid, .sl = path->sl, .port_num = DEVICE_PORT };

	/* Ethernet has no LIDs: addresses are GIDs there. */
	if (n->device->port.link_layer != IBV_LINK_LAYER_ETHERNET)
		return a;
	a.is_global = 1;
	memcpy(a.grh.dgid.raw, path->to.gid, sizeof(a.grh.dgid.raw));
	a.grh.sgid_index = (uint8_t)n->device->options.gid;
	a.grh.hop_limit = 64;
	return a;
}

static enum ibv_mtu mtu_code(const struct device_nic *n, uint32_t mtu)
{
	enum ibv_mtu code = (enum ibv_mtu)code_of_mtu(mtu);

	return code < n->device->port.active_mtu ? code : n->device->port.active_mtu;
}

static uint8_t reads_at_once(const struct device_nic *n)
{
	int most = n->device->attr.max_qp_rd_atom;

	return (uint8_t)(most > 16 ? 16 : most > 0 ? most : 1);
}

/* The default key is the table's first, for full and limited members. */
static bool find_pkey(const struct device_nic *n, uint16_t pkey, uint16_t *index)
{
	const struct device_backend *v = n->device;
	uint16_t found;

	*index = 0;
	if (pkey == PKEY_DEFAULT)
		return true;
	for (uint16_t i = 0; i < v->port.pkey_tbl_len; i++) {
		*index = i;
		if (n->lib->query_pkey(v->context, DEVICE_PORT, i, &found) == 0 &&
		    be16toh(found) == pkey)
			return true;
	}
	return false;
}

static int step_init(const struct nic_qp *qp, const struct nic_path *path, struct ibv_qp_attr *a)
{
	a->port_num = DEVICE_PORT;
	a->qkey = path->qkey;
	a->qp_access_flags =
		IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	if (qp->kind == QP_UC)
		a->qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	return IBV_QP_PKEY_INDEX | IBV_QP_PORT |
	       (qp->kind == QP_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
}

static int step_rtr(const struct device_nic *n, const struct nic_qp *qp,
		    const struct nic_path *path, struct ibv_qp_attr *a)
{
	a->ah_attr = ah_to(n, path);
	a->path_mtu = mtu_code(n, path->mtu);
	a->dest_qp_num = path->to.qpn;
	a->rq_psn = path->to.psn;
	a->max_dest_rd_atomic = reads_at_once(n);
	a->min_rnr_timer = 1;
	if (qp->kind == QP_UD)
		return 0;
	return IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
	       (qp->kind == QP_RC ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0);
}

static int step_rts(const struct device_nic *n, const struct nic_qp *qp,
		    const struct nic_path *path, struct ibv_qp_attr *a)
{
	a->sq_psn = path->psn;
	a->timeout = 14;
	a->retry_cnt = 7;
	a->rnr_retry = 7;
	a->max_rd_atomic = reads_at_once(n);
	return IBV_QP_SQ_PSN |
	       (qp->kind == QP_RC ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
					    IBV_QP_MAX_QP_RD_ATOMIC
				  : 0);
}

static enum hd_status op_qp_step(struct nic *nic, struct nic_qp *qp, enum qp_state to,
				 const struct nic_path *path)
{
	struct device_nic *n = own(nic);
	struct ibv_qp_attr a = { 0 };
	int mask = IBV_QP_STATE;

	if (to == QPS_INIT) {
		if (!find_pkey(n, path->pkey, &a.pkey_index)) {
			nic->why.status = HD_OK;
			return diag_fail(&nic->why, HD_ERR_UNFIT, "the port has no P_Key 0x%04x",
					 path->pkey);
		}
		a.qp_state = IBV_QPS_INIT;
		mask |= step_init(qp, path, &a);
	} else if (to == QPS_RTR) {
		a.qp_state = IBV_QPS_RTR;
		mask |= step_rtr(n, qp, path, &a);
	} else {
		a.qp_state = IBV_QPS_RTS;
		mask |= step_rts(n, qp, path, &a);
	}
	return refuse(nic, "ibv_modify_qp", n->lib->modify_qp(qp->impl, &a, mask));
}

static void op_address(struct nic *nic, const struct nic_qp *qp, struct nic_address *out)
{
	struct device_nic *n = own(nic);

	out->lid = n->device->port.lid;
	out->qpn = qp->qpn;
	out->psn = (0xfffff0 + nic->rank) & PSN_MASK;
	memcpy(out->gid, n->device->gid.raw, sizeof(out->gid));
}

static bool is_same(const struct nic_address *a, const struct nic_address *b)
{
	return a->lid == b->lid && a->qpn == b->qpn && memcmp(a->gid, b->gid, sizeof(a->gid)) == 0;
}

/* Handles are kept: a request names its handle by the field `pd`. */
static void op_datagram(struct nic *nic, const struct nic_path *path, struct send_wr *wr)
{
	struct device_nic *n = own(nic);
	unsigned i = 0;

	while (i < n->n_addresses && !is_same(&n->known[i], &path->to))
		i++;
	if (i == n->n_addresses && i < DEVICE_ADDRESSES) {
		struct ibv_ah_attr a = ah_to(n, path);

		n->known[i] = path->to;
		n->addresses[i] = n->lib->create_ah(n->pd, &a);
		n->n_addresses++;
	}
	wr->to.pd = i;
	wr->to.qpn = path->to.qpn;
	wr->to.qkey = path->qkey;
}

static enum hd_status op_join(struct nic *nic, struct nic_qp *qp, struct nic_address *group)
{
	(void)qp;
	(void)group;
	return give_up(nic,
		       "libibverbs has no way to join one; that takes a subnet manager or rdma_cm");
}

static enum hd_status op_weigh(struct nic *nic, struct nic_qp *qp, uint32_t weight)
{
	(void)qp;
	(void)weight;
	return give_up(nic, "libibverbs has none");
}

/* ---- data ------------------------------------------------------------- */

static int copy_list(const struct sge *from, uint32_t n, struct ibv_sge *to)
{
	for (uint32_t i = 0; i < n; i++)
		to[i] = (struct ibv_sge){ from[i].addr, from[i].length, from[i].lkey };
	return (int)n;
}

static enum hd_status op_post_send(struct nic *nic, struct nic_qp *qp, const struct send_wr *wr)
{
	static const enum ibv_wr_opcode opcodes[] = {
		[WR_SEND] = IBV_WR_SEND,
		[WR_SEND_IMM] = IBV_WR_SEND_WITH_IMM,
		[WR_WRITE] = IBV_WR_RDMA_WRITE,
		[WR_WRITE_IMM] = IBV_WR_RDMA_WRITE_WITH_IMM,
		[WR_READ] = IBV_WR_RDMA_READ,
		[WR_CMP_SWAP] = IBV_WR_ATOMIC_CMP_AND_SWP,
		[WR_FETCH_ADD] = IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	struct device_nic *n = own(nic);
	struct ibv_sge list[WR_MAX_SGE];
	struct ibv_send_wr out = {
		.wr_id = wr->id, .sg_list = list, .opcode = opcodes[wr->kind], .imm_data = wr->imm
	};
	struct ibv_send_wr *bad;

	out.num_sge = copy_list(wr->sge, wr->n_sge, list);
	out.send_flags = wr->flags & WR_SIGNALED ? IBV_SEND_SIGNALED : 0;
	if (qp->kind == QP_UD) {
		out.wr.ud.ah = n->addresses[wr->to.pd];
		out.wr.ud.remote_qpn = wr->to.qpn;
		out.wr.ud.remote_qkey = wr->to.qkey;
	} else if (wr->kind == WR_CMP_SWAP || wr->kind == WR_FETCH_ADD) {
		out.wr.atomic.remote_addr = wr->remote_addr;
		out.wr.atomic.rkey = wr->rkey;
		out.wr.atomic.compare_add = wr->kind == WR_CMP_SWAP ? wr->compare : wr->swap_add;
		out.wr.atomic.swap = wr->swap_add;
	} else {
		out.wr.rdma.remote_addr = wr->remote_addr;
		out.wr.rdma.rkey = wr->rkey;
	}
	return refuse(nic, "ibv_post_send", ibv_post_send(qp->impl, &out, &bad));
}

static enum hd_status op_post_recv(struct nic *nic, struct nic_qp *qp, const struct recv_wr *wr)
{
	struct ibv_sge list[WR_MAX_SGE];
	struct ibv_recv_wr out = { .wr_id = wr->id, .sg_list = list }, *bad;

	out.num_sge = copy_list(wr->sge, wr->n_sge, list);
	return refuse(nic, "ibv_post_recv", ibv_post_recv(qp->impl, &out, &bad));
}

static void *op_watch_new(struct nic *nic, const uint8_t *at)
{
	(void)nic;
	return (void *)(uintptr_t)at; /* NOLINT(performance-no-int-to-ptr) */
}

static void op_watch_free(struct nic *nic, void *watch)
{
	(void)nic;
	(void)watch;
}

static enum hd_status op_watch_wait(struct nic *nic, void *watch, uint64_t turn)
{
	const volatile uint8_t *at = watch;
	hd_time since = 0;

	for (uint64_t i = 1; *at != (uint8_t)turn; i++) {
		if (i % LOOK_EVERY)
			continue;
		since = since ? since : op_now(nic);
		if (may_go_on(own(nic), since) != HD_OK)
			return nic->why.status;
	}
	return HD_OK;
}

static enum hd_status unless_gone(struct nic *nic, bool here)
{
	return here ? HD_OK : give_up(nic, "another rank gave up");
}

static enum hd_status op_exchange(struct nic *nic, unsigned with, const void *mine, void *theirs,
				  size_t len)
{
	return unless_gone(nic, ranks_exchange(own(nic)->ranks, with, mine, theirs, len));
}

static enum hd_status op_carry(struct nic *nic, unsigned a, unsigned b, size_t len)
{
	return unless_gone(nic, ranks_carry(own(nic)->ranks, a, b, len));
}

static enum hd_status op_barrier(struct nic *nic)
{
	return unless_gone(nic, ranks_barrier(own(nic)->ranks));
}

static void op_abandon(struct nic *nic)
{
	ranks_abandon(own(nic)->ranks);
}

static void op_finish(struct nic *nic)
{
	ranks_finish(own(nic)->ranks);
}

static bool op_finished(struct nic *nic)
{
	return ranks_finished(own(nic)->ranks);
}

const struct nic_ops bench_device_ops = {
	.name = "libibverbs",
	.origin = ORIGIN_MEASURED,
	NIC_OPS_HERE,
};
