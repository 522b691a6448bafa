/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_BOUND_WORK_H
#define HD_QOS_ADMISSION_BOUND_WORK_H

/*
 * A network whose delays are being bounded; private to bound.c, which lets
 * bursts grow from port to port, and bound_service.c, which says how ports
 * serve them.
 */

#include "qos/admission/bound.h"

#define NO_LINK UINT32_MAX

/* One flow at one port; all of a port's are consecutive in `use`. */
struct passage {
	uint32_t flow;
	uint32_t hop;
	uint32_t slot;          /* index into delay[] */
	uint32_t link;          /* the port it came from, NO_LINK at its source */
	uint8_t group;          /* what leaves in order: a class, or a VL */
	bool high;              /* served before those that are not */
	struct bound_turn turn; /* a VL of the low table */
	double burst;           /* with what its delays so far have added */
	double jitter;          /* its delays so far */
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
	uint32_t *start; /* [flow]: its first place in delay[] */
	double *delay;
};

static inline double rate_of(const struct bound_flow *f)
{
	return f->burst / f->period;
}

/* The class that a flow belongs to at a port. */
static inline enum bound_class class_at(const struct bound_work *w, uint32_t port, uint32_t flow)
{
	return w->ports[port].merged ? CLASS_DBTS : w->flows[flow].class;
}

static inline double fill_of(const struct bound_port *port)
{
	return port->min_fill > 0 ? port->min_fill : 1;
}

/* Of the packets of a flow at a port. */
static inline struct bound_sizes sizes_of(const struct bound_port *port, const struct bound_flow *f)
{
	double least = port->min_packet > 0 ? port->min_packet : 64;

	return (struct bound_sizes){
		.largest = f->largest > 0 ? f->largest : port->max_packet,
		.smallest = f->smallest > 0 ? f->smallest : least,
	};
}

/* What a passage shares its place with, and how it is served. */
void bound_classify(const struct bound_work *w, uint32_t port, struct passage *p);

struct class_sum {
	double burst, rate;
};

/* Over the passages of a group at a port. */
struct class_sum bound_sum_group(const struct bound_work *w, uint32_t port, uint8_t group);
/* A VL at a crossbar. */
struct bound_service bound_crossbar_service(const struct bound_port *port);
/* The crossbar, if there is one, and the link of a port, in a row. */
struct bound_service bound_service_at(const struct bound_work *w, uint32_t port,
				      const struct passage *own);

#endif
