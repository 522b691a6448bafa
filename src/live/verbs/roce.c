/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/verbs/roce.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "live/verbs/cable.h"
#include "live/verbs/roce_link.h"
#include "live/verbs/transport_names.h"
#include "transport/roce/port.h"

_Static_assert((unsigned)ROCE_TABLE == ROCE_GIDS && (unsigned)ROCE_SGE == WR_MAX_SGE,
	       "what roce.h says without the headers of transport/");

/* ---- the adapter */

static struct {
	pthread_mutex_t running;
	pthread_mutex_t lock; /* guards all members below */
	struct roce_cable cable;
	struct roce_address own;
	uint8_t mtu; /* enum ibv_mtu */
	struct roce_port *port;
	struct roce_qp_link *links[LIVE_QPS]; /* by queue pair index */
	struct roce_deferred *notes;
	size_t n_notes, notes_cap;
} roce = { .running = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER };

bool verbs_is_roce(void)
{
	static _Atomic int known = -1;

	if (known < 0)
		known = getenv(LIVE_ROCE) != NULL;
	return known != 0;
}

/* Describes the adapter, also before it is open; returns an errno. */
static int describe(void)
{
	uint8_t ipv4[4];

	if (!cable_describe(ipv4, &roce.mtu))
		return EINVAL;
	roce.own = roce_address_of(ipv4);
	return 0;
}

int verbs_roce_open(void)
{
	int error = describe();

	if (!error)
		error = cable_open(&roce.cable);
	if (!error)
		roce.port = roce_port_new(&roce.own, LIVE_QPN_INDEX_BITS);
	return error;
}

void verbs_roce_after_fork(void)
{
	close(roce.cable.fd);
	pthread_mutex_init(&roce.running, NULL);
	pthread_mutex_init(&roce.lock, NULL);
	memset(roce.links, 0, sizeof(roce.links));
	roce.n_notes = 0;
}

static hd_time now_ps(void)
{
	return verbs_now_ns() * HD_NS;
}

/* ---- frames */

static void take_frames(void)
{
	enum { MOST = 256 }; /* frames received before frames are sent */
	uint8_t frame[CABLE_FRAME];
	size_t size;

	for (int i = 0; i < MOST && cable_take(&roce.cable, frame, &size); i++)
		roce_port_receive(roce.port, frame, size, now_ps());
}

static void send_frames(void)
{
	uint8_t frame[ROCE_MAX];
	size_t size;

	while (cable_is_free(&roce.cable) && roce_port_next(roce.port, now_ps(), frame, &size))
		cable_send(&roce.cable, frame, size);
}

/*
 * Sends all frames that are due, including acknowledgements of messages that the program has seen:
 * destroying a queue pair must not lose them. With `lock`. A peer that does not receive is not
 * waited for long.
 */
static void send_owed(void)
{
	enum { TRIES = 100 };
	const struct timespec rest = { .tv_nsec = 1000000 };

	send_frames();
	for (int i = 0; i < TRIES && !cable_is_free(&roce.cable); i++) {
		pthread_mutex_unlock(&roce.lock);
		nanosleep(&rest, NULL);
		pthread_mutex_lock(&roce.lock);
		send_frames();
	}
}

/* ---- attributes */

static uint64_t guid(void)
{
	uint64_t g;

	memcpy(&g, roce.own.gid[ROCE_GID_LINK] + 8, sizeof(g));
	return be64toh(g);
}

int verbs_roce_query_node(struct live_node *out)
{
	if (!roce.port && describe() != 0)
		return EINVAL;
	*out = (struct live_node){ .guid = guid(), .system_guid = guid(), .n_ports = 1 };
	return 0;
}

/* PortInfo of the port: active, 4x EDR, one P_Key. */
int verbs_roce_query_port(uint32_t number, struct live_port *out)
{
	if (number != 1)
		return EINVAL;
	*out = (struct live_port){
		.id = 1,
		.guid = guid(),
		.prefix = UINT64_C(0xFE80) << 48,
		.n_pkeys = 1,
		.state = IBV_PORT_ACTIVE,
		.physical = 5,
		.mtu_cap = IBV_MTU_4096,
		.mtu = roce.mtu,
		.vls = 1,
		.width = 2,
		.ext_speed = 1 << 1,
		.pkeys = { PKEY_DEFAULT },
	};
	return 0;
}

bool verbs_roce_gid(uint32_t index, union ibv_gid *out)
{
	if (index >= ROCE_GIDS)
		return false;
	memcpy(out->raw, roce.own.gid[index], sizeof(out->raw));
	return true;
}

bool verbs_roce_is_path(const struct ibv_ah_attr *a)
{
	return a->is_global && a->grh.sgid_index < ROCE_GIDS && a->grh.dgid.raw[0] != 0xFF &&
	       gid_is_ipv4(a->grh.dgid.raw) == (a->grh.sgid_index == ROCE_GID_IPV4);
}

/* The IPv6 header has the layout of a GRH; the IPv4 header is in its last 20 bytes. */
void verbs_roce_reverse_path(const struct ibv_grh *grh, struct ibv_ah_attr *a)
{
	enum { IPV4_AT = 20, TTL = 8, SOURCE = 12 };
	const uint8_t *bytes = (const uint8_t *)grh;
	const uint8_t *ip = bytes + IPV4_AT;
	bool is_v4 = bytes[0] >> 4 != 6;
	struct ibv_global_route *to = &a->grh;

	a->is_global = 1;
	to->sgid_index = is_v4 ? ROCE_GID_IPV4 : ROCE_GID_LINK;
	to->dgid = grh->sgid;
	to->hop_limit = is_v4 ? ip[TTL] : grh->hop_limit;
	to->traffic_class = is_v4 ? ip[1] : (uint8_t)(bytes[0] << 4 | bytes[1] >> 4);
	if (!is_v4) {
		to->flow_label = (bytes[1] & 0xFU) << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
		return;
	}
	memcpy(to->dgid.raw, roce.own.gid[ROCE_GID_IPV4], SOURCE);
	memcpy(to->dgid.raw + SOURCE, ip + SOURCE, 4);
}

/* ---- deferred events */

void verbs_roce_defer(const struct roce_deferred *n)
{
	if (roce.n_notes == roce.notes_cap) {
		size_t cap = roce.notes_cap * 2 + 64;
		struct roce_deferred *more = realloc(roce.notes, cap * sizeof(*roce.notes));

		if (!more)
			return;
		roce.notes = more;
		roce.notes_cap = cap;
	}
	roce.notes[roce.n_notes++] = *n;
}

/* ---- queue pairs */

static struct roce_qp_link *link_make(const struct soft_qp *q)
{
	struct roce_qp_link *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	const struct qp_params params = {
		.kind = transport_kind(q->init.qp_type),
		.qpn = q->ibv.qp_num,
		.pd = q->shared->pd,
		.max_send = q->init.cap.max_send_wr,
		.signal_all = true,
		.shared_recv = true,
	};

	*l = (struct roce_qp_link){
		.qpn = q->ibv.qp_num,
		.shared = q->shared,
	};
	verbs_roce_bind_owner(l);
	l->qp = qp_new(&params, &l->owner);
	roce.links[q->index] = l;
	roce_port_add(roce.port, l->qp);
	return l;
}

static void link_drop(const struct soft_qp *q)
{
	struct roce_qp_link *l = roce.links[q->index];

	if (!l)
		return;
	roce_port_remove(roce.port, l->qp);
	qp_free(l->qp);
	free(l);
	roce.links[q->index] = NULL;
}

static struct qp_attr attributes(const struct soft_qp *q)
{
	const struct ibv_qp_attr *a = &q->attr;
	const struct ibv_global_route *to = &a->ah_attr.grh;
	struct qp_attr out = {
		.access = a->qp_access_flags,
		.pkey = q->shared->pkey,
		.qkey = a->qkey,
		.global = true,
		.tclass = to->traffic_class,
		.hop_limit = to->hop_limit,
		.mtu = q->shared->mtu,
		.dest_qpn = a->dest_qp_num,
		.rq_psn = q->shared->rq_psn,
		.sq_psn = q->psn,
		.max_dest_rd = a->max_dest_rd_atomic,
		.max_rd = a->max_rd_atomic,
		.min_rnr = a->min_rnr_timer,
		.timeout = a->timeout,
		.retry = a->retry_cnt,
		.rnr_retry = a->rnr_retry,
	};

	memcpy(out.sgid, roce.own.gid[to->sgid_index], sizeof(out.sgid));
	memcpy(out.dgid, to->dgid.raw, sizeof(out.dgid));
	return out;
}

/* One transition of the transport's queue pair; the values were checked when they were set. */
static void step(struct roce_qp_link *l, struct qp_attr *a, enum qp_state to, unsigned mask)
{
	a->state = to;
	if (qp_modify(l->qp, a, QPA_STATE | mask) != HD_OK) {
		const struct qp_attr error = { .state = QPS_ERR };

		(void)!qp_modify(l->qp, &error, QPA_STATE);
	}
}

/* Attributes that may change in RTS are applied while the queue pair is drained. */
static void adjust(struct roce_qp_link *l, struct qp_attr *a)
{
	enum {
		ANY = QPA_ACCESS | QPA_PKEY | QPA_QKEY | QPA_MIN_RNR,
		PATH = QPA_PATH | QPA_TIMEOUT | QPA_RETRY | QPA_RNR_RETRY,
	};

	if (qp_state(l->qp) == QPS_SQE) {
		step(l, a, QPS_RTS, ANY);
		return;
	}
	step(l, a, QPS_SQD, 0);
	step(l, a, QPS_SQD, ANY | PATH);
	step(l, a, QPS_RTS, 0);
}

static void climb(struct roce_qp_link *l, struct qp_attr *a, enum qp_state to)
{
	enum qp_kind kind = qp_params(l->qp)->kind;
	enum qp_state at = qp_state(l->qp);

	if (at == QPS_ERR)
		return;
	if (at >= QPS_RTS)
		adjust(l, a);
	else if (at == QPS_INIT && to == QPS_INIT)
		step(l, a, to, QPA_PKEY | QPA_ACCESS | QPA_QKEY);
	for (; at < to && at < QPS_RTS; at++)
		step(l, a, at + 1, qp_step_mask(kind, at + 1));
}

void verbs_roce_modify_qp(struct soft_qp *q)
{
	enum qp_state to = transport_state(atomic_load(&q->shared->state));

	pthread_mutex_lock(&roce.lock);
	if (to == QPS_RESET)
		send_owed();
	struct roce_qp_link *l = roce.links[q->index];

	if (to == QPS_RESET) {
		link_drop(q);
	} else if (to != QPS_ERR) {
		struct qp_attr a = attributes(q);

		if (!l)
			l = link_make(q);
		if (l)
			climb(l, &a, to);
	}
	pthread_mutex_unlock(&roce.lock);
}

void verbs_roce_fail_qp(const struct soft_qp *q)
{
	const struct qp_attr a = { .state = QPS_ERR };

	pthread_mutex_lock(&roce.lock);
	const struct roce_qp_link *l = roce.links[q->index];

	if (l)
		(void)!qp_modify(l->qp, &a, QPA_STATE);
	pthread_mutex_unlock(&roce.lock);
}

/* ---- sends */

/* Collects the pieces of a send; inline data stay in its entry of the ring. */
static void gather(const struct soft_qp *q, struct send_wqe *s, struct send_wr *wr)
{
	if (s->flags & IBV_SEND_INLINE) {
		wr->n_sge = s->length > 0;
		wr->sge[0] = (struct sge){ (uintptr_t)send_inline(q, s), (uint32_t)s->length,
					   KEY_INLINE };
		return;
	}
	wr->n_sge = s->n_sge;
	for (uint32_t i = 0; i < s->n_sge; i++)
		wr->sge[i] = (struct sge){ s->sge[i].addr, s->sge[i].length,
					   s->sge[i].lkey ? s->sge[i].lkey : KEY_NONE };
}

static void translate(const struct soft_qp *q, struct send_wqe *s, uint64_t number,
		      struct send_wr *wr)
{
	bool adds = s->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;

	*wr = (struct send_wr){
		.id = number,
		.kind = transport_wr(s->opcode),
		.flags = WR_SIGNALED | ((s->flags & IBV_SEND_SOLICITED) ? WR_SOLICITED : 0u) |
			 ((s->flags & IBV_SEND_FENCE) ? WR_FENCE : 0u),
		.imm = ntohl(s->imm),
		.remote_addr = s->remote_addr,
		.rkey = s->rkey,
		.swap_add = adds ? s->compare : s->swap,
		.compare = s->compare,
		.to = { .qpn = s->dest_qpn,
			.qkey = s->qkey,
			.global = true,
			.tclass = s->traffic_class,
			.hop_limit = s->hop_limit,
			.flow_label = s->flow_label,
			.pd = q->shared->pd },
	};
	memcpy(wr->to.dgid, s->dgid.raw, sizeof(wr->to.dgid));
	gather(q, s, wr);
}

void verbs_roce_submit(struct soft_qp *q, uint64_t limit)
{
	const struct notification wake = { 0 };
	struct send_wr wr;

	pthread_mutex_lock(&roce.lock);
	const struct roce_qp_link *l = roce.links[q->index];

	for (; l && q->given < limit; q->given++) {
		translate(q, send_at(q, q->given), q->given, &wr);
		enum hd_status status = qp_post_send(l->qp, &wr);

		if (status == HD_ERR_FULL)
			break;
		if (status != HD_OK)
			verbs_roce_defer(&(struct roce_deferred){ .qpn = l->qpn,
								  .status = IBV_WC_LOC_QP_OP_ERR,
								  .number = q->given });
	}
	pthread_mutex_unlock(&roce.lock);
	/* The background thread sends the frames if no thread polls. */
	verbs_peer_notify(verbs_adapter.self, &wake);
}

void verbs_roce_quiesce(void)
{
	pthread_mutex_lock(&roce.lock);
	pthread_mutex_unlock(&roce.lock);
}

/* ---- processing of deferred events */

/* True if the queue pair is still in error; it may have been reset. */
static bool is_in_error(const struct soft_qp *q, const struct roce_deferred *n)
{
	pthread_mutex_lock(&roce.lock);
	const struct roce_qp_link *l = roce.links[q->index];
	bool is = l && (n->event != NO_EVENT || qp_state(l->qp) == QPS_ERR);

	pthread_mutex_unlock(&roce.lock);
	return is;
}

static void take_note(const struct roce_deferred *n)
{
	struct soft_qp *q = verbs_qp_lock(n->qpn);

	if (!q)
		return;
	if (n->number == NO_SEND && is_in_error(q, n))
		verbs_qp_fail(q, (enum ibv_event_type)n->event);
	if (n->number >= q->head && n->number < q->given)
		post_done(q, n->number, (enum ibv_wc_status)n->status);
	/* The send queue may have room for further sends. */
	if (q->given < q->tail)
		post_run(q);
	pthread_mutex_unlock(&q->send);
}

static void take_notes(void)
{
	pthread_mutex_lock(&roce.lock);
	struct roce_deferred *notes = roce.notes;
	size_t n = roce.n_notes;

	roce.notes = NULL;
	roce.n_notes = roce.notes_cap = 0;
	pthread_mutex_unlock(&roce.lock);
	for (size_t i = 0; i < n; i++)
		take_note(&notes[i]);
	free(notes);
}

/* ---- progress */

/* The caller holds `running`; releases it. */
static void run(void)
{
	pthread_mutex_lock(&roce.lock);
	take_frames();
	roce_port_timer(roce.port, now_ps());
	send_frames();
	bool has_notes = roce.n_notes > 0;

	pthread_mutex_unlock(&roce.lock);
	if (has_notes)
		take_notes();
	pthread_mutex_unlock(&roce.running);
}

void verbs_roce_progress(void)
{
	pthread_mutex_lock(&roce.running);
	run();
}

void verbs_roce_poll(const struct cq *cq)
{
	enum { PATIENCE = 16, REST = 1 /* ms */ };
	static _Thread_local unsigned in_vain;
	struct pollfd cable = { .fd = roce.cable.fd, .events = POLLIN };

	if (!verbs_cq_has_any(cq) && pthread_mutex_trylock(&roce.running) == 0)
		run();
	in_vain = verbs_cq_has_any(cq) ? 0 : in_vain + 1;
	/* Nothing completes before a frame arrives: yield the core to the peer. */
	if (in_vain > PATIENCE)
		poll(&cable, 1, REST);
}

int verbs_roce_fd(void)
{
	return roce.cable.fd;
}

uint64_t verbs_roce_deadline(void)
{
	const uint64_t again = 1000000; /* ns */

	pthread_mutex_lock(&roce.lock);
	hd_time due = roce_port_due(roce.port);
	uint64_t then = due == HD_TIME_NEVER ? UINT64_MAX : due / HD_NS;

	if (!cable_is_free(&roce.cable) && verbs_now_ns() + again < then)
		then = verbs_now_ns() + again;
	pthread_mutex_unlock(&roce.lock);
	return then;
}
