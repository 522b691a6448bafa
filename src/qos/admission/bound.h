/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_BOUND_H
#define HD_QOS_ADMISSION_BOUND_H

/*
 * Worst-case delay bounds of reserved flows, port by port.
 *
 * Two classes share each output port in order of priority: DBTS (bandwidth and time), then
 * DB (bandwidth); a packet of any lower class can delay them once. Within a class, packets leave
 * in the order in which they became ready: a switch with order voq, unlimited readers and
 * pick oldest. With any_order, no order within a class is assumed, as with round robin among
 * inputs: a flow is then guaranteed what the other flows of its class leave, or the turns of its
 * input, whichever is more. None of these bounds holds for fifo input queues.
 *
 * A switch with queues at inputs and outputs has a crossbar before each output port, which
 * serves the VLs in turns of one packet. A packet that is still arriving occupies the crossbar
 * until its tail has arrived, so the speed-up is not effective then: a VL is guaranteed one packet
 * per turn, and the length of a turn is determined by the slowest link. Crossbar and link in series
 * serve at the smaller of the two rates, after both latencies.
 *
 * If a port has an arbitration table (and flows have VLs), packets leave in order per VL, not
 * per class. A VL in the high table is served before the low table, up to the high
 * limit, and is guaranteed what the other VLs of the high table leave. A VL of the low table is
 * guaranteed the share of its entries in each round.
 *
 * Assumptions: a VL of reserved flows carries nothing else; everything in the high table is
 * reserved; input buffers (and output buffers, if any) hold what bound_buffers requires, so
 * that credits never run out; credit updates take no time on the link; VL15 sends at most
 * management_burst in a busy period.
 *
 *	published	paper 003's sum over the other flows' bursts. Not a
 *			bound: a delayed burst can be joined by the next one
 *			(a counterexample is in the tests)
 *	bucket		leaky buckets that grow by rate times delay so far
 *	grouped		as bucket, and arrivals over one link are limited by
 *			the rate of the link
 *	periodic	exact bursts every period, with the jitter so far
 *
 * Units: bytes and seconds. Delays are of the last byte of a burst and include the
 * flow's own burst and transmission, except in `published`.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "subnet/subnet.h"

enum bound_mode { BOUND_PUBLISHED, BOUND_BUCKET, BOUND_GROUPED, BOUND_PERIODIC, BOUND_MODES };

enum bound_class { CLASS_DBTS, CLASS_DB };

#define HIGH_LIMIT_NONE 255

/* An output port used by flows. */
struct bound_port {
	double rate;             /* bytes per second */
	double max_packet;       /* largest packet of any class, on the wire */
	double min_packet;       /* smallest packet of the high table; 0: one block */
	double management_burst; /* VL15, which has priority over all VLs */
	double fixed;            /* propagation, routing, arbitration; seconds */
	/*
	 * DB's part of the low table, in blocks per round; 0 if the low table has only DB and DB
	 * has strict priority over other traffic.
	 */
	double db_weight;
	double other_weight; /* all other entries of the low table */
	double min_fill;     /* smallest L / (64 ceil(L/64)) of reserved packets; 0 means 1 */
	uint32_t n_others;   /* number of those entries: each may overshoot */
	uint8_t high_limit;  /* LimitOfHighPriority */
	bool merged;         /* DBTS and DB share a VL at this port: one class */
	/*
	 * Crossbar before the port: guaranteed bytes per second while a packet crosses, 0
	 * without a crossbar, and the number of VLs that share it in turns.
	 */
	double crossbar_rate;
	uint32_t crossbar_vls;
	/*
	 * If set, the three weights and the two crossbar fields above are ignored, and flows
	 * must have VLs.
	 */
	const struct vlarb *table;
	/* Instead of tables: strict priority by VL number, VL 0 first; flows have VLs. */
	bool strict;
};

struct bound_flow {
	enum bound_class class;
	double burst;  /* bytes per period, on the wire */
	double period; /* seconds */
	/* Packet sizes, bytes on the wire; 0: those of the ports. */
	double largest, smallest;
	const uint32_t *path; /* output ports, in order */
	const uint8_t *vls;   /* VL at each port; for ports with tables */
	uint32_t n_hops;
	/*
	 * Number of first hops without a delay of their own, which only limit the arrival rate:
	 * a source that paces its packets. Their delays are 0.
	 */
	uint32_t n_paced;
	/*
	 * A branch of a multicast: the first n_trunk hops are those of `trunk`, an earlier flow,
	 * and carry the same packets. They are counted once, and both flows have the same delays
	 * there. n_trunk 0: not a branch.
	 */
	uint32_t trunk;
	uint32_t n_trunk;
	/*
	 * 1 + the flow at whose end this one starts, with the jitter of that flow; 0: none
	 * (acknowledgements; flows forwarded by a router). With `joins`, it arrives over the
	 * last link of that flow.
	 */
	uint32_t after;
	bool joins;
};

struct bound_network {
	const struct bound_port *ports;
	uint32_t n_ports;
	const struct bound_flow *flows;
	uint32_t n_flows;
	bool any_order;
};

/*
 * Computes delay[k] for each hop of each flow, in order (the first hop of flow i is at the sum
 * of n_hops of the flows before it). HD_ERR_UNFIT and the port: it has more reserved than its
 * rate, or cyclic dependencies make the delays diverge.
 */
HD_MUST_CHECK enum hd_status bound_delays(enum bound_mode mode, const struct bound_network *network,
					  struct diag *d, double *delay);

/*
 * Finds the flows without a bound: those already excluded (unknown bursts), those whose group
 * sends more than its guaranteed service (starved), and those that wait for an excluded flow.
 * where[i] is the port that excludes flow i. If their n_hops are set to 0, bound_delays has
 * bounds for the others.
 */
void bound_exclude(const struct bound_network *network, bool *excluded, bool *starved,
		   uint32_t *where);

extern const char *const bound_mode_names[]; /* ends with NULL */

/*
 * Service guaranteed to DB in a weighted round robin below DBTS: at least `rate` bytes per
 * second after `latency` seconds.
 */
struct bound_service {
	double rate;
	double latency;
};
struct bound_service bound_wrr_service(const struct bound_port *port, double high_burst,
				       double high_rate);

/*
 * Service of a VL in a weighted round robin, for any order of its entries: when the table has
 * sent x bytes since the VL's first packet arrived, at least share * (x - lead) are of the VL.
 * An entry of another VL overshoots by up to one packet of that VL; if all its packets have one
 * size, it sends whole packets. share 0: the VL has no entry.
 */
struct bound_turn {
	double share;
	double lead;
};
/* Packet sizes of one VL, bytes on the wire. */
struct bound_sizes {
	double largest, smallest;
};
/* Smallest fraction of its 64-byte blocks that a packet occupies. */
double bound_fill(struct bound_sizes sizes);
struct bound_turn bound_table_turn(const struct vlarb_entry *entries, unsigned n, unsigned vl,
				   const struct bound_sizes sizes[]);

/*
 * Minimum size of the input buffer at the far end of each port per VL, in bytes of credits, for
 * the delays of bound_delays to hold: all data that can be queued there, plus arrivals while a
 * credit returns. Likewise for the output buffer of a port behind a crossbar.
 */
enum bound_side { BOUND_INPUT, BOUND_OUTPUT };
#define BOUND_GROUPS 16 /* VLs, or classes (fewer) */
/* bytes[port * BOUND_GROUPS + VL]; 0 if unused by flows. */
void bound_buffers(const struct bound_network *network, enum bound_side side, const double *delay,
		   double *bytes);

#endif
