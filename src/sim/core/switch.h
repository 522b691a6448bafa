/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CORE_SWITCH_H
#define HD_SIM_CORE_SWITCH_H

/*
 * Arrivals at switches that one forwarding table and one SL2VL row do not
 * decide: FIFO inputs, multicast, partitions, losses. Internal to src/sim.
 */

#include "sim/core/sim_internal.h"

struct port_set;

void switch_arrive(struct sim *s, uint32_t port, struct packet_record *p);
/* A2: may a packet with this P_Key leave a switch or router by `port`? */
bool switch_permits_key(const struct sim *s, const struct node *n, const struct packet_record *p,
			uint32_t port);
/* A2: true if this end port refuses the packet; the packet is dropped. */
bool switch_end_refuses(struct sim *s, struct packet_record *p, uint32_t in_port);
/* Sends a packet that the switch created: to the ports of `to`, or to its DLID if `to` is NULL. */
void switch_gives(struct sim *s, const struct node *n, uint32_t id, const struct port_set *to);
void fifo_arrive(struct sim *s, struct packet_record *p);
/* The first packet of an input buffer leaves it at `when`. */
void fifo_leave(struct sim *s, uint32_t up, unsigned vl, hd_time when);
void fifo_first(struct sim *s, struct packet_record *p);
void fifo_ready(struct sim *s, struct port_vl *port_vl, struct packet_record *p);
void switch_slot_leave(struct sim *s, struct packet_record *p, hd_time when);
/* Notifies observers of a loss at the arrival of the head and counts it in *counter. */
void switch_head_lost(struct sim *s, const struct packet_record *p, enum sim_fate fate,
		      uint32_t where, uint64_t *counter);
/* Reports the loss of a packet without a route at `in_port` and drops the packet. */
void switch_head_unrouted(struct sim *s, struct packet_record *p, uint32_t in_port);
/* A3: drops a packet at the arrival of its head; its loss has been reported. */
void switch_drop(struct sim *s, struct packet_record *p);
void switch_corrupt(struct sim *s, struct packet_record *p, uint32_t where);

#endif
