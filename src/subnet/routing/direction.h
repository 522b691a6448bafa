/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_DIRECTION_H
#define HD_SUBNET_ROUTING_DIRECTION_H

/*
 * VLs by direction on two-dimensional meshes and tori: a packet that leaves a
 * switch to the east takes the VL of the east, regardless of its SL and input
 * port. This is the use of VLs that "dedicates" them to ports. It only refines
 * channels, so a deadlock-free routing stays deadlock-free. A port can then use
 * the buffer of one VL only, whereas unrestricted VLs give it the buffers of
 * all.
 */

#include "subnet/subnet.h"

/* Order of x, the first coordinate, and y, the second. */
enum direction { DIR_EAST, DIR_NORTH, DIR_WEST, DIR_SOUTH, N_DIRECTIONS };

struct direction_vls {
	const char *name;
	uint8_t vl[N_DIRECTIONS];
};

extern const struct direction_vls grid_vls_ne_sw; /* N, E: 0; S, W: 1 */
/* Four VLs, in the two orders of the paper. */
extern const struct direction_vls grid_vls_e_n_w_s;
extern const struct direction_vls grid_vls_n_e_s_w;

/*
 * The VL of a packet that leaves by port `out`, as a function. Ports to hosts
 * have VL 0. The SL2VL tables below are equivalent.
 */
uint8_t grid_direction_vl(const struct direction_vls *l, const struct topo *t, port_id out);

/*
 * Writes the SL2VL tables of all switches and hosts. HD_ERR_UNFIT if the fabric
 * is not a mesh or torus of two dimensions, or a cable has too few VLs.
 */
HD_MUST_CHECK enum hd_status direction_set_vls(struct subnet *s, const struct direction_vls *l,
					       struct diag *d);

#endif
