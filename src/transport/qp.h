/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TRANSPORT_QP_H
#define HD_TRANSPORT_QP_H

/*
 * A queue pair as a state machine over packets: RC, UC and UD.
 *
 * It knows nothing of where packets and memory live. Packets come in through
 * qp_receive and go out through qp_transmit, which is asked for the next one
 * whenever the owner can send; memory, completions and events are reached
 * through the owner's table; time is an argument, and qp_due says when
 * qp_timer wants to be called. So the same code runs over the simulator, over
 * sockets, and under a test that loses, doubles and reorders packets.
 *
 *	           qp_post_send, qp_post_recv
 *	                     |
 *	qp_receive -->  [ queue pair ]  --> qp_transmit
 *	qp_timer   -->       |          <-- qp_sent
 *	              struct qp_owner: memory, completions, events
 *
 * An RC pair is two machines that share a number: the requester (our work
 * requests, the peer's answers) and the responder (the peer's requests, our
 * answers). Answers leave before requests.
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

/* What a remote request, or the owner of memory, may do. */
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
	QP_EVENT_LAST_WQE,   /* ERR with an SRQ: nothing more will be taken */
	QP_EVENT_PKEY,       /* counted, for traps 257 */
	QP_EVENT_QKEY,       /* and 258 */
};

/* What a queue pair needs of the adapter it is in. */
struct qp_owner {
	void *context;
	/*
	 * May `len` bytes at `addr` be used so, under this key, by a queue
	 * pair of protection domain `pd`? access 0 asks for local reading.
	 */
	bool (*allows)(void *context, uint32_t pd, uint32_t key, uint64_t addr, uint64_t len,
		       unsigned access);
	/* Only after allows; by ascending address. */
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
	 * RC: requests that many packets ahead of the expected one, at most,
	 * are kept until it comes, and so are answers ahead of a missing one of
	 * a READ or atomic. 0, as InfiniBand has it: none is; the first request
	 * that is ahead is answered by a NAK, and the first such answer makes
	 * the requester ask again.
	 */
	uint32_t window;
};

#define QP_MAX_WINDOW 65536

/* What modify sets; the mask says which fields count. */
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
	/* Ours: end-to-end credits in ACKs, off unless asked for. */
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
 * Moves to attr->state and sets what the mask names. HD_ERR_UNFIT if that
 * transition does not exist, HD_ERR_INPUT if it needs an attribute that is
 * not there or is given one that it does not take; nothing is changed then.
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
/* What qp_post_send would say. */
HD_MUST_CHECK enum hd_status qp_check_send(const struct qp *qp, const struct send_wr *wr);
/* Requests that are posted and not yet completed (receives: taken). */
uint32_t qp_sends_left(const struct qp *qp);
uint32_t qp_recvs_left(const struct qp *qp);

/*
 * A packet for this queue pair whose CRCs are good. LIDs, GIDs and P_Key are
 * checked here.
 */
void qp_receive(struct qp *qp, const struct packet *packet, hd_time now);

/*
 * The next packet to send now, its payload in `buffer` (4096 bytes); false if
 * none is ready. LRH and GRH are filled but for the VL.
 */
bool qp_transmit(struct qp *qp, hd_time now, struct packet *out, uint8_t *buffer);
/*
 * A packet that qp_transmit gave has left the adapter, or was lost in it. UC
 * and UD requests complete by it, with their last packet and in their order:
 * their data are on the wire, whether they are received or not.
 */
void qp_sent(struct qp *qp, const struct packet *packet);
/*
 * Whether qp_transmit has something to do: a packet to give or, instead, a
 * request to find wrong. False as soon as there is neither.
 */
bool qp_has_packet(const struct qp *qp, hd_time now);

/* The mask for a step of its way up, to INIT, RTR or RTS: what it must be given
 * there, and the path of a UD one. */
unsigned qp_step_mask(enum qp_kind kind, enum qp_state to);

/* Whether what it has to give is an answer: those go first. */
bool qp_has_answer(const struct qp *qp);
/* Where its next request goes. */
uint16_t qp_dlid(const struct qp *qp);

/* When to call qp_timer, or HD_TIME_NEVER. */
hd_time qp_due(const struct qp *qp);
void qp_timer(struct qp *qp, hd_time now);

/*
 * Messages of its peers that are here as a whole: sends, writes, and what RC
 * answers. Modulo 2^24.
 */
uint32_t qp_taken(const struct qp *qp);

/* How often it went back to send again what was lost. */
uint64_t qp_retries(const struct qp *qp);
/* How many packets came before their turn, kept or not. */
uint64_t qp_early(const struct qp *qp);

/*
 * What it remembers, as bytes and back, into one that was made and connected in
 * the same way.
 */
void qp_pack(struct qp *qp, struct pack *p);

/* A BECN for this queue pair arrived since the last call. */
bool qp_take_becn(struct qp *qp);

#endif
