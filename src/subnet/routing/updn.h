/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_UPDN_H
#define HD_SUBNET_ROUTING_UPDN_H

/*
 * Up*-down*: every cable has an upper end, the one with the lower level (among
 * equals, the lower number); a legal path never goes up after it went down.
 *
 * A forwarding table does not know where a packet came from. So that packets
 * from above can be forwarded, a switch that can reach a destination by
 * going down only does so, even where the way over an upper switch is shorter;
 * the others go up to the nearest switch that can.
 *
 * Between two tops there may be no legal path. Where no host is concerned, the
 * table gets a way all the same, by the nearest switch that has one: only
 * management of the switches themselves takes it. Between hosts it is noted
 * as lost.
 */

#include "subnet/routing/balance.h"

struct updn {
	const struct sw_graph *g;
	uint32_t *height; /* rank in the total order, 0 = top root */
	switch_id *by_height;
	uint32_t *part;  /* connected parts have equal numbers */
	switch_id *lost; /* per target: from where hosts have no legal path */
};

/* What a view says of each switch, as seen from one target. */
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
