/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_TABLES_SHARES_H
#define HD_QOS_TABLES_SHARES_H

/*
 * Effective shares of weights.
 *
 * An entry sends packets as long as weight is left. With packets of one size it sends ceil(weight /
 * blocks) whole packets per turn and carries nothing over. With packets of 65 blocks, weights 1, 2
 * and 4 are equal; 66 is twice 65. With mixed sizes, results are the mean of a turn with packets in
 * random order.
 */

#include <stdint.h>

#include "subnet/subnet.h"

/* The packets of one VL; n is 0 if it is unused. */
struct shares_vl {
	unsigned n;
	struct {
		uint32_t bytes; /* on the wire */
		double part;    /* share of the VL's packets; the sum is 1 */
	} size[N_SLS];
};
struct shares_vl shares_vl_of(uint32_t bytes);

/* Mean of the sent packets. */
struct shares_sent {
	double packets, blocks, bytes;
};

/*
 * Mean of each VL in one round of a table when all VLs always have packets; 0 for VLs outside the
 * table.
 */
void shares_round(const struct vlarb_entry *table, unsigned n,
		  const struct shares_vl vls[N_DATA_VLS], struct shares_sent sent[N_DATA_VLS]);
/* The same as shares of the link. */
void shares_achieved(const struct vlarb_entry *table, unsigned n,
		     const struct shares_vl vls[N_DATA_VLS], double share[N_DATA_VLS]);

#define SHARES_LARGEST 65    /* blocks of a packet with 4096 bytes of payload */
#define SHARES_NEAR    0.005 /* half a point of the link is as good as none */

struct shares_fit {
	unsigned n;      /* entries; 0: not even one for each VL fits */
	double short_by; /* what the worst VL lacks, of the link */
	unsigned worst;  /* ... and which it is */
};

/*
 * Entries for the VLs with wanted[vl] > 0 (shares of the link) in a table with the share `portion`
 * of the link. Selects the shortest round that gives all VLs their share and an equal part of the
 * rest, within SHARES_NEAR. If `room` entries do not suffice, selects the round with the smallest
 * maximum deficit. Weights are whole packets if packets have one size, and at least SHARES_LARGEST
 * if possible.
 */
struct shares_fit shares_weights(const double wanted[N_DATA_VLS], double portion,
				 const struct shares_vl vls[N_DATA_VLS], unsigned room,
				 struct vlarb_entry out[VLARB_MAX]);

#endif
