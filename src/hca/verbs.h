/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_HCA_VERBS_H
#define HD_HCA_VERBS_H

/*
 * Verbs of a simulated adapter, modelled on libibverbs: protection domains, memory regions,
 * completion queues and channels, queue pairs, shared receive queues, address handles,
 * multicast. Work requests, completions and attributes are those of the transport
 * (transport/work.h, transport/qp.h).
 *
 * The program owns its memory. Work requests and packets use addresses in the address space of the
 * simulated host (v_mr_addr), as with ibv_reg_mr_iova: pointers differ from run to run, these
 * addresses do not. Only inline data, which the host copies, are given by pointers. A
 * write to the memory of another host uses packets of the simulated fabric.
 *
 * All functions are called by programs of a lab (lab.h), or before the lab runs; then they take no
 * time. The device owns its objects and frees them; they may be freed earlier, users before
 * the objects they use.
 *
 * Exceeding a limit of the adapter (queue sizes, segments) is an error, as errno is in
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
#define V_MULTICAST 0xffffffu /* QPN of multicast packets */

lid_t v_lid(const struct v_device *dev);
void v_gid(const struct v_device *dev, uint8_t gid[16]);
/* Name of the port in the fabric: "h3". */
void v_name(const struct v_device *dev, struct strbuf *out);
/* Whether both are in one subnet: packets of adapters do not cross routers. */
bool v_same_subnet(const struct v_device *a, const struct v_device *b);
/* The smallest MTU of the ports on the path to the LID; 0 without a path. */
uint32_t v_path_mtu(const struct v_device *dev, lid_t to);
/* The SL required for packets to the LID, or `wanted` if all SLs are usable. */
uint8_t v_path_sl(const struct v_device *dev, lid_t to, uint8_t wanted);

struct v_pd *v_pd_new(struct v_device *dev);
/* NULL is accepted and ignored. */
void v_pd_free(struct v_pd *pd);

/* `pages`: page size of the memory; 0: that of the profile. */
struct v_mr *v_mr_new(struct v_pd *pd, void *memory, uint64_t len, unsigned access, uint64_t pages);
void v_mr_free(struct v_mr *mr);
uint32_t v_mr_key(const struct v_mr *mr); /* both L_Key and R_Key */
/* Address of the first byte: page-aligned, on pages used by no other region. */
uint64_t v_mr_addr(const struct v_mr *mr);

struct v_channel *v_channel_new(struct v_device *dev);
void v_channel_free(struct v_channel *c);

/* `channel` may be NULL. Returns NULL if `entries` is 0 or above the limit. */
struct v_cq *v_cq_new(struct v_device *dev, uint32_t entries, struct v_channel *channel);
void v_cq_free(struct v_cq *cq);
/*
 * Takes up to n completions, including those written during the poll. Polling an empty queue
 * takes the time poll_empty.
 */
unsigned v_poll(struct v_cq *cq, struct completion *out, unsigned n);
/* Polls until a completion is available, as a single wait; false: cancelled (lab.h). */
bool v_poll_wait(struct v_cq *cq, struct completion *out);

/*
 * Requests an event at the next completion. If completions have arrived since the last event and
 * have not been polled, the event is generated at once, because the next completion may never
 * occur. Programs may therefore poll before or after arming.
 */
void v_arm(struct v_cq *cq, bool solicited_only);
/* Waits for an event and returns its queue; NULL: cancelled (lab.h). */
struct v_cq *v_event_wait(struct v_channel *c);
/* As v_event_wait without waiting: NULL if there is no event. */
struct v_cq *v_event_try(struct v_channel *c);

struct v_srq *v_srq_new(struct v_pd *pd, uint32_t max_wr);
void v_srq_free(struct v_srq *srq);
HD_MUST_CHECK enum hd_status v_post_srq(struct v_srq *srq, const struct recv_wr *wr);

struct v_qp_init {
	enum qp_kind kind;
	struct v_cq *send_cq, *recv_cq;
	struct v_srq *srq; /* or NULL */
	uint32_t max_send, max_recv;
	uint32_t max_sge; /* segments per request, at least 1 */
	bool signal_all;
};

/* Q8: how far ahead of the expected PSN queue pairs of this kind keep packets. */
uint32_t v_window(const struct v_device *dev, enum qp_kind kind);
/* NULL if a limit is exceeded. */
struct v_qp *v_qp_new(struct v_pd *pd, const struct v_qp_init *init);
void v_qp_free(struct v_qp *qp);
uint32_t v_qpn(const struct v_qp *qp);
HD_MUST_CHECK enum hd_status v_modify(struct v_qp *qp, const struct qp_attr *attr, unsigned mask);
/*
 * For weighted scheduling only. `weight`: packets per turn, at least 1. `priority`, 0 to 7,
 * initially 0: among the queue pairs of a VL, higher priorities are always served first. VLs are
 * served in turns.
 */
void v_qp_weigh(struct v_qp *qp, uint32_t weight, uint32_t priority);

HD_MUST_CHECK enum hd_status v_post_send(struct v_qp *qp, const struct send_wr *wr);
HD_MUST_CHECK enum hd_status v_post_recv(struct v_qp *qp, const struct recv_wr *wr);

/* Address of datagrams, for send_wr.to; sets `pd`. */
struct wr_datagram v_ah(const struct v_pd *pd, lid_t dlid, uint8_t sl);
/* Address of a multicast group. */
struct wr_datagram v_ah_multicast(const struct v_pd *pd, lid_t mlid, uint8_t sl);
/* mgid NULL: the group of v_ah_multicast. */
HD_MUST_CHECK enum hd_status v_attach(struct v_qp *qp, lid_t mlid, const uint8_t *mgid);
void v_detach(struct v_qp *qp, lid_t mlid, const uint8_t *mgid);

/* Counts the writes of the adapter to the byte at `at`, for programs that poll memory. */
struct v_watch *v_watch_new(struct v_device *dev, const void *at);
void v_watch_free(struct v_watch *w);
/* Waits until the byte was written `times` times in total. */
bool v_watch_wait(struct v_watch *w, uint64_t times); /* false: cancelled */

#endif
