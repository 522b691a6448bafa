/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "live/protocol.h"
#include "live/verbs/backend.h"
#include "live/verbs/inbound.h"
#include "live/verbs/transport_names.h"
#include "wire/headers.h"

/*
 * The free clock: the thread that posts a send executes it completely, in the
 * memory of both programs. Packets are only counted.
 */

/* Size of the headers of each packet. */
enum { PACKET_HEADERS = LRH_SIZE + BTH_SIZE + ICRC_SIZE };

/* ---- memory of this program */

bool verbs_locate_sges(struct soft_qp *q, struct send_wqe *s)
{
	uint32_t pd = container(q->ibv.pd, struct pd, ibv)->id;
	bool is_allowed = true;
	bool reads = s->opcode == IBV_WR_RDMA_READ || s->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
		     s->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;

	for (uint32_t i = 0; i < s->n_sge && !(s->flags & IBV_SEND_INLINE); i++) {
		struct live_piece *p = &s->sge[i];
		const struct key_range span = { p->lkey, p->addr, p->length };

		p->where = 0;
		if (p->length > 0 &&
		    !verbs_region_find(verbs_adapter.memory, pd, &span,
				       reads ? IBV_ACCESS_LOCAL_WRITE : 0, &p->where))
			is_allowed = false;
	}
	return is_allowed;
}

/* Resolves the pieces of a send; false if access to one is not allowed. */
static bool find_local(struct soft_qp *q, struct send_wqe *s, struct inbound_request *r)
{
	r->n_local = 0;
	r->length = s->length;
	if (s->flags & IBV_SEND_INLINE) {
		r->local[0] = (struct iovec){ send_inline(q, s), s->length };
		r->n_local = s->length > 0;
		return true;
	}
	if (!verbs_locate_sges(q, s))
		return false;
	for (uint32_t i = 0; i < s->n_sge; i++)
		if (s->sge[i].length > 0)
			r->local[r->n_local++] =
				(struct iovec){ at_address(s->sge[i].where), s->sge[i].length };
	return true;
}

/* ---- packet counters */

struct packet_counts {
	uint64_t packets, octets; /* towards the peer */
	uint64_t back, octets_back;
};

static struct packet_counts traffic_of(const struct soft_qp *q, const struct send_wqe *s,
				       bool global)
{
	uint64_t n = wr_packets(s->length, q->shared->mtu);
	uint64_t data = (s->length + 3) / 4 * 4;
	unsigned back = PACKET_HEADERS + (global ? GRH_SIZE : 0);
	unsigned header = back + (q->init.qp_type == IBV_QPT_XRC_SEND ? XRCETH_SIZE : 0);
	struct packet_counts t = { .packets = n, .octets = n * header + data };

	switch (s->opcode) {
	case IBV_WR_SEND_WITH_IMM:
		t.octets += IMMDT_SIZE;
		break;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		t.octets += IMMDT_SIZE + RETH_SIZE;
		break;
	case IBV_WR_SEND_WITH_INV:
		t.octets += IETH_SIZE;
		break;
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_ATOMIC_WRITE:
		t.octets += RETH_SIZE;
		break;
	case IBV_WR_RDMA_READ:
		return (struct packet_counts){ 1, header + RETH_SIZE, n,
					       n * back + data + AETH_SIZE * (n > 1 ? 2U : 1U) };
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return (struct packet_counts){ 1, header + ATOMICETH_SIZE, 1,
					       back + AETH_SIZE + ATOMICACKETH_SIZE };
	default:
		break;
	}
	if (q->init.qp_type == IBV_QPT_UD)
		t.octets += DETH_SIZE;
	if (verbs_is_reliable(q->init.qp_type)) {
		t.back = 1;
		t.octets_back = back + AETH_SIZE;
	}
	return t;
}

static void count(const struct soft_qp *q, const struct send_wqe *s)
{
	const struct ibv_ah_attr *to = &q->attr.ah_attr;
	struct packet_counts t = traffic_of(q, s, to->is_global);

	verbs_count_packets(q->port.id, to->dlid, to->sl, t.packets, t.octets);
	if (t.back && q->path.there != LIVE_NO_PORT)
		verbs_count_packets((uint32_t)q->path.there,
				    (uint16_t)(q->port.lid | to->src_path_bits), to->sl, t.back,
				    t.octets_back);
}

/* ---- connected queue pairs */

/* The program of the peer, if packets reach it and its answers return. */
static struct peer_program *reach(struct soft_qp *q)
{
	const struct ibv_ah_attr *to = &q->attr.ah_attr;

	if (q->path.generation != verbs_generation() &&
	    verbs_query_live_port(q->attr.port_num, &q->port) != 0)
		return NULL;
	verbs_query_path(&q->path, q->attr.port_num, (uint16_t)(q->port.lid | to->src_path_bits),
			 to->dlid, to->sl);
	if (q->path.there == LIVE_NO_PORT ||
	    (verbs_is_reliable(q->init.qp_type) && q->path.back != (int32_t)q->port.id))
		return NULL;
	if (q->peer && verbs_peer_is_gone(q->peer)) {
		verbs_peer_put(q->peer);
		q->peer = NULL;
	}
	if (!q->peer)
		q->peer = verbs_peer_get(live_qpn_program(q->attr.dest_qp_num));
	return q->peer;
}

/* P_Key 0 (partition 0) matches no key. */
static bool keys_match(uint16_t a, uint16_t b)
{
	return (a & PKEY_BASE) && pkey_matches(a, b);
}

/* True if the packet reaches the queue pair; keys are checked elsewhere. */
static bool is_there(const struct soft_qp *q, const struct shared_qp *to, uint32_t qpn,
		     int32_t port)
{
	uint32_t type = q->init.qp_type == IBV_QPT_XRC_SEND ? (uint32_t)IBV_QPT_XRC_RECV
							    : (uint32_t)q->init.qp_type;

	return atomic_load(&to->qpn) == qpn && to->type == type &&
	       qp_state_receives((enum qp_state)atomic_load(&to->state)) &&
	       to->port == (uint32_t)port;
}

/* The key for which the queue pair refuses a packet that reaches it. */
enum refused_key { REFUSED_NONE, REFUSED_PKEY, REFUSED_QKEY };

static enum refused_key refused_key(const struct soft_qp *q, const struct shared_qp *to,
				    uint32_t qkey)
{
	if (!keys_match(q->port.pkeys[q->attr.pkey_index], to->pkey))
		return REFUSED_PKEY;
	return q->init.qp_type == IBV_QPT_UD && to->qkey != qkey ? REFUSED_QKEY : REFUSED_NONE;
}

/* The port of the peer counts the packet and sends a trap. Without locks of the peer. */
static void report_violation(const struct soft_qp *q, const struct send_wqe *s, uint32_t to_qp,
			     uint32_t port, enum refused_key key)
{
	bool is_datagram = q->init.qp_type == IBV_QPT_UD;
	const struct live_violation v = {
		.port = port,
		.is_qkey = key == REFUSED_QKEY,
		.key = key == REFUSED_QKEY ? s->qkey : q->port.pkeys[q->attr.pkey_index],
		.from_qp = q->ibv.qp_num,
		.to_qp = to_qp,
		.slid = q->port.lid,
		.dlid = is_datagram ? s->dlid : q->attr.ah_attr.dlid,
		.sl = is_datagram ? s->sl : q->attr.ah_attr.sl,
	};
	struct daemon_reply t = { .file = -1 };

	if (key != REFUSED_NONE)
		(void)!verbs_daemon_call(LIVE_VIOLATION, &v, sizeof(v), &t);
}

/* True if the queue pairs are connected to each other and their PSNs match. */
static bool is_connected(const struct soft_qp *q, const struct shared_qp *to)
{
	return to->dest_qpn == q->ibv.qp_num &&
	       (q->init.qp_type == IBV_QPT_UC || to->rq_psn == q->psn);
}

static void note_first(const struct inbound_request *r)
{
	uint32_t qpn = atomic_load(&r->to->qpn);
	const struct notification n = { NEWS_QP, live_qpn_index(qpn), IBV_EVENT_COMM_EST, qpn };

	if (!r->to->is_heard && atomic_load(&r->to->state) == IBV_QPS_RTR)
		verbs_peer_notify(r->peer, &n);
	r->to->is_heard = 1;
}

/* Delivers a request; false if there is no responder. */
static bool hand_over(struct soft_qp *q, struct inbound_request *r, enum responder_verdict *verdict)
{
	r->to = &r->peer->memory->qps[live_qpn_index(q->attr.dest_qp_num)];
	/* The lock exists as long as the queue pair. */
	if (atomic_load(&r->to->qpn) != q->attr.dest_qp_num)
		return false;
	if (verbs_lock(&r->to->lock))
		verbs_ring_recover(r->peer->memory, &r->to->ring);
	uint32_t port = r->to->port;
	enum refused_key key = REFUSED_NONE;
	bool connected = is_there(q, r->to, q->attr.dest_qp_num, q->path.there);

	/* Retries of a request count as one violation. */
	if (connected && q->waits == WAIT_NOT)
		key = refused_key(q, r->to, 0);
	connected = connected && refused_key(q, r->to, 0) == REFUSED_NONE && is_connected(q, r->to);
	if (connected) {
		note_first(r);
		*verdict = inbound_execute(r);
		if (*verdict == RESPONDER_ACCEPTS) {
			uint64_t n = wr_packets(r->length, q->shared->mtu);

			q->psn = (uint32_t)(q->psn + n) & 0xFFFFFF;
			r->to->rq_psn = q->psn;
		}
	}
	verbs_unlock(&r->to->lock);
	report_violation(q, r->send, q->attr.dest_qp_num, port, key);
	return connected;
}

static enum outcome conclude(struct soft_qp *q, const struct inbound_request *r,
			     enum responder_verdict verdict, struct result *out)
{
	bool is_reliable = verbs_is_reliable(q->init.qp_type);

	if (is_reliable && verdict == RESPONDER_NO_RECEIVE) {
		out->rnr_timer = r->to->min_rnr;
		return NO_RECEIVE;
	}
	count(q, r->send);
	out->byte_len = (uint32_t)r->length;
	/* UC has no NAK: the requester completes with success. */
	if (is_reliable && verdict != RESPONDER_ACCEPTS)
		out->status =
			(enum ibv_wc_status)responder_nak_status(responder_refusal(verdict)->nak);
	return DONE;
}

static enum outcome send_connected(struct soft_qp *q, struct inbound_request *r, struct result *out)
{
	enum responder_verdict verdict = RESPONDER_ACCEPTS;

	r->peer = reach(q);
	if (r->peer && hand_over(q, r, &verdict))
		return conclude(q, r, verdict, out);
	if (verbs_is_reliable(q->init.qp_type))
		return NO_ANSWER;
	if (q->path.there != LIVE_NO_PORT)
		count(q, r->send);
	out->byte_len = (uint32_t)r->length;
	return DONE;
}

/* ---- datagrams */

/* Cached paths of datagrams, shared by all queue pairs. */
static struct verbs_path datagram_path(const struct soft_qp *q, const struct send_wqe *s)
{
	enum { PLACES = 1024 };
	static struct {
		uint32_t program, port;
		uint16_t dlid;
		uint8_t sl;
		struct verbs_path path;
	} known[PLACES], *k;
	struct verbs_path path;

	pthread_mutex_lock(&verbs_adapter.path_lock);
	k = &known[(s->dlid * 16U + s->sl) % PLACES];
	if (k->program != verbs_adapter.number || k->port != q->attr.port_num ||
	    k->dlid != s->dlid || k->sl != s->sl) {
		k->path.generation = 0;
		k->program = verbs_adapter.number;
		k->port = q->attr.port_num;
		k->dlid = s->dlid;
		k->sl = s->sl;
	}
	verbs_query_path(&k->path, q->attr.port_num, q->port.lid, s->dlid, s->sl);
	path = k->path;
	pthread_mutex_unlock(&verbs_adapter.path_lock);
	return path;
}

/* Delivers to one queue pair, which accepts or drops the message. */
static void drop_at(struct soft_qp *q, struct inbound_request *r, uint32_t qpn, int32_t port)
{
	r->peer = verbs_peer_get(live_qpn_program(qpn));
	if (!r->peer)
		return;
	r->to = &r->peer->memory->qps[live_qpn_index(qpn)];
	if (atomic_load(&r->to->qpn) == qpn) {
		enum refused_key key = REFUSED_NONE;
		uint32_t at = r->to->port;

		if (verbs_lock(&r->to->lock))
			verbs_ring_recover(r->peer->memory, &r->to->ring);
		if (is_there(q, r->to, qpn, port == LIVE_NO_PORT ? (int32_t)at : port)) {
			key = refused_key(q, r->to, r->send->qkey);
			if (key == REFUSED_NONE)
				inbound_execute(r);
		}
		verbs_unlock(&r->to->lock);
		report_violation(q, r->send, qpn, at, key);
	}
	verbs_peer_put(r->peer);
}

/* Queries the members of a group, if the fabric has changed since the last query. */
static void find_group(struct soft_qp *q, const struct send_wqe *s)
{
	enum { MOST = 4096 };
	uint32_t now = verbs_generation();
	struct live_group_question asked = { .port = q->attr.port_num,
					     .mlid = s->dlid,
					     .sl = s->sl };

	if (q->group.generation == now && q->group.mlid == s->dlid && q->group.sl == s->sl &&
	    memcmp(q->group.mgid, s->dgid.raw, sizeof(q->group.mgid)) == 0)
		return;
	if (!q->group.qpns)
		q->group.qpns = calloc(MOST, sizeof(*q->group.qpns));
	memcpy(asked.mgid, s->dgid.raw, sizeof(asked.mgid));
	struct daemon_reply t = { .text = q->group.qpns,
				  .size = MOST * sizeof(*q->group.qpns),
				  .file = -1 };

	q->group.n = 0;
	if (t.text && verbs_daemon_call(LIVE_ASK_GROUP, &asked, sizeof(asked), &t) == 0)
		q->group.n = (uint32_t)(t.size / sizeof(*q->group.qpns));
	q->group.generation = now;
	q->group.mlid = s->dlid;
	q->group.sl = s->sl;
	memcpy(q->group.mgid, asked.mgid, sizeof(q->group.mgid));
}

static void count_datagram(const struct soft_qp *q, const struct send_wqe *s)
{
	const struct packet_counts t = traffic_of(q, s, s->global);

	if (q->port.state == IBV_PORT_ACTIVE)
		verbs_count_packets(q->port.id, s->dlid, s->sl, t.packets, t.octets);
}

static enum outcome send_datagram(struct soft_qp *q, struct inbound_request *r, struct result *out)
{
	const struct send_wqe *s = r->send;

	if (q->path.generation != verbs_generation()) {
		q->path.generation = verbs_generation();
		if (verbs_query_live_port(q->attr.port_num, &q->port) != 0)
			q->port.state = 0;
	}
	out->byte_len = (uint32_t)r->length;
	if (r->length > q->shared->mtu) {
		out->status = IBV_WC_LOC_LEN_ERR;
		return DONE;
	}
	if (s->dlid >= LID_FIRST_MCAST) {
		find_group(q, s);
		for (uint32_t i = 0; i < q->group.n; i++)
			if (q->group.qpns[i] != q->ibv.qp_num)
				drop_at(q, r, q->group.qpns[i], LIVE_NO_PORT);
	} else {
		struct verbs_path path = datagram_path(q, s);

		if (path.there != LIVE_NO_PORT)
			drop_at(q, r, s->dest_qpn, path.there);
	}
	count_datagram(q, s);
	return DONE;
}

/* ---- posted requests */

/* For a datagram without a destination queue pair, and for a lost message of UC. */
void verbs_count_lost(struct soft_qp *q, const struct send_wqe *s)
{
	if (q->init.qp_type == IBV_QPT_UD)
		count_datagram(q, s);
	else if (reach(q))
		count(q, s);
}

void verbs_deliver_copy(struct soft_qp *q, struct send_wqe *s, uint32_t to)
{
	struct inbound_request r = { .from = q, .send = s };

	if (find_local(q, s, &r) && r.length <= q->shared->mtu)
		drop_at(q, &r, to, LIVE_NO_PORT);
}

enum ibv_wc_status verbs_buffer_send(struct soft_qp *q, struct send_wqe *s, struct send_wqe **out)
{
	struct inbound_request r = { .from = q, .send = s };
	uint64_t most = q->init.qp_type == IBV_QPT_UD ? q->shared->mtu : WR_MAX_LENGTH;

	*out = NULL;
	if (!find_local(q, s, &r))
		return IBV_WC_LOC_PROT_ERR;
	if (r.length > most)
		return IBV_WC_LOC_LEN_ERR;
	struct send_wqe *kept = malloc(
		sizeof(*kept) + q->init.cap.max_send_sge * sizeof(struct live_piece) + r.length);

	if (!kept)
		return IBV_WC_GENERAL_ERR;
	*kept = *s;
	kept->flags |= IBV_SEND_INLINE;
	kept->n_sge = 0;
	inbound_gather(&r, send_inline(q, kept));
	*out = kept;
	return IBV_WC_SUCCESS;
}

/* Requests that are executed without packets. */
static bool execute_local(const struct soft_qp *q, const struct send_wqe *s, struct result *out)
{
	uint32_t pd = q->ibv.pd ? container(q->ibv.pd, struct pd, ibv)->id : 0;

	if (s->opcode == IBV_WR_BIND_MW)
		out->status = verbs_window_bind(q, &s->bind);
	else if (s->opcode != IBV_WR_LOCAL_INV)
		return false;
	else if (!verbs_window_invalidate(verbs_adapter.memory, s->imm, pd, q->ibv.qp_num))
		out->status = IBV_WC_LOC_QP_OP_ERR;
	return true;
}

static bool has_valid_length(const struct send_wqe *s, uint64_t length)
{
	switch (s->opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
	case IBV_WR_ATOMIC_WRITE:
		return length == sizeof(uint64_t);
	default:
		return length <= WR_MAX_LENGTH;
	}
}

enum outcome verbs_execute_send(struct soft_qp *q, struct send_wqe *s, struct result *out)
{
	struct inbound_request r = { .from = q, .send = s };

	if (execute_local(q, s, out))
		return DONE;

	if (!find_local(q, s, &r)) {
		out->status = IBV_WC_LOC_PROT_ERR;
		return DONE;
	}
	if (!has_valid_length(s, r.length)) {
		out->status = IBV_WC_LOC_LEN_ERR;
		return DONE;
	}
	return q->init.qp_type == IBV_QPT_UD ? send_datagram(q, &r, out)
					     : send_connected(q, &r, out);
}
