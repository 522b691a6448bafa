/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_DOMAINS_REMOTE_H
#define HD_SIM_DOMAINS_REMOTE_H

/*
 * Domains of a run that other processes compute (rules.world). Internal to src/sim.
 *
 *	remote.c	mail between processes, and their common state
 *	remote_results.c	collects counters in rank 0
 *
 * Each process builds the whole fabric and creates all domains, but computes only its own, `first`
 * to `last`, and has rows of their ports only (port_state.c). It has a summary of all others, from
 * which the course of the run is decided: all processes have the same numbers and decide equally.
 * Mail to remote domains is sent after each window and is in the same boxes as local mail when the
 * next one begins. Notifications of observers are sent to rank 0 with it.
 *
 * A row of a port, node or flow is valid in the process of its domain, and in rank 0 when sim_run
 * returns. Counters that several domains add to (a packet lost on the way to a remote port) are
 * counted locally and moved to rank 0, which adds them.
 *
 * Data of other processes are checked before use: invalid bytes end the run (SIM_BROKEN).
 */

#include "base/mpi/world.h"
#include "base/pack.h"
#include "base/strbuf.h"
#include "sim/domains/domains.h"

struct remote_domains {
	const struct world *world;
	uint16_t *rank_of_part;
	struct strbuf *to; /* per rank: bytes to send */
	struct world_bytes *from;
	bool broken; /* the bytes of a process were invalid */
	unsigned by; /* rank that detected it */
};

/*
 * The partition of rank 0, because METIS may differ elsewhere; returns the number of domains, 0:
 * invalid.
 */
uint32_t remote_partition(const struct sim *s, uint32_t n, uint16_t *part_of_node);
/* Assigns domains to ranks. */
void remote_init(struct domains *p);
void remote_fini(struct domains *p);

/* The bytes of this rank were invalid. */
void remote_refuse(struct domains *p, unsigned by);

/*
 * After a window or a global instant: exchanges the state of domains; with `mail` also the boxes of
 * this window. No effect if all domains are in this process.
 */
void remote_exchange(struct domains *p, bool mail);
/* Appends the deliveries of this window in other processes to p->all. */
void remote_deliveries(struct domains *p);
/* Packs one mailbox, as domain `reader` receives it. */
void mailbox_pack(struct pack *p, const struct sim *reader, struct mailbox *m, uint32_t from);
/* Clears the boxes whose mail has been sent to other processes. */
void remote_mail_sent(struct domains *p);
/* The answer of rank 0. */
bool remote_ask(struct domains *p, bool answer);
/* Rows of flow control of both ends of links that change now. */
void remote_faults(struct sim *s, hd_time now);
/* Exchanges the results of all ranks, in rank order; `mine` has the format that `found` reads. */
typedef void remote_read_fn(struct sim *s, struct pack *p, void *context);
void remote_gather(struct sim *s, const struct strbuf *mine, remote_read_fn *found, void *context);

/* remote_results.c: rank 0 has all that sim_metrics and its like give. */
void remote_collect(struct sim *s);
/* Clears counters that have moved to rank 0. */
void remote_forget_moved(struct sim *s);

static inline bool sim_is_remote(const struct sim *s)
{
	return s->parts && s->parts->distant;
}

/* Whether this process notifies observers and shows results. */
static inline bool is_first_rank(const struct sim *s)
{
	return !sim_is_remote(s) || s->parts->distant->world->rank == 0;
}

#endif
