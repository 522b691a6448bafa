/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <string.h>

#include "base/alloc.h"
#include "mgmt/cm/cm_internal.h"

/*
 * CM MADs (IBA volume 1, chapter 12): REQ, REP and RTU establish a connection, DREQ and DREP end
 * it, REJ rejects it; SIDR_REQ and SIDR_REP resolve a datagram's queue pair. Messages without a
 * response are repeated. IP addresses precede the private data of a request (annex A11).
 */

enum {
	MAX_RETRIES = 15,
	RESPONSE_TIMEOUT = 20, /* 4.096 us * 2^20 */
	HAS_DGID = 1 << 2,
	HAS_SGID = 1 << 3,
	HAS_REVERSIBLE = 1 << 11,
	HAS_NUMB_PATH = 1 << 12,
	HAS_PKEY = 1 << 13,
	/* Of an MCMemberRecord: MGID, PortGID, Q_Key, TClass, P_Key, SL, */
	MEMBER_MASK = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 6 | 1 << 7 | 1 << 12 | 1 << 13 |
		      1 << 16, /* FlowLabel, JoinState */
	LEAVE_MASK = 1 << 0 | 1 << 1 | 1 << 16,
};

const hd_time CM_RESPONSE_TIME = UINT64_C(4096000) << RESPONSE_TIMEOUT;

void cm_queue_mad(struct cm *m, port_id from, const struct mad_address *to, const uint8_t *mad)
{
	m->outbox = hd_grow(m->outbox, &m->outbox_cap, m->n_outbox + 1, sizeof(*m->outbox));
	struct outgoing_mad *l = &m->outbox[m->n_outbox++];

	*l = (struct outgoing_mad){ .from = from, .to = *to };
	memcpy(l->mad, mad, MAD_SIZE);
}

static void send_to_peer(struct cm *m, const struct cm_id *i, const uint8_t *mad)
{
	const struct mad_address to = {
		.lid = i->path.dlid,
		.pkey = i->path.pkey,
		.qp = 1,
		.qkey = MAD_QKEY,
		.sl = i->path.sl,
	};

	cm_queue_mad(m, i->local.port, &to, mad);
}

/* Addresses the SM's LID of the port. */
static void set_sa_address(const struct cm *m, struct cm_id *i)
{
	i->path.dlid = (uint16_t)agents_port_get(m->agents, i->local.port, PORT_SM_LID);
	i->path.sl = (uint8_t)agents_port_get(m->agents, i->local.port, PORT_SM_SL);
}

void cm_resend(struct cm *m, struct cm_id *i)
{
	/* The SM LID may have changed. */
	if (i->state == ID_JOINING)
		set_sa_address(m, i);
	send_to_peer(m, i, i->mad);
}

/* Sends now, and repeats until a response arrives. */
static void send_with_retries(struct cm *m, struct cm_id *i, enum id_state state, hd_time now)
{
	i->state = state;
	i->retries = MAX_RETRIES;
	i->due = now + CM_RESPONSE_TIME;
	send_to_peer(m, i, i->mad);
}

void cm_write_header(const struct cm_id *i, uint16_t attribute, uint8_t *mad)
{
	const struct mad_header h = {
		.mgmt_class = MAD_CM,
		.method = MAD_SEND,
		.attribute = attribute,
		.tid = i->number,
	};

	mad_write(&h, mad);
}

void cm_write_ids(const struct cm_id *i, uint16_t attribute, uint8_t *mad)
{
	cm_write_header(i, attribute, mad);
	mad_set(mad, "LocalCommunicationID", i->number);
	mad_set(mad, "RemoteCommunicationID", i->remote.communication_id);
}

uint64_t cm_service(uint16_t space, uint16_t port)
{
	return (uint64_t)space << 16 | port;
}

static void write_private(uint8_t *mad, size_t room, bool with_ip, const struct cm_id *i,
			  const uint8_t *bytes, size_t size)
{
	uint8_t *at = mad + (MAD_SIZE - room);

	if (with_ip) {
		at[1] = 4 << 4;
		memcpy(at + 2, &i->local.address.sin_port, 2);
		memcpy(at + 16, &i->local.address.sin_addr, 4);
		memcpy(at + 32, &i->remote.address.sin_addr, 4);
		at += IP_HEADER;
		room -= IP_HEADER;
	}
	if (size > 0)
		memcpy(at, bytes, size < room ? size : room);
}

void cm_send_req(struct cm *m, struct cm_id *i, const struct rdma_ucm_conn_param *p, hd_time now)
{
	uint8_t *mad = i->mad;

	cm_write_header(i, ATTR_CM_REQ, mad);
	mad_set(mad, "LocalCommunicationID", i->number);
	mad_set(mad, "ServiceID", cm_service(i->space, ntohs(i->remote.address.sin_port)));
	mad_set(mad, "LocalCAGUID", i->local.guid);
	mad_set(mad, "LocalQPN", i->local.qpn & 0xFFFFFF);
	mad_set(mad, "ResponderResources", i->local.responder_resources);
	mad_set(mad, "InitiatorDepth", i->local.initiator_depth);
	mad_set(mad, "RemoteCMResponseTimeout", RESPONSE_TIMEOUT);
	mad_set(mad, "EndToEndFlowControl", i->local.flow_control);
	mad_set(mad, "StartingPSN", i->local.psn);
	mad_set(mad, "LocalCMResponseTimeout", RESPONSE_TIMEOUT);
	mad_set(mad, "RetryCount", i->local.retry_count);
	mad_set(mad, "PartitionKey", i->path.pkey);
	mad_set(mad, "PathPacketPayloadMTU", i->path.mtu);
	mad_set(mad, "RNRRetryCount", i->local.rnr_retry_count);
	mad_set(mad, "MaxCMRetries", MAX_RETRIES);
	mad_set(mad, "SRQ", i->local.srq);
	mad_set(mad, "PrimaryLocalLID", i->path.slid);
	mad_set(mad, "PrimaryRemoteLID", i->path.dlid);
	mad_set_bytes(mad, "PrimaryLocalGID", i->path.sgid, 16);
	mad_set_bytes(mad, "PrimaryRemoteGID", i->path.dgid, 16);
	mad_set(mad, "PrimaryPacketRate", i->path.rate);
	mad_set(mad, "PrimarySL", i->path.sl);
	mad_set(mad, "PrimarySubnetLocal", 1);
	mad_set(mad, "PrimaryLocalAckTimeout", i->path.ack_timeout);
	write_private(mad, REQ_PRIVATE, true, i, p->private_data, p->private_data_len);
	send_with_retries(m, i, ID_REQ_SENT, now);
}

void cm_send_rep(struct cm *m, struct cm_id *i, const struct rdma_ucm_conn_param *p, hd_time now)
{
	uint8_t *mad = i->mad;

	cm_write_ids(i, ATTR_CM_REP, mad);
	mad_set(mad, "LocalQPN", i->local.qpn & 0xFFFFFF);
	mad_set(mad, "StartingPSN", i->local.psn);
	mad_set(mad, "ResponderResources", i->local.responder_resources);
	mad_set(mad, "InitiatorDepth", i->local.initiator_depth);
	mad_set(mad, "TargetAckDelay", 14);
	mad_set(mad, "EndToEndFlowControl", i->local.flow_control);
	mad_set(mad, "RNRRetryCount", i->local.rnr_retry_count);
	mad_set(mad, "SRQ", i->local.srq);
	mad_set(mad, "LocalCAGUID", i->local.guid);
	write_private(mad, REP_PRIVATE, false, i, p->private_data, p->private_data_len);
	send_with_retries(m, i, ID_REP_SENT, now);
}

void cm_send_rtu(struct cm *m, struct cm_id *i)
{
	cm_write_ids(i, ATTR_CM_RTU, i->mad);
	i->state = ID_ESTABLISHED;
	i->due = HD_TIME_NEVER;
	send_to_peer(m, i, i->mad);
}

void cm_send_rej(struct cm *m, struct cm_id *i, uint16_t reason, const void *private, size_t size)
{
	uint8_t mad[MAD_SIZE];

	cm_write_ids(i, ATTR_CM_REJ, mad);
	mad_set(mad, "MessageRejected",
		i->state == ID_REP_RECEIVED   ? MESSAGE_REP
		: i->state == ID_REQ_RECEIVED ? MESSAGE_REQ
					      : MESSAGE_OTHER);
	mad_set(mad, "Reason", reason);
	write_private(mad, REJ_PRIVATE, false, i, private, size);
	i->state = ID_ENDED;
	i->due = HD_TIME_NEVER;
	send_to_peer(m, i, mad);
}

void cm_send_dreq(struct cm *m, struct cm_id *i, hd_time now)
{
	cm_write_ids(i, ATTR_CM_DREQ, i->mad);
	mad_set(i->mad, "RemoteQPN", i->remote.qpn & 0xFFFFFF);
	send_with_retries(m, i, ID_DREQ_SENT, now);
}

void cm_send_drep(struct cm *m, struct cm_id *i)
{
	uint8_t mad[MAD_SIZE];

	cm_write_ids(i, ATTR_CM_DREP, mad);
	send_to_peer(m, i, mad);
}

void cm_send_sidr_req(struct cm *m, struct cm_id *i, const struct rdma_ucm_conn_param *p,
		      hd_time now)
{
	cm_write_header(i, ATTR_CM_SIDR_REQ, i->mad);
	mad_set(i->mad, "RequestID", i->number);
	mad_set(i->mad, "PartitionKey", i->path.pkey);
	mad_set(i->mad, "ServiceID", cm_service(i->space, ntohs(i->remote.address.sin_port)));
	write_private(i->mad, SIDR_REQ_PRIVATE, true, i, p->private_data, p->private_data_len);
	send_with_retries(m, i, ID_SIDR_SENT, now);
}

void cm_send_sidr_rep(struct cm *m, struct cm_id *i, const struct rdma_ucm_conn_param *p)
{
	uint8_t mad[MAD_SIZE];

	cm_write_header(i, ATTR_CM_SIDR_REP, mad);
	mad_set(mad, "RequestID", i->remote.communication_id);
	mad_set(mad, "SIDRStatus", p ? SIDR_VALID : SIDR_REJECTED);
	mad_set(mad, "ServiceID", cm_service(i->space, ntohs(i->local.address.sin_port)));
	if (p) {
		mad_set(mad, "QPN", p->qp_num & 0xFFFFFF);
		mad_set(mad, "Q_Key", i->qkey);
		write_private(mad, SIDR_REP_PRIVATE, false, i, p->private_data,
			      p->private_data_len);
	}
	i->state = p ? ID_ESTABLISHED : ID_ENDED;
	send_to_peer(m, i, mad);
}

/* ---- queries to subnet administration */

void cm_set_membership(struct cm *m, struct cm_id *i, uint8_t method, hd_time now)
{
	const struct mad_header h = { .mgmt_class = MAD_SA,
				      .method = method,
				      .attribute = ATTR_MC_MEMBER_RECORD,
				      .tid = i->number };

	mad_write(&h, i->mad);
	mad_set(i->mad, "ComponentMask", method == MAD_SET ? MEMBER_MASK : LEAVE_MASK);
	mad_set_bytes(i->mad, "MGID", i->path.dgid, 16);
	mad_set_bytes(i->mad, "PortGID", i->path.sgid, 16);
	mad_set(i->mad, "Q_Key", i->qkey);
	mad_set(i->mad, "P_Key", i->path.pkey);
	mad_set(i->mad, "JoinState", i->join_state);
	set_sa_address(m, i);
	if (method == MAD_SET)
		send_with_retries(m, i, ID_JOINING, now);
	else
		send_to_peer(m, i, i->mad);
}

void cm_query_path(struct cm *m, struct cm_id *i, unsigned timeout_ms, hd_time now)
{
	const struct mad_header h = { .mgmt_class = MAD_SA,
				      .method = MAD_GET,
				      .attribute = ATTR_PATH_RECORD,
				      .tid = i->number };

	mad_write(&h, i->mad);
	mad_set(i->mad, "ComponentMask",
		HAS_DGID | HAS_SGID | HAS_REVERSIBLE | HAS_NUMB_PATH | HAS_PKEY);
	mad_set_bytes(i->mad, "DGID", i->path.dgid, 16);
	mad_set_bytes(i->mad, "SGID", i->path.sgid, 16);
	mad_set(i->mad, "Reversible", 1);
	mad_set(i->mad, "NumbPath", 1);
	mad_set(i->mad, "P_Key", i->path.pkey);
	set_sa_address(m, i);
	i->state = ID_RESOLVING_ROUTE;
	i->retries = 0;
	i->due = now + (timeout_ms ? timeout_ms : 1000) * HD_MS;
	send_to_peer(m, i, i->mad);
}

uint8_t cm_ack_timeout(uint8_t life)
{
	return (uint8_t)(life < 13 ? 14 : life > 29 ? 31 : life + 2);
}
