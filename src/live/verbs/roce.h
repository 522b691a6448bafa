/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_VERBS_ROCE_H
#define HD_LIVE_VERBS_ROCE_H

/*
 * A RoCEv2 adapter on an Ethernet instead of a live fabric. Its queue pairs are those of
 * transport/ on a port of roce/; its cable is a pair of local datagram sockets with one frame per
 * datagram, compatible with QEMU's "dgram" network back-end. The peer may be another such adapter
 * or a kernel's.
 *
 * The environment variables that `heddle live roce` sets select it. live/verbs owns the queues
 * that programs see: sends are given to the transport under the queue pair's lock; the transport's
 * events are stored and processed after the port's lock has been released.
 *
 * Lock order: `running`, `send` of a queue pair, the port's lock, locks of shared memory.
 */

#include "live/place.h"
#include "live/verbs/verbs_internal.h"

/* Limits of queue pairs, and the number of GIDs. */
enum { ROCE_SGE = 16, ROCE_READS = 16, ROCE_TABLE = 2 };

/* True if this program's adapter is on an Ethernet. */
bool verbs_is_roce(void);
/* Opens the cable; returns an errno. */
int verbs_roce_open(void);

static inline uint32_t most_sge(void)
{
	return verbs_is_roce() ? (uint32_t)ROCE_SGE : (uint32_t)MAX_SGE;
}

/* In a child process: closes the child's descriptor of the cable, which the parent keeps. */
void verbs_roce_after_fork(void);

/* Answers that the daemon gives in a live fabric. */
int verbs_roce_query_node(struct live_node *out);
int verbs_roce_query_port(uint32_t number, struct live_port *out);
/* False if the table has no such entry. */
bool verbs_roce_gid(uint32_t index, union ibv_gid *out);
/* True if the attributes name a peer, from a source address of the same IP version. */
bool verbs_roce_is_path(const struct ibv_ah_attr *a);
/* Path to the sender of a datagram, from the 40 bytes before its data. */
void verbs_roce_reverse_path(const struct ibv_grh *grh, struct ibv_ah_attr *a);

static inline bool is_path(const struct ibv_ah_attr *a)
{
	return verbs_is_roce() ? verbs_roce_is_path(a) : !a->is_global || a->grh.sgid_index == 0;
}

/* Applies the attributes of a queue pair, or with RESET removes it; with `send`. */
void verbs_roce_modify_qp(struct soft_qp *q);
/* Moves the transport's queue pair to the error state; with `send`. */
void verbs_roce_fail_qp(const struct soft_qp *q);
/* Gives posted sends to the transport, up to `limit`; with `send`. */
void verbs_roce_submit(struct soft_qp *q, uint64_t limit);
/* After a key was invalidated: no operation uses it when this returns. */
void verbs_roce_quiesce(void);

/* Receives and sends frames; without locks. */
void verbs_roce_progress(void);
/*
 * Called when a poll of the queue begins: if the queue is empty, the polling thread calls
 * verbs_roce_progress.
 */
void verbs_roce_poll(const struct cq *cq);
/* For poll(): descriptor of the cable, and time until which to wait for it, in ns. */
int verbs_roce_fd(void);
uint64_t verbs_roce_deadline(void);

#endif
