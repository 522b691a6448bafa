/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_MULTICAST_MCAST_ROWS_H
#define HD_SUBNET_MULTICAST_MCAST_ROWS_H

/* Groups and the rows of their tables; for the source files of mcast.h. */

#include "subnet/multicast/mcast.h"

/* The switch of an end port; TOPO_NONE if it is not attached to a switch. */
switch_id mcast_home(const struct subnet *s, port_id p);
/* Appends a group unchanged and takes ownership of its arrays. */
void mcast_keep(struct subnet *s, const struct mcast_group *m);
/* The port set of a switch for a group. */
uint64_t *mcast_row(struct subnet *s, const struct mcast_group *m, switch_id sw);

#endif
