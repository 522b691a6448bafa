/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CORE_EVENT_H
#define HD_SIM_CORE_EVENT_H

/*
 * Event kinds and event keys. A key encodes an event completely and orders the events of one
 * instant. Internal to src/sim.
 */

#include <stdint.h>

#include "fabric/limits.h"

/* Listed in the order of T2: events of one instant are processed in this order. */
enum event_kind {
	EV_FAULT,   /* id: fault */
	EV_TABLE,   /* arbitration tables change; id > 0: setting id - 1 of congestion control takes
		       effect */
	EV_MEASURE, /* the warm-up ends */
	EV_LOOK,    /* M2: check of the stop rules */
	EV_STUCK,   /* M3: check for a deadlock */
	EV_UPDATE,  /* a flow-control update arrives at port, vl; id: content */
	EV_HEAD,    /* id: packet sent by port; VL15, exact credits, A5 */
	EV_SPACE,   /* id: blocks that become free at input port, vl */
	EV_REFRESH, /* T5's timer of port */
	EV_REDUCED, /* id: aggregator of a switch whose result is ready (S4) */
	EV_CHOOSE,  /* id: packet of an input port, to be routed (D2) */
	EV_FIRST,   /* id: packet; fifo with merged VLs only */
	EV_READY,   /* id: packet for output port, vl */
	EV_OUT,     /* id: packet in port's output queue is ready; cioq */
	EV_HOQ,     /* id: packet whose lifetime at port may have expired */
	EV_FILLS,   /* id: blocks whose head arrives at input port, vl (C3) */
	EV_COMES,   /* id: a copy that is routed to output port, vl (C3) */
	EV_LEAVES,  /* id: a copy that has left a buffer or a switch (C3) */
	EV_FREES,   /* id: blocks that become free at input port, vl (C3) */
	EV_DELIVER, /* id: packet; vl 0: the next one held by a stuck sink */
	EV_ACKED,   /* the next delayed answer for port (C6) */
	EV_RESPOND, /* id: throttle whose timer expires (C6) */
	EV_TIMEOUT, /* id: flow whose acknowledgement may be lost (C6) */
	EV_ASK,     /* id: flow that requests admission (C8) */
	EV_TIMER,   /* id: cookie of endpoint vl, at an end port */
	EV_SOURCE,  /* id: flow */
	EV_ARRIVAL, /* next entry of a given list of arrivals */
	EV_INJECT,  /* id: sender of port with a packet that enters at this instant */
	EV_PACE,    /* id: throttle whose packet may be eligible (C2) */
	EV_RELEASE, /* a reader of input port becomes free */
	EV_CROSS,   /* crossbar output port may have a packet to grant */
	EV_WAKE,    /* link of port may have a packet to grant */
};

/* 5 bits kind, 27 bits port, 4 bits VL, 28 bits id */
#define EV_ID_BITS   SIM_ID_BITS
#define EV_PORT_BITS SIM_PORT_BITS
#define EV_ID_MAX    (((uint32_t)1 << EV_ID_BITS) - 1)

static inline uint64_t event_key(enum event_kind kind, uint32_t port, unsigned vl, uint32_t id)
{
	return (uint64_t)kind << 59 | (uint64_t)port << 32 | (uint64_t)vl << EV_ID_BITS | id;
}

static inline enum event_kind key_kind(uint64_t key)
{
	return (enum event_kind)(key >> 59);
}

static inline uint32_t key_port(uint64_t key)
{
	return (uint32_t)(key >> 32) & (((uint32_t)1 << EV_PORT_BITS) - 1);
}

static inline unsigned key_vl(uint64_t key)
{
	return (unsigned)(key >> EV_ID_BITS) & 15;
}

static inline uint32_t key_id(uint64_t key)
{
	return (uint32_t)key & EV_ID_MAX;
}

#endif
