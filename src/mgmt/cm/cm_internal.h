/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MGMT_CM_CM_INTERNAL_H
#define HD_MGMT_CM_CM_INTERNAL_H

/* Private to cm/: what a program's rdma_cm_id is behind its number. */

#include <rdma/rdma_user_cm.h>

#include "mgmt/cm/cm.h"

enum id_state {
	ID_IDLE,
	ID_BOUND,
	ID_LISTENING,
	ID_ADDRESSED, /* knows both ports */
	ID_ASKING,    /* for a path */
	ID_ROUTED,
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
	ID_ENDED, /* refused, or given up: to be destroyed */
	/* Of a membership in a group: */
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

/* One end of a connection: queue pair and what it wants of the other. */
struct cm_end {
	struct sockaddr_in address; /* family 0: not known */
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
	uint8_t ack_timeout; /* of this end */
	uint8_t dgid[16], sgid[16];
};

struct cm_id {
	bool used;
	bool reports; /* a program has given it a context */
	bool reuses;  /* its address may be another's, too */
	enum id_state state;
	uint16_t generation;
	uint32_t number; /* generation and place; the communication ID, too */
	uint32_t channel;
	node_id host;
	uint64_t uid; /* the program's context */
	uint16_t space;
	uint8_t qp_type;
	uint32_t qkey;
	uint32_t listener; /* of a request that is not accepted yet; or 0 */
	/* Of a membership in the group path.dgid: the id that has it; or 0. */
	uint32_t member;
	uint8_t join_state;
	uint32_t backlog, n_requests;
	uint32_t reported; /* events */
	struct cm_end here, there;
	struct cm_path path;
	/* What is sent again until it is answered. */
	hd_time due; /* HD_TIME_NEVER: nothing */
	unsigned retries;
	uint8_t mad[MAD_SIZE];
};

struct cm_event {
	uint32_t channel;
	uint32_t id;    /* whose */
	uint32_t fresh; /* a new one that comes with it; or 0 */
	struct rdma_ucm_event_resp event;
};

struct letter {
	port_id from;
	struct mad_address to;
	uint8_t mad[MAD_SIZE];
};

struct cm {
	struct agents *agents;
	const struct topo *topo;
	struct cm_events events;
	port_id *ports; /* with an address, in its order */
	uint32_t n_ports;
	struct cm_id *ids;
	size_t n_ids, ids_cap;
	struct cm_event *waiting; /* in the order in which they happened */
	size_t n_waiting, waiting_cap;
	struct letter *outbox;
	size_t n_outbox, outbox_cap;
	uint32_t psn;
	uint32_t ephemeral; /* ports that were chosen */
};

/* ---- ids.c */

/* A new one; numbers are never 0. What was found before is elsewhere then. */
struct cm_id *id_new(struct cm *m, node_id host, uint32_t channel);
/* NULL if there is none of that number. */
struct cm_id *id_find(struct cm *m, uint32_t number);
/* Tells its program; `fresh` is a new id that comes with it, or NULL. */
void id_tell(struct cm *m, const struct cm_id *i, const struct cm_id *fresh,
	     const struct rdma_ucm_event_resp *e);
/* One that waits is taken, or of no use any more. */
void cm_drop_event(struct cm *m, size_t k);
/* How many events of its went with it unread. */
uint32_t id_destroy(struct cm *m, struct cm_id *i, hd_time now);
bool id_is_datagram(const struct cm_id *i);
/* The port of an address; TOPO_NONE if nobody has it. */
port_id cm_port_of(const struct cm *m, node_id host, uint32_t address);
/* The first port of a host that is active, or else its first. */
port_id cm_first_port(const struct cm *m, node_id host);
uint32_t cm_port_address(const struct cm *m, port_id p);
void cm_port_gid(const struct cm *m, port_id p, uint8_t gid[16]);

/* ---- groups.c */

/*
 * The membership of an id in a group, which is a number of its own: its events
 * have that and the context `uid`. `address`: IPv4, or a group of IPv6 that is
 * its MGID. An errno; what was found before is elsewhere then.
 */
struct cm_join {
	const struct sockaddr_in6 *address;
	uint64_t uid;
	bool only_sends;
};
int group_join(struct cm *m, uint32_t number, const struct cm_join *j, hd_time now, uint32_t *out);
/* Subnet administration has answered. */
void group_answered(struct cm *m, struct cm_id *i, const uint8_t *mad);
/* It is no member any more; unless others of its port are. */
void group_leave(struct cm *m, struct cm_id *i);
/* All memberships of an id; how many events of theirs went unread. */
uint32_t groups_leave(struct cm *m, uint32_t number, hd_time now);

/* ---- messages.c: MADs that are sent */

enum {
	IP_HEADER = 36, /* addresses, before the private data of a request */
	/* Private data ends a MAD; bytes of it: */
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

/* How long an answer may take. */
extern const hd_time CM_RESPONSE_TIME;

/* A MAD's header; and with the names that both ends have for a connection. */
void cm_begin(const struct cm_id *i, uint16_t attribute, uint8_t *mad);
void cm_begin_between(const struct cm_id *i, uint16_t attribute, uint8_t *mad);
/* What a port of a kind of programs is called in a MAD. */
uint64_t cm_service(uint16_t space, uint16_t port);
/* Somewhat longer than there and back, and never below what adapters need. */
uint8_t cm_ack_timeout(uint8_t life);

void cm_send_from(struct cm *m, port_id from, const struct mad_address *to, const uint8_t *mad);
/* What it sent last and has no answer to. */
void cm_send_again(struct cm *m, struct cm_id *i);
void cm_ask_path(struct cm *m, struct cm_id *i, unsigned timeout_ms, hd_time now);
/* To join (MAD_SET) or to leave (MAD_DELETE) a group. */
void cm_ask_group(struct cm *m, struct cm_id *i, uint8_t method, hd_time now);
void cm_send_req(struct cm *m, struct cm_id *i, const struct rdma_ucm_conn_param *p, hd_time now);
void cm_send_rep(struct cm *m, struct cm_id *i, const struct rdma_ucm_conn_param *p, hd_time now);
void cm_send_rtu(struct cm *m, struct cm_id *i);
void cm_send_sidr_req(struct cm *m, struct cm_id *i, const struct rdma_ucm_conn_param *p,
		      hd_time now);
/* `p` is NULL if it is refused. */
void cm_send_sidr_rep(struct cm *m, struct cm_id *i, const struct rdma_ucm_conn_param *p);
void cm_send_rej(struct cm *m, struct cm_id *i, uint16_t reason, const void *private, size_t size);
void cm_send_dreq(struct cm *m, struct cm_id *i, hd_time now);
void cm_send_drep(struct cm *m, struct cm_id *i);

#endif
