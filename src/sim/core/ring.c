/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/core/ring.h"

#include <string.h>

#include "base/alloc.h"

static void spill_insert(struct spill *p, struct spill_entry e)
{
	if (p->at > 32) {
		p->n -= p->at;
		memmove(p->e, p->e + p->at, p->n * sizeof(*p->e));
		p->at = 0;
	}
	p->e = hd_grow(p->e, &p->cap, (size_t)p->n + 1, sizeof(*p->e));
	uint32_t i = p->n++;
	for (; i > p->at && p->e[i - 1].when > e.when; i--)
		p->e[i] = p->e[i - 1];
	p->e[i] = e;
}

static uint32_t spill_new(struct sim *s)
{
	uint32_t id = s->spill.free;

	if (id != NONE) {
		s->spill.free = s->spill.all[id].next;
		return id;
	}
	s->spill.all =
		hd_grow(s->spill.all, &s->spill.cap, (size_t)s->spill.n + 1, sizeof(*s->spill.all));
	s->spill.all[s->spill.n] = (struct spill){ 0 };
	return s->spill.n++;
}

void credit_ring_spill(struct sim *s, struct ring *r, hd_time when, uint16_t what)
{
	if (r->spill == NONE)
		r->spill = spill_new(s);
	struct spill *p = &s->spill.all[r->spill];
	unsigned i = r->n;

	if (i > 0 && when < r->when[i - 1]) {
		/* Keeps the earlier entries inline; the latest one moves to the spill. */
		struct spill_entry last = { r->when[i - 1], r->what[i - 1] };

		spill_insert(p, last);
		for (i--; i > 0 && r->when[i - 1] > when; i--) {
			r->when[i] = r->when[i - 1];
			r->what[i] = r->what[i - 1];
		}
		r->when[i] = when;
		r->what[i] = what;
	} else {
		spill_insert(p, (struct spill_entry){ when, what });
	}
	credit_ring_unspill(s, r);
}

void credit_ring_unspill(struct sim *s, struct ring *r)
{
	struct spill *p = &s->spill.all[r->spill];

	while (r->n < RING_INLINE && p->at < p->n) {
		r->when[r->n] = p->e[p->at].when;
		r->what[r->n] = p->e[p->at].what;
		r->n++;
		p->at++;
	}
	if (p->at == p->n) {
		p->at = p->n = 0;
		p->next = s->spill.free;
		s->spill.free = r->spill;
		r->spill = NONE;
	}
}

hd_time credit_ring_next_spilled(const struct sim *s, const struct ring *r, uint32_t vls)
{
	const struct spill *p = &s->spill.all[r->spill];

	for (uint32_t i = p->at; i < p->n; i++) {
		if (vls >> (p->e[i].what >> RING_VL_SHIFT) & 1)
			return p->e[i].when;
	}
	return NEVER;
}
