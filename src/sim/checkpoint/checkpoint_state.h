/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CHECKPOINT_CHECKPOINT_STATE_H
#define HD_SIM_CHECKPOINT_CHECKPOINT_STATE_H

/*
 * The state of a run between two instants, as bytes. Internal to src/sim.
 *
 *	checkpoint_state.c		packets, and the order of it all
 *	checkpoint_events.c	what is still to come
 *	checkpoint_ports.c	links, VLs, buffers
 *	checkpoint_tally.c	what was counted
 *	throttle.c, mark.c, probe.c, vl_sharing.c, injection.c, reduce.c, source.c,
 *	observers.c		what they keep, each its own
 *
 * One text writes and reads (base/pack.h). What follows from the setup is not
 * in it: it is read into a new run of the same setup, flows and
 * rules, with the same observers and endpoints.
 *
 * It does not tell how many parts the run was in. All of a row goes by its
 * port, node or flow, sums are those of all parts, and packets have numbers in
 * an order of their own. The reader gives each to the domain that has its row,
 * and the sums to the first.
 *
 * Of a run that several processes compute, each writes a section: the rows of
 * its own nodes with their packets and events; the first one also what it has
 * of all (sums, groups, pending notifications). Before all sections is what
 * endpoints remember, process by process, since packets anywhere have cookies
 * of any of them. Every process that continues the run reads all of it
 * and keeps what is for its own parts.
 */

#include "base/pack.h"
#include "sim/domains/domains.h"

struct checkpoint_state_packet {
	struct sim *owner;
	uint32_t id;    /* of the owner's */
	bool is_linked; /* it is in a queue: no other may have it */
};

struct checkpoint_state_event {
	struct sim *owner;
	struct event event;
};

struct checkpoint_state {
	struct pack *p;
	struct sim *s;                           /* the whole */
	struct checkpoint_state_packet *packets; /* by number */
	uint32_t n_packets;
	uint32_t **numbers;                    /* writing: per part, by id */
	struct sim_section section;            /* whose rows are in it */
	struct checkpoint_state_event *coming; /* reading: of all sections so far */
	size_t n_coming, coming_cap;
};

static inline bool checkpoint_state_has_node(const struct checkpoint_state *v, uint32_t node)
{
	return section_has(&v->section, node);
}

static inline bool checkpoint_state_has_port(const struct checkpoint_state *v, uint32_t port)
{
	return checkpoint_state_has_node(v, v->s->setup->ports[port].node);
}

static inline bool checkpoint_state_has_flow(const struct checkpoint_state *v, uint32_t flow)
{
	return checkpoint_state_has_node(v, v->s->flows[flow].source);
}

/* Has this section what is of all? */
static inline bool checkpoint_state_has_sums(const struct checkpoint_state *v)
{
	return v->section.number == 0;
}

/* Who gets what is not a row's. */
static inline struct sim *checkpoint_state_first(const struct checkpoint_state *v)
{
	return v->s->parts ? v->s->parts->part[0] : v->s;
}

static inline struct sim *checkpoint_state_domain(const struct checkpoint_state *v, uint32_t i)
{
	return v->s->parts ? v->s->parts->part[i] : v->s;
}

static inline uint32_t checkpoint_state_domain_number(const struct sim *part)
{
	return part->cut ? part->part : 0;
}

/* For qsort. */
static inline int checkpoint_state_compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Does the run have this VL? */
static inline bool checkpoint_state_has_vl(const struct sim *s, unsigned vl)
{
	return vl < s->vl15 || (vl == VL_MANAGEMENT && s->vl15 < s->n_vls);
}

/* ---- checkpoint_state.c ------------------------------------------------------------- */

/* A packet of `owner`, or NONE. */
void checkpoint_state_ref(struct checkpoint_state *v, struct sim *owner, uint32_t *id);
/* Those linked through `next`; reading sets both ends. */
void checkpoint_state_list(struct checkpoint_state *v, struct sim *owner, struct packet_queue *q);

/* sim_load of a run that has been cut, if it is to be. */
bool checkpoint_state_read(struct sim *s, const void *bytes, size_t len);

/* ---- the others ---------------------------------------------------------- */

void checkpoint_state_ports(struct checkpoint_state *v);
/* The arbitration table of its link (T11c). */
void checkpoint_state_table(struct checkpoint_state *v, uint32_t port);
void checkpoint_state_tally(struct checkpoint_state *v);
void checkpoint_state_sources(struct checkpoint_state *v);
void checkpoint_state_senders(struct checkpoint_state *v);
void checkpoint_state_control(struct checkpoint_state *v);
void checkpoint_state_marks(struct checkpoint_state *v);
void checkpoint_state_choices(struct checkpoint_state *v);
void checkpoint_state_probes(struct checkpoint_state *v);
void checkpoint_state_vl_sharing(struct checkpoint_state *v);
void checkpoint_state_reductions(struct checkpoint_state *v);
void checkpoint_state_observers(struct checkpoint_state *v);
void checkpoint_state_events(struct checkpoint_state *v);
/* When all sections are read: these are what is to come, and no others that
 * came of reading rows. */
void checkpoint_state_events_begin(struct checkpoint_state *v);

#endif
