/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "mgmt/cm/cm_internal.h"
#include "wire/cursor.h"

/* The commands of rdma/rdma_user_cm.h, one function each. */

enum { MAX_IDS = 0xFFFE };

struct ucm_command {
	struct cm *m;
	node_id host;
	uint32_t channel;
	const void *in; /* as large as the command's struct */
	size_t n_extra; /* bytes after it */
	hd_time now;
	struct cm_response *out;
};

static void reply(const struct ucm_command *c, const void *bytes, size_t size)
{
	strbuf_add(&c->out->bytes, bytes, size);
}

/* The id of a command, if it belongs to this channel. */
static struct cm_id *own_id(const struct ucm_command *c, uint32_t number)
{
	struct cm_id *i = cm_id_find(c->m, number);

	return i && i->channel == c->channel && !i->member_of ? i : NULL;
}

static int create_id(const struct ucm_command *c)
{
	const struct rdma_ucm_create_id *in = c->in;

	if (in->ps != RDMA_PS_TCP && in->ps != RDMA_PS_UDP && in->ps != RDMA_PS_IPOIB &&
	    in->ps != RDMA_PS_IB)
		return EPROTONOSUPPORT;
	if (c->m->n_ids > MAX_IDS)
		return ENOMEM;
	struct cm_id *i = cm_id_new(c->m, c->host, c->channel);
	const struct rdma_ucm_create_id_resp r = { .id = i->number };

	i->has_context = true;
	i->uid = in->uid;
	i->space = in->ps;
	i->qp_type = in->qp_type;
	reply(c, &r, sizeof(r));
	return 0;
}

/* Destroys an id and returns the number of its reported events. */
static int remove_id(const struct ucm_command *c, struct cm_id *i)
{
	const struct rdma_ucm_destroy_id_resp r = { .events_reported = i->n_reported };

	c->out->taken = cm_id_destroy(c->m, i, c->now);
	reply(c, &r, sizeof(r));
	return 0;
}

static int destroy_id(const struct ucm_command *c)
{
	const struct rdma_ucm_destroy_id *in = c->in;
	struct cm_id *i = own_id(c, in->id);

	return i ? remove_id(c, i) : EINVAL;
}

static bool is_port_used(const struct cm *m, const struct cm_id *by, uint16_t port)
{
	for (size_t k = 0; k < m->n_ids; k++) {
		const struct cm_id *i = &m->ids[k];

		if (i->used && i != by && i->host == by->host && i->space == by->space &&
		    i->listener == 0 && (i->state == ID_BOUND || i->state == ID_LISTENING) &&
		    ntohs(i->local.address.sin_port) == port &&
		    !(i->reuse_address && by->reuse_address && i->state != ID_LISTENING))
			return true;
	}
	return false;
}

/* Binds the given port, or an ephemeral one for 0. */
static int choose_port(struct cm *m, struct cm_id *i, uint16_t port)
{
	enum { FIRST = 32768, N = UINT16_MAX + 1 - FIRST };
	bool any = port == 0;
	unsigned tries = 0;

	do {
		if (any)
			port = (uint16_t)(FIRST + m->ephemeral++ % N);
		if (!is_port_used(m, i, port)) {
			i->local.address.sin_port = htons(port);
			return 0;
		}
	} while (any && ++tries < N);
	return EADDRINUSE;
}

static void set_port(struct cm *m, struct cm_id *i, port_id p)
{
	i->local.port = p;
	i->local.guid = topo_node_of(m->topo, p)->guid;
	i->local.address.sin_family = AF_INET;
	i->local.address.sin_addr.s_addr = htonl(cm_port_address(m, p));
	i->path.pkey = agents_pkey(m->agents, p, 0);
	i->path.mtu = (uint8_t)agents_port_get(m->agents, p, PORT_NEIGHBOR_MTU);
	i->path.slid = (uint16_t)agents_port_get(m->agents, p, PORT_LID);
	cm_port_gid(m, p, i->path.sgid);
}

/* An address of the kernel's interface: IPv4, or IPv6 any. */
static int read_address(const struct sockaddr_in6 *from, struct sockaddr_in *out)
{
	memcpy(out, from, sizeof(*out));
	if (out->sin_family == AF_INET)
		return 0;
	if (out->sin_family != AF_INET6 ||
	    memcmp(&from->sin6_addr, &in6addr_any, sizeof(in6addr_any)) != 0)
		return EADDRNOTAVAIL;
	out->sin_family = AF_INET;
	out->sin_addr.s_addr = htonl(INADDR_ANY);
	return 0;
}

static int bind_to(struct cm *m, struct cm_id *i, const struct sockaddr_in *a)
{
	uint32_t address = ntohl(a->sin_addr.s_addr);
	port_id p = TOPO_NONE;

	if (i->state != ID_IDLE)
		return EINVAL;
	if (address != INADDR_ANY) {
		p = cm_port_of(m, i->host, address);
		if (p == TOPO_NONE || m->topo->ports[p].node != i->host)
			return ENODEV;
	}
	int error = choose_port(m, i, ntohs(a->sin_port));

	if (error)
		return error;
	i->local.address.sin_family = AF_INET;
	if (p != TOPO_NONE)
		set_port(m, i, p);
	i->state = ID_BOUND;
	return 0;
}

static int bind_ip(const struct ucm_command *c)
{
	const struct rdma_ucm_bind_ip *in = c->in;
	struct cm_id *i = own_id(c, in->id);
	struct sockaddr_in a;
	int error = i ? read_address(&in->addr, &a) : EINVAL;

	return error ? error : bind_to(c->m, i, &a);
}

static int resolve_ip(const struct ucm_command *c)
{
	const struct rdma_ucm_resolve_ip *in = c->in;
	const struct rdma_ucm_event_resp e = { .event = EVENT_ADDR_RESOLVED };
	struct cm_id *i = own_id(c, in->id);
	struct sockaddr_in to, from = { .sin_family = AF_INET };
	int error = i ? read_address(&in->dst_addr, &to) : EINVAL;

	if (!error && i->state == ID_IDLE) {
		if (in->src_addr.sin6_family)
			error = read_address(&in->src_addr, &from);
		if (!error)
			error = bind_to(c->m, i, &from);
	}
	if (error)
		return error;
	port_id p = cm_port_of(c->m, i->host, ntohl(to.sin_addr.s_addr));

	if (i->state != ID_BOUND)
		return EINVAL;
	/* A multicast address has no port; it is joined later. */
	if (p == TOPO_NONE && !IN_MULTICAST(ntohl(to.sin_addr.s_addr)))
		return ENODEV;
	if (i->local.port == TOPO_NONE)
		set_port(c->m, i, cm_first_port(c->m, i->host));
	i->remote.port = p;
	i->remote.address = to;
	if (p != TOPO_NONE)
		cm_port_gid(c->m, p, i->path.dgid);
	i->state = ID_ADDR_RESOLVED;
	cm_id_event(c->m, i, NULL, &e);
	return 0;
}

static int resolve_route(const struct ucm_command *c)
{
	const struct rdma_ucm_resolve_route *in = c->in;
	struct cm_id *i = own_id(c, in->id);

	if (!i || i->state != ID_ADDR_RESOLVED || i->remote.port == TOPO_NONE)
		return EINVAL;
	cm_query_path(c->m, i, in->timeout_ms, c->now);
	return 0;
}

static void put_address(const struct sockaddr_in *a, struct sockaddr_in6 *out)
{
	memcpy(out, a, sizeof(*a));
}

static int query_route(const struct ucm_command *c)
{
	const struct rdma_ucm_query *in = c->in;
	const struct cm_id *i = own_id(c, in->id);
	struct rdma_ucm_query_route_resp r = { 0 };

	if (!i)
		return EINVAL;
	put_address(&i->local.address, &r.src_addr);
	put_address(&i->remote.address, &r.dst_addr);
	if (i->local.port != TOPO_NONE) {
		struct ib_user_path_rec *p = &r.ib_route[0];

		store_be64((uint8_t *)&r.node_guid, i->local.guid);
		r.port_num = c->m->topo->ports[i->local.port].number;
		r.ibdev_index = UINT32_MAX;
		r.num_paths = i->state >= ID_ROUTE_RESOLVED;
		memcpy(p->dgid, i->path.dgid, 16);
		memcpy(p->sgid, i->path.sgid, 16);
		p->dlid = htons(i->path.dlid);
		p->slid = htons(i->path.slid);
		p->pkey = htons(i->path.pkey);
		p->sl = i->path.sl;
		p->mtu = i->path.mtu;
		p->mtu_selector = 2; /* exactly */
		p->rate = i->path.rate;
		p->rate_selector = 2;
		p->packet_life_time = i->path.life;
		p->packet_life_time_selector = 2;
		p->reversible = 1;
		p->numb_path = 1;
	}
	reply(c, &r, sizeof(r));
	return 0;
}

static void take_conn_param(struct cm_end *e, const struct rdma_ucm_conn_param *p)
{
	e->qpn = p->qp_num;
	e->responder_resources = p->responder_resources;
	e->initiator_depth = p->initiator_depth;
	e->retry_count = p->retry_count & 7;
	e->rnr_retry_count = p->rnr_retry_count & 7;
	e->flow_control = p->flow_control & 1;
	e->srq = p->srq & 1;
}

static int connect_id(const struct ucm_command *c)
{
	const struct rdma_ucm_connect *in = c->in;
	struct cm_id *i = own_id(c, in->id);

	if (!i || i->state != ID_ROUTE_RESOLVED || !in->conn_param.valid)
		return EINVAL;
	take_conn_param(&i->local, &in->conn_param);
	if (cm_id_is_datagram(i))
		cm_send_sidr_req(c->m, i, &in->conn_param, c->now);
	else
		cm_send_req(c->m, i, &in->conn_param, c->now);
	return 0;
}

static int listen_id(const struct ucm_command *c)
{
	const struct rdma_ucm_listen *in = c->in;
	struct cm_id *i = own_id(c, in->id);

	if (!i)
		return EINVAL;
	if (i->state == ID_IDLE) {
		const struct sockaddr_in any = { .sin_family = AF_INET };
		int error = bind_to(c->m, i, &any);

		if (error)
			return error;
	}
	if (i->state != ID_BOUND)
		return EINVAL;
	i->backlog = in->backlog;
	i->state = ID_LISTENING;
	return 0;
}

static void leave_listener(struct cm *m, struct cm_id *i)
{
	struct cm_id *l = cm_id_find(m, i->listener);

	if (l)
		l->n_requests--;
	i->listener = 0;
}

static int accept_id(const struct ucm_command *c)
{
	const struct rdma_ucm_accept *in = c->in;
	struct cm_id *i = own_id(c, in->id);

	if (!i)
		return EINVAL;
	if (i->state == ID_REP_RECEIVED) {
		cm_send_rtu(c->m, i);
		return 0;
	}
	if (i->state == ID_ESTABLISHED)
		return 0;
	if ((i->state != ID_REQ_RECEIVED && i->state != ID_SIDR_RECEIVED) || !in->conn_param.valid)
		return EINVAL;
	i->uid = in->uid;
	i->has_context = true;
	leave_listener(c->m, i);
	take_conn_param(&i->local, &in->conn_param);
	if (i->state == ID_SIDR_RECEIVED)
		cm_send_sidr_rep(c->m, i, &in->conn_param);
	else
		cm_send_rep(c->m, i, &in->conn_param, c->now);
	return 0;
}

static int reject_id(const struct ucm_command *c)
{
	const struct rdma_ucm_reject *in = c->in;
	struct cm_id *i = own_id(c, in->id);

	if (!i)
		return EINVAL;
	if (i->state == ID_SIDR_RECEIVED)
		cm_send_sidr_rep(c->m, i, NULL);
	else if (i->state == ID_REQ_RECEIVED || i->state == ID_REP_RECEIVED)
		cm_send_rej(c->m, i, in->reason ? in->reason : REJ_CONSUMER, in->private_data,
			    in->private_data_len);
	else
		return EINVAL;
	return 0;
}

static int disconnect_id(const struct ucm_command *c)
{
	const struct rdma_ucm_disconnect *in = c->in;
	struct cm_id *i = own_id(c, in->id);

	if (!i || cm_id_is_datagram(i))
		return EINVAL;
	if (i->state == ID_ESTABLISHED || i->state == ID_REP_SENT) {
		cm_send_dreq(c->m, i, c->now);
	} else if (i->state == ID_DREQ_RECEIVED) {
		cm_send_drep(c->m, i);
		i->state = ID_ENDED;
	} else if (i->state < ID_DREQ_SENT) {
		return EINVAL;
	}
	return 0;
}

/* States and attribute bits of queue pairs in libibverbs. */
enum { QPS_INIT = 1, QPS_RTR, QPS_RTS };
enum {
	QP_STATE = 1 << 0,
	QP_ACCESS = 1 << 3,
	QP_PKEY_INDEX = 1 << 4,
	QP_PORT = 1 << 5,
	QP_QKEY = 1 << 6,
	QP_AV = 1 << 7,
	QP_PATH_MTU = 1 << 8,
	QP_TIMEOUT = 1 << 9,
	QP_RETRY_CNT = 1 << 10,
	QP_RNR_RETRY = 1 << 11,
	QP_RQ_PSN = 1 << 12,
	QP_MAX_RD_ATOMIC = 1 << 13,
	QP_MIN_RNR_TIMER = 1 << 15,
	QP_SQ_PSN = 1 << 16,
	QP_MAX_DEST_RD_ATOMIC = 1 << 17,
	QP_DEST_QPN = 1 << 20,
	ACCESS_WRITE_READ_ATOMIC = 1 << 1 | 1 << 2 | 1 << 3,
};

static void to_init(const struct cm_id *i, struct ib_uverbs_qp_attr *q)
{
	q->qp_attr_mask = QP_STATE | QP_PKEY_INDEX | QP_PORT;
	if (cm_id_is_datagram(i)) {
		q->qkey = i->qkey;
		q->qp_attr_mask |= QP_QKEY;
	} else {
		q->qp_access_flags = ACCESS_WRITE_READ_ATOMIC;
		q->qp_attr_mask |= QP_ACCESS;
	}
}

static void to_rtr(const struct cm_id *i, struct ib_uverbs_qp_attr *q)
{
	q->qp_attr_mask = QP_STATE | QP_AV | QP_PATH_MTU | QP_DEST_QPN | QP_RQ_PSN |
			  QP_MAX_DEST_RD_ATOMIC | QP_MIN_RNR_TIMER;
	q->ah_attr = (struct ib_uverbs_ah_attr){
		.dlid = i->path.dlid,
		.sl = i->path.sl,
		.port_num = q->port_num,
	};
	q->path_mtu = i->path.mtu;
	q->dest_qp_num = i->remote.qpn;
	q->rq_psn = i->remote.psn;
	q->max_dest_rd_atomic = i->remote.initiator_depth;
	q->min_rnr_timer = 0;
}

static void to_rts(const struct cm_id *i, struct ib_uverbs_qp_attr *q)
{
	q->qp_attr_mask =
		QP_STATE | QP_TIMEOUT | QP_RETRY_CNT | QP_RNR_RETRY | QP_SQ_PSN | QP_MAX_RD_ATOMIC;
	q->timeout = i->path.ack_timeout;
	q->retry_cnt = i->remote.retry_count;
	q->rnr_retry = i->remote.rnr_retry_count;
	q->sq_psn = i->local.psn;
	q->max_rd_atomic = i->remote.responder_resources;
}

static int init_qp_attr(const struct ucm_command *c)
{
	const struct rdma_ucm_init_qp_attr *in = c->in;
	const struct cm_id *i = own_id(c, in->id);
	struct ib_uverbs_qp_attr q = { .qp_state = in->qp_state };

	if (!i || i->local.port == TOPO_NONE)
		return EINVAL;
	q.port_num = c->m->topo->ports[i->local.port].number;
	if (in->qp_state == QPS_INIT)
		to_init(i, &q);
	else if (in->qp_state == QPS_RTR && i->remote.qpn)
		to_rtr(i, &q);
	else if (in->qp_state == QPS_RTS && i->remote.qpn)
		to_rts(i, &q);
	else
		return EINVAL;
	reply(c, &q, sizeof(q));
	return 0;
}

static int get_event(const struct ucm_command *c)
{
	struct cm *m = c->m;
	size_t k = 0;

	while (k < m->n_queued && m->queue[k].channel != c->channel)
		k++;
	if (k == m->n_queued)
		return EAGAIN;
	struct cm_id *i = cm_id_find(m, m->queue[k].id);

	if (i)
		i->n_reported++;
	reply(c, &m->queue[k].event, sizeof(m->queue[k].event));
	cm_drop_event(m, k);
	c->out->taken = 1;
	return 0;
}

static int set_option(const struct ucm_command *c)
{
	const struct rdma_ucm_set_option *in = c->in;
	struct cm_id *i = own_id(c, in->id);
	const uint8_t *value = (const uint8_t *)(in + 1);

	if (!i || in->level != RDMA_OPTION_ID || in->optlen != c->n_extra)
		return i && in->level == RDMA_OPTION_IB ? ENOSYS : EINVAL;
	switch (in->optname) {
	case RDMA_OPTION_ID_REUSEADDR:
		if (in->optlen == 0)
			return EINVAL;
		i->reuse_address = value[0] != 0;
		return 0;
	case RDMA_OPTION_ID_ACK_TIMEOUT:
		if (in->optlen != 1)
			return EINVAL;
		i->path.ack_timeout = value[0] & 31;
		return 0;
	case RDMA_OPTION_ID_TOS: /* no effect on InfiniBand */
	case RDMA_OPTION_ID_AFONLY:
		return 0;
	default:
		return ENOSYS;
	}
}

/* A program has received data: the RTU may have been lost. */
static int notify_id(const struct ucm_command *c)
{
	const struct rdma_ucm_notify *in = c->in;
	enum { COMMUNICATION_ESTABLISHED = 4 };

	return own_id(c, in->id) && in->event == COMMUNICATION_ESTABLISHED ? 0 : EINVAL;
}

static int join(const struct ucm_command *c, uint32_t number, const struct cm_join *j)
{
	struct rdma_ucm_create_id_resp r = { 0 };

	if (!own_id(c, number))
		return EINVAL;
	if (c->m->n_ids > MAX_IDS)
		return ENOMEM;
	int error = cm_group_join(c->m, number, j, c->now, &r.id);

	if (!error)
		reply(c, &r, sizeof(r));
	return error;
}

static int join_ip_mcast(const struct ucm_command *c)
{
	const struct rdma_ucm_join_ip_mcast *in = c->in;

	return join(c, in->id, &(struct cm_join){ &in->addr, in->uid, false });
}

static int join_mcast(const struct ucm_command *c)
{
	const struct rdma_ucm_join_mcast *in = c->in;
	struct sockaddr_in6 a;

	memcpy(&a, &in->addr, sizeof(a));
	if (in->join_flags >= RDMA_MC_JOIN_FLAG_RESERVED)
		return EINVAL;
	return join(c, in->id,
		    &(struct cm_join){ &a, in->uid,
				       in->join_flags == RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER });
}

static int leave_mcast(const struct ucm_command *c)
{
	const struct rdma_ucm_destroy_id *in = c->in;
	struct cm_id *i = cm_id_find(c->m, in->id);

	if (!i || i->channel != c->channel || !i->member_of)
		return EINVAL;
	return remove_id(c, i);
}

static int migrate_id(const struct ucm_command *c)
{
	const struct rdma_ucm_migrate_id *in = c->in;
	struct cm_id *i = cm_id_find(c->m, in->id);

	if (!i || i->channel != in->fd || i->host != c->host || i->member_of)
		return EINVAL;
	for (size_t k = 0; k < c->m->n_ids; k++)
		if (c->m->ids[k].used && c->m->ids[k].member_of == in->id)
			c->m->ids[k].channel = c->channel;
	const struct rdma_ucm_migrate_resp r = { .events_reported = i->n_reported };

	i->channel = c->channel;
	for (size_t k = 0; k < c->m->n_queued; k++) {
		struct cm_event *w = &c->m->queue[k];

		const struct cm_id *of = cm_id_find(c->m, w->id);

		if (!of || (w->id != in->id && of->member_of != in->id))
			continue;
		w->channel = c->channel;
		c->out->taken++;
		c->m->events.ready(c->m->events.context, c->channel);
		struct cm_id *new_id = cm_id_find(c->m, w->new_id);

		if (new_id)
			new_id->channel = c->channel;
	}
	reply(c, &r, sizeof(r));
	return 0;
}

int cm_command(struct cm *m, const struct cm_caller *caller, const uint8_t *bytes, size_t size,
	       hd_time now, struct cm_response *out)
{
	static const struct {
		size_t size;
		int (*do_it)(const struct ucm_command *c);
	} rows[] = {
#define ROW(command, type, function) \
	[RDMA_USER_CM_CMD_##command] = { sizeof(struct rdma_ucm_##type), function }
		ROW(CREATE_ID, create_id, create_id),
		ROW(DESTROY_ID, destroy_id, destroy_id),
		ROW(BIND_IP, bind_ip, bind_ip),
		ROW(RESOLVE_IP, resolve_ip, resolve_ip),
		ROW(RESOLVE_ROUTE, resolve_route, resolve_route),
		ROW(QUERY_ROUTE, query, query_route),
		ROW(CONNECT, connect, connect_id),
		ROW(LISTEN, listen, listen_id),
		ROW(ACCEPT, accept, accept_id),
		ROW(REJECT, reject, reject_id),
		ROW(DISCONNECT, disconnect, disconnect_id),
		ROW(INIT_QP_ATTR, init_qp_attr, init_qp_attr),
		ROW(GET_EVENT, get_event, get_event),
		ROW(SET_OPTION, set_option, set_option),
		ROW(NOTIFY, notify, notify_id),
		ROW(MIGRATE_ID, migrate_id, migrate_id),
		ROW(JOIN_IP_MCAST, join_ip_mcast, join_ip_mcast),
		ROW(JOIN_MCAST, join_mcast, join_mcast),
		ROW(LEAVE_MCAST, destroy_id, leave_mcast),
#undef ROW
	};
	enum { MAX_COMMAND = 1024 };
	struct rdma_ucm_cmd_hdr h;
	/* Aligned, and padded with zeros for older programs. */
	_Alignas(8) uint8_t whole[MAX_COMMAND] = { 0 };
	struct ucm_command c = { m, caller->host, caller->channel, whole, 0, now, out };

	if (size < sizeof(h) || size - sizeof(h) > sizeof(whole))
		return EINVAL;
	memcpy(&h, bytes, sizeof(h));
	if (h.cmd >= sizeof(rows) / sizeof(rows[0]) || !rows[h.cmd].do_it)
		return ENOSYS;
	memcpy(whole, bytes + sizeof(h), size - sizeof(h));
	if (size - sizeof(h) > rows[h.cmd].size)
		c.n_extra = size - sizeof(h) - rows[h.cmd].size;
	return rows[h.cmd].do_it(&c);
}
