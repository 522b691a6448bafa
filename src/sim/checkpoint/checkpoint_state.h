/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CHECKPOINT_CHECKPOINT_STATE_H
#define HD_SIM_CHECKPOINT_CHECKPOINT_STATE_H

/*
 * Checkpoint of a run between two instants. Internal to src/sim.
 *
 *	checkpoint_state.c	packets, and the order of all sections
 *	checkpoint_events.c	pending events
 *	checkpoint_ports.c	links, VLs, buffers
 *	checkpoint_tally.c	counters
 *	throttle.c, mark.c, probe.c, vl_sharing.c, injection.c, reduce.c, source.c,
 *	observers.c		their own state
 *
 * The same code writes and reads (base/pack.h). State that follows from the setup is not saved: a
 * checkpoint is read into a new run of the same setup, flows and rules, with the same observers and
 * endpoints.
 *
 * A checkpoint does not depend on the number of domains: rows are identified by port, node or flow,
 * sums are those of all domains, and packets are numbered by content. The reader assigns each row
 * to the domain that has it, and the sums to the first one.
 *
 * With several processes, each writes a section: the rows of its own nodes with their packets and
 * events; the first one also the common state (sums, groups, pending notifications). The state of
 * endpoints precedes all sections, process by process, because any packet may have a cookie of any
 * of them. Every resuming process reads everything and keeps the state of its own domains.
 */

#include "base/pack.h"
#include "sim/domains/domains.h"

struct checkpoint_state_packet {
	struct sim *owner;
	uint32_t id;    /* in the pool of the owner */
	bool is_linked; /* it is in a queue and must not be in another one */
};

struct checkpoint_state_event {
	struct sim *owner;
	struct event event;
};

struct checkpoint_state {
	struct pack *p;
	struct sim *s;                           /* the whole simulation */
	struct checkpoint_state_packet *packets; /* by number */
	uint32_t n_packets;
	uint32_t **numbers;                    /* writing: per part, by id */
	struct sim_section section;            /* the nodes with rows in it */
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

/* Whether this section has the sums of all. */
static inline bool checkpoint_state_has_sums(const struct checkpoint_state *v)
{
	return v->section.number == 0;
}

/* The domain that gets state without a row. */
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

/* Whether the run has this VL. */
static inline bool checkpoint_state_has_vl(const struct sim *s, unsigned vl)
{
	return vl < s->vl15 || (vl == VL_MANAGEMENT && s->vl15 < s->n_vls);
}

/* ---- checkpoint_state.c ------------------------------------------------------------- */

/* A packet of `owner`, or NONE. */
void checkpoint_state_ref(struct checkpoint_state *v, struct sim *owner, uint32_t *id);
/* Packs the packets linked through `next`; reading sets both ends. */
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
/*
 * Call when all sections are read: discards events that reading the rows has created, before the
 * saved ones are read.
 */
void checkpoint_state_events_begin(struct checkpoint_state *v);

#endif
