/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_DIRECTION_H
#define HD_SUBNET_ROUTING_DIRECTION_H

/*
 * VLs by direction on two-dimensional meshes and tori: what leaves a switch
 * to the east takes the VL of the east, whatever its SL and wherever it
 * came from. This is the use of VLs that "dedicates" them to ports. It only
 * refines channels, so what was free of deadlock stays so; but a port then
 * has the buffer of one VL, where free VLs give it that of all.
 */

#include "subnet/subnet.h"

/* Of the first coordinate, x, then of the second, y. */
enum direction { DIR_EAST, DIR_NORTH, DIR_WEST, DIR_SOUTH, N_DIRECTIONS };

struct direction_vls {
	const char *name;
	uint8_t vl[N_DIRECTIONS];
};

extern const struct direction_vls grid_vls_ne_sw; /* N, E: 0; S, W: 1 */
/* Four VLs, in the two orders that the paper names them in. */
extern const struct direction_vls grid_vls_e_n_w_s;
extern const struct direction_vls grid_vls_n_e_s_w;

/*
 * The relay as a function: the VL of a packet that leaves by `out`. Ports
 * of hosts have VL 0. The tables below say the same.
 */
uint8_t grid_direction_vl(const struct direction_vls *l, const struct topo *t, port_id out);

/*
 * Writes the SL2VL tables of all switches and hosts. HD_ERR_UNFIT if the
 * fabric is no mesh or torus of two dimensions, or a cable lacks a VL.
 */
HD_MUST_CHECK enum hd_status direction_set_vls(struct subnet *s, const struct direction_vls *l,
					       struct diag *d);

#endif
