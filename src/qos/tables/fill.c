/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/tables/fill.h"

#include <assert.h>
#include <string.h>

const char *const fill_mode_names[] = { "strict", "paper", "full-entries", NULL };
const char *const fill_place_names[] = { "first", "spread", NULL };

void fill_init(struct fill *f, enum fill_mode mode, enum fill_place place)
{
	*f = (struct fill){ .mode = mode, .place = place, .limit = FRAME_SLOTS };
}

static bool is_of(const struct fill *f, uint32_t position, unsigned vl)
{
	return f->entry[position].weight && f->entry[position].vl == vl;
}

/* Whether a position has the entry of the VL's floor. */
static bool is_floor(const struct fill *f, uint32_t position, unsigned vl)
{
	return f->floors >> vl & 1 && f->floor_at[vl] == position;
}

static uint32_t entries_of(const struct fill *f, unsigned vl)
{
	uint32_t n = 0;

	for (uint32_t p = 0; p < FRAME_ENTRIES; p++)
		n += is_of(f, p, vl);
	return n;
}

/* Distance around the table from a position to the nearest entry of vl. */
static uint32_t nearest(const struct fill *f, unsigned vl, uint32_t from)
{
	for (uint32_t far = 1; far <= FRAME_ENTRIES / 2; far++) {
		if (is_of(f, (from + far) % FRAME_ENTRIES, vl) ||
		    is_of(f, (from - far) % FRAME_ENTRIES, vl))
			return far;
	}
	return FRAME_ENTRIES;
}

static uint32_t choose_position(const struct fill *f, unsigned vl)
{
	uint32_t best = FRAME_ENTRIES, best_distance = 0;

	for (uint32_t p = 0; p < FRAME_ENTRIES; p++) {
		if (f->entry[p].weight)
			continue;
		if (f->place == PLACE_FIRST)
			return p;
		uint32_t distance = nearest(f, vl, p);

		if (distance > best_distance) {
			best_distance = distance;
			best = p;
		}
	}
	return best;
}

/* The VL's entry that is not full, or FRAME_ENTRIES. At most one exists. */
static uint32_t open_entry(const struct fill *f, unsigned vl)
{
	uint32_t p = 0;

	while (p < FRAME_ENTRIES && !(is_of(f, p, vl) && f->entry[p].weight < ENTRY_SLOTS))
		p++;
	return p;
}

/* The VL's last entry; that of the floor only if it is the only one. */
static uint32_t last_entry(const struct fill *f, unsigned vl)
{
	uint32_t p = FRAME_ENTRIES;

	while (p > 0 && (!is_of(f, p - 1, vl) || is_floor(f, p - 1, vl)))
		p--;
	assert(p > 0 || f->floors >> vl & 1);
	return p > 0 ? p - 1 : f->floor_at[vl];
}

/* Whether a VL has its floor and no reservation. */
static bool at_floor(const struct fill *f, unsigned vl)
{
	return f->floors >> vl & 1 && f->connections[vl] == 0;
}

uint32_t fill_reserved(const struct fill *f, unsigned vl)
{
	return f->slots[vl] - at_floor(f, vl);
}

uint32_t fill_needs(const struct fill *f, unsigned vl, uint32_t slots)
{
	return slots - at_floor(f, vl);
}

/* The open entry is filled up, then free ones; no weight falls. */
static void add_weight(struct fill *f, unsigned vl, uint32_t slots)
{
	while (slots) {
		uint32_t p = open_entry(f, vl);

		if (p == FRAME_ENTRIES) {
			p = choose_position(f, vl);
			f->entry[p] = (struct vlarb_entry){ (uint8_t)vl, 0 };
			f->n_entries++;
		}
		uint32_t room = ENTRY_SLOTS - f->entry[p].weight;
		uint32_t part = slots < room ? slots : room;

		f->entry[p].weight = (uint8_t)(f->entry[p].weight + part);
		slots -= part;
	}
}

/* The open entry is emptied, then the last one is opened; no weight rises. */
static void take_weight(struct fill *f, unsigned vl, uint32_t slots)
{
	while (slots) {
		uint32_t p = open_entry(f, vl);

		if (p == FRAME_ENTRIES)
			p = last_entry(f, vl);
		uint32_t part = slots < f->entry[p].weight ? slots : f->entry[p].weight;

		f->entry[p].weight = (uint8_t)(f->entry[p].weight - part);
		f->n_entries -= f->entry[p].weight == 0;
		slots -= part;
	}
}

enum hd_status fill_add(struct fill *f, unsigned vl, uint32_t slots)
{
	assert(vl < N_DATA_VLS && slots > 0);
	uint32_t added = fill_needs(f, vl, slots), more = added;
	uint32_t sum = f->slots[vl] + added;

	if (added > f->limit - f->total)
		return HD_ERR_FULL;
	if (f->mode != FILL_PAPER) {
		uint32_t have = entries_of(f, vl), want = entries_for(sum);

		if (want > have && want - have > FRAME_ENTRIES - f->n_entries)
			return HD_ERR_FULL;
		/* Entries of et are always full. */
		if (f->mode == FILL_ET)
			more = want > have ? (want - have) * ENTRY_SLOTS : 0;
		add_weight(f, vl, more);
	}
	f->slots[vl] = sum;
	f->total += added;
	f->connections[vl]++;
	return HD_OK;
}

/* Frees the entries of a VL, down to that of its floor. */
static void take_entries(struct fill *f, unsigned vl)
{
	for (uint32_t p = 0; p < FRAME_ENTRIES; p++) {
		if (!is_of(f, p, vl))
			continue;
		if (is_floor(f, p, vl)) {
			if (f->mode != FILL_ET)
				f->entry[p].weight = 1;
			continue;
		}
		f->entry[p].weight = 0;
		f->n_entries--;
	}
}

void fill_remove(struct fill *f, unsigned vl, uint32_t slots)
{
	assert(vl < N_DATA_VLS && f->connections[vl] > 0);
	f->connections[vl]--;
	slots = fill_needs(f, vl, slots); /* the floor stays */
	assert(slots <= f->slots[vl] && slots <= f->total);
	f->slots[vl] -= slots;
	f->total -= slots;
	if (f->mode == FILL_PAPER)
		return;
	if (f->connections[vl] == 0)
		take_entries(f, vl);
	else if (f->mode != FILL_ET)
		take_weight(f, vl, slots);
}

/* Adds slots in equal parts, rounded up, to each VL of a set. */
static enum hd_status share(struct fill *f, uint16_t vls, uint32_t slots)
{
	uint32_t n = (uint32_t)__builtin_popcount(vls);
	enum hd_status status = HD_OK;

	for (unsigned vl = 0; vl < N_DATA_VLS && status == HD_OK; vl++) {
		if (slots && vls >> vl & 1)
			status = fill_add(f, vl, (slots + n - 1) / n);
	}
	return status;
}

static enum hd_status add_floor(struct fill *f, unsigned vl)
{
	enum hd_status status = fill_add(f, vl, 1);

	if (status != HD_OK)
		return status;
	f->connections[vl] = 0;
	f->floors |= (uint16_t)(1u << vl);
	for (uint8_t p = 0; p < FRAME_ENTRIES; p++) {
		if (is_of(f, p, vl))
			f->floor_at[vl] = p;
	}
	return HD_OK;
}

static uint32_t slots_if_any(struct hd_ratio share)
{
	return share.num ? slots_of_share(share) : 0;
}

enum hd_status fill_begin(struct fill *low, const struct fill_start *s)
{
	enum hd_status status = share(low, s->be_vls, slots_if_any(s->be));

	if (status == HD_OK)
		status = share(low, s->ch_vls, 1);
	if (status == HD_OK)
		status = share(low, s->pbe_vls, slots_if_any(s->pbe));
	for (unsigned vl = 0; vl < N_DATA_VLS && status == HD_OK; vl++) {
		if (s->floor_vls >> vl & 1 && !low->slots[vl])
			status = add_floor(low, vl);
	}
	return status;
}

static uint32_t scaled(uint32_t slots, uint32_t scale)
{
	uint32_t part = (uint32_t)((uint64_t)slots * scale / FRAME_SLOTS);

	return slots && !part ? 1 : part;
}

/* Paper mode: the largest common scale at which the sums fit 64 entries. */
static void scaled_table(const struct fill *f, struct vlarb_entry *out, uint8_t *n)
{
	uint32_t scale = FRAME_SLOTS;

	for (;; scale -= ENTRY_SLOTS) {
		uint32_t entries = 0;

		for (unsigned vl = 0; vl < N_DATA_VLS; vl++)
			entries += entries_for(scaled(f->slots[vl], scale));
		if (entries <= FRAME_ENTRIES)
			break;
	}
	*n = 0;
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		uint32_t left = scaled(f->slots[vl], scale);

		while (left) {
			uint32_t part = left < ENTRY_SLOTS ? left : ENTRY_SLOTS;

			out[(*n)++] =
				(struct vlarb_entry){ .vl = (uint8_t)vl, .weight = (uint8_t)part };
			left -= part;
		}
	}
}

void fill_table(const struct fill *f, struct vlarb_entry out[VLARB_MAX], uint8_t *n)
{
	if (f->mode == FILL_PAPER) {
		scaled_table(f, out, n);
		return;
	}
	*n = 0;
	for (uint32_t p = 0; p < FRAME_ENTRIES; p++) {
		if (f->entry[p].weight)
			out[(*n)++] = f->entry[p];
	}
}

uint32_t fill_gap(const struct fill *f, unsigned vl)
{
	struct vlarb_entry table[VLARB_MAX];
	uint8_t n;
	uint32_t gap = 0, most = 0;
	bool seen = false;

	fill_table(f, table, &n);
	/* Twice around, so that the gap across the end is seen too. */
	for (unsigned i = 0; i < 2u * n; i++) {
		const struct vlarb_entry *e = &table[i % n];

		if (e->vl != vl) {
			gap += e->weight;
			continue;
		}
		if (seen && gap > most)
			most = gap;
		seen = true;
		gap = 0;
	}
	return seen ? most : FRAME_SLOTS;
}

void fill_print_weights(const struct vlarb_entry *entry, unsigned n, unsigned vl,
			struct strbuf *out)
{
	const char *plus = "";

	for (unsigned i = 0; i < n;) {
		unsigned weight = entry[i].weight, times = 0;

		if (entry[i].vl != vl) {
			i++;
			continue;
		}
		for (; i < n && (entry[i].vl != vl || entry[i].weight == weight); i++)
			times += entry[i].vl == vl;
		strbuf_puts(out, plus);
		if (times > 1)
			strbuf_printf(out, "%u*", times);
		strbuf_printf(out, "%u", weight);
		plus = "+";
	}
}
