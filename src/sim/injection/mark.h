/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_INJECTION_MARK_H
#define HD_SIM_INJECTION_MARK_H

/*
 * What switches count and which packets they mark (docs/timing-rules.md, C3 and C4). Internal
 * to src/sim.
 *
 * Most rules look at what waits for an output only when a packet starts there.
 * All that started before it has left by then, so what waits is what was sent
 * to this switch for the output, has not been granted and is routed by now.
 * The first two are one sum, `due`; as long as it is below what the rule marks
 * from, nothing else matters. Only beyond that are the copies subtracted that
 * are still on their way or being routed: their times stand in a ring.
 *
 * The two-counter rule must notice an input buffer becoming full, at once
 * (sim.fills): there the heads, routings and departures of copies are events.
 */

#include "cc/marking.h"
#include "sim/core/sim_internal.h"

/* A copy that will be routed to an output of the port. */
struct mark_copy {
	hd_time routed;
	uint32_t blocks;
	uint32_t vl;
};

/* The last ones of a port: all that are not routed yet are among them. */
struct mark_ring {
	struct mark_copy *copies; /* NULL: no switch's */
	uint32_t at, mask;
};

/* An input buffer that a copy has come to at this instant. */
struct mark_coming {
	uint32_t port, blocks;
	unsigned vl;
};

struct marks {
	const struct mark_config *config; /* that holds now (C9) */
	uint32_t least;                   /* blocks below which no packet is marked */
	struct mark_ring *rings;          /* per port */
	uint32_t *due;                    /* blocks, per port and VL */
	struct mark_output *outputs;      /* per port and VL */
	uint64_t marked;                  /* packets that had no mark before */
	/* Two counters only: */
	uint32_t *fill; /* blocks, per input port and VL */
	/*
	 * Copies in an input VL that want an output VL: from
	 * wants_at[input port], VL by VL, the node's outputs times VLs.
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
/* A copy that waits at its output is discarded. */
void mark_discard(struct sim *s, uint32_t port, const struct packet_record *p);
/* With sim.fills: packets that enter and leave an input buffer, */
void mark_sent(struct sim *s, const struct sim_output *l, const struct packet_record *p);
void mark_freed(struct sim *s, const struct packet_record *p, hd_time when);
void mark_left_buffer(struct sim *s, const struct packet_record *p, hd_time when);
/* and the instants at which they do. */
void mark_fills(struct sim *s, uint32_t port, unsigned vl, uint32_t blk);
void mark_frees(struct sim *s, uint32_t port, unsigned vl, uint32_t blk);
void mark_comes(struct sim *s, uint32_t port, unsigned vl, uint32_t id);
void mark_leaves(struct sim *s, uint32_t port, unsigned vl, uint32_t id);
/* C9: switches mark by this rule from now on. */
void marks_change(struct sim *s, const struct mark_config *to);
/* What mark_expect does when it is not simple. */
void mark_expect_apart(struct sim *s, const struct packet_record *p);
void mark_judge(struct sim *s, uint32_t port, struct packet_record *p, unsigned vl);

/* A copy's output is known. Simple runs (hop.h) have no VL15. */
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

/* It starts on its link: is it marked? */
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
