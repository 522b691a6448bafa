/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TRANSPORT_QP_H
#define HD_TRANSPORT_QP_H

/*
 * A queue pair as a state machine over packets: RC, UC and UD.
 *
 * The owner holds packets and memory. qp_receive takes packets; qp_transmit returns the next one
 * whenever the owner can send. Memory, completions and events are reached through the owner's
 * functions. Time is an argument, and qp_due is the time of the next qp_timer call. The same code
 * therefore runs over the simulator, over sockets, and in tests that lose, duplicate and reorder
 * packets.
 *
 *	           qp_post_send, qp_post_recv
 *	                     |
 *	qp_receive -->  [ queue pair ]  --> qp_transmit
 *	qp_timer   -->       |          <-- qp_sent
 *	              struct qp_owner: memory, completions, events
 *
 * An RC pair has two state machines with one number: the requester (own work requests, the peer's
 * responses) and the responder (the peer's requests, own responses). Responses leave before
 * requests.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/pack.h"
#include "base/units.h"
#include "transport/psn.h"
#include "transport/work.h"
#include "wire/packet.h"

struct qp;

enum qp_kind { QP_RC, QP_UC, QP_UD };

enum qp_state {
	QPS_RESET,
	QPS_INIT,
	QPS_RTR, /* ready to receive */
	QPS_RTS, /* ready to send */
	QPS_SQD, /* send queue drains */
	QPS_SQE, /* send queue in error; UC and UD */
	QPS_ERR,
};

/* Whether a queue pair in this state takes packets of its peers. */
static inline bool qp_state_receives(enum qp_state state)
{
	return state >= QPS_RTR && state <= QPS_SQE;
}

/* Permitted accesses of a remote request, or of the owner of memory. */
enum {
	ACCESS_LOCAL_WRITE = 1 << 0,
	ACCESS_REMOTE_WRITE = 1 << 1,
	ACCESS_REMOTE_READ = 1 << 2,
	ACCESS_REMOTE_ATOMIC = 1 << 3,
};

enum qp_event {
	QP_EVENT_COMM_EST, /* first packet in RTR */
	QP_EVENT_SQ_DRAINED,
	QP_EVENT_REQ_ERR,    /* the peer sent what it must not */
	QP_EVENT_ACCESS_ERR, /* ... or touched what it must not */
	QP_EVENT_LAST_WQE,   /* ERR with an SRQ: no more receives will be taken */
	QP_EVENT_PKEY,       /* counted, for traps 257 */
	QP_EVENT_QKEY,       /* and 258 */
};

/* Functions of the adapter that owns the queue pair. */
struct qp_owner {
	void *context;
	/*
	 * Whether a queue pair of protection domain `pd` may use `len` bytes at `addr` in this way,
	 * under this key. access 0: local read.
	 */
	bool (*allows)(void *context, uint32_t pd, uint32_t key, uint64_t addr, uint64_t len,
		       unsigned access);
	/* Called after `allows` only, with ascending addresses. */
	void (*read)(void *context, uint32_t key, uint64_t addr, void *to, size_t len);
	void (*write)(void *context, uint32_t key, uint64_t addr, const void *from, size_t len);
	/* Swaps or adds in host byte order, in one step; the old value. */
	uint64_t (*atomic)(void *context, const struct atomiceth *what, bool compare);
	void (*invalidate)(void *context, uint32_t rkey);
	void (*complete)(void *context, struct qp *qp, const struct completion *wc, bool receive);
	void (*event)(void *context, struct qp *qp, enum qp_event event);
	/* The next entry of the shared receive queue, if it has one. */
	bool (*take_shared)(void *context, struct recv_wr *out);
};

/* Fixed for a queue pair's life. */
struct qp_params {
	enum qp_kind kind;
	uint32_t qpn;
	uint32_t pd;
	uint32_t max_send, max_recv; /* work requests */
	bool signal_all;
	bool shared_recv; /* receives come from take_shared */
	/*
	 * RC: number of packets ahead of the expected one up to which requests are stored until it
	 * arrives, and responses ahead of a missing one of a READ or atomic. 0, as in InfiniBand:
	 * none; the first early request is answered with a NAK, and the first early response makes
	 * the requester repeat.
	 */
	uint32_t window;
};

#define QP_MAX_WINDOW 65536

/* Attributes of modify; the mask selects them. */
enum {
	QPA_STATE = 1 << 0,
	QPA_ACCESS = 1 << 1,
	QPA_PKEY = 1 << 2,
	QPA_QKEY = 1 << 3,
	QPA_PATH = 1 << 4, /* LIDs, SL, GRH */
	QPA_MTU = 1 << 5,
	QPA_DEST_QP = 1 << 6,
	QPA_RQ_PSN = 1 << 7,
	QPA_MAX_DEST_RD = 1 << 8,
	QPA_MIN_RNR = 1 << 9,
	QPA_TIMEOUT = 1 << 10,
	QPA_RETRY = 1 << 11,
	QPA_RNR_RETRY = 1 << 12,
	QPA_SQ_PSN = 1 << 13,
	QPA_MAX_RD = 1 << 14,
};

struct qp_attr {
	enum qp_state state;
	unsigned access;
	uint16_t pkey;
	uint32_t qkey;
	uint16_t slid, dlid;
	uint8_t sl;
	bool global; /* send a GRH with the two below */
	uint8_t sgid[16], dgid[16];
	uint8_t tclass, hop_limit;
	uint32_t mtu; /* bytes: 256 .. 4096 */
	uint32_t dest_qpn;
	uint32_t rq_psn, sq_psn;
	uint8_t max_dest_rd, max_rd; /* reads and atomics under way */
	uint8_t min_rnr;             /* timer code */
	uint8_t timeout;
	uint8_t retry, rnr_retry;
	/* Extension: end-to-end credits in ACKs, off by default. */
	bool credits;
	uint32_t ack_every; /* packets of a long message; 0 = 16 */
};

/*
 * NULL if max_send or max_recv is 0 where one is needed, or the window is
 * wider than QP_MAX_WINDOW.
 */
struct qp *qp_new(const struct qp_params *params, const struct qp_owner *owner);
void qp_free(struct qp *qp);

/*
 * Moves to attr->state and sets the attributes of the mask. HD_ERR_UNFIT if the transition does not
 * exist, HD_ERR_INPUT if a required attribute is missing or one is not permitted; the queue pair is
 * then unchanged.
 */
HD_MUST_CHECK enum hd_status qp_modify(struct qp *qp, const struct qp_attr *attr, unsigned mask);
enum qp_state qp_state(const struct qp *qp);
const struct qp_params *qp_params(const struct qp *qp);
void qp_query(const struct qp *qp, struct qp_attr *out);

/*
 * HD_ERR_FULL if the queue is; HD_ERR_UNFIT if the state or the kind of queue
 * pair does not take this request; HD_ERR_RANGE for lengths and counts.
 */
HD_MUST_CHECK enum hd_status qp_post_send(struct qp *qp, const struct send_wr *wr);
HD_MUST_CHECK enum hd_status qp_post_recv(struct qp *qp, const struct recv_wr *wr);
/* The result that qp_post_send would return. */
HD_MUST_CHECK enum hd_status qp_check_send(const struct qp *qp, const struct send_wr *wr);
/* Requests that are posted and not yet completed (receives: taken). */
uint32_t qp_sends_left(const struct qp *qp);
uint32_t qp_recvs_left(const struct qp *qp);

/* Receives a packet for this queue pair with valid CRCs. Checks LIDs, GIDs and P_Key. */
void qp_receive(struct qp *qp, const struct packet *packet, hd_time now);

/*
 * The next packet to send now, its payload in `buffer` (4096 bytes); false if
 * none is ready. LRH and GRH are filled but for the VL.
 */
bool qp_transmit(struct qp *qp, hd_time now, struct packet *out, uint8_t *buffer);
/*
 * A packet of qp_transmit has left the adapter, or was dropped in it. It completes UC and UD
 * requests, with their last packet and in order: their data are on the wire, received or not.
 */
void qp_sent(struct qp *qp, const struct packet *packet);
/* Whether qp_transmit has a packet, or a request that fails. */
bool qp_has_packet(const struct qp *qp, hd_time now);

/* Required attributes of the transition to INIT, RTR or RTS, and the path for UD. */
unsigned qp_step_mask(enum qp_kind kind, enum qp_state to);

/* Whether what it has to give is an answer: those go first. */
bool qp_has_answer(const struct qp *qp);
/* DLID of its next request. */
uint16_t qp_dlid(const struct qp *qp);

/* When to call qp_timer, or HD_TIME_NEVER. */
hd_time qp_due(const struct qp *qp);
void qp_timer(struct qp *qp, hd_time now);

/*
 * Number of complete messages received from peers: sends, writes and RC requests with a response.
 * Modulo 2^24.
 */
uint32_t qp_taken(const struct qp *qp);

/* Number of retries after losses. */
uint64_t qp_retries(const struct qp *qp);
/* Number of early packets, stored or not. */
uint64_t qp_early(const struct qp *qp);

/* Packs the state; reading needs a queue pair that was created and connected in the same way. */
void qp_pack(struct qp *qp, struct pack *p);

/* A BECN for this queue pair arrived since the last call. */
bool qp_take_becn(struct qp *qp);

#endif
