/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_INJECTION_MARK_H
#define HD_SIM_INJECTION_MARK_H

/*
 * Counters of switches, and the packets that they mark (docs/timing-rules.md, C3 and C4).
 * Internal to src/sim.
 *
 * Most rules depend on the blocks that wait for an output at the instant a packet starts there. All
 * packets that started before have left, so the waiting blocks are those sent to this
 * switch for the output, minus those granted, minus those not routed yet. The first two terms
 * are kept as one sum, `due`. While `due` is below the threshold of the rule, nothing
 * is marked. Only above it are the copies subtracted that are not routed yet; a ring has
 * their routing times.
 *
 * The two-counter rule must detect at once that an input buffer becomes full (sim.fills), so
 * that arrivals, routings and departures of copies are events.
 */

#include "cc/marking.h"
#include "sim/core/sim_internal.h"

/* A copy with its routing time. */
struct mark_copy {
	hd_time routed;
	uint32_t blocks;
	uint32_t vl;
};

/* The most recent copies of a port, including all that are not routed yet. */
struct mark_ring {
	struct mark_copy *copies; /* NULL: not a switch port */
	uint32_t at, mask;
};

/* An input buffer that a copy has reached at this instant. */
struct mark_coming {
	uint32_t port, blocks;
	unsigned vl;
};

struct marks {
	const struct mark_config *config; /* rule in force (C9) */
	uint32_t least;                   /* least waiting blocks at which a packet can be marked */
	struct mark_ring *rings;          /* per port */
	uint32_t *due;                    /* blocks, per port and VL */
	struct mark_output *outputs;      /* per port and VL */
	uint64_t marked;                  /* packets marked here and not before */
	/* Two counters only: */
	uint32_t *fill; /* blocks, per input port and VL */
	/*
	 * Copies in an input VL that want an output VL. From wants_at[input port] on: per input
	 * VL, the node's outputs times VLs.
	 */
	uint32_t *wants;
	size_t *wants_at;
	struct mark_coming *came;
	size_t n_came, came_cap;
};

void marks_init(struct sim *s);
void marks_fini(struct sim *s);
/* A domain shares the counters of the whole run, by port, and counts its own marks. */
void marks_part_init(struct sim *part, const struct sim *whole);
void marks_part_fini(struct sim *part);
uint64_t marks_made(const struct sim *s);
/* Removes a copy that is discarded while waiting at its output. */
void mark_discard(struct sim *s, uint32_t port, const struct packet_record *p);
/* With sim.fills: call when a packet enters or leaves an input buffer, */
void mark_sent(struct sim *s, const struct sim_output *l, const struct packet_record *p);
void mark_freed(struct sim *s, const struct packet_record *p, hd_time when);
void mark_left_buffer(struct sim *s, const struct packet_record *p, hd_time when);
/* and at the times at which these changes take effect. */
void mark_fills(struct sim *s, uint32_t port, unsigned vl, uint32_t blk);
void mark_frees(struct sim *s, uint32_t port, unsigned vl, uint32_t blk);
void mark_comes(struct sim *s, uint32_t port, unsigned vl, uint32_t id);
void mark_leaves(struct sim *s, uint32_t port, unsigned vl, uint32_t id);
/* C9: the marking rule `to` takes effect. */
void marks_change(struct sim *s, const struct mark_config *to);
/* The general case of mark_expect. */
void mark_expect_apart(struct sim *s, const struct packet_record *p);
void mark_judge(struct sim *s, uint32_t port, struct packet_record *p, unsigned vl);

/* Counts a copy whose output is known. Simple runs (hop.h) have no VL15. */
static inline void mark_expect(struct sim *s, const struct packet_record *p, const bool simple)
{
	const struct marks *m = s->marks;
	struct mark_ring *r = &m->rings[p->out];
	unsigned vl = p->out_vl;

	if (unlikely(!r->copies || (!simple && vl == VL_MANAGEMENT)))
		return;
	struct mark_copy *c = &r->copies[r->at & r->mask];
	uint32_t blk = blocks_of(p->bytes);

	if (unlikely(s->mode.fills || c->routed > s->now)) {
		mark_expect_apart(s, p);
		return;
	}
	r->at++;
	c->routed = p->head + s->routing;
	c->blocks = blk;
	c->vl = vl;
	m->due[p->out * s->n_vls + vl] += blk;
}

/* Marks the packet, if the rule requires it, when it starts on its link. */
static inline void mark_grant(struct sim *s, uint32_t port, struct packet_record *p, unsigned vl,
			      const bool simple)
{
	const struct marks *m = s->marks;
	uint32_t *due = &m->due[port * s->n_vls + vl];

	if (unlikely(!m->rings[port].copies || (!simple && vl == VL_MANAGEMENT)))
		return;
	if (unlikely(*due >= m->least))
		mark_judge(s, port, p, vl);
	if (likely(!s->mode.fills))
		*due -= blocks_of(p->bytes);
}

#endif
