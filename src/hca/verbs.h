/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_HCA_VERBS_H
#define HD_HCA_VERBS_H

/*
 * Verbs of a simulated adapter, in the shape of libibverbs: protection
 * domains, memory regions, completion queues and channels, queue pairs, shared
 * receive queues, address handles, multicast. Work requests, completions and
 * attributes are the transport's (transport/work.h, transport/qp.h).
 *
 * Memory is the program's own. Work requests and packets name it by the
 * address that its region has in the address space of the simulated host
 * (v_mr_addr), as with ibv_reg_mr_iova: pointers differ from run to run, those
 * do not. Only inline data, which the host copies, are named by pointers. What
 * one host writes to another's memory goes through packets of the simulated
 * fabric.
 *
 * Everything is called by programs of a lab (lab.h), or before they run, when
 * it takes no time. Objects belong to their device and are freed with it; they
 * may be freed earlier, users before what they use.
 *
 * Limits of an adapter (queue sizes, segments) are refusals, as errno is in
 * libibverbs.
 */

#include "hca/lab.h"
#include "transport/qp.h"
#include "transport/work.h"

struct v_pd;
struct v_mr;
struct v_cq;
struct v_channel;
struct v_qp;
struct v_srq;
struct v_watch;

#define V_MAX_QP_WR (1u << 20)
#define V_MAX_CQE   (1u << 22)
#define V_MULTICAST 0xffffffu /* the queue pair number of all members */

lid_t v_lid(const struct v_device *dev);
void v_gid(const struct v_device *dev, uint8_t gid[16]);
/* As the fabric calls the port: "h3". */
void v_name(const struct v_device *dev, struct strbuf *out);
/* Both are in one subnet: packets of adapters cross no router. */
bool v_same_subnet(const struct v_device *a, const struct v_device *b);
/* The least MTU of all ports on the way to that LID; 0 if there is no way. */
uint32_t v_path_mtu(const struct v_device *dev, lid_t to);
/* The SL that packets to that LID need, or the one wanted if all will do. */
uint8_t v_path_sl(const struct v_device *dev, lid_t to, uint8_t wanted);

struct v_pd *v_pd_new(struct v_device *dev);
/* NULL is accepted and ignored. */
void v_pd_free(struct v_pd *pd);

/* `pages`: how large the pages are that the memory is on; 0 = the profile's. */
struct v_mr *v_mr_new(struct v_pd *pd, void *memory, uint64_t len, unsigned access, uint64_t pages);
void v_mr_free(struct v_mr *mr);
uint32_t v_mr_key(const struct v_mr *mr); /* both L_Key and R_Key */
/* Of its first byte, the beginning of a page that no other region uses. */
uint64_t v_mr_addr(const struct v_mr *mr);

struct v_channel *v_channel_new(struct v_device *dev);
void v_channel_free(struct v_channel *c);

/* `channel` may be NULL. NULL if `entries` is 0 or too many. */
struct v_cq *v_cq_new(struct v_device *dev, uint32_t entries, struct v_channel *channel);
void v_cq_free(struct v_cq *cq);
/*
 * Takes up to n completions. One that is written during this poll is taken too;
 * an empty queue costs its own time.
 */
unsigned v_poll(struct v_cq *cq, struct completion *out, unsigned n);
/* Polls until there is one, as one wait; false: cancelled (lab.h). */
bool v_poll_wait(struct v_cq *cq, struct completion *out);

/*
 * Asks for an event at the next completion. If completions came after the last
 * event was made and have not been polled, there will be no next one to wait
 * for: then the event is made at once. (Polls before or after arming are both
 * right that way; verbs programs do either.)
 */
void v_arm(struct v_cq *cq, bool solicited_only);
/* Waits for an event, and says of which queue; NULL: cancelled (lab.h). */
struct v_cq *v_event_wait(struct v_channel *c);
/* The same without waiting: NULL without one. */
struct v_cq *v_event_try(struct v_channel *c);

struct v_srq *v_srq_new(struct v_pd *pd, uint32_t max_wr);
void v_srq_free(struct v_srq *srq);
HD_MUST_CHECK enum hd_status v_post_srq(struct v_srq *srq, const struct recv_wr *wr);

struct v_qp_init {
	enum qp_kind kind;
	struct v_cq *send_cq, *recv_cq;
	struct v_srq *srq; /* or NULL */
	uint32_t max_send, max_recv;
	uint32_t max_sge; /* room for segments in each request; at least 1 */
	bool signal_all;
};

/* How far ahead of its turn a packet may be that queue pairs of this kind keep
 * (Q8). */
uint32_t v_window(const struct v_device *dev, enum qp_kind kind);
/* NULL if a limit is exceeded. */
struct v_qp *v_qp_new(struct v_pd *pd, const struct v_qp_init *init);
void v_qp_free(struct v_qp *qp);
uint32_t v_qpn(const struct v_qp *qp);
HD_MUST_CHECK enum hd_status v_modify(struct v_qp *qp, const struct qp_attr *attr, unsigned mask);
/*
 * With weighted scheduling (in turn, they have no meaning): `weight` packets
 * in a turn, at least 1, and among the queue pairs of a VL the higher priority
 * first (0..7; at first 0), whatever lower ones wait for. VLs take turns.
 */
void v_qp_weigh(struct v_qp *qp, uint32_t weight, uint32_t priority);

HD_MUST_CHECK enum hd_status v_post_send(struct v_qp *qp, const struct send_wr *wr);
HD_MUST_CHECK enum hd_status v_post_recv(struct v_qp *qp, const struct recv_wr *wr);

/* Where datagrams go, for send_wr.to; `pd` is set. */
struct wr_datagram v_ah(const struct v_pd *pd, lid_t dlid, uint8_t sl);
/* ... and to a multicast group. */
struct wr_datagram v_ah_multicast(const struct v_pd *pd, lid_t mlid, uint8_t sl);
/* mgid NULL: that of v_ah_multicast. */
HD_MUST_CHECK enum hd_status v_attach(struct v_qp *qp, lid_t mlid, const uint8_t *mgid);
void v_detach(struct v_qp *qp, lid_t mlid, const uint8_t *mgid);

/* Counts how often the adapter wrote the byte at `at`, for programs that spin
 * on memory. */
struct v_watch *v_watch_new(struct v_device *dev, const void *at);
void v_watch_free(struct v_watch *w);
/* Waits until it was written `times` in all. */
bool v_watch_wait(struct v_watch *w, uint64_t times); /* false: cancelled */

#endif
