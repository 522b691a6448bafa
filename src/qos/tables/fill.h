/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_TABLES_FILL_H
#define HD_QOS_TABLES_FILL_H

/*
 * One arbitration table of one output port, as reservations fill it.
 *
 * A VL's reservations share entries: the open one is filled up to 255, then a
 * free one is taken, so a connection may span entries. Adding or removing a
 * connection touches entries of its own VL only; adding one lowers no weight
 * and removing one raises none, so that a port can arbitrate meanwhile.
 * What a table holds depends on the sums per VL and not on the order in which
 * they came about; only the positions of entries remember it.
 *
 *	strict	64 entries are all there are: a reservation that needs another
 *		is refused
 *	paper	only the 16,320 slots count, as in paper 000, which took the
 *		entries for no limitation; fill_table then scales the weights
 *		so that they fit
 *	et	every entry in use has weight 255, and they are given back with
 *		the VL's last connection (thesis, 5.2)
 */

#include <stdint.h>

#include "base/status.h"
#include "base/strbuf.h"
#include "qos/tables/slots.h"
#include "subnet/subnet.h"

enum fill_mode { FILL_STRICT, FILL_PAPER, FILL_ET };
extern const char *const fill_mode_names[]; /* up to NULL */

/* Where a VL's next entry goes. */
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
	/* VLs that keep a slot and an entry while nothing is reserved. */
	uint16_t floors;
	uint8_t floor_at[N_DATA_VLS]; /* the position of that entry */
};

void fill_init(struct fill *f, enum fill_mode mode, enum fill_place place);

/* HD_ERR_FULL, and nothing changed, if slots or entries run out. */
HD_MUST_CHECK enum hd_status fill_add(struct fill *f, unsigned vl, uint32_t slots);
/* Takes back what fill_add gave; slots must be what was added. */
void fill_remove(struct fill *f, unsigned vl, uint32_t slots);

/* What the low table of a port has from the start; VLs are sets of bits. */
struct fill_start {
	uint16_t be_vls, pbe_vls, ch_vls;
	struct hd_ratio be, pbe; /* of the link, in equal parts on their VLs */
	/* Of these, the VLs without a share have a floor: one slot while
	 * nothing is reserved. */
	uint16_t floor_vls;
};
HD_MUST_CHECK enum hd_status fill_begin(struct fill *low, const struct fill_start *s);
/* The slots of a VL that are reserved, without its floor. */
uint32_t fill_reserved(const struct fill *f, unsigned vl);
/* What fill_add would add to the total. */
uint32_t fill_needs(const struct fill *f, unsigned vl, uint32_t slots);

/* The table to program: entries in position order, free ones left out. */
void fill_table(const struct fill *f, struct vlarb_entry out[VLARB_MAX], uint8_t *n);

/*
 * The most slots of other VLs between two entries of this one that follow
 * each other, around the whole table; FRAME_SLOTS if the VL has none.
 */
uint32_t fill_gap(const struct fill *f, unsigned vl);

/* A VL's weights in a table, in order, as users read them: "3*255+163". */
void fill_print_weights(const struct vlarb_entry *entry, unsigned n, unsigned vl,
			struct strbuf *out);

#endif
