/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_TABLES_FILL_H
#define HD_QOS_TABLES_FILL_H

/*
 * One arbitration table of one output port, filled by reservations.
 *
 * Reservations of a VL share entries: the open entry is filled up to 255, then a free one is used,
 * so a connection may span entries. Adding or removing a connection changes entries of its own VL
 * only. Adding lowers no weight and removing raises none, so the port can arbitrate meanwhile. The
 * weights depend on the sums per VL only; the positions of entries also depend on the order of
 * reservations.
 *
 *	strict		at most 64 entries: a reservation that needs another one is rejected
 *	paper		only the 16,320 slots limit reservations, as in paper 000; fill_table
 *			then scales the weights to fit the entries
 *	full-entries	every used entry has weight 255; entries are released with the
 *			VL's last connection (thesis, 5.2)
 */

#include <stdint.h>

#include "base/status.h"
#include "base/strbuf.h"
#include "qos/tables/slots.h"
#include "subnet/subnet.h"

enum fill_mode { FILL_STRICT, FILL_PAPER, FILL_ET };
extern const char *const fill_mode_names[]; /* up to NULL */

/* Position of a VL's next entry. */
enum fill_place {
	PLACE_FIRST, /* the first free position */
	/*
	 * The free position farthest from the VL's others: with n = 2^k
	 * entries in an empty table, one every 64/n positions.
	 */
	PLACE_SPREAD,
};
extern const char *const fill_place_names[]; /* up to NULL */

struct fill {
	enum fill_mode mode;
	enum fill_place place;
	uint32_t limit; /* slots that may be reserved in all */
	uint32_t total;
	uint32_t slots[N_DATA_VLS];
	uint32_t connections[N_DATA_VLS];
	uint32_t n_entries;
	struct vlarb_entry entry[FRAME_ENTRIES]; /* weight 0: free */
	/* VLs with a slot and an entry even without reservations. */
	uint16_t floors;
	uint8_t floor_at[N_DATA_VLS]; /* the position of that entry */
};

void fill_init(struct fill *f, enum fill_mode mode, enum fill_place place);

/* HD_ERR_FULL if slots or entries run out; nothing is changed then. */
HD_MUST_CHECK enum hd_status fill_add(struct fill *f, unsigned vl, uint32_t slots);
/* Takes back what fill_add gave; slots must be what was added. */
void fill_remove(struct fill *f, unsigned vl, uint32_t slots);

/* Initial content of a port's low table; VLs are bit sets. */
struct fill_start {
	uint16_t be_vls, pbe_vls, ch_vls;
	struct hd_ratio be, pbe; /* of the link, in equal parts on their VLs */
	/* Of these, the VLs without a share have a floor: one slot without reservations. */
	uint16_t floor_vls;
};
HD_MUST_CHECK enum hd_status fill_begin(struct fill *low, const struct fill_start *s);
/* The slots of a VL that are reserved, without its floor. */
uint32_t fill_reserved(const struct fill *f, unsigned vl);
/* Slots that fill_add would add to the total. */
uint32_t fill_needs(const struct fill *f, unsigned vl, uint32_t slots);

/* The table to program: entries in position order, free ones left out. */
void fill_table(const struct fill *f, struct vlarb_entry out[VLARB_MAX], uint8_t *n);

/*
 * Maximum number of slots of other VLs between two consecutive entries of this one, around the
 * table; FRAME_SLOTS if the VL has no entry.
 */
uint32_t fill_gap(const struct fill *f, unsigned vl);

/* Prints a VL's weights in a table, in order: "3*255+163". */
void fill_print_weights(const struct vlarb_entry *entry, unsigned n, unsigned vl,
			struct strbuf *out);

#endif
