/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_BOUND_WORK_H
#define HD_QOS_ADMISSION_BOUND_WORK_H

/*
 * Working state of a bound computation. Private to bound.c, which propagates bursts from port to
 * port, and bound_service.c, which computes the service of ports.
 */

#include "qos/admission/bound.h"

#define NO_LINK UINT32_MAX

/* One flow at one port. The passages of a port are consecutive. */
struct passage {
	uint32_t flow;
	uint32_t hop;
	uint32_t slot;          /* index into delay[] */
	uint32_t link;          /* port over which it arrived; NO_LINK at its source */
	uint8_t group;          /* unit of in-order service: a class, or a VL */
	bool high;              /* high priority */
	struct bound_turn turn; /* if a VL of the low table */
	double burst;           /* including the growth by previous delays */
	double jitter;          /* sum of the previous delays */
};

struct bound_work {
	enum bound_mode mode;
	const struct bound_port *ports;
	uint32_t n_ports;
	const struct bound_flow *flows;
	uint32_t n_flows;
	bool any_order;
	struct passage *passages; /* sorted by port, then by link */
	uint32_t n_passages;
	uint32_t n_delays;
	uint32_t *first; /* [port], n_ports + 1 entries */
	uint32_t *start; /* [flow]: its first index in delay[] */
	double *delay;
};

static inline double rate_of(const struct bound_flow *f)
{
	return f->burst / f->period;
}

/* Class of a flow at a port. */
static inline enum bound_class class_at(const struct bound_work *w, uint32_t port, uint32_t flow)
{
	return w->ports[port].merged ? CLASS_DBTS : w->flows[flow].class;
}

static inline double fill_of(const struct bound_port *port)
{
	return port->min_fill > 0 ? port->min_fill : 1;
}

/* Packet sizes of a flow at a port. */
static inline struct bound_sizes sizes_of(const struct bound_port *port, const struct bound_flow *f)
{
	double least = port->min_packet > 0 ? port->min_packet : 64;

	return (struct bound_sizes){
		.largest = f->largest > 0 ? f->largest : port->max_packet,
		.smallest = f->smallest > 0 ? f->smallest : least,
	};
}

/* Sets the group and the service of a passage. */
void bound_classify(const struct bound_work *w, uint32_t port, struct passage *p);

struct class_sum {
	double burst, rate;
};

/* Sums over the passages of a group at a port. */
struct class_sum bound_sum_group(const struct bound_work *w, uint32_t port, uint8_t group);
/* Service of a VL at a crossbar. */
struct bound_service bound_crossbar_service(const struct bound_port *port);
/* Service of the crossbar, if there is one, and the link of a port in series. */
struct bound_service bound_service_at(const struct bound_work *w, uint32_t port,
				      const struct passage *own);

#endif
