/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_BOUND_H
#define HD_QOS_ADMISSION_BOUND_H

/*
 * How long a reserved flow can be delayed at worst, port by port.
 *
 * Two classes share each output port in order of priority: DBTS (bandwidth
 * and time), then DB (bandwidth); anything lower can be in the way with one
 * packet. Within a class packets leave in the order in which they became
 * ready: a switch with order voq, unlimited readers and pick oldest. With
 * any_order nothing is assumed of the order within a class, as under round
 * robin among inputs: a flow then has what the class's others leave, or its
 * input's turns if that is more. For fifo input queues none of these bounds
 * holds.
 *
 * A switch with queues at input and output has a crossbar before each output
 * port, which serves the VLs in turn, a packet each. A packet that is still
 * arriving holds it until its tail is there, so that its speed-up does not
 * help then; what a VL is sure of is a packet in every turn, and turns as
 * long as the slowest link makes them. Crossbar and link in a row serve at the
 * lesser of the two rates, after both waits.
 *
 * With a port's arbitration table (and the flows' VLs) it is not the class
 * but the VL whose packets leave in order, and the table says what a VL
 * gets: one that has an entry in the high table is served before the low one,
 * up to its limit, and has what the other VLs of the high table leave; one
 * of the low table has its entries' part of each round.
 *
 * What the bounds take for granted: a VL of reserved flows carries nothing
 * else; whatever else is in the high table is reserved too; input buffers hold
 * what bound_buffers says (and output buffers too, where there are some), so
 * that credits never run out; credit updates take
 * no time of the link; VL15 sends no more than management_burst in a busy
 * period.
 *
 *	published	paper 003's sum over the other flows' bursts. Not a
 *			bound: it forgets that a delayed burst catches up with
 *			the next one (a counterexample is in the tests)
 *	bucket		leaky buckets that grow by rate times delay so far
 *	grouped		the same, and what comes over one link cannot come
 *			faster than the link
 *	periodic	exact bursts every period, with the jitter so far
 *
 * Units: bytes and seconds. Delays are of a burst's last byte, own burst and
 * own transmission included, except in `published`.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "subnet/subnet.h"

enum bound_mode { BOUND_PUBLISHED, BOUND_BUCKET, BOUND_GROUPED, BOUND_PERIODIC, BOUND_MODES };

enum bound_class { CLASS_DBTS, CLASS_DB };

#define HIGH_LIMIT_NONE 255

/* An output port that flows go through. */
struct bound_port {
	double rate;             /* bytes per second */
	double max_packet;       /* the largest of any class, on the wire */
	double min_packet;       /* the least of the high table; 0: one block */
	double management_burst; /* VL15: goes before everything */
	double fixed;            /* propagation, routing, arbitration; seconds */
	/*
	 * DB's part of the low table, in blocks per round; 0 if nothing else
	 * is in it and DB has strict priority over the rest.
	 */
	double db_weight;
	double other_weight; /* all other entries of the low table */
	double min_fill;     /* least L / (64 ceil(L/64)) of reserved packets;
			      * 0 is taken for 1 */
	uint32_t n_others;   /* how many entries: each may overshoot */
	uint8_t high_limit;  /* LimitOfHighPriority */
	bool merged;         /* DBTS and DB share a VL here: one class */
	/*
	 * The crossbar in front of it: guaranteed bytes per second of a packet, 0
	 * without a crossbar, and the VLs that share it in turn.
	 */
	double crossbar_rate;
	uint32_t crossbar_vls;
	/*
	 * If given, the three weights and the two fields above are not looked
	 * at; flows must have VLs then.
	 */
	const struct vlarb *table;
	/* Instead: VLs in order of their number, 0 first; flows have VLs. */
	bool strict;
};

struct bound_flow {
	enum bound_class class;
	double burst;  /* bytes per period, on the wire */
	double period; /* seconds */
	/* Of its packets, bytes on the wire; 0: those of the ports. */
	double largest, smallest;
	const uint32_t *path; /* output ports, in order */
	const uint8_t *vls;   /* its VL at each, for ports with tables */
	uint32_t n_hops;
	/*
	 * The first hops of the path, if any, that add no delay of their own
	 * and only limit how fast the flow can come: a source that paces its
	 * packets. Their delays are 0.
	 */
	uint32_t n_paced;
	/*
	 * A branch of a multicast: its first n_trunk hops are those of flow
	 * `trunk`, an earlier one, and the same packets. They count there
	 * only, and the delays of both are the same. 0: no branch.
	 */
	uint32_t trunk;
	uint32_t n_trunk;
	/* 1 + the flow at whose end it starts, with that one's jitter; 0: none
	 * (acknowledgements; what a router sends on). With `joins` it comes by
	 * the last link of that one. */
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
 * Computes delay[k] for each hop of each flow, flows and hops in order (the
 * first hop of flow i is at the sum of n_hops before it). HD_ERR_UNFIT with
 * the port that refuses: more reserved than the port has, or a cyclic
 * dependency whose delays grow without end.
 */
HD_MUST_CHECK enum hd_status bound_delays(enum bound_mode mode, const struct bound_network *network,
					  struct diag *d, double *delay);

/*
 * Finds the flows that have no bound: those that are excluded already (their
 * bursts are not known), those whose group is worth less than it sends
 * (starved), and those that wait for an excluded one. `where` gets the port of
 * each that is added. Without them, n_hops being 0, bound_delays has bounds for
 * the others.
 */
void bound_exclude(const struct bound_network *network, bool *excluded, bool *starved,
		   uint32_t *where);

extern const char *const bound_mode_names[]; /* up to NULL */

/*
 * The service that DB can count on in a weighted round robin below DBTS:
 * at least `rate` bytes per second after `latency` seconds.
 */
struct bound_service {
	double rate;
	double latency;
};
struct bound_service bound_wrr_service(const struct bound_port *port, double high_burst,
				       double high_rate);

/*
 * A VL's part of a weighted round robin, whatever the order of its entries:
 * when the table has sent x bytes since the VL's first packet came, at least
 * share * (x - lead) are the VL's. An entry of another VL overshoots by a
 * packet of that VL; where all of them have one size, it sends whole packets.
 * A share of 0: the VL has no entry.
 */
struct bound_turn {
	double share;
	double lead;
};
/* Bytes of packets of one VL, on the wire. */
struct bound_sizes {
	double largest, smallest;
};
/* The least part of its 64-byte blocks that a packet fills. */
double bound_fill(struct bound_sizes sizes);
struct bound_turn bound_table_turn(const struct vlarb_entry *entries, unsigned n, unsigned vl,
				   const struct bound_sizes sizes[]);

/*
 * What the input buffer at the far end of each port must hold of one VL so
 * that the delays (of bound_delays) hold, in bytes of credits: all that can
 * stand there, and what can come while a credit is on its way. The same for
 * the output buffer of a port that has a crossbar before it.
 */
enum bound_side { BOUND_INPUT, BOUND_OUTPUT };
#define BOUND_GROUPS 16 /* VLs; or classes, which are fewer */
/* bytes[port * BOUND_GROUPS + VL]; 0 where no flow goes. */
void bound_buffers(const struct bound_network *network, enum bound_side side, const double *delay,
		   double *bytes);

#endif
