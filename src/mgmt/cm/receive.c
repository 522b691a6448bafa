/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "mgmt/cm/cm_internal.h"
#include "wire/cursor.h"

/* MADs that arrive at connection managers, and expired timers. */

enum {
	REQ_GID = 24 + 56, /* PrimaryLocalGID of a REQ */
};

static const hd_time TIMEWAIT = UINT64_C(4096000) << 18;

static void handle_path(struct cm *m, struct cm_id *i, const uint8_t *mad)
{
	struct rdma_ucm_event_resp e = { .event = EVENT_ROUTE_RESOLVED };

	i->due = HD_TIME_NEVER;
	if (load_be16(mad + MAD_STATUS) != MAD_OK) {
		i->state = ID_ADDR_RESOLVED;
		e.event = EVENT_ROUTE_ERROR;
		e.status = (uint32_t)-EINVAL;
	} else {
		i->path.dlid = (uint16_t)mad_get(mad, "DLID");
		i->path.slid = (uint16_t)mad_get(mad, "SLID");
		i->path.sl = (uint8_t)mad_get(mad, "SL");
		i->path.mtu = (uint8_t)mad_get(mad, "Mtu");
		i->path.rate = (uint8_t)mad_get(mad, "Rate");
		i->path.life = (uint8_t)mad_get(mad, "PacketLifeTime");
		i->path.ack_timeout = cm_ack_timeout(i->path.life);
		i->state = ID_ROUTE_RESOLVED;
	}
	cm_id_event(m, i, NULL, &e);
}

struct received_mad {
	struct cm *m;
	port_id port;
	const struct mad_address *from;
	const uint8_t *mad;
	hd_time now;
};

/* Replies to the sender of a received MAD. */
static void reply_to(const struct received_mad *a, const uint8_t *mad)
{
	struct mad_address to = *a->from;

	to.qp = 1;
	cm_queue_mad(a->m, a->port, &to, mad);
}

static void refuse_req(const struct received_mad *a, uint16_t reason)
{
	const struct cm_id unknown = {
		.remote.communication_id = (uint32_t)mad_get(a->mad, "LocalCommunicationID"),
	};
	uint8_t mad[MAD_SIZE];

	cm_write_ids(&unknown, ATTR_CM_REJ, mad);
	mad_set(mad, "MessageRejected", MESSAGE_REQ);
	mad_set(mad, "Reason", reason);
	reply_to(a, mad);
}

/* The id that listens for a service at a port. */
static struct cm_id *find_listener(struct cm *m, port_id port, uint64_t service)
{
	node_id host = m->topo->ports[port].node;

	for (size_t k = 0; k < m->n_ids; k++) {
		struct cm_id *i = &m->ids[k];

		if (i->used && i->state == ID_LISTENING && i->host == host &&
		    cm_service(i->space, ntohs(i->local.address.sin_port)) == service &&
		    (i->local.port == TOPO_NONE || i->local.port == port))
			return i;
	}
	return NULL;
}

/* The id of a repeated request. */
static struct cm_id *find_request(struct cm *m, port_id port, uint64_t guid,
				  uint32_t communication_id)
{
	for (size_t k = 0; k < m->n_ids; k++) {
		struct cm_id *i = &m->ids[k];

		if (i->used && i->local.port == port && i->remote.guid == guid &&
		    i->remote.communication_id == communication_id && i->state != ID_TIMEWAIT &&
		    i->state != ID_ENDED)
			return i;
	}
	return NULL;
}

/* A new id for a request to a listener; NULL if its backlog is full. */
static struct cm_id *accept_request(const struct received_mad *a, uint32_t listener,
				    const uint8_t *private)
{
	struct cm *m = a->m;
	struct cm_id *l = cm_id_find(m, listener);

	if (l->backlog && l->n_requests >= l->backlog)
		return NULL;
	l->n_requests++;
	struct cm_id *i = cm_id_new(m, l->host, l->channel);

	l = cm_id_find(m, listener); /* cm_id_new may move ids */
	i->listener = listener;
	i->space = l->space;
	i->qp_type = l->qp_type;
	i->qkey = l->qkey;
	i->local.port = a->port;
	i->local.guid = topo_node_of(m->topo, a->port)->guid;
	i->local.address = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = l->local.address.sin_port,
		.sin_addr.s_addr = htonl(cm_port_address(m, a->port)),
	};
	i->remote.port = TOPO_NONE;
	i->remote.address = (struct sockaddr_in){ .sin_family = AF_INET };
	memcpy(&i->remote.address.sin_port, private + 2, 2);
	memcpy(&i->remote.address.sin_addr, private + 16, 4);
	i->path = (struct cm_path){
		.dlid = a->from->lid,
		.slid = (uint16_t)agents_port_get(m->agents, a->port, PORT_LID),
		.sl = a->from->sl,
		.pkey = a->from->pkey,
		.mtu = (uint8_t)agents_port_get(m->agents, a->port, PORT_NEIGHBOR_MTU),
		.ack_timeout = cm_ack_timeout(0),
	};
	cm_port_gid(m, a->port, i->path.sgid);
	return i;
}

static void report_request(struct cm *m, const struct cm_id *i, struct rdma_ucm_event_resp *e)
{
	e->event = EVENT_CONNECT_REQUEST;
	cm_id_event(m, cm_id_find(m, i->listener), i, e);
}

static void write_conn_param(const struct cm_end *remote, struct rdma_ucm_conn_param *out)
{
	/* Exchanged: the initiator depth of one end limits the responder resources of the other. */
	out->responder_resources = remote->initiator_depth;
	out->initiator_depth = remote->responder_resources;
	out->flow_control = remote->flow_control;
	out->retry_count = remote->retry_count;
	out->rnr_retry_count = remote->rnr_retry_count;
	out->srq = remote->srq;
	out->qp_num = remote->qpn;
}

static void read_private(const uint8_t *mad, size_t room, size_t skip, uint8_t *out, uint8_t *size)
{
	memcpy(out, mad + MAD_SIZE - room + skip, room - skip);
	*size = (uint8_t)(room - skip);
}

/* Fields that REQ and REP have in common. */
static void read_end(const uint8_t *mad, struct cm_end *out)
{
	out->communication_id = (uint32_t)mad_get(mad, "LocalCommunicationID");
	out->guid = mad_get(mad, "LocalCAGUID");
	out->qpn = (uint32_t)mad_get(mad, "LocalQPN");
	out->psn = (uint32_t)mad_get(mad, "StartingPSN");
	out->responder_resources = (uint8_t)mad_get(mad, "ResponderResources");
	out->initiator_depth = (uint8_t)mad_get(mad, "InitiatorDepth");
	out->flow_control = (uint8_t)mad_get(mad, "EndToEndFlowControl");
	out->rnr_retry_count = (uint8_t)mad_get(mad, "RNRRetryCount");
	out->srq = (uint8_t)mad_get(mad, "SRQ");
}

static void req_arrived(const struct received_mad *a)
{
	struct cm *m = a->m;
	const uint8_t *mad = a->mad;
	struct cm_id *again = find_request(m, a->port, mad_get(mad, "LocalCAGUID"),
					   (uint32_t)mad_get(mad, "LocalCommunicationID"));

	if (again) {
		if (again->state == ID_REP_SENT)
			cm_resend(m, again);
		return;
	}
	const struct cm_id *l = find_listener(m, a->port, mad_get(mad, "ServiceID"));
	struct cm_id *i = NULL;

	if (l && !cm_id_is_datagram(l))
		i = accept_request(a, l->number, mad + MAD_SIZE - REQ_PRIVATE);
	if (!i) {
		refuse_req(a, l ? REJ_CONSUMER : REJ_INVALID_SERVICE);
		return;
	}
	struct rdma_ucm_event_resp e = { 0 };

	read_end(mad, &i->remote);
	i->remote.retry_count = (uint8_t)mad_get(mad, "RetryCount");
	i->path.dlid = (uint16_t)mad_get(mad, "PrimaryLocalLID");
	i->path.sl = (uint8_t)mad_get(mad, "PrimarySL");
	i->path.mtu = (uint8_t)mad_get(mad, "PathPacketPayloadMTU");
	i->path.rate = (uint8_t)mad_get(mad, "PrimaryPacketRate");
	i->path.pkey = (uint16_t)mad_get(mad, "PartitionKey");
	i->path.ack_timeout = (uint8_t)mad_get(mad, "PrimaryLocalAckTimeout");
	memcpy(i->path.dgid, mad + REQ_GID, 16);
	i->state = ID_REQ_RECEIVED;
	write_conn_param(&i->remote, &e.param.conn);
	read_private(mad, REQ_PRIVATE, IP_HEADER, e.param.conn.private_data,
		     &e.param.conn.private_data_len);
	report_request(m, i, &e);
}

static void sidr_req_arrived(const struct received_mad *a)
{
	struct cm *m = a->m;
	uint32_t request = (uint32_t)mad_get(a->mad, "RequestID");
	const struct cm_id *l = find_listener(m, a->port, mad_get(a->mad, "ServiceID"));
	struct cm_id *i = NULL;

	/* A repeated request already has an id. */
	for (size_t k = 0; k < m->n_ids; k++)
		if (m->ids[k].used && m->ids[k].state == ID_SIDR_RECEIVED &&
		    m->ids[k].remote.communication_id == request &&
		    m->ids[k].path.dlid == a->from->lid)
			return;
	if (l && cm_id_is_datagram(l))
		i = accept_request(a, l->number, a->mad + MAD_SIZE - SIDR_REQ_PRIVATE);
	if (!i) {
		const struct cm_id unknown = { 0 };
		uint8_t mad[MAD_SIZE];

		cm_write_header(&unknown, ATTR_CM_SIDR_REP, mad);
		mad_set(mad, "RequestID", request);
		mad_set(mad, "SIDRStatus", SIDR_UNSUPPORTED);
		reply_to(a, mad);
		return;
	}
	struct rdma_ucm_event_resp e = { 0 };

	i->remote.communication_id = request;
	i->state = ID_SIDR_RECEIVED;
	read_private(a->mad, SIDR_REQ_PRIVATE, IP_HEADER, e.param.ud.private_data,
		     &e.param.ud.private_data_len);
	report_request(m, i, &e);
}

/* The id named by a MAD's RemoteCommunicationID, if both ends match. */
static struct cm_id *find_id(const struct received_mad *a)
{
	struct cm_id *i = cm_id_find(a->m, (uint32_t)mad_get(a->mad, "RemoteCommunicationID"));
	uint32_t theirs = (uint32_t)mad_get(a->mad, "LocalCommunicationID");

	if (!i || i->local.port != a->port)
		return NULL;
	return i->remote.communication_id == 0 || i->remote.communication_id == theirs ||
			       theirs == 0
		       ? i
		       : NULL;
}

static void rep_arrived(const struct received_mad *a)
{
	struct cm_id *i = find_id(a);
	struct rdma_ucm_event_resp e = { .event = EVENT_CONNECT_RESPONSE };

	if (i && i->state == ID_ESTABLISHED) /* the RTU was lost */
		cm_resend(a->m, i);
	if (!i || i->state != ID_REQ_SENT)
		return;
	read_end(a->mad, &i->remote);
	i->remote.retry_count = i->local.retry_count;
	i->state = ID_REP_RECEIVED;
	i->due = HD_TIME_NEVER;
	write_conn_param(&i->remote, &e.param.conn);
	read_private(a->mad, REP_PRIVATE, 0, e.param.conn.private_data,
		     &e.param.conn.private_data_len);
	cm_id_event(a->m, i, NULL, &e);
}

static void rtu_arrived(const struct received_mad *a)
{
	struct cm_id *i = find_id(a);
	const struct rdma_ucm_event_resp e = { .event = EVENT_ESTABLISHED };

	if (!i || i->state != ID_REP_SENT)
		return;
	i->state = ID_ESTABLISHED;
	i->due = HD_TIME_NEVER;
	cm_id_event(a->m, i, NULL, &e);
}

static void rej_arrived(const struct received_mad *a)
{
	struct cm_id *i = find_id(a);
	struct rdma_ucm_event_resp e = {
		.event = EVENT_REJECTED,
		.status = (uint32_t)mad_get(a->mad, "Reason"),
	};

	if (!i || (i->state != ID_REQ_SENT && i->state != ID_REP_SENT &&
		   i->state != ID_REQ_RECEIVED && i->state != ID_REP_RECEIVED))
		return;
	i->state = ID_ENDED;
	i->due = HD_TIME_NEVER;
	read_private(a->mad, REJ_PRIVATE, 0, e.param.conn.private_data,
		     &e.param.conn.private_data_len);
	cm_id_event(a->m, i, NULL, &e);
}

static void disconnected(struct cm *m, struct cm_id *i, enum id_state state, hd_time due)
{
	const struct rdma_ucm_event_resp e = { .event = EVENT_DISCONNECTED };

	i->state = state;
	i->due = due;
	cm_id_event(m, i, NULL, &e);
}

static void dreq_arrived(const struct received_mad *a)
{
	struct cm_id *i = find_id(a);

	if (i && (i->state == ID_ESTABLISHED || i->state == ID_REP_SENT)) {
		disconnected(a->m, i, ID_DREQ_RECEIVED, HD_TIME_NEVER);
	} else if (i && i->state == ID_DREQ_SENT) {
		cm_send_drep(a->m, i);
		disconnected(a->m, i, ID_TIMEWAIT, a->now + TIMEWAIT);
	} else if (!i || i->state == ID_TIMEWAIT) {
		/* The connection no longer exists: the first DREP was lost. */
		const struct cm_id was = {
			.number = (uint32_t)mad_get(a->mad, "RemoteCommunicationID"),
			.remote.communication_id =
				(uint32_t)mad_get(a->mad, "LocalCommunicationID"),
		};
		uint8_t mad[MAD_SIZE];

		cm_write_ids(&was, ATTR_CM_DREP, mad);
		reply_to(a, mad);
	}
}

static void drep_arrived(const struct received_mad *a)
{
	struct cm_id *i = find_id(a);

	if (i && i->state == ID_DREQ_SENT)
		disconnected(a->m, i, ID_TIMEWAIT, a->now + TIMEWAIT);
}

static void mra_arrived(const struct received_mad *a)
{
	struct cm_id *i = find_id(a);

	/* MRA: the peer needs more time, so the timer is extended. */
	if (i && i->due != HD_TIME_NEVER)
		i->due = a->now + CM_RESPONSE_TIME +
			 (UINT64_C(4096000) << mad_get(a->mad, "ServiceTimeout"));
}

static void sidr_rep_arrived(const struct received_mad *a)
{
	struct cm_id *i = cm_id_find(a->m, (uint32_t)mad_get(a->mad, "RequestID"));
	struct rdma_ucm_event_resp e = { .event = EVENT_ESTABLISHED };
	uint32_t status = (uint32_t)mad_get(a->mad, "SIDRStatus");

	if (!i || i->state != ID_SIDR_SENT || i->local.port != a->port)
		return;
	i->due = HD_TIME_NEVER;
	i->state = status == SIDR_VALID ? ID_ESTABLISHED : ID_ENDED;
	if (status != SIDR_VALID) {
		e.event = EVENT_UNREACHABLE;
		e.status = status;
	} else {
		e.param.ud.qp_num = (uint32_t)mad_get(a->mad, "QPN");
		e.param.ud.qkey = (uint32_t)mad_get(a->mad, "Q_Key");
		e.param.ud.ah_attr = (struct ib_uverbs_ah_attr){
			.dlid = i->path.dlid,
			.sl = i->path.sl,
			.static_rate = 0,
			.port_num = a->m->topo->ports[i->local.port].number,
		};
		read_private(a->mad, SIDR_REP_PRIVATE, 0, e.param.ud.private_data,
			     &e.param.ud.private_data_len);
	}
	cm_id_event(a->m, i, NULL, &e);
}

bool cm_receive(struct cm *m, port_id port, const struct mad_address *from, const uint8_t *mad,
		hd_time now)
{
	static const struct {
		uint16_t attribute;
		void (*take)(const struct received_mad *a);
	} rows[] = {
		{ ATTR_CM_REQ, req_arrived },           { ATTR_CM_MRA, mra_arrived },
		{ ATTR_CM_REJ, rej_arrived },           { ATTR_CM_REP, rep_arrived },
		{ ATTR_CM_RTU, rtu_arrived },           { ATTR_CM_DREQ, dreq_arrived },
		{ ATTR_CM_DREP, drep_arrived },         { ATTR_CM_SIDR_REQ, sidr_req_arrived },
		{ ATTR_CM_SIDR_REP, sidr_rep_arrived },
	};
	const struct received_mad a = { m, port, from, mad, now };
	uint16_t attribute = load_be16(mad + MAD_ATTRIBUTE);

	if (mad[MAD_CLASS] == MAD_SA && mad[MAD_METHOD] == MAD_GET_RESP) {
		uint64_t tid = load_be64(mad + MAD_TID);
		struct cm_id *i = tid <= UINT32_MAX ? cm_id_find(m, (uint32_t)tid) : NULL;

		if (!i || i->local.port != port)
			return false;
		if (i->state == ID_RESOLVING_ROUTE && attribute == ATTR_PATH_RECORD)
			handle_path(m, i, mad);
		else if (i->state == ID_JOINING && attribute == ATTR_MC_MEMBER_RECORD)
			cm_group_response(m, i, mad);
		else
			return false;
		return true;
	}
	if (mad[MAD_CLASS] != MAD_CM || mad[MAD_METHOD] != MAD_SEND ||
	    m->topo->nodes[m->topo->ports[port].node].kind != NODE_CA)
		return false;
	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
		if (rows[k].attribute == attribute)
			rows[k].take(&a);
	return true;
}

/* ---- timers */

static void time_out(struct cm *m, struct cm_id *i)
{
	struct rdma_ucm_event_resp e = { .status = (uint32_t)-ETIMEDOUT };
	enum id_state was = i->state;

	i->due = HD_TIME_NEVER;
	switch (was) {
	case ID_RESOLVING_ROUTE:
		i->state = ID_ADDR_RESOLVED;
		e.event = EVENT_ROUTE_ERROR;
		break;
	case ID_JOINING:
		i->state = ID_ENDED;
		e.event = EVENT_MULTICAST_ERROR;
		break;
	case ID_TIMEWAIT:
		i->state = ID_ENDED;
		e.event = EVENT_TIMEWAIT_EXIT;
		e.status = 0;
		break;
	case ID_DREQ_SENT:
		i->state = ID_ENDED;
		e.event = EVENT_DISCONNECTED;
		e.status = 0;
		break;
	default:
		if (was == ID_REQ_SENT)
			cm_send_rej(m, i, REJ_TIMEOUT, NULL, 0);
		i->state = ID_ENDED;
		e.event = EVENT_UNREACHABLE;
	}
	cm_id_event(m, i, NULL, &e);
}

hd_time cm_next(const struct cm *m)
{
	hd_time first = HD_TIME_NEVER;

	if (m->n_outbox > 0)
		return 0;
	for (size_t k = 0; k < m->n_ids; k++)
		if (m->ids[k].used && m->ids[k].due < first)
			first = m->ids[k].due;
	return first;
}

void cm_run(struct cm *m, hd_time now)
{
	for (size_t k = 0; k < m->n_ids; k++) {
		struct cm_id *i = &m->ids[k];

		if (!i->used || i->due > now)
			continue;
		if (i->retries == 0 || i->state == ID_TIMEWAIT) {
			time_out(m, i);
			continue;
		}
		i->retries--;
		i->due = now + CM_RESPONSE_TIME;
		cm_resend(m, i);
	}
	/* Delivery may append more MADs to the outbox. */
	for (size_t k = 0; k < m->n_outbox; k++) {
		const struct outgoing_mad l = m->outbox[k];

		agents_send(m->agents, l.from, &l.to, l.mad, MAD_SIZE, now);
	}
	m->n_outbox = 0;
}
