/* SPDX-License-Identifier: BSD-2-Clause */
/* The VL arbiter: T10, T11, T11c, T10s. */
#include "state.h"

#define LIMIT_NONE 255
#define NO_ENTRY   (-1)

void vlarb_init(struct oracle *o, uint32_t port)
{
	const struct vlarb *t = vlarb_of(o->setup->subnet, o->setup->ports[port].origin);
	struct vlarb_state *s = &o->ports[port].vlarb;

	o->ports[port].table = t;
	/* At first: position 0 with its weight. */
	s->high.left = t->n_high ? t->high[0].weight : 0;
	s->low.left = t->n_low ? t->low[0].weight : 0;
}

/* T11c: 0 beyond the end. */
static int64_t weight_at(const struct vlarb_entry *entries, unsigned n, unsigned position)
{
	return position < n ? entries[position].weight : 0;
}

static void left_cut(const struct oracle *o, struct table_state *s, int64_t weight)
{
	if (s->left > weight && o->mutation != MUT_CHANGE_KEEPS_LEFT)
		s->left = weight;
	if (o->mutation == MUT_CHANGE_FILLS_LEFT)
		s->left = weight;
}

/* T11c */
void vlarb_change(struct oracle *o, uint32_t port, const struct vlarb *table)
{
	struct vlarb_state *s = &o->ports[port].vlarb;

	o->ports[port].table = table;
	if (o->mutation == MUT_CHANGE_REWINDS)
		s->high.position = s->low.position = 0;
	if (o->mutation == MUT_CHANGE_FORGETS_HI)
		s->hi = 0;
	left_cut(o, &s->high, weight_at(table->high, table->n_high, s->high.position));
	left_cut(o, &s->low, weight_at(table->low, table->n_low, s->low.position));
}

static bool is_usable(struct vlarb_entry e, const uint32_t *blocks)
{
	return e.weight > 0 && e.vl < N_DATA_VLS && blocks[e.vl] > 0;
}

/*
 * T10: which entry is next, or NO_ENTRY; *fresh if it starts its weight. A
 * position may lie beyond the end (T11c), on a place that is not usable: what
 * comes after it cyclically is the first entry.
 */
static int table_look(const struct oracle *o, const struct vlarb_entry *entries, unsigned n,
		      const struct table_state *s, const uint32_t *blocks, bool *fresh)
{
	bool left = s->left > 0 || o->mutation == MUT_LEFT_NOT_NEEDED;

	*fresh = false;
	if (s->position < n && left && is_usable(entries[s->position], blocks))
		return (int)s->position;
	*fresh = true;
	for (unsigned k = 1; k <= VLARB_MAX; k++) {
		unsigned i = (s->position + k) % VLARB_MAX;

		if (o->mutation == MUT_POSITION_BEFORE_NEXT)
			i = (s->position + k - 1) % VLARB_MAX;
		if (i < n && is_usable(entries[i], blocks))
			return (int)i;
	}
	return NO_ENTRY;
}

static uint8_t table_take(struct oracle *o, const struct vlarb_entry *entries,
			  struct table_state *s, int entry, bool fresh, const uint32_t *blocks)
{
	struct vlarb_entry e = entries[entry];

	if (fresh) {
		int64_t debt = s->left < 0 ? s->left : 0;

		o->stats->table_wraps += (unsigned)entry <= s->position;
		s->position = (unsigned)entry;
		s->left = e.weight;
		if (o->mutation == MUT_LEFT_CARRIED_OVER)
			s->left += debt;
	}
	s->left -= blocks[e.vl];
	return e.vl;
}

/* T11 */
static bool is_expired(const struct oracle *o, uint64_t hi, uint8_t limit)
{
	if (limit == LIMIT_NONE || hi == 0)
		return false;
	if (o->mutation == MUT_LIMIT_PASSED_NOT_REACHED)
		return 64 * hi > UINT64_C(4096) * limit;
	return 64 * hi >= UINT64_C(4096) * limit;
}

static int tables_take(struct oracle *o, uint32_t port, const uint32_t *blocks)
{
	const struct vlarb *t = o->ports[port].table;
	struct vlarb_state *s = &o->ports[port].vlarb;
	bool fresh_high, fresh_low;
	int high = table_look(o, t->high, t->n_high, &s->high, blocks, &fresh_high);
	int low = table_look(o, t->low, t->n_low, &s->low, blocks, &fresh_low);
	bool expired = is_expired(o, s->hi, t->high_limit);

	if (high != NO_ENTRY && !(expired && low != NO_ENTRY)) {
		uint8_t vl = table_take(o, t->high, &s->high, high, fresh_high, blocks);
		bool restart = expired && o->mutation != MUT_HI_GROWS_WHEN_EXPIRED;

		s->hi = restart ? blocks[vl] : s->hi + blocks[vl];
		return vl;
	}
	if (low == NO_ENTRY)
		return NO_VL;
	o->stats->limit_expired += high != NO_ENTRY;
	if (o->mutation != MUT_HI_KEPT_BY_LOW)
		s->hi = 0;
	return table_take(o, t->low, &s->low, low, fresh_low, blocks);
}

/* T10s, and T10 with one data VL: the lowest. */
static int lowest(const uint32_t *blocks)
{
	for (int vl = 0; vl < N_DATA_VLS; vl++)
		if (blocks[vl] > 0)
			return vl;
	return NO_VL;
}

int vlarb_take(struct oracle *o, uint32_t port, const uint32_t *blocks)
{
	bool one_vl = o->setup->ports[port].vls == 1 && o->mutation != MUT_ONE_VL_USES_TABLES;

	if (o->mutation == MUT_LOST_VL_WAITS && lowest(blocks) >= vls_at(o, port, o->now))
		return NO_VL;
	if (o->setup->arbiter == SIM_STRICT || one_vl || lowest(blocks) == NO_VL)
		return lowest(blocks);
	return tables_take(o, port, blocks);
}
