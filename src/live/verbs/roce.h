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

/* Whether this program's adapter is such a one. */
bool is_roce(void);
/* Opens the cable; an errno. */
int roce_open(void);

static inline uint32_t most_sge(void)
{
	return is_roce() ? (uint32_t)ROCE_SGE : (uint32_t)MAX_SGE;
}

/* In a child process: closes the cable, which stays the parent's. */
void roce_forget(void);

/* What the fabric's daemon would say. */
int roce_describe_node(struct live_node *out);
int roce_describe_port(uint32_t number, struct live_port *out);
/* False if the table has no such entry. */
bool roce_gid(uint32_t index, union ibv_gid *out);
/* Whether it names a peer, from an address of ours of the same kind. */
bool roce_is_path(const struct ibv_ah_attr *a);
/* To the sender of a datagram, by the 40 bytes before it. */
void roce_path_back(const struct ibv_grh *grh, struct ibv_ah_attr *a);

static inline bool is_path(const struct ibv_ah_attr *a)
{
	return is_roce() ? roce_is_path(a) : !a->is_global || a->grh.sgid_index == 0;
}

/* A queue pair has changed; with `send`. It is gone with RESET. */
void roce_pair(struct pair *q);
/* It is in error; with `send`. */
void roce_fail(const struct pair *q);
/* Gives what is posted to the transport, up to this one; with `send`. */
void roce_give(struct pair *q, uint64_t limit);
/* A key was withdrawn: nobody is at work under it when this returns. */
void roce_settle(void);

/* Takes and sends frames; without locks. */
void roce_run(void);
/* A poll of this queue begins: if it is empty, whoever polls does that, too. */
void roce_polled(const struct cq *cq);
/* For poll: the cable, and until when to wait for it, in ns. */
int roce_file(void);
uint64_t roce_due(void);

#endif
