/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_UPDN_H
#define HD_SUBNET_ROUTING_UPDN_H

/*
 * Up*-down*: every cable has an upper end, the one with the lower level (or the
 * lower number at equal levels). A legal path never goes up after it went down.
 *
 * A forwarding table does not depend on the input port. To be able to forward
 * packets from above, a switch that can reach a destination by going down only
 * does so, even if the path over an upper switch is shorter. Other switches go
 * up to the nearest switch that can.
 *
 * There may be no legal path between two top switches. Where no host is
 * concerned, the table nevertheless has a path, over the nearest switch with a
 * legal one: only management of the switches uses it. Between hosts it is
 * recorded as lost.
 */

#include "subnet/routing/balance.h"

struct updn {
	const struct sw_graph *g;
	uint32_t *height; /* rank in the total order, 0 = top root */
	switch_id *by_height;
	uint32_t *part;  /* connected switches have equal numbers */
	switch_id *lost; /* per target: a switch whose hosts have no legal path */
};

/* State of each switch with respect to one target. */
struct updn_spot {
	uint16_t dist;
	bool down;  /* reaches the target by going down only */
	bool legal; /* has a legal path */
};

/* Levels count from the top, 0; every switch must have one. */
void updn_init(struct updn *u, const struct sw_graph *g);
void updn_set_levels(struct updn *u, const uint16_t *level);
void updn_fini(struct updn *u);

/* Members of a struct route_rule whose state is a struct updn. */
void updn_aim(const void *rule, switch_id target, void *view, switch_id *queue);
unsigned updn_ports(const void *rule, const void *view, switch_id at, uint8_t *out);

#endif
