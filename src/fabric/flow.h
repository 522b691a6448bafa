/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_FABRIC_FLOW_H
#define HD_FABRIC_FLOW_H

/*
 * What a run is asked to carry, when it starts to measure, and when it ends:
 * everything except the fabric itself (setup.h), resolved to numbers.
 *
 * A flow is one traffic row at one source. It makes messages of one or more
 * packets; all packets of a message go to one destination and enter the
 * injection queue at one instant (but see SIM_SATURATING). Flow ids are
 * positions in the array given to sim_new, and order simultaneous packets
 * (T13). Each flow draws from a random stream of its own.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"
#include "fabric/setup.h"

/*
 * Someone to send to. `target` matters only on the way to another subnet:
 * there `dlid` is the router's and `target` the end port that is meant.
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
	SIM_TO_CYCLE,   /* one after the other, from entry self + 1, skipping
			 * `self`; wraps */
};

/* Lists are borrowed and may be shared by all flows of a row. */
struct sim_destinations {
	enum sim_choice choice;
	const struct sim_address *list;
	uint32_t n;
	uint32_t self; /* the source's own place in the list, or SIM_NONE */
	uint32_t n_hot;
	double hot_share;
};

/*
 * A mean gap of num/den picoseconds between messages; the instants of CBR are
 * start + floor(k * num / den). While on, in SIM_ON_OFF and SIM_PARETO.
 */
struct sim_interval {
	uint64_t num;
	uint64_t den;
};

struct sim_flow {
	enum sim_flow_kind kind;
	uint32_t source; /* sim node of an end port */
	uint32_t row;    /* traffic row, for results; from 0 */
	uint64_t stream; /* random numbers: of (seed, stream); 0: its id */
	uint32_t copies; /* deliveries of each packet: members of a group */
	struct sim_destinations to;
	uint8_t sl;
	bool management; /* on VL15 */
	/* An endpoint posts its messages, if one is attached (sim.h); without
	 * one it is an ordinary flow. */
	bool posted;
	uint16_t pkey;
	/* Of packets to other subnets (R1): what a GRH adds, and its fields. */
	uint8_t grh_bytes, tclass, hop_limit;
	bool random_phase;   /* CBR: the first within one interval of start */
	uint32_t bytes;      /* of a packet, LRH to VCRC (T1) */
	uint32_t packets;    /* of a message, at least 1 */
	uint32_t last_bytes; /* of a message's last packet; 0 = bytes */

	hd_time start;  /* first message of CBR, BURST, SATURATING */
	hd_time stop;   /* nothing is made at or after; 0 = never stops */
	uint64_t count; /* messages; 0 = no limit */
	struct sim_interval interval;
	double size_scv;           /* 0: all packets alike; see below */
	double scv;                /* SIM_GE: squared variation of the gaps */
	hd_time mean_on, mean_off; /* SIM_ON_OFF, SIM_PARETO */
	double shape;              /* SIM_PARETO: between 1 and 2 */

	/* SIM_TRACE: by time; `flow` and `sequence` there are ignored. */
	const struct sim_arrival *trace;
	size_t n_trace;

	/*
	 * What deadlines and jitter are relative to: the gap between packets
	 * that the flow promises; 0 = neither is counted.
	 */
	hd_time period;

	/*
	 * Packets of random size, if size_scv > 0: a payload with a
	 * generalised exponential law, in whole bytes, at least 1, within
	 * `bytes`, which is then the largest packet; messages are one packet.
	 */
	double size_mean;
	uint32_t size_overhead; /* beyond the payload */
};

struct world;

struct sim_rules {
	/* Measuring begins at `warmup`, and after `warmup_packets` more have
	 * been delivered. */
	hd_time warmup;
	uint64_t warmup_packets;

	/*
	 * The run ends at `stop` at the latest (0 = open), and before that as
	 * soon as all stated ones of these hold, counted from the end of the
	 * warm-up:
	 */
	hd_time stop;
	uint64_t packets;          /* delivered in all */
	uint64_t packets_per_flow; /* delivered of the slowest flow */
	uint64_t packets_per_sl;   /* delivered of each SL that has a flow */
	/* Mean latency known to +-precision (relative), at this level. */
	double precision;
	double level; /* 0 = 0.95 */

	/* What is measured; all on by default in sim_rules_init. */
	bool flow_metrics; /* latency, jitter, deadlines */
	bool port_metrics; /* per SL bytes, queue depth */
	bool check_order;  /* order, duplicates, loss at the sinks */

	/* When memory is short, the run ends (SIM_FULL), not the program. */
	bool yields;

	/* Threads that compute it; 0: the process's number of threads
	 * (base/parallel_for.h), or fewer if more do not pay. Partitions of the
	 * network for them; 0: one per thread. */
	uint32_t threads, parts;
	uint32_t cut_seed; /* of where it is cut: the outcome is the same */
	/* Processes that compute it together, each on `threads` threads; NULL:
	 * only this one. Borrowed. */
	const struct world *world;

	/* Capacity for packets of sim_inject, which belong to no flow. */
	bool injects;             /* there will be some */
	bool injects_management;  /* some of them on VL15 */
	uint32_t injects_bytes;   /* the largest of them */
	bool injects_at_switches; /* by input 0 (A5) */
};

#endif
