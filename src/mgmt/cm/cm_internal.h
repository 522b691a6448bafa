/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MGMT_CM_CM_INTERNAL_H
#define HD_MGMT_CM_CM_INTERNAL_H

/*
 * State of the connection managers and functions shared by the files of mgmt/cm. A cm_id is the
 * kernel side of a program's rdma_cm_id.
 */

#include <rdma/rdma_user_cm.h>

#include "mgmt/cm/cm.h"

enum id_state {
	ID_IDLE,
	ID_BOUND,
	ID_LISTENING,
	ID_ADDR_RESOLVED,   /* both ports are known */
	ID_RESOLVING_ROUTE, /* waits for a PathRecord */
	ID_ROUTE_RESOLVED,
	ID_REQ_SENT,
	ID_REQ_RECEIVED,
	ID_REP_SENT,
	ID_REP_RECEIVED,
	ID_ESTABLISHED,
	ID_DREQ_SENT,
	ID_DREQ_RECEIVED,
	ID_TIMEWAIT,
	ID_SIDR_SENT,
	ID_SIDR_RECEIVED,
	ID_ENDED, /* rejected or timed out; to be destroyed */
	/* Of a multicast membership: */
	ID_JOINING,
	ID_JOINED,
};

/* The events of rdma/rdma_cma.h. */
enum {
	EVENT_ADDR_RESOLVED = 0,
	EVENT_ROUTE_RESOLVED = 2,
	EVENT_ROUTE_ERROR = 3,
	EVENT_CONNECT_REQUEST = 4,
	EVENT_CONNECT_RESPONSE = 5,
	EVENT_UNREACHABLE = 7,
	EVENT_REJECTED = 8,
	EVENT_ESTABLISHED = 9,
	EVENT_DISCONNECTED = 10,
	EVENT_MULTICAST_JOIN = 12,
	EVENT_MULTICAST_ERROR = 13,
	EVENT_TIMEWAIT_EXIT = 15,
};

/* One end of a connection: its queue pair and parameters. */
struct cm_end {
	struct sockaddr_in address; /* family 0: unknown */
	port_id port;               /* TOPO_NONE: any */
	uint32_t communication_id;
	uint64_t guid; /* of the adapter */
	uint32_t qpn;
	uint32_t psn;
	uint8_t responder_resources, initiator_depth;
	uint8_t retry_count, rnr_retry_count, flow_control, srq;
};

struct cm_path {
	uint16_t dlid, slid, pkey;
	uint8_t sl, mtu, rate, life;
	uint8_t ack_timeout; /* Local ACK Timeout of this end */
	uint8_t dgid[16], sgid[16];
};

struct cm_id {
	bool used;
	bool has_context;   /* a program has set its context */
	bool reuse_address; /* SO_REUSEADDR */
	enum id_state state;
	uint16_t generation;
	uint32_t number; /* generation and index; also the communication ID */
	uint32_t channel;
	node_id host;
	uint64_t uid; /* the program's context */
	uint16_t space;
	uint8_t qp_type;
	uint32_t qkey;
	uint32_t listener; /* of a request that is not accepted yet; or 0 */
	/* Of a multicast membership in path.dgid: the id that joined; or 0. */
	uint32_t member_of;
	uint8_t join_state;
	uint32_t backlog, n_requests;
	uint32_t n_reported; /* events */
	struct cm_end local, remote;
	struct cm_path path;
	/* The last message, repeated until it is answered. */
	hd_time due; /* HD_TIME_NEVER: no timer */
	unsigned retries;
	uint8_t mad[MAD_SIZE];
};

struct cm_event {
	uint32_t channel;
	uint32_t id;     /* the id that gets the event */
	uint32_t new_id; /* a new id of a connection request, or 0 */
	struct rdma_ucm_event_resp event;
};

struct outgoing_mad {
	port_id from;
	struct mad_address to;
	uint8_t mad[MAD_SIZE];
};

struct cm {
	struct agents *agents;
	const struct topo *topo;
	struct cm_events events;
	port_id *ports; /* ports with an address, in order */
	uint32_t n_ports;
	struct cm_id *ids;
	size_t n_ids, ids_cap;
	struct cm_event *queue; /* in the order in which they occurred */
	size_t n_queued, queue_cap;
	struct outgoing_mad *outbox;
	size_t n_outbox, outbox_cap;
	uint32_t psn;
	uint32_t ephemeral; /* ephemeral ports used so far */
};

/* ---- ids.c */

/* A new id; numbers are never 0. Invalidates pointers to other ids. */
struct cm_id *cm_id_new(struct cm *m, node_id host, uint32_t channel);
/* NULL if no id has that number. */
struct cm_id *cm_id_find(struct cm *m, uint32_t number);
/* Queues an event for the program; `fresh` is a new id that comes with it, or NULL. */
void cm_id_event(struct cm *m, const struct cm_id *i, const struct cm_id *new_id,
		 const struct rdma_ucm_event_resp *e);
/* Removes event `k` of the queue. */
void cm_drop_event(struct cm *m, size_t k);
/* Returns the number of unread events removed with it. */
uint32_t cm_id_destroy(struct cm *m, struct cm_id *i, hd_time now);
bool cm_id_is_datagram(const struct cm_id *i);
/* The port that has an address, or TOPO_NONE. */
port_id cm_port_of(const struct cm *m, node_id host, uint32_t address);
/* The first active port of a host, or its first port. */
port_id cm_first_port(const struct cm *m, node_id host);
uint32_t cm_port_address(const struct cm *m, port_id p);
void cm_port_gid(const struct cm *m, port_id p, uint8_t gid[16]);

/* ---- groups.c */

/*
 * A membership of an id in a multicast group; it has an id of its own, whose events have context
 * `uid`. `address`: IPv4, or an IPv6 group that is an MGID. Returns an errno; invalidates pointers
 * to ids.
 */
struct cm_join {
	const struct sockaddr_in6 *address;
	uint64_t uid;
	bool only_sends;
};
int cm_group_join(struct cm *m, uint32_t number, const struct cm_join *j, hd_time now,
		  uint32_t *out);
/* The response of subnet administration to a join. */
void cm_group_response(struct cm *m, struct cm_id *i, const uint8_t *mad);
/* Leaves the group, unless another id of the port is a member. */
void cm_group_leave(struct cm *m, struct cm_id *i);
/* Ends all memberships of an id; returns the number of unread events. */
uint32_t cm_groups_leave(struct cm *m, uint32_t number, hd_time now);

/* ---- messages.c: MADs to send */

enum {
	IP_HEADER = 36, /* addresses, before the private data of a request */
	/* Private data is at the end of a MAD; its sizes: */
	REQ_PRIVATE = 92,
	REP_PRIVATE = 196,
	REJ_PRIVATE = 148,
	SIDR_REQ_PRIVATE = 216,
	SIDR_REP_PRIVATE = 136,
	MESSAGE_REQ = 0,
	MESSAGE_REP = 1,
	MESSAGE_OTHER = 2,
	REJ_TIMEOUT = 4,
	REJ_INVALID_SERVICE = 8,
	REJ_CONSUMER = 28,
	SIDR_VALID = 0,
	SIDR_UNSUPPORTED = 1,
	SIDR_REJECTED = 2,
};

/* Time allowed for a response. */
extern const hd_time CM_RESPONSE_TIME;

/* Writes the header of a CM MAD; the second also both communication IDs. */
void cm_write_header(const struct cm_id *i, uint16_t attribute, uint8_t *mad);
void cm_write_ids(const struct cm_id *i, uint16_t attribute, uint8_t *mad);
/* The ServiceID of a port space and port. */
uint64_t cm_service(uint16_t space, uint16_t port);
/* Local ACK Timeout for a PacketLifeTime: longer than a round trip, and at least 14. */
uint8_t cm_ack_timeout(uint8_t life);

void cm_queue_mad(struct cm *m, port_id from, const struct mad_address *to, const uint8_t *mad);
/* Repeats the last message that has no response. */
void cm_resend(struct cm *m, struct cm_id *i);
void cm_query_path(struct cm *m, struct cm_id *i, unsigned timeout_ms, hd_time now);
/* Joins (MAD_SET) or leaves (MAD_DELETE) a group. */
void cm_set_membership(struct cm *m, struct cm_id *i, uint8_t method, hd_time now);
void cm_send_req(struct cm *m, struct cm_id *i, const struct rdma_ucm_conn_param *p, hd_time now);
void cm_send_rep(struct cm *m, struct cm_id *i, const struct rdma_ucm_conn_param *p, hd_time now);
void cm_send_rtu(struct cm *m, struct cm_id *i);
void cm_send_sidr_req(struct cm *m, struct cm_id *i, const struct rdma_ucm_conn_param *p,
		      hd_time now);
/* `p` is NULL for a rejection. */
void cm_send_sidr_rep(struct cm *m, struct cm_id *i, const struct rdma_ucm_conn_param *p);
void cm_send_rej(struct cm *m, struct cm_id *i, uint16_t reason, const void *private, size_t size);
void cm_send_dreq(struct cm *m, struct cm_id *i, hd_time now);
void cm_send_drep(struct cm *m, struct cm_id *i);

#endif
