/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TRANSPORT_TRANSPORT_INTERNAL_H
#define HD_TRANSPORT_TRANSPORT_INTERNAL_H

/* State of a queue pair; private to transport/. */

#include "transport/qp.h"
#include "transport/responder_rules.h"

#define MAX_RD      16 /* reads and atomics under way, either direction */
/* Answers not yet sent: each resource once, replayed duplicates, one ACK. */
#define MAX_ANSWERS (3 * MAX_RD)

/* A work request in the send queue. */
struct send_item {
	uint64_t length;
	uint32_t psn;    /* of its first packet, once it was started */
	uint32_t n_psns; /* packets, or of a read: answers */
	uint32_t done;   /* of those: acknowledged or answered */
	uint32_t ssn;
	bool started;
	bool wrong; /* will fail when it is the oldest */
	struct send_wr wr;
	uint8_t data[WR_MAX_INLINE];
};

/* An early request or response, with its data. */
struct early {
	struct packet packet;
	bool in_place; /* the data are in their place */
	uint8_t data[];
};

struct requester {
	struct send_item *items; /* ring that grows (ring_grow) */
	uint32_t places;
	uint32_t size; /* items, at most */
	uint32_t head; /* oldest not completed */
	uint32_t next; /* being sent */
	uint32_t tail; /* next to post */

	uint32_t next_psn; /* of the next packet never sent before */
	uint32_t offset;   /* packets of items[next] sent in this round */
	uint32_t ssn;
	uint32_t lsn;       /* limit by end-to-end credits */
	bool unlimited;     /* the peer sends no credit information */
	uint32_t rd_out;    /* reads and atomics without their answer */
	uint32_t since_ack; /* packets since the last with A set */
	uint32_t asked;     /* PSN after it: answers are due up to here */

	uint8_t retry_left, rnr_left;
	uint64_t retries;  /* that it took, ever */
	hd_time timer;     /* ACK timeout, HD_TIME_NEVER when off */
	hd_time rnr_until; /* 0: not waiting */
	bool drained_told;
	bool implied; /* an implied NAK was acted upon; none since helped */

	struct early **early; /* answers, by PSN; NULL: it never had one */
	uint32_t n_kept;      /* of these */
	uint64_t n_early;     /* received in total */
};

/* A read or atomic that was accepted: enough to answer it again. */
struct resource {
	bool used;
	bool atomic;
	uint32_t psn, n_psns;
	uint32_t rkey;
	uint64_t va;
	uint32_t length;
	uint64_t value; /* atomic: the old one */
};

enum answer_kind { ANSWER_ACK, ANSWER_READ, ANSWER_ATOMIC, ANSWER_CNP };

struct qp_answer {
	enum answer_kind kind;
	uint8_t syndrome;
	uint32_t psn; /* first of a read's */
	uint32_t msn;
	uint32_t n_psns, sent; /* read */
	uint32_t rkey, length;
	uint64_t va;
	uint64_t value;      /* atomic */
	bool holds_resource; /* a responder resource, until it is sent */
	/* CNP: where to. */
	uint16_t dlid;
	uint8_t sl;
	uint32_t qpn;
};

enum incoming { IN_NOTHING, IN_SEND, IN_WRITE };

struct responder {
	uint32_t epsn, msn;
	bool nak_sent; /* no further NAK until the expected PSN arrives */

	enum incoming kind;  /* the message under way */
	struct recv_wr recv; /* taken for it */
	bool has_recv;
	uint64_t received; /* bytes so far */
	struct reth write; /* the message's RETH */
	bool skipping;     /* UC: until the next first packet */

	struct recv_wr *queue; /* ring that grows, to `size` requests */
	uint32_t places, size, head, tail;

	struct resource *resources; /* MAX_RD; NULL: it never had one */
	uint32_t next_resource;
	struct qp_answer *answers; /* ring that grows, to MAX_ANSWERS */
	uint32_t answer_places, answer_head, answer_tail;
	uint32_t resources_held; /* by answers not yet sent */
	bool becn_due;
	bool established;

	bool in_place;        /* the data of the packet at hand are */
	struct early **early; /* by PSN; NULL: it never had one */
	uint64_t n_early;     /* received in total */
};

struct qp {
	struct qp_params params;
	struct qp_attr attr;
	enum qp_state state;
	const struct qp_owner *owner;
	struct requester req;  /* our requests */
	struct responder resp; /* the peer's */
	bool becn_seen;
};

/* ---- shared services (qp.c) -------------------------------------------- */

void qp_tell(struct qp *qp, enum qp_event event);
/* ERR: every request left is flushed, in order. */
void qp_enter_error(struct qp *qp);
/* BTH, LRH and GRH of a packet to the connected peer. */
void qp_address(const struct qp *qp, struct packet *p, uint8_t opcode, uint32_t psn);

/* Memory described by a list, `offset` bytes from its start. */
void sg_read(const struct qp *qp, const struct sge *list, uint64_t offset, uint8_t *to, size_t len);
void sg_write(const struct qp *qp, const struct sge *list, uint64_t offset, const uint8_t *from,
	      size_t len);
uint64_t sg_length(const struct sge *list, uint32_t n);
bool sg_allows(const struct qp *qp, const struct sge *list, uint32_t n, unsigned access);

static inline uint8_t service_of(const struct qp *qp)
{
	return qp->params.kind == QP_RC   ? SERVICE_RC
	       : qp->params.kind == QP_UC ? SERVICE_UC
					  : SERVICE_UD;
}

static inline uint8_t opcode_of(const struct qp *qp, unsigned operation)
{
	return (uint8_t)(service_of(qp) | operation);
}

/* ---- requester.c ------------------------------------------------------- */

void requester_init(struct requester *r, uint32_t size);
void requester_fini(struct requester *r);
void requester_reset(struct requester *r);
/* The attributes of RTS are in place. */
void requester_start(struct qp *qp);
bool requester_has_packet(const struct qp *qp, hd_time now);
bool requester_transmit(struct qp *qp, hd_time now, struct packet *out, uint8_t *buffer);
void requester_sent(struct qp *qp, const struct packet *p);
/* All retries are there again. */
void requester_reload(struct qp *qp);
/* The oldest request is done; or it fails, and what is behind it is flushed. */
void requester_complete(struct qp *qp, enum wc_status status);
void requester_fail(struct qp *qp, enum wc_status status);
void requester_flush(struct qp *qp);

static inline struct send_item *item_at(const struct requester *r, uint32_t i)
{
	return &r->items[i % r->places];
}

static inline bool needs_answer(const struct send_item *item)
{
	return item->wr.kind >= WR_READ;
}

static inline bool is_outstanding(const struct requester *r)
{
	return r->head != r->tail && item_at(r, r->head)->started;
}

/* ---- requester_answers.c ----------------------------------------------- */

void requester_receive(struct qp *qp, const struct packet *p, hd_time now);
void requester_timer(struct qp *qp, hd_time now);
hd_time requester_due(const struct qp *qp);
/* The first answer to a read or atomic that is missing; false if none is. */
bool requester_misses(const struct requester *r, uint32_t *psn);
/* Reports once that no request in progress is left in SQD. */
void requester_drained(struct qp *qp);

/* ---- responder.c ------------------------------------------------------- */

void responder_init(struct responder *r, uint32_t size);
void responder_fini(struct responder *r);
void responder_reset(struct responder *r);
bool responder_has_packet(const struct qp *qp);
bool responder_transmit(struct qp *qp, struct packet *out, uint8_t *buffer);
void responder_receive(struct qp *qp, const struct packet *p);
void responder_flush(struct qp *qp);
/* Takes the next receive request; false without one. */
bool responder_take(struct qp *qp);
void responder_complete(struct qp *qp, const struct completion *like, enum wc_status status);
void responder_answer(struct qp *qp, const struct qp_answer *answer);
/* Whether the R_Key grants a request all of its bytes; false without bytes. */
bool responder_allows(const struct qp *qp, enum wr_kind kind, const struct reth *memory);
/* The verdict over `bytes` more for the receive that was taken; `is_first`: of the message. */
enum responder_verdict responder_check_sge(const struct qp *qp, size_t bytes, bool is_first);

/* ---- early.c ----------------------------------------------------------- */

/* A request ahead of the expected one; false if it is too far ahead. */
bool qp_early_keep(struct qp *qp, const struct packet *p);
/* The expected one if it is here, which is then the caller's to free. */
struct early *qp_early_take(struct qp *qp);
/* A response ahead of PSN `missing`; responses are taken by PSN. */
bool qp_early_keep_answer(struct qp *qp, const struct packet *p, uint32_t missing, bool in_place);
const struct early *qp_early_answer(const struct qp *qp, uint32_t psn);
struct early *qp_early_take_answer(struct qp *qp, uint32_t psn);
void qp_early_fini(struct qp *qp);
void qp_early_pack(struct qp *qp, struct pack *p);

/* ---- unreliable.c ------------------------------------------------------ */

void qp_receive_uc(struct qp *qp, const struct packet *p);
void qp_receive_ud(struct qp *qp, const struct packet *p);

#endif
