/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_MULTICAST_MCAST_ROWS_H
#define HD_SUBNET_MULTICAST_MCAST_ROWS_H

/* For the files of mcast.h: groups and the rows of their tables. */

#include "subnet/multicast/mcast.h"

/* The switch of an end port; TOPO_NONE if it is not on a switch. */
switch_id mcast_home(const struct subnet *s, port_id p);
/* Adds a group, which is taken, as it is. */
void mcast_keep(struct subnet *s, const struct mcast_group *m);
/* A switch's ports for a group. */
uint64_t *mcast_row(struct subnet *s, const struct mcast_group *m, switch_id sw);

#endif
