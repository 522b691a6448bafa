/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of traffic rows over queue pairs, as bytes and back. */
#include <stdlib.h>

#include "base/alloc.h"
#include "verbs/traffic_parts.h"

/* ---- when messages were made -------------------------------------------- */

/* Of those that are not done yet. */
static void pack_born(struct posting *p, struct pack *k)
{
	if (k->reads) {
		while (p->born_size < p->made - p->done)
			p->born_size *= 2;
		p->born = hd_realloc(p->born, p->born_size, sizeof(*p->born));
	}
	for (uint64_t i = p->done; i < p->made; i++)
		pack_u64(k, &p->born[i % p->born_size]);
}

/* A list that goes on from message `from`, and has room for `to`. */
static void notes_make(struct posting *p, uint64_t from, uint64_t to)
{
	struct notes *n = p->first_noted;

	for (; from < to; from++) {
		n->next = hd_alloc(1, sizeof(*n));
		n = n->next;
	}
	p->last_noted = n;
}

/* Of those that were not received yet. */
static void pack_noted(struct posting *p, struct pack *k)
{
	/* The one before is let go when the next is taken. */
	uint64_t first = p->received ? (p->received - 1) / NOTES : 0;
	uint64_t last = p->made ? (p->made - 1) / NOTES : 0;

	if (k->reads)
		notes_make(p, first, last);
	struct notes *n = p->first_noted;

	for (uint64_t i = p->received; i < p->made; i++) {
		for (; first < i / NOTES; first++)
			n = n->next;
		pack_u64(k, &n->born[i % NOTES]);
	}
}

/* ---- postings ----------------------------------------------------------- */

static const struct pack_member source_members[] = {
	PACK(posting, made),
	PACK(posting, sent),
	PACK(posting, done),
	PACK(posting, is_broken),
};

static const struct pack_member target_members[] = {
	PACK(posting, made),
	PACK(posting, received),
};

PACK_KNOWS(posting, 168);

/* Every message that is not done or received takes a byte. */
static void pack_source(struct posting *p, struct pack *k)
{
	PACK_STRUCT(k, source_members, p);
	if (!pack_check(k,
			p->done <= p->sent && p->sent <= p->made && p->made - p->done <= k->left))
		p->made = p->sent = p->done = 0;
	pack_born(p, k);
	cq_pack(p->link.sends.cq, k);
}

static void pack_target(struct posting *p, struct pack *k)
{
	uint64_t made = p->made;

	PACK_STRUCT(k, target_members, p);
	if (!pack_check(k, p->received <= p->made && p->made - p->received <= k->left))
		p->made = p->received = 0;
	pack_noted(p, k);
	cq_pack(p->link.receives.cq, k);
	/* What the source says of it holds. */
	if (k->reads && made)
		pack_check(k, p->made == made);
}

static const struct pack_member row_members[] = {
	PACK(posting_row, posted),
	PACK(posting_row, done),
	PACK(posting_row, failed),
	PACK(posting_row, received),
};

static void pack_rows(struct traffic *t, struct pack *k)
{
	size_t n = t->lab->build->scenario->n_traffic;
	struct posting_row *sums = k->reads ? t->shares[0].rows : rows_sum(t);

	for (size_t i = 0; i < n; i++) {
		PACK_STRUCT(k, row_members, &sums[i]);
		histogram_pack(k, &sums[i].times);
	}
	if (!k->reads)
		rows_free(sums, n);
}

void traffic_pack(struct traffic *t, struct pack *p, const struct sim_section *section)
{
	pack_same(p, t->n_postings);
	for (uint32_t i = 0; i < t->n_postings && !p->refused; i++) {
		struct posting *x = &t->postings[i];

		if (section_has(section, x->link.from->dev->node))
			pack_source(x, p);
		if (section_has(section, x->link.to->dev->node))
			pack_target(x, p);
	}
	const struct connections all = { t->postings, sizeof(*t->postings), t->n_postings };

	pairs_pack_waiting(t->lab->pairs, p, &all);
	if (section->number == 0)
		pack_rows(t, p);
}
