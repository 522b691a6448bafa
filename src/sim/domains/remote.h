/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_DOMAINS_REMOTE_H
#define HD_SIM_DOMAINS_REMOTE_H

/*
 * Parts of a run that other processes compute (rules.world). Internal to
 * src/sim.
 *
 *	remote.c	mail between processes, and what all must know of all
 *	remote_results.c	what was counted, gathered in rank 0
 *
 * Each process has built the whole fabric and makes all parts, but computes
 * only its own, those from `first` to `last`, and has rows of their ports only
 * (port_state.c). Of the others it knows their standing, which is what decides how
 * the run continues: all processes see the same numbers and so decide the same.
 * Mail to distant parts travels after each window and lies in the same boxes as
 * any other when the next one begins; notifications of observers travel to
 * rank 0 with it.
 *
 * A row of a port, node or flow is right in the process of its part, and in
 * rank 0 whenever sim_run returns. What any part may count anywhere (a packet
 * lost on its way to a distant port) is counted where it happens, and moves to
 * rank 0, where it is added up.
 *
 * What comes from others is looked at before it is used: bytes that make no
 * sense end the run (SIM_BROKEN).
 */

#include "base/mpi/world.h"
#include "base/pack.h"
#include "base/strbuf.h"
#include "sim/domains/domains.h"

struct remote_domains {
	const struct world *world;
	uint16_t *rank_of_part;
	struct strbuf *to; /* per rank: what is to be sent */
	struct world_bytes *from;
	bool broken; /* the bytes of a process were invalid */
	unsigned by; /* whose */
};

/*
 * The parts that rank 0 made, since METIS may be another elsewhere; returns how
 * many, 0 if they are invalid.
 */
uint32_t remote_partition(const struct sim *s, uint32_t n, uint16_t *part_of_node);
/* Whose parts are whose. */
void remote_init(struct domains *p);
void remote_fini(struct domains *p);

/* The bytes of this rank were invalid. */
void remote_refuse(struct domains *p, unsigned by);

/*
 * After a window, or an instant of all: `mail` too, which goes from the boxes
 * of this window. Nothing if all parts are here.
 */
void remote_exchange(struct domains *p, bool mail);
/* The deliveries of this window's boxes from all processes, behind one's own
 * in p->all. */
void remote_deliveries(struct domains *p);
/* One box of mail, as the part `reader` gets it from another. */
void mailbox_pack(struct pack *p, const struct sim *reader, struct mailbox *m, uint32_t from);
/* What went to others is there. */
void remote_mail_sent(struct domains *p);
/* What rank 0 says. */
bool remote_ask(struct domains *p, bool answer);
/* Rows of flow control of both ends of links that change now. */
void remote_faults(struct sim *s, hd_time now);
/* All of what each has found, in the order of ranks; `mine` is written as
 * `found` is read. */
typedef void remote_read_fn(struct sim *s, struct pack *p, void *context);
void remote_gather(struct sim *s, const struct strbuf *mine, remote_read_fn *found, void *context);

/* remote_results.c: rank 0 has all that sim_metrics and its like give. */
void remote_collect(struct sim *s);
/* What moves to rank 0 is there already. */
void remote_forget_moved(struct sim *s);

static inline bool sim_is_remote(const struct sim *s)
{
	return s->parts && s->parts->distant;
}

/* Who tells observers, and shows results? */
static inline bool is_first_rank(const struct sim *s)
{
	return !sim_is_remote(s) || s->parts->distant->world->rank == 0;
}

#endif
