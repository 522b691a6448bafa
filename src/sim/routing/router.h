/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_ROUTING_ROUTER_H
#define HD_SIM_ROUTING_ROUTER_H

/* Routers between subnets (R3, R4). Internal to src/sim. */

#include "sim/core/sim_internal.h"

/* An undamaged packet arrives at a router. */
void router_arrive(struct sim *s, const struct node *n, struct packet_record *p, uint32_t in_port);

#endif
