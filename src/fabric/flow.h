/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_FABRIC_FLOW_H
#define HD_FABRIC_FLOW_H

/*
 * The traffic of a run and its stop rules, resolved to numbers: everything except the fabric
 * itself (setup.h).
 *
 * A flow is one traffic row at one source. It creates messages of one or more packets; all
 * packets of a message have the same destination and enter the injection queue at one
 * instant (except SIM_SATURATING). Flow ids are indices of the array given to sim_new, and order
 * simultaneous packets (T13). Each flow has a random stream of its own.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"
#include "fabric/setup.h"

/*
 * A destination. For another subnet, `dlid` is that of the router and `target` the destination
 * end port.
 */
struct sim_address {
	lid_t dlid;     /* unicast or multicast */
	port_id target; /* TOPO_NONE within the subnet */
};

enum sim_choice {
	SIM_TO_FIXED,   /* always to.list[0] */
	SIM_TO_UNIFORM, /* any of the list, but not entry `self` */
	SIM_TO_HOTSPOT, /* with probability hot_share one of list[0 .. n_hot),
			 * else any of the list; never entry `self` */
	SIM_TO_CYCLE,   /* in sequence from entry self + 1, skipping `self`; wraps around */
};

/* Lists are borrowed and may be shared by all flows of a row. */
struct sim_destinations {
	enum sim_choice choice;
	const struct sim_address *list;
	uint32_t n;
	uint32_t self; /* index of the source in the list, or SIM_NONE */
	uint32_t n_hot;
	double hot_share;
};

/*
 * Mean gap between messages of num/den picoseconds; CBR messages are at start + floor(k * num /
 * den). SIM_ON_OFF and SIM_PARETO: the gap while on.
 */
struct sim_interval {
	uint64_t num;
	uint64_t den;
};

struct sim_flow {
	enum sim_flow_kind kind;
	uint32_t source; /* sim node of an end port */
	uint32_t row;    /* traffic row, for results; from 0 */
	uint64_t stream; /* random stream is (seed, stream); 0: its id */
	uint32_t copies; /* deliveries per packet: members of the group */
	struct sim_destinations to;
	uint8_t sl;
	bool management; /* on VL15 */
	/*
	 * An attached endpoint posts its messages (sim.h); without an endpoint it is an ordinary
	 * flow.
	 */
	bool posted;
	uint16_t pkey;
	/* For packets to other subnets (R1): size and fields of the GRH. */
	uint8_t grh_bytes, tclass, hop_limit;
	bool random_phase;   /* CBR: the first message within one interval after start */
	uint32_t bytes;      /* size of a packet, LRH to VCRC (T1) */
	uint32_t packets;    /* packets per message, at least 1 */
	uint32_t last_bytes; /* size of a message's last packet; 0: bytes */

	hd_time start;  /* first message of CBR, BURST, SATURATING */
	hd_time stop;   /* no messages at or after this time; 0: none */
	uint64_t count; /* messages; 0 = no limit */
	struct sim_interval interval;
	double size_scv;           /* 0: constant packet size; see below */
	double scv;                /* SIM_GE: squared coefficient of variation of the gaps */
	hd_time mean_on, mean_off; /* SIM_ON_OFF, SIM_PARETO */
	double shape;              /* SIM_PARETO: between 1 and 2 */

	/* SIM_TRACE: ordered by time; `flow` and `sequence` are ignored. */
	const struct sim_arrival *trace;
	size_t n_trace;

	/*
	 * Gap between packets promised by the flow, for deadlines and jitter; 0: neither is
	 * counted.
	 */
	hd_time period;

	/*
	 * Random packet sizes, if size_scv > 0: a payload with a generalised exponential
	 * distribution, rounded to bytes, at least 1 and at most `bytes`, the largest packet.
	 * Messages have one packet.
	 */
	double size_mean;
	uint32_t size_overhead; /* bytes added to the payload */
};

struct world;

struct sim_rules {
	/*
	 * Measuring begins when `warmup` has passed and, after that, `warmup_packets` more
	 * packets have been delivered.
	 */
	hd_time warmup;
	uint64_t warmup_packets;

	/*
	 * The run ends at `stop` (0: no limit), or before as soon as all stated conditions hold,
	 * counted from the end of the warm-up:
	 */
	hd_time stop;
	uint64_t packets;          /* total deliveries */
	uint64_t packets_per_flow; /* deliveries of the slowest flow */
	uint64_t packets_per_sl;   /* deliveries on each SL used by a flow */
	/* Relative precision of the mean latency at this confidence level. */
	double precision;
	double level; /* 0 = 0.95 */

	/* Metrics to collect; sim_rules_init enables all. */
	bool flow_metrics; /* latency, jitter, deadlines */
	bool port_metrics; /* per SL bytes, queue depth */
	bool check_order;  /* order, duplicates, loss at the sinks */

	/* If memory is exhausted, the run ends (SIM_FULL) instead of the program. */
	bool yields;

	/*
	 * Threads; 0: those of the process (base/parallel_for.h), or fewer if more threads do
	 * not pay off. Domains; 0: one per thread.
	 */
	uint32_t threads, parts;
	uint32_t cut_seed; /* varies the partitioning, not the results */
	/*
	 * Processes that compute the run together, each with `threads` threads; NULL: this
	 * process only. Borrowed.
	 */
	const struct world *world;

	/* Packets of sim_inject, which belong to no flow: */
	bool injects;             /* some packets are injected */
	uint16_t injects_sls;     /* their SLs, a bit each; 0: any */
	bool injects_management;  /* some injected packets are on VL15 */
	uint32_t injects_bytes;   /* size of the largest one */
	bool injects_at_switches; /* some enter switches by input 0 (A5) */
};

#endif
