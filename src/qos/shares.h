/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_SHARES_H
#define HD_QOS_SHARES_H

/*
 * What weights are really worth.
 *
 * An entry sends packets as long as weight is left, so it sends
 * ceil(weight / blocks) whole packets per turn and carries nothing over. With
 * packets of 65 blocks, weights 1, 2 and 4 are all the same; 66 is twice 65.
 */

#include <stdint.h>

#include "subnet/subnet.h"

/* Blocks of 64 bytes that a packet of `bytes` on the wire counts for. */
uint32_t shares_blocks(uint32_t bytes);

/*
 * The share of the link that each VL of a table gets when all of them always
 * have packets of bytes[vl] to send; VLs that are not in the table get 0.
 */
void shares_achieved(const struct vlarb_entry *table, unsigned n,
		     const uint32_t bytes[N_DATA_VLS],
		     double share[N_DATA_VLS]);

/*
 * Weights for wanted shares, as whole packets so that the achieved shares are
 * near: entries[] for the VLs with wanted[vl] > 0, each a multiple of its
 * packet's blocks, the largest near `most` (at most 255 in one entry; larger
 * needs take several entries). Returns how many entries; 0 if some packet is
 * larger than a weight can say, or more than 64 would be needed.
 */
unsigned shares_weights(const double wanted[N_DATA_VLS],
			const uint32_t bytes[N_DATA_VLS],
			struct vlarb_entry out[VLARB_MAX]);

#endif
