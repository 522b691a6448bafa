/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_VERBS_ROCE_H
#define HD_LIVE_VERBS_ROCE_H

/*
 * An adapter on an Ethernet instead of a live fabric: its queue pairs are those
 * of transport/ behind a port of roce/, and its cable is a pair of local
 * datagram sockets, one frame each, as QEMU's "dgram" has them. Who is at the
 * other end, another such adapter or a kernel's, makes no difference.
 *
 * The environment, as `heddle live roce` sets it, says so. The queues that
 * programs see stay this room's: a send is given to the transport with the
 * queue pair's lock, and what the transport says is noted, and done once its
 * own lock is free.
 *
 * Locks, in their order: of who runs it, a queue pair's `send`, the port's,
 * those of shared memory.
 */

#include "live/place.h"
#include "live/verbs/verbs_internal.h"

/* Of its queue pairs, and how many GIDs it has. */
enum { ROCE_SGE = 16, ROCE_READS = 16, ROCE_TABLE = 2 };

/* Whether this program's adapter is one on an Ethernet. */
bool verbs_is_roce(void);
/* Opens the cable; an errno. */
int verbs_roce_open(void);

static inline uint32_t most_sge(void)
{
	return verbs_is_roce() ? (uint32_t)ROCE_SGE : (uint32_t)MAX_SGE;
}

/* In a child process: closes the cable, which stays the parent's. */
void verbs_roce_after_fork(void);

/* What the fabric's daemon would say. */
int verbs_roce_query_node(struct live_node *out);
int verbs_roce_query_port(uint32_t number, struct live_port *out);
/* False if the table has no such entry. */
bool verbs_roce_gid(uint32_t index, union ibv_gid *out);
/* Whether it names a peer, from an address of ours of the same kind. */
bool verbs_roce_is_path(const struct ibv_ah_attr *a);
/* To the sender of a datagram, by the 40 bytes before it. */
void verbs_roce_reverse_path(const struct ibv_grh *grh, struct ibv_ah_attr *a);

static inline bool is_path(const struct ibv_ah_attr *a)
{
	return verbs_is_roce() ? verbs_roce_is_path(a) : !a->is_global || a->grh.sgid_index == 0;
}

/* A queue pair has changed; with `send`. It is gone with RESET. */
void verbs_roce_modify_qp(struct soft_qp *q);
/* It is in error; with `send`. */
void verbs_roce_fail_qp(const struct soft_qp *q);
/* Gives what is posted to the transport, up to this one; with `send`. */
void verbs_roce_submit(struct soft_qp *q, uint64_t limit);
/* A key was withdrawn: no operation uses it when this returns. */
void verbs_roce_quiesce(void);

/* Takes and sends frames; without locks. */
void verbs_roce_progress(void);
/* A poll of this queue begins: if it is empty, the polling thread does the same. */
void verbs_roce_poll(const struct cq *cq);
/* For poll: the cable, and until when to wait for it, in ns. */
int verbs_roce_fd(void);
uint64_t verbs_roce_deadline(void);

#endif
