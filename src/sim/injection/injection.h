/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_INJECTION_INJECTION_H
#define HD_SIM_INJECTION_INJECTION_H

/*
 * Senders of an end port, polled for a packet when the port may send (T13): queues of rows,
 * throttles, endpoints. Internal to src/sim.
 */

#include "sim/core/sim_internal.h"

/* Call again after the set of senders has changed, before any packet is sent. */
void injection_init(struct sim *s);
void injection_fini(struct sim *s);
/* True if this port has senders other than sender 0. */
bool injection_port_pulls(const struct sim *s, uint32_t port);
/*
 * T13p: the sender that the VL serves next, or NONE; its packet fits `credits`. Sender 0 is the
 * queue of the VL.
 */
uint32_t injection_pick(struct sim *s, uint32_t port, const struct port_vl *zero, uint32_t credits);
struct packet_record *injection_take(struct sim *s, uint32_t port, struct port_vl *zero,
				     uint32_t credits);
/* Call after the grant of the packet that injection_take() returned. */
void injection_granted(struct sim *s, uint32_t port);
/* A5: the head of a packet of an endpoint that routes its packets has reached a node. */
void injection_route(struct sim *s, const struct sim_endpoint *e, struct packet_record *p);
/* Notifies the endpoint of the packet, if it has one that observes its packets. */
void injection_packet_passes(struct sim *s, uint32_t port, const struct packet_record *p);
/* Sender `number` has a packet for this VL; sender_withdraw(): it has none any more. */
void sender_offer(struct sim *s, uint32_t port, uint32_t number, unsigned vl);
void sender_withdraw(struct sim *s, uint32_t port, uint32_t number, unsigned vl);
/* An eligible packet joins the queue of a plain sender. */
void sender_enter(struct sim *s, uint32_t number, uint32_t id);
/* The packet of an endpoint becomes eligible at the time of the packet. */
void sender_expect(struct sim *s, uint32_t endpoint, uint32_t id);
void sender_arrives(struct sim *s, uint32_t port, uint32_t number);

#endif
