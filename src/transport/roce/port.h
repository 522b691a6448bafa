/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TRANSPORT_ROCE_PORT_H
#define HD_TRANSPORT_ROCE_PORT_H

/*
 * A RoCEv2 port on an Ethernet, with frames on one side and queue pairs of transport/ on the other.
 * It has no socket and no clock: roce_port_receive takes frames, and roce_port_next returns the
 * next one whenever the caller can send. Time is an argument, and roce_port_due is the time of the
 * next roce_port_timer call.
 *
 *	roce_port_receive -->  [ port: queue pairs,  ]  --> roce_port_next
 *	roce_port_timer   -->  [ neighbours          ]
 *
 * A frame is accepted if its addresses are those of this port and its ICRC is valid; then the queue
 * pair processes it. Congestion marks are ignored.
 */

#include "transport/qp.h"
#include "transport/roce/neighbours.h"
#include "wire/roce.h"

struct roce_port;

/* The numbers of its queue pairs differ in their lowest `qpn_bits` bits. */
struct roce_port *roce_port_new(const struct roce_address *own, unsigned qpn_bits);
/* The queue pairs are the caller's. */
void roce_port_free(struct roce_port *p);

/*
 * The path of a queue pair is global: it has the GIDs of both ends, and LIDs
 * of 0. Datagrams go out from the address of their destination's kind.
 */
void roce_port_add(struct roce_port *p, struct qp *qp);
void roce_port_remove(struct roce_port *p, const struct qp *qp);

void roce_port_receive(struct roce_port *p, const uint8_t *frame, size_t size, hd_time now);
/* The next frame to send now, at most ROCE_MAX bytes; false: none. */
bool roce_port_next(struct roce_port *p, hd_time now, uint8_t *frame, size_t *size);

/* When to call roce_port_timer, or HD_TIME_NEVER. */
hd_time roce_port_due(const struct roce_port *p);
void roce_port_timer(struct roce_port *p, hd_time now);

#endif
